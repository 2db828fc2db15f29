import SQLite

/// The prepared statements of one connection, by the number of their SQL text.
///
/// A statement in use stays out of everybody else's hands: the same text run again meanwhile (by a second portal of
/// the session) is prepared afresh and finalised afterwards.
struct StatementCache {
    final class Entry {
        let text: SQLText
        let statement: Statement
        var isInUse = true
        /// False for a second copy, which is finalised on return.
        let isCached: Bool
        var lastUse: UInt64 = 0
        /// What its columns were last compared with, and how often SQLite had prepared it again by then.
        var verifiedFor: AnyObject?
        var preparationsSeen: Int32 = -1
        /// Since it was last told to the observer.
        var usage = StatementUsage()

        init(text: SQLText, statement: Statement, isCached: Bool) {
            self.text = text
            self.statement = statement
            self.isCached = isCached
        }
    }

    private var entries: [Int: Entry] = [:]
    private let limit: Int
    private var clock: UInt64 = 0

    private let observer: (any StatementObserver)?
    /// Uses of a statement that was there are counted by the clock, which also ticks for each new one.
    private var misses = 0
    private var added: UInt64 = 0
    private var clockAtCount: UInt64 = 0

    init(limit: Int, observer: (any StatementObserver)? = nil) {
        self.limit = limit
        self.observer = observer
    }

    /// The idle statement for `textID`, now in use.
    mutating func take(_ textID: Int) -> Entry? {
        guard let entry = entries[textID], !entry.isInUse else { return nil }
        clock &+= 1
        entry.lastUse = clock
        entry.isInUse = true
        return entry
    }

    /// A freshly prepared statement, in use.
    mutating func add(_ text: SQLText, _ statement: Statement) -> Entry {
        misses &+= 1
        if entries[text.id] != nil { return Entry(text: text, statement: statement, isCached: false) }
        if entries.count >= limit { evictOldest() }
        let entry = Entry(text: text, statement: statement, isCached: true)
        clock &+= 1
        added &+= 1
        entry.lastUse = clock
        entries[text.id] = entry
        return entry
    }

    /// Finalises the statement for `textID`, unless it is in use.
    mutating func remove(_ textID: Int) {
        guard let entry = entries[textID], !entry.isInUse else { return }
        tell(entry)
        entries[textID] = nil
    }

    /// Finalises every idle statement.
    mutating func removeIdle() {
        for entry in entries.values where !entry.isInUse { tell(entry) }
        entries = entries.filter { $0.value.isInUse }
    }

    /// Runs only when a new text arrives at a full cache, so a scan is good enough.
    private mutating func evictOldest() {
        let oldest = entries.values.filter { !$0.isInUse }.min { $0.lastUse < $1.lastUse }
        guard let oldest else { return }
        tell(oldest)
        entries[oldest.text.id] = nil
    }

    // MARK: What they did

    /// Tells what each has done since it was last told.
    func tellAll() { for entry in entries.values { tell(entry) } }

    /// Tells what it has done since it was last told. Called by whoever has the connection.
    func tell(_ entry: Entry) {
        guard entry.usage.calls > 0, let observer else { return }
        let counted = entry.statement.takeUsage()
        entry.usage.fullScanSteps = counted.fullScanSteps
        entry.usage.sorts = counted.sorts
        entry.usage.automaticIndexRows = counted.automaticIndexRows
        observer.didUse(entry.text, entry.usage)
        entry.usage = StatementUsage()
    }

    /// Hits and misses since the last call.
    mutating func takeCounts() -> ConnectionUsage {
        var usage = ConnectionUsage()
        usage.statementMisses = misses
        usage.statementHits = Int(clock &- clockAtCount &- added)
        (misses, added, clockAtCount) = (0, 0, clock)
        return usage
    }
}
