/// The `content` option of a full-text table: "content='tablename'" (https://www.sqlite.org/fts5.html#external_content_tables).
///
/// Both modules take more than their documentation says: FTS5 any beginning of the option's name, FTS4 a value without quotes up to the
/// argument's end, and of several values the one counts the first and the other the last. So whatever may be meant is found.
enum FullTextContent {
    /// The names that it may have, in small letters of ASCII, byte by byte; none for `content=''`.
    ///
    /// - Parameter definition: CREATE VIRTUAL TABLE.
    static func tables(in definition: String) -> Set<[UInt8]> {
        var names: Set<[UInt8]> = []
        for argument in arguments(of: Array(definition.utf8)) {
            guard let equals = argument.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let key = folded(trimmed(argument[..<equals]))
            guard !key.isEmpty, "content".utf8.starts(with: key) else { continue }
            let name = folded(unquoted(trimmed(argument[(equals + 1)...])))
            if !name.isEmpty { names.insert(name) }
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
            switch text[place] {
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "["):
                place = endOfQuoted(text[...], from: place)
                continue
            case UInt8(ascii: "-") where text[place...].starts(with: "--".utf8):
                blank(&text, from: place, to: text[place...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count)
            case UInt8(ascii: "/") where text[place...].starts(with: "/*".utf8):
                blank(&text, from: place, to: endOfComment(text, from: place + 2))
            case UInt8(ascii: "("):
                depth += 1
                if depth == 1 { start = place + 1 }
            case UInt8(ascii: ")"):
                depth -= 1
                if depth == 0 { arguments.append(text[start..<place]) }
            case UInt8(ascii: ",") where depth == 1:
                arguments.append(text[start..<place])
                start = place + 1
            default: break
            }
            place += 1
        }
        if depth > 0 { arguments.append(text[min(start, text.count)...]) }
        return arguments
    }

    private static func blank(_ text: inout [UInt8], from start: Int, to end: Int) {
        for place in start..<end { text[place] = UInt8(ascii: " ") }
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
