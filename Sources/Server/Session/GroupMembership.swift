import Scheduling

/// What a session remembers as a member of a group, to go back to when it is run again: see Session+Group.
struct GroupMembership {
    /// As it was when the group began with it.
    var markedState: SessionState?
    /// Where its output ended then.
    var markedEnd = 0
    /// When its statement is to end, as it was then.
    var markedDeadline = Instant.distantFuture
    /// How far its portals were then, and what its client had been told of them.
    var markedPortals: [(portal: Portal, progress: Portal.Progress)] = []
    /// What its client was to be told of then.
    var markedSettingsToReport: [String] = []
    /// What held before its transaction, which has ended well and has changed settings: to go back to if the commit fails.
    var settingsBefore: HeldSettings?
    /// What the connection had counted by then.
    var totalChangesAtMark: Int64 = 0
    /// Its whole transaction is one statement.
    var isSingleStatement = false
    /// What its statement may have left behind, where it or what comes after it has failed.
    var leftovers = Session.Leftovers.none
    /// Its transaction has ended, well or not, and nothing of it is left to undo.
    var hasEnded = false
    /// It was undone, and the group's transaction has nothing of it.
    var leavesNothing = false
    /// Its transaction is part of the commit that is being made.
    var isInCommit = false
    /// SHOW WRITER names it: see Logging/Session+LockWait.
    var isNoted = false
}
