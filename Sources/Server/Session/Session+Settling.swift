import Glibc
import Pool
import PostgresWire
import Scheduling

/// What a session does when it cannot go on: it waits, answers, or lets its thread go.
extension Session {
    /// Does what `advance` ended with.
    func settle(_ wait: Wait) {
        var wait = wait
        // The client may have taken everything by now, and then no event would come.
        while case .output = wait {
            guard flush() else { return close() }
            if mustBeRead { break }
            wait = advanceInTurn()
        }
        if case .input = wait { pauseActivity() }
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
        case .input where server.stopping.hasBegun.load(ordering: .relaxed) || isKilled.load(ordering: .relaxed):
            guard flush() else { return close() }
            if isOwedReply { return letGo() }
            terminate(ErrorTranslation.wireError(.shutdown))
        case .input where keepsReply:
            // Its Sync, Flush or the rest of a message is on its way.
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
            if running.slow != nil { logSlowStatement() }
            letGo()
        }
    }

    /// The daemon stops, and the client has not taken all of a reply: it may, for as long as statements may run on.
    var isOwedReply: Bool {
        out.count > 0 && !server.stopping.mustStopStatements.load(ordering: .relaxed) && !isKilled.load(ordering: .relaxed)
    }

    /// In the middle of a pipeline, whose client may send all of it before it reads anything: what it has of its reply is little, and
    /// goes out with the rest.
    var keepsReply: Bool {
        guard out.count < SessionLimits.keptReplyBytes, marks.awaited <= out.start, !isCopyingIn, case .ready = phase else { return false }
        return running.slow == nil && !server.stopping.hasBegun.load(ordering: .relaxed) && !isKilled.load(ordering: .relaxed)
    }

    /// Nothing to do until the client has sent something, or taken what its socket has no room for.
    @inline(__always)
    func letGo() {
        if out.count > 0, !keepsReply {
            arming.interest = .writable
            noteUnread()
            // A holder that does not read is as idle as one that does not send.
            noteIdling()
            armDeadline(
                .clientWrite, afterMilliseconds: state.settings.clientWriteTimeoutMilliseconds,
                orAt: blockDeadline)
        } else {
            arming.interest = .stream
            becomeIdle()
        }
        disownAndArm()
    }

    func disownAndArm() {
        // This thread's own, which lives as long: without a reference counted at every turn.
        let worker = worker.map { Unmanaged.passUnretained($0) }
        self.worker = nil
        let interest = arming.interest
        if interest == .stream, !arming.isNeeded {
            if table.disownIfQuiet(self) { return }
            // It has the processor, and what it would read is there: another thread need not be woken for it.
            if let worker = worker?.takeUnretainedValue(), worker.takesEventsOn {
                if let event = table.disown(self) { worker.takeOn(event) }
                return
            }
        }
        // After one event of a writable socket there is none until it is armed for something again.
        arming.isNeeded = interest == .writable
        arming.isUnannounced = false
        table.disown(self) { try? server.poller.arm(socket, interest, token: token) }
    }

    /// The calling thread was told of an event of this session's, which it owns, and leaves it to another.
    func announceEventAgain() {
        arming.isNeeded = true
        disownAndArm()
    }

    /// Whether its reply can go out with those of others: not if it is large, or the writer waits for its client's answer.
    @inline(__always)
    var canBeSentWithOthers: Bool {
        out.count > 0 && out.count <= SessionLimits.replyBytesSentWithOthers && writerMode == .none && running.slow == nil
            && !out.hasHole
    }
}
