extension AccessRules {
    /// Rules out of the tables of a configuration, and everything that is wrong with them. No table: the default rules.
    /// Keys that are none of these tables' are for the caller to find.
    ///
    /// Names of users and groups are looked up now and stay what they were found to be: a session's start must not wait for
    /// a directory on another machine, and a rule that means nobody is a mistake to be told at once.
    package static func parse(_ tables: [AccessTable]) -> (rules: AccessRules, problems: [AccessProblem]) {
        parse(tables, user: AccountNames.userID(of:), group: AccountNames.groupID(of:))
    }

    typealias LookUp = (String) throws(AccountNames.LookUpError) -> UInt32?

    static func parse(
        _ tables: [AccessTable], user: LookUp, group: LookUp
    ) -> (rules: AccessRules, problems: [AccessProblem]) {
        var rules: [AccessRule] = []
        var problems: [AccessProblem] = []
        for table in tables {
            var reader = AccessTableReader(table)
            let rule = reader.rule(user: user, group: group)
            if let rule, let reason = Self.whyUnreachable(rule, after: rules) { reader.complain(table.line, reason) }
            if let rule { rules.append(rule) }
            problems += reader.problems
        }
        return (tables.isEmpty ? .default() : AccessRules(rules), problems)
    }

    /// A rule that can never be asked is a mistake in the order or in a name.
    private static func whyUnreachable(_ rule: AccessRule, after earlier: [AccessRule]) -> String? {
        for other in earlier {
            if other.subject == .everybody { return "an earlier access rule is about everybody, so this one is never asked" }
            if case .users(let users) = rule.subject, case .users(let others) = other.subject,
                Set(users).isSubset(of: others)
            {
                return "an earlier access rule (\(other.name)) is about the same users, so this one is never asked"
            }
            if case .groups(let groups) = rule.subject, case .groups(let others) = other.subject,
                Set(groups).isSubset(of: others)
            {
                return "an earlier access rule (\(other.name)) is about the same groups, so this one is never asked"
            }
        }
        return nil
    }
}
