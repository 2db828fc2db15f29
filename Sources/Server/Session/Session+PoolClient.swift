import CLinux
import Pool
import SQLite
import Scheduling
import Synchronization

/// What the pool asks of a session.
extension Session: PoolClient {
    var clientID: ClientID { Int(processID) }

    /// The daemon stops, or an administrator ends this session.
    @inline(__always)
    var mustEnd: Bool { server.stopping.mustStopStatements.load(ordering: .relaxed) || isKilled.load(ordering: .relaxed) }

    func reasonToStop(now: Instant) -> StopReason? {
        if activity.load(ordering: .relaxed) == .cancelled { return .cancelled }
        if mustEnd { return .shutdown }
        if now >= running.deadline { return .statementTimeout }
        if now >= state.transaction.deadline { return .transactionTimeout }
        if now >= writerDeadline { return .writerTimeLimit }
        return isAtCatalogs ? reasonOfOwnConnection(now: now) : nil
    }

    func isClientGone(now: Instant) -> Bool {
        guard now >= running.nextLookAtClient else { return false }
        defer { running.nextLookAtClient = now.advanced(byMilliseconds: SessionLimits.clientCheckMilliseconds) }
        guard running.nextLookAtClient.nanoseconds > 0 else { return false }
        // When the statement began to be long, the socket may have had no room for all of them.
        sendCompleteReplies()
        return walpool_is_hung_up(socket) != 0
    }

    func reasonToStopWaiting(now: Instant) -> StopReason? {
        reasonToStop(now: now) ?? (now >= running.lockDeadline ? .lockTimeout : nil)
    }

    func waitsWithSnapshot(fromBefore moment: Instant) -> Bool {
        let began = parked.snapshotBegan.load(ordering: .sequentiallyConsistent)
        return began != 0 && began < moment.nanoseconds
    }

    func hasRunForAWhile() {
        worker?.sendReplies()
        worker?.handOverIfAny()
    }

    func willBeLong() {
        sendCompleteReplies()
        worker?.willBeLong()
        if writerMode != .none { writerWillBeLong() }
        if writerMode == .group { noteLongMember() }
    }

    func writerWillBeLong() {
        for next in pool.openGateWhileReadersLeave() { enqueue(next) }
    }

    /// When a wait that began with this statement is over.
    var waitDeadline: Instant { min(running.lockDeadline, min(running.deadline, state.transaction.deadline)) }
}
