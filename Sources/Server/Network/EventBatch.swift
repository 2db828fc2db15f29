import CLinux
import Synchronization

/// What a thread was told by one `epoll_wait` and has not come to yet; and the sessions whose replies it has not sent yet.
///
/// Where few threads poll, each takes several at a time (`Crew.eventsAtOnce`): a system call for each was 8 % of what a point SELECT
/// costs. But nobody else is told of these events. So when their thread is about to be long, blocks, or is found
/// to be stuck, they are announced again for the others. A stuck thread cannot do that itself: so whoever takes an event
/// does it by an atomic exchange, and only one of the two gets it.
///
/// `@unchecked Sendable`: `next` and `count` are only the owning thread's, the words are atomic.
final class EventBatch: @unchecked Sendable {
    static let capacity = 64
    /// Of one `epoll_wait`.
    static let eventsAtOnce = Int(WALPOOL_EVENTS_AT_ONCE)

    /// Of an allocation of its own, which lives as long as this.
    private let words = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: capacity)
    private var next = 0
    private var count = 0
    /// No event has this word: there are not so many places for sessions.
    private static let none = UInt64.max >> 1

    init() {
        for index in 0..<Self.capacity { (words + index).initialize(to: Atomic(Self.none)) }
    }

    deinit {
        words.deinitialize(count: Self.capacity)
        words.deallocate()
    }

    /// While others poll, so many of those that came while their thread was at the session: they are handled in some 25 µs.
    static let mostBesideOthers = 8

    /// Whether `add` has room.
    @inline(__always)
    var hasRoom: Bool { count < Self.capacity }

    /// Events the owner has not come to, or that were taken over.
    @inline(__always)
    var pending: Int { count - next }

    /// The places of those the owner has not come to.
    @inline(__always)
    var pendingPlaces: Range<Int> { next..<count }

    /// The owner puts another one in the place of one it has taken from there.
    @inline(__always)
    func put(_ event: Poller.Event, at place: Int) { words[place].store(event.word, ordering: .releasing) }

    /// The owner has come to all of them.
    @inline(__always)
    func removeAll() {
        next = 0
        count = 0
    }

    /// The owner comes to this one after the others.
    func add(_ event: Poller.Event) {
        words[count].store(event.word, ordering: .releasing)
        count += 1
    }

    /// The owner is going to come to these later; there must be none left of before.
    func keep(_ events: UnsafeMutableBufferPointer<UInt64>.SubSequence) {
        for (index, event) in events.enumerated() { words[index].store(event, ordering: .releasing) }
        next = 0
        count = events.count
    }

    /// The owner's next event.
    @inline(__always)
    func take() -> Poller.Event? { next < count ? takeKept() : nil }

    private func takeKept() -> Poller.Event? {
        while next < count {
            next += 1
            if let event = take(at: next - 1) { return event }
        }
        return nil
    }

    /// nil: another thread has it.
    @inline(__always)
    func take(at index: Int) -> Poller.Event? {
        let word = words[index].exchange(Self.none, ordering: .acquiringAndReleasing)
        return word == Self.none ? nil : Poller.Event(word: word)
    }

    /// All that are left, for any thread.
    func takeOver() -> [Poller.Event] { (0..<Self.capacity).compactMap(take(at:)) }
}
