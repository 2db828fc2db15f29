import Testing

@testable import Workload

@Suite struct ExpressionTests {
    static let variables: [String: Int64] = ["scale": 10]

    static func parse(_ text: String) -> Result<Expression, WorkloadError> {
        do throws(WorkloadError) { return .success(try ExpressionParser.parse(text, variables: variables)) } catch {
            return .failure(error)
        }
    }

    @Test(arguments: [
        ("1 + 2 * 3", Expression.integer(7)),
        ("(1 + 2) * 3 - -1", .integer(10)),
        ("7 % 4 / 3", .integer(1)),
        ("scale * 100000", .integer(1_000_000)),
        ("uniform(1, scale*100000)", .uniform(from: 1, to: 1_000_000)),
        ("uniform(-5000, 5000)", .uniform(from: -5000, to: 5000)),
        ("zipfian(100)", .zipfian(100)),
        ("latest( 100 )", .latest(100)),
        ("text(30)", .text(length: 30)),
        ("key(zipfian(9))", .key(.zipfian(9))),
        ("client", .client), ("client()", .client), ("clients", .clients), ("sequence()", .sequence),
        ("client + 1", .arithmetic(.plus, .client, .integer(1))),
    ])
    func understood(_ text: String, _ expected: Expression) {
        #expect(Self.parse(text) == .success(expected))
    }

    @Test(arguments: [
        ("", "a value is missing at the end"),
        ("1 +", "a value is missing at the end"),
        ("1 2", "\"2\" is not expected"),
        ("(1", "a closing parenthesis is missing"),
        ("uniform(1", "a closing parenthesis is missing"),
        ("uniform(2, 1)", "uniform(2, 1) is empty"),
        ("uniform(1)", "uniform() does not take 1 arguments"),
        ("uniform(client, 2)", "uniform() takes numbers and variables, nothing that is drawn"),
        ("zipfian(0)", "zipfian(0): from 1 to 50000000 is possible"),
        ("text(0)", "text(0): from 1 to 1048576 is possible"),
        ("text(3) + 1", "+ is for numbers, not for text"),
        ("key(text(3))", "key() is of a number"),
        ("gauss(1)", "there is no function gauss()"),
        ("skale", "there is no variable \"skale\""),
        ("1 / 0", "division by zero"),
        ("9223372036854775807 + 1", "the number is too large"),
        ("99999999999999999999", "\"99999999999999999999\" is no number"),
        ("1;", "\";\" is not expected"),
        (String(repeating: "(", count: 30) + "1", "too many parentheses"),
    ])
    func refused(_ text: String, _ message: String) {
        #expect(Self.parse(text) == .failure(WorkloadError("\"\(text)\": \(message)")))
    }

    @Test func localsAreNamed() throws {
        let locals = [Transaction.Local(name: "aid", expression: .client), .init(name: "name", expression: .text(length: 3))]
        #expect(
            try ExpressionParser.parse("aid * 2", variables: [:], locals: locals)
                == .arithmetic(.times, .local(0, isText: false), .integer(2)))
        #expect(throws: WorkloadError.self) { try ExpressionParser.parse("name * 2", variables: [:], locals: locals) }
    }
}
