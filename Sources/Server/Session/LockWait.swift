import Scheduling

/// A wait for the writer that the log may be told of: see Logging/Session+LockWait. It belongs to whoever has won `ParkedSession.state`.
struct LockWait {
    var began = Instant(nanoseconds: 0)
    var isLogged = false
}
