import SQLite

/// What stands around a parameter, as far as it decides what class the parameter's value must have.
///
/// SQLite compares an integer and a text without converting either unless one side is a column or a CAST
/// (https://www.sqlite.org/datatype3.html#type_conversions_prior_to_comparison), so a text sent for a number that is
/// compared with an expression gives wrong rows and no error. Only what is certain is claimed.
enum ParameterContext: Sendable, Equatable {
    case number
    /// The same, compared with what is true or false by its form: `(a > 3) = $1`.
    case truth
    case text
    /// Compared with, or assigned to, the column with this (perhaps qualified) name: its affinity decides.
    case column(Range<Int>)
    /// The value for this column, from 0, of an INSERT without a list of columns.
    case insertColumn(Int)
    /// LIMIT or OFFSET: an integer.
    case limit
    /// json_each() takes it apart.
    case array
    /// The class makes no difference: `$1 IS NULL`.
    case any
    case undecided
}

struct ParameterUse: Sendable, Equatable {
    /// The parameter's token, which is its name for `sqlite3_bind_parameter_name`.
    let name: Range<Int>
    let context: ParameterContext
}

enum NumericContext {
    /// One element for each parameter token, in their order.
    static func uses(_ statement: UnsafeRawBufferPointer) -> [ParameterUse] {
        let table = TokenTable(statement)
        guard !table.parameters.isEmpty else { return [] }
        var reader = ParameterReader(table)
        return table.parameters.map { parameter in
            ParameterUse(name: table.tokens[parameter.index].range, context: reader.context(parameter))
        }
    }

    /// Of the literals that begin at these offsets, which ascend, as if they were parameters.
    static func contexts(of offsets: [Int], in statement: UnsafeRawBufferPointer) -> [ParameterContext] {
        let table = TokenTable(statement)
        var reader = ParameterReader(table)
        var rest = offsets[...]
        var result: [ParameterContext] = []
        // Each open parenthesis, and how many commas there were in it.
        var open: [(index: Int, ordinal: Int)] = []
        for (index, token) in table.tokens.enumerated() {
            switch token.kind {
            case .leftParenthesis: open.append((index, 0))
            case .rightParenthesis: _ = open.popLast()
            case .comma where !open.isEmpty: open[open.count - 1].ordinal += 1
            case _ where token.start == rest.first:
                rest = rest.dropFirst()
                let (opener, ordinal) = open.last ?? (-1, 0)
                result.append(reader.context(TokenTable.Parameter(index: index, opener: opener, ordinal: ordinal)))
            default: break
            }
        }
        return result
    }
}

private struct ParameterReader {
    private let table: TokenTable
    private let extent: OperandExtent
    private let classifier: ExpressionClassifier
    private let computed: ComputedNames
    private let insert: InsertTarget?
    /// By the list's parenthesis: the left operand of an IN, which all parameters of its list share. Lists may stand in each other.
    private var memberships: [Int: ParameterContext] = [:]

    init(_ table: TokenTable) {
        self.table = table
        extent = OperandExtent(table: table)
        classifier = ExpressionClassifier(table: table)
        computed = ComputedNames(table)
        insert = InsertTarget(table)
    }

    mutating func context(_ parameter: TokenTable.Parameter) -> ParameterContext {
        let (low, high) = widened(parameter.index)
        let (left, right) = (table[low - 1], table[high + 1])
        if let operand = asOperand(low, left, right) { return operand }
        if let comparison = asCompared(low, high, right) { return comparison }
        if let keyword = asClause(low, left, right) { return keyword }
        if let member = asMember(high) { return member }
        if let cast = asCast(low, high) { return cast }
        guard low == parameter.index, parameter.opener >= 0 else { return .undecided }
        return inList(parameter, left, right)
    }

    /// The parameter together with the parentheses that hold nothing else and are no call's or list's.
    private func widened(_ index: Int) -> (Int, Int) {
        var (low, high) = (index, index)
        while table[low - 1]?.kind == .leftParenthesis, table.otherParenthesis(low - 1) == high + 1 {
            if let before = table[low - 2] {
                let groups =
                    before.isComparison || before.isArithmetic || before.isSymbol("||")
                    || before.kind == .leftParenthesis || before.matches("and") || before.matches("or")
                    || before.matches("where") || before.matches("not")
                guard groups else { break }
            }
            low -= 1
            high += 1
        }
        return (low, high)
    }

    /// Operators that bind tighter than a comparison.
    private func asOperand(_ low: Int, _ left: SQLToken?, _ right: SQLToken?) -> ParameterContext? {
        if let left, left.isArithmetic || left.isSymbol("~") {
            let isUnary = !table.endsOperand(low - 2)
            // A unary plus converts nothing, and a minus or tilde binds before anything else does.
            if isUnary { return left.isSymbol("+") ? .undecided : .number }
        }
        if left?.isSymbol("->") ?? false || left?.isSymbol("->>") ?? false { return .undecided }
        if left?.isSymbol("||") ?? false || right?.isSymbol("||") ?? false { return .text }
        if right?.isSymbol("->") ?? false || right?.isSymbol("->>") ?? false { return .text }
        if left?.isArithmetic ?? false || right?.isArithmetic ?? false { return .number }
        return nil
    }

    private func asCompared(_ low: Int, _ high: Int, _ right: SQLToken?) -> ParameterContext? {
        let before = comparisonBefore(low)
        let after = comparisonAfter(high)
        if right?.matches("isnull") ?? false || right?.matches("notnull") ?? false { return .any }
        switch (before, after) {
        case (nil, nil): return nil
        case (let index?, nil):
            guard right.map(extent.ends) ?? true else { return .undecided }
            return extent.ending(at: index - 1).map(context(against:)) ?? .undecided
        case (nil, let index?):
            return extent.starting(at: index).map(context(against:)) ?? .undecided
        default: return .undecided
        }
    }

    /// `$1 IN ('a', 'b')`: what all of the list are, but for NULL.
    private func asMember(_ high: Int) -> ParameterContext? {
        let word = table[high + 1]?.matches("not") ?? false ? high + 2 : high + 1
        guard table[word]?.matches("in") ?? false, table[word + 1]?.kind == .leftParenthesis, let close = table.otherParenthesis(word + 1)
        else { return nil }
        var found = ParameterContext.any
        var start = word + 2
        while start < close {
            var end = start
            while end < close, table.tokens[end].kind != .comma { end = table.after(end) }
            let next = context(against: start..<Swift.min(end, close))
            guard next == .any || next == .number || next == .truth || next == .text, found == .any || next == .any || next == found else {
                return .undecided
            }
            if next != .any { found = next }
            start = end + 1
        }
        return found
    }

    /// Where the operator before the parameter starts: `=`, IS, IS NOT, IS [NOT] DISTINCT FROM, BETWEEN and its AND.
    private func comparisonBefore(_ low: Int) -> Int? {
        var index = low - 1
        guard let token = table[index] else { return nil }
        if token.isComparison { return index }
        if token.matches("and"), table.partner[index] >= 0 { index = Int(table.partner[index]) }
        if table.tokens[index].matches("between") {
            return table[index - 1]?.matches("not") ?? false ? index - 1 : index
        }
        if token.matches("from"), table[index - 1]?.matches("distinct") ?? false { index -= 2 }
        if table[index]?.matches("not") ?? false, table[index - 1]?.matches("is") ?? false { index -= 1 }
        return table[index]?.matches("is") ?? false ? index : nil
    }

    /// Where the operand after the operator after the parameter starts.
    private func comparisonAfter(_ high: Int) -> Int? {
        var index = high + 1
        guard let token = table[index] else { return nil }
        if token.isComparison { return index + 1 }
        guard token.matches("is") else { return nil }
        index += 1
        if table[index]?.matches("not") ?? false { index += 1 }
        if table[index]?.matches("distinct") ?? false, table[index + 1]?.matches("from") ?? false { index += 2 }
        return index
    }

    private func context(against operand: Range<Int>) -> ParameterContext {
        if let name = columnName(operand) { return name }
        guard let other = classifier.classify(operand) else { return .undecided }
        if other == .null { return .any }
        return other == .bool ? .truth : other.isNumber ? .number : other.isText ? .text : .undecided
    }

    /// A name, perhaps qualified, perhaps in parentheses; one that the statement itself computes decides nothing.
    private func columnName(_ operand: Range<Int>) -> ParameterContext? {
        guard let last = operand.last, table.tokens[last].isIdentifierLike else { return nil }
        let (first, token) = (operand.lowerBound, table.tokens[last])
        for index in operand {
            let isName = (index - first) % 2 == 0
            guard isName ? table.tokens[index].isIdentifierLike : table.tokens[index].isSymbol(".") else { return nil }
        }
        let isWord =
            token.matches("null") || token.matches("true") || token.matches("false")
            || token.matches("current_date") || token.matches("current_time") || token.matches("current_timestamp")
        guard operand.count > 1 || !isWord else { return nil }
        return computed.contains(token) ? .undecided : .column(table.tokens[first].start..<token.end)
    }

    private func asClause(_ low: Int, _ left: SQLToken?, _ right: SQLToken?) -> ParameterContext? {
        if let right, right.matches("preceding") || right.matches("following") { return .limit }
        if let right, right.matches("like") || right.matches("glob") { return .text }
        if let right, right.matches("not"), let next = table[low + 2] {
            if next.matches("like") || next.matches("glob") { return .text }
            if next.matches("null") { return .any }
        }
        guard let left else { return nil }
        if left.matches("limit") || left.matches("offset") { return .limit }
        if left.kind == .comma, table[low - 3]?.matches("limit") ?? false { return .limit }
        if left.matches("like") || left.matches("glob") || left.matches("match") || left.matches("regexp")
            || left.matches("escape")
        {
            return .text
        }
        return nil
    }

    /// A whole element of a parenthesised list: of IN, of a row of VALUES, or of a call's arguments.
    private mutating func inList(
        _ parameter: TokenTable.Parameter, _ left: SQLToken?, _ right: SQLToken?
    ) -> ParameterContext {
        let opener = parameter.opener
        guard left?.kind == .leftParenthesis || left?.kind == .comma, let before = table[opener - 1] else {
            return .undecided
        }
        guard right?.kind == .rightParenthesis || right?.kind == .comma else { return .undecided }
        if table.valuesRows.contains(opener) { return insert?.context(parameter.ordinal) ?? .undecided }
        if before.matches("in") { return member(of: opener) }
        guard before.kind == .identifier, !before.isReservedWord, before.bytes.count < 24 else { return .undecided }
        if before.matches("json_each"), parameter.ordinal == 0 { return .array }
        if before.matches("unnest") || before.matches(Unnest.nameOfOne) { return .array }
        if before.matches("generate_series") || before.matches("pg_sleep") { return .number }
        switch ExpressionClass.argument(of: before.name, at: parameter.ordinal) {
        case .text, .textOrBytes: return .text
        case .numeric: return .number
        default: return .undecided
        }
    }

    /// `CAST($1 AS type)`, perhaps with more parentheses and a COLLATE.
    private func asCast(_ low: Int, _ high: Int) -> ParameterContext? {
        guard table[low - 1]?.kind == .leftParenthesis, table[low - 2]?.matches("cast") ?? false else { return nil }
        var next = high + 1
        while table[next]?.matches("collate") ?? false { next += 2 }
        guard table[next]?.matches("as") ?? false else { return nil }
        guard let close = table.otherParenthesis(low - 1), let type = classifier.classify((low - 2)..<(close + 1)) else {
            return .undecided
        }
        return type.isNumber ? .number : type.isText ? .text : .undecided
    }

    private mutating func member(of opener: Int) -> ParameterContext {
        if let known = memberships[opener] { return known }
        let word = table[opener - 2]?.matches("not") ?? false ? opener - 2 : opener - 1
        let found = extent.ending(at: word - 1).map(context(against:)) ?? .undecided
        memberships[opener] = found
        return found
    }
}
