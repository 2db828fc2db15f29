import Glibc

/// A value behind a lock: `Synchronization.Mutex` on a pthread mutex.
///
/// Two reasons. The standard library's lock is a priority-inheritance futex in Swift 6.3, which passes ownership straight
/// to the next waiter and so is slow under contention (https://github.com/swiftlang/swift/issues/88440). And the thread
/// sanitizer knows pthread's locks but cannot see that one, so every value behind it would be reported.
///
/// `@unchecked Sendable`: the value is touched with the lock held.
public final class Locked<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    /// Nobody has the lock.
    public init(_ value: Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with the lock held. Not to be called again inside, which would wait for ever.
    public func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }
}
