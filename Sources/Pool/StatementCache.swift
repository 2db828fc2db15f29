import SQLite

/// The prepared statements of one connection, by the number of their SQL text.
///
/// Which one goes when there is no room is decided as a clock does: a hand goes around, passes over those that were used
/// again since it was last there, and takes the next. So it costs the same however many there are, a use is one store,
/// and texts that come only once (literals make each new) push out each other and not what is used again and again.
///
/// A statement in use stays out of everybody else's hands: the same text run again meanwhile (by a second portal of
/// the session) is prepared afresh and finalised afterwards.
@usableFromInline
struct StatementCache {
    @usableFromInline
    final class Entry {
        let text: SQLText
        @usableFromInline let statement: Statement
        var isInUse = true
        /// False for a second copy, which is finalised on return.
        let isCached: Bool
        /// When it was prepared for the last time.
        fileprivate(set) var bytes: Int
        /// How often SQLite had prepared it again when its bytes were counted.
        @usableFromInline var preparationsMeasured: Int32 = 0
        /// Where it stands in the ring.
        fileprivate var place = 0
        /// Since the hand was last here.
        fileprivate var wasUsedAgain = false
        /// It was prepared to see what it is, and has not run yet.
        fileprivate var isNew = false
        /// What its columns were last compared with, and how often SQLite had prepared it again by then.
        @usableFromInline var verifiedFor: AnyObject?
        @usableFromInline var preparationsSeen: Int32 = -1
        /// The schema that it was prepared for, not by SQLite again.
        var schemaVersion = CommittedSchema.unknown
        /// Since it was last told to the observer.
        @usableFromInline var usage = StatementUsage()

        init(text: SQLText, statement: Statement, isCached: Bool, bytes: Int = 0) {
            self.text = text
            self.statement = statement
            self.isCached = isCached
            self.bytes = bytes
        }
    }

    private var entries: [Int: Entry] = [:]
    /// The entries in the order in which the hand passes them; nil where one was taken away.
    private var ring: [Entry?] = []
    private var freePlaces: [Int] = []
    private var hand = -1
    private let limit: Int
    private let byteLimit: Int
    /// What the entries take.
    private(set) var bytes = 0

    private let observer: (any StatementObserver)?
    private var hits = 0
    private var misses = 0

    init(limit: Int, byteLimit: Int, observer: (any StatementObserver)? = nil) {
        self.limit = limit
        self.byteLimit = byteLimit
        self.observer = observer
    }

    /// The idle statement for `textID`, now in use.
    mutating func take(_ textID: Int) -> Entry? {
        guard let entry = entries[textID], !entry.isInUse else { return nil }
        hits &+= 1
        if entry.isNew { entry.isNew = false } else { entry.wasUsedAgain = true }
        entry.isInUse = true
        return entry
    }

    func has(_ textID: Int) -> Bool { entries[textID] != nil }

    /// A freshly prepared statement, in use.
    ///
    /// - Parameter isNew: it does not run yet.
    mutating func add(_ text: SQLText, _ statement: Statement, isNew: Bool = false) -> Entry {
        misses &+= 1
        let size = statement.memoryBytes
        // One that would push out a good part of the others is not worth them.
        guard entries[text.id] == nil, size <= byteLimit / PoolLimits.leastCachedStatements else {
            return Entry(text: text, statement: statement, isCached: false)
        }
        while entries.count >= limit || bytes + size > byteLimit, evictOne() {}
        guard bytes + size <= byteLimit else { return Entry(text: text, statement: statement, isCached: false) }
        let entry = Entry(text: text, statement: statement, isCached: true, bytes: size)
        entries[text.id] = entry
        entry.isNew = isNew
        entry.place = freePlaces.popLast() ?? ring.count
        if entry.place == ring.count { ring.append(entry) } else { ring[entry.place] = entry }
        bytes += size
        return entry
    }

    /// SQLite has prepared it again, since the schema is another one, and for a table with more columns it takes much more now.
    mutating func measure(_ entry: Entry) {
        entry.preparationsMeasured = entry.statement.preparations
        guard entries[entry.text.id] === entry else { return }
        bytes -= entry.bytes
        entry.bytes = entry.statement.memoryBytes
        bytes += entry.bytes
        if entry.bytes > byteLimit / PoolLimits.leastCachedStatements { return forget(entry) }
        while bytes > byteLimit, evictOne() {}
    }

    /// A freshly prepared statement that is finalised when it is given back.
    mutating func once(_ text: SQLText, _ statement: Statement) -> Entry {
        misses &+= 1
        return Entry(text: text, statement: statement, isCached: false)
    }

    /// Finalises the statement for `textID`, unless it is in use.
    mutating func remove(_ textID: Int) {
        guard let entry = entries[textID], !entry.isInUse else { return }
        forget(entry)
    }

    /// Finalises every idle statement.
    mutating func removeIdle() {
        for entry in entries.values.filter({ !$0.isInUse }) { forget(entry) }
    }

    /// False: all are in use. Twice around finds one that is not.
    private mutating func evictOne() -> Bool {
        for _ in 0..<2 * ring.count {
            hand = hand + 1 < ring.count ? hand + 1 : 0
            guard let entry = ring[hand], !entry.isInUse else { continue }
            if entry.wasUsedAgain {
                entry.wasUsedAgain = false
            } else {
                forget(entry)
                return true
            }
        }
        return false
    }

    private mutating func forget(_ entry: Entry) {
        tell(entry)
        entries[entry.text.id] = nil
        ring[entry.place] = nil
        freePlaces.append(entry.place)
        bytes -= entry.bytes
        entry.statement.finalize()
    }

    /// Of one that is not kept.
    func end(_ entry: Entry) {
        tell(entry)
        entry.statement.finalize()
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
        usage.statementHits = hits
        (hits, misses) = (0, 0)
        return usage
    }
}
