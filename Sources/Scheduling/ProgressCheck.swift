/// Whether the work that every writer waits for goes on, or is stuck: what the service manager's watchdog is told.
///
/// Work goes on when it has changed hands since the last look, or when the thread that is at it has been on a processor
/// since then. The second is what long work is judged by: a statement of an hour, VACUUM, a checkpoint, a wait for another
/// process that looks every millisecond, and also a sync, whose thread the kernel wakes as pages get written. A thread that
/// hangs in a system call, or waits for a lock that nobody gives back, is not on a processor at all. What is only slow or
/// runs in circles is not found here: statement_timeout is for that.
///
/// A pure value, like `WriterQueue`.
public struct ProgressCheck: Sendable {
    /// What is being done in one place where one thing is done at a time.
    public enum Activity: Equatable, Sendable {
        /// Nothing, or a client's next message is waited for.
        case resting
        /// Somebody has been given it and no thread has begun. `change` counts how often it has changed hands.
        case granted(change: Int)
        /// A thread is at it that has used so much processor time in its life.
        case working(change: Int, processorNanoseconds: Int64)
    }

    /// Where things can get stuck.
    public struct Activities: Equatable, Sendable {
        /// What the writer's holder does: a client, a group of them, or a job of the daemon's.
        public var writer: Activity
        /// The writer has been given to a job of the daemon's own, which may sync gigabytes at once.
        public var isJob: Bool
        /// With synchronous = pipelined: the sync beside the writer.
        public var sync: Activity

        /// If nothing is said, nothing is being done.
        public init(writer: Activity = .resting, isJob: Bool = false, sync: Activity = .resting) {
            self.writer = writer
            self.isJob = isJob
            self.sync = sync
        }
    }

    /// Where one thing is done at a time.
    public enum Place: String, Sendable { case writer, sync }

    /// What a look has found.
    public enum Finding: Equatable, Sendable {
        case progress
        case stuck(Place, forMilliseconds: Int64)
    }

    /// A job of the daemon's own may be silent for so many times as long.
    static let jobFactor: Int64 = 4

    /// Silence longer than this is no progress.
    public let silenceMilliseconds: Int64
    private var seen = Activities()
    private var writerSince = Instant(nanoseconds: 0)
    private var syncSince = Instant(nanoseconds: 0)
    private var lastLook = Instant(nanoseconds: 0)

    /// - Parameter silenceMilliseconds: above 0.
    public init(silenceMilliseconds: Int64) {
        precondition(silenceMilliseconds > 0)
        self.silenceMilliseconds = silenceMilliseconds
    }

    /// Looks how far things are. The looks must come more often than the silence is long: one that comes late says that
    /// this process was not run at all (it was stopped, or the machine was), so everything counts from now.
    public mutating func look(_ now: Activities, at time: Instant) -> Finding {
        let isLate = time.milliseconds(since: lastLook) > silenceMilliseconds
        if isLate || now.writer != seen.writer || now.writer == .resting { writerSince = time }
        if isLate || now.sync != seen.sync || now.sync == .resting { syncSince = time }
        lastLook = time
        seen = now
        let writerSilence = time.milliseconds(since: writerSince)
        if writerSilence >= silenceMilliseconds * (now.isJob ? Self.jobFactor : 1) {
            return .stuck(.writer, forMilliseconds: writerSilence)
        }
        let syncSilence = time.milliseconds(since: syncSince)
        return syncSilence >= silenceMilliseconds ? .stuck(.sync, forMilliseconds: syncSilence) : .progress
    }
}
