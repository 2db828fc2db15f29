/// What is remembered of VACUUM from one start of the daemon to the next. Times are seconds of the wall clock.
public struct MaintenanceRecord: Equatable, Sendable {
    /// What the interval counts from: the last success, or when the database was first seen, or a time that was put in
    /// place of one that could not be believed.
    public var base: Int64
    public var lastSuccess: Success?
    public var lastFailure: Failure?
    /// How often it was begun since the last success, stops by a shutdown not counted. Stored before it begins: one
    /// that takes the daemon down with it must not be the first thing the next start does.
    public var attempts = 0
    public var lastAttempt: Int64?

    public struct Success: Equatable, Sendable {
        public var at: Int64
        public var durationMilliseconds: Int64
        public var bytesFreed: Int64

        public init(at: Int64, durationMilliseconds: Int64, bytesFreed: Int64) {
            self.at = at
            self.durationMilliseconds = durationMilliseconds
            self.bytesFreed = bytesFreed
        }
    }

    public struct Failure: Equatable, Sendable {
        public var at: Int64
        public var reason: String

        public init(at: Int64, reason: String) {
            self.at = at
            self.reason = reason
        }
    }

    public init(base: Int64) { self.base = base }
}
