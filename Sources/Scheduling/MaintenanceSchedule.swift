/// When VACUUM is due. A pure value, like `WriterQueue`: whoever calls reads the clocks.
///
/// The interval counts from a stamp in a file, so it is the wall clock that says how long ago that was, and wall clocks
/// are set, by hand, by NTP, by a battery that is empty. The rules, so that VACUUM comes neither early nor never:
///
/// 1. While the daemon runs, the monotonic clock counts (the one that goes on while the machine is suspended). When the
///    wall clock has moved by other than what the monotonic one has, somebody has set it: the stamp is moved by the same
///    amount, so the time that has passed stays what it was.
/// 2. A stamp from before the daemon's start is only believed once the wall clock has gone in step with the monotonic
///    one for `settlingSeconds`: a machine often starts with a wrong time, and is told the right one soon. A clock that is
///    set within that time moves no stamp, and the settling begins again.
/// 3. A stamp that then lies in the future, or further back than `longestAbsenceSeconds`, says nothing, for one of the two
///    times was wrong. It is replaced by the present: VACUUM comes one interval from now, which may be late by less than
///    an interval.
/// 4. No stamp at all (a new database, a restored one, a file that cannot be read) is a first sight: the present is
///    stored, and nothing is vacuumed for an interval.
///
/// What the rules cannot tell is a clock that is ahead by less than that absence at the start of the daemon, and stays so.
public struct MaintenanceSchedule: Sendable {
    /// What an administrator says of VACUUM.
    public struct Configuration: Equatable, Sendable {
        /// From one VACUUM to the next; 0: none but on request.
        public var intervalSeconds: Int64 = 7 * 86_400
        /// When one may begin, by the local time.
        public var window = MaintenanceWindow.any
        /// Free pages below this share of all are not worth copying the database for.
        public var minimumFreePercent = 5

        /// All as above: once a week, at any hour.
        public init() {}
    }

    /// The clocks, read at one moment.
    public struct Clocks: Sendable {
        /// Since 1970, in UTC.
        public var wallSeconds: Int64
        /// Of the monotonic clock that counts suspended time too (CLOCK_BOOTTIME).
        public var monotonic: Instant
        /// What the local time is ahead of UTC just then.
        public var localOffsetSeconds: Int64

        /// Readings, which must be of the same moment.
        public init(wallSeconds: Int64, monotonic: Instant, localOffsetSeconds: Int64) {
            self.wallSeconds = wallSeconds
            self.monotonic = monotonic
            self.localOffsetSeconds = localOffsetSeconds
        }
    }

    /// A difference of the clocks smaller than this is no step: readings are seconds, and NTP's slewing is slower.
    static let stepSeconds: Int64 = 10
    /// Rule 2. Longer than NTP needs at a start, and no loss for something weekly; the interval if that is shorter.
    static let settlingSeconds: Int64 = 600
    /// Rule 3. A daemon that really was away for a year loses nothing by a VACUUM a week after it is back.
    static let longestAbsenceSeconds: Int64 = 366 * 86_400
    /// The longest until the next look: a clock that is set is noticed within it.
    static let longestLookMilliseconds: Int64 = 60_000
    /// The clocks are read in whole seconds, so of a shorter time nothing is known.
    static let shortestLookMilliseconds: Int64 = 200
    /// After finding too little to free, until it is looked at again. What is deleted meanwhile is room that SQLite uses again, so a
    /// day later is early enough. The interval if that is shorter.
    static let skipSeconds: Int64 = 86_400
    /// After the first failure; doubled at each further one.
    static let shortestBackOffSeconds: Int64 = 900
    static let longestBackOffSeconds: Int64 = 86_400

    /// By which the next look decides.
    public private(set) var configuration: Configuration
    /// Nil until the first look at a database nothing is stored of.
    public private(set) var record: MaintenanceRecord?
    /// The clocks at the last look.
    private var last: Clocks?
    /// Since when the two clocks have gone in step.
    private var inStepSince = Instant(nanoseconds: 0)
    /// The stamp is this process's own, or has been found to be believable.
    private var isBelieved = false
    /// Not before this moment of the monotonic clock: too little was free, or it has failed.
    private var pausedUntil: (instant: Instant, why: Waiting)?

    /// - Parameter record: what was stored; nil: nothing, or what cannot be read.
    public init(configuration: Configuration, record: MaintenanceRecord?) {
        self.configuration = configuration
        self.record = record
    }

    /// From the next look on. What was not worth it by the old configuration may be by the new one.
    public mutating func configure(_ configuration: Configuration) {
        self.configuration = configuration
        if pausedUntil?.why == .moreFreePages { pausedUntil = nil }
    }

    // MARK: Looking

    /// What it waits for.
    public enum Waiting: Equatable, Sendable {
        /// The interval is 0: none is due but on request.
        case off
        /// Rule 2: the stamp is not believed yet.
        case clockToSettle
        case interval
        case window
        /// Too few pages were free when it was last due.
        case moreFreePages
        /// It has failed, and is tried again later.
        case retry
    }

    /// What is to be done now.
    public enum Decision: Equatable, Sendable {
        case run
        case wait(Waiting)
    }

    /// What the log should say.
    public enum Finding: Equatable, Sendable {
        /// Rule 4.
        case firstSight
        /// Rule 1: forwards, or backwards when below zero.
        case clockStepped(bySeconds: Int64)
        /// Rule 3: so long ago it was, or below zero for a time to come.
        case stampReplaced(secondsAgo: Int64)
    }

    /// What a look has found.
    public struct Look: Equatable, Sendable {
        /// Whether VACUUM is due, or what is waited for.
        public var decision: Decision
        /// In this order; the record has changed by each but a step that came before anything was believed.
        public var findings: [Finding] = []
        /// The record has changed in a way that the next start has to know of.
        public var mustStore = false
        /// How long until there is something new to see; nil: never.
        public var lookAgainMilliseconds: Int64?
    }

    /// Looks at the clocks and says what to do. Call it at least as often as it asks for.
    public mutating func look(_ now: Clocks) -> Look {
        var look = Look(decision: .wait(.off))
        guard configuration.intervalSeconds > 0 else { return look }
        followClocks(now, &look)
        believeStamp(now, &look)
        let (decision, seconds) = decide(now)
        look.decision = decision
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
        look.lookAgainMilliseconds = min(
            Self.longestLookMilliseconds,
            max(Self.shortestLookMilliseconds, milliseconds.overflow ? .max : milliseconds.partialValue))
        return look
    }

    /// Rule 1.
    private mutating func followClocks(_ now: Clocks, _ look: inout Look) {
        defer { last = now }
        guard let last else {
            inStepSince = now.monotonic
            resumePause(now)
            return
        }
        let passed = now.monotonic.milliseconds(since: last.monotonic) / 1000
        let step = now.wallSeconds &- last.wallSeconds &- passed
        guard abs(step) >= Self.stepSeconds else { return }
        look.findings.append(.clockStepped(bySeconds: step))
        if isBelieved {
            record?.base &+= step
            look.mustStore = true
        } else {
            inStepSince = now.monotonic
        }
    }

    /// Rules 2, 3 and 4.
    private mutating func believeStamp(_ now: Clocks, _ look: inout Look) {
        guard let stored = record else {
            record = MaintenanceRecord(base: now.wallSeconds)
            isBelieved = true
            look.findings.append(.firstSight)
            look.mustStore = true
            return
        }
        guard !isBelieved, secondsToSettle(now) <= 0 else { return }
        isBelieved = true
        let ago = now.wallSeconds &- stored.base
        guard ago < 0 || ago > Self.longestAbsenceSeconds + configuration.intervalSeconds else { return }
        record?.base = now.wallSeconds
        look.findings.append(.stampReplaced(secondsAgo: ago))
        look.mustStore = true
    }

    private func secondsToSettle(_ now: Clocks) -> Int64 {
        let settled = now.monotonic.milliseconds(since: inStepSince) / 1000
        return min(Self.settlingSeconds, configuration.intervalSeconds) - settled
    }

    /// The decision, and how many seconds until another is possible.
    private func decide(_ now: Clocks) -> (Decision, Int64) {
        guard isBelieved, let record else { return (.wait(.clockToSettle), secondsToSettle(now)) }
        let toInterval = record.base &+ configuration.intervalSeconds &- now.wallSeconds
        if toInterval > 0 { return (.wait(.interval), toInterval) }
        if let pausedUntil, pausedUntil.instant > now.monotonic {
            return (.wait(pausedUntil.why), pausedUntil.instant.milliseconds(since: now.monotonic) / 1000)
        }
        let local = now.wallSeconds &+ now.localOffsetSeconds
        if !configuration.window.contains(localSeconds: local) {
            return (.wait(.window), configuration.window.nextOpening(localSeconds: local) &- local)
        }
        return (.run, Self.longestLookMilliseconds / 1000)
    }

    /// When it is next due, on the wall clock: the interval is over, no pause is on, and the window is open. Nil when
    /// it is off or nothing is known yet.
    public func nextDue(_ now: Clocks) -> Int64? {
        guard configuration.intervalSeconds > 0, let record else { return nil }
        var due = max(record.base &+ configuration.intervalSeconds, now.wallSeconds)
        if let pausedUntil {
            due = max(due, now.wallSeconds &+ pausedUntil.instant.milliseconds(since: now.monotonic) / 1000)
        }
        return configuration.window.nextOpening(localSeconds: due &+ now.localOffsetSeconds) &- now.localOffsetSeconds
    }
}

// MARK: How it went

extension MaintenanceSchedule {
    /// Whether the free pages are worth it.
    public func isWorthwhile(pages: Int, freePages: Int) -> Bool {
        // A database has fewer than 2^32 pages.
        freePages > 0 && freePages * 100 >= pages * configuration.minimumFreePercent
    }

    /// It is not done now: it is looked at again after `skipSeconds`.
    public mutating func skip(_ now: Clocks) { pause(min(Self.skipSeconds, configuration.intervalSeconds), .moreFreePages, now) }

    /// It begins now. Store the record first.
    ///
    /// - Parameter isRequested: an administrator asked for it, who sees how it goes and asks again or does not: it is none of the
    ///   attempts that are repeated later and later.
    public mutating func begin(_ now: Clocks, isRequested: Bool = false) {
        var record = record ?? MaintenanceRecord(base: now.wallSeconds)
        if !isRequested {
            record.attempts = min(record.attempts + 1, MaintenanceRecord.mostAttempts)
            record.lastAttempt = now.wallSeconds
        }
        self.record = record
    }

    /// It has ended well: the interval counts from now.
    public mutating func succeeded(_ success: MaintenanceRecord.Success, _ now: Clocks) {
        record?.base = now.wallSeconds
        record?.lastSuccess = success
        record?.attempts = 0
        record?.lastAttempt = nil
        isBelieved = true
        pausedUntil = nil
    }

    /// It has failed: it is tried again after a while that doubles with each attempt, up to `longestBackOffSeconds`. One that was
    /// requested is not, and changes nothing of when the next is due.
    public mutating func failed(_ reason: String, _ now: Clocks, isRequested: Bool = false) {
        record?.lastFailure = .init(at: now.wallSeconds, reason: reason)
        if !isRequested { pause(backOffSeconds, .retry, now) }
    }

    /// A shutdown has stopped it: no failure, and due again at the next start, unless it was requested.
    public mutating func stopped(isRequested: Bool = false) {
        guard !isRequested else { return }
        record?.attempts -= 1
        if record?.attempts == 0 { record?.lastAttempt = nil }
    }

    private var backOffSeconds: Int64 {
        // Seven doublings of the shortest are more than the longest.
        let doublings = max(0, min((record?.attempts ?? 1) - 1, 7))
        return min(Self.longestBackOffSeconds, Self.shortestBackOffSeconds << doublings)
    }

    private mutating func pause(_ seconds: Int64, _ why: Waiting, _ now: Clocks) {
        pausedUntil = (now.monotonic.advanced(byMilliseconds: seconds * 1000), why)
    }

    /// The rest of the back-off after an attempt of an earlier process that did not succeed. All of it, when the wall
    /// clock says nothing of use.
    private mutating func resumePause(_ now: Clocks) {
        guard let record, record.attempts > 0, let attempt = record.lastAttempt else { return }
        let ago = now.wallSeconds &- attempt
        let left = ago < 0 ? backOffSeconds : backOffSeconds - min(ago, backOffSeconds)
        if left > 0 { pause(left, .retry, now) }
    }
}
