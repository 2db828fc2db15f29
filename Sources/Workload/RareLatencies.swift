/// Latencies of which there are few, or which are counted in large numbers at once: not worth the memory of `LatencyCounts`, in which
/// every place has its count.
struct RareLatencies {
    private var counts: [UInt32: UInt64] = [:]
    private var highestNanoseconds: Int64 = 0

    var isEmpty: Bool { counts.isEmpty }

    mutating func record(nanoseconds: Int64, times: Int = 1) {
        highestNanoseconds = max(highestNanoseconds, nanoseconds)
        counts[UInt32(LatencyCounts.index(nanoseconds: nanoseconds)), default: 0] += UInt64(times)
    }

    /// Nobody can start a transaction in each nanosecond, but a rate may ask for it. A group of neighbours counts as so many of
    /// the one in its middle: a thousand groups are as fine as the steps of the histogram.
    static let mostGroups = 1000

    /// - Parameter waited: how long each has, by its number.
    mutating func record(_ numbers: Range<Int>, waited: (Int) -> Int64) {
        let size = max(1, (numbers.count + Self.mostGroups - 1) / Self.mostGroups)
        for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: size) {
            let count = min(size, numbers.upperBound - first)
            record(nanoseconds: waited(first + count / 2), times: count)
        }
    }

    /// What was recorded since the last time.
    mutating func take() -> TallyContents.Latencies {
        defer { self = RareLatencies() }
        let entries = counts.sorted { $0.key < $1.key }.map { SparseCounts.Entry(index: $0.key, count: $0.value) }
        return .init(counts: SparseCounts(entries: entries), highestNanoseconds: highestNanoseconds)
    }
}
