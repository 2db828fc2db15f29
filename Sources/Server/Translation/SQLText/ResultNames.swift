/// What PostgreSQL calls the columns of a result that the statement gives no name: a call is called as its function, an EXISTS
/// `exists`, a cast as what is cast. Programs ask for `row.count`.
///
/// "a name is chosen automatically by PostgreSQL. If the column's expression is a simple column reference then the chosen name is the
/// same as that column's name. In more complex cases a function or type name may be used, or the system may fall back on a generated
/// name such as ?column?." (https://www.postgresql.org/docs/current/sql-select.html). SQLite promises no name: "If there is no AS
/// clause then the name of the column is unspecified and may change from one release of SQLite to the next"
/// (https://www.sqlite.org/c3ref/column_name.html). Where PostgreSQL's would be `?column?` or a type's name, SQLite's says more, and
/// is kept.
struct ResultNames {
    private let table: TokenTable

    /// What to call each of the columns; nil for those that are called as SQLite has them.
    ///
    /// - Parameter isRewritten: SQLite has another text, so what it calls an expression is not what the client has sent.
    static func names(in statement: UnsafeRawBufferPointer, columnCount: Int, isRewritten: Bool = false) -> [String?]? {
        let table = TokenTable(statement)
        guard let list = SelectList(table, throughCompound: true) else { return nil }
        let names = ResultNames(table: table)
        return list.spread(columnCount: columnCount) { item in
            guard list.withoutAlias(item).count == item.count else { return nil }
            return names.name(of: item) ?? (isRewritten ? names.text(of: item, in: statement) : nil)
        }
    }

    /// Of a column of the result that has no name of its own. One that is a table's, or an inner query's, SQLite names.
    private func name(of item: Range<Int>) -> String? {
        guard !item.isEmpty, case let first = table.tokens[item.lowerBound] else { return nil }
        if item.count == 1, first.matches("current_date") || first.matches("current_time") || first.matches("current_timestamp") {
            return first.name
        }
        return columnName(item) == nil ? inner(item) ?? (isCase(item) ? "case" : nil) : nil
    }

    /// As SQLite would call it. nil: it is a column.
    private func text(of item: Range<Int>, in statement: UnsafeRawBufferPointer) -> String? {
        guard let first = item.first, let last = item.last, columnName(item) == nil else { return nil }
        return String(decoding: statement[table.tokens[first].start..<table.tokens[last].end], as: UTF8.self)
    }

    /// Alone, or in parentheses: a cast of it is called as its type.
    private func isCase(_ item: Range<Int>) -> Bool {
        var range = item
        while let first = range.first, table.tokens[first].kind == .leftParenthesis, table.otherParenthesis(first) == range.last {
            range = first + 1..<range.upperBound - 1
        }
        guard let first = range.first, table.tokens[first].matches("case") else { return false }
        return table.endOfCase(first, in: range) == range.last
    }

    /// Of an expression that gives its name to what it stands in.
    ///
    /// - Parameter isInCase: it stands in a CASE. Another one there would be read once more for each that it stands in.
    private func inner(_ item: Range<Int>, isInCase: Bool = false) -> String? {
        var range = withoutCast(item)
        while let first = range.first, table.tokens[first].kind == .leftParenthesis, table.otherParenthesis(first) == range.last {
            range = withoutCast(first + 1..<range.upperBound - 1)
            guard let list = SelectList(query: range, in: table) else { continue }
            guard let item = list.items.first, let last = item.last else { return nil }
            range = list.withoutAlias(item)
            guard range.count == item.count else { return table.tokens[last].name }
        }
        if let name = columnName(range) { return name }
        guard let first = range.first, case let token = table.tokens[first] else { return nil }
        if token.matches("case") { return isInCase ? nil : caseName(range) }
        guard range.count > 2, table.tokens[first + 1].kind == .leftParenthesis, let close = table.otherParenthesis(first + 1),
            close < range.upperBound, isCall(close, in: range)
        else { return nil }
        if token.matches("exists") { return close == range.last ? "exists" : nil }
        guard token.isIdentifierLike, !token.isReservedWord else { return nil }
        guard token.matches("cast") else { return token.name }
        var end = first + 2
        while end < close, !table.tokens[end].matches("as") { end = table.after(end) }
        return inner(first + 2..<min(end, close), isInCase: isInCase)
    }

    /// `a`, `t.a`.
    private func columnName(_ range: Range<Int>) -> String? {
        guard let last = range.last, range.count % 2 == 1, !table.tokens[last].matches("true"), !table.tokens[last].matches("false")
        else { return nil }
        for (offset, index) in range.enumerated() {
            let token = table.tokens[index]
            guard offset % 2 == 0 ? token.isIdentifierLike && !token.isReservedWord : token.isSymbol(".") else { return nil }
        }
        return table.tokens[last].name
    }

    /// Behind a call's arguments stand only its FILTER and OVER.
    private func isCall(_ close: Int, in range: Range<Int>) -> Bool {
        var index = close + 1
        for word in ["filter", "over"] as [StaticString] where index < range.upperBound && table.tokens[index].matches(word) {
            guard index + 1 < range.upperBound else { return false }
            index = table.after(index + 1)
        }
        return index == range.upperBound
    }

    /// What its ELSE is, if that has a name.
    private func caseName(_ range: Range<Int>) -> String? {
        guard let end = table.endOfCase(range.lowerBound, in: range), end == range.last else { return nil }
        var otherwise: Int?
        var index = range.lowerBound + 1
        while index < end {
            if table.tokens[index].matches("else") { otherwise = index }
            index = table.endOfCase(index).map { $0 + 1 } ?? table.after(index)
        }
        return otherwise.flatMap { inner($0 + 1..<end, isInCase: true) }
    }

    /// Without `::type` or COLLATE, if nothing but such stands behind it.
    private func withoutCast(_ range: Range<Int>) -> Range<Int> {
        var index = range.lowerBound
        while index < range.upperBound {
            if isCast(index), index > range.lowerBound {
                var rest = index
                while rest < range.upperBound, isCast(rest) || isOfTypeName(rest) { rest = table.after(rest) }
                return rest == range.upperBound ? range.lowerBound..<index : range
            }
            index = table.after(index)
        }
        return range
    }

    private func isCast(_ index: Int) -> Bool {
        table.tokens[index].firstByte == UInt8(ascii: ":") || table.tokens[index].matches("collate")
    }

    private func isOfTypeName(_ index: Int) -> Bool {
        let token = table.tokens[index]
        return token.kind == .leftParenthesis || (token.isIdentifierLike && !token.isReservedWord)
    }
}
