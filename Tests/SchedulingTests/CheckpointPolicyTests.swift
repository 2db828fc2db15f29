import Testing

@testable import Scheduling

@Suite struct CheckpointPolicyTests {
    private static let policy = CheckpointPolicy(softFrames: 100, hardFrames: 200, emergencyFrames: 300)

    @Test(
        arguments: [
            // frames, of these copied, what is due
            (0, 0, nil), (99, 0, nil), (100, 0, .passive), (150, 51, nil), (199, 0, .passive),
            // From here on what counts is the room the WAL takes, copied or not.
            (200, 0, .truncate), (200, 200, .truncate), (299, 250, .truncate), (300, 0, .gate), (300, 300, .gate),
            (100_000, 0, .gate),
        ] as [(Int, Int, CheckpointPolicy.Mode?)])
    func due(_ frames: Int, _ copied: Int, _ mode: CheckpointPolicy.Mode?) {
        #expect(Self.policy.due(frames: frames, copied: copied) == mode)
    }

    /// An attempt that left something behind is not made again at every commit.
    @Test(
        arguments: [
            // mode, at, the next frames, what is due then
            (.passive, 100, 199, nil), (.passive, 100, 200, .truncate),
            // Every writer waited for it: the next to wait are readers.
            (.truncate, 200, 299, nil), (.truncate, 200, 300, .gate),
            // A reader did not leave, though it was told to.
            (.gate, 300, 399, nil), (.gate, 300, 599, .truncate), (.gate, 300, 600, .gate),
        ] as [(CheckpointPolicy.Mode, Int, Int, CheckpointPolicy.Mode?)])
    func afterAnIncompleteOne(_ mode: CheckpointPolicy.Mode, _ at: Int, _ frames: Int, _ next: CheckpointPolicy.Mode?) {
        var policy = Self.policy
        policy.ended(mode, frames: at, isComplete: false)
        #expect(policy.due(frames: frames, copied: 0) == next)
        // Complete ones leave no trace.
        policy.ended(mode, frames: 0, isComplete: true)
        if mode == .gate { #expect(policy.due(frames: 300, copied: 0) == .gate) }
        #expect(policy.due(frames: 100, copied: 0) == .passive)
    }

    /// The pool's readers had left, so another process reads: theirs would be ended again and again, and in vain.
    @Test func afterAGateInVain() {
        var policy = Self.policy
        policy.ended(.gate, frames: 300, isComplete: false, readersHadLeft: true)
        #expect(policy.due(frames: 399, copied: 0) == nil)
        // It is tried without them, once in a while.
        #expect(policy.due(frames: 400, copied: 0) == .truncate)
        policy.ended(.truncate, frames: 400, isComplete: false)
        #expect(policy.due(frames: 499, copied: 0) == nil && policy.due(frames: 500, copied: 0) == .truncate)
        #expect(policy.due(frames: 599, copied: 0) == .truncate && policy.due(frames: 600, copied: 0) == .gate)
        policy.ended(.gate, frames: 600, isComplete: false, readersHadLeft: true)
        #expect(policy.due(frames: 1199, copied: 1199) == .truncate && policy.due(frames: 1200, copied: 0) == .gate)
        // Whoever was in the way has gone.
        policy.ended(.truncate, frames: 0, isComplete: true)
        #expect(policy.due(frames: 300, copied: 0) == .gate)
    }

    /// A reader of the pool's did not leave. Once it has, the gate is worth its price again.
    @Test func afterAGateThatWaitedForAReader() {
        var policy = Self.policy
        policy.ended(.gate, frames: 300, isComplete: false)
        #expect(policy.due(frames: 599, copied: 0) == .truncate)
        policy.snapshotEnded()
        #expect(policy.due(frames: 400, copied: 0) == .gate)
        // Another process has no such moment.
        policy.ended(.gate, frames: 300, isComplete: false, readersHadLeft: true)
        policy.snapshotEnded()
        #expect(policy.due(frames: 599, copied: 0) == .truncate)
    }

    /// What was put off was put off by the old limits, unless VACUUM made the WAL as long as it is.
    @Test func otherLimits() {
        let larger = CheckpointPolicy(softFrames: 150, hardFrames: 400, emergencyFrames: 600)
        var policy = Self.policy
        policy.ended(.truncate, frames: 200, isComplete: false)
        policy.setLimits(of: Self.policy)
        #expect(policy.due(frames: 299, copied: 0) == nil, "nothing has changed")
        policy.setLimits(of: larger)
        #expect(policy.due(frames: 149, copied: 0) == nil)
        #expect(policy.due(frames: 299, copied: 0) == .passive)
        #expect(policy.due(frames: 400, copied: 0) == .truncate && policy.due(frames: 600, copied: 0) == .gate)
        policy.vacuumed(frames: 2000)
        policy.setLimits(of: Self.policy)
        #expect(policy.due(frames: 2099, copied: 0) == nil)
    }

    /// Another process has emptied the WAL, or it has begun anew by itself: what was tried before says nothing of it.
    @Test(arguments: [CheckpointPolicy.Mode.passive, .truncate, .gate])
    func aWALThatBeginsAnew(_ mode: CheckpointPolicy.Mode) {
        var policy = Self.policy
        policy.sees(frames: 1_000)
        policy.ended(mode, frames: 1_000, isComplete: false)
        policy.sees(frames: 1_000)
        #expect(policy.due(frames: 1_000, copied: 0) != mode)
        policy.sees(frames: 10)
        #expect(policy.due(frames: 100, copied: 0) == .passive)
        #expect(policy.due(frames: 200, copied: 0) == .truncate)
        #expect(policy.due(frames: 300, copied: 0) == .gate)
    }

    @Test func theEndOfASnapshotMakesItWorthAnotherAttempt() {
        var policy = Self.policy
        policy.ended(.passive, frames: 150, isComplete: false)
        #expect(policy.due(frames: 160, copied: 10) == nil)
        policy.snapshotEnded()
        #expect(policy.due(frames: 160, copied: 10) == .passive)
        policy.ended(.truncate, frames: 250, isComplete: false)
        #expect(policy.due(frames: 260, copied: 0) == nil)
        policy.snapshotEnded()
        #expect(policy.due(frames: 260, copied: 0) == .truncate)
    }

    /// The length VACUUM has given it is no reason to make anybody wait; what is added to it is, and so is everything
    /// once the WAL was emptied.
    @Test(
        arguments: [
            (5000, nil), (5099, nil), (5100, .passive), (5200, .truncate), (5299, .truncate), (5300, .gate),
        ] as [(Int, CheckpointPolicy.Mode?)])
    func afterVacuum(_ frames: Int, _ mode: CheckpointPolicy.Mode?) {
        var policy = Self.policy
        policy.vacuumed(frames: 5000)
        #expect(policy.due(frames: frames, copied: 0) == mode)
        policy.snapshotEnded()
        #expect(policy.due(frames: 5199, copied: 5000) != .truncate)
        // Its own attempts come in between, and fail.
        policy.ended(.truncate, frames: 5000, isComplete: false)
        #expect(policy.due(frames: 5299, copied: 0) != .gate)
        #expect(policy.due(frames: 5300, copied: 0) == .gate)
        policy.ended(.truncate, frames: 0, isComplete: true)
        for (frames, mode) in [(99, nil), (100, .passive), (200, .truncate), (300, .gate)] as [(Int, CheckpointPolicy.Mode?)] {
            #expect(policy.due(frames: frames, copied: 0) == mode)
        }
    }
}
