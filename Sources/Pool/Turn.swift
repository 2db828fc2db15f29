import Glibc

/// Lets one thread at a time do something that waits for the disk, without a mutex being held meanwhile. The others wait
/// their turn; who calls has said that it will be long.
///
/// `@unchecked Sendable`: `isTaken` is touched with the mutex held.
public final class Turn: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isTaken = false

    /// Nobody has it.
    public init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Waits for the turn, runs `body`, and passes the turn on. Not to be called again inside.
    public func take<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        while isTaken { pthread_cond_wait(condition, mutex) }
        isTaken = true
        pthread_mutex_unlock(mutex)
        defer {
            pthread_mutex_lock(mutex)
            isTaken = false
            pthread_cond_signal(condition)
            pthread_mutex_unlock(mutex)
        }
        return body()
    }
}
