import Glibc
import POSIX
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
        guard notifications.isWanted else { return try body() }
        let timeout = TimeoutExtension(notifications)
        // Without the thread there is only no more time.
        guard let thread = try? Pthread("walpool-notify", stackBytes: stackBytes, { timeout.repeatUntilOver() }) else { return try body() }
        defer {
            timeout.end()
            thread.join()
        }
        return try body()
    }

    private func end() {
        mutex.locked {
            isOver = true
            ended.signal()
        }
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
