import CLinux
import Glibc

/// A pthread that runs a closure.
public struct Pthread: Sendable {
    /// What pthread_self(3) says in that thread.
    public let handle: pthread_t

    private final class Body: Sendable {
        let name: StaticString
        let run: @Sendable () -> Void
        init(_ name: StaticString, _ run: @escaping @Sendable () -> Void) { (self.name, self.run) = (name, run) }
    }

    /// Starts it.
    ///
    /// - Parameters:
    ///   - name: as top -H, perf(1) and debuggers show it. "If the length of the string, including the terminating null
    ///     byte, exceeds 16 bytes, the string is silently truncated" (https://man7.org/linux/man-pages/man2/PR_SET_NAME.2const.html).
    ///   - stackBytes: nil: as many as the process's threads have by default.
    ///   - isDetached: nobody joins it.
    ///   - run: what it does. Objects that only this holds live until it returns.
    public init(
        _ name: StaticString, stackBytes: Int? = nil, isDetached: Bool = false, _ run: @escaping @Sendable () -> Void
    ) throws(PthreadError) {
        var (thread, attributes) = (pthread_t(), pthread_attr_t())
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let stackBytes { pthread_attr_setstacksize(&attributes, stackBytes) }
        if isDetached { pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED)) }
        let body = Unmanaged.passRetained(Body(name, run))
        let code = pthread_create(
            &thread, &attributes,
            { body in
                let body = Unmanaged<Body>.fromOpaque(body!).takeRetainedValue()
                // A static string is there for as long as the program, and ends with a zero.
                walpool_name_thread(UnsafeRawPointer(body.name.utf8Start).assumingMemoryBound(to: CChar.self))
                body.run()
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
