import SQLite
import Scheduling
import Synchronization

/// The limits that can be changed while the pool works and are looked at without its lock.
///
/// Each is a word that is read as it is: whoever uses one takes what it is at that moment.
final class ChangeableLimits: Sendable {
    let groupMilliseconds: Atomic<Int64>
    let gateMilliseconds: Atomic<Int64>
    let walLimitBytes: Atomic<Int>
    private let checkpointFrames: Atomic<Int>
    let analyzesAlways: Atomic<Bool>

    init(_ limits: PoolLimits) {
        groupMilliseconds = Atomic(limits.groupMilliseconds)
        gateMilliseconds = Atomic(limits.gateMilliseconds)
        walLimitBytes = Atomic(limits.walLimitBytes)
        checkpointFrames = Atomic(limits.checkpointFrames)
        analyzesAlways = Atomic(limits.analyzesAlways)
    }

    func set(_ limits: PoolLimits) {
        groupMilliseconds.store(limits.groupMilliseconds, ordering: .relaxed)
        gateMilliseconds.store(limits.gateMilliseconds, ordering: .relaxed)
        walLimitBytes.store(limits.walLimitBytes, ordering: .relaxed)
        checkpointFrames.store(limits.checkpointFrames, ordering: .relaxed)
        analyzesAlways.store(limits.analyzesAlways, ordering: .relaxed)
    }

    /// How many frames make a checkpoint due.
    func softFrames(pageBytes: Int) -> Int {
        var limits = PoolLimits()
        limits.checkpointFrames = checkpointFrames.load(ordering: .relaxed)
        limits.walLimitBytes = walLimitBytes.load(ordering: .relaxed)
        return limits.checkpointPolicy(pageBytes: pageBytes).softFrames
    }
}

extension Pool {
    /// Takes over the limits that can be changed while the pool works. The others (`readers`, `durability`,
    /// `statementsPerConnection`) stay what they were: connections have been opened for them.
    package func apply(_ limits: PoolLimits) {
        changeable.set(limits)
        let policy = limits.checkpointPolicy(pageBytes: frameBytes - WALFile.frameHeaderBytes)
        let due = state.withLock { state in
            state.writerQueue.groupLimit = limits.groupMembers
            state.writerQueue.holderIdleLimitMilliseconds = limits.writerIdleMilliseconds
            state.readerQueue.userIdleLimitMilliseconds = limits.writerIdleMilliseconds
            state.policy.setLimits(of: policy)
            return min(state.writerQueue.nextDeadline, state.readerQueue.nextLook(among: [], now: MonotonicClock.now))
        }
        // A holder may have been idle for longer than it is now allowed to be.
        announce(due)
        announce(maintenance.configure(limits.maintenance))
    }

    /// How long a holder of the writer, or the user of a reader, may be idle while somebody waits.
    package var writerIdleMilliseconds: Int64 { state.withLock { $0.writerQueue.holderIdleLimitMilliseconds } }
}
