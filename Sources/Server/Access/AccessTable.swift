/// One `[[access]]` table of a configuration file, key by key, whatever format the file has.
public struct AccessTable: Equatable, Sendable {
    public enum Value: Equatable, Sendable {
        case text(String)
        case number(Int)
        case list([Value])
        /// Of a type that no key takes.
        case other
    }

    public struct Entry: Equatable, Sendable {
        public var key: String
        public var value: Value
        /// Counted from 1; 0 is unknown.
        public var line: Int

        public init(_ key: String, _ value: Value, line: Int = 0) {
            self.key = key
            self.value = value
            self.line = line
        }
    }

    public var entries: [Entry]
    /// Of its header.
    public var line: Int

    public init(_ entries: [Entry], line: Int = 0) {
        self.entries = entries
        self.line = line
    }

    /// Every key there is, with what it means; the order is the one for people.
    public static let keys: [(name: String, meaning: String)] = [
        ("user", "Whom the rule is about: a name or a list of names of this machine's users, or \"all\" for everybody."),
        ("uid", "Or a user ID, or a list of them."),
        ("group", "Or a name or a list of names of groups; the client's own and its supplementary groups count."),
        ("role", "\"reader\", \"writer\", \"admin\", or \"reject\"."),
        (
            "claim",
            "The PostgreSQL user names the client may give: \"any\" (the default; they decide nothing), \"same\" (its "
                + "user's name on this machine), or a list of names."
        ),
        ("max_sessions", "Sessions at a time of all whom the rule lets in; 0: no limit of its own."),
        ("statement_timeout", "The longest statement_timeout a session may have, and what it starts with; 0: any."),
        ("transaction_timeout", "The longest transaction_timeout, likewise."),
        ("idle_in_transaction_session_timeout", "The longest idle_in_transaction_session_timeout, likewise."),
        ("client_write_timeout", "The longest client_write_timeout, likewise."),
        ("writer_time_limit", "The longest a session may have the writer at a stretch; 0: no limit."),
    ]
}

/// What is wrong with an `[[access]]` table, and where.
public struct AccessProblem: Error, Equatable, Sendable {
    public var line: Int
    public var message: String

    init(_ line: Int, _ message: String) {
        self.line = line
        self.message = message
    }
}
