/// A name that only the same bytes are equal to.
///
/// Swift's `==` takes the two ways to write "é" in Unicode for one string. PostgreSQL and SQLite take them for two, so two
/// tables, or two statements of a session, may differ in nothing else.
struct ExactName: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (a: Self, b: Self) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

extension ExactName: Comparable {
    static func < (a: Self, b: Self) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }
}
