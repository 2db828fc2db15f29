import Glibc
import POSIX
import Pool

/// How reading the configuration again ended.
package enum ReloadOutcome: Equatable, Sendable {
    /// It is in force. Each is a line for people: what changed, what waits for a restart, and what will not work by it.
    case applied(changes: [String], needRestart: [String], doubts: [String])
    /// Nothing has changed. Each problem is a line, with its place in the file.
    case refused(problems: [String])

    var isRefused: Bool { if case .refused = self { true } else { false } }
}

/// A key of the configuration as `SHOW CONFIG` gives it.
package struct ConfigurationRow: Equatable, Sendable {
    /// Its name in the file.
    package let key: String
    /// What is in force; nil: nothing is set.
    package let value: String?
    /// What holds without the key; nil: nothing.
    package let defaultValue: String?
    /// Whether RELOAD changes it; otherwise it waits for a restart.
    package let isChangeable: Bool

    package init(key: String, value: String?, defaultValue: String?, isChangeable: Bool) {
        self.key = key
        self.value = value
        self.defaultValue = defaultValue
        self.isChangeable = isChangeable
    }
}

/// Changing the configuration while the server runs.
///
/// Nobody is asked to stop for it. What every session has for itself it takes at its start, and what is looked at later
/// is read then, under a lock or as one word; so a session never sees half of a change that matters to it.
extension Server {
    /// What a reload needs: how the configuration is read is known to the program, not to the server.
    final class Reloading: Sendable {
        /// Reading the file waits for the disk, and two at a time could apply an older file over a newer one.
        let turn = Turn()
        let read = Locked<(@Sendable () -> ReloadOutcome)?>(nil)
        let rows = Locked<[ConfigurationRow]>([])
        let last = Locked(LastReload())
    }

    /// What became of the configuration file when it was last read. The start has taken it.
    struct LastReload {
        var isRefused = false
        /// When it was last taken, in seconds since 1970.
        var takenWallSeconds = time(nil)
    }

    /// Says what `reload` does.
    package func onReload(_ read: @escaping @Sendable () -> ReloadOutcome) {
        reloading.read.withLock { $0 = read }
    }

    /// Reads the configuration again, as at SIGHUP. It waits for the disk: not on a thread of the crew.
    package func reload() -> ReloadOutcome {
        reloading.turn.take {
            guard let read = reloading.read.withLock({ $0 }) else {
                return .refused(problems: ["there is no configuration to read again"])
            }
            let outcome = read()
            reloading.last.withLock { last in
                last.isRefused = outcome.isRefused
                if !last.isRefused { last.takenWallSeconds = time(nil) }
            }
            return outcome
        }
    }

    /// Takes over whatever of it can be changed now; the rest stays as it was at the start.
    ///
    /// Returns why there are to be fewer sessions than it says, for people.
    @discardableResult
    package func apply(_ new: ServerConfiguration) -> String? {
        var next = new
        next.databasePath = configuration.databasePath
        next.databaseName = configuration.databaseName
        next.socketPath = configuration.socketPath
        next.socketMode = configuration.socketMode
        next.inheritedSockets = configuration.inheritedSockets
        next.leavesSocketFile = configuration.leavesSocketFile
        next.reports = configuration.reports
        next.descriptorLimit = configuration.descriptorLimit
        next.maximumSessions = min(new.maximumSessions, configuration.sessionRoom, max(1, descriptors.sessions(new.access)))
        next.pool.readers = configuration.pool.readers
        next.pool.durability = configuration.pool.durability
        next.connection = configuration.connection
        changeable.withLock { $0 = next }
        pool.apply(next.pool)
        eventLog.apply(next.log)
        replaceAccessRules(next.access)
        return descriptors.shortage(of: new.maximumSessions, new.access)
    }

    /// A part of the configuration as it is now. A copy: take only what is needed.
    func current<Value>(_ part: (ServerConfiguration) -> Value) -> Value { changeable.withLock { part($0) } }

    /// The keys of the configuration with the values in force.
    var configurationRows: [ConfigurationRow] { reloading.rows.withLock { $0 } }

    /// Says what `configurationRows` are from now on: at the start, and after each reload.
    package func show(_ rows: [ConfigurationRow]) { reloading.rows.withLock { $0 = rows } }
}
