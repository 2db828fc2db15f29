/// What a key takes, for the errors of values that are no TOML.
struct AcceptedValue {
    /// In words.
    let form: String
    let takes: (ConfigurationValue) -> Bool
}

/// A key whose value is no TOML: most often a text without its quotes. The parser knows only which character it expected in a
/// number or a date; who wrote it wants to know what the key takes.
struct UnreadableValue {
    let key: String
    /// As it stands there, without what surrounds it.
    private let value: String
    /// It is a word or several, and no part of a string or of a list: then the parser has nothing to say about it.
    private let isBare: Bool

    /// What an error shows of a value. Nobody has to be shown more of it to find it.
    private static let longestShown = 60

    init?(_ expression: ConfigurationExpressions.Expression) {
        let text = expression.text
        guard expression.kind == .entry, let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        key = Self.trimmed(text[..<sign], of: Self.blanks)
        guard !key.isEmpty, key.utf8.allSatisfy(ConfigurationExpressions.isBareKey) else { return nil }
        let rest = text[text.utf8.index(after: sign)...]
        value = Self.trimmed(rest.unicodeScalars.firstIndex(of: "#").map { rest[..<$0] } ?? rest, of: Self.blanks)
        isBare =
            value.unicodeScalars.first.map { !"\"'[{".unicodeScalars.contains($0) } == true
            && value.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }

    /// - Parameter parserMessage: what the parser said.
    func message(_ parserMessage: String, _ accepted: AcceptedValue) -> String {
        guard isBare else { return "\(key): \(parserMessage); it must be \(accepted.form)" }
        let shown =
            value.unicodeScalars.count > Self.longestShown
            ? String(String.UnicodeScalarView(value.unicodeScalars.prefix(Self.longestShown))) + "…" : value
        let error = "\(key) must be \(accepted.form), not \(shown)"
        // Word processors write quotes that are none.
        let meant = ConfigurationValue.string(Self.trimmed(value[...], of: Self.blanks + Self.otherQuotes))
        return accepted.takes(meant) ? "\(error): write \(key) = \(meant.text)" : error
    }

    private static let blanks: [Unicode.Scalar] = [" ", "\t", "\r"]
    private static let otherQuotes: [Unicode.Scalar] = ["“", "”", "„", "‟", "‘", "’", "‚", "«", "»", "`"]

    private static func trimmed(_ text: Substring, of scalars: [Unicode.Scalar]) -> String {
        var rest = text.unicodeScalars
        while let first = rest.first, scalars.contains(first) { rest.removeFirst() }
        while let last = rest.last, scalars.contains(last) { rest.removeLast() }
        return String(rest)
    }
}
