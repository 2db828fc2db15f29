import Glibc
import Synchronization

/// Which thread is at something that one at a time may do, and how often that has changed: for whoever asks from outside
/// whether it gets on.
///
/// Only who has the turn calls `begins` and `ends`, so nothing is added to atomically; others look.
package final class ThreadAtWork: Sendable {
    private let changes = Atomic<Int>(0)
    /// As pthread_self(3) gives it; 0 while no thread is.
    private let thread = Atomic<UInt>(0)

    func begins() { change(to: UInt(pthread_self())) }

    /// Call it before the next one can get the turn.
    func ends() { change(to: 0) }

    @inline(__always)
    private func change(to new: UInt) {
        changes.store(changes.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        thread.store(new, ordering: .relaxed)
    }

    /// The thread is for comparing only: it may have ended.
    package var now: (changes: Int, thread: UInt?) {
        let thread = thread.load(ordering: .relaxed)
        return (changes.load(ordering: .relaxed), thread == 0 ? nil : thread)
    }
}

extension Pool {
    /// What is done with the writer now, and with the sync beside it.
    package struct Work: Sendable {
        /// Whether anything runs on it, and whether that is a job of the daemon's own.
        package enum Writer: Sendable { case resting, active, job }
        package var writer: Writer
        /// Which thread is at it, nil: none; and how often that has changed.
        package var atWriter: (changes: Int, thread: UInt?)
        package var atSync: (changes: Int, thread: UInt?)
    }

    /// As it is now. Takes the lock.
    package var work: Work {
        let writer: Work.Writer = state.withLock { state in
            switch state.writerQueue.holder {
            // Its client's next message is waited for.
            case .nobody, .transaction(_, _, .some): .resting
            case .group, .transaction(_, _, nil): .active
            case .job: .job
            }
        }
        return Work(writer: writer, atWriter: atWriter.now, atSync: atSync.now)
    }
}
