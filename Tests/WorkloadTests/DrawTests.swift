import Testing

@testable import Workload

@Suite struct DrawTests {
    /// Draws so many values of an expression.
    static func draw(_ text: String, _ count: Int, _ draws: inout Draws) throws -> [Value] {
        let program = Program(try ExpressionParser.parse(text, variables: [:]))
        return withUnsafeTemporaryAllocation(of: Value.self, capacity: ClassPlan.stackCapacity + 1) { memory in
            guard let base = memory.baseAddress else { return [] }
            base.initialize(to: Value(integer: 0))
            return (0..<count).map { _ in program.value(&draws, values: base, stack: base + 1) }
        }
    }

    static func numbers(_ text: String, _ count: Int, seed: UInt64 = 1, client: Int = 0) throws -> [Int64] {
        var draws = Draws(seed: seed, classIndex: 0, client: client, clients: 4)
        return try draw(text, count, &draws).map(\.number)
    }

    @Test func theSameSeedDrawsTheSame() throws {
        let first = try Self.numbers("uniform(1, 1000000000)", 100)
        #expect(try Self.numbers("uniform(1, 1000000000)", 100) == first)
        #expect(try Self.numbers("uniform(1, 1000000000)", 100, seed: 2) != first)
        #expect(try Self.numbers("uniform(1, 1000000000)", 100, client: 1) != first)
        var other = Draws(seed: 1, classIndex: 1, client: 0, clients: 4)
        #expect(try Self.draw("uniform(1, 1000000000)", 100, &other).map(\.number) != first)
    }

    /// The streams of neighbouring clients have nothing in common.
    @Test func clientsAreIndependent() throws {
        let drawn = try (0..<50).flatMap { try Self.numbers("uniform(0, 4611686018427387903)", 20, client: $0) }
        #expect(Set(drawn).count == drawn.count)
    }

    /// Whatever the parser lets pass has room on the stack.
    @Test func theDeepestExpressions() throws {
        for step in ["client + client * (", "-(", "client - -client * (", "(client + client) * ("] {
            var text = "client"
            var deepest = text
            for _ in 1...100 where (try? ExpressionParser.parse(text, variables: [:])) != nil {
                deepest = text
                text = step + text + ")"
            }
            #expect(deepest != text && deepest.count > 20 * step.count / 3)
            _ = try Self.numbers(deepest, 1, client: 1)
        }
    }

    /// One client of 64 draws ten rows in each microsecond of a millisecond: the run of the next millisecond has others.
    @Test func sequencesOfTwoRuns() throws {
        let now: Int64 = 1_800_000_000_000_000_000
        func draws(_ client: Int, _ time: Int64) -> Draws {
            Draws(
                seed: 1, classIndex: 0, client: client, clients: 64, firstInSequence: Draws.firstInSequence(nanosecondsSince1970: time))
        }
        var (fast, next) = (draws(63, now), draws(0, now + 1_000_000))
        let last = try #require(Self.draw("sequence()", 10_000, &fast).last)
        #expect(try last.number < Self.draw("sequence()", 1, &next)[0].number)
    }

    @Test func uniform() throws {
        let drawn = try Self.numbers("uniform(-2, 2)", 50_000)
        for value in Int64(-2)...2 {
            let share = Double(drawn.count { $0 == value }) / Double(drawn.count)
            #expect(abs(share - 0.2) < 0.01)
        }
        #expect(drawn.allSatisfy { (-2...2).contains($0) })
        let all = try Self.numbers("uniform(-9223372036854775807, 9223372036854775807)", 100)
        #expect(all.contains { $0 < 0 } && all.contains { $0 > 0 })
    }

    /// The k-th most frequent comes 1 / k^0.99 as often as the first.
    @Test func zipfianShape() {
        let zipfian = Zipfian(items: 1000)
        var random = Random(seed: 1, stream: 0)
        var counts = Array(repeating: 0, count: 1000)
        let draws = 400_000
        for _ in 0..<draws { counts[Int(zipfian.draw(&random))] += 1 }
        // zeta(1000) with 0.99 is 7.729.
        #expect(abs(Double(counts[0]) / Double(draws) - 1 / 7.729) < 0.003)
        #expect(abs(Double(counts[0]) / Double(counts[1]) - 1.986) < 0.05)
        #expect(counts[2] > counts[20] && counts[20] > counts[200] && counts[999] > 0)
    }

    @Test func scrambledZipfian() throws {
        let drawn = try Self.numbers("zipfian(100000)", 200_000)
        #expect(drawn.allSatisfy { (0..<100_000).contains($0) })
        let counts = Dictionary(grouping: drawn, by: { $0 }).mapValues(\.count)
        let first = try #require(counts.max { $0.value < $1.value })
        // The most frequent of ten billion comes once in 26.47 times, and stands anywhere.
        #expect(abs(Double(first.value) / Double(drawn.count) - 1 / 26.47) < 0.003)
        #expect(first.key == Zipfian.scattered(0) % 100_000)
        #expect(counts.count > 20_000)
    }

    @Test func latestPrefersTheNewest() throws {
        var draws = Draws(seed: 1, classIndex: 0, client: 1, clients: 4)
        let before = try Self.draw("latest(1000)", 20_000, &draws).map(\.number)
        #expect(before.allSatisfy { (0..<1000).contains($0) })
        #expect(before.count { $0 == 999 } > before.count { $0 == 998 })
        #expect(try Self.draw("sequence()", 3, &draws).map(\.number) == [1, 5, 9])
        let after = try Self.draw("latest(1000)", 20_000, &draws).map(\.number)
        // The row this client has added last, as number 1000 + sequence().
        #expect(after.count { $0 == 1009 } > after.count { $0 == 1005 })
        #expect(after.count { $0 == 1009 } > 2000)
    }

    @Test func sequencesOfClientsDoNotMeet() throws {
        var drawn: [Int64] = []
        for client in 0..<4 {
            var draws = Draws(seed: 1, classIndex: 0, client: client, clients: 4, firstInSequence: 100)
            drawn += try Self.draw("sequence()", 10, &draws).map(\.number)
        }
        #expect(drawn.sorted() == Array(100..<140))
    }

    @Test func texts() throws {
        var draws = Draws(seed: 1, classIndex: 0, client: 0, clients: 1)
        let texts = try Self.draw("text(33)", 2, &draws).map(\.text)
        #expect(texts.allSatisfy { $0.count == 33 && $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" } })
        #expect(texts[0] != texts[1])
        #expect(try Self.draw("key(7 + client)", 1, &draws)[0].text == "user000000000007")
        #expect(try Self.draw("key(1234567890123)", 1, &draws)[0].text == "user1234567890123")
    }

    @Test(arguments: [
        (0, "0"), (7, "7"), (-7, "-7"), (1_000_000, "1000000"), (Int64.max, "9223372036854775807"), (Int64.min, "-9223372036854775808"),
    ])
    func decimals(_ number: Int64, _ text: String) {
        #expect(Value(integer: number).text == text)
    }

    @Test func arithmetic() throws {
        #expect(try Self.numbers("(client + 3) * 2 - clients % 3", 1, client: 2) == [9])
        // Where there is no result the left side stays.
        #expect(try Self.numbers("7 / (client - client)", 1) == [7])
    }

    @Test func weights() throws {
        let workload = try Workload(
            """
            [[class]]
            name = "a"
            [[class.transaction]]
            weight = 95
            statements = [ { sql = "SELECT 1" } ]
            [[class.transaction]]
            weight = 5
            statements = [ { sql = "SELECT 2" } ]
            """)
        let plan = ClassPlan(workload.classes[0])
        var draws = Draws(seed: 1, classIndex: 0, client: 0, clients: 1)
        let picked = (0..<100_000).map { _ in plan.pick(&draws) }
        #expect(abs(Double(picked.count { $0 == 1 }) / 100_000 - 0.05) < 0.005)
    }
}
