import POSIX

/// Where the threads of a run wait for each other: all start at one time, which is set when the last one is ready.
///
/// `@unchecked Sendable`: everything mutable is touched with the mutex held.
final class StartLine: @unchecked Sendable {
    private let mutex = PthreadMutex()
    private let changed = PthreadCondition()
    private var ready = 0
    private var failure: LoadError?
    private var start: Int64?

    /// Says that the caller is ready, and returns the time to start; nil when the run does not take place.
    func waitForStart() -> Int64? {
        mutex.locked {
            ready += 1
            changed.broadcast()
            while start == nil, failure == nil { changed.wait(mutex) }
            return failure == nil ? start : nil
        }
    }

    /// The caller cannot take part, so nobody does.
    func fail(_ error: LoadError) {
        mutex.locked {
            if failure == nil { failure = error }
            changed.broadcast()
        }
    }

    /// Waits until so many are ready, and lets them go.
    func start(whenReady count: Int, time: () -> Int64) throws(LoadError) {
        let error: LoadError? = mutex.locked {
            while ready < count, failure == nil { changed.wait(mutex) }
            if failure == nil { start = time() }
            changed.broadcast()
            return failure
        }
        if let error { throw error }
    }
}
