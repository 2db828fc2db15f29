import Glibc
import Server

extension ConfigurationKey {
    static let serving: [ConfigurationKey] = [
        .text(
            "database", \.database, form: "a path", defaultInWords: "none; as a service app.db in STATE_DIRECTORY",
            example: "/var/lib/walpool/app.db", .restart,
            "The database file; created when absent",
            details: """
                It is put into WAL mode, and stays in it. On the command line it is the argument. As a systemd service \
                (STATE_DIRECTORY) it need not be named: it is then called as `name` says, or as this file is called, \
                walpoold.toml standing for app.
                """),
        .text(
            "name", \.name, form: "a name; \"walpool\" and \"pgbouncer\" are the console's",
            defaultInWords: "the file's name without its extension", example: "app", .restart,
            "The database's name for clients", isValid: StartSettings.isName
        ).option("name"),
        .text(
            "socket_directory", \.socketDirectory, form: "a directory's path",
            defaultInWords: "RUNTIME_DIRECTORY, XDG_RUNTIME_DIR/walpool, or one under TMPDIR", example: "/run/walpool", .restart,
            "Directory of the socket",
            details: """
                The socket is .s.PGSQL. and the port in it. Without this key it is systemd's RUNTIME_DIRECTORY, else walpool \
                below XDG_RUNTIME_DIR, else walpool-UID below TMPDIR or /tmp; the last two must belong to the user and be \
                writable to nobody else. A stale socket is replaced; a living one is an error. A socket that the service \
                manager hands over comes first.
                """
        ).option("socket-directory"),
        .integer("port", \.port, 1...65535, .restart, "Port: the number in the socket's name").option("port"),
        socketMode,
        .integer(
            "max_sessions", \.server.maximumSessions, 1...100_000, .reload, "The most sessions at a time",
            details: """
                More get 53300. Each costs a file descriptor and some 10 KB. Up to 4096, or what it was at the start, a reload changes it; \
                more needs a restart.
                """
        ).option("max-sessions"),
        .milliseconds(
            "startup_timeout", \.server.startupTimeoutMilliseconds, .reload,
            "How long a client may take over its startup message; 0: no limit"),
        .milliseconds(
            "shutdown_timeout", \.server.shutdownTimeoutMilliseconds, .reload,
            "How long running statements may go on after SIGTERM"),
        .choice("log_level", \.logLevel, .reload, "Messages below this level are not logged").option("log-level"),
    ]

    private static let socketMode = ConfigurationKey(
        "socket_mode", form: "an octal number in a string, such as \"0660\"", change: .restart,
        "Permissions of the socket, in octal",
        details: "Whoever may write to the socket may connect to it. A socket from the service manager has its own.",
        value: { ConfigurationValue(mode: $0.server.socketMode) },
        set: { (name, value, settings) throws(StartError) in
            guard case .string(let text) = value, let mode = mode_t(text, radix: 8), mode <= 0o777 else {
                throw wrong(name, "an octal number in a string, such as \"0660\"", value)
            }
            settings.server.socketMode = mode
        }
    ).option("socket-mode")
}

extension ConfigurationValue {
    init(mode: mode_t) {
        let digits = String(mode, radix: 8)
        self = .string(String(repeating: "0", count: max(0, 4 - digits.count)) + digits)
    }
}
