/// Reads `uniform(1, scale * 100000)` and the like.
///
///     expression = term { ("+" | "-") term }
///     term       = factor { ("*" | "/" | "%") factor }
///     factor     = number | name [ "(" arguments ")" ] | "(" expression ")" | "-" factor
struct ExpressionParser {
    private let text: String
    private var rest: Substring
    private let variables: [String: Int64]
    private let locals: [Transaction.Local]
    private var depth = 0
    /// Deeper than anyone writes, and shallow enough for the stack.
    private static let deepest = 20

    static func parse(
        _ text: String, variables: [String: Int64], locals: [Transaction.Local] = []
    ) throws(WorkloadError) -> Expression {
        var parser = ExpressionParser(text, variables, locals)
        let expression = try parser.expression()
        guard parser.next == nil else { throw parser.wrong("\"\(parser.rest)\" is not expected") }
        return expression
    }

    private init(_ text: String, _ variables: [String: Int64], _ locals: [Transaction.Local]) {
        self.text = text
        self.variables = variables
        self.locals = locals
        rest = Substring(text)
    }

    private func wrong(_ message: String) -> WorkloadError { WorkloadError("\"\(text)\": \(message)") }

    /// The next character that is no blank.
    private var next: Character? {
        mutating get {
            rest = rest.drop { $0 == " " }
            return rest.first
        }
    }

    private mutating func take(_ character: Character) -> Bool {
        guard next == character else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func expression() throws(WorkloadError) -> Expression {
        var left = try term()
        while let sign = next, let operation = Expression.Operator(rawValue: sign), operation == .plus || operation == .minus {
            rest.removeFirst()
            left = try arithmetic(operation, left, term())
        }
        return left
    }

    private mutating func term() throws(WorkloadError) -> Expression {
        var left = try factor()
        while let sign = next, let operation = Expression.Operator(rawValue: sign), operation != .plus, operation != .minus {
            rest.removeFirst()
            left = try arithmetic(operation, left, factor())
        }
        return left
    }

    private func arithmetic(
        _ operation: Expression.Operator, _ left: Expression, _ right: Expression
    ) throws(WorkloadError) -> Expression {
        guard !left.isText, !right.isText else { throw wrong("\(operation.rawValue) is for numbers, not for text") }
        if right == .integer(0), operation == .divided || operation == .remainder { throw wrong("division by zero") }
        guard case .integer(let first) = left, case .integer(let second) = right else {
            return .arithmetic(operation, left, right)
        }
        guard let value = operation.apply(first, second) else { throw wrong("the number is too large") }
        return .integer(value)
    }

    private mutating func factor() throws(WorkloadError) -> Expression {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw wrong("too many parentheses") }
        guard let first = next else { throw wrong("a value is missing at the end") }
        if take("-") { return try arithmetic(.minus, .integer(0), factor()) }
        if take("(") {
            let inner = try expression()
            guard take(")") else { throw wrong("a closing parenthesis is missing") }
            return inner
        }
        let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        guard !word.isEmpty else { throw wrong("\"\(first)\" is not expected") }
        rest = rest.dropFirst(word.count)
        if first.isNumber {
            guard let number = Int64(word) else { throw wrong("\"\(word)\" is no number") }
            return .integer(number)
        }
        return take("(") ? try call(String(word), arguments()) : try named(String(word))
    }

    private mutating func arguments() throws(WorkloadError) -> [Expression] {
        if take(")") { return [] }
        var arguments = [try expression()]
        while take(",") { arguments.append(try expression()) }
        guard take(")") else { throw wrong("a closing parenthesis is missing") }
        return arguments
    }

    private func named(_ name: String) throws(WorkloadError) -> Expression {
        if let place = locals.firstIndex(where: { $0.name == name }) {
            return .local(place, isText: locals[place].expression.isText)
        }
        if let value = variables[name] { return .integer(value) }
        switch name {
        case "client": return .client
        case "clients": return .clients
        default: throw wrong("there is no variable \"\(name)\"")
        }
    }

    private func call(_ name: String, _ arguments: [Expression]) throws(WorkloadError) -> Expression {
        switch (name, arguments.count) {
        case ("uniform", 2):
            let (from, to) = (try constant(arguments[0], name), try constant(arguments[1], name))
            guard from <= to else { throw wrong("uniform(\(from), \(to)) is empty") }
            return .uniform(from: from, to: to)
        case ("zipfian", 1): return .zipfian(try size(arguments[0], name))
        case ("latest", 1): return .latest(try size(arguments[0], name))
        case ("text", 1): return .text(length: Int(try size(arguments[0], name, most: Self.longestText)))
        case ("sequence", 0): return .sequence
        case ("client", 0): return .client
        case ("clients", 0): return .clients
        case ("key", 1):
            guard !arguments[0].isText else { throw wrong("key() is of a number") }
            return .key(arguments[0])
        default:
            guard Self.functions.contains(name) else { throw wrong("there is no function \(name)()") }
            throw wrong("\(name)() does not take \(arguments.count) arguments")
        }
    }

    private static let functions = ["uniform", "zipfian", "latest", "text", "sequence", "client", "clients", "key"]

    /// A message of a few such texts still fits what servers take.
    private static let longestText: Int64 = 1 << 20
    /// The constants of `latest` and `zipfian` take a step for each; this many take a second.
    private static let mostItems: Int64 = 50_000_000

    private func constant(_ expression: Expression, _ function: String) throws(WorkloadError) -> Int64 {
        guard case .integer(let value) = expression else {
            throw wrong("\(function)() takes numbers and variables, nothing that is drawn")
        }
        return value
    }

    private func size(_ expression: Expression, _ function: String, most: Int64 = mostItems) throws(WorkloadError) -> Int64 {
        let value = try constant(expression, function)
        guard (1...most).contains(value) else { throw wrong("\(function)(\(value)): from 1 to \(most) is possible") }
        return value
    }
}
