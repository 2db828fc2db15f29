import CLinux
import Glibc
import Pool
import Scheduling
import Synchronization

/// Whether the threads that poll are stuck.
///
/// While events are quick, few threads poll, and one that blocks without having said so (a large value is read from a slow
/// disk inside one step of SQLite's machine, where no progress handler runs) would keep everybody waiting. So each notes
/// when it began its event, and one thread of the reserve looks at the notes now and then, as long as anything happens at
/// all: an idle daemon wakes nobody.
final class Watch: Sendable {
    enum Finding: Equatable {
        case nothingHappens, allIsWell
        /// So many more threads than at the last look: others must poll in their place. It may be none: one that came back
        /// just when it was found to be stuck is stuck anew.
        case stuck(Int)
    }

    /// How often the watcher looks, and after how long a thread is stuck.
    static let intervalNanoseconds: Int64 = 2_000_000
    /// A thread that says that it waits for the disk is stuck so much later. Another one polls meanwhile, but half a window after it was
    /// called it may go back to the reserve (`PollerCensus`).
    static let announcedNanoseconds = PollerCensus.windowNanoseconds / 2 - intervalNanoseconds
    /// So many looks at which nothing had happened since the last, and the watcher sleeps until something does.
    private static let quietLooks = 25
    /// While others are at long work, it looks again after as long.
    static let quietNanoseconds = Int64(quietLooks) * intervalNanoseconds

    /// What one thread notes.
    final class Note: Sendable {
        /// When the event began that it is at, in nanoseconds, or until when it is not to be looked at; 0 while it waits for one.
        let began = Atomic<Int64>(0)
        let events = Atomic<Int>(0)
        let socketMark = SocketWait.Mark()
        /// The watcher has had another thread poll in its place: when it is done it joins anew.
        let isReplaced = Atomic<Bool>(false)
        /// The events its thread comes to next.
        let batch = EventBatch()
        /// Sessions whose replies it has not sent yet.
        let replies = EventBatch()
        /// Who got what they waited for from something it did: it runs them next.
        let resumptions = Resumptions()
        /// The thread, as pthread_self(3) and as the kernel have it; 0 before it has started.
        let thread = Atomic<UInt>(0)
        let threadNumber = Atomic<Int32>(0)

        deinit { socketMark.deallocate() }

        /// It may be kept by a socket.
        func interrupt() {
            let thread = thread.load(ordering: .acquiring)
            if thread != 0 { SocketWait.interrupt(thread) }
        }

        /// Taken from its thread for others to run.
        func resumptionsForOthers() -> [Resumption] { resumptions.takeAll { !$0.comesAfterReplies } }

        /// For assertions: whatever is a worker's is touched by its thread. Or by any, where a test takes the steps of one.
        var isOfCallingThread: Bool {
            let thread = thread.load(ordering: .relaxed)
            return thread == 0 || thread == UInt(pthread_self())
        }

        /// The calling thread starts.
        func isOfThisThread() {
            threadNumber.store(walpool_thread_number(), ordering: .relaxed)
            thread.store(UInt(pthread_self()), ordering: .releasing)
        }
    }

    /// Events that were begun so far.
    var eventCount: Int { notes.reduce(0) { $0 &+ $1.events.load(ordering: .relaxed) } }

    /// How long a thread of the crew has been on a processor so far; nil when it is none of the crew's.
    func processorNanoseconds(ofThread thread: UInt) -> Int64? {
        guard let note = notes.first(where: { $0.thread.load(ordering: .acquiring) == thread }) else { return nil }
        return ProcessorTime.nanoseconds(ofThread: note.threadNumber.load(ordering: .relaxed))
    }

    private let notes: [Note]
    private let nextNote = Atomic<Int>(0)
    private let lastSum = Atomic<Int>(0)
    private let quiet = Atomic<Int>(0)
    /// Nobody looks, because nothing happened.
    let isAsleep = Atomic<Bool>(false)

    init(threads: Int) { notes = (0..<threads).map { _ in Note() } }

    /// A note of the calling thread's own. For each thread of the crew, of which there are no more than `init` was told.
    func newNote() -> Note {
        let index = nextNote.wrappingAdd(1, ordering: .relaxed).oldValue
        precondition(index < notes.count, "more threads of the crew than were announced")
        return notes[index]
    }

    /// Each side writes its own word before it reads the other's: either a thread that begins an event sees that the
    /// watcher sleeps, or this sees the event.
    private func fallsAsleep(_ sum: Int) -> Bool {
        isAsleep.store(true, ordering: .sequentiallyConsistent)
        var now = 0
        for note in notes { now &+= note.events.load(ordering: .sequentiallyConsistent) }
        if now == sum { return true }
        isAsleep.store(false, ordering: .relaxed)
        return false
    }

    /// Where nobody may be looking: the watcher sleeps, or has ended.
    func interruptThoseAtSockets() {
        for note in notes where note.socketMark.isSet { note.interrupt() }
    }

    /// What stuck threads were told and do not come to.
    func takeEventsOfStuckThreads() -> [Poller.Event] {
        notes.filter { $0.isReplaced.load(ordering: .relaxed) }.flatMap { $0.replies.takeOver() + $0.batch.takeOver() }
    }

    /// What stuck threads have freed for others and do not come to, the writer among it.
    ///
    /// - Parameter ofAll: nobody watches any more. A thread that enqueues one looks afterwards whether anybody does, and whoever has watched
    ///   looks here afterwards: one of the two sees the other.
    func takeResumptions(ofAll: Bool = false) -> [Resumption] {
        notes.filter { ofAll || $0.isReplaced.load(ordering: .relaxed) }.flatMap { $0.resumptionsForOthers() }
    }

    /// How many are not stuck after all: they came back, or said that they will be long, just as they were found, or were so between two
    /// events and had none to take their mark away at. Behind each look, which is to count those that it found less these.
    func takeBack() -> Int {
        notes.count { $0.began.load(ordering: .relaxed) == 0 && $0.isReplaced.exchange(false, ordering: .sequentiallyConsistent) }
    }

    /// One look; only one thread at a time does so.
    func look(now: Instant) -> Finding {
        var sum = 0
        var newlyStuck = 0
        var isAnyStuck = false
        var isBusy = false
        for note in notes {
            sum &+= note.events.load(ordering: .relaxed)
            let began = note.began.load(ordering: .relaxed)
            // Who has said that it will be long may be kept by a socket too, and then nobody knows since when.
            let isAtSocket = note.socketMark.isSet
            guard began != 0 || isAtSocket else { continue }
            isBusy = true
            let isLate = now.nanoseconds &- began > Self.intervalNanoseconds
            if isAtSocket, isLate { note.interrupt() }
            guard began != 0, isLate else { continue }
            isAnyStuck = true
            if !note.isReplaced.exchange(true, ordering: .sequentiallyConsistent) { newlyStuck += 1 }
        }
        if sum == lastSum.exchange(sum, ordering: .relaxed), !isBusy {
            let looks = quiet.wrappingAdd(1, ordering: .relaxed).newValue
            if looks >= Self.quietLooks, fallsAsleep(sum) { return .nothingHappens }
        } else {
            quiet.store(0, ordering: .relaxed)
            isAsleep.store(false, ordering: .relaxed)
        }
        return isAnyStuck ? .stuck(newlyStuck) : .allIsWell
    }
}
