import Scheduling
import Synchronization

/// A histogram of durations that one thread at a time adds to and any thread reads, without a lock.
///
/// `@unchecked Sendable`: the words are atomics, allocated in `init` and freed in `deinit`.
package final class AtomicHistogram: @unchecked Sendable {
    /// A pointer, because an array cannot hold atomics.
    private let words: UnsafeMutablePointer<Atomic<Int>>
    private static let sumWord = Histogram.durationBuckets

    /// Nothing has been observed.
    package init() {
        words = .allocate(capacity: Self.sumWord + 1)
        for index in 0...Self.sumWord { (words + index).initialize(to: Atomic(0)) }
    }

    deinit {
        words.deinitialize(count: Self.sumWord + 1)
        words.deallocate()
    }

    /// Counts a duration; one below 0 is counted as 0.
    package func observe(nanoseconds: Int64) {
        let value = Int(max(0, nanoseconds))
        words[Histogram.durationBucket(value)].wrappingAdd(1, ordering: .relaxed)
        words[Self.sumWord].wrappingAdd(value, ordering: .relaxed)
    }

    /// What was observed. Words that change meanwhile may be of different moments.
    package var values: Histogram {
        Histogram(
            bounds: Histogram.durationBounds, counts: (0..<Self.sumWord).map { words[$0].load(ordering: .relaxed) },
            sum: words[Self.sumWord].load(ordering: .relaxed))
    }
}
