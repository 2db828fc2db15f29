import Glibc
import POSIX
import Pool
import SQLite
import Scheduling

/// Gives memory back to the kernel that SQLite has freed and the allocator keeps.
///
/// What a statement has freed stays with the arena of its thread, up to a statement's limit for each, unless it lies at the arena's end.
/// Memory is looked at only some time after long work or a session has ended, and never on a thread that a request waits for.
final class FreeHeap: Sendable {
    private let trimming = Locked(HeapTrimming())
    private let next = NextLook()

    var nextLook: Instant { next.instant }

    /// Returns when to look at what something has left that is over now, if that is news.
    func muchMayBeFree(_ now: Instant) -> Instant? {
        guard next.instant > HeapTrimming.latestLook(afterWorkUntil: now) else { return nil }
        let look = trimming.withLock { $0.look(afterWorkUntil: now) }
        return next.bringForward(to: look) ? look : nil
    }

    /// True for one of the threads that ask when a look is due; it has to look.
    func isDue(_ now: Instant) -> Bool { next.takeIfDue(now) }

    /// Returns when to look again, if that is news.
    ///
    /// - Parameter willBeLong: is called before memory is given back: 64 MiB take 15 ms, 2.4 GB 0.3 to 0.8 s.
    func look(willBeLong: () -> Void) -> Instant? {
        guard let unused = Self.unusedBytes else { return nil }
        switch trimming.withLock({ $0.look(unusedBytes: unused, now: MonotonicClock.now) }) {
        case .little: return nil
        case .lookAgain(let at): return next.bringForward(to: at) ? at : nil
        case .isWorthIt: break
        }
        willBeLong()
        SQLiteLibrary.giveFreeMemoryBack()
        let left = Self.unusedBytes ?? 0
        trimming.withLock { $0.hasTrimmed(unused, leaving: left, now: MonotonicClock.now) }
        return nil
    }

    /// What the process has for itself, and SQLite has not allocated: free, or Swift's, stacks, buffers. The allocator would tell what is
    /// free, but counts what was given back already, and walks over it for up to half a second first (mallinfo2 with 2.5 GB).
    private static var unusedBytes: Int? {
        Server.residentPages.map { Int($0.own) * Int(getpagesize()) - Int(SQLiteLibrary.memoryBytes) }
    }
}

extension Server {
    /// A thread's work that took long is over, or a session.
    func muchMayBeFree(_ now: Instant) {
        if let look = freeHeap.muchMayBeFree(now) { deadlines.announce(look) }
    }
}
