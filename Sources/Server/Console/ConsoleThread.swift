import Glibc
import POSIX
import Pool
import PostgresWire
import SQLite
import Scheduling

/// A thread of a console session's own, for what takes long: the crew's threads are for the clients.
///
/// From its start to its end it owns the session, as a worker would. What else the client has sent is for the crew again, whose threads
/// are watched (`SocketWait`). A cancel, a timeout, a client that hangs up and a stop of the daemon reach it as they reach a running
/// statement: by `reasonToStop`, which whatever it does asks.
enum ConsoleThread {
    typealias Body = @Sendable (Session) throws(WireError) -> Void

    /// Once this has returned the session is the new thread's.
    static func start(_ session: Session, _ body: @escaping Body) throws(WireError) {
        let server = session.server
        guard server.consoleThreads.wrappingAdd(1, ordering: .relaxed).newValue <= ServerLimits.consoleThreads else {
            server.consoleThreads.wrappingSubtract(1, ordering: .relaxed)
            throw WireError(
                state: .insufficientResources, message: "too many commands of the console are running",
                hint: "Up to \(ServerLimits.consoleThreads) may run at a time.")
        }
        do {
            _ = try Pthread("walpool-console", stackBytes: SessionLimits.stackBytes, isDetached: true) { run(session, body) }
        } catch {
            server.consoleThreads.wrappingSubtract(1, ordering: .relaxed)
            throw WireError(state: .insufficientResources, message: error.description)
        }
    }

    private static func run(_ session: Session, _ body: Body) {
        let server = session.server
        // The thread it was on goes about other work.
        session.worker = nil
        let worker = Worker(server: server, isOfCrew: false)
        session.counters = worker.counters
        do throws(WireError) {
            try body(session)
            session.consoleOutcome = .success(())
        } catch {
            session.consoleOutcome = .failure(error)
        }
        // Before the client hears of it: it may ask for the next one at once.
        server.consoleThreads.wrappingSubtract(1, ordering: .relaxed)
        worker.counters.setMark(MonotonicClock.now)
        session.resumeOnCrew(from: worker)
        worker.handOver()
        SQLiteLibrary.endWork()
    }
}
