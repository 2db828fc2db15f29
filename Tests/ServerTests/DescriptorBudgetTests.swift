import Testing

@testable import Server

/// How many sessions a limit of open files leaves room for.
@Suite struct DescriptorBudgetTests {
    private static let rules = AccessRules([AccessRule("a", .everybody, .admit(.writer))])
    private static let limited: AccessRules = {
        var rule = AccessRule("a", .users([7]), .admit(.writer))
        rule.limits.maximumSessions = 5
        return AccessRules([rule, AccessRule("b", .everybody, .reject)])
    }()

    @Test func whatIsLeft() {
        let budget = DescriptorBudget(limit: 1024, readers: 8, threads: 10)
        #expect(budget.own == 12 * 8 + 10 + 1 + 32)
        #expect(budget.sessions(Self.rules) == 1024 - 139 - 32 - 64)
        // One more rule that has to refuse some: it must not do so at the cost of others.
        #expect(budget.sessions(Self.limited) == budget.sessions(Self.rules) - PlaceLimits.starting)
        let more = DescriptorBudget(limit: 1024, readers: 100, threads: 102)
        #expect(more.sessions(Self.rules) < 0)
    }

    @Test func inWords() throws {
        let budget = DescriptorBudget(limit: 1024, readers: 8, threads: 10)
        #expect(budget.shortage(of: 789, Self.rules) == nil)
        let words = try #require(budget.shortage(of: 1000, Self.rules))
        for figure in ["1000", "789", "1024", "139", "8 readers", "96", "raise it to 1235", "LimitNOFILE="] {
            #expect(words.contains(figure), "\(figure): \(words)")
        }
        #expect(DescriptorBudget(limit: 1235, readers: 8, threads: 10).shortage(of: 1000, Self.rules) == nil)
        #expect(DescriptorBudget(limit: .max, readers: 256, threads: 300).shortage(of: 100_000, Self.rules) == nil)
    }
}
