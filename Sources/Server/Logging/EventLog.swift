import Journal
import Logging
import POSIX
import Pool
import Scheduling
import Synchronization

/// What sessions report: whether it is logged, and how often.
final class EventLog: Sendable {
    let log: Logger
    private let current: Locked<LogConfiguration>
    private let limits = Locked(Limits())
    /// When the lines that were left out are counted in a line of their own; Int64.max is never.
    private let leftOutReportAt = Atomic<Int64>(.max)
    /// log_min_duration_statement in nanoseconds; Int64.max is off. Beside the rest, because each statement asks.
    private let slowNanoseconds = Atomic<Int64>(.max)
    /// log_lock_waits_after in nanoseconds; Int64.max is off.
    private let lockWaitNanoseconds = Atomic<Int64>(.max)

    /// The kinds that clients cause, each with its limits by user ID.
    private struct Limits {
        var byKind: [EventKind: RateLimits<UInt32>] = [:]
        var plans = RateLimits<UInt32>(LogLimits.plans, keyLimit: LogLimits.users)
    }

    init(_ log: Logger, _ configuration: LogConfiguration) {
        self.log = log
        current = Locked(configuration)
        apply(configuration)
    }

    var configuration: LogConfiguration { current.withLock { $0 } }

    /// For a configuration that was read again. Statements that run are measured only if they were from their start.
    func apply(_ configuration: LogConfiguration) {
        current.withLock { $0 = configuration }
        slowNanoseconds.store(Self.nanoseconds(configuration.minimumDurationMilliseconds), ordering: .relaxed)
        lockWaitNanoseconds.store(
            Self.nanoseconds(configuration.lockWaits ? configuration.lockWaitsAfterMilliseconds : nil), ordering: .relaxed)
    }

    private static func nanoseconds(_ milliseconds: Int64?) -> Int64 {
        guard let milliseconds else { return .max }
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : product
    }

    /// Whether statements are to be measured.
    @inline(__always)
    var isTiming: Bool { slowNanoseconds.load(ordering: .relaxed) != .max }

    func isSlow(_ nanoseconds: Int64) -> Bool { nanoseconds >= slowNanoseconds.load(ordering: .relaxed) }

    /// When whoever begins to wait for the writer now is to be logged; nil is never.
    func lockWaitReport(now: Instant) -> Instant? {
        let after = lockWaitNanoseconds.load(ordering: .relaxed)
        return after == .max ? nil : Instant(nanoseconds: now.nanoseconds + after)
    }

    // MARK: Limits

    /// Whether a user may cause one more line of this kind.
    func admits(_ kind: EventKind, user: UInt32, now: Instant, _ deadlines: some DeadlineObserver) -> Bool {
        let isAdmitted = limits.withLock {
            $0.byKind[kind, default: RateLimits(Self.rate(kind), keyLimit: LogLimits.users)].admit(user, now: now)
        }
        if !isAdmitted {
            let at = now.advanced(byMilliseconds: LogLimits.leftOutReportMilliseconds)
            let (isFirst, _) = leftOutReportAt.compareExchange(
                expected: .max, desired: at.nanoseconds, ordering: .sequentiallyConsistent)
            if isFirst { deadlines.announce(at) }
        }
        return isAdmitted
    }

    func admitsPlan(user: UInt32, now: Instant) -> Bool { limits.withLock { $0.plans.admit(user, now: now) } }

    private static func rate(_ kind: EventKind) -> RateLimit.Rate {
        switch kind {
        case .slowStatement, .slowGroup: LogLimits.statements
        case .lockWait, .lockWaitEnded: LogLimits.waits
        case .connected, .disconnected: LogLimits.connections
        default: LogLimits.errors
        }
    }

    /// The timer's: says how many lines were left out, when that is due. Returns when to ask again.
    func reportLeftOut(now: Instant) -> Instant {
        let at = leftOutReportAt.load(ordering: .sequentiallyConsistent)
        guard at != .max else { return .distantFuture }
        guard at <= now.nanoseconds else { return Instant(nanoseconds: at) }
        leftOutReportAt.store(.max, ordering: .sequentiallyConsistent)
        reportLeftOut()
        return .distantFuture
    }

    func reportLeftOut() {
        let counts = limits.withLock { limits in
            limits.byKind.keys.sorted { $0.rawValue < $1.rawValue }.map { kind in
                (kind, limits.byKind[kind]?.takeLeftOut() ?? 0)
            }
        }
        for (kind, count) in counts where count > 0 {
            log.notice(
                .linesLeftOut, "lines were left out: there were too many of their kind",
                metadata: ["lines": "\(count)", "of_kind": "\(kind)"])
        }
    }
}

// MARK: Groups

extension EventLog {
    /// A group's members are measured without the commit they share, which may be what was slow. Where a member was slow
    /// itself, that says why.
    func noteGroup(began: Instant, _ members: [any GroupMember]) {
        let now = MonotonicClock.now
        let taken = now.nanoseconds - began.nanoseconds
        guard isSlow(taken), !members.contains(where: { ($0 as? Session)?.running.slow != nil }), let first = members.first as? Session,
            first.admitsLine(.slowGroup, now: now)
        else { return }
        let named = members.prefix(LogLimits.namedMembers).map { String($0.clientID) }.joined(separator: ",")
        log.notice(
            .slowGroup, "a group of transactions was slow to run and commit",
            metadata: [
                "duration": .stringConvertible(LoggedDuration(nanoseconds: taken)), "members": "\(members.count)",
                "sessions": "\(named)\(members.count > LogLimits.namedMembers ? ",…" : "")",
            ])
    }
}
