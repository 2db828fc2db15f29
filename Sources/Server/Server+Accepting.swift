import Glibc
import Pool
import Scheduling

/// Connections become sessions.
extension Server {
    func accept(from listener: Listener, _ token: Poller.Token, _ worker: Worker) {
        accepting { acceptSome(from: listener, token, worker) }
    }

    private func acceptSome(from listener: Listener, _ token: Poller.Token, _ worker: Worker) {
        for _ in 0..<ServerLimits.acceptsPerEvent {
            guard !stopping.hasStoppedAccepting.load(ordering: .sequentiallyConsistent) else { return }
            let socket: Int32
            switch listener.accept() {
            case .connection(let accepted): socket = accepted
            case .none: return arm(listener, token)
            case .outOfDescriptors: return pauseAccepting()
            }
            let isForMetrics = token == OwnToken.metricsListener
            let arrival: Arrival
            do { arrival = try self.arrival(socket, isForMetrics: isForMetrics) } catch {
                worker.atSocket { refuse(socket, error) }
                continue
            }
            let session = table.add { slot, generation, processID in
                Session(
                    server: self, socket: socket, arrival, slot: slot, generation: generation, processID: processID)
            }
            guard let session else {
                departed(arrival)
                let error = isForMetrics ? nil : Session.tooManySessions(current { $0.maximumSessions })
                worker.atSocket { refuse(socket, NoPlace(error: error, peer: arrival.peer)) }
                continue
            }
            session.worker = worker
            session.isHTTPOnly = isForMetrics
            worker.counters.add(.sessions, 1)
            do {
                try poller.add(socket, .stream, token: session.token)
            } catch {
                session.close()
                continue
            }
            session.armDeadline(.startup, afterMilliseconds: current { $0.startupTimeoutMilliseconds })
            session.settle(.input)
        }
        arm(listener, token)
    }

    func armListeners() {
        for (index, listener) in listeners.enumerated() { arm(listener, OwnToken.firstListener + UInt64(index)) }
        if let metricsListener { arm(metricsListener, OwnToken.metricsListener) }
    }

    func arm(_ listener: Listener, _ token: Poller.Token) {
        if !stopping.hasStoppedAccepting.load(ordering: .relaxed) { try? poller.arm(listener.descriptor, .readable, token: token) }
    }

    /// The sockets go on, but who looks for one by its path finds none, or another's.
    func lookAtSocketFiles() {
        for path in lostSocketFiles() {
            log.warning(
                .socketLost, "the socket's file was removed or replaced, so nobody finds this daemon any more",
                metadata: ["file": "\(path)", "hint": "restart the daemon, and its socket unit with it"])
        }
    }

    /// Each once. Those that are removed at a stop are not lost.
    func lostSocketFiles() -> [String] {
        guard !stopping.hasStoppedAccepting.load(ordering: .sequentiallyConsistent) else { return [] }
        let lost = watchedSocketFiles.withLock { $0 }.filter { !$0.isInPlace }
        guard !lost.isEmpty else { return [] }
        // Another thread may have looked meanwhile, and told of them.
        return watchedSocketFiles.withLock { watched in
            let untold = watched.filter(lost.contains)
            watched.removeAll(where: lost.contains)
            return untold.map(\.path)
        }
    }

    /// The connection stays in the backlog, and asking for it again at once would only burn time.
    private func pauseAccepting() {
        // It is tried again ten times a second, for as long as it lasts.
        if eventLog.admits(.outOfDescriptors, user: geteuid(), now: MonotonicClock.now, deadlines) {
            log.warning(.outOfDescriptors, "out of file descriptors: connections wait", metadata: ["sessions": "\(table.count)"])
        }
        isAcceptingPaused.store(true, ordering: .sequentiallyConsistent)
        deadlines.announce(MonotonicClock.now.advanced(byMilliseconds: ServerLimits.acceptPauseMilliseconds))
    }
}
