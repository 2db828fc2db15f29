import CLinux
import Glibc
import PostgresWire

extension LoadThread {
    /// Handles what has come and what is due; waits for either, but not longer than `end`.
    func handleEvents(until end: Int64) {
        if timers.earliest < .max {
            clock = Clock.now
            while let index = timers.next(upTo: clock) { wake(index, now: clock) }
        }
        let before = clock
        if clients.count != 1 || !receiveAlone() { waitAndHandle(max(0, min(timers.earliest, end) - clock)) }
        // A transaction that has ended has read it.
        if clock == before { clock = Clock.now }
        progress.store(finished, ordering: .relaxed)
    }

    private func waitAndHandle(_ nanoseconds: Int64) {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Self.eventsAtOnce) { tokens in
            let found = walpool_epoll_wait_many(poller, tokens.baseAddress, Int32(Self.eventsAtOnce), nanoseconds)
            let count = Int(max(0, found))
            lookForStop()
            for place in 0..<count where tokens[place] != Self.wakeToken {
                let index = Int(truncatingIfNeeded: tokens[place] & ~Self.hungUp)
                let isHungUp = tokens[place] & Self.hungUp != 0
                if count > 1, !isHungUp, isPlain(index) { gather(index) } else { handle(index, isHungUp: isHungUp) }
            }
            answerGathered()
            // The stop event stays readable: whoever waits for the last answers must not spin on it.
            if count == 1, tokens[0] == Self.wakeToken { walpool_epoll_remove(poller, wakeDescriptor) }
        }
    }

    /// What the shim takes at most.
    private static let eventsAtOnce = 64

    /// With a single client there is nobody else to wait for: it waits in poll(), as libpq does. False when the client does not wait for
    /// the server.
    ///
    /// Not in recv(), which would save the other system call: when the server reads the request, the kernel tells that there is room
    /// again (`unix_write_space`), and wakes who waits in recv() for that, in the middle of the request and for nothing. Who waits in
    /// poll() is asked first whether that is what they wait for.
    private func receiveAlone() -> Bool {
        let state = client(0)
        guard state.pointee.phase == .running, state.pointee.readBytesPerSecond == 0, state.pointee.unsent.count == 0 else {
            return false
        }
        var waited = pollfd(fd: state.pointee.descriptor, events: Int16(POLLIN), revents: 0)
        // Its time limit lets the loop look at the clock and at the stop.
        let isThere = poll(&waited, 1, Self.alonePatienceMilliseconds) > 0
        lookForStop()
        if isThere { receive(0, limit: Self.inputBytes) }
        return true
    }

    private static let alonePatienceMilliseconds: Int32 = 50

    /// In an event's word: the other side sends nothing more.
    private static let hungUp: UInt64 = 1 << 63

    private func handle(_ index: Int, isHungUp: Bool) {
        let state = client(index)
        guard state.pointee.descriptor >= 0 else { return }
        if state.pointee.unsent.count > 0 { sendRest(index) }
        if state.pointee.readBytesPerSecond > 0 { return receiveSlowly(index) }
        // An edge is told once: so until there is nothing left. Less than there was room for means that there is not, unless
        // the end has come together with the last bytes.
        let descriptor = state.pointee.descriptor
        while let isFull = receive(index, limit: Self.inputBytes), isFull || isHungUp, state.pointee.descriptor == descriptor {}
    }

    /// Reads what has come, at most so much at once, and returns whether that is what came; nil when there was nothing.
    @discardableResult
    func receive(_ index: Int, limit: Int) -> Bool? {
        let state = client(index)
        let kept = state.pointee.carry.count
        let room = min(limit, Self.inputBytes - kept)
        var count = walpool_receive(state.pointee.descriptor, input + kept, room)
        while count < 0, errno == EINTR { count = walpool_receive(state.pointee.descriptor, input + kept, room) }
        if count < 0, errno == EAGAIN { return nil }
        received(index, count)
        return count == room
    }

    /// A client that reads no faster than so many bytes per second: a piece, and then not before its time is over.
    private func receiveSlowly(_ index: Int) {
        let state = client(index)
        let piece = max(1, min(state.pointee.readBytesPerSecond / Self.slowPiecesPerSecond, Self.inputBytes / 2))
        if state.pointee.phase == .running {
            walpool_epoll_set(poller, 0, state.pointee.descriptor, WALPOOL_NOTHING, UInt64(index))
            timers.add(client: index, at: Clock.now + 1_000_000_000 / Int64(Self.slowPiecesPerSecond))
        }
        receive(index, limit: piece)
    }

    static let slowPiecesPerSecond = 20

    private func received(_ index: Int, _ count: Int) {
        guard count > 0 else { return receivedNothing(index, error: count == 0 ? 0 : errno) }
        let state = client(index)
        let kept = state.pointee.carry.count
        guard kept > 0 else { return read(index, UnsafeRawBufferPointer(start: input, count: count)) }
        UnsafeMutableRawBufferPointer(start: input, count: kept).copyMemory(from: state.pointee.carry.stored)
        state.pointee.carry.clear()
        read(index, UnsafeRawBufferPointer(start: input, count: kept + count))
    }

    func receivedNothing(_ index: Int, error: Int32) {
        connectionLost(index, error == 0 ? "the server has closed the connection" : String(cString: strerror(error)))
    }

    /// Reads messages. Rows are counted without being looked at.
    func read(_ index: Int, _ buffer: UnsafeRawBufferPointer) {
        let state = client(index)
        var position = min(state.pointee.skip, buffer.count)
        state.pointee.skip -= position
        // What it answers was sent before: of what is asked for now nothing can be here.
        var hasAnswered = false
        while position < buffer.count {
            switch BackendFrameDecoder.next(in: buffer, at: position) {
            case .message(let type, let body, let next):
                position = next
                if type == UInt8(ascii: "D") {
                    state.pointee.rows &+= 1
                } else if type == UInt8(ascii: "C") || type == UInt8(ascii: "I") {
                    guard !hasAnswered else { return answeredTooMuch(index) }
                    state.pointee.completed &+= 1
                } else if type == UInt8(ascii: "Z") || type == UInt8(ascii: "E") || type == UInt8(ascii: "R") {
                    if type == UInt8(ascii: "Z") {
                        guard !hasAnswered else { return answeredTooMuch(index) }
                        hasAnswered = true
                    }
                    handle(index, type, UnsafeRawBufferPointer(rebasing: buffer[body]))
                    // It may have been closed meanwhile.
                    if state.pointee.descriptor < 0 { return }
                }
            case .partial(UInt8(ascii: "D"), let missing):
                state.pointee.rows &+= 1
                state.pointee.skip = missing
                return
            case .partial, .incomplete:
                guard buffer.count - position < Self.inputBytes / 2 else {
                    return connectionLost(index, "a message is too long")
                }
                return state.pointee.carry.set(UnsafeRawBufferPointer(rebasing: buffer[position...]))
            case .invalid(let error):
                return connectionLost(index, error.message)
            }
        }
    }

    @inline(__always)
    private func handle(_ index: Int, _ type: UInt8, _ body: UnsafeRawBufferPointer) {
        do {
            switch type {
            case UInt8(ascii: "Z"): ready(index, try ReadyForQueryMessage(body: body).status)
            case UInt8(ascii: "E"): failed(index, try ReportMessage(body: body))
            default:
                guard try AuthenticationMessage(body: body).request == 0 else {
                    return connectionLost(index, "the server asks for a password, and walpool-load has none to give")
                }
            }
        } catch {
            connectionLost(index, error.message)
        }
    }
}
