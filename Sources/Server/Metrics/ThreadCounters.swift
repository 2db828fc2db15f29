import Scheduling
import Synchronization

/// What one thread counts: words that it alone writes and anybody may read.
///
/// A point SELECT is counted here in some twenty places a microsecond, so there is no lock, no atomic read-modify-write and
/// no reference counting: a word is loaded, added to and stored, as any variable is. The words are atomics only so that
/// whoever adds up all threads' words may read them meanwhile.
///
/// `@unchecked Sendable`: the words are atomics. They are never freed: a thread that ends leaves them to the next one, and
/// what has been counted stays (see `Metrics`).
struct ThreadCounters: @unchecked Sendable {
    /// A pointer, because a session reaches the words of the thread it is on without retaining anything.
    private let words: UnsafeMutablePointer<Atomic<Int>>

    enum Word: Int {
        /// When this thread last read the clock, in nanoseconds: at the beginning of its event, or later.
        case mark
        /// 1: it was read in this event, at the end of a read, and nothing that takes long has been done since.
        case markIsFresh
        /// When its event began, or the last statement that was measured ended, in nanoseconds: a statement that begins now need not
        /// ask the clock. 0: too long ago.
        case time
        case receivedBytes, sentBytes, rows
        /// Of the console and of those who ask for metrics: what looking at the daemon costs is not the database's.
        case lookingReceivedBytes, lookingSentBytes
        case transactions, transactionNanoseconds, queryNanoseconds
        case waits, waitNanoseconds
        case sessions
        case statementNanoseconds
        case readerWaitNanoseconds
        /// How many of these there are, before the buckets and kinds.
        case end
    }

    private static let durations = Word.end.rawValue
    private static let readerWaits = durations + Histogram.durationBuckets
    private static let kinds = readerWaits + Histogram.durationBuckets
    private static let count = kinds + StatementKind.allCases.count
    /// No other thread's words share a cache line with these.
    private static let cacheLineBytes = 64

    init() {
        let stride = MemoryLayout<Atomic<Int>>.stride
        let bytes = (Self.count * stride + Self.cacheLineBytes - 1) / Self.cacheLineBytes * Self.cacheLineBytes
        let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: Self.cacheLineBytes)
        words = memory.bindMemory(to: Atomic<Int>.self, capacity: Self.count)
        for index in 0..<Self.count { (words + index).initialize(to: Atomic(0)) }
    }

    /// Once no thread counts with them, and nobody reads them.
    func deallocate() { words.deallocate() }

    @inline(__always)
    private func add(_ value: Int, at index: Int) {
        words[index].store(words[index].load(ordering: .relaxed) &+ value, ordering: .relaxed)
    }

    // MARK: Only for the thread that counts

    @inline(__always)
    func add(_ word: Word, _ value: Int) { add(value, at: word.rawValue) }

    @inline(__always)
    var mark: Int { words[Word.mark.rawValue].load(ordering: .relaxed) }

    /// The clock has been read.
    @inline(__always)
    func setMark(_ now: Instant, isFresh: Bool = false) {
        words[Word.mark.rawValue].store(Int(now.nanoseconds), ordering: .relaxed)
        words[Word.markIsFresh.rawValue].store(isFresh ? 1 : 0, ordering: .relaxed)
    }

    @inline(__always)
    var markIsFresh: Bool { words[Word.markIsFresh.rawValue].load(ordering: .relaxed) != 0 }

    /// A statement that begins now begins then; nil: the clock is to be read.
    @inline(__always)
    func setTime(_ time: Instant?) { words[Word.time.rawValue].store(Int(time?.nanoseconds ?? 0), ordering: .relaxed) }

    /// That time, once.
    @inline(__always)
    func takeTime() -> Instant? {
        let time = words[Word.time.rawValue].load(ordering: .relaxed)
        guard time > 0 else { return nil }
        setTime(nil)
        return Instant(nanoseconds: Int64(time))
    }

    @inline(__always)
    func countStatement(_ kind: StatementKind) { add(1, at: Self.kinds + kind.rawValue) }

    /// A statement that SQLite ran.
    @inline(__always)
    func countRun(_ kind: StatementKind, nanoseconds: Int) {
        countStatement(kind)
        add(.statementNanoseconds, nanoseconds)
        add(1, at: Self.durations + Histogram.durationBucket(nanoseconds))
    }

    func countReaderWait(nanoseconds: Int) {
        add(.readerWaitNanoseconds, nanoseconds)
        add(1, at: Self.readerWaits + Histogram.durationBucket(nanoseconds))
    }
}

extension ThreadCounters {
    /// The words of all threads, added up.
    struct Sum {
        private var words = Array(repeating: 0, count: ThreadCounters.count)

        init(_ threads: [ThreadCounters]) {
            for thread in threads {
                for index in words.indices { words[index] &+= thread.words[index].load(ordering: .relaxed) }
            }
        }

        subscript(_ word: Word) -> Int { words[word.rawValue] }
        subscript(_ kind: StatementKind) -> Int { words[ThreadCounters.kinds + kind.rawValue] }

        var statements: Int { StatementKind.allCases.reduce(0) { $0 &+ self[$1] } }
        var statementDurations: Histogram { histogram(ThreadCounters.durations, self[.statementNanoseconds]) }
        var readerWaits: Histogram { histogram(ThreadCounters.readerWaits, self[.readerWaitNanoseconds]) }

        private func histogram(_ first: Int, _ sum: Int) -> Histogram {
            Histogram(
                bounds: Histogram.durationBounds, counts: Array(words[first..<(first + Histogram.durationBuckets)]), sum: sum)
        }
    }
}
