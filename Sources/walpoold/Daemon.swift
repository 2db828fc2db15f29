import CSystemd
import Configuration
import Glibc
import Journal
import Logging
import SQLite
import Server

/// From start to exit.
enum Daemon {
    static func run(_ settings: StartSettings, _ writer: LogWriter) throws {
        placeTemporaryFiles(beside: settings.server.databasePath)
        guard SQLiteLibrary.configure() else { throw StartError("SQLite refused its settings") }
        // Before any thread starts, so that all inherit the mask and only this one hears of signals.
        let signals = blockSignals()
        try writer.start()
        let log = Logger(label: "walpoold")
        raiseDescriptorLimit()
        let server = try Server(settings.server, log: log)
        try server.start()
        log.notice(
            .started,
            "\(settings.server.databasePath) is \"\(settings.server.databaseName)\" at \(settings.server.socketPath), SQLite \(SQLiteLibrary.version), \(settings.server.pool.readers) readers"
        )
        if SQLiteLibrary.hasWALResetBug {
            log.notice(
                .started,
                "SQLite \(SQLiteLibrary.version) has the WAL-reset bug: let no other process write to or checkpoint this file (https://www.sqlite.org/wal.html#walresetbug)"
            )
        }
        // Without a service manager (no NOTIFY_SOCKET) this does nothing: sd_notify(3).
        sd_notify(0, "READY=1\nSTATUS=serving \(settings.server.databaseName) at \(settings.server.socketPath)")
        let signal = wait(for: signals)
        sd_notify(0, "STOPPING=1")
        log.notice(.stopping, "stopping", metadata: ["signal": "\(String(cString: strsignal(signal)))"])
        server.stop()
        log.notice(.stopped, "stopped")
    }

    /// SQLite's temporary files, VACUUM's copy above all, lie beside the database: there is room for it, or it is known
    /// that there is none, and /tmp may be memory. "The folder named by environment variable SQLITE_TMPDIR" comes first
    /// (https://www.sqlite.org/tempfiles.html#temporary_file_storage_locations) and is read when SQLite starts.
    private static func placeTemporaryFiles(beside database: String) {
        if let chosen = getenv("SQLITE_TMPDIR"), chosen.pointee != 0 { return }
        // Where the file is, not where a symbolic link to it is; a file that is yet to be made has only a directory.
        let file = realpath(database, nil)
        defer { free(file) }
        let path = file.map { String(cString: $0) } ?? database
        let slash = path.lastIndex(of: "/")
        let resolved = realpath(slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".", nil)
        defer { free(resolved) }
        if let resolved { setenv("SQLITE_TMPDIR", resolved, 1) }
    }

    /// Each session takes a descriptor, and the usual soft limit is 1024.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    private static func blockSignals() -> sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGTERM, SIGINT, SIGQUIT] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)
        // A terminal that goes away is no reason to stop serving.
        signal(SIGHUP, SIG_IGN)
        return signals
    }

    private static func wait(for signals: sigset_t) -> Int32 {
        var signals = signals
        var received: Int32 = 0
        while sigwait(&signals, &received) != 0 {}
        return received
    }
}
