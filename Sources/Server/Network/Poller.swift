import CLinux
import Glibc
import Pool
import Scheduling

/// The one epoll instance every worker waits in.
///
/// A session's socket is added once, edge-triggered: each arrival wakes one thread, and nobody arms it again, which saves
/// a system call a request (0.4 of the 4.5 µs a point SELECT takes). SessionTable sees to it that one thread at a time has
/// to do with a session: an event that comes while a thread owns it is noted there. epoll(7): "after receiving an event",
/// go on "until EAGAIN", or, "for stream-oriented files, the condition that the read/write I/O space is exhausted can
/// also be detected by checking the amount of data read". What no edge would announce any more (input larger than the
/// buffer, an end that came with the last bytes) is announced again by `arm`, because EPOLL_CTL_MOD looks at the socket as
/// it is.
///
/// The rest is armed with EPOLLONESHOT: "after an event notified for the file descriptor … the file descriptor is
/// disabled in the interest list … The user must call epoll_ctl() with EPOLL_CTL_MOD to rearm" (epoll_ctl(2)).
struct Poller: Sendable {
    let descriptor: Int32

    /// What an event is about: the number given when the descriptor was added.
    typealias Token = UInt64

    struct Event {
        /// The token, with its kind in the two highest bits, which no session's token has.
        let word: UInt64

        /// What the two highest bits of a word say. `walpool_event_word` in shim.h sets the same one of a side that has hung up.
        private enum Kind {
            static let shift: UInt64 = 62
            /// Something has come for a session, and nothing more is known.
            static let plain: UInt64 = 0
            /// A session that is owned by whoever has this word: see `Session.due`.
            static let owned: UInt64 = 1
            /// The other side of a session sends nothing more.
            static let hungUp: UInt64 = 2
            /// No session's: these bits are part of the token (`Server.OwnToken`).
            static let own: UInt64 = 3
        }

        init(word: UInt64) { self.word = word }
        init(token: Token) { word = token }
        init(token: Token, isHungUp: Bool) { word = isHungUp ? token | Kind.hungUp << Kind.shift : token }
        init(owned token: Token) { word = token | Kind.owned << Kind.shift }

        @inline(__always)
        private var kind: UInt64 { word >> Kind.shift }
        @inline(__always)
        var token: Token { kind == Kind.own ? word : word & ~(Kind.own << Kind.shift) }
        /// The other side sends nothing more. It may come together with its last bytes.
        @inline(__always)
        var isHungUp: Bool { kind == Kind.hungUp }
        @inline(__always)
        var isOwned: Bool { kind == Kind.owned }
        /// Something has come for a session, and nothing more is known.
        @inline(__always)
        var isPlain: Bool { kind == Kind.plain }
    }

    enum Interest {
        /// One event, when there is something to read or to accept.
        case readable
        /// One event, when there is room to write.
        case writable
        /// An event whenever something has arrived.
        case stream
        /// Nothing but an end of both sides, until it is armed for something else.
        case nothing
    }

    init() throws(SystemError) {
        descriptor = walpool_epoll_create()
        if descriptor < 0 { throw SystemError("epoll_create1") }
    }

    func close() { Glibc.close(descriptor) }

    func add(_ socket: Int32, _ interest: Interest, token: Token) throws(SystemError) {
        try set(socket, isNew: true, Self.interest(interest), token)
    }

    /// Asks for this from now on, and at once for an event if it is so already.
    func arm(_ socket: Int32, _ interest: Interest, token: Token) throws(SystemError) {
        try set(socket, isNew: false, Self.interest(interest), token)
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

    /// Waits for events, and writes the words of as many as there are and find room. This is where idle workers stand in a
    /// profile.
    @inline(__always)
    func waitForEvents(_ words: UnsafeMutableBufferPointer<UInt64>, atMost capacity: Int) -> Int {
        while true {
            let count = walpool_epoll_wait(descriptor, words.baseAddress, Int32(min(capacity, words.count)))
            if count > 0 { return Int(count) }
            precondition(count == 0, "epoll_wait on a live descriptor")
        }
    }

    /// The events there are now, if any, without waiting.
    @inline(__always)
    func look(_ words: UnsafeMutableBufferPointer<UInt64>, atMost capacity: Int) -> Int {
        let count = walpool_epoll_look(descriptor, words.baseAddress, Int32(min(capacity, words.count)))
        precondition(count >= 0, "epoll_wait on a live descriptor")
        return Int(count)
    }

    /// Waits for events for a while; 0 when nothing has come by then.
    func waitForEvents(_ words: UnsafeMutableBufferPointer<UInt64>, until: Instant) -> Int {
        let left = until.nanoseconds &- MonotonicClock.now.nanoseconds
        let count = walpool_epoll_wait_many(descriptor, words.baseAddress, Int32(words.count), max(0, left))
        precondition(count >= 0, "epoll_pwait2 on a live descriptor")
        return Int(count)
    }

    private static func interest(_ interest: Interest) -> walpool_interest {
        switch interest {
        case .readable: WALPOOL_READABLE
        case .writable: WALPOOL_WRITABLE
        case .stream: WALPOOL_STREAM
        case .nothing: WALPOOL_UNANNOUNCED
        }
    }

    @inline(__always)
    private func set(
        _ target: Int32, isNew: Bool, _ interest: walpool_interest, _ token: Token
    ) throws(SystemError) {
        if walpool_epoll_set(descriptor, isNew ? 1 : 0, target, interest, token) != 0 { throw SystemError("epoll_ctl") }
    }
}
