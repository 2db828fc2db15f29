import CLinux
import Glibc
import Pool
import PostgresWire
import Scheduling

/// What a session cannot go on without; how `advance` ends.
enum Wait {
    /// The client's next message.
    case input
    /// Room in the client's socket.
    case output
    /// In a queue of the pool. The session may be running on another thread already: touch nothing.
    case parked
    /// The writer is granted and free: run this session's transaction as a group of one.
    case group
    /// As a member of a group: the transaction is at its end, and its reply is held back.
    case transactionEnd
    /// With synchronous = pipelined: committed, and answered once that is on the disk.
    case durability
    /// A thread, behind whatever else waits for one: see Session+Turn.
    case turn
    case closed
}

extension Session {
    /// The socket is ready; the calling worker owns the session.
    ///
    /// - Parameter isHungUp: its end may follow the bytes that are read now, without another event.
    func socketIsReady(_ worker: Worker, isHungUp: Bool) {
        self.worker = worker
        if isHungUp { needsArming = true }
        if interest == .writable {
            // There is room, so it has read. The deadline of a startup is for all of it.
            if case .ready = phase { disarmDeadline() }
            if isReaderIdle { endReaderIdling() }
            noteRead()
            if isStatementActive { countBeginning() }
            guard flush() else { return close() }
            if case .leaving = phase { return closeWhenRead() }
            if mustBeRead { return settle(.output) }
            // It has read what it was owed, so its time as an idle holder begins anew.
            if out.count == 0 { endIdling() }
        } else {
            var minimum = SessionLimits.readBytes
            if isCopyingIn {
                minimum = dropCopiedInput()
            } else {
                input.drop(state.inputPosition)
                state.inputPosition = 0
            }
            let before = input.count
            return goOn(after: input.receive(from: socket, minimum: minimum), of: input.count - before)
        }
        settle(advance())
    }

    @inline(__always)
    private func goOn(after received: InputBuffer.Received, of bytes: Int) {
        switch received {
        case .some: noteSpeculativeRead(inVain: false)
        case .full: needsArming = true
        case .nothingYet:
            noteSpeculativeRead(inVain: true)
            return settle(.input)
        case .closed: return close()
        case .descriptors:
            return terminate(
                WireError(
                    severity: .fatal, state: .protocolViolation, message: "descriptors came beside a message (SCM_RIGHTS)",
                    hint: "Send bytes only: nothing here takes descriptors."))
        case .noMemory:
            return terminate(
                WireError(severity: .fatal, state: .outOfMemory, message: "there is no memory for what the client sends"))
        }
        countReceived(bytes)
        if isIdleHolder || isReaderIdle || armedDeadline < .distantFuture { noteActivity(of: bytes) }
        settle(advance())
    }

    /// Ends its idleness if what its client has sent counts as activity: see InputActivity. Otherwise its idle time and the deadlines
    /// of that go on.
    private func noteActivity(of bytes: Int) {
        // The deadline of a startup is for all of it, however many pieces it comes in.
        guard case .ready = phase,
            inputActivity.isShown(by: input.bytes, from: copyPosition, received: bytes, isCopying: isCopyingIn)
        else { return }
        disarmDeadline()
        endIdling()
    }

    /// Where to put what its client has sent, received in one system call with what others have sent; nil: this session reads its
    /// socket itself.
    func roomToReceive() -> UnsafeMutableRawBufferPointer? {
        guard interest == .stream, case .ready = phase, !isCopyingIn else { return nil }
        input.drop(state.inputPosition)
        state.inputPosition = 0
        return input.room(atLeast: SessionLimits.readBytes)
    }

    /// The calling worker owns the session, for which something is in hand.
    func takeUp(_ worker: Worker) {
        switch due {
        case .event: socketIsReady(worker, isHungUp: false)
        case .received(let result):
            self.worker = worker
            goOn(after: input.didReceive(result), of: max(0, result))
        case .turn:
            self.worker = worker
            settle(advance())
        case .reply:
            self.worker = worker
            guard flush() else { return close() }
            letGo()
        }
    }

    /// Its reply was given to the socket together with others, with this result.
    @inline(__always)
    func replyWasSent(_ result: Int) {
        if result > 0 {
            out.consume(result)
            countSent(result)
        }
        // An error is found out by trying again.
        guard out.count == 0 || flush() else { return close() }
        letGo()
    }

    /// Whether its reply can go out with those of others: not if it is large, or the writer waits for its client's answer.
    @inline(__always)
    private var canBeSentWithOthers: Bool {
        out.count > 0 && out.count <= SessionLimits.replyBytesSentWithOthers && writerMode == .none && slowStatement == nil
            && !out.hasHole
    }

    /// The session was parked and has what it waited for; the calling worker owns it.
    func resume(_ worker: Worker) {
        closeParking()
        self.worker = worker
        let isForReader = readerIndex != nil && !hasWriterGrant
        // One that has been granted the writer may still wait for another process.
        if isForReader { endWait() }
        noteEndOfWait(forReader: isForReader)
        noteRunning()
        countWait(forReader: isForReader)
        settle(advance())
    }

    /// The session was taken out of a queue, so its statement fails; the calling worker owns it.
    func waitEnded(_ worker: Worker, _ reason: StopReason) {
        closeParking()
        hasLoggedWait = false
        self.worker = worker
        noteRunning()
        countWait(forReader: false)
        // A member that was to run again, had the writer not failed.
        isInCommit = false
        forgetMark()
        let error = reason == .snapshotTooOld ? stopError(forLoss: .walLimit) : ErrorTranslation.wireError(reason)
        if error.severity == .fatal { return terminate(error) }
        _ = fail(error)
        if reason == .snapshotTooOld { loseSnapshot(.walLimit) }
        settle(advance())
    }

    /// Does what `advance` ended with.
    func settle(_ wait: Wait) {
        var wait = wait
        // The client may have taken everything by now, and then no event would come.
        while case .output = wait {
            guard flush() else { return close() }
            if mustBeRead { break }
            wait = advanceInTurn()
        }
        switch wait {
        case .parked:
            return
        case .group:
            // Not here and now: a pipeline of a thousand writes would be as many calls deep.
            enqueue(.group([self]))
        case .durability:
            guard let commit = unsynced?.commit, let worker else { return close() }
            worker.answerWhenDurable(commit, [self])
        case .turn:
            giveUpTurn()
        case .closed:
            closeWhenRead()
        case .input where server.isStopping.load(ordering: .relaxed) || isKilled.load(ordering: .relaxed):
            guard flush() else { return close() }
            if isOwedReply { return letGo() }
            terminate(ErrorTranslation.wireError(.shutdown))
        case .input where keepsReply && state.inputPosition < input.count:
            // The rest of a message is on its way.
            countEnd()
            letGo()
        case .input, .output, .transactionEnd:
            countEnd()
            if case .input = wait, let worker, worker.sendsRepliesTogether, canBeSentWithOthers {
                due = .reply
                return worker.sendLater(self)
            }
            if case .input = wait, let worker, readsSpeculatively(worker) { return replyAndReadSpeculatively(worker) }
            // With a result that goes on there is something left to send. A client may take it between one attempt and
            // the next: then there would be no room to wait for, and no message either.
            if case .output = wait {} else { guard flush() else { return close() } }
            if slowStatement != nil { logSlowStatement() }
            letGo()
        }
    }

    /// The daemon stops, and the client has not taken all of a reply: it may, for as long as statements may run on.
    var isOwedReply: Bool {
        out.count > 0 && !server.mustStopStatements.load(ordering: .relaxed) && !isKilled.load(ordering: .relaxed)
    }

    /// In the middle of a pipeline, whose client may send all of it before it reads anything: what it has of its reply is little, and
    /// goes out with the rest.
    private var keepsReply: Bool {
        guard out.count < SessionLimits.keptReplyBytes, awaitedEnd <= out.start, !isCopyingIn, case .ready = phase else { return false }
        return slowStatement == nil && !server.isStopping.load(ordering: .relaxed) && !isKilled.load(ordering: .relaxed)
    }

    /// Nothing to do until the client has sent something, or taken what its socket has no room for.
    @inline(__always)
    func letGo() {
        if out.count > 0, !keepsReply {
            interest = .writable
            noteUnread()
            // A holder that does not read is as idle as one that does not send.
            noteIdling()
            armDeadline(
                .clientWrite, afterMilliseconds: state.settings.clientWriteTimeoutMilliseconds,
                orAt: blockDeadline)
        } else {
            interest = .stream
            becomeIdle()
        }
        disownAndArm()
    }

    /// Nothing to do until the client sends something: memory and deadlines of an idle session.
    private func becomeIdle() {
        // The positions of a Query message are counted from the front for as long as it goes on.
        if state.query == nil, !isCopyingIn {
            input.drop(state.inputPosition)
            state.inputPosition = 0
            input.releaseMemory(above: SessionLimits.idleBufferBytes)
            out.releaseMemory(above: SessionLimits.idleBufferBytes)
            if let portal = state.unnamedPortal, portal.isClosed {
                portal.releaseMemory(above: SessionLimits.idleBufferBytes)
            }
            if hasSimpleStatement { forgetLargeSimpleStatement() }
        }
        guard case .ready = phase else { return }
        if readerIsOnlyToPrepare { releaseReader() }
        noteIdling()
        if isCopyingIn { return awaitCopyData() }
        if armedDeadline < .distantFuture {
            // What has come since was not enough to begin it anew.
            if awaited == .idleInTransaction { return }
            // Its client had not read, and has now.
            disarmDeadline()
        }
        guard state.transaction.isExplicit || writerMode == .lease || readerIndex != nil else { return }
        armDeadline(
            .idleInTransaction, afterMilliseconds: state.settings.idleInTransactionTimeoutMilliseconds,
            orAt: blockDeadline)
    }

    /// The last statement of a Query message is nobody's any more, and its text may have a mebibyte.
    private func forgetLargeSimpleStatement() {
        hasSimpleStatement = false
        simplePortal.releaseMemory(above: SessionLimits.idleBufferBytes)
        let statement = simplePortal.statement
        let bytes = statement.query.text.bytes.count + statement.parameters.count * MemoryLayout<ParameterType>.stride
        guard bytes > SessionLimits.idleBufferBytes else { return }
        simplePortal.reuse(for: PreparedStatement(server.emptyQuery))
    }

    /// It waits for its client with a connection that others may wait for.
    private func noteIdling() {
        if writerMode == .lease, !isIdleHolder {
            isIdleHolder = true
            pool.holderBecameIdle(self)
        }
        if let readerIndex, !isReaderIdle {
            isReaderIdle = true
            pool.readerBecameIdle(readerIndex)
        }
    }

    @inline(__always)
    private func endIdling() {
        if isReaderIdle { endReaderIdling() }
        guard isIdleHolder else { return }
        isIdleHolder = false
        pool.holderBecameActive(self)
    }

    func endReaderIdling() {
        isReaderIdle = false
        if let readerIndex { pool.readerBecameActive(readerIndex) }
    }

    /// Sends what is owed, as far as the socket takes it. False: the client is gone.
    func flush() -> Bool {
        guard !out.hasHole else { return false }
        while out.count > 0 {
            let bytes = out.readable
            let sent = walpool_send(socket, bytes.baseAddress, bytes.count)
            if sent > 0 {
                out.consume(sent)
                countSent(sent)
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                return true
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    func disownAndArm() {
        let worker = worker.map { Unmanaged.passUnretained($0) }
        self.worker = nil
        let interest = interest
        if interest == .stream, !needsArming {
            if table.disownIfQuiet(self) { return }
            // It has the processor, and what it would read is there: another thread need not be woken for it.
            if let worker = worker?.takeUnretainedValue(), worker.takesEventsOn {
                if let event = table.disown(self) { worker.takeOn(event) }
                return
            }
        }
        // After one event of a writable socket there is none until it is armed for something again.
        needsArming = interest == .writable
        isUnannounced = false
        table.disown(self) { try? server.poller.arm(socket, interest, token: token) }
    }

    /// The calling thread was told of an event of this session's, which it owns, and leaves it to another.
    func announceEventAgain() {
        needsArming = true
        disownAndArm()
    }

    /// Ends the session with a last word.
    func terminate(_ error: WireError) {
        closeParking()
        let error = state.copyIn?.explained(error) ?? error
        noteError(error)
        countError(error)
        if case .ready = phase { out.error(error) }
        _ = flush()
        close()
    }

    /// Ends the session once its client has taken what it is owed: that it sent Terminate or nonsense behind its queries
    /// is no reason to keep their replies from it.
    func closeWhenRead() {
        guard flush(), out.count > 0 else { return close() }
        phase = .leaving
        endIdling()
        abandonTransaction()
        endStatement()
        input.drop(input.count)
        input.releaseMemory(above: 0)
        state.inputPosition = 0
        interest = .writable
        noteUnread()
        armDeadline(.clientWrite, afterMilliseconds: state.settings.clientWriteTimeoutMilliseconds)
        disownAndArm()
    }

    /// Rolls back, gives everything back, closes the socket.
    func close() {
        if case .closed = phase { return }
        // Of a statement whose client has gone.
        measureFailed(.connectionFailure)
        phase = .closed
        forgetCopyIn()
        countEnd()
        logSlowStatement(withPlan: false)
        noteDisconnected()
        disarmDeadline()
        // What is rolled back now is no client's to wait for.
        endIdling()
        abandonTransaction()
        endStatement()
        leave()
        table.waitUntilArmed(self)
        server.poller.remove(socket)
        Glibc.close(socket)
        table.remove(self)
        if isHTTPOnly { server.metricsConnections.subtract(1, ordering: .relaxed) }
        server.sessionEnded()
    }
}
