/// For people: what a reload has changed, key by key as the configuration has them.
extension AccessRules {
    /// All of them in one line, in the order in which they are asked.
    package var shown: String { areDefault ? "(not set)" : rules.map(\.description).joined(separator: "; ") }
}

extension AccessRule: CustomStringConvertible {
    package var description: String {
        let role =
            switch outcome {
            case .reject: "reject"
            case .admit(let role): role.rawValue
            }
        let claimed: String? =
            switch claim {
            case .any: nil
            case .same: "claim same"
            case .names(let names): "claim \(names.joined(separator: " or "))"
            }
        return (["\(name): \(role)"] + [claimed].compactMap { $0 } + limits.shown).joined(separator: ", ")
    }
}

extension AccessLimits {
    fileprivate var shown: [String] {
        let times = [
            ("statement_timeout", statementTimeoutMilliseconds), ("transaction_timeout", transactionTimeoutMilliseconds),
            ("idle_in_transaction_session_timeout", idleInTransactionTimeoutMilliseconds),
            ("client_write_timeout", clientWriteTimeoutMilliseconds), ("writer_time_limit", writerTimeLimitMilliseconds),
        ]
        return (maximumSessions > 0 ? ["max_sessions \(maximumSessions)"] : [])
            + times.filter { $0.1 > 0 }.map { "\($0.0) \(ServerConfiguration.shown(milliseconds: $0.1))" }
    }
}
