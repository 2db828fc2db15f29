import Server

extension ConfigurationSection {
    static let access = ConfigurationSection(
        "access", change: .newSessions, "Who may enter, as what, and how much of the daemon a session may take",
        details: """
            The kernel says who a client is (SO_PEERCRED). The tables are asked in their order, and the first that is about \
            the client decides; none after it is asked, and where none is about it, it does not enter (28000). Without any \
            table, root and the user that walpoold runs as are admins, the members of the socket's group write, and nobody \
            else enters. With tables, only what they say holds: remember root. Names of users and groups are looked up when \
            the file is read. When it is read again, sessions keep what they were let in with until they end; the console's \
            KILL ends them.
            """,
        keys: [
            Key("user", form: "a name, a list of names, or \"all\"", "Whom the rule is about: users of this machine, or everybody"),
            Key("uid", form: "a user ID or a list of them", "Instead of user", takesText: false),
            Key(
                "group", form: "a name or a list of names",
                "Instead of user: members of these groups, by their own or by a supplementary group"),
            Key(
                "role", form: "\"reader\", \"writer\", \"admin\" or \"reject\"",
                "What they may do: read; write; command in the console; or nothing"),
            Key(
                "claim", form: "\"any\", \"same\" or a list of names",
                "Which PostgreSQL user names they may give: any, which is the default because the name decides nothing; that "
                    + "of their user on this machine; or these"),
            Key(
                "max_sessions", form: "an integer from 0 to 100000", "Sessions at a time of all that the rule lets in; 0: any number",
                takesText: false),
            Key("statement_timeout", form: "a time", "The longest statement_timeout that a session may have, and has at first; 0: none"),
            Key(
                "transaction_timeout", form: "a time", "The longest transaction_timeout that a session may have, and has at first; 0: none"),
            Key(
                "idle_in_transaction_session_timeout", form: "a time",
                "The longest idle_in_transaction_session_timeout that a session may have, and has at first; 0: none"),
            Key(
                "client_write_timeout", form: "a time",
                "The longest client_write_timeout that a session may have, and has at first; 0: none"),
            Key(
                "writer_time_limit", form: "a time",
                "How long a session may have the writer at a stretch, whatever it does with it; 0: as long as it likes"),
        ],
        example: """
            [[access]]
            user = "root"
            role = "admin"

            [[access]]
            group = "www-data"
            role = "writer"
            max_sessions = 100
            statement_timeout = "30s"
            writer_time_limit = "10s"

            [[access]]
            user = "backup"
            role = "reader"
            claim = "same"
            """,
        shown: { $0.server.access.shown }
    ) { tables, settings, problems in
        // A default that was set in the settings stays where the file says nothing.
        guard !tables.isEmpty else { return }
        let (rules, found) = AccessRules.parse(
            tables.map { table in
                AccessTable(
                    table.entries.map { .init($0.key, .init($0.value), line: $0.line) }, line: table.line)
            })
        problems += found.map { ConfigurationProblem(line: $0.line, $0.message) }
        settings.server.access = rules
    }
}

extension AccessTable.Value {
    init(_ value: ConfigurationValue) {
        switch value {
        case .string(let text): self = .text(text)
        case .integer(let number): self = .number(number)
        case .array(let values): self = .list(values.map { Self($0) })
        case .boolean, .other: self = .other
        }
    }
}
