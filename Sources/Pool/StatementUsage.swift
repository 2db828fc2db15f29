/// What one text's statements have done.
@usableFromInline package struct StatementUsage: Equatable, Sendable {
    /// How often one was run.
    package var calls = 0
    /// Returned, or changed by an INSERT, UPDATE or DELETE.
    package var rows = 0
    /// From the beginning of its work to the last row, without what it waited in a queue before.
    package var nanoseconds = 0
    /// Of the longest run.
    package var longestNanoseconds = 0
    /// That another process's lock was waited for.
    package var outsiderWaitMilliseconds = 0
    /// Of sqlite3_stmt_status, https://www.sqlite.org/c3ref/c_stmtstatus_counter.html
    package var fullScanSteps = 0
    /// Sorts for which no index was of use.
    package var sorts = 0
    /// Rows put into indexes that were made for one run.
    package var automaticIndexRows = 0

    /// Nothing was run.
    package init() {}

    /// Adds up, but for the longest, which is the longer one.
    package static func += (a: inout StatementUsage, b: StatementUsage) {
        a.calls &+= b.calls
        a.rows &+= b.rows
        a.nanoseconds &+= b.nanoseconds
        a.longestNanoseconds = max(a.longestNanoseconds, b.longestNanoseconds)
        a.outsiderWaitMilliseconds &+= b.outsiderWaitMilliseconds
        a.fullScanSteps &+= b.fullScanSteps
        a.sorts &+= b.sorts
        a.automaticIndexRows &+= b.automaticIndexRows
    }
}

/// Told what the statements of a text have done: when somebody asks, and when one leaves its connection's cache.
///
/// Called by the thread that has the connection, with no lock held.
package protocol StatementObserver: AnyObject, Sendable {
    /// What was counted for the text since it was last told.
    func didUse(_ text: SQLText, _ usage: StatementUsage)
}
