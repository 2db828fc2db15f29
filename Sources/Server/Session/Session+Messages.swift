import PostgresWire

/// The message loop.
extension Session {
    /// Handles messages until the session cannot go on.
    ///
    /// A message that has to wait is not consumed: it is handled again from its start when the wait is over, and finds
    /// what it waited for. So a session needs no stack of its own while it waits.
    func advance() -> Wait {
        turn = SessionTurn()
        return advanceInTurn()
    }

    /// The same, as part of the turn it has.
    func advanceInTurn() -> Wait {
        while true {
            do {
                if let wait = try step() { return wait }
            } catch {
                if error.severity == .fatal {
                    noteError(error)
                    countError(error)
                    out.error(error)
                    guard isUnsynced else { return .closed }
                    // The answer to a commit stands before it, and nothing leaves before that is on the disk.
                    isClosing = true
                    return .durability
                }
                if let wait = fail(error) { return wait }
            }
        }
    }

    /// One message, or one go at it. nil: go on with the next.
    private func step() throws(WireError) -> Wait? {
        guard case .ready = phase else { return try stepOutsideOfSession() }
        if isUnsynced, out.end == marks.reply { return .durability }
        if state.query != nil { return try continueQuery() }
        if isCopyingIn, let copy = state.copyIn { return try continueCopyIn(copy) }
        if let wait = try waitForClientToRead() { return wait }
        switch frame(at: state.inputPosition) {
        case .incomplete:
            return .input
        case .invalid(let error):
            throw error
        case .message(let type, let range, let next):
            let body = UnsafeRawBufferPointer(rebasing: input.bytes[range])
            if state.skipsUntilSync && type != .sync && type != .terminate {
                state.inputPosition = next
                return nil
            }
            if try countTowardsTurn() { return .turn }
            return try handle(type, body, range, next)
        }
    }

    /// Before a session, or instead of one.
    private func stepOutsideOfSession() throws(WireError) -> Wait? {
        switch phase {
        case .startup(let refused): try startUp(refused: refused)
        case .http: takeHTTPRequest()
        case .httpAnswered: finishHTTP()
        case .leaving, .closed: .closed
        case .ready: nil
        }
    }

    private func handle(
        _ type: FrontendMessageType, _ body: UnsafeRawBufferPointer, _ range: Range<Int>, _ next: Int
    ) throws(WireError) -> Wait? {
        var wait: Wait?
        switch type {
        case .bind: try bind(BindMessage(body: body))
        case .execute: wait = try execute(ExecuteMessage(body: body))
        case .sync:
            try requireEmpty(body)
            return try sync(next)
        case .parse: wait = try parse(ParseMessage(body: body))
        case .describe: wait = try describe(DescribeMessage(body: body))
        case .close: try closeObject(CloseMessage(body: body))
        case .query: return try beginQuery(QueryMessage(body: body), bodyStart: range.lowerBound, next)
        case .flush:
            try requireEmpty(body)
            // A client that asks for a Flush waits for what comes before it, except inside a group, whose replies wait
            // for the commit.
            marks.awaited = out.end
            if writerMode != .group, !flush() { return .closed }
        case .terminate: return .closed
        case .copyData, .copyDone, .copyFail:
            // "the backend will … ignore CopyData, CopyDone, CopyFail" once a COPY has failed or is over.
            break
        case .functionCall:
            throw WireError(
                state: .featureNotSupported, message: "the function call protocol is not supported",
                hint: "Call the function in a SELECT.")
        case .password:
            throw WireError(
                severity: .fatal, state: .protocolViolation,
                message: "unexpected message type \(type.rawValue) after startup")
        }
        if wait == nil { state.inputPosition = next }
        return wait
    }

    /// A client that sends and does not read must not fill the memory with replies.
    @inline(__always)
    func waitForClientToRead() throws(WireError) -> Wait? {
        // Nothing leaves between a commit and the disk, its tag least of all.
        guard out.count >= SessionLimits.flushBytes, !isUnsynced else { return nil }
        return try waitUntilRead()
    }

    private func waitUntilRead() throws(WireError) -> Wait? {
        if writerMode != .group {
            guard flush() else { return .closed }
            if writerMode == .none, !hasWriterGrant { return out.count >= SessionLimits.flushBytes ? .output : nil }
        }
        // A session that has the writer, or has just been given it, waits for no client: nobody would take the writer away from it.
        guard out.count < SessionLimits.writerResultBytes else {
            throw WireError(
                severity: .fatal, state: .programLimitExceeded,
                message: "the replies of a writing transaction are too large")
        }
        return nil
    }

    private func requireEmpty(_ body: UnsafeRawBufferPointer) throws(WireError) {
        guard body.isEmpty else { throw WireError(state: .protocolViolation, message: "invalid message format") }
    }

    /// A statement has failed: the client is told, the transaction is failed or undone, and the rest of its message
    /// (or of its pipeline, up to Sync) is skipped.
    func fail(_ error: WireError) -> Wait? {
        let error = state.copyIn?.explained(error) ?? error
        // A member that was stopped for others runs again: it is the same statement then, and nobody hears of this.
        let runsAgain = writerMode == .group && pool.writer.hasStoppedMember
        if !runsAgain { noteError(error) }
        forgetCopyIn()
        if !runsAgain { endStatement() }
        if state.transaction.isExplicit, !state.transaction.savepoints.isEmpty, writerMode != .group {
            closePortals(deeperThan: state.transaction.savepoints.count - 1)
        } else {
            closePortals()
        }
        out.error(positionInQuery(error))
        marks.awaited = out.end
        if !runsAgain { countError(error) }
        if error.state == .dataCorrupted || error.state == .ioError {
            if error.message == ErrorTranslation.foreignEncoding { pool.encodingHasChanged() } else { pool.suspectFiles() }
        }
        failTransaction()
        if let query = state.query {
            state.inputPosition = query.end
            state.query = nil
            readyForQuery()
            return writerMode == .group ? .transactionEnd : nil
        }
        // The message at hand is skipped by its length, never read as anything else (CVE-2015-0244).
        if case .message(let type, _, let next) = frame(at: state.inputPosition) {
            state.inputPosition = next
            if type == .query || type == .functionCall || type == .sync {
                state.skipsUntilSync = false
                readyForQuery()
                return writerMode == .group ? .transactionEnd : nil
            }
        }
        state.skipsUntilSync = true
        return nil
    }

    /// The end of a pipeline: an implicit transaction is committed, and the client hears that it may go on.
    private func sync(_ next: Int) throws(WireError) -> Wait? {
        state.skipsUntilSync = false
        if !isUnsynced, !member.hasEnded || writerMode != .group { marks.commit = out.end }
        if !state.transaction.isExplicit {
            try commitAndClosePortals()
        }
        state.inputPosition = next
        readyForQuery()
        return writerMode == .group ? .transactionEnd : nil
    }
}
