import Glibc

/// A thread that runs a closure.
struct RunningThread: Sendable {
    private let thread: pthread_t

    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    init(_ run: @escaping @Sendable () -> Void) throws(LoadError) {
        var thread = pthread_t()
        // A thread begins with the mask of the one that makes it. Signals are the main thread's.
        var (signals, before) = (RunWatch.stopSignals, sigset_t())
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let body = Unmanaged.passRetained(Body(run))
        let code = pthread_create(&thread, nil, { pointer in
            guard let pointer else { return nil }
            Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run()
            return nil
        }, body.toOpaque())
        guard code == 0 else {
            body.release()
            throw LoadError("cannot start a thread: \(String(cString: strerror(code)))")
        }
        self.thread = thread
    }

    func join() { pthread_join(thread, nil) }
}

/// Where the threads of a run wait for each other: all start at one time, which is set when the last one is ready.
///
/// A pthread mutex and condition, because `Synchronization.Mutex` has no condition to wait on. `@unchecked Sendable`:
/// everything mutable is touched with the mutex held.
final class StartLine: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var ready = 0
    private var failure: LoadError?
    private var start: Int64?

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Says that the caller is ready, and returns the time to start; nil when the run does not take place.
    func waitForStart() -> Int64? {
        locked {
            ready += 1
            pthread_cond_broadcast(condition)
            while start == nil, failure == nil { pthread_cond_wait(condition, mutex) }
            return failure == nil ? start : nil
        }
    }

    /// The caller cannot take part, so nobody does.
    func fail(_ error: LoadError) {
        locked {
            if failure == nil { failure = error }
            pthread_cond_broadcast(condition)
        }
    }

    /// Waits until so many are ready, and lets them go.
    func start(whenReady count: Int, time: () -> Int64) throws(LoadError) {
        let error: LoadError? = locked {
            while ready < count, failure == nil { pthread_cond_wait(condition, mutex) }
            if failure == nil { start = time() }
            pthread_cond_broadcast(condition)
            return failure
        }
        if let error { throw error }
    }
}
