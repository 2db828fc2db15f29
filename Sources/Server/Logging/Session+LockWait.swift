import Journal
import Logging
import Pool
import Scheduling

/// `log_lock_waits`: who waits for the writer or a reader for long, and who has it meanwhile.
extension Session {
    /// The timer's thread, while the session is parked and nobody can resume it (see Session+QueueNotice): whoever waits
    /// is still waiting, so the holder is the one it waits for.
    func logLockWait(now: Instant) {
        let writer = pool.queuePlace(of: clientID)
        let reader = writer == nil ? pool.readerPlace(of: clientID) : nil
        guard let place = writer?.place ?? reader?.place, admitsLine(.lockWait, now: now) else { return }
        lockWait.isLogged = true
        var metadata = identity
        metadata["wait"] = .stringConvertible(LoggedDuration(nanoseconds: now.nanoseconds - lockWait.began.nanoseconds))
        metadata["place"] = "\(place)"
        if let statement = statementAtHand { metadata["sql"] = "\(statement.text)" }
        if let writer { metadata.merge(server.describeHolder(writer.holder, now: now)) { $1 } }
        if let idle = reader?.oldestIdle { metadata.merge(server.describeIdle(idle, now: now)) { $1 } }
        eventLog.log.notice(
            .lockWait, writer == nil ? "a session still waits for a reader" : "a session still waits for the writer",
            metadata: metadata)
    }

    /// It has the connection now; what was said of its wait is not left without its end.
    func noteEndOfWait(forReader: Bool = false) {
        guard lockWait.isLogged else { return }
        lockWait.isLogged = false
        var metadata = identity
        metadata["wait"] = .stringConvertible(
            LoggedDuration(nanoseconds: MonotonicClock.now.nanoseconds - lockWait.began.nanoseconds))
        eventLog.log.notice(
            .lockWaitEnded,
            forReader ? "a session has the reader it waited for" : "a session has the writer it waited for", metadata: metadata)
    }
}

// MARK: A member that is long

extension Session {
    /// It runs as a member of a group, and for long. Those that are short are not worth the lock.
    func noteLongMember() {
        member.isNoted = true
        let text = statementAtHand?.text
        server.longMember.withLock { $0 = (clientID, text) }
    }

    func forgetLongMember() {
        member.isNoted = false
        server.longMember.withLock { $0 = nil }
    }
}

// MARK: The holder

extension Server {
    /// What the holder of the lease runs, or ran last. It may be at work on another thread, so this is not looked up in its
    /// session: who has the lease says it here.
    struct HolderStatement {
        var client: ClientID
        var text: SQLText
    }

    func noteHolderStatement(_ client: ClientID, _ text: SQLText) {
        holderStatement.withLock { $0 = HolderStatement(client: client, text: text) }
    }

    /// nil when it was another session that had the lease last.
    func holderStatementText(_ client: ClientID) -> String? {
        guard let text = holderStatement.withLock({ $0?.client == client ? $0?.text : nil }) else { return nil }
        return Session.StatementAtHand(sql: text.bytes).text
    }

    fileprivate func describeHolder(_ holder: WriterQueue.Holder, now: Instant) -> Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        switch holder {
        case .nobody: metadata["holder"] = "nobody"
        case .group: metadata["holder"] = "group"
        case .job(let id): metadata["holder"] = "\(WriterJob(client: id).map { "\($0)" } ?? "job")"
        case .transaction(let client, let since, let idleSince):
            metadata["holder"] = "transaction"
            metadata["holder_since"] = .stringConvertible(LoggedDuration(nanoseconds: now.nanoseconds - since.nanoseconds))
            if let idleSince {
                metadata["holder_idle"] = .stringConvertible(
                    LoggedDuration(nanoseconds: now.nanoseconds - idleSince.nanoseconds))
            }
            metadata.merge(identifyHolder(client)) { $1 }
            if let text = holderStatementText(client) { metadata["holder_sql"] = "\(text)" }
        }
        return metadata
    }

    /// Of those who have a reader and are idle, the one whose snapshot is the oldest.
    fileprivate func describeIdle(_ reader: IdleReader, now: Instant) -> Logger.Metadata {
        var metadata = identifyHolder(reader.client)
        metadata["holder_since"] = .stringConvertible(
            LoggedDuration(nanoseconds: now.nanoseconds - reader.snapshotBegan.nanoseconds))
        metadata["holder_idle"] = .stringConvertible(LoggedDuration(nanoseconds: now.nanoseconds - reader.since.nanoseconds))
        return metadata
    }

    private func identifyHolder(_ client: ClientID) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["holder_session": "\(client)"]
        if let introduction = table.session(processID: Int32(client))?.introduction {
            metadata.merge(
                Session.identity(
                    Int32(client), user: introduction.user, application: introduction.applicationName, introduction.peer,
                    prefix: "holder_")
            ) { $1 }
        }
        return metadata
    }
}
