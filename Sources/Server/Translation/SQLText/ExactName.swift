import Glibc

/// A name that only the same bytes are equal to.
///
/// Swift's `==` takes the two ways to write "é" in Unicode for one string. PostgreSQL and SQLite take them for two, so two
/// tables, or two statements of a session, may differ in nothing else.
struct ExactName: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (a: Self, b: Self) -> Bool {
        let isSame = a.text.utf8.withContiguousStorageIfAvailable { a in
            b.text.utf8.withContiguousStorageIfAvailable { b in
                a.count == b.count && (a.isEmpty || memcmp(a.baseAddress!, b.baseAddress!, a.count) == 0)
            }
        }
        return (isSame ?? nil) ?? a.text.utf8.elementsEqual(b.text.utf8)
    }

    /// What is composed differently only has one hash, as strings have: so few are that it costs nothing.
    func hash(into hasher: inout Hasher) { text.hash(into: &hasher) }
}

extension ExactName: Comparable {
    static func < (a: Self, b: Self) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }
}
