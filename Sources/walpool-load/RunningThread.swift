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
        let code = pthread_create(
            &thread, nil,
            { pointer in
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
