/// What is remembered of VACUUM from one start of the daemon to the next. Times are seconds of the wall clock.
public struct MaintenanceRecord: Equatable, Sendable {
    /// What the interval counts from: the last success, or when the database was first seen, or a time that was put in
    /// place of one that could not be believed.
    public var base: Int64
    /// Nil: none is known.
    public var lastSuccess: Success?
    /// Nil: none is known. A later success leaves it.
    public var lastFailure: Failure?
    /// How often it was begun since the last success, stops by a shutdown not counted. Stored before it begins: one
    /// that takes the daemon down with it must not be the first thing the next start does.
    public var attempts = 0
    /// More say nothing: the pause after a failure has long been as long as it becomes. What is read from a file may be any number.
    public static let mostAttempts = 1_000
    /// When the last of `attempts` was begun; nil: there is none.
    public var lastAttempt: Int64?

    /// A VACUUM that has ended well.
    public struct Success: Equatable, Sendable {
        /// When it ended.
        public var at: Int64
        /// From its beginning to its end.
        public var durationMilliseconds: Int64
        /// By how much the file is shorter, or will be when the WAL has been copied back.
        public var bytesFreed: Int64

        /// - Parameter at: its end, in seconds since 1970.
        public init(at: Int64, durationMilliseconds: Int64, bytesFreed: Int64) {
            self.at = at
            self.durationMilliseconds = durationMilliseconds
            self.bytesFreed = bytesFreed
        }
    }

    /// A VACUUM that has failed.
    public struct Failure: Equatable, Sendable {
        /// When it ended.
        public var at: Int64
        /// In words, for people.
        public var reason: String

        /// - Parameter at: its end, in seconds since 1970.
        public init(at: Int64, reason: String) {
            self.at = at
            self.reason = reason
        }
    }

    /// Nothing is known of the database but what the interval counts from.
    public init(base: Int64) { self.base = base }
}
