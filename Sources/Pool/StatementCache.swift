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
        /// When it was prepared.
        let bytes: Int
        var lastUse: UInt64 = 0
        /// What its columns were last compared with, and how often SQLite had prepared it again by then.
        var verifiedFor: AnyObject?
        var preparationsSeen: Int32 = -1
        /// Since it was last told to the observer.
        var usage = StatementUsage()

        init(text: SQLText, statement: Statement, isCached: Bool, bytes: Int = 0) {
            self.text = text
            self.statement = statement
            self.isCached = isCached
            self.bytes = bytes
        }
    }

    private var entries: [Int: Entry] = [:]
    private let limit: Int
    private let byteLimit: Int
    /// What the entries take.
    private(set) var bytes = 0
    private var clock: UInt64 = 0

    private let observer: (any StatementObserver)?
    /// Uses of a statement that was there are counted by the clock, which also ticks for each new one.
    private var misses = 0
    private var added: UInt64 = 0
    private var clockAtCount: UInt64 = 0

    init(limit: Int, byteLimit: Int, observer: (any StatementObserver)? = nil) {
        self.limit = limit
        self.byteLimit = byteLimit
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
        let size = statement.memoryBytes
        // One that would push out a good part of the others is not worth them.
        guard entries[text.id] == nil, size <= byteLimit / Self.leastEntries else {
            return Entry(text: text, statement: statement, isCached: false)
        }
        while entries.count >= limit || bytes + size > byteLimit, evictOldest() {}
        guard bytes + size <= byteLimit else { return Entry(text: text, statement: statement, isCached: false) }
        let entry = Entry(text: text, statement: statement, isCached: true, bytes: size)
        clock &+= 1
        added &+= 1
        entry.lastUse = clock
        entries[text.id] = entry
        bytes += size
        return entry
    }

    /// The longest ones leave room for so many of their kind.
    private static let leastEntries = 8

    /// Finalises the statement for `textID`, unless it is in use.
    mutating func remove(_ textID: Int) {
        guard let entry = entries[textID], !entry.isInUse else { return }
        forget(entry)
    }

    /// Finalises every idle statement.
    mutating func removeIdle() {
        for entry in entries.values.filter({ !$0.isInUse }) { forget(entry) }
    }

    /// Runs only when a new text arrives at a full cache, so a scan is good enough. False: all are in use.
    private mutating func evictOldest() -> Bool {
        let oldest = entries.values.filter { !$0.isInUse }.min { $0.lastUse < $1.lastUse }
        guard let oldest else { return false }
        forget(oldest)
        return true
    }

    private mutating func forget(_ entry: Entry) {
        tell(entry)
        entries[entry.text.id] = nil
        bytes -= entry.bytes
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
