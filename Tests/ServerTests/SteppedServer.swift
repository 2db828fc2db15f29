import Glibc
import Logging
import Testing

@testable import Pool
@testable import Scheduling
@testable import Server

/// A server whose only thread is the test: it handles an event when the test says so.
final class SteppedServer {
    let server: Server
    let worker: Worker
    private let files: TestServer
    private let path: String
    private var now = MonotonicClock.now

    init(_ adjust: (inout ServerConfiguration) throws -> Void = { _ in }) throws {
        // It makes the directory and the database, and is stopped before this one has them.
        files = try TestServer(adjust)
        files.stop()
        path = files.configuration.socketPath
        server = try Server(files.configuration, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try server.addEvents()
        worker = Worker(server: server)
        worker.longestWithoutAskingNanoseconds = .max
        #expect(server.crew.joinOrStandBy())
    }

    /// One that has started up.
    func connect() throws -> RawClient {
        let client = try RawClient(path)
        client.send(RawClient.startupPacket([("user", "tester"), ("database", "app")]))
        handleAll()
        try client.reply()
        return client
    }

    /// What the thread has in hand comes first, as in `Worker.main`, then what epoll has for a client; false when there is neither.
    @discardableResult
    func handleNext() -> Bool {
        if let pending = worker.takePending() { return worker.handle(pending, &now) }
        while let event = announced {
            let isForClient = event.isPlain || event.isHungUp
            #expect(worker.handle(event, &now))
            if isForClient { return true }
        }
        return false
    }

    func handleAll() { while handleNext() {} }

    /// The next event that epoll has. That it was asked is known to the batch, as when the thread asks.
    private var announced: Poller.Event? {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 1) { words in
            let count = server.poller.look(words, atMost: 1)
            worker.hasAskedForEvents()
            worker.note.batch.keep(words[0..<count])
            return worker.note.batch.take()
        }
    }

    /// Whether the thread has something in hand, and so does not ask epoll.
    var hasWorkInHand: Bool { worker.note.batch.pending > 0 }

    /// Whether epoll has an event.
    var hasEvent: Bool {
        var waiting = pollfd(fd: server.poller.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 0) == 1
    }

    /// How often another thread was called to what is in the server's queue, since this was asked last.
    func takeWakeUps() -> UInt64 {
        var count: UInt64 = 0
        var waiting = pollfd(fd: server.ready.wakeUp, events: Int16(POLLIN), revents: 0)
        if poll(&waiting, 1, 0) == 1 { read(server.ready.wakeUp, &count, 8) }
        return count
    }
}

extension Worker {
    /// What the thread has in hand comes next, and replies leave when there is nothing, as in `Worker.main`.
    fileprivate func takePending() -> Poller.Event? {
        if let event = batch.take() { return event }
        sendReplies()
        handOverIfAny()
        return batch.take()
    }
}
