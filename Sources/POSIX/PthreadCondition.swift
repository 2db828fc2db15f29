import Glibc

/// One pthread condition, at which threads wait for a change of what a `PthreadMutex` protects. It counts time by CLOCK_MONOTONIC.
public struct PthreadCondition: ~Copyable {
    private let pointer: UnsafeMutablePointer<pthread_cond_t>

    /// Nobody waits.
    public init() {
        pointer = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(pointer, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(pointer)
        pointer.deallocate()
    }

    /// With the mutex held, which is let go meanwhile. It may return though nobody signalled, so callers ask again for what they
    /// wait for.
    public func wait(_ mutex: borrowing PthreadMutex) { pthread_cond_wait(pointer, mutex.pointer) }

    /// The same until a time of CLOCK_MONOTONIC. Returns false when that has come.
    @discardableResult
    public func wait(_ mutex: borrowing PthreadMutex, untilNanoseconds time: Int64) -> Bool {
        // A negative time is over: POSIX would refuse it, and not let the mutex go.
        let time = max(0, time)
        var end = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
        return pthread_cond_timedwait(pointer, mutex.pointer, &end) != ETIMEDOUT
    }

    /// Wakes one thread that waits, if there is one.
    public func signal() { pthread_cond_signal(pointer) }

    /// Wakes all that wait.
    public func broadcast() { pthread_cond_broadcast(pointer) }
}

// A pointer to a condition, which is there to be used by several threads.
extension PthreadCondition: @unchecked Sendable {}
