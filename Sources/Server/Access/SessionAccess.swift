import PostgresWire

/// What a session was let in as; decided once, when it starts.
struct SessionAccess: Sendable {
    /// Before it has started a session may do nothing, and reading is the least there is.
    var role = Role.reader
    var limits = AccessLimits()
    /// The rule it counts against, once it has started.
    var countedBy: String?
    /// The rule that kept it out, for the log; "none" where no rule is about it.
    var refusedBy: String?
    /// Whom it is counted with until then.
    var startsIn: SessionCounts.Group?
}

extension AccessLimits {
    /// A timeout of a session that may not be longer than its rule says, and 0 (no limit) is the longest of all.
    private struct Ceiling {
        var setting: String
        var milliseconds: Int64
        var path: WritableKeyPath<Settings, Int64>
    }

    private var ceilings: [Ceiling] {
        [
            Ceiling(
                setting: "statement_timeout", milliseconds: statementTimeoutMilliseconds,
                path: \.statementTimeoutMilliseconds),
            Ceiling(
                setting: "transaction_timeout", milliseconds: transactionTimeoutMilliseconds,
                path: \.transactionTimeoutMilliseconds),
            Ceiling(
                setting: "idle_in_transaction_session_timeout", milliseconds: idleInTransactionTimeoutMilliseconds,
                path: \.idleInTransactionTimeoutMilliseconds),
            Ceiling(
                setting: "client_write_timeout", milliseconds: clientWriteTimeoutMilliseconds,
                path: \.clientWriteTimeoutMilliseconds),
        ].filter { $0.milliseconds > 0 }
    }

    private static func exceeds(_ value: Int64, _ ceiling: Int64) -> Bool { value == 0 || value > ceiling }

    /// What a session starts with, brought under the ceilings.
    func lower(_ settings: inout Settings) {
        for ceiling in ceilings where Self.exceeds(settings[keyPath: ceiling.path], ceiling.milliseconds) {
            settings[keyPath: ceiling.path] = ceiling.milliseconds
        }
    }

    /// What a client sets itself is refused, not lowered: it would believe in the other value.
    func check(_ settings: Settings) throws(WireError) {
        for ceiling in ceilings where Self.exceeds(settings[keyPath: ceiling.path], ceiling.milliseconds) {
            let longest = Settings.shown(ceiling.milliseconds)
            throw WireError(
                state: .invalidParameterValue,
                message: "\(ceiling.setting) may be at most \(longest) in this session",
                hint: "The access rule that let it in says so; 0 would be no limit.")
        }
    }
}
