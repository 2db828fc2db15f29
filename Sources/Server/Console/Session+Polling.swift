import Pool
import PostgresWire
import Scheduling

/// Commands that wait for what nobody tells them of.
extension Session {
    /// Looks again and again whether it is over, on a thread that has nothing else to do (`ConsoleThread`). Throws what `isOver`
    /// throws, or why this session no longer waits: it was cancelled, its time is up, or its client has gone.
    func poll(until isOver: () throws(WireError) -> Bool) throws(WireError) {
        while try !isOver() {
            let now = MonotonicClock.now
            if let reason = reasonToStop(now: now) ?? (isClientGone(now: now) ? .disconnected : nil) {
                throw ErrorTranslation.wireError(reason)
            }
            MonotonicClock.sleep(milliseconds: ServerLimits.consoleLookMilliseconds)
        }
    }
}
