import TOMLKit

/// What a TOML text says, as a value of Swift's.
indirect enum TOMLNode: Equatable {
    case string(String)
    case integer(Int)
    case float(Double)
    case boolean(Bool)
    case array([TOMLNode])
    case table([String: TOMLNode])
    /// A date or a time, which no workload has.
    case other

    static func parse(_ text: String) throws(WorkloadError) -> [String: TOMLNode] {
        // TOMLKit takes C strings: what follows a NUL would be silently ignored.
        guard !text.utf8.contains(0) else { throw WorkloadError("a NUL character") }
        do {
            let table = try TOMLTable(string: text)
            // Tables have no deinit: this gives back what they hold.
            defer { table.clear() }
            guard case .table(let nodes) = TOMLNode(table.tomlValue) else { return [:] }
            return nodes
        } catch let error as TOMLParseError {
            throw WorkloadError(line: error.source.begin.line, String(error.description.prefix { $0 != "\n" }))
        } catch {
            throw WorkloadError("\(error)")
        }
    }

    private init(_ value: TOMLValue) {
        switch value.type {
        case .string: self = .string(value.string ?? "")
        case .int: self = .integer(value.int ?? 0)
        case .double: self = .float(value.double ?? 0)
        case .bool: self = .boolean(value.bool ?? false)
        case .array: self = .array(value.array?.map { TOMLNode($0.tomlValue) } ?? [])
        case .table:
            var nodes: [String: TOMLNode] = [:]
            if let table = value.table {
                for key in table.keys { nodes[key] = table[key].map { TOMLNode($0.tomlValue) } }
            }
            self = .table(nodes)
        case .date, .time, .dateTime: self = .other
        }
    }
}

/// The lines of a text, to say where something stands: TOMLKit tells no line of what it has parsed.
struct SourceLines {
    private let lines: [Substring]

    init(_ text: String) { lines = text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// The line (from 1) of the header with that number (from 0), after that line.
    func line(ofHeader header: String, number: Int, after start: Int = 0) -> Int? {
        var left = number
        for (index, line) in lines.enumerated().dropFirst(start) where line.filter({ $0 != " " }).hasPrefix(header) {
            if left == 0 { return index + 1 }
            left -= 1
        }
        return nil
    }

    /// The first line from `start` that has the text in it; `start` when none has.
    func line(with text: String, from start: Int) -> Int {
        let found = lines.enumerated().dropFirst(start - 1).first { contains($0.element, text) }
        return found.map { $0.offset + 1 } ?? start
    }

    private func contains(_ line: Substring, _ text: String) -> Bool {
        guard !text.isEmpty else { return false }
        return line.indices.contains { line[$0...].hasPrefix(text) }
    }
}
