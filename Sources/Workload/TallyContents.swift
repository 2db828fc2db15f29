/// What was counted, as a value: threads and processes hand it over, and theirs are added up.
public struct TallyContents: Equatable, Sendable {
    /// Succeeded in the measured time.
    public internal(set) var transactions: UInt64 = 0
    /// Of those transactions.
    public internal(set) var statements: UInt64 = 0
    /// That the statements of those transactions returned.
    public internal(set) var rows: UInt64 = 0
    /// Transactions of the measured time that failed for good or were never answered, and clients that were lost by its end.
    public internal(set) var errors: UInt64 = 0
    /// Failures after which the transaction was begun again; they are no errors.
    public internal(set) var retries: UInt64 = 0
    /// How many of `errors` and `retries` had each SQLSTATE, or SQLite's name of the error.
    public internal(set) var errorStates: [String: UInt64] = [:]
    /// Failed after the measured time.
    public internal(set) var lateErrors: UInt64 = 0
    /// The same of `lateErrors`.
    public internal(set) var lateErrorStates: [String: UInt64] = [:]
    /// Failed for good in the warm-up.
    public internal(set) var warmUpErrors: UInt64 = 0
    /// The same of `warmUpErrors`.
    public internal(set) var warmUpErrorStates: [String: UInt64] = [:]
    /// Succeeded, but before the measured time, or after it: see `Tally` for what belongs where.
    public internal(set) var warmUpTransactions: UInt64 = 0
    /// Succeeded, but after the measured time.
    public internal(set) var lateTransactions: UInt64 = 0
    /// Of an open loop: how many were meant to start in the measured time, and how many of those never did.
    public internal(set) var due: UInt64 = 0
    /// How many of `due` never began.
    public internal(set) var notStarted: UInt64 = 0
    /// The longest that a transaction which ran at the end, or had yet to begin, had been due.
    public internal(set) var unfinishedNanoseconds: Int64 = 0
    /// Of all: those that succeeded, failed, were late or unfinished.
    public internal(set) var longestNanoseconds: Int64 = 0
    /// Transactions of each client of the class that succeeded in the measured time.
    public internal(set) var perClient: [UInt64]
    /// What ended in each second.
    public internal(set) var seconds: [Latencies] = []
    /// Latencies that no second has. Of what was due in an open loop, but did not end in the measured time: of what ended after it,
    /// and what the others had waited by its end. Without them a stall that lasts to the end would not be in the histogram.
    public internal(set) var overdue = Latencies()
    /// The first few different texts of errors.
    public internal(set) var complaints: [String] = []

    /// How often each latency was counted, and the longest in nanoseconds, which the counts have only roughly.
    public struct Latencies: Equatable, Sendable {
        var counts = SparseCounts()
        /// Those of an open loop's failures, which are no transactions of the second.
        var failed = SparseCounts()
        var highestNanoseconds: Int64 = 0

        var all: SparseCounts {
            var all = counts
            all.add(failed)
            return all
        }

        mutating func add(_ other: Latencies) {
            counts.add(other.counts)
            failed.add(other.failed)
            highestNanoseconds = max(highestNanoseconds, other.highestNanoseconds)
        }
    }

    /// With nothing counted yet, for so many clients of the class.
    public init(clients: Int) { perClient = Array(repeating: 0, count: clients) }

    /// As many as one reads.
    static let mostComplaints = 5
    static let longestComplaint = 300

    mutating func complain(_ text: String) {
        guard complaints.count < Self.mostComplaints else { return }
        let short = String(text.prefix(Self.longestComplaint))
        if !complaints.contains(short) { complaints.append(short) }
    }

    /// A client whose tally is not to be had: an error, and what it did is in no figure.
    public mutating func addMissing(_ state: String, _ reason: String) {
        errors += 1
        errorStates[state, default: 0] += 1
        complain("\(state): \(reason)")
    }

    /// Transactions that succeeded, whenever that was.
    var ended: UInt64 { warmUpTransactions + transactions + lateTransactions }

    /// All latencies of what belongs to the measured time.
    var counts: SparseCounts {
        var all = overdue.all
        for second in seconds { all.add(second.all) }
        return all
    }

    /// Adds what another thread counted of the same class.
    public mutating func add(_ other: TallyContents) {
        transactions += other.transactions
        statements += other.statements
        rows += other.rows
        errors += other.errors
        lateErrors += other.lateErrors
        lateErrorStates.merge(other.lateErrorStates, uniquingKeysWith: +)
        warmUpErrors += other.warmUpErrors
        warmUpErrorStates.merge(other.warmUpErrorStates, uniquingKeysWith: +)
        retries += other.retries
        errorStates.merge(other.errorStates, uniquingKeysWith: +)
        warmUpTransactions += other.warmUpTransactions
        lateTransactions += other.lateTransactions
        due += other.due
        notStarted += other.notStarted
        unfinishedNanoseconds = max(unfinishedNanoseconds, other.unfinishedNanoseconds)
        longestNanoseconds = max(longestNanoseconds, other.longestNanoseconds)
        if perClient.count < other.perClient.count {
            perClient += Array(repeating: 0, count: other.perClient.count - perClient.count)
        }
        for (index, count) in other.perClient.enumerated() { perClient[index] += count }
        for (index, second) in other.seconds.enumerated() {
            if index == seconds.count { seconds.append(Latencies()) }
            seconds[index].add(second)
        }
        overdue.add(other.overdue)
        for complaint in other.complaints { complain(complaint) }
    }
}
