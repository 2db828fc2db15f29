import Histogram

/// How often each latency was seen: HdrHistogram's layout of counts for microseconds with three digits, up to an hour.
///
/// The package's own histogram keeps its counts to itself, and what is written to a log is a run of exactly them. So they
/// are counted here, and figures come from the package, which is given the counts when the run is over.
///
/// A class of one thread, not Sendable. The counts are memory of its own, so that counting is one addition: an array would
/// be checked for other owners each time.
final class LatencyCounts {
    /// "it must maintain single unit resolution to 2x 10^digits": 2,048 of them are exact, and each further doubling has
    /// 1,024. https://github.com/HdrHistogram/HdrHistogram
    static let halfBucketBits = 10
    static let halfBucket = 1 << halfBucketBits
    static let highestMicroseconds: UInt64 = 3_600_000_000
    static let significantDigits = 3
    static let count = index(of: highestMicroseconds) + 1

    private let counts: UnsafeMutablePointer<UInt32>
    /// One past the highest place that was counted in, so that looking through them is short.
    private var end = 0
    private(set) var total = 0

    init() {
        counts = .allocate(capacity: Self.count)
        counts.initialize(repeating: 0, count: Self.count)
    }

    deinit { counts.deallocate() }

    @inline(__always)
    static func index(of microseconds: UInt64) -> Int {
        // Which doubling: the highest bit, where everything below 2,048 is in the first.
        let bucket = (64 - (microseconds | UInt64(2 * halfBucket - 1)).leadingZeroBitCount) - (halfBucketBits + 1)
        return (bucket << halfBucketBits) + Int(microseconds >> UInt64(bucket))
    }

    /// The lowest value that is counted at that place.
    static func value(at index: Int) -> UInt64 {
        let bucket = max(0, index >> halfBucketBits - 1)
        return UInt64(index - bucket << halfBucketBits) << UInt64(bucket)
    }

    /// Where a latency is counted: at the nearest microsecond.
    @inline(__always)
    static func index(nanoseconds: Int64) -> Int {
        index(of: min(UInt64(max(microseconds(nanoseconds), 0)), highestMicroseconds))
    }

    func record(nanoseconds: Int64) {
        let index = Self.index(nanoseconds: nanoseconds)
        counts[index] &+= 1
        total &+= 1
        if index >= end { end = index + 1 }
    }

    /// What was counted since the last time, without the places that have none.
    func take() -> SparseCounts {
        var sparse = SparseCounts()
        guard total > 0 else { return sparse }
        for index in 0..<end where counts[index] > 0 {
            sparse.entries.append(.init(index: UInt32(index), count: UInt64(counts[index])))
            counts[index] = 0
        }
        end = 0
        total = 0
        return sparse
    }
}

/// The nearest: what is always rounded down is half a microsecond too short, which is much for a read from memory.
@inline(__always)
func microseconds(_ nanoseconds: Int64) -> Int64 { (nanoseconds &+ 500) / 1000 }

/// The places that were counted in, in order.
public struct SparseCounts: Equatable, Sendable {
    /// A place of `LatencyCounts` and how often it was counted in.
    public struct Entry: Equatable, Sendable {
        let index: UInt32
        var count: UInt64
    }

    var entries: [Entry] = []

    var total: UInt64 { entries.reduce(0) { $0 + $1.count } }

    mutating func add(_ other: SparseCounts) {
        var merged: [Entry] = []
        merged.reserveCapacity(max(entries.count, other.entries.count))
        var (mine, theirs) = (entries[...], other.entries[...])
        while let first = mine.first, let second = theirs.first {
            if first.index == second.index {
                merged.append(.init(index: first.index, count: first.count + second.count))
                mine.removeFirst()
                theirs.removeFirst()
            } else if first.index < second.index {
                merged.append(mine.removeFirst())
            } else {
                merged.append(theirs.removeFirst())
            }
        }
        entries = merged + mine + theirs
    }

    /// As the package's histogram, for its figures.
    var histogram: Histogram<UInt64> {
        var histogram = Histogram<UInt64>(
            highestTrackableValue: LatencyCounts.highestMicroseconds, numberOfSignificantValueDigits: .three)
        for entry in entries { histogram.record(LatencyCounts.value(at: Int(entry.index)), count: entry.count) }
        return histogram
    }
}
