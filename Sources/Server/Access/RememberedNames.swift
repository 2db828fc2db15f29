import POSIX
import Scheduling

/// Names of users, or of groups, that were looked up a moment ago.
///
/// They may come from another machine (nsswitch.conf(5)), which may take seconds, and a thread that waits for it is none for those who
/// are connected already. With an application that connects for each of its requests, all threads would wait.
final class RememberedNames: Sendable {
    private struct Entry {
        let name: String
        var isFreshUntil: Instant
    }

    private let entries = Locked<[UInt32: Entry]>([:])

    /// - Parameter lookUp: is called without a lock, and asks the system. A name that does not exist is looked up each time; where that fails,
    ///   what was right before holds.
    func name(of number: UInt32, now: Instant, _ lookUp: (UInt32) throws(AccountNames.LookUpError) -> String?) -> String? {
        let until = now.advanced(byMilliseconds: ServerLimits.rememberedNameMilliseconds)
        let (known, isFresh) = entries.withLock { entries -> (String?, Bool) in
            guard let entry = entries[number] else { return (nil, false) }
            if now < entry.isFreshUntil { return (entry.name, true) }
            // One asks again. Until it has an answer, what was right before holds for the others.
            entries[number]?.isFreshUntil = until
            return (entry.name, false)
        }
        if isFresh { return known }
        let name: String?
        do throws(AccountNames.LookUpError) { name = try lookUp(number) } catch { return known }
        entries.withLock { entries in
            if entries[number] == nil, entries.count >= ServerLimits.rememberedNames { entries.removeAll() }
            entries[number] = name.map { Entry(name: $0, isFreshUntil: until) }
        }
        return name
    }

    func forget() { entries.withLock { $0.removeAll() } }
}
