import TestSupport
import Testing

@testable import Scheduling

private let day: Int64 = 86_400
private let week = 7 * day
/// A Wednesday, 2026-11-18T12:00:00Z.
private let noon: Int64 = 1_795_003_200

/// A schedule with clocks of its own, which go on only when it is told.
private struct Simulation {
    var schedule: MaintenanceSchedule
    var wall: Int64
    var monotonic: Int64 = 5_000
    var zone: Int64 = 0

    init(_ record: MaintenanceRecord?, wall: Int64 = noon, _ adjust: (inout MaintenanceSchedule.Configuration) -> Void = { _ in }) {
        var configuration = MaintenanceSchedule.Configuration()
        adjust(&configuration)
        schedule = MaintenanceSchedule(configuration: configuration, record: record)
        self.wall = wall
    }

    var clocks: MaintenanceSchedule.Clocks {
        .init(wallSeconds: wall, monotonic: ms(monotonic * 1000), localOffsetSeconds: zone)
    }

    mutating func look() -> MaintenanceSchedule.Look { schedule.look(clocks) }

    mutating func pass(_ seconds: Int64) {
        wall += seconds
        monotonic += seconds
    }

    /// Looks as often as it is asked to until it decides to run; the seconds that took, or nil when it was longer than
    /// the limit.
    mutating func secondsUntilRun(limit: Int64 = 60 * day) -> Int64? {
        let began = monotonic
        while monotonic - began <= limit {
            let look = look()
            if look.decision == .run { return monotonic - began }
            guard let milliseconds = look.lookAgainMilliseconds else { return nil }
            pass(max(1, milliseconds / 1000))
        }
        return nil
    }

    /// The daemon is stopped, is away for so long, and is started with the record it stored.
    mutating func restart(after seconds: Int64, wallStep: Int64 = 0) {
        schedule = MaintenanceSchedule(configuration: schedule.configuration, record: schedule.record)
        wall += seconds + wallStep
        // Another boot: the monotonic clock begins again.
        monotonic = 40
    }
}

@Suite struct MaintenanceScheduleTests {
    private typealias Finding = MaintenanceSchedule.Finding

    @Test func firstSight() {
        var simulation = Simulation(nil)
        let look = simulation.look()
        #expect(look.findings == [.firstSight])
        #expect(look.mustStore)
        #expect(look.decision == .wait(.interval))
        #expect(simulation.schedule.record == MaintenanceRecord(base: noon))
        // Stored once.
        #expect(simulation.look() == .init(decision: .wait(.interval), lookAgainMilliseconds: 60_000))
        #expect(simulation.schedule.nextDue(simulation.clocks) == noon + week)
        #expect(simulation.secondsUntilRun() == week)
    }

    /// What a start finds, and after how long it runs. A stamp is believed after ten minutes.
    @Test(
        arguments: [
            (ago: 8 * day, seconds: 600, replaced: false),
            (ago: week, seconds: 600, replaced: false),
            (ago: week - 600, seconds: 600, replaced: false),
            (ago: week - 3600, seconds: 3600, replaced: false),
            (ago: 0, seconds: week, replaced: false),
            (ago: 300 * day, seconds: 600, replaced: false),
            (ago: 366 * day + week - 600, seconds: 600, replaced: false),
            // Neither a stamp in the future nor one from long ago says anything: an interval from when that is found.
            (ago: 366 * day + week - 599, seconds: week + 600, replaced: true),
            (ago: 10 * 365 * day, seconds: week + 600, replaced: true),
            (ago: noon, seconds: week + 600, replaced: true),
            (ago: -601, seconds: week + 600, replaced: true),
            (ago: -10 * 365 * day, seconds: week + 600, replaced: true),
            // The clock was set back a little: that much later, and no more.
            (ago: -600, seconds: week + 600, replaced: false),
        ] as [(ago: Int64, seconds: Int64, replaced: Bool)])
    func start(_ ago: Int64, _ seconds: Int64, _ isReplaced: Bool) {
        var simulation = Simulation(MaintenanceRecord(base: noon - ago))
        #expect(simulation.look().decision == .wait(.clockToSettle))
        #expect(simulation.secondsUntilRun() == seconds)
        #expect((simulation.schedule.record!.base != noon - ago) == isReplaced)
        if isReplaced { #expect(simulation.schedule.record!.base == noon + 600) }
    }

    /// While the daemon runs, a set clock changes nothing about when it runs.
    @Test(arguments: [10, 3600, -3600, week, -week, 3 * week, 10 * 365 * day, -10 * 365 * day, -noon] as [Int64])
    func aClockThatIsSetWhileItRuns(_ step: Int64) {
        var simulation = Simulation(nil)
        _ = simulation.look()
        simulation.pass(30)
        simulation.wall += step
        let look = simulation.look()
        #expect(look.findings == [.clockStepped(bySeconds: step)])
        #expect(look.mustStore)
        #expect(simulation.schedule.record?.base == noon + step)
        #expect(simulation.secondsUntilRun() == week - 30)
    }

    @Test func aClockThatIsSetForthAndBack() {
        var simulation = Simulation(nil)
        for step in [10 * 365 * day, -10 * 365 * day, -20 * 365 * day, 20 * 365 * day] {
            _ = simulation.look()
            simulation.pass(60)
            simulation.wall += step
        }
        #expect(simulation.secondsUntilRun() == week - 240)
    }

    /// The clock is wrong when the machine starts and is set right some minutes later.
    @Test(arguments: [(3 * day, week - 3 * day - 200), (week - 60, 600), (8 * day, 600)] as [(Int64, Int64)])
    func aClockThatIsSetSoonAfterTheStart(_ ago: Int64, _ seconds: Int64) {
        for wrong in [-noon, -20 * day, 30 * day, 10 * 365 * day] {
            var simulation = Simulation(MaintenanceRecord(base: noon - ago), wall: noon + wrong)
            for _ in 0..<20 {
                #expect(simulation.look().decision == .wait(.clockToSettle))
                simulation.pass(10)
            }
            simulation.wall -= wrong
            let look = simulation.look()
            #expect(look.findings == [.clockStepped(bySeconds: -wrong)])
            #expect(!look.mustStore)
            #expect(simulation.schedule.record?.base == noon - ago)
            #expect(simulation.secondsUntilRun() == seconds)
        }
    }

    /// A clock that is wrong from one start to the next and right again after: an interval at most is lost.
    @Test(arguments: [-10 * 365 * day, 10 * 365 * day] as [Int64])
    func aStartWithAWrongClock(_ wrong: Int64) {
        var simulation = Simulation(nil)
        _ = simulation.look()
        simulation.restart(after: day, wallStep: wrong)
        #expect(simulation.secondsUntilRun(limit: week - 1) == nil)
        simulation.restart(after: 60, wallStep: -wrong)
        let more = simulation.secondsUntilRun()
        #expect(more != nil && more! >= 600 && more! <= week + 600)
    }

    /// A machine that is on for an hour a day, with a clock that is right.
    @Test func aDaemonThatIsOftenAway() {
        var simulation = Simulation(nil)
        _ = simulation.look()
        var days = 0
        while simulation.secondsUntilRun(limit: 3600) == nil {
            simulation.restart(after: day - 3600)
            days += 1
        }
        #expect(days == 7)
    }

    // MARK: Windows

    @Test(
        arguments: [
            // Due on Wednesday at noon, ten minutes after the start at the earliest.
            ("any", 0, 600),
            ("daily 12:00-12:05", 0, day),
            ("daily 12:00-13:00", 0, 600),
            ("daily 02:00-04:00", 0, 14 * 3600),
            ("daily 02:00-04:00", 14 * 3600, 600),
            ("daily 02:00-04:00", 3 * 3600, 11 * 3600),
            ("Sun 03:00-05:00", 0, 3 * day + 15 * 3600),
            ("Sun 03:00-05:00", -5 * 3600, 3 * day + 20 * 3600),
            ("Tue 22:00-20:00", 0, 600),
            ("Wed 11:00-12:00", 0, week - 3600),
            // In Tokyo it is 21:00.
            ("Wed 23:00-01:00", 9 * 3600, 2 * 3600),
        ] as [(String, Int64, Int64)])
    func window(_ text: String, _ zone: Int64, _ seconds: Int64) throws {
        let window = try #require(MaintenanceWindow(text))
        var simulation = Simulation(MaintenanceRecord(base: noon - 8 * day)) { $0.window = window }
        simulation.zone = zone
        #expect(simulation.secondsUntilRun() == seconds)
    }

    @Test func nextDueIsInTheWindow() throws {
        let window = try #require(MaintenanceWindow("Sun 23:00-01:00"))
        var simulation = Simulation(nil) { $0.window = window }
        _ = simulation.look()
        // A week from now is a Wednesday.
        #expect(simulation.schedule.nextDue(simulation.clocks) == noon + week + 4 * day + 11 * 3600)
        #expect(simulation.secondsUntilRun() == week + 4 * day + 11 * 3600)
    }

    // MARK: Free pages, failures, successes

    @Test(
        arguments: [
            (1000, 50, 5, true), (1000, 49, 5, false), (1000, 0, 5, false), (1, 0, 0, false), (1000, 1, 0, true), (0, 0, 5, false),
            (4_294_967_294, 214_748_365, 5, true),
        ] as [(Int, Int, Int, Bool)])
    func worthwhile(_ pages: Int, _ free: Int, _ percent: Int, _ expected: Bool) {
        var simulation = Simulation(MaintenanceRecord(base: noon - 8 * day)) { $0.minimumFreePercent = percent }
        #expect(simulation.secondsUntilRun() == 600)
        #expect(simulation.schedule.isWorthwhile(pages: pages, freePages: free) == expected)
        if !expected { simulation.schedule.skip(simulation.clocks) }
        // Too little: a day later again.
        #expect(simulation.secondsUntilRun() == (expected ? 0 : day))
        #expect(simulation.schedule.record == MaintenanceRecord(base: noon - 8 * day))
    }

    @Test func success() {
        var simulation = Simulation(MaintenanceRecord(base: noon - 8 * day))
        _ = simulation.secondsUntilRun()
        simulation.schedule.begin(simulation.clocks)
        #expect(simulation.schedule.record?.attempts == 1)
        simulation.pass(100)
        let success = MaintenanceRecord.Success(at: simulation.wall, durationMilliseconds: 100_000, bytesFreed: 4096)
        simulation.schedule.succeeded(success, simulation.clocks)
        var expected = MaintenanceRecord(base: noon + 700)
        expected.lastSuccess = success
        #expect(simulation.schedule.record == expected)
        #expect(simulation.secondsUntilRun() == week)
    }

    @Test func failuresBackOff() {
        var simulation = Simulation(MaintenanceRecord(base: noon - 8 * day))
        var waits: [Int64] = []
        for number in 1...10 {
            waits.append(simulation.secondsUntilRun()!)
            simulation.schedule.begin(simulation.clocks)
            simulation.schedule.failed("reason \(number)", simulation.clocks)
            #expect(simulation.schedule.record?.lastFailure == .init(at: simulation.wall, reason: "reason \(number)"))
        }
        #expect(waits == [600, 900, 1800, 3600, 7200, 14_400, 28_800, 57_600, 86_400, 86_400])
        #expect(simulation.look().decision == .wait(.retry))
        // It counts again from the first after a success.
        _ = simulation.secondsUntilRun()
        simulation.schedule.begin(simulation.clocks)
        simulation.schedule.succeeded(.init(at: simulation.wall, durationMilliseconds: 1, bytesFreed: 1), simulation.clocks)
        #expect(simulation.secondsUntilRun() == week)
        simulation.schedule.begin(simulation.clocks)
        simulation.schedule.failed("again", simulation.clocks)
        #expect(simulation.secondsUntilRun() == 900)
    }

    /// One that takes the daemon down with it is not what the next start begins with.
    @Test(arguments: [(0, 900), (300, 600), (5000, 600), (-day, 900)] as [(Int64, Int64)])
    func killedInTheMiddle(_ away: Int64, _ seconds: Int64) {
        var simulation = Simulation(MaintenanceRecord(base: noon - 8 * day))
        _ = simulation.secondsUntilRun()
        simulation.schedule.begin(simulation.clocks)
        simulation.restart(after: away)
        #expect(simulation.secondsUntilRun() == seconds)
    }

    @Test func killedAgainAndAgain() {
        var simulation = Simulation(MaintenanceRecord(base: noon - 8 * day))
        var waits: [Int64] = []
        for _ in 1...5 {
            waits.append(simulation.secondsUntilRun()!)
            simulation.schedule.begin(simulation.clocks)
            simulation.restart(after: 1)
        }
        #expect(waits == [600, 899, 1799, 3599, 7199])
    }

    @Test func stoppedByAShutdown() {
        let record = MaintenanceRecord(base: noon - 8 * day)
        var simulation = Simulation(record)
        _ = simulation.secondsUntilRun()
        simulation.schedule.begin(simulation.clocks)
        simulation.schedule.stopped()
        #expect(simulation.schedule.record == record)
        simulation.restart(after: 1)
        #expect(simulation.secondsUntilRun() == 600)
    }

    /// It is none of the attempts that are repeated, however it ends, and the weekly one comes when it would have come.
    @Test func requested() {
        let record = MaintenanceRecord(base: noon - 8 * day)
        var simulation = Simulation(record)
        _ = simulation.secondsUntilRun()
        for _ in 0..<4 {
            simulation.schedule.begin(simulation.clocks, isRequested: true)
            simulation.schedule.failed("no room", simulation.clocks, isRequested: true)
        }
        #expect(simulation.schedule.record?.attempts == 0 && simulation.schedule.record?.lastFailure?.reason == "no room")
        #expect(simulation.look().decision == .run)
        simulation.schedule.begin(simulation.clocks, isRequested: true)
        simulation.schedule.stopped(isRequested: true)
        #expect(simulation.schedule.record?.attempts == 0)
        // Nor does it shorten the pause of one that was.
        simulation.schedule.begin(simulation.clocks)
        simulation.schedule.failed("no room", simulation.clocks)
        simulation.schedule.begin(simulation.clocks, isRequested: true)
        simulation.schedule.failed("no room", simulation.clocks, isRequested: true)
        #expect(simulation.look().decision == .wait(.retry) && simulation.schedule.record?.attempts == 1)
    }

    @Test func off() {
        var simulation = Simulation(nil) { $0.intervalSeconds = 0 }
        #expect(simulation.look() == .init(decision: .wait(.off)))
        #expect(simulation.schedule.record == nil)
        #expect(simulation.schedule.nextDue(simulation.clocks) == nil)
        // Asked for by hand.
        simulation.schedule.begin(simulation.clocks)
        simulation.schedule.succeeded(.init(at: noon, durationMilliseconds: 1, bytesFreed: 2), simulation.clocks)
        #expect(simulation.schedule.record?.base == noon)
        #expect(simulation.look().decision == .wait(.off))
    }

    /// Looks are never further apart than a minute, never so close that an idle daemon does not sleep, and never so far
    /// that the moment is missed by more than a second.
    @Test func looksAreBounded() {
        var generator = SeededGenerator(state: 7)
        for _ in 0..<300 {
            let interval = Int64.random(in: 1...(20 * day), using: &generator)
            let ago = Int64.random(in: -day...(30 * day), using: &generator)
            var simulation = Simulation(MaintenanceRecord(base: noon - ago)) {
                $0.intervalSeconds = interval
                $0.window = MaintenanceWindow("daily 02:00-04:30")!
            }
            for _ in 0..<200 {
                let look = simulation.look()
                let milliseconds = look.lookAgainMilliseconds!
                #expect((200...60_000).contains(milliseconds))
                if case .wait = look.decision {
                    // One second before it looks again, nothing was missed.
                    var before = simulation
                    before.pass(max(0, milliseconds / 1000 - 1))
                    #expect(before.look().decision != .run || milliseconds <= 1000)
                }
                simulation.pass(max(1, milliseconds / 1000))
            }
        }
    }

    /// A reload: the next look goes by it, and what was not worth it is looked at again.
    @Test func anotherConfiguration() {
        var simulation = Simulation(MaintenanceRecord(base: noon - 8 * day))
        #expect(simulation.secondsUntilRun() == 600)
        #expect(!simulation.schedule.isWorthwhile(pages: 1000, freePages: 10))
        simulation.schedule.skip(simulation.clocks)
        #expect(simulation.look().decision == .wait(.moreFreePages))
        var configuration = simulation.schedule.configuration
        configuration.minimumFreePercent = 1
        simulation.schedule.configure(configuration)
        #expect(simulation.look().decision == .run)
        configuration.intervalSeconds = 30 * day
        simulation.schedule.configure(configuration)
        #expect(simulation.look().decision == .wait(.interval))
        configuration.intervalSeconds = 0
        simulation.schedule.configure(configuration)
        #expect(simulation.look() == .init(decision: .wait(.off)))
        configuration.intervalSeconds = week
        simulation.schedule.configure(configuration)
        #expect(simulation.look().decision == .run)
    }
}
