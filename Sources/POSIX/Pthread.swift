import Glibc

/// A pthread that runs a closure.
public struct Pthread: Sendable {
    /// What pthread_self(3) says in that thread.
    public let handle: pthread_t

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts it.
    ///
    /// - Parameters:
    ///   - stackBytes: nil: as many as the process's threads have by default.
    ///   - isDetached: nobody joins it.
    ///   - run: what it does. Objects that only this holds live until it returns.
    public init(stackBytes: Int? = nil, isDetached: Bool = false, _ run: @escaping @Sendable () -> Void) throws(PthreadError) {
        var (thread, attributes) = (pthread_t(), pthread_attr_t())
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let stackBytes { pthread_attr_setstacksize(&attributes, stackBytes) }
        if isDetached { pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED)) }
        let body = Unmanaged.passRetained(Body(run))
        let code = pthread_create(
            &thread, &attributes,
            { body in
                Unmanaged<Body>.fromOpaque(body!).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        guard code == 0 else {
            body.release()
            throw PthreadError(errorNumber: code)
        }
        handle = thread
    }

    /// Waits for its end.
    public func join() { pthread_join(handle, nil) }
}

/// Why there is no thread, in words for an administrator.
public struct PthreadError: Error, CustomStringConvertible {
    /// What pthread_create(3) returned.
    public let errorNumber: Int32

    /// What strerror(3) says, and where that is EAGAIN, which limits it may be.
    public var description: String {
        let words = "cannot start a thread: \(String(cString: strerror(errorNumber)))"
        guard errorNumber == EAGAIN else { return words }
        return words + ": a limit of threads (TasksMax=, RLIMIT_NPROC) or of memory (RLIMIT_AS) is reached"
    }
}
