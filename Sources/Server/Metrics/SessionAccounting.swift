/// What a session needs to count its time: see Session+Counting. Times are nanoseconds of the monotonic clock, 0 is none.
struct SessionAccounting {
    /// It is at the daemon (the console, metrics), and not at the database.
    var isLooking = false
    /// Since when it has something to do.
    var busySince = 0
    /// Since when its transaction goes on.
    var transactionSince = 0
    /// Since when it waits in a queue.
    var parkedSince = 0
    /// How long it has waited in queues since `busySince`.
    var waitedNanoseconds = 0
}
