import Glibc

/// One pthread mutex, for a class that keeps what the mutex protects in properties of its own and waits for their change at a
/// `PthreadCondition`: `Synchronization.Mutex` has no condition. A value that nobody waits for is a `Locked`.
///
/// It is allocated, because POSIX wants it at one address for as long as it lives, which a stored property need not have.
public struct PthreadMutex: ~Copyable {
    @usableFromInline let pointer: UnsafeMutablePointer<pthread_mutex_t>

    /// Nobody has it.
    public init() {
        pointer = .allocate(capacity: 1)
        pthread_mutex_init(pointer, nil)
    }

    deinit {
        pthread_mutex_destroy(pointer)
        pointer.deallocate()
    }

    /// Waits until nobody else has it. Not to be called again by the thread that has it, which would wait for ever.
    @inlinable public func lock() { pthread_mutex_lock(pointer) }

    /// By the thread that has it.
    @inlinable public func unlock() { pthread_mutex_unlock(pointer) }

    /// Runs `body` with the mutex held.
    @inlinable public func locked<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body()
    }

    /// By the thread that has the mutex: runs `body`, which makes a system call or calls back, without it.
    @inlinable public func unlocked<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        unlock()
        defer { lock() }
        return try body()
    }
}

// A pointer to a mutex, which is there to be used by several threads.
extension PthreadMutex: @unchecked Sendable {}
