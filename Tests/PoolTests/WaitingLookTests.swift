import Testing

@testable import Pool
@testable import Scheduling

/// Whether those who wait are still there is looked at once a second, and only of those who have waited for so long.
@Suite struct WaitingLookTests {
    private let second = PoolLimits.waitingLookMilliseconds

    @Test func thoseWhoHaveWaitedForASecond() throws {
        let test = try TestPool { $0.readers = 1 }
        let pool = test.pool
        let clients = (1...5).map { _ in test.member() }
        let before = MonotonicClock.now
        #expect(pool.requestWriter(clients[0], .transaction, deadline: .distantFuture).picture == "granted")
        #expect(pool.requestReader(clients[0], deadline: .distantFuture).picture == "granted")
        #expect(test.observer.announced.isEmpty)
        #expect(pool.requestWriter(clients[1], .member, deadline: .distantFuture).picture == "parked")
        #expect(pool.requestReader(clients[2], deadline: .distantFuture).picture == "parked")
        let after = MonotonicClock.now
        let announced = try #require(test.observer.announced.first)
        #expect(announced >= before.advanced(byMilliseconds: second) && announced <= after.advanced(byMilliseconds: second))

        #expect(pool.takeDue(now: before.advanced(byMilliseconds: second - 1)).waiting.isEmpty)
        // The first look comes when the first of them has waited for so long.
        let due = pool.takeDue(now: after.advanced(byMilliseconds: second))
        #expect(due.waiting.map(\.clientID) == [2, 3])
        #expect(due.next == after.advanced(byMilliseconds: 2 * second))
        #expect(pool.takeDue(now: after.advanced(byMilliseconds: 2 * second - 1)).waiting.isEmpty)
        #expect(pool.withdraw(2))
        #expect(pool.takeDue(now: after.advanced(byMilliseconds: 2 * second)).waiting.map(\.clientID) == [3])
    }

    @Test func notThoseWhoCameJustNow() throws {
        let test = try TestPool()
        let pool = test.pool
        let clients = (1...2).map { _ in test.member() }
        #expect(pool.requestWriter(clients[0], .transaction, deadline: .distantFuture).picture == "granted")
        #expect(pool.requestWriter(clients[1], .member, deadline: .distantFuture).picture == "parked")
        let came = MonotonicClock.now
        let look = pool.state.withLock { state in
            state.waitingLook = came.advanced(byMilliseconds: 10)
            return state.waitingLook
        }
        let due = pool.takeDue(now: look)
        #expect(due.waiting.isEmpty && due.next == look.advanced(byMilliseconds: second))
    }

    /// When nobody waits any more there is no look, until somebody does.
    @Test func nobodyWaits() throws {
        let test = try TestPool()
        let pool = test.pool
        let clients = (1...2).map { _ in test.member() }
        #expect(pool.requestWriter(clients[0], .transaction, deadline: .distantFuture).picture == "granted")
        #expect(pool.requestWriter(clients[1], .member, deadline: .distantFuture).picture == "parked")
        #expect(pool.withdraw(2))
        let due = pool.takeDue(now: MonotonicClock.now.advanced(byMilliseconds: 2 * second))
        #expect(due.waiting.isEmpty && due.next == .distantFuture)
        let before = test.observer.announced.count
        #expect(pool.requestWriter(clients[1], .member, deadline: .distantFuture).picture == "parked")
        #expect(test.observer.announced.count == before + 1)
    }
}
