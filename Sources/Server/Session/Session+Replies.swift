import PostgresWire
import Scheduling
import Synchronization

/// When what is complete of a reply goes out.
extension Session {
    /// A client must not wait for the end of one statement to hear of the one before.
    func sendCompleteReplies() {
        if marks.reply > out.start, writerMode != .group { _ = flush() }
    }

    /// Sends the replies that are complete. Call it before the session is parked, since a parked session has no thread that would. Returns
    /// a wait if the socket has no room, nil when nothing is left.
    func waitUntilRepliesAreSent() -> Wait? {
        guard owesReplyEnd, !hasWriterGrant else { return nil }
        guard flush() else { return .closed }
        guard owesReplyEnd else { return nil }
        // A COPY has begun, and its time goes on.
        guard state.copyIn == nil else { return .output }
        // Any other statement has not: its message is handled again, and its time is not its client's.
        running.isActive = false
        running.deadline = .distantFuture
        state.query?.hasStarted = false
        return .output
    }

    /// The client is to hear first how its last statement ended. A session that has the writer waits for no client.
    var owesReplyEnd: Bool { marks.reply > out.start && out.count > 0 && writerMode == .none }

    /// It goes on when its client has read.
    var mustBeRead: Bool { out.count >= SessionLimits.flushBytes || owesReplyEnd }

    /// A statement's tag comes next. A commit's error takes the place of its tag, not the one of what comes after it.
    func noteReplyToCommit() {
        if !member.hasEnded || writerMode != .group { marks.commit = out.end }
    }

    /// Takes back what of the reply is behind the mark. If the client was told of settings there it is told of all again, once it is
    /// certain which hold.
    func takeReplyBack(to mark: Int) {
        out.truncate(toEnd: mark)
        guard marks.settings > mark else { return }
        marks.settings = mark
        running.settingsToReport = Settings.reported.map { $0.lowercased() }
    }

    func readyForQuery() {
        let told = state.transaction.status
        if told == .idle {
            keepSettings()
            endModesOfMessage()
        }
        if !running.settingsToReport.isEmpty { reportSettingsOfStatement() }
        out.readyForQuery(told)
        endPipeline()
        if told == .idle, ownAnalyses != nil { ownAnalyses = nil }
        marks.reply = out.end
        marks.awaited = marks.reply
        status.store(told.rawValue, ordering: .relaxed)
        // A group's commit is yet to come.
        if told == .idle, writerMode != .group { countTransactionEnd() }
    }
}
