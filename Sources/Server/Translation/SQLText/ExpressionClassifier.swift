import PostgresWire

/// Decides the class of an expression from its tokens, where a small table can; nil is "cannot tell".
///
/// It never parses fully. The root operator is the one of lowest precedence outside of parentheses
/// (https://www.sqlite.org/lang_expr.html#operators_and_parse_affecting_attributes), and its kind is enough.
struct ExpressionClassifier {
    let table: TokenTable
    /// What cannot be told beside booleans is left to the columns' declarations, and not given up.
    var seeksBooleans = false
    /// Deeper nesting is not followed; it keeps the stack bounded whatever a client sends.
    static let depthLimit = 24

    func classify(_ range: Range<Int>, depth: Int = 0) -> ExpressionClass? {
        guard depth < Self.depthLimit, !range.isEmpty else { return nil }
        let inner = withoutParentheses(range)
        guard !inner.isEmpty else { return nil }
        switch rootOperator(inner) {
        case .undecided: return nil
        case .boolean: return .bool
        case .bitwise: return .int8
        case .arithmetic: return .numeric
        case .text: return .text
        case .none: return primary(inner, depth)
        }
    }

    private func withoutParentheses(_ range: Range<Int>) -> Range<Int> {
        var (low, high) = (range.lowerBound, range.upperBound)
        while high - low > 2, table.tokens[low].kind == .leftParenthesis, table.otherParenthesis(low) == high - 1 {
            low += 1
            high -= 1
        }
        return low..<high
    }

    private enum Root: Int { case none, text, arithmetic, bitwise, boolean, undecided }

    private func rootOperator(_ range: Range<Int>) -> Root {
        var root = Root.none
        var lastOfConcatenation = Root.none
        var index = range.lowerBound
        while index < range.upperBound {
            let token = table.tokens[index]
            if isMisleading(index, range.lowerBound) { return .undecided }
            if token.matches("case"), let end = table.endOfCase(index, in: range) {
                index = end + 1
                continue
            }
            let isBinary = index > range.lowerBound && table.endsOperand(index - 1)
            let found = kind(of: token, isBinary: isBinary)
            if found == .undecided, !token.isSymbol("->>") { return .undecided }
            // || and -> and ->> share one precedence and group to the left: the last of them is the root.
            if found == .text || token.isSymbol("->>") {
                lastOfConcatenation = found
            } else if found.rawValue > root.rawValue {
                root = found
            }
            index = table.after(index)
        }
        return root == .none ? lastOfConcatenation : root
    }

    /// Behind `x IN (…)` and `x ISNULL`, and before a NOT, an operator that binds tighter takes what the looser one has made.
    private func isMisleading(_ index: Int, _ first: Int) -> Bool {
        guard index > first else { return false }
        let token = table.tokens[index]
        if token.matches("not") { return isTight(table.tokens[index - 1]) || table.tokens[index - 1].isSymbol("~") }
        guard isTight(token) else { return false }
        var index = index
        while index - 3 >= first, table.tokens[index - 2].matches("collate") { index -= 2 }
        let before = table.tokens[index - 1]
        if before.matches("isnull") || before.matches("notnull") { return true }
        if before.matches("null") {
            return index - 3 >= first && table.tokens[index - 2].matches("not") && !table.tokens[index - 3].matches("is")
        }
        var operand = before.kind == .rightParenthesis ? table.otherParenthesis(index - 1) ?? index - 1 : index - 1
        // `main.t`, `main.f(x)`.
        if before.kind == .rightParenthesis, operand - 2 > first, table.tokens[operand - 2].isSymbol(".") { operand -= 1 }
        while operand - 2 > first, table.tokens[operand - 1].isSymbol(".") { operand -= 2 }
        guard operand > first, before.kind == .rightParenthesis || before.isIdentifierLike else { return false }
        // IN takes a table's name, or a call, as well as a list.
        return table.tokens[operand - 1].matches("in") || (operand - 1 > first && table.tokens[operand - 2].matches("in"))
    }

    private func isTight(_ token: SQLToken) -> Bool {
        token.isArithmetic || token.isSymbol("||") || token.isSymbol("->") || token.isSymbol("->>")
    }

    private func kind(of token: SQLToken, isBinary: Bool) -> Root {
        switch token.kind {
        case .operatorOrPunctuation:
            if token.isSymbol("||") || token.isSymbol("->") { return .text }
            if token.isSymbol("->>") { return .undecided }
            if token.isComparison { return .boolean }
            // A unary plus changes nothing; it is the primary's business.
            guard isBinary, token.isArithmetic else { return .none }
            return token.isBitwise ? .bitwise : .arithmetic
        case .identifier:
            if token.matches("and") || token.matches("or") || token.matches("not") || token.matches("is")
                || token.matches("in") || token.matches("between") || token.matches("isnull")
                || token.matches("notnull")
            {
                return .boolean
            }
            if isBinary, token.matches("like") || token.matches("glob") { return .boolean }
            // REGEXP and MATCH call functions that may return anything.
            if isBinary, token.matches("regexp") || token.matches("match") { return .undecided }
            return token.matches("case") || token.matches("select") || token.matches("with")
                || token.matches("values") ? .undecided : .none
        case .comma, .semicolon, .illegal: return .undecided
        default: return .none
        }
    }

    /// An expression without a binary operator outside of parentheses.
    private func primary(_ range: Range<Int>, _ depth: Int) -> ExpressionClass? {
        let first = table.tokens[range.lowerBound]
        if range.count == 1 { return single(first) }
        if first.isSymbol("~") { return .int8 }
        if first.isSymbol("-") {
            guard range.count == 2, table.tokens[range.lowerBound + 1].kind == .number else { return .numeric }
            return number("-" + table.tokens[range.lowerBound + 1].text)
        }
        if first.isSymbol("+") { return classify(range.dropFirst(), depth: depth + 1) }
        if first.matches("case") { return branches(range, depth) }
        if range.count > 2, table.tokens[range.upperBound - 2].matches("collate") {
            return classify(range.dropLast(2), depth: depth + 1)
        }
        guard first.kind == .identifier, table.tokens[range.lowerBound + 1].kind == .leftParenthesis,
            let close = table.otherParenthesis(range.lowerBound + 1), close < range.upperBound
        else { return nil }
        return call(first, arguments: (range.lowerBound + 2)..<close, rest: (close + 1)..<range.upperBound, depth)
    }

    /// `$1::int8` is bound as what it says.
    private func parameter(_ token: SQLToken) -> ExpressionClass? {
        guard case .numbered(_, let type?) = ParameterName(token.bytes) else { return nil }
        let name = String(decoding: UnsafeRawBufferPointer(rebasing: token.bytes[type]), as: UTF8.self)
        switch TypeOID(sqlName: name) {
        case .int2, .int4, .int8: return .int8
        case .float4, .float8: return .float8
        case .text, .varchar: return .text
        case .bytea: return .bytea
        case .bool: return .bool
        default: return nil
        }
    }

    private func single(_ token: SQLToken) -> ExpressionClass? {
        switch token.kind {
        case .string: return .text
        case .blob: return .bytea
        case .parameter: return parameter(token)
        case .number:
            return number(token.text)
        case .identifier:
            if token.matches("null") { return .null }
            if token.matches("true") || token.matches("false") { return .bool }
            return token.matches("current_date") || token.matches("current_time")
                || token.matches("current_timestamp") ? .text : nil
        default: return nil
        }
    }

    /// With its sign: the smallest integer has no positive counterpart.
    private func number(_ text: String) -> ExpressionClass {
        // A hexadecimal literal is a 64-bit integer; a decimal one too large for that becomes a real.
        if text.contains("x") || text.contains("X") { return .int8 }
        return Int64(text.filter { $0 != "_" }) == nil ? .float8 : .int8
    }

    private func call(
        _ name: SQLToken, arguments: Range<Int>, rest: Range<Int>, _ depth: Int
    ) -> ExpressionClass? {
        guard isWindowOrFilter(rest) else { return nil }
        if name.matches("exists") { return rest.isEmpty ? .bool : nil }
        if name.matches("cast") { return rest.isEmpty ? cast(arguments, depth) : nil }
        // No built-in function's name is longer, and no time is spent on a name that is.
        guard name.bytes.count < 24 else { return nil }
        let function = name.name
        switch function {
        case "coalesce", "ifnull": return merged(arguments, depth, dropping: 0)
        case "min", "max", "greatest", "least":
            let found = merged(arguments, depth, dropping: 0)
            return found == .perhapsBoolean ? nil : found
        case "iif": return merged(arguments, depth, dropping: 1)
        case "nullif": return nullIf(arguments, depth)
        case "substr", "substring":
            let found = merged(firstArgument(arguments), depth, dropping: 0)
            return found == .text || found == .bytea ? found : .textOrBytes
        default: return ExpressionClass(function: function)
        }
    }

    /// Its first argument. Each is looked at once: they may stand in each other, and twice on each level is 2^24 times in all.
    private func nullIf(_ arguments: Range<Int>, _ depth: Int) -> ExpressionClass? {
        let first = firstArgument(arguments)
        guard let found = part(first, depth) else { return nil }
        guard found == .perhapsBoolean, first.upperBound < arguments.upperBound else { return found }
        // What is compared with a number or a text is no boolean.
        let other = merged((first.upperBound + 1)..<arguments.upperBound, depth, dropping: 0)
        return other.flatMap(found.merged) == found ? found : nil
    }

    /// `FILTER (...)`, `OVER (...)`, `OVER name`, both, or nothing.
    private func isWindowOrFilter(_ range: Range<Int>) -> Bool {
        var index = range.lowerBound
        if index < range.upperBound, table.tokens[index].matches("filter") {
            guard index + 1 < range.upperBound, table.tokens[index + 1].kind == .leftParenthesis else { return false }
            index = table.after(index + 1)
        }
        if index < range.upperBound, table.tokens[index].matches("over"), index + 1 < range.upperBound {
            index = table.after(index + 1)
        }
        return index == range.upperBound
    }

    /// CAST(x AS type): the AS is the last one on its level, and a type name is never long.
    private func cast(_ arguments: Range<Int>, _ depth: Int) -> ExpressionClass? {
        for index in arguments.suffix(16).reversed() where table.tokens[index].matches("as") {
            // SQLite takes CAST(x AS ), which converts to nothing in particular.
            guard index + 1 < arguments.upperBound else { return nil }
            let words = table.tokens[(index + 1)..<arguments.upperBound]
            // To SQLite that is a number's type, and what is true or false stays 1 or 0.
            if words.count == 1, NumericCoercion.isBoolean(words[index + 1]) {
                let operand = classify(arguments.lowerBound..<index, depth: depth + 1)
                if operand == .bool { return .bool }
            }
            return ExpressionClass(castTo: words.map { $0.name.lowercased() }.joined(separator: " "))
        }
        return nil
    }

    private func firstArgument(_ arguments: Range<Int>) -> Range<Int> {
        var index = arguments.lowerBound
        while index < arguments.upperBound, table.tokens[index].kind != .comma { index = table.after(index) }
        return arguments.lowerBound..<Swift.min(index, arguments.upperBound)
    }

    private func part(_ range: Range<Int>, _ depth: Int) -> ExpressionClass? {
        classify(range, depth: depth + 1) ?? (seeksBooleans ? .perhapsBoolean : nil)
    }

    /// What follows each THEN, and the ELSE; without one it may be NULL, as everything may.
    private func branches(_ range: Range<Int>, _ depth: Int) -> ExpressionClass? {
        guard table.endOfCase(range.lowerBound, in: range) == range.upperBound - 1 else { return nil }
        var result = ExpressionClass.null
        var start: Int?
        var index = range.lowerBound + 1
        while index < range.upperBound {
            let token = table.tokens[index]
            let ends = index == range.upperBound - 1
            if ends || token.matches("when") || token.matches("then") || token.matches("else") {
                if let start {
                    guard let next = part(start..<index, depth), let both = result.merged(next) else { return nil }
                    result = both
                }
                start = token.matches("then") || token.matches("else") ? index + 1 : nil
            }
            index = token.matches("case") ? (table.endOfCase(index, in: range) ?? index) + 1 : table.after(index)
        }
        return result
    }

    /// The class that all arguments after the first `dropping` have in common.
    private func merged(_ arguments: Range<Int>, _ depth: Int, dropping: Int) -> ExpressionClass? {
        var result = ExpressionClass.null
        var position = 0
        var start = arguments.lowerBound
        while start < arguments.upperBound {
            let argument = firstArgument(start..<arguments.upperBound)
            if position >= dropping {
                guard let next = part(argument, depth), let both = result.merged(next) else { return nil }
                result = both
            }
            position += 1
            start = argument.upperBound + 1
        }
        return result
    }
}
