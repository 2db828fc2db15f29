/// A value behind a lock: `Synchronization.Mutex` on a pthread mutex.
///
/// Two reasons. The standard library's lock is a priority-inheritance futex in Swift 6.3, which passes ownership straight
/// to the next waiter and so is slow under contention (https://github.com/swiftlang/swift/issues/88440). And the thread
/// sanitizer knows pthread's locks but cannot see that one, so every value behind it would be reported.
///
/// `@unchecked Sendable`: the value is touched with the lock held.
public final class Locked<Value>: @unchecked Sendable {
    @usableFromInline let mutex = PthreadMutex()
    @usableFromInline var value: Value

    /// Nobody has the lock.
    public init(_ value: Value) {
        self.value = value
    }

    /// Runs `body` with the lock held. Not to be called again inside, which would wait for ever.
    @inlinable public func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        mutex.lock()
        defer { mutex.unlock() }
        return body(&value)
    }
}
