import Glibc
import Server

/// Asks the service manager for more time while the calling thread does what may take long: a large WAL is recovered at
/// start; at stop a VACUUM copies its pages back, which nobody can interrupt, and the last checkpoint is made.
///
/// "EXTEND_TIMEOUT_USEC=…: … the service manager will allow the service to continue to start, provided the service repeats
/// [it] within the interval specified" (sd_notify(3)). It is repeated only while some thread has been on a processor, so a
/// start or stop that hangs ends when TimeoutStartSec= or TimeoutStopSec= says.
///
/// `@unchecked Sendable`: `isOver` is touched with the mutex held.
final class TimeoutExtension: @unchecked Sendable {
    /// What is over by then needs no more time.
    private static let intervalMilliseconds: Int64 = 2_000
    /// Longer than a disk is silent while it works.
    private static let extensionMilliseconds: Int64 = 60_000
    private static let stackBytes = 128 << 10

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isOver = false
    private let notifications: ServiceNotifications

    private init(_ notifications: ServiceNotifications) {
        self.notifications = notifications
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    static func during<Result, Failure: Error>(
        _ notifications: ServiceNotifications, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Without the thread there is only no more time.
        guard notifications.isWanted, let thread = TimeoutExtension(notifications).start() else { return try body() }
        defer { thread.end() }
        return try body()
    }

    private struct Thread {
        let value: pthread_t
        let of: TimeoutExtension

        func end() {
            pthread_mutex_lock(of.mutex)
            of.isOver = true
            pthread_cond_signal(of.condition)
            pthread_mutex_unlock(of.mutex)
            pthread_join(value, nil)
        }
    }

    private func start() -> Thread? {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, Self.stackBytes)
        defer { pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        let code = pthread_create(
            &thread, &attributes,
            { context in
                Unmanaged<TimeoutExtension>.fromOpaque(context!).takeRetainedValue().repeatUntilOver()
                return nil
            }, context)
        guard code != 0 else { return Thread(value: thread, of: self) }
        Unmanaged<TimeoutExtension>.fromOpaque(context).release()
        return nil
    }

    private func repeatUntilOver() {
        var used: Int64 = 0
        while !isOverAfterAWait() {
            let now = ProcessorTime.nanosecondsOfOtherThreads
            if now != used { notifications.extendTimeout(byMilliseconds: Self.extensionMilliseconds) }
            used = now
        }
    }

    private func isOverAfterAWait() -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        end.tv_sec += Int(Self.intervalMilliseconds / 1000)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isOver {
            if pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT { break }
        }
        return isOver
    }
}
