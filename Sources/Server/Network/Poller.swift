import CLinux
import Glibc

/// The one epoll instance every worker waits in, one event at a time.
///
/// Sockets are armed with EPOLLONESHOT: "after an event notified for the file descriptor … the file descriptor is
/// disabled in the interest list … The user must call epoll_ctl() with EPOLL_CTL_MOD to rearm" (epoll_ctl(2)). So who
/// receives a socket's event is the only thread that has anything to do with it until it arms the socket again.
struct Poller: Sendable {
    let descriptor: Int32

    /// What an event is about: the number given when the descriptor was added.
    typealias Token = UInt64

    enum Interest { case readable, writable }

    init() throws(SystemError) {
        descriptor = walpool_epoll_create()
        if descriptor < 0 { throw SystemError("epoll_create1") }
    }

    func close() { Glibc.close(descriptor) }

    /// Adds a socket that gives one event and is then disarmed.
    func addOneShot(_ socket: Int32, _ interest: Interest, token: Token) throws(SystemError) {
        try set(socket, isNew: true, Self.oneShot(interest), token)
    }

    func arm(_ socket: Int32, _ interest: Interest, token: Token) throws(SystemError) {
        try set(socket, isNew: false, Self.oneShot(interest), token)
    }

    /// Adds an eventfd of which each write wakes one thread: edge-triggered, so nobody need read it.
    func addEdgeTriggered(_ descriptor: Int32, token: Token) throws(SystemError) {
        try set(descriptor, isNew: true, WALPOOL_EDGE, token)
    }

    /// Adds a descriptor that wakes every thread for as long as it is readable.
    func addLevelTriggered(_ descriptor: Int32, token: Token) throws(SystemError) {
        try set(descriptor, isNew: true, WALPOOL_LEVEL, token)
    }

    func remove(_ socket: Int32) { walpool_epoll_remove(descriptor, socket) }

    /// Waits for one event. This is where idle workers stand in a profile.
    func waitForEvent() -> Token {
        var token: Token = 0
        while true {
            let count = walpool_epoll_wait(descriptor, &token)
            if count == 1 { return token }
            precondition(count == 0, "epoll_wait on a live descriptor")
        }
    }

    private static func oneShot(_ interest: Interest) -> walpool_interest {
        interest == .readable ? WALPOOL_READABLE : WALPOOL_WRITABLE
    }

    @inline(__always)
    private func set(
        _ target: Int32, isNew: Bool, _ interest: walpool_interest, _ token: Token
    ) throws(SystemError) {
        if walpool_epoll_set(descriptor, isNew ? 1 : 0, target, interest, token) != 0 { throw SystemError("epoll_ctl") }
    }
}

/// A system call that failed, with errno as it was.
public struct SystemError: Error, CustomStringConvertible {
    public let call: String
    public let errorNumber: Int32

    init(_ call: String, _ errorNumber: Int32 = errno) {
        self.call = call
        self.errorNumber = errorNumber
    }

    public var description: String { "\(call): \(String(cString: strerror(errorNumber)))" }
}
