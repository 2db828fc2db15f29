/// How many chances are passed over after an attempt that was in vain: twice as many each time, until one succeeds.
///
/// A pure value: it counts chances, not time.
struct Backoff: Sendable {
    /// The most that are passed over at once; then it is tried again, in case something has changed. In vain each time, that costs a
    /// sixty-fifth of the attempts.
    static let most = 64

    private var length = 0
    private var left = 0

    /// The next chance is to be passed over.
    @inline(__always)
    var passesOver: Bool { left > 0 }

    /// A chance has been passed over.
    @inline(__always)
    mutating func passedOver() { left &-= 1 }

    @inline(__always)
    mutating func failed() {
        length = min(max(1, length &* 2), Self.most)
        left = length
    }

    @inline(__always)
    mutating func succeeded() { length = 0 }
}
