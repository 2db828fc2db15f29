import CLinux
import Glibc

/// What one `epoll_wait` tells of is received by one system call and answered by another, as the daemon does it
/// (Sources/CLinux/ring.h). Whatever server is driven, what its clients cost is taken from it, and a good part of that was a system call for
/// each message that comes and for each that goes.
///
/// Their latencies have in them what the others of the same call take here: some microseconds.
extension LoadThread {
    /// What is received of one client. What does not fit is received as it is of a client that is alone.
    static let slotBytes = 16 << 10

    /// Whether nothing but the next messages is expected of it.
    func isPlain(_ index: Int) -> Bool {
        let state = client(index)
        return state.pointee.descriptor >= 0 && state.pointee.unsent.count == 0 && state.pointee.carry.count == 0
            && state.pointee.readBytesPerSecond == 0
    }

    func gather(_ index: Int) {
        gathered.add(client: index, socket: client(index).pointee.descriptor, bytesCount: Self.slotBytes)
        if gathered.isFull { answerGathered() }
    }

    func answerGathered() {
        guard gathered.count > 0 else { return }
        gathered.transfer(&ring, from: slots, isSend: false)
        sendsTogether = true
        for place in 0..<gathered.count {
            let (bytes, count) = gathered.result(place)
            // An event of a connection that has been closed since: there is another for what its client has now.
            guard count != -Int(EAGAIN) else { continue }
            let index = gathered.client(place)
            guard count > 0 else {
                receivedNothing(index, error: Int32(-count))
                continue
            }
            read(index, UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            if count == bytes.count { receiveRest(index) }
        }
        gathered.removeAll()
        sendsTogether = false
        sendTogether()
    }

    /// An edge is told once, and there may be more than the slot had room for.
    private func receiveRest(_ index: Int) {
        let descriptor = client(index).pointee.descriptor
        guard descriptor >= 0 else { return }
        while let isFull = receive(index, limit: Self.inputBytes), isFull, client(index).pointee.descriptor == descriptor {}
    }

    /// What is in `out` behind the requests of others is sent with them.
    func addToSends(_ index: Int) {
        let state = client(index)
        // Behind a request that the socket did not take in full nothing may be sent. That is known when it has been tried.
        if state.pointee.isSentTogether { sendTogether() }
        unsentTogether.add(client: index, socket: state.pointee.descriptor, bytesCount: out.count - unsentTogether.bytesCount)
        state.pointee.isSentTogether = true
        if unsentTogether.isFull { sendTogether() }
    }

    func sendTogether() {
        guard unsentTogether.count > 0, let start = out.readable.baseAddress else { return }
        unsentTogether.transfer(&ring, from: UnsafeMutableRawPointer(mutating: start), isSend: true)
        for place in 0..<unsentTogether.count {
            let index = unsentTogether.client(place)
            client(index).pointee.isSentTogether = false
            let (bytes, sent) = unsentTogether.result(place)
            if sent < bytes.count { keepRest(index, bytes, sent: sent, error: sent < 0 ? Int32(-sent) : 0) }
        }
        out.consume(unsentTogether.bytesCount)
        unsentTogether.removeAll()
    }
}
