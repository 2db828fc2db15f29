import Configuration
import Server

/// The configuration in force, and how it is read again.
///
/// `@unchecked Sendable`: once the server has been told of it, `inForce` is touched only by `reload`, which `Server.reload`
/// calls one at a time.
final class RunningConfiguration: @unchecked Sendable {
    private let file: String?
    private let options: [StartSettings.Option]
    let server: Server
    private var inForce: ConfigurationInForce

    /// - Parameter socket: that of the service manager, if it made one.
    init(
        _ started: StartSettings, file: String?, options: [StartSettings.Option], server: Server, socket: SocketInForce?
    ) {
        self.file = file
        self.options = options
        self.server = server
        inForce = ConfigurationInForce(started, socket: socket)
        server.show(inForce.rows)
    }

    /// Reads the file again; what the command line says still wins.
    func reload() -> ReloadOutcome {
        let read: StartSettings
        do { read = try StartSettings(file: file, options: options, again: true) } catch { return .refused(problems: error.lines) }
        if let problem = problem(ofAccess: read) { return .refused(problems: [problem]) }
        var changes = inForce.take(read)
        LogThreshold.level = inForce.settings.logLevel
        if let shortage = server.apply(inForce.settings.server) { changes.needRestart.append(shortage) }
        server.show(inForce.rows)
        return .applied(
            changes: changes.changed, needRestart: changes.needRestart,
            doubts: inForce.settings.problemOfBackups().map { ["\($0): BACKUP would fail"] } ?? [])
    }

    /// A file that is just being written may end before its rules, or have nothing in it yet. Without rules others may do more.
    private func problem(ofAccess read: StartSettings) -> String? {
        guard !inForce.settings.server.access.areDefault, read.server.access.areDefault else { return nil }
        return "\(file ?? "the configuration") has no [[access]] rules any more: to do without those in force, restart the daemon"
    }
}
