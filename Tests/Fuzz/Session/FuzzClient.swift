import Glibc

/// A client of the session target: one end of a connection, which never blocks.
final class FuzzClient {
    private var socket: Int32
    var conversation = Conversation()
    /// Takes what the server sends. Whoever set a timeout and does not may be cut off in the middle of a message.
    var isReading = true {
        didSet { if !isReading && hasTimeouts { conversation.mayBeCutOff = true } }
    }
    private var hasTimeouts = false
    /// It has closed its socket, or said that it sends no more: the server owes it nothing.
    private(set) var hasLeft = false
    private(set) var wasClosed = false
    private var unsent: [UInt8] = []
    private var hasShutDown = false

    init(path: String) {
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        wasClosed = result != 0
    }

    deinit { hangUp() }

    var isConnected: Bool { socket >= 0 && !wasClosed }

    func send(_ bytes: [UInt8]) {
        guard isConnected, !hasShutDown else { return }
        if String(decoding: bytes, as: UTF8.self).contains("_timeout") {
            hasTimeouts = true
            if !isReading { conversation.mayBeCutOff = true }
        }
        conversation.send(bytes)
        unsent += bytes
        push()
    }

    /// Sends what the socket takes.
    private func push() {
        while !unsent.isEmpty {
            let count = unsent.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { return }
            unsent.removeFirst(count)
        }
    }

    private var flags: Int32 { Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL) }

    /// Receives all there is; true when there was anything.
    @discardableResult
    func pull() -> Bool {
        guard isConnected else { return false }
        push()
        guard isReading else { return false }
        var buffer = [UInt8](repeating: 0, count: 65536)
        var hasReceived = false
        while true {
            let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                hasReceived = true
                conversation.receive(Array(buffer[..<count]))
            } else {
                let isEnd = count == 0 || (errno != EAGAIN && errno != EINTR)
                if isEnd { serverClosed() }
                return hasReceived || isEnd
            }
        }
    }

    private func serverClosed() {
        wasClosed = true
        if !hasLeft { conversation.wasClosed() }
    }

    func shutDown() {
        guard isConnected else { return }
        (hasShutDown, hasLeft) = (true, true)
        shutdown(socket, Int32(SHUT_WR))
    }

    func hangUp() {
        guard socket >= 0 else { return }
        close(socket)
        socket = -1
        hasLeft = true
    }

    var pollDescriptor: Int32 { isConnected && isReading ? socket : -1 }

    /// Nothing is to be expected from the server for this client.
    func isContent() -> Bool {
        if !isConnected || hasLeft || !isReading { return true }
        // After a fatal error comes the end of the connection.
        return unsent.isEmpty && !conversation.hasBeenRefused && conversation.isAnswered()
    }
}
