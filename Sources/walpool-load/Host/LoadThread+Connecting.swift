import CLinux
import Glibc
import PostgresWire
import Synchronization
import Workload

extension LoadThread {
    /// Connects a client before the run; false when the queue of the server's socket is full.
    func connect(_ index: Int) throws(LoadError) -> Bool {
        let descriptor = Self.newSocket()
        guard descriptor >= 0 else { throw .system("cannot open a socket for client \(index + 1)") }
        guard server.connect(descriptor) == 0 else {
            let (code, error) = (errno, LoadError.system("cannot connect to \(server.path)"))
            close(descriptor)
            guard code == EAGAIN else { throw error }
            return false
        }
        isOpen(index, descriptor)
        return true
    }

    /// One that does not wait in connect(), which may be for ever.
    private static func newSocket() -> Int32 { socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | closeOnExec | nonBlocking, 0) }

    /// SOCK_CLOEXEC and SOCK_NONBLOCK, which Glibc's module has as members of an enum.
    private static let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)
    private static let nonBlocking = Int32(SOCK_NONBLOCK.rawValue)

    /// A client that reads slowly leaves something behind each time, which no edge would tell of.
    private func interest(of state: UnsafeMutablePointer<ClientState>) -> walpool_interest {
        state.pointee.readBytesPerSecond > 0 ? WALPOOL_LEVEL : WALPOOL_STREAM
    }

    private func isOpen(_ index: Int, _ descriptor: Int32) {
        let state = client(index)
        state.pointee.descriptor = descriptor
        state.pointee.phase = .connecting
        state.pointee.skip = 0
        state.pointee.carry.clear()
        state.pointee.unsent.clear()
        state.pointee.hasFailed = false
        failures[index] = nil
        walpool_epoll_set(poller, 1, descriptor, interest(of: state), UInt64(index))
        out.startup([("user", server.user), ("database", server.database), ("application_name", "walpool-load")])
        send(index)
    }

    /// Connects in the middle of the run, as a part of the transaction.
    func connectForTransaction(_ index: Int) {
        let state = client(index)
        let descriptor = Self.newSocket()
        guard descriptor >= 0 else { return couldNotConnect(index, String(cString: strerror(errno))) }
        guard server.connect(descriptor) == 0 else {
            let code = errno
            close(descriptor)
            // The queue of the server's socket is full: "EAGAIN For nonblocking UNIX domain sockets", connect(2).
            if code == EAGAIN {
                state.pointee.phase = .retrying
                timers.add(client: index, at: Clock.now + Self.reconnectNanoseconds)
                return
            }
            return couldNotConnect(index, String(cString: strerror(code)))
        }
        isOpen(index, descriptor)
    }

    private func couldNotConnect(_ index: Int, _ reason: String) {
        let state = client(index)
        let now = Clock.now
        state.pointee.tally.takeUnretainedValue().failed(
            began: state.pointee.began, ended: now, state: "08001", message: "cannot connect to \(server.path): \(reason)")
        state.pointee.lastEnd = now
        state.pointee.phase = .unconnected
        tryAgainLater(index, now: now)
    }

    /// The next transaction of a client that connects for each. Not at once: a server that is down would cost all the
    /// processor.
    private func tryAgainLater(_ index: Int, now: Int64) {
        guard now < until else { return markDone(client(index)) }
        timers.add(client: index, at: now + Self.reconnectNanoseconds)
    }

    /// The session is open.
    func isConnected(_ index: Int) {
        let state = client(index)
        if state.pointee.connectsEachTime { return sendRound(index) }
        let prepared = state.pointee.program.takeUnretainedValue().prepared
        guard !prepared.isEmpty else { return state.pointee.phase = .waiting }
        for statement in prepared { out.parse(name: statement.name, sql: statement.sql) }
        out.sync()
        state.pointee.phase = .preparing
        send(index)
    }

    /// The server has reported an error; what follows is its ReadyForQuery, or the end of the connection.
    func failed(_ index: Int, _ report: ReportMessage) {
        let state = client(index)
        // Of several the first says why.
        if failures[index] == nil { failures[index] = ClientFailure(state: report.state, message: report.message) }
        state.pointee.hasFailed = true
        guard start == 0 else { return }
        let hint = report.hint.map { " (\($0))" } ?? ""
        failure = LoadError("\(report.state): \(report.message)\(hint)")
    }

    /// The connection has ended, and not by us, or has become of no use.
    ///
    /// - Parameter sqlState: unless the server has said why: connection_failure.
    func connectionLost(_ index: Int, _ reason: String, state sqlState: String = "08006") {
        let state = client(index)
        guard start > 0 else {
            if failure == nil { failure = LoadError(reason) }
            disconnect(index)
            return
        }
        let now = Clock.now
        countLoss(index, failures[index] ?? ClientFailure(state: sqlState, message: reason), now: now)
        failures[index] = nil
        state.pointee.lastEnd = now
        disconnect(index)
        if state.pointee.connectsEachTime { return tryAgainLater(index, now: now) }
        lost.add(1, ordering: .relaxed)
        markDone(state)
    }

    /// A client that waits or only keeps a connection is lost like one in a transaction; after the end only an answer can be.
    private func countLoss(_ index: Int, _ failure: ClientFailure, now: Int64) {
        let state = client(index)
        let isMidway = isInTransaction(state)
        guard isMidway || now < until else { return }
        let tally = state.pointee.tally.takeUnretainedValue()
        if state.pointee.connectsEachTime {
            tally.failed(began: isMidway ? state.pointee.began : now, ended: now, state: failure.state, message: failure.message)
        } else {
            tally.lost(began: isMidway ? state.pointee.began : nil, ended: now, state: failure.state, message: failure.message)
        }
    }

    func disconnect(_ index: Int) {
        let state = client(index)
        guard state.pointee.descriptor >= 0 else { return }
        // Its number may be another client's next connection.
        if state.pointee.isSentTogether { sendTogether() }
        // Closing takes it out of the epoll.
        close(state.pointee.descriptor)
        state.pointee.descriptor = -1
        state.pointee.phase = .unconnected
    }

    // MARK: Sending

    /// Sends what is in `out`.
    @inline(__always)
    func send(_ index: Int) {
        if sendsTogether { return addToSends(index) }
        let state = client(index)
        let bytes = out.readable
        let sent = walpool_send(state.pointee.descriptor, bytes.baseAddress, bytes.count)
        if sent < bytes.count { keepRest(index, bytes, sent: sent, error: sent < 0 ? errno : 0) }
        out.consume(bytes.count)
    }

    @inline(never)
    func keepRest(_ index: Int, _ bytes: UnsafeRawBufferPointer, sent: Int, error: Int32) {
        // A connection that is broken says so to the next recv(), which also has what the server sent last.
        guard error == 0 || error == EAGAIN || error == EINTR else { return }
        let state = client(index)
        state.pointee.unsent.set(UnsafeRawBufferPointer(rebasing: bytes[max(sent, 0)...]))
        walpool_epoll_set(poller, 0, state.pointee.descriptor, WALPOOL_LEVEL_BOTH, UInt64(index))
    }

    /// The socket may take more.
    func sendRest(_ index: Int) {
        let state = client(index)
        let bytes = state.pointee.unsent.stored
        let sent = walpool_send(state.pointee.descriptor, bytes.baseAddress, bytes.count)
        guard sent > 0 else { return }
        state.pointee.unsent.set(UnsafeRawBufferPointer(rebasing: bytes[sent...]))
        if state.pointee.unsent.count == 0 {
            walpool_epoll_set(poller, 0, state.pointee.descriptor, interest(of: state), UInt64(index))
        }
    }
}
