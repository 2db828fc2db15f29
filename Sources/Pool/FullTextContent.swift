/// The `content` option of a full-text table: "content='tablename'" (https://www.sqlite.org/fts5.html#external_content_tables).
///
/// Both modules take more than their documentation says: FTS5 any beginning of the option's name, FTS4 a value without quotes up to the
/// argument's end, and of several values the one counts the first and the other the last. So whatever may be meant is found.
enum FullTextContent {
    /// The names that it may have, in small letters of ASCII, byte by byte; none for `content=''`.
    ///
    /// - Parameter definition: CREATE VIRTUAL TABLE.
    static func tables(in definition: String) -> Set<[UInt8]> {
        let definition = Array(definition.utf8)
        var names: Set<[UInt8]> = []
        for argument in arguments(of: definition) {
            guard let equals = argument.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let key = folded(trimmed(argument[..<equals]))
            guard !key.isEmpty, "content".utf8.starts(with: key) else { continue }
            let value = trimmed(argument[(equals + 1)...])
            guard !value.isEmpty else { continue }
            // FTS4 takes what is before the value, and comments in it, as they stand.
            for text in [value, definition[(equals + 1)..<value.endIndex]] {
                let name = folded(unquoted(text))
                if !name.isEmpty { names.insert(name) }
            }
        }
        return names
    }

    /// All that may be a name in a text of SQL, as above: its words, and what stands in quotes of any kind.
    static func names(in sql: String) -> Set<[UInt8]> {
        let text = Array(sql.utf8)
        var names: Set<[UInt8]> = []
        var place = 0
        while place < text.count {
            let (kind, end) = token(of: text, at: place)
            if kind == .quoted || kind == .word { names.insert(folded(unquoted(text[place..<end]))) }
            place = end
        }
        return names
    }

    /// As SQLite compares names.
    static func folded(_ name: some Sequence<UInt8>) -> [UInt8] {
        name.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
    }

    /// What stands between the commas of the outermost parentheses, with blanks for comments, in which a quote begins nothing.
    private static func arguments(of definition: [UInt8]) -> [ArraySlice<UInt8>] {
        var text = definition
        var arguments: [ArraySlice<UInt8>] = []
        var (depth, start, place) = (0, 0, 0)
        while place < text.count {
            let (kind, end) = token(of: text, at: place)
            switch kind {
            case .comment: for byte in place..<end { text[byte] = UInt8(ascii: " ") }
            case .other(UInt8(ascii: "(")):
                depth += 1
                if depth == 1 { start = end }
            case .other(UInt8(ascii: ")")):
                depth -= 1
                if depth == 0 { arguments.append(text[start..<place]) }
            case .other(UInt8(ascii: ",")) where depth == 1:
                arguments.append(text[start..<place])
                start = end
            default: break
            }
            place = end
        }
        if depth > 0 { arguments.append(text[min(start, text.count)...]) }
        return arguments
    }

    private enum Token: Equatable { case quoted, comment, word, other(UInt8) }

    /// What begins there, and where it ends.
    private static func token(of text: [UInt8], at place: Int) -> (kind: Token, end: Int) {
        switch text[place] {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "["):
            var end = endOfQuoted(text[...], from: place)
            while end < text.count, text[end] == text[place], text[place] != UInt8(ascii: "[") { end = endOfQuoted(text[...], from: end) }
            return (.quoted, end)
        case UInt8(ascii: "-") where text[place...].starts(with: "--".utf8):
            return (.comment, text[place...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count)
        case UInt8(ascii: "/") where text[place...].starts(with: "/*".utf8):
            return (.comment, endOfComment(text, from: place + 2))
        case let byte where isOfWord(byte):
            return (.word, text[place...].firstIndex { !isOfWord($0) } ?? text.count)
        case let byte:
            return (.other(byte), place + 1)
        }
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || (byte | 0x20) &- UInt8(ascii: "a") < 26
            || byte &- UInt8(ascii: "0") < 10
    }

    private static func endOfComment(_ text: [UInt8], from start: Int) -> Int {
        var place = start
        while place < text.count, !text[place...].starts(with: "*/".utf8) { place += 1 }
        return min(place + 2, text.count)
    }

    /// Behind the quote that ends what begins with one; a quote that is doubled begins anew at once.
    private static func endOfQuoted(_ text: ArraySlice<UInt8>, from place: Int) -> Int {
        let close = text[place] == UInt8(ascii: "[") ? UInt8(ascii: "]") : text[place]
        return text[(place + 1)...].firstIndex(of: close).map { $0 + 1 } ?? text.endIndex
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || (9...13).contains(byte) }
        guard let first = text.firstIndex(where: { !isBlank($0) }), let last = text.lastIndex(where: { !isBlank($0) }) else { return [] }
        return text[first...last]
    }

    private static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard let quote = text.first, "'\"`[".utf8.contains(quote) else { return Array(text) }
        var name: [UInt8] = []
        var place = text.startIndex
        while place < text.endIndex, text[place] == quote {
            let end = endOfQuoted(text, from: place)
            if place > text.startIndex { name.append(quote) }
            name += text[(place + 1)..<max(place + 1, end - 1)]
            place = end
            // Doubled, it stands for itself; but a bracket is never doubled.
            if quote == UInt8(ascii: "[") { break }
        }
        return name
    }
}
