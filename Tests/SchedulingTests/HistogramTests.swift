import Testing

@testable import Scheduling

@Suite struct HistogramTests {
    @Test func bucketsAreInclusiveAndTheLastTakesTheRest() {
        var histogram = Histogram(bounds: [1, 10])
        for value in [0, 1, 2, 10, 11, 1_000] { histogram.observe(value) }
        #expect(histogram.counts == [2, 2, 2])
        #expect(histogram.count == 6 && histogram.sum == 1_024)
    }

    /// The short cut that counters use finds the bucket that the bounds say.
    @Test func durationBuckets() {
        #expect(Histogram.durations.counts.count == Histogram.durationBuckets)
        for bound in Histogram.durationBounds + [0, 1, 123_456, 3_600_000_000_000] {
            for value in [bound - 1, bound, bound + 1] where value >= 0 {
                var histogram = Histogram.durations
                histogram.observe(value)
                #expect(histogram.counts[Histogram.durationBucket(value)] == 1, "\(value)")
            }
        }
        #expect(Histogram.durationBounds == Histogram.durationBounds.sorted())
    }
}

@Suite struct WriterUsageTests {
    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
    private func milliseconds(_ histogram: Histogram) -> Int { histogram.sum / 1_000_000 }

    @Test func waitsAndHolds() {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 0)
        let grant1 = queue.request(1, .transaction, now: at(0))
        #expect(grant1 == .transaction(1))
        let grant2 = queue.request(2, .member, now: at(10))
        #expect(grant2 == nil)
        let grant3 = queue.request(3, .member, now: at(20))
        #expect(grant3 == nil)
        let grant4 = queue.request(4, .job, now: at(20))
        #expect(grant4 == nil)
        #expect(queue.usage.waits.count == 1 && queue.usage.waits.sum == 0)
        let grant5 = queue.release(now: at(50))
        #expect(grant5 == .group([2, 3]))
        #expect(milliseconds(queue.usage.transactionHolds) == 50)
        // 40 and 30; the job's wait is nobody's.
        #expect(queue.usage.waits.count == 3 && milliseconds(queue.usage.waits) == 70)
        #expect(queue.usage.groupMembers.count == 1 && queue.usage.groupMembers.sum == 2)
        let grant6 = queue.release(now: at(57))
        #expect(grant6 == .job(4))
        #expect(milliseconds(queue.usage.groupHolds) == 7 && queue.usage.waits.count == 3)
        let grant7 = queue.release(now: at(60))
        #expect(grant7 == nil)
        #expect(milliseconds(queue.usage.jobHolds) == 3)
        // Nobody had it from here on.
        let grant8 = queue.request(5, .member, now: at(100))
        #expect(grant8 == .group([5]))
        let grant9 = queue.release(now: at(101))
        #expect(grant9 == nil)
        #expect(milliseconds(queue.usage.groupHolds) == 8 && queue.usage.groupMembers.sum == 3)
    }

    @Test func whoReadsTheNumbersIsNotAmongThem() {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 0)
        let grant10 = queue.request(WriterJob.housekeeping.client, .job, now: at(0))
        #expect(grant10 != nil)
        let grant11 = queue.release(now: at(5))
        #expect(grant11 == nil)
        #expect(queue.usage.jobHolds.count == 0 && queue.usage.waits.count == 0)
    }

    @Test func whoGivesUpHasNotBeenGrantedIt() {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 0)
        _ = queue.request(1, .transaction, now: at(0))
        _ = queue.request(2, .member, now: at(1))
        let isTaken12 = queue.withdraw(2, now: ms(100))
        #expect(isTaken12)
        let grant13 = queue.release(now: at(9))
        #expect(grant13 == nil)
        #expect(queue.usage.waits.count == 1)
    }
}

@Suite struct IdleReaderTests {
    @Test func oneIdleReaderIsTakenAndTheOrderStays() {
        var queue = ReaderQueue(limit: 3)
        let indexes = [queue.take()!, queue.take()!, queue.take()!]
        for index in indexes { _ = queue.release(index) }
        #expect(queue.idleIndexes == indexes)
        for index in queue.idleIndexes {
            let isTaken14 = queue.takeIdle(index)
            #expect(isTaken14)
            let isTaken15 = queue.takeIdle(index)
            #expect(!isTaken15)
            #expect(queue.inUseCount == 1)
            let grant16 = queue.release(index)
            #expect(grant16 == nil)
        }
        #expect(queue.idleIndexes == indexes)
    }

    @Test func notBehindAClosedGate() {
        var queue = ReaderQueue(limit: 1)
        let index = queue.take()!
        _ = queue.release(index)
        queue.closeGate()
        let isTaken17 = queue.takeIdle(index)
        #expect(!isTaken17 && queue.inUseCount == 0)
    }
}
