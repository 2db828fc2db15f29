import Glibc
import POSIX

/// A thread of a run.
struct RunningThread: Sendable {
    private let thread: Pthread

    /// Signals are the main thread's, and a thread begins with the mask of the one that makes it.
    init(_ run: @escaping @Sendable () -> Void) throws(LoadError) {
        var (signals, before) = (RunWatch.stopSignals, sigset_t())
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        do { thread = try Pthread("walpool-load", run) } catch { throw LoadError(error.description) }
    }

    func join() { thread.join() }
}
