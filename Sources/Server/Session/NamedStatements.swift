import Glibc

/// The statements that a session has under names, and what they take all together.
///
/// A value, with what was counted of each beside it, so that going back (see SessionState) leaves the sum right.
struct NamedStatements {
    private struct Entry {
        let statement: PreparedStatement
        /// As much of `bytes` is its.
        var bytes: Int
    }

    private var entries: [ExactName: Entry] = [:]
    private(set) var bytes = 0
    /// What was asked for last. A client that runs a statement again and again has its name looked up twice each time: when it has
    /// arrived, and when it is bound.
    private var last: PreparedStatement?
    private var nameOfLast = ""

    var count: Int { entries.count }

    @inline(__always)
    subscript(name: String) -> PreparedStatement? { entries[ExactName(name)]?.statement }

    /// As the client wrote the name.
    mutating func named(_ name: UnsafeRawBufferPointer) -> PreparedStatement? {
        if let last, Self.isSame(nameOfLast, name) { return last }
        let text = String(decoding: name, as: UTF8.self)
        guard let statement = self[text] else { return nil }
        (last, nameOfLast) = (statement, text)
        return statement
    }

    private static func isSame(_ name: String, _ bytes: UnsafeRawBufferPointer) -> Bool {
        name.utf8.withContiguousStorageIfAvailable { name in
            name.count == bytes.count && memcmp(name.baseAddress!, bytes.baseAddress!, bytes.count) == 0
        } ?? false
    }

    mutating func keep(_ statement: PreparedStatement, _ name: String) {
        remove(name)
        statement.name = name
        let taken = statement.keptBytes
        entries[ExactName(name)] = Entry(statement: statement, bytes: taken)
        bytes += taken
    }

    /// False: there is none of that name.
    @discardableResult
    mutating func remove(_ name: String) -> Bool {
        guard let entry = entries.removeValue(forKey: ExactName(name)) else { return false }
        bytes -= entry.bytes
        if last === entry.statement { last = nil }
        return true
    }

    mutating func removeAll() { self = NamedStatements() }

    /// What is known of a statement has grown. Returns its name, or that of another with the same text, of which EXECUTE runs copies; nil
    /// when there is none.
    mutating func recount(_ grown: PreparedStatement) -> String? {
        var name: String?
        for (key, entry) in entries where entry.statement.prepared === grown.prepared {
            let taken = entry.statement.keptBytes
            bytes += taken - entry.bytes
            entries[key]?.bytes = taken
            if name == nil || entry.statement === grown { name = key.text }
        }
        return name
    }

    /// Whether the statement itself is one of these.
    func has(_ statement: PreparedStatement) -> Bool { statement.name.map { self[$0] === statement } ?? false }
}
