import Server

extension ConfigurationKey {
    static let logging: [ConfigurationKey] = [
        minimumDuration,
        .boolean(
            "log_lock_waits", \.server.log.lockWaits, .reload, "Log who waits long for the writer or a reader, and for whom",
            details: "The line comes while the wait lasts, with the holder's session, process, user and last statement."),
        .milliseconds(
            "log_lock_waits_after", \.server.log.lockWaitsAfterMilliseconds, .reload, "How long that is"),
        .choice(
            "log_client_errors", \.server.log.clientErrors, .reload, "Which errors of clients are logged",
            details: """
                "severe": those that are no mistake of the client's, SQLSTATE classes 53, 58 and XX and 08007. Who is not let \
                in, and a session that is ended for a timeout or for what is no message, are logged whatever this says, as far \
                as log_level lets them.
                """),
        .boolean("log_connections", \.server.log.connections, .reload, "Log each session that begins"),
        .boolean(
            "log_disconnections", \.server.log.disconnections, .reload, "Log each session that ends, and how long it was"),
        .boolean(
            "log_parameters", \.server.log.parameters, .reload, "Log the parameters of statements that are logged",
            details: "They are the data. The texts of statements are logged in any case, with the literals in them."),
        .integer(
            "log_parameter_max_length", \.server.log.parameterMaximumBytes, 1...4096, unit: "bytes", .reload,
            "What of each parameter is then logged"),
    ]

    private static let minimumDuration = ConfigurationKey(
        "log_min_duration_statement", form: "a time; -1: never", change: .reload, "Log statements that take this long",
        details: """
            With their waits, their plan, and whether they scan a table, sort, or build an index for one run. Those that fail \
            are logged as well. What the client takes to read the result does not count.
            """,
        value: { settings in
            settings.server.log.minimumDurationMilliseconds.map { ConfigurationValue(milliseconds: $0) } ?? .integer(-1)
        },
        set: { (name, value, settings) throws(StartError) in
            switch value {
            case .integer(-1), .string("-1"): settings.server.log.minimumDurationMilliseconds = nil
            default: settings.server.log.minimumDurationMilliseconds = try time(name, value, upTo: Int64(Int32.max))
            }
        })
}
