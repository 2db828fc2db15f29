import Glibc
import Pool
import Synchronization

/// Every session by its slot, so that an event's number finds it without a lock; and by its process ID, for cancels.
///
/// A slot's word says which session it holds (a generation) and whether a thread owns it. Owning is what gives a
/// thread the right to touch the session: a worker takes it when the socket's event comes, the timer when a deadline
/// does. An event of a session that is gone meets another generation and is dropped.
final class SessionTable: Sendable {
    private let slots: [Slot]
    private let state: Locked<State>

    private struct State {
        var free: [Int]
        var byProcessID: [Int32: Session] = [:]
        var nextProcessID: Int32 = 1
    }

    /// `@unchecked Sendable`: `session` is touched only by the thread that took the word from idle to owned.
    private final class Slot: @unchecked Sendable {
        let word = Atomic<UInt64>(0)
        var session: Session?
    }

    init(capacity: Int) {
        slots = (0..<capacity).map { _ in Slot() }
        state = Locked(State(free: Array((0..<capacity).reversed())))
    }

    var capacity: Int { slots.count }
    var count: Int { state.withLock { $0.byProcessID.count } }
    var sessions: [Session] { state.withLock { Array($0.byProcessID.values) } }

    func session(processID: Int32) -> Session? { state.withLock { $0.byProcessID[processID] } }

    // A word: 32 bits of generation, as many as an event's token has room for, then two bits of ownership.
    private static let generationMask: UInt64 = 0xFFFF_FFFF
    private static let idle: UInt64 = 0
    private static let owned: UInt64 = 1
    /// Its socket is being armed: whoever receives the event waits for the moment until it is idle. Otherwise the socket
    /// could be closed, and its number given to another connection, before it is armed.
    private static let arming: UInt64 = 2
    /// Owned, and an event has come since: its owner looks at the socket before it lets go of it.
    private static let ownedAndNotified: UInt64 = 3

    /// A slot for a new session, which the calling thread owns; nil when all are taken.
    func add(_ make: (_ slot: Int, _ generation: UInt64, _ processID: Int32) -> Session) -> Session? {
        let place = state.withLock { state -> (Int, Int32)? in
            guard let index = state.free.popLast() else { return nil }
            repeat { state.nextProcessID = state.nextProcessID == .max ? 1 : state.nextProcessID + 1 }
            while state.byProcessID[state.nextProcessID] != nil
            return (index, state.nextProcessID)
        }
        guard let (index, processID) = place else { return nil }
        let slot = slots[index]
        let generation = ((slot.word.load(ordering: .relaxed) >> 2) &+ 1) & Self.generationMask
        let session = make(index, generation, processID)
        slot.session = session
        slot.word.store(generation << 2 | Self.owned, ordering: .releasing)
        state.withLock { $0.byProcessID[processID] = session }
        return session
    }

    /// Forgets a session the calling thread owns.
    func remove(_ session: Session) {
        let slot = slots[session.slot]
        slot.session = nil
        slot.word.store(((session.generation &+ 1) & Self.generationMask) << 2 | Self.owned, ordering: .releasing)
        state.withLock {
            $0.byProcessID[session.processID] = nil
            $0.free.append(session.slot)
        }
    }

    /// The session whose event this is, now owned by the calling thread; nil when it is gone, or when another thread owns
    /// it, which is then told that there was an event.
    @inline(__always)
    func ownAtEvent(slot index: Int, generation: UInt64) -> Session? {
        let slot = slots[index]
        while true {
            let (exchanged, original) = slot.word.compareExchange(
                expected: generation << 2 | Self.idle, desired: generation << 2 | Self.owned,
                ordering: .acquiringAndReleasing)
            if exchanged { return slot.session }
            switch original {
            case generation << 2 | Self.arming: sched_yield()
            case generation << 2 | Self.owned:
                if slot.word.compareExchange(
                    expected: original, desired: generation << 2 | Self.ownedAndNotified,
                    ordering: .acquiringAndReleasing).exchanged { return nil }
            default: return nil
            }
        }
    }

    /// The session of this slot and generation, now owned by the calling thread; nil when it is gone or owned.
    @inline(__always)
    func own(slot index: Int, generation: UInt64) -> Session? {
        let slot = slots[index]
        while true {
            let (exchanged, original) = slot.word.compareExchange(
                expected: generation << 2 | Self.idle, desired: generation << 2 | Self.owned,
                ordering: .acquiringAndReleasing)
            if exchanged { return slot.session }
            guard original == generation << 2 | Self.arming else { return nil }
            sched_yield()
        }
    }

    /// The calling thread is done with the session, whose next event will come by itself. False, and it is still owned,
    /// when an event has come meanwhile.
    @inline(__always)
    func disown(_ session: Session) -> Bool {
        let generation = session.generation << 2
        return slots[session.slot].word.compareExchange(
            expected: generation | Self.owned, desired: generation | Self.idle, ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// The calling thread is done with the session; `arm` arms its socket.
    @inline(__always)
    func disown(_ session: Session, arm: () -> Void) {
        let slot = slots[session.slot]
        let generation = session.generation << 2
        slot.word.store(generation | Self.arming, ordering: .releasing)
        arm()
        slot.word.store(generation | Self.idle, ordering: .releasing)
    }
}
