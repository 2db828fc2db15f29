import Glibc
import Locking
import Pool
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

    private let mutex = PthreadMutex()
    private let ended = PthreadCondition()
    private var isOver = false
    private let notifications: ServiceNotifications

    private init(_ notifications: ServiceNotifications) {
        self.notifications = notifications
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
            of.mutex.locked {
                of.isOver = true
                of.ended.signal()
            }
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
        let end = MonotonicClock.now.advanced(byMilliseconds: Self.intervalMilliseconds)
        return mutex.locked {
            while !isOver, ended.wait(mutex, untilNanoseconds: end.nanoseconds) {}
            return isOver
        }
    }
}
