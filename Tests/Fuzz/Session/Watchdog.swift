import Glibc
import POSIX
import Synchronization

@testable import Pool
@testable import Scheduling
@testable import Server

/// Cancels what takes long, as a client does that loses patience: an input that sets statement_timeout to nothing and asks
/// for the sum of all numbers must not keep the fuzzer, and a cancel must end it.
final class Watchdog: Sendable {
    static let shared = Watchdog()

    private let began = Atomic<Int64>(.max)
    private let server = Locked<Server?>(nil)
    private static let patienceMilliseconds: Int64 = 500
    private static let intervalMicroseconds: UInt32 = 50_000

    private init() {
        var thread = pthread_t()
        pthread_create(&thread, nil, { _ in Watchdog.shared.run() }, nil)
        pthread_detach(thread)
    }

    func begin(_ server: Server) {
        self.server.withLock { $0 = server }
        began.store(MonotonicClock.now.nanoseconds, ordering: .sequentiallyConsistent)
    }

    func end() {
        began.store(.max, ordering: .sequentiallyConsistent)
        server.withLock { $0 = nil }
    }

    private func run() -> Never {
        while true {
            usleep(Self.intervalMicroseconds)
            let limit = began.load(ordering: .sequentiallyConsistent)
            guard limit != .max, MonotonicClock.now.nanoseconds - limit > Self.patienceMilliseconds * 1_000_000 else { continue }
            server.withLock { server in
                guard let server else { return }
                for session in server.table.sessions where session.cancel() { server.ready.enqueue(.stopped(session, .cancelled)) }
            }
        }
    }
}
