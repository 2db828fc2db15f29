/// What the clients of one class did, counted by the thread that runs them.
///
/// All times are nanoseconds of one clock, CLOCK_MONOTONIC, which all processes of a machine share. In a closed loop a transaction
/// belongs to the measured time if it ends in it. In an open loop it does if it was meant to start in it: else an overload would put
/// what is left of the warm-up in place of what was due, and hide both. What belongs before is warm-up; what ends after the end is
/// late: neither is in the throughput, but both are in the tables of the database, so both are counted. Latencies are those of what
/// succeeded in the measured time, and in an open loop those of everything that was due: what failed has the time until it did. Else
/// what a stall ends with an error would be in no percentile, and the stall hidden by the very requests that it was worst for. Errors
/// that come at once make the percentiles better than they were for those who got an answer, so they are told beside them.
///
/// Not Sendable: one thread counts, and hands over `contents` when it is done.
public final class Tally {
    /// Not yet complete: what each success adds to is kept apart until `close()`.
    public internal(set) var contents: TallyContents
    let isOpen: Bool
    private(set) var from: Int64 = .max
    private(set) var until: Int64 = .max
    private let counts = LatencyCounts()
    var overdue = RareLatencies()
    /// Of the transactions of an open loop that failed in the second.
    private var failed = RareLatencies()
    private let perClient: UnsafeMutablePointer<UInt64>
    private let clients: Int
    private var endOfSecond: Int64 = .max
    private var highestInSecond: Int64 = 0
    private var transactions: UInt64 = 0
    private var statements: UInt64 = 0
    private var rows: UInt64 = 0

    /// Everything is warm-up until `begin(from:until:)`.
    public convenience init(_ clientClass: ClientClass) {
        self.init(clients: clientClass.clients, isOpen: clientClass.isOpenLoop)
    }

    /// - Parameter clients: of the whole class; those of other threads stay at 0 here.
    init(clients: Int, isOpen: Bool = false) {
        self.clients = clients
        self.isOpen = isOpen
        contents = TallyContents(clients: clients)
        // Memory of its own: counting in an array would check it for other owners each time.
        perClient = .allocate(capacity: max(clients, 1))
        perClient.initialize(repeating: 0, count: max(clients, 1))
    }

    /// Says when the measured time begins and when it is planned to end. Until then everything is warm-up.
    public func begin(from: Int64, until: Int64) {
        self.from = from
        self.until = until
        endOfSecond = from + Self.second
    }

    deinit { perClient.deallocate() }

    static let second: Int64 = 1_000_000_000

    /// The measured time ends earlier than planned.
    public func stop(at time: Int64) { until = min(until, time) }

    /// Which of its two times decides where a transaction belongs.
    @inline(__always)
    private func deciding(began: Int64, ended: Int64) -> Int64 { isOpen ? began : ended }

    /// A transaction has succeeded. `began` is when it was meant to.
    @inline(__always)
    public func succeeded(client: Int, began: Int64, ended: Int64, statements: Int, rows: Int) {
        guard deciding(began: began, ended: ended) >= from, ended < until else { return outside(began: began, ended: ended) }
        if ended >= endOfSecond { closeSeconds(upTo: ended) }
        let latency = ended &- began
        counts.record(nanoseconds: latency)
        if latency > highestInSecond { highestInSecond = latency }
        transactions &+= 1
        self.statements &+= UInt64(truncatingIfNeeded: statements)
        self.rows &+= UInt64(truncatingIfNeeded: rows)
        perClient[client] &+= 1
    }

    @inline(never)
    private func outside(began: Int64, ended: Int64) {
        guard deciding(began: began, ended: ended) >= from else { return contents.warmUpTransactions += 1 }
        contents.lateTransactions += 1
        contents.longestNanoseconds = max(contents.longestNanoseconds, ended - began)
        unfinished(began: began, end: until)
        if isOpen, began < until { overdue.record(nanoseconds: ended - began) }
    }

    /// A transaction has failed; it is rolled back.
    ///
    /// - Parameters:
    ///   - state: a SQLSTATE, or SQLite's name of the error.
    ///   - isRetried: it begins again, and its time goes on.
    public func failed(began: Int64, ended: Int64, state: String, message: String, isRetried: Bool = false) {
        contents.complain("\(state): \(message)")
        guard deciding(began: began, ended: ended) >= from else {
            guard !isRetried else { return }
            contents.warmUpErrors += 1
            contents.warmUpErrorStates[state, default: 0] += 1
            return
        }
        countFailure(began: began, ended: ended, state: state, isRetried: isRetried)
    }

    /// A client's only connection has ended, and not by us. Counted in the warm-up, too, and of clients that were waiting: the
    /// client is missing from then on.
    ///
    /// - Parameter began: its transaction; nil when it waited for the next one.
    public func lost(began: Int64?, ended: Int64, state: String, message: String) {
        contents.complain("\(state): \(message)")
        countFailure(began: began, ended: ended, state: state)
    }

    private func countFailure(began running: Int64?, ended: Int64, state: String, isRetried: Bool = false) {
        let began = running ?? ended
        if running != nil, !isRetried { recordFailure(began: began, ended: ended) }
        contents.longestNanoseconds = max(contents.longestNanoseconds, ended - began)
        if ended >= until { unfinished(began: began, end: until) }
        if deciding(began: began, ended: ended) >= until, !isRetried {
            contents.lateErrors += 1
            contents.lateErrorStates[state, default: 0] += 1
        } else {
            if isRetried { contents.retries += 1 } else { contents.errors += 1 }
            contents.errorStates[state, default: 0] += 1
        }
    }

    /// In an open loop it was due, so it has a latency.
    private func recordFailure(began: Int64, ended: Int64) {
        guard isOpen, began >= from, began < until else { return }
        guard ended < until else { return overdue.record(nanoseconds: ended - began) }
        closeSeconds(upTo: ended)
        failed.record(nanoseconds: ended - began)
    }

    /// Takes what was counted in the seconds that have passed.
    private func closeSeconds(upTo now: Int64) {
        while now >= endOfSecond {
            contents.seconds.append(takeSecond())
            endOfSecond += Self.second
        }
    }

    private func takeSecond() -> TallyContents.Latencies {
        let failures = failed.take()
        defer { highestInSecond = 0 }
        return .init(
            counts: counts.take(), failed: failures.counts,
            highestNanoseconds: max(highestInSecond, failures.highestNanoseconds))
    }

    /// A part of a second at the end. What was counted before an early end was known is in the last second, and makes no other.
    private func closePartOfSecond() {
        guard counts.total > 0 || !failed.isEmpty || !overdue.isEmpty else { return }
        let part = takeSecond()
        guard endOfSecond - Self.second >= until, let last = contents.seconds.indices.last else {
            return contents.seconds.append(part)
        }
        contents.seconds[last].add(part)
    }

    /// Everything, when nothing more will be counted.
    public func close() -> TallyContents {
        // A stall at the end is seen in the seconds too.
        if until < .max { closeSeconds(upTo: until) }
        closePartOfSecond()
        contents.overdue = overdue.take()
        contents.transactions = transactions
        contents.statements = statements
        contents.rows = rows
        contents.perClient = Array(UnsafeBufferPointer(start: perClient, count: clients))
        contents.longestNanoseconds = contents.seconds.reduce(contents.longestNanoseconds) { max($0, $1.highestNanoseconds) }
        return contents
    }
}
