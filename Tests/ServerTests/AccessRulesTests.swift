import Testing

@testable import Server

/// The rules as a table: who comes, what the rules say, and how it is decided.
@Suite struct AccessRulesTests {
    private static func peer(_ user: UInt32, _ group: UInt32 = 100, _ groups: [UInt32] = []) -> PeerCredentials {
        PeerCredentials(user: user, group: group, supplementaryGroups: groups)
    }

    private static func names(_ user: UInt32) -> String? { [0: "root", 7: "alice", 8: "bob"][user] }

    private static func outcome(
        _ rules: AccessRules, _ peer: PeerCredentials, claims name: String = "x", socketGroup: UInt32? = nil
    ) -> String {
        switch rules.decide(peer, claimed: name, socketGroup: socketGroup, accountName: names) {
        case .admitted(let role, _): role.rawValue
        case .refused: "refused"
        case .wrongName: "wrong name"
        }
    }

    @Test(
        arguments: [
            // Root, the daemon's own user, members of the socket's group by either way, and others.
            (0, 0, [], nil, "admin"), (55, 100, [], nil, "admin"), (7, 30, [], 30, "writer"), (7, 100, [30], 30, "writer"),
            (7, 100, [29, 31], 30, "refused"), (7, 30, [30], nil, "refused"), (7, 0, [0], nil, "refused"),
            (UInt32.max, UInt32.max, [], 30, "refused"), (55, 30, [], 30, "admin"),
        ] as [(UInt32, UInt32, [UInt32], UInt32?, String)])
    func byDefault(_ user: UInt32, _ group: UInt32, _ groups: [UInt32], _ socketGroup: UInt32?, _ expected: String) {
        let rules = AccessRules.default(daemonUser: 55)
        #expect(rules.areDefault && rules.needSocketGroup)
        #expect(Self.outcome(rules, Self.peer(user, group, groups), socketGroup: socketGroup) == expected)
    }

    private static let ordered = AccessRules([
        AccessRule("a", .users([9]), .reject), AccessRule("b", .groups([20, 21]), .admit(.reader)),
        AccessRule("c", .users([7, 8]), .admit(.writer)), AccessRule("d", .everybody, .admit(.admin)),
    ])

    @Test(
        arguments: [
            (9, 100, [], "refused"), (9, 20, [21], "refused"), (7, 20, [], "reader"), (7, 100, [21], "reader"),
            (7, 100, [22], "writer"), (8, 100, [], "writer"), (1, 100, [], "admin"), (0, 0, [], "admin"),
        ] as [(UInt32, UInt32, [UInt32], String)])
    func theFirstRuleDecides(_ user: UInt32, _ group: UInt32, _ groups: [UInt32], _ expected: String) {
        #expect(Self.outcome(Self.ordered, Self.peer(user, group, groups)) == expected)
    }

    @Test func noRuleNoEntry() {
        for rules in [AccessRules([]), AccessRules([AccessRule("a", .users([7]), .admit(.admin))])] {
            for user: UInt32 in [0, 8, .max] { #expect(Self.outcome(rules, Self.peer(user)) == "refused") }
            #expect(!rules.areDefault && !rules.needSocketGroup)
        }
    }

    @Test(
        arguments: [
            (.any, 7, "anything", "reader"), (.any, 99, "", "reader"),
            (.same, 7, "alice", "reader"), (.same, 7, "bob", "wrong name"), (.same, 7, "Alice", "wrong name"),
            (.same, 7, "", "wrong name"), (.same, 99, "alice", "wrong name"), (.same, 99, "", "wrong name"),
            (.same, 99, "99", "wrong name"),
            (.names(["app", "web"]), 7, "web", "reader"), (.names(["app"]), 7, "alice", "wrong name"),
        ] as [(AccessRule.Claim, UInt32, String, String)])
    func claims(_ claim: AccessRule.Claim, _ user: UInt32, _ name: String, _ expected: String) {
        var rule = AccessRule("a", .everybody, .admit(.reader))
        rule.claim = claim
        // No rule behind it is asked.
        let rules = AccessRules([rule, AccessRule("b", .users([user]), .admit(.admin))])
        #expect(Self.outcome(rules, Self.peer(user), claims: name) == expected)
    }

    @Test func rolesAreOrdered() {
        #expect(Role.reader < .writer && Role.writer < .admin && !(Role.admin < .reader))
    }

    @Test func countsFollowTheRulesName() {
        var counts = SessionCounts()
        // The rules may be replaced meanwhile by ones that allow fewer, or more.
        for (name, maximum, isRoom) in [
            ("a", 2, true), ("a", 2, true), ("a", 2, false), ("b", 1, true), ("b", 1, false), ("a", 1, false), ("a", 3, true),
        ] {
            let isLetIn = counts.add(name, atMost: maximum)
            #expect(isLetIn == isRoom)
        }
        for _ in 0..<5 { counts.remove("a") }
        let (first, second) = (counts.add("a", atMost: 1), counts.add("a", atMost: 1))
        #expect(first && !second)
    }

    @Test("Who has not started is counted with whom its rule lets in, and all whom none lets in together")
    func whoHasNotStarted() {
        var limited = AccessRule("limited", .users([7, 8]), .admit(.writer))
        limited.limits.maximumSessions = 2
        let rules = AccessRules([
            limited, AccessRule("unlimited", .users([9]), .admit(.admin)), AccessRule("never", .users([10]), .reject),
            AccessRule("writers", .users([12]), .admit(.writer)),
        ])
        let few = PlaceLimits.starting
        for (user, expected) in [
            (7, .init(group: .rule("limited"), maximum: 2 + few)), (9, .init(group: .rule("unlimited"), maximum: .max, isAdmins: true)),
            (12, .init(group: .rule("writers"), maximum: 20 + few)),
            (10, .init(group: .strangers, maximum: few)), (11, .init(group: .strangers, maximum: few)),
        ] as [(UInt32, AccessRules.StartingPlace)] {
            #expect(rules.startingPlace(of: Self.peer(user), socketGroup: nil, sessions: 20) == expected)
        }
        #expect(rules.startingPlace(of: nil, socketGroup: nil, sessions: 20).group == .strangers)
        #expect(rules.placesForRefusals == PlaceLimits.refusals + 2 * few)
    }

    @Test func countsBeforeTheStart() {
        var counts = SessionCounts()
        func arrive(_ group: SessionCounts.Group, _ maximum: Int) -> Bool { counts.arrive(group, atMost: maximum) }
        let isIn = counts.add("a", atMost: 2)
        // A session is one of the group's connections; one that starts is no longer among those that have not.
        let results = [arrive(.rule("a"), 3), arrive(.rule("a"), 3), arrive(.rule("a"), 3), arrive(.strangers, 1), arrive(.strangers, 1)]
        #expect(isIn && results == [true, true, false, true, false] && counts.sessions == 1)
        counts.departed(.rule("a"))
        let second = counts.add("a", atMost: 2)
        let full = arrive(.rule("a"), 3)
        counts.departed(.rule("a"))
        let again = arrive(.rule("a"), 3)
        #expect(second && !full && again && counts.sessions == 2)
        counts.remove("a")
        counts.departed(.strangers)
        let stranger = arrive(.strangers, 1)
        #expect(stranger && counts.sessions == 1)
    }

    // MARK: Tables

    private static func table(_ line: Int, _ entries: [(String, AccessTable.Value)]) -> AccessTable {
        AccessTable(entries.enumerated().map { .init($1.0, $1.1, line: line + 1 + $0) }, line: line)
    }

    private static func parse(_ tables: AccessTable...) -> (rules: AccessRules, problems: [AccessProblem]) {
        AccessRules.parse(
            tables,
            user: { name throws(AccountNames.LookUpError) in
                if name == "broken" { throw AccountNames.LookUpError(message: "the directory does not answer") }
                return ["root": 0, "alice": 7, "bob": 8][name]
            },
            group: { ["staff": 20, "web": 21][$0] })
    }

    @Test func allKeys() throws {
        let (rules, problems) = Self.parse(
            Self.table(
                1,
                [
                    ("user", .list([.text("alice"), .text("bob")])), ("role", .text("writer")),
                    ("claim", .list([.text("app")])), ("max_sessions", .number(5)), ("statement_timeout", .text("5s")),
                    ("transaction_timeout", .number(1500)), ("idle_in_transaction_session_timeout", .text("1min")),
                    ("client_write_timeout", .text("2h")), ("writer_time_limit", .text("250ms")),
                ]),
            Self.table(20, [("uid", .list([.number(1), .number(2)])), ("role", .text("reject"))]),
            Self.table(30, [("group", .text("staff")), ("role", .text("reader")), ("claim", .text("same"))]),
            Self.table(40, [("user", .text("all")), ("role", .text("admin")), ("claim", .text("any"))]))
        #expect(problems.isEmpty)
        try #require(rules.rules.count == 4)
        let first = rules.rules[0]
        #expect(first.subject == .users([7, 8]) && first.outcome == .admit(.writer) && first.claim == .names(["app"]))
        #expect(first.limits.maximumSessions == 5 && first.limits.statementTimeoutMilliseconds == 5000)
        #expect(first.limits.transactionTimeoutMilliseconds == 1500)
        #expect(first.limits.idleInTransactionTimeoutMilliseconds == 60_000)
        #expect(first.limits.clientWriteTimeoutMilliseconds == 7_200_000 && first.limits.writerTimeLimitMilliseconds == 250)
        #expect(rules.rules[1].subject == .users([1, 2]) && rules.rules[1].outcome == .reject)
        #expect(rules.rules[2].subject == .groups([20]) && rules.rules[2].claim == .same)
        #expect(rules.rules[3].subject == .everybody && rules.rules[3].limits == AccessLimits())
    }

    @Test func noTablesAreTheDefault() {
        let (rules, problems) = Self.parse()
        #expect(rules == .default() && problems.isEmpty)
    }

    @Test(
        arguments: [
            ([("role", .text("reader"))], 1, "one of"), ([("user", .text("alice"))], 1, "role"),
            ([("user", .text("alice")), ("uid", .number(7)), ("role", .text("reader"))], 1, "no more"),
            ([("user", .text("carol")), ("role", .text("reader"))], 2, "no user \"carol\""),
            ([("group", .text("alice")), ("role", .text("reader"))], 2, "no group \"alice\""),
            ([("user", .text("broken")), ("role", .text("reader"))], 2, "does not answer"),
            ([("user", .text("al\0ice")), ("role", .text("reader"))], 2, "a name"),
            ([("user", .list([])), ("role", .text("reader"))], 2, "a name"),
            ([("user", .list([.text("all"), .text("alice")])), ("role", .text("reader"))], 2, "stands alone"),
            ([("uid", .number(-1)), ("role", .text("reader"))], 2, "user ID"),
            ([("uid", .number(4_294_967_295)), ("role", .text("reader"))], 2, "user ID"),
            ([("uid", .text("7")), ("role", .text("reader"))], 2, "user ID"),
            ([("uid", .number(7)), ("role", .text("owner"))], 3, "role must be"),
            ([("uid", .number(7)), ("role", .number(1))], 3, "role must be"),
            ([("uid", .number(7)), ("role", .text("reader")), ("claim", .text("me"))], 4, "claim must be"),
            ([("uid", .number(7)), ("role", .text("reader")), ("claim", .list([.text("")]))], 4, "claim must be"),
            ([("uid", .number(7)), ("role", .text("reader")), ("max_sessions", .number(-1))], 4, "max_sessions"),
            ([("uid", .number(7)), ("role", .text("reader")), ("statement_timeout", .text("-1s"))], 4, "statement_timeout"),
            ([("uid", .number(7)), ("role", .text("reader")), ("writer_time_limit", .other)], 4, "writer_time_limit"),
            ([("uid", .number(7)), ("role", .text("reject")), ("max_sessions", .number(1))], 1, "rejects"),
        ] as [([(String, AccessTable.Value)], Int, String)])
    func mistakes(_ entries: [(String, AccessTable.Value)], _ line: Int, _ words: String) throws {
        let problem = try #require(Self.parse(Self.table(1, entries)).problems.first)
        #expect(problem.line == line && problem.message.contains(words), "\(problem)")
    }

    @Test func rulesThatAreNeverAsked() {
        let alice = Self.table(1, [("user", .text("alice")), ("role", .text("reader"))])
        let seven = Self.table(11, [("uid", .number(7)), ("role", .text("writer"))])
        let staff = Self.table(21, [("group", .text("staff")), ("role", .text("reader"))])
        let both = Self.table(31, [("group", .list([.text("web"), .text("staff")])), ("role", .text("reader"))])
        let all = Self.table(41, [("user", .text("all")), ("role", .text("reader"))])
        #expect(Self.parse(alice, staff, both, all).problems.isEmpty)
        #expect(Self.parse(alice, seven).problems.map(\.line) == [11])
        #expect(Self.parse(both, staff).problems.map(\.line) == [21])
        #expect(Self.parse(all, alice, staff).problems.map(\.line) == [1, 21])
    }

    // MARK: Ceilings

    @Test func ceilings() throws {
        var limits = AccessLimits()
        limits.statementTimeoutMilliseconds = 100
        var settings = Settings()
        settings.lockTimeoutMilliseconds = 0
        limits.lower(&settings)
        #expect(settings.statementTimeoutMilliseconds == 100 && settings.transactionTimeoutMilliseconds == 0)
        try limits.check(settings)
        for (value, isRefused) in [(0, true), (101, true), (100, false), (1, false)] as [(Int64, Bool)] {
            settings.statementTimeoutMilliseconds = value
            #expect((try? limits.check(settings)) == nil ? isRefused : !isRefused)
        }
    }

    @Test func namesOfThisMachine() throws {
        let ids = [
            try AccountNames.userID(of: "root"), try AccountNames.groupID(of: "root"),
            try AccountNames.userID(of: "no such user"), try AccountNames.groupID(of: "no such group"),
        ]
        #expect(ids == [0, 0, nil, nil])
        #expect(try AccountNames.name(ofUser: 0) == "root")
        #expect(try AccountNames.name(ofGroup: 0) == "root")
        #expect(try AccountNames.name(ofUser: 3_999_999_999) == nil)
    }
}
