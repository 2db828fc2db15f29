import Testing

@testable import Pool
@testable import SQLite
@testable import Scheduling

/// Limits that are changed while the pool works.
@Suite struct PoolLimitsTests {
    @Test("A shorter idle limit reaches the holder there is, and the timer hears of it")
    func idleHolder() throws {
        let test = try TestPool { $0.writerIdleMilliseconds = 0 }
        let holder = test.member(), waiter = test.member()
        #expect(test.pool.requestWriter(holder, .transaction, deadline: .distantFuture).value != nil)
        test.pool.holderBecameIdle(holder)
        #expect(test.pool.requestWriter(waiter, .member, deadline: .distantFuture).value == nil)
        let before = test.observer.announced.count
        var limits = PoolLimits()
        limits.writerIdleMilliseconds = 60_000
        test.pool.apply(limits)
        let announced = test.observer.announced.dropFirst(before).filter { $0 < .distantFuture }
        let inAMinute = MonotonicClock.now.advanced(byMilliseconds: 60_000)
        #expect(announced.contains { $0 <= inAMinute && $0 > inAMinute.advanced(byMilliseconds: -60_000) })
        #expect(test.pool.writerIdleMilliseconds == 60_000)
        #expect(test.pool.takeDue(now: inAMinute).toEvict == holder.clientID)
        test.pool.apply(PoolLimits())
    }

    @Test("A lower limit makes a checkpoint due that was not, and a higher one puts it off")
    func checkpoints() throws {
        let test = try TestPool { $0.checkpointFrames = 10_000_000 }
        func write() -> Resumption? {
            let member = test.member("INSERT INTO t(v) VALUES (randomblob(20000))")
            guard test.pool.requestWriter(member, .member, deadline: .distantFuture).value != nil else { return nil }
            _ = test.pool.commitGroup([member])
            return test.pool.releaseWriter()
        }
        #expect(write() == nil)
        var limits = PoolLimits()
        limits.checkpointFrames = 2
        test.pool.apply(limits)
        guard case .job(.checkpoint) = write() else {
            Issue.record("no checkpoint")
            return
        }
        _ = test.pool.run(.checkpoint)
        #expect(test.pool.releaseWriter() == nil)
        limits.checkpointFrames = 10_000
        limits.walLimitBytes = 1 << 30
        test.pool.apply(limits)
        #expect(write() == nil)
        #expect(test.pool.walStatus.limitBytes == 1 << 30)
    }

    @Test("A new schedule for VACUUM is looked at once")
    func maintenance() throws {
        let test = try TestPool()
        _ = test.pool.lookAtMaintenance(now: MonotonicClock.now) {}
        #expect(test.pool.nextMaintenanceLook > MonotonicClock.now)
        var limits = PoolLimits()
        limits.maintenance.intervalSeconds = 0
        test.pool.apply(limits)
        #expect(test.pool.nextMaintenanceLook <= MonotonicClock.now)
        _ = test.pool.lookAtMaintenance(now: MonotonicClock.now) {}
        #expect(test.pool.maintenanceStatus.activity == .waiting(.off))
        #expect(test.pool.nextMaintenanceLook == .distantFuture)
        // The same again is nothing new.
        test.pool.apply(limits)
        #expect(test.pool.nextMaintenanceLook == .distantFuture)
    }

    @Test("What connections were opened for stays")
    func fixed() throws {
        let test = try TestPool { $0.readers = 2 }
        var limits = PoolLimits()
        limits.readers = 7
        limits.durability = .normal
        test.pool.apply(limits)
        #expect(test.pool.limits.readers == 2 && test.pool.preparingIndex == 2 && test.pool.slots.count == 3)
        #expect(test.pool.writer.connection.settingsSynchronous == "2")
    }
}

extension Connection {
    fileprivate var settingsSynchronous: String? { try? rows("PRAGMA synchronous").first?.first }
}
