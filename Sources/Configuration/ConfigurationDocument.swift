import POSIX
import TOMLKit

/// A key with its value and its line.
package struct ConfigurationEntry: Equatable, Sendable {
    /// In the file, counted from 1.
    package let line: Int
    package let key: String
    package let value: ConfigurationValue
}

/// One `[[section]]`, or the keys before the first of them.
package struct ConfigurationTable: Equatable, Sendable {
    /// What stands between its brackets; empty: the keys before the first section, or a header that cannot be read.
    package let name: String
    /// Of its header.
    package let line: Int
    /// In the order of the file; a key that is given twice stands here once.
    package internal(set) var entries: [ConfigurationEntry] = []

    /// What the table has for a key; nil: nothing.
    package subscript(key: String) -> ConfigurationEntry? { entries.first { $0.key == key } }
}

/// What a text says, expression by expression, and what of it is no TOML.
struct ConfigurationDocument: Sendable {
    private(set) var root = ConfigurationTable(name: "", line: 1)
    private(set) var sections: [ConfigurationTable] = []
    /// Headers of tables that are no `[[section]]`, as written, with the first part of their name.
    private(set) var foreignHeaders: [(line: Int, text: String, name: String)] = []
    private(set) var problems: [ConfigurationProblem] = []

    /// - Parameter accepted: what a key takes, in a section or (nil) before the first, if there is such a key.
    init(_ text: String, accepted: (_ key: String, _ section: String?) -> AcceptedValue? = { _, _ in nil }) {
        if let line = Self.lineOfNUL(text) {
            // TOMLKit takes C strings: it would end here, and the rest would be silently ignored.
            problems.append(.init(line: line, "a NUL character"))
            return
        }
        for expression in ConfigurationExpressions(text).all { add(expression, accepted) }
        // [a] beside [[a]] is no TOML, and is told in our words.
        if problems.isEmpty, foreignHeaders.isEmpty { checkWhole(text) }
    }

    /// The text that was read last, and what it says.
    private static let last = Locked<(text: String, document: ConfigurationDocument)?>(nil)

    /// What a file's text says. One that is read again is mostly the same, and is not parsed anew: TOMLKit's tables are not given back
    /// with what they hold, which are 11 kB for a page of text.
    ///
    /// - Parameter accepted: as in `init`, and the same for every text.
    static func read(_ text: String, accepted: (_ key: String, _ section: String?) -> AcceptedValue?) -> ConfigurationDocument {
        if let last = last.withLock({ $0 }), last.text == text { return last.document }
        let document = ConfigurationDocument(text, accepted: accepted)
        last.withLock { $0 = (text, document) }
        return document
    }

    private static func lineOfNUL(_ text: String) -> Int? {
        guard let place = text.utf8.firstIndex(of: 0) else { return nil }
        return text.utf8[..<place].count { $0 == UInt8(ascii: "\n") } + 1
    }

    private mutating func add(
        _ expression: ConfigurationExpressions.Expression, _ accepted: (_ key: String, _ section: String?) -> AcceptedValue?
    ) {
        guard expression.kind != .unclosedBracket else {
            problems.append(.init(line: expression.line, "a bracket is never closed"))
            return
        }
        guard expression.kind != .wrongBracket else {
            problems.append(.init(line: expression.line, "a closing bracket does not match the one that was opened"))
            return
        }
        guard expression.kind != .header || expression.hasName else {
            problems.append(.init(line: expression.line, "table header: a name is expected after the bracket"))
            sections.append(.init(name: "", line: expression.line))
            return
        }
        let table: TOMLTable
        do {
            table = try TOMLTable(string: expression.text)
        } catch {
            var problem = Self.problem(error, firstLine: expression.line, isOneLine: !expression.text.utf8.contains(UInt8(ascii: "\n")))
            if let unreadable = UnreadableValue(expression), let accepted = accepted(unreadable.key, sections.last?.name) {
                problem = .init(line: problem.line, unreadable.message(problem.message, accepted))
            }
            problems.append(problem)
            // What follows a header that cannot be read belongs to nothing known.
            if expression.kind == .header { sections.append(.init(name: "", line: expression.line)) }
            return
        }
        // Tables have no deinit: this gives back what they hold.
        defer { table.clear() }
        guard let key = table.keys.first, let value = table[key] else { return }
        if expression.kind == .header { addHeader(key, value, expression) } else { addEntry(key, value, expression) }
    }

    private mutating func addHeader(_ key: String, _ value: any TOMLValueConvertible, _ expression: ConfigurationExpressions.Expression) {
        // In `[[a]]`, a is an array of one empty table.
        if let tables = value.array, tables.count == 1, tables[0].table?.isEmpty == true {
            sections.append(.init(name: key, line: expression.line))
            return
        }
        let header = expression.text.split(separator: "#").first.map { $0.filter { $0 != " " && $0 != "\t" && $0 != "\r" } } ?? ""
        foreignHeaders.append((expression.line, header, key))
        sections.append(.init(name: "", line: expression.line))
    }

    private mutating func addEntry(_ key: String, _ value: any TOMLValueConvertible, _ expression: ConfigurationExpressions.Expression) {
        if expression.text.utf8.contains("\\u0000".utf8) || expression.text.utf8.contains("\\U00000000".utf8) {
            problems.append(.init(line: expression.line, "\(key): a NUL character"))
            return
        }
        let entry = ConfigurationEntry(line: expression.line, key: key, value: ConfigurationValue(value.tomlValue))
        if let first = (sections.last ?? root)[key] {
            problems.append(.init(line: expression.line, "\(key) is given twice, first in line \(first.line)"))
        } else if sections.isEmpty {
            root.entries.append(entry)
        } else {
            sections[sections.count - 1].entries.append(entry)
        }
    }

    /// That the parts are TOML does not make the whole TOML. It always does, as far as is known; this makes sure.
    private mutating func checkWhole(_ text: String) {
        do { try TOMLTable(string: text).clear() } catch { problems.append(Self.problem(error, firstLine: 1, isOneLine: false)) }
    }

    private static func problem(_ error: any Error, firstLine: Int, isOneLine: Bool) -> ConfigurationProblem {
        guard let error = error as? TOMLParseError else { return .init(line: firstLine, "\(error)") }
        var message = error.description.prefix { $0 != "\n" }
        let prefix = "Error while parsing "
        if message.hasPrefix(prefix) { message = message.dropFirst(prefix.count) }
        // What was parsed may be a line of the file.
        let suffix = "end-of-file"
        if isOneLine, message.hasSuffix(suffix) { message = message.dropLast(suffix.count) + "the end of the line" }
        return .init(line: firstLine + max(0, error.source.begin.line - 1), String(message))
    }
}
