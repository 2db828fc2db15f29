import SQLite
import Scheduling

/// How the member of a group runs that runs now.
struct MemberRun {
    /// When it is stopped, so that those before it need not wait.
    private var ends = Instant.distantFuture
    /// It was stopped, and runs again later: its error is nobody's.
    private(set) var hasBeenStopped = false

    mutating func begins(until end: Instant) { (ends, hasBeenStopped) = (end, false) }

    mutating func mustStop(now: Instant) -> Bool {
        guard now >= ends else { return false }
        hasBeenStopped = true
        return true
    }

    /// It has run, to its end or not: whether it was stopped.
    mutating func hasEnded() -> Bool {
        ends = .distantFuture
        defer { hasBeenStopped = false }
        return hasBeenStopped
    }
}

/// The statements of the savepoint that keeps one member of a group apart from the others.
struct MemberSavepoint {
    let begin: Statement
    let release: Statement
    let rollback: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        // A name no client would think of: ROLLBACK TO finds the innermost savepoint of a name.
        begin = try connection.prepareInternal("SAVEPOINT \"walpool group member\"")
        release = try connection.prepareInternal("RELEASE \"walpool group member\"")
        rollback = try connection.prepareInternal("ROLLBACK TO \"walpool group member\"")
    }
}

/// The writer's part in a group: one member after the other runs in the same transaction.
extension Writer {
    /// A member of a group is about to run.
    func memberRuns(until end: Instant) { memberRun.begins(until: end) }

    /// It has run, to its end or not.
    func memberHasBeenStopped() -> Bool { memberRun.hasEnded() }

    /// The member that runs now was stopped, and runs again later: its error is nobody's.
    package var hasStoppedMember: Bool { memberRun.hasBeenStopped }

    /// Whether the member that runs now may not go on. Asked between its statements too: each may be short.
    package func stopsMember(now: Instant) -> Bool { memberRun.mustStop(now: now) }

    /// The savepoint that keeps one member of a group apart from the others.
    package func beginMemberSavepoint() throws(SQLiteError) { try run(memberSavepoint.begin) }
    /// The member has ended well: what it did stays in the group's transaction.
    package func releaseMemberSavepoint() throws(SQLiteError) { try run(memberSavepoint.release) }
    /// What the member did is undone, and the group goes on.
    package func rollbackMemberSavepoint() throws(SQLiteError) {
        failInSchema = nil
        try run(memberSavepoint.rollback)
        schemaMayBeAnother()
        try run(memberSavepoint.release)
    }
}
