import SQLite

/// A session whose transaction has arrived whole and shares a commit with others.
///
/// Nothing it produces may leave the process before `Pool.commitGroup` has returned it or handed it to `answer`; with `pipelined`,
/// before its commit is synced.
package protocol GroupMember: PoolClient {
    /// Remembers the session's state, so that `rewind` can go back to it.
    ///
    /// - Parameter mayRunAgain: false when it is alone with its commit, and `rewind` will not be called.
    func mark(mayRunAgain: Bool)
    /// Goes back to the mark: as if the transaction had not been run.
    func rewind()
    /// As `rewind`, for one that waits for the writer again: it has the next group's first place.
    func returnToQueue()
    /// Runs the whole transaction on the writer, where a transaction is open already. Its own errors become part of
    /// its reply and undo only its own work.
    func runTransaction(on writer: Writer)
    /// It has run, and nothing of what it did is left: it was undone, by its statement, its savepoint or itself.
    var leavesNothing: Bool { get }
    /// The commit failed: the reply after the mark is replaced by this error.
    func commitFailed(_ error: SQLiteError)
    /// The transaction was not run, because the writer's lock could not be had; `reason` is nil when nobody asked to
    /// stop and SQLite itself failed.
    func couldNotBegin(_ reason: StopReason?, _ error: SQLiteError)
    /// The group will keep the writer for long: see `Pool.openGateWhileReadersLeave`.
    func writerWillBeLong()
}

extension GroupMember {
    package var groupMember: (any GroupMember)? { self }
    package func returnToQueue() { rewind() }
    package var leavesNothing: Bool { false }
    package func writerWillBeLong() {}
}
