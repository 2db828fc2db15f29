import Synchronization

/// Tells the readers' progress handlers that their statements have kept the gate waiting for too long.
final class GateSignal: Sendable {
    let isExpired = Atomic<Bool>(false)
}
