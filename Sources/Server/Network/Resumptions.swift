import DequeModule
import POSIX
import Pool
import Synchronization

/// Resumptions in the order in which they came, for whoever takes one first: the server's (`ReadyQueue`), or what a thread has freed for
/// others and runs next itself, unless it is found to be stuck before (`Watch`).
final class Resumptions: Sendable {
    private let resumptions = Locked<Deque<Resumption>>([])
    /// How many there are, so that looking costs no lock. In one order with `Crew.isWatched`: the last watcher looks here when it has gone.
    private let count = Atomic<Int>(0)

    @inline(__always)
    var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

    func append(_ resumption: Resumption) {
        change { $0.append(resumption) }
    }

    @inline(__always)
    func take() -> Resumption? { isEmpty ? nil : takeFirst() }

    private func takeFirst() -> Resumption? { change { $0.popFirst() } }

    /// All of these that there are.
    func takeAll(where isWanted: (Resumption) -> Bool = { _ in true }) -> [Resumption] {
        guard !isEmpty else { return [] }
        return change { resumptions in
            let taken = resumptions.filter(isWanted)
            resumptions.removeAll(where: isWanted)
            return Array(taken)
        }
    }

    private func change<Result>(_ body: (inout Deque<Resumption>) -> Result) -> Result {
        resumptions.withLock { resumptions in
            defer { count.store(resumptions.count, ordering: .sequentiallyConsistent) }
            return body(&resumptions)
        }
    }
}
