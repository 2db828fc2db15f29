/// Lets one thread at a time do something that waits for the disk, without a mutex being held meanwhile. The others wait
/// their turn; who calls has said that it will be long.
///
/// `@unchecked Sendable`: `isTaken` is touched with the mutex held.
public final class Turn: @unchecked Sendable {
    private let mutex = PthreadMutex()
    private let isFree = PthreadCondition()
    private var isTaken = false

    /// Nobody has it.
    public init() {}

    /// Waits for the turn, runs `body`, and passes the turn on. Not to be called again inside.
    public func take<Result>(_ body: () -> Result) -> Result {
        mutex.locked {
            while isTaken { isFree.wait(mutex) }
            isTaken = true
        }
        defer {
            mutex.locked {
                isTaken = false
                isFree.signal()
            }
        }
        return body()
    }
}
