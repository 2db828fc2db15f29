import Glibc

/// Reads one table. What is wrong is collected, so that a person hears of all of it at once.
struct AccessTableReader {
    private let table: AccessTable
    private(set) var problems: [AccessProblem] = []

    init(_ table: AccessTable) { self.table = table }

    mutating func complain(_ line: Int, _ message: String) { problems.append(AccessProblem(line, message)) }

    private func entry(_ key: String) -> AccessTable.Entry? { table.entries.first { $0.key == key } }

    mutating func rule(user: AccessRules.LookUp, group: AccessRules.LookUp) -> AccessRule? {
        let subject = subject(user: user, group: group)
        let outcome = outcome()
        var limits = AccessLimits()
        limits.maximumSessions = count("max_sessions")
        limits.statementTimeoutMilliseconds = time("statement_timeout")
        limits.transactionTimeoutMilliseconds = time("transaction_timeout")
        limits.idleInTransactionTimeoutMilliseconds = time("idle_in_transaction_session_timeout")
        limits.clientWriteTimeoutMilliseconds = time("client_write_timeout")
        limits.writerTimeLimitMilliseconds = time("writer_time_limit")
        let claim = claim()
        guard let (name, subject) = subject, let outcome else { return nil }
        var rule = AccessRule(name, subject, outcome)
        rule.claim = claim
        rule.limits = limits
        if outcome == .reject, rule.claim != .any || limits != AccessLimits() {
            complain(table.line, "an access rule that rejects takes no claim and no limits")
        }
        return rule
    }

    // MARK: Whom it is about

    private mutating func subject(
        user: AccessRules.LookUp, group: AccessRules.LookUp
    ) -> (name: String, AccessRule.Subject)? {
        let given = table.entries.filter { ["user", "uid", "group"].contains($0.key) }
        guard given.count == 1 else {
            complain(table.line, "an access rule needs one of \"user\", \"uid\" and \"group\"\(given.isEmpty ? "" : ", and no more")")
            return nil
        }
        let entry = given[0]
        if entry.key == "uid" { return userIDs(entry) }
        guard let names = texts(entry.value), !names.isEmpty else {
            complain(entry.line, "\(entry.key) must be a name or a list of names")
            return nil
        }
        if entry.key == "user", names.contains("all") {
            // As in pg_hba.conf, where "all" is everybody. An account of that name has its uid.
            guard names.count == 1 else {
                complain(entry.line, "\"all\" is everybody and stands alone")
                return nil
            }
            return ("everybody", .everybody)
        }
        let isUser = entry.key == "user"
        let ids = names.compactMap { identifier($0, isUser ? "user" : "group", entry.line, isUser ? user : group) }
        guard ids.count == names.count else { return nil }
        let name = "\(entry.key) \(names.joined(separator: ", "))"
        return (name, isUser ? .users(ids) : .groups(ids))
    }

    private mutating func identifier(
        _ name: String, _ kind: String, _ line: Int, _ look: AccessRules.LookUp
    ) -> UInt32? {
        // C strings end at NUL: another name would be looked up.
        guard !name.isEmpty, !name.utf8.contains(0) else {
            complain(line, "\(kind) must be a name or a list of names")
            return nil
        }
        do {
            if let id = try look(name) { return id }
            complain(line, "there is no \(kind) \"\(name)\" on this machine")
        } catch {
            complain(line, error.message)
        }
        return nil
    }

    private mutating func userIDs(_ entry: AccessTable.Entry) -> (name: String, AccessRule.Subject)? {
        let numbers: [Int?] =
            switch entry.value {
            case .number(let number): [number]
            case .list(let values): values.map { if case .number(let number) = $0 { number } else { nil } }
            default: []
            }
        // The largest ID means "none" to the kernel: (uid_t) -1 in chown(2).
        let ids = numbers.compactMap { $0.flatMap { uid_t(exactly: $0) } }.filter { $0 != .max }
        guard !ids.isEmpty, ids.count == numbers.count else {
            complain(entry.line, "uid must be a user ID or a list of user IDs")
            return nil
        }
        return ("uid \(ids.map(String.init).joined(separator: ", "))", .users(ids))
    }

    // MARK: What they may do

    private mutating func outcome() -> AccessRule.Outcome? {
        guard let entry = entry("role") else {
            complain(table.line, "an access rule needs a \"role\": \"reader\", \"writer\", \"admin\" or \"reject\"")
            return nil
        }
        if case .text(let text) = entry.value {
            if text == "reject" { return .reject }
            if let role = Role(rawValue: text) { return .admit(role) }
        }
        complain(entry.line, "role must be \"reader\", \"writer\", \"admin\" or \"reject\"")
        return nil
    }

    private mutating func claim() -> AccessRule.Claim {
        guard let entry = entry("claim") else { return .any }
        switch entry.value {
        case .text("any"): return .any
        case .text("same"): return .same
        case .list:
            if let names = texts(entry.value), !names.isEmpty, !names.contains("") { return .names(names) }
        default: break
        }
        complain(entry.line, "claim must be \"any\", \"same\" or a list of names")
        return .any
    }

    private mutating func count(_ key: String) -> Int {
        guard let entry = entry(key) else { return 0 }
        if case .number(let number) = entry.value, (0...100_000).contains(number) { return number }
        complain(entry.line, "\(key) must be between 0 and 100000")
        return 0
    }

    private mutating func time(_ key: String) -> Int64 {
        guard let entry = entry(key) else { return 0 }
        let text: String
        switch entry.value {
        case .text(let given): text = given
        case .number(let number): text = String(number)
        default:
            complain(entry.line, "\(key) must be milliseconds, or a time such as \"5s\"")
            return 0
        }
        do { return try Settings.milliseconds(key, text) } catch {
            complain(entry.line, StartError(error).description)
            return 0
        }
    }

    private func texts(_ value: AccessTable.Value) -> [String]? {
        switch value {
        case .text(let text): return [text]
        case .list(let values):
            let texts = values.compactMap { if case .text(let text) = $0 { text } else { nil } }
            return texts.count == values.count ? texts : nil
        default: return nil
        }
    }
}
