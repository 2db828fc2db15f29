import CLinux
import Glibc
import Pool
import PostgresWire
import Scheduling

/// What a client has sent arrives.
extension Session {
    /// The socket is ready; the calling worker owns the session.
    ///
    /// - Parameter isHungUp: its end may follow the bytes that are read now, without another event.
    func socketIsReady(_ worker: Worker, isHungUp: Bool) {
        self.worker = worker
        if isHungUp { arming.isNeeded = true }
        if arming.interest == .writable {
            // There is room, so it has read. The deadline of a startup is for all of it.
            if case .ready = phase { disarmDeadline() }
            if isReaderIdle { endReaderIdling() }
            noteRead()
            if running.isActive { countBeginning() }
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
            // Before the socket is emptied: a cancel is for what was in there.
            resumeActivity()
            let received = atSocket { input.receive(from: socket, minimum: minimum) }
            return goOn(after: received, of: input.count - before)
        }
        settle(advance())
    }

    /// What begins at this place of what has come.
    @inline(__always)
    func frame(at position: Int) -> Frame {
        FrameDecoder.next(in: input.bytes, at: position, maximumBodyLength: SessionLimits.messageBytes)
    }

    @inline(__always)
    private func goOn(after received: InputBuffer.Received, of bytes: Int) {
        switch received {
        case .some: noteSpeculativeRead(inVain: false)
        case .full: arming.isNeeded = true
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
        if isIdleHolder || isReaderIdle || awaiting.until < .distantFuture { noteActivity(of: bytes) }
        settle(advance())
    }

    /// Ends its idleness if what its client has sent counts as activity: see InputActivity. Otherwise its idle time and the deadlines
    /// of that go on.
    private func noteActivity(of bytes: Int) {
        // The deadline of a startup is for all of it, however many pieces it comes in.
        guard case .ready = phase,
            awaiting.activity.isShown(by: input.bytes, from: copyPosition, received: bytes, isCopying: isCopyingIn)
        else { return }
        disarmDeadline()
        endIdling()
    }

    /// Where to put what its client has sent, received in one system call with what others have sent; nil: this session reads its
    /// socket itself.
    func roomToReceive() -> UnsafeMutableRawBufferPointer? {
        guard arming.interest == .stream, case .ready = phase, !isCopyingIn, !input.isReceivedAlone else { return nil }
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

    /// The session was parked and has what it waited for; the calling worker owns it.
    func resume(_ worker: Worker) {
        noteResumption(worker)
        settle(advance())
    }

    /// The same on a thread that is no one of the crew's: one of those goes on.
    func resumeOnCrew(from worker: Worker) {
        noteResumption(worker)
        due = .turn
        self.worker = nil
        server.ready.enqueue(.owned(self))
    }

    private func noteResumption(_ worker: Worker) {
        closeParking()
        self.worker = worker
        let isForReader = readerIndex != nil && !hasWriterGrant
        // One that has been granted the writer may still wait for another process.
        if isForReader { endWait() }
        noteEndOfWait(forReader: isForReader)
        noteRunning()
        countWait(forReader: isForReader)
    }

    /// The session was taken out of a queue, so its statement fails; the calling worker owns it.
    func waitEnded(_ worker: Worker, _ reason: StopReason) {
        closeParking()
        lockWait.isLogged = false
        self.worker = worker
        noteRunning()
        countWait(forReader: false)
        // A member that was to run again, had the writer not failed.
        member.isInCommit = false
        forgetMark()
        let error = reason == .snapshotTooOld ? stopError(forLoss: .walLimit) : waitError(reason)
        if error.severity == .fatal { return terminate(error) }
        _ = fail(error)
        if reason == .snapshotTooOld { loseSnapshot(.walLimit) }
        settle(advance())
    }

    /// A call on its socket: see `SocketWait`.
    @inline(__always)
    func atSocket<Result>(_ call: () -> Result) -> Result { socketMark.map { $0.during(call) } ?? call() }

    /// Sends what is owed, as far as the socket takes it. False: the client is gone.
    func flush() -> Bool {
        guard !out.hasHole else { return false }
        while out.count > 0 {
            let bytes = out.readable
            let sent = atSocket { walpool_send(socket, bytes.baseAddress, bytes.count) }
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
}
