/// What happened in a simulation: of what did not happen nothing was shown.
extension SimulatedScheduler {
    struct Figures: CustomStringConvertible {
        var groups = 0, transactions = 0, reads = 0, evictions = 0, gates = 0, forced = 0, recoveries = 0
        var expired = 0, withdrawn = 0, longestWait: Int64 = 0
        var pauses = 0, completePauses = 0, passed = 0

        mutating func add(_ other: Figures) {
            groups += other.groups
            transactions += other.transactions
            reads += other.reads
            evictions += other.evictions
            gates += other.gates
            forced += other.forced
            recoveries += other.recoveries
            expired += other.expired
            withdrawn += other.withdrawn
            pauses += other.pauses
            completePauses += other.completePauses
            passed += other.passed
            longestWait = max(longestWait, other.longestWait)
        }

        var description: String {
            "\(groups) groups, \(transactions) transactions, \(reads) reads, \(evictions) evictions, \(gates) gates "
                + "(\(forced) ended reads), \(recoveries) recoveries, \(expired) timeouts, \(withdrawn) cancels, "
                + "\(pauses) pauses (\(completePauses) complete, \(passed) passed), "
                + "longest wait \(longestWait) ms"
        }
    }
}
