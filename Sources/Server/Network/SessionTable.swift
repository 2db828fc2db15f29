import Glibc
import POSIX
import Synchronization

/// Every session by its slot, so that an event's number finds it without a lock; and by its process ID, for cancels.
///
/// A slot's word says which session it holds (a generation) and whether a thread owns it. Owning is what gives a
/// thread the right to touch the session: a worker takes it when the socket's event comes, the timer when a deadline
/// does. An event of a session that is gone meets another generation and is dropped.
///
/// `@unchecked Sendable`: a slot's session is touched only by the thread that owns its word.
final class SessionTable: @unchecked Sendable {
    /// Structs in an allocation that lives as long as this: an object would be retained and released at each event.
    private let slots: UnsafeMutablePointer<Slot>
    let capacity: Int
    private let state: Locked<State>

    private struct State {
        var free: [Int]
        var byProcessID: [Int32: Session] = [:]
        var nextProcessID: Int32 = 1
    }

    private struct Slot: ~Copyable {
        let word = Atomic<UInt64>(0)
        var session: Session?
    }

    /// A handle of one slot. Its word is read while another thread sets the session beside it, so the two are only ever reached one by
    /// one, and the slot is never read or written as a whole.
    private struct Place {
        let slot: UnsafeMutablePointer<Slot>

        var word: UInt64 { slot.pointee.word.load(ordering: .relaxed) }

        @inline(__always)
        func exchange(_ expected: UInt64, for desired: UInt64) -> (exchanged: Bool, original: UInt64) {
            slot.pointee.word.compareExchange(expected: expected, desired: desired, ordering: .acquiringAndReleasing)
        }

        /// Puts another session there, or none, by a word of another generation, owned by the calling thread.
        func put(_ session: Session?, _ generation: UInt64) {
            slot.pointee.session = session
            slot.pointee.word.store(generation << Bit.generationShift | Bit.owned, ordering: .releasing)
        }

        /// - Parameter mark: what to note when another thread owns it.
        func own(_ generation: UInt64, from seen: UInt64, orNote mark: UInt64) -> Session? {
            var word = seen
            while word >> Bit.generationShift == generation {
                let isFree = word & Bit.owned == 0
                let (exchanged, original) = exchange(word, for: word | (isFree ? Bit.owned : mark))
                if exchanged { return isFree ? slot.pointee.session : nil }
                word = original
            }
            return nil
        }

        /// For a word that more than owning is noted in.
        func disownUnlessNotified(from seen: UInt64) -> Bool {
            var word = seen
            while word & Bit.notified == 0 {
                let (exchanged, original) = exchange(word, for: word & ~Bit.owned)
                if exchanged { return true }
                word = original
            }
            return false
        }

        /// Returns the word as it was.
        func clear(_ bits: UInt64, adding added: UInt64 = 0) -> UInt64 {
            var word = word
            while true {
                let (exchanged, original) = exchange(word, for: word & ~bits | added)
                if exchanged { return word }
                word = original
            }
        }
    }

    init(capacity: Int) {
        self.capacity = capacity
        slots = .allocate(capacity: capacity)
        for index in 0..<capacity { (slots + index).initialize(to: Slot()) }
        state = Locked(State(free: Array((0..<capacity).reversed())))
    }

    deinit {
        slots.deinitialize(count: capacity)
        slots.deallocate()
    }

    /// A number that came with an event is one that was given to a session.
    @inline(__always)
    private func place(_ index: Int) -> Place {
        precondition(index >= 0 && index < capacity, "there is no such place for a session")
        return Place(slot: slots + index)
    }

    var count: Int { state.withLock { $0.byProcessID.count } }
    var sessions: [Session] { state.withLock { Array($0.byProcessID.values) } }

    func session(processID: Int32) -> Session? { state.withLock { $0.byProcessID[processID] } }

    /// A word: 32 bits of generation, as many as an event's token has room for, then these.
    private enum Bit {
        static let owned: UInt64 = 1
        /// Owned, and an event has come since: its owner sees to it, or has it announced again, when it lets go of the session.
        static let notified: UInt64 = 2
        /// Owned, and an event has come since that says that the other side has hung up.
        static let hungUp: UInt64 = 4
        /// Its socket is being armed by a thread that does not own it any more. The thread that receives the event may own it and
        /// go on, but not close the socket before: its number could be given to another connection and be armed instead.
        static let arming: UInt64 = 8
        static let generationShift: UInt64 = 4
    }
    private static let generationMask: UInt64 = 0xFFFF_FFFF

    /// A slot for a new session, which the calling thread owns; nil when all are taken.
    func add(_ make: (_ slot: Int, _ generation: UInt64, _ processID: Int32) -> Session) -> Session? {
        let given = state.withLock { state -> (Int, Int32)? in
            guard let index = state.free.popLast() else { return nil }
            repeat {
                state.nextProcessID = state.nextProcessID == .max ? 1 : state.nextProcessID + 1
            } while state.byProcessID[state.nextProcessID] != nil
            return (index, state.nextProcessID)
        }
        guard let (index, processID) = given else { return nil }
        let place = place(index)
        let generation = ((place.word >> Bit.generationShift) &+ 1) & Self.generationMask
        let session = make(index, generation, processID)
        place.put(session, generation)
        state.withLock { $0.byProcessID[processID] = session }
        return session
    }

    /// Forgets a session the calling thread owns, whose socket nobody arms any more.
    func remove(_ session: Session) {
        place(session.slot).put(nil, (session.generation &+ 1) & Self.generationMask)
        state.withLock {
            $0.byProcessID[session.processID] = nil
            $0.free.append(session.slot)
        }
    }

    /// The session whose event this is, now owned by the calling thread; nil when it is gone, or when another thread owns
    /// it, which is then told that there was an event.
    @inline(__always)
    func ownAtEvent(_ event: Poller.Event) -> Session? {
        let token = event.token
        let generation = token & Self.generationMask
        let place = place(Int(token >> 32))
        let free = generation << Bit.generationShift
        let (exchanged, original) = place.exchange(free, for: free | Bit.owned)
        if exchanged { return place.slot.pointee.session }
        return place.own(generation, from: original, orNote: event.isHungUp ? Bit.notified | Bit.hungUp : Bit.notified)
    }

    /// The session of an event whose word says that the thread owns it already (`Event.isOwned`).
    @inline(__always)
    func session(ownedBy event: Poller.Event) -> Session {
        guard let session = place(Int(event.token >> 32)).slot.pointee.session else {
            preconditionFailure("a session that is owned is in its place")
        }
        return session
    }

    /// The session of this slot and generation, now owned by the calling thread; nil when it is gone or owned.
    func own(slot index: Int, generation: UInt64) -> Session? {
        let place = place(index)
        return place.own(generation, from: place.word, orNote: 0)
    }

    /// The calling thread is done with the session, whose next event will come by itself. If one has come meanwhile, it is
    /// returned and is the caller's to see to: nobody else hears of it again.
    func disown(_ session: Session) -> Poller.Event? {
        let token = session.token
        let bits = place(session.slot).clear(Bit.owned | Bit.notified | Bit.hungUp)
        guard bits & Bit.notified != 0 else { return nil }
        return Poller.Event(token: token, isHungUp: bits & Bit.hungUp != 0)
    }

    /// The calling thread is done with the session, whose next event will come by itself. False, and it is still owned, when one
    /// has come meanwhile.
    @inline(__always)
    func disownIfQuiet(_ session: Session) -> Bool {
        let place = place(session.slot)
        let generation = session.generation << Bit.generationShift
        let (exchanged, original) = place.exchange(generation | Bit.owned, for: generation)
        return exchanged || place.disownUnlessNotified(from: original)
    }

    /// The calling thread is done with the session; `arm` arms its socket, which announces what is there by then.
    func disown(_ session: Session, arm: () -> Void) {
        let place = place(session.slot)
        waitUntilArmed(session)
        _ = place.clear(Bit.owned | Bit.notified | Bit.hungUp, adding: Bit.arming)
        arm()
        _ = place.clear(Bit.arming)
    }

    /// The calling thread, which owns the session, is going to close or arm its socket. It hardly ever waits: for one that
    /// has lost the processor while it armed it.
    func waitUntilArmed(_ session: Session) {
        while place(session.slot).slot.pointee.word.load(ordering: .acquiring) & Bit.arming != 0 { sched_yield() }
    }
}
