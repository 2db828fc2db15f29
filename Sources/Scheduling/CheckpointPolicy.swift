/// When the WAL is copied back, and by which means: gently while it is small, by force before it reaches its limit.
///
/// A pure value: it is told the WAL's size and how each attempt ended.
public struct CheckpointPolicy: Sendable {
    /// How the WAL is copied back.
    public enum Mode: Equatable, Sendable {
        /// Copies what no snapshot stands in the way of, and waits for nobody.
        case passive
        /// Waits a moment for readers to finish, and then empties the WAL. Writers wait meanwhile.
        case truncate
        /// The exclusive gate: new reads wait, those that run too long are ended, and the WAL is emptied.
        case gate
    }

    /// Frames not copied yet at which PASSIVE is worth its sync.
    public private(set) var softFrames: Int
    /// Frames in the WAL at which writers are made to wait for it.
    public private(set) var hardFrames: Int
    /// Frames in the WAL at which readers are.
    public private(set) var emergencyFrames: Int
    /// Frames in the WAL at which writers no longer go on while readers leave: what is left to the limit is for what is on
    /// its way.
    public var holdFrames: Int { emergencyFrames + emergencyFrames / 6 }

    /// After an attempt that left something behind, the WAL must be this long before the next of its kind: trying again
    /// after every commit would be paid by all and get no further.
    private var nextPassiveFrames = 0
    private var nextTruncateFrames = 0
    private var nextGateFrames = 0
    /// The last gate was closed in vain because a reader of the pool's did not leave.
    private var gateWaitsForReader = false
    private var lastFrames = 0
    /// The WAL is as long as VACUUM has made it.
    private var isVacuumed = false

    /// Limits in frames, each at most the next, and none of them 0.
    public init(softFrames: Int, hardFrames: Int, emergencyFrames: Int) {
        precondition(0 < softFrames && softFrames <= hardFrames && hardFrames <= emergencyFrames)
        self.softFrames = softFrames
        self.hardFrames = hardFrames
        self.emergencyFrames = emergencyFrames
    }

    /// Other limits from now on. Attempts that have been put off were put off by the old ones, so they are due again.
    public mutating func setLimits(of other: CheckpointPolicy) {
        let isSame =
            softFrames == other.softFrames && hardFrames == other.hardFrames && emergencyFrames == other.emergencyFrames
        guard !isSame else { return }
        (softFrames, hardFrames, emergencyFrames) = (other.softFrames, other.hardFrames, other.emergencyFrames)
        if !isVacuumed { (nextPassiveFrames, nextTruncateFrames, nextGateFrames) = (0, 0, 0) }
    }

    /// What to do now, or nothing.
    ///
    /// - Parameters:
    ///   - frames: in the WAL, copied ones included: they take its space until it begins anew.
    ///   - copied: of these are in the database file too.
    public func due(frames: Int, copied: Int) -> Mode? {
        if frames >= max(emergencyFrames, nextGateFrames) { return .gate }
        if frames >= max(hardFrames, nextTruncateFrames) { return .truncate }
        if frames - copied >= softFrames, frames >= nextPassiveFrames { return .passive }
        return nil
    }

    /// The WAL is this long now. Shorter than before: it has begun anew, by whoever's doing, and the attempts of its
    /// former life say nothing of this one.
    public mutating func sees(frames: Int) {
        defer { lastFrames = frames }
        guard frames < lastFrames else { return }
        (nextPassiveFrames, nextTruncateFrames, nextGateFrames) = (0, 0, 0)
        isVacuumed = false
    }

    /// An attempt has ended.
    ///
    /// - Parameters:
    ///   - isComplete: nothing is left in the WAL that is not in the database file too.
    ///   - readersHadLeft: nobody of the pool's stood in the way any more, so if something is left, another process reads it.
    public mutating func ended(_ mode: Mode, frames: Int, isComplete: Bool, readersHadLeft: Bool = false) {
        let next = isComplete ? 0 : frames + softFrames
        switch mode {
        case .passive:
            nextPassiveFrames = next
        case .truncate:
            // Every writer has waited for it in vain, so once is enough before readers have to wait.
            (nextPassiveFrames, nextTruncateFrames) = (next, isComplete ? 0 : max(next, emergencyFrames))
        case .gate:
            // Closing the gate again and again for another process's sake, or for a statement that does not end when it is told to
            // (one call of a function that works for minutes), would end the other readers and have everybody wait, and get no
            // further: not before the WAL is twice as long. TRUNCATE alone is tried meanwhile.
            (nextPassiveFrames, nextTruncateFrames, nextGateFrames) = (next, next, isComplete ? 0 : frames * 2)
            gateWaitsForReader = !isComplete && !readersHadLeft
        }
        if isComplete, mode != .passive {
            nextGateFrames = 0
            isVacuumed = false
        }
    }

    /// VACUUM has made the WAL this long at once, and whoever ran it empties it, patiently. Readers have to wait for that
    /// only when it grows by as much again as an empty one may.
    public mutating func vacuumed(frames: Int) {
        nextPassiveFrames = frames + softFrames
        nextTruncateFrames = frames + hardFrames
        nextGateFrames = frames + emergencyFrames
        isVacuumed = true
    }

    /// A snapshot that stood in the way has ended: what was left behind is worth another attempt.
    public mutating func snapshotEnded() {
        nextPassiveFrames = 0
        if gateWaitsForReader { (nextGateFrames, gateWaitsForReader) = (0, false) }
        // Readers that come one after the other would have every writer wait again and again.
        if !isVacuumed { nextTruncateFrames = 0 }
    }
}
