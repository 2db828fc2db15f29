import Glibc
import Logging
import Synchronization

/// What runs a server: the program around it, which the console can tell what to do.
public protocol ServerProcess: AnyObject, Sendable {
    /// Stops the daemon as SIGTERM does; returns at once.
    func shutDown()
    /// Reads the configuration again and applies what can change while it runs.
    func reload() throws(ReloadError) -> ReloadOutcome
    /// What SHOW CONFIG shows; nil: what the server knows of itself.
    func settings() -> [SettingView]?
}

/// A setting as SHOW CONFIG shows it.
public struct SettingView: Sendable {
    public var key: String
    public var value: String?
    public var defaultValue: String?
    /// By a reload.
    public var isChangeable: Bool

    public init(key: String, value: String?, defaultValue: String?, isChangeable: Bool) {
        self.key = key
        self.value = value
        self.defaultValue = defaultValue
        self.isChangeable = isChangeable
    }
}

/// What came of a reload, by the names of settings.
public struct ReloadOutcome: Sendable {
    public var applied: [String]
    public var needsRestart: [String]

    public init(applied: [String], needsRestart: [String]) {
        self.applied = applied
        self.needsRestart = needsRestart
    }
}

/// Why nothing was applied: all that is wrong with the file.
public struct ReloadError: Error, Sendable {
    public var problems: [String]
    public init(problems: [String]) { self.problems = problems }
}

/// SHUTDOWN WAIT_FOR_CLIENTS: nobody gets in any more, and the daemon stops when the last client has left.
extension Server {
    /// Once, however often it is called: at the beginning of a drain or of a stop.
    func stopAccepting() {
        guard !hasStoppedAccepting.exchange(true, ordering: .sequentiallyConsistent) else { return }
        poller.remove(listener.descriptor)
        listener.stop()
    }

    /// Clients of the database; the console's do not keep a daemon alive.
    var clientCount: Int { table.sessions.count { $0.introduction?.isConsole != true } }

    func drain() {
        isDraining.store(true, ordering: .sequentiallyConsistent)
        stopAccepting()
        log.notice("draining: the daemon stops when its last client has left", metadata: ["clients": "\(clientCount)"])
        sessionEnded()
    }

    /// A session is gone. Only one of those that notice that it was the last asks for the stop.
    func sessionEnded() {
        guard isDraining.load(ordering: .sequentiallyConsistent), !isStopping.load(ordering: .relaxed), clientCount == 0,
            isDraining.exchange(false, ordering: .sequentiallyConsistent)
        else { return }
        process.withLock { $0 }?.shutDown()
    }
}
