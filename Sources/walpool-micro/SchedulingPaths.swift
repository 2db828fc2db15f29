import Pool
import Scheduling

/// The queues alone, and what is counted.
extension MicroPath {
    static let scheduling = [
        MicroPath("writer-alone", 50_000, "WriterQueue: request and release with nobody else there") { count in
            var queue = WriterQueue(groupLimit: 128, holderIdleLimitMilliseconds: 5_000)
            var granted = 0
            for number in 0..<count {
                let now = Instant(nanoseconds: Int64(number))
                if queue.request(number & 63, .member, now: now) != nil { granted &+= 1 }
                if queue.release(now: now) != nil { granted &+= 1 }
            }
            return granted
        },
        MicroPath("writer-group", 64_000, "WriterQueue: one of 64 members queued, and granted as one group") { count in
            var queue = WriterQueue(groupLimit: 128, holderIdleLimitMilliseconds: 5_000)
            var granted = 0
            _ = queue.request(0, .transaction, now: Instant(nanoseconds: 0))
            for number in 0..<count {
                let now = Instant(nanoseconds: Int64(number))
                _ = queue.request(number & 63, .member, now: now)
                // The group's release finds nobody; the first of the next 64 would be granted at once but for this.
                guard number & 63 == 63 else { continue }
                if case .group(let members) = queue.release(now: now) { granted &+= members.count }
                _ = queue.release(now: now)
                _ = queue.request(0, .transaction, now: now)
            }
            return granted
        },
        MicroPath("reader-queue", 50_000, "ReaderQueue: one of 8 idle readers taken and given back") { count in
            var queue = ReaderQueue(limit: 8)
            var sum = 0
            for number in 0..<count {
                guard let index = queue.take() else { continue }
                sum &+= index &+ (queue.release(index) ?? number)
            }
            return sum
        },
        MicroPath("reader-queue-waiting", 50_000, "ReaderQueue: a client waits behind 8 and is granted a reader") { count in
            var queue = ReaderQueue(limit: 1)
            let index = queue.take() ?? 0
            var sum = 0
            for client in 0..<8 { queue.enqueue(client, deadline: .distantFuture) }
            for number in 0..<count {
                queue.enqueue(number, deadline: .distantFuture, now: Instant(nanoseconds: Int64(number)))
                sum &+= queue.release(index) ?? 0
            }
            return sum
        },
    ]

    static let counting = [
        MicroPath("duration-short", 200_000, "AtomicHistogram: a duration of less than 10 us") { count in
            observeDurations(count, upTo: 8_191)
        },
        MicroPath("duration-long", 200_000, "AtomicHistogram: a duration of up to 2 ms, as of a commit") { count in
            observeDurations(count, upTo: 2_097_151)
        },
    ]

    private static func observeDurations(_ count: Int, upTo mask: Int) -> Int {
        let histogram = AtomicHistogram()
        for number in 0..<count { histogram.observe(nanoseconds: Int64((number &* 0x9E37_79B9) & mask)) }
        return histogram.values.sum
    }
}
