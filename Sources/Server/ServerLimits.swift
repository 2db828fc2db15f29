/// The bounds of the daemon as a whole, each with its reason. The thresholds of one algorithm stay with it.
enum ServerLimits {
    // MARK: Connections that come

    /// Sockets that the service manager hands over. More would be a mistake in a unit file.
    static let listeners = 16
    /// Those that the kernel keeps for us while nobody accepts. More than a burst of clients starting together.
    static let backlog: Int32 = 1024
    /// Those accepted at one event, before others of the crew get their turn.
    static let acceptsPerEvent = 16
    /// Without a descriptor for a connection, when it is tried again: nothing tells that one has become free.
    static let acceptPauseMilliseconds: Int64 = 100
    /// Places for sessions that are made at the start at least, since max_sessions may be raised later: 50 bytes each.
    static let leastSessionRoom = 4096

    // MARK: Starting and stopping

    /// How long the name of a user or group is taken to be the same: a user who is renamed waits so long for that to be seen.
    static let rememberedNameMilliseconds: Int64 = 60_000
    /// Of the users of one machine there are fewer; those who claim to be more cost a look-up each.
    static let rememberedNames = 1_000
    /// How long another process may have the lock of the socket's file, which it needs for microseconds. A daemon that starts or
    /// stops waits no longer for one that is stuck.
    static let socketLockMilliseconds: Int64 = 2_000
    /// Between two tries to get it.
    static let socketLockPauseMilliseconds = 10
    /// How long a drain waits for connections that were there when it began and have not started. A client says who it is right after it
    /// has connected; one that says nothing, or asks for the metrics, may be a monitor's that stays.
    static let drainStartingMilliseconds: Int64 = 1_000
    /// How soon a socket that keeps the stopping thread is given up: see `SocketWait`.
    static let interruptionMilliseconds = 5
    /// The stack of the thread that does so.
    static let interrupterStackBytes = 128 << 10
    /// For statements to notice that they must stop, which they are asked every thousand steps.
    static let endingMilliseconds: Int64 = 2_000
    /// For those that do not: a commit on a slow disk, or one call of a function that works for long. A restart keeps every client
    /// waiting meanwhile.
    static let threadsMilliseconds: Int64 = 5_000
    /// Between two looks at whether a session has ended: statements take their time, and nothing tells when they are done.
    static let sessionsLookMilliseconds = 2

    // MARK: The console

    /// Commands that may run at a time: each has a thread with its stack, and nobody needs more.
    static let consoleThreads = 8
    /// Between two looks at what a command waits for, of which nothing tells (`Session.poll`). Nobody but the administrator who gave
    /// the command waits for it.
    static let consoleLookMilliseconds = 2
}
