/// The `content` option of a full-text table: "content='tablename'" (https://www.sqlite.org/fts5.html#external_content_tables).
enum FullTextContent {
    /// The table it names, in lower case, or nil: `content=''` has none, and a column may be called content.
    ///
    /// - Parameter definition: CREATE VIRTUAL TABLE.
    static func table(in definition: String) -> String? {
        var rest = Substring(definition.lowercased())
        while let option = rest.firstRange(of: "content") {
            let isWhole = option.lowerBound == rest.startIndex || !isOfWord(rest[rest.index(before: option.lowerBound)])
            rest = rest[option.upperBound...].drop(while: \.isWhitespace)
            guard isWhole, rest.first == "=" else { continue }
            let name = value(rest.dropFirst().drop(while: \.isWhitespace))
            if !name.isEmpty { return name }
        }
        return nil
    }

    private static func value(_ text: Substring) -> String {
        guard let quote = text.first, "'\"`[".contains(quote) else { return String(text.prefix(while: isOfWord)) }
        let close = quote == "[" ? "]" : quote
        var (name, rest) = ("", text.dropFirst())
        while let end = rest.firstIndex(of: close) {
            name += rest[..<end]
            rest = rest[rest.index(after: end)...]
            // Doubled, it stands for itself.
            guard quote != "[", rest.first == close else { break }
            name.append(close)
            rest = rest.dropFirst()
        }
        return name
    }

    private static func isOfWord(_ character: Character) -> Bool { character.isLetter || character.isNumber || character == "_" }
}
