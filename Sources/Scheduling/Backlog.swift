/// Whether the events come faster than one thread handles them.
///
/// A thread that polls alone takes up to so many events at once. That it gets all of those again and again means that it is
/// the one whom the clients wait for, and a second thread is worth the core that it takes from them: with 8 clients on 2
/// cores, whose events hardly ever come in such numbers, one thread answers more than two (see `PollerCensus`); with 64,
/// who always do, two.
///
/// A pure value, like `PollerCensus`.
public struct Backlog: Sendable {
    /// So many full batches, one after the other, are no accident.
    static let fullBatches = 16

    private var inRow = 0
    private var inWindow = 0
    private var windowBegan = Instant(nanoseconds: 0)

    /// No batch has been full yet.
    public init() {}

    /// A thread has got so many events, of `most` that it takes. True: others should know that there are more than it can handle.
    ///
    /// - Parameter isShared: two poll for that reason already, and each gets all it takes less often.
    @inline(__always)
    public mutating func took(_ events: Int, of most: Int, isShared: Bool, now: Instant) -> Bool {
        guard events >= most else {
            inRow = 0
            return false
        }
        return isShared ? isEnoughOfWindow(now) : isEnoughInRow()
    }

    private mutating func isEnoughInRow() -> Bool {
        inRow += 1
        guard inRow >= Self.fullBatches else { return false }
        inRow = 0
        return true
    }

    private mutating func isEnoughOfWindow(_ now: Instant) -> Bool {
        if now.nanoseconds &- windowBegan.nanoseconds > PollerCensus.windowNanoseconds {
            windowBegan = now
            inWindow = 0
        }
        inWindow += 1
        guard inWindow >= Self.fullBatches else { return false }
        inWindow = 0
        return true
    }
}
