/// What is logged, beyond what always is. The names are PostgreSQL's where it has one:
/// https://www.postgresql.org/docs/current/runtime-config-logging.html
///
/// There "only superusers and users with the appropriate SET privilege can change" them. Here nobody can from a session:
/// they come from the configuration file, and SHOW shows them.
package struct LogConfiguration: Equatable, Sendable {
    /// log_min_duration_statement: statements that take as long are logged; nil: none. By default a second: whoever has
    /// statements as slow as that wants to know, and one more look at the clock for each statement is what it costs.
    package var minimumDurationMilliseconds: Int64? = 1_000
    /// log_lock_waits: whoever waits for the writer longer than log_lock_waits_after is logged, with who has it.
    package var lockWaits = true
    /// log_lock_waits_after; PostgreSQL's deadlock_timeout is as long by default.
    package var lockWaitsAfterMilliseconds: Int64 = 1_000
    /// log_connections, log_disconnections. Off, these are lines of the level debug.
    package var connections = false
    package var disconnections = false
    /// log_client_errors.
    package var clientErrors = ClientErrors.severe
    /// log_parameters: values of parameters appear in lines about their statement. They are the data, so never unasked.
    package var parameters = false
    /// log_parameter_max_length: what of each value then appears.
    package var parameterMaximumBytes = 64

    /// Which errors of clients are logged.
    package enum ClientErrors: String, CaseIterable, Sendable {
        case none
        /// Those that are no mistake of the client's: classes 53, 58 and XX, and a commit whose outcome is unknown.
        case severe
        case all
    }

    package init() {}
}

extension LogConfiguration {
    /// As SHOW has them.
    var shown: [(name: String, value: String)] {
        [
            ("log_client_errors", clientErrors.rawValue), ("log_connections", connections ? "on" : "off"),
            ("log_disconnections", disconnections ? "on" : "off"), ("log_lock_waits", lockWaits ? "on" : "off"),
            ("log_lock_waits_after", Settings.shown(lockWaitsAfterMilliseconds)),
            ("log_min_duration_statement", minimumDurationMilliseconds.map { Settings.shown($0) } ?? "-1"),
            ("log_parameter_max_length", String(parameterMaximumBytes)), ("log_parameters", parameters ? "on" : "off"),
        ]
    }
}
