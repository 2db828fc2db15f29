import SQLite

/// The prepared statements of one connection, by the number of their SQL text.
///
/// A statement in use stays out of everybody else's hands: the same text run again meanwhile (by a second portal of
/// the session) is prepared afresh and finalised afterwards.
struct StatementCache {
    final class Entry {
        let textID: Int
        let statement: Statement
        var isInUse = true
        /// False for a second copy, which is finalised on return.
        let isCached: Bool
        var lastUse: UInt64 = 0
        /// What its columns were last compared with, and how often SQLite had prepared it again by then.
        var verifiedFor: AnyObject?
        var preparationsSeen: Int32 = -1

        init(textID: Int, statement: Statement, isCached: Bool) {
            self.textID = textID
            self.statement = statement
            self.isCached = isCached
        }
    }

    private var entries: [Int: Entry] = [:]
    private let limit: Int
    private var clock: UInt64 = 0

    init(limit: Int) { self.limit = limit }

    /// The idle statement for `textID`, now in use.
    mutating func take(_ textID: Int) -> Entry? {
        guard let entry = entries[textID], !entry.isInUse else { return nil }
        clock &+= 1
        entry.lastUse = clock
        entry.isInUse = true
        return entry
    }

    /// A freshly prepared statement, in use.
    mutating func add(_ textID: Int, _ statement: Statement) -> Entry {
        if entries[textID] != nil { return Entry(textID: textID, statement: statement, isCached: false) }
        if entries.count >= limit { evictOldest() }
        let entry = Entry(textID: textID, statement: statement, isCached: true)
        clock &+= 1
        entry.lastUse = clock
        entries[textID] = entry
        return entry
    }

    /// Finalises the statement for `textID`, unless it is in use.
    mutating func remove(_ textID: Int) {
        if let entry = entries[textID], !entry.isInUse { entries[textID] = nil }
    }

    /// Finalises every idle statement.
    mutating func removeIdle() {
        entries = entries.filter { $0.value.isInUse }
    }

    /// Runs only when a new text arrives at a full cache, so a scan is good enough.
    private mutating func evictOldest() {
        let oldest = entries.values.filter { !$0.isInUse }.min { $0.lastUse < $1.lastUse }
        if let oldest { entries[oldest.textID] = nil }
    }
}
