/// What stands between the commas of a statement's SELECT or RETURNING: the expressions its result's columns are.
struct SelectList {
    let table: TokenTable
    let items: [Range<Int>]

    /// nil where no list is found.
    ///
    /// - Parameter throughCompound: also the first list of a compound SELECT, which names the columns of all.
    init?(_ table: TokenTable, throughCompound: Bool = false) {
        var arm = 0
        while table[arm]?.kind == .leftParenthesis { arm += 1 }
        if arm > 0 {
            guard throughCompound, let end = table.otherParenthesis(arm - 1) else { return nil }
            self.init(query: arm..<end, in: table)
            return
        }
        guard let index = Self.selectIndex(table) else { return nil }
        self.init(table, from: index + 1, upTo: table.count, throughCompound: throughCompound)
    }

    /// The list of the SELECT that is the first word in the range, or the word behind a common table expression.
    init?(query range: Range<Int>, in table: TokenTable) {
        var verb = range.lowerBound
        if table[verb]?.matches("with") == true {
            repeat { verb = table.after(verb) } while verb < range.upperBound && !table.tokens[verb].matches("select")
        }
        guard verb < range.upperBound, table.tokens[verb].matches("select") else { return nil }
        self.init(table, from: verb + 1, upTo: range.upperBound, throughCompound: true)
    }

    private init?(_ table: TokenTable, from start: Int, upTo end: Int, throughCompound: Bool) {
        self.table = table
        var index = start
        if index < end, table.tokens[index].matches("distinct") || table.tokens[index].matches("all") { index += 1 }
        var items: [Range<Int>] = []
        var start = index
        var listEnded = false
        while index < end {
            let token = table.tokens[index]
            let isCompound = token.isCompoundOperator
            guard throughCompound || !isCompound else { return nil }
            if !listEnded {
                let ends = isCompound || token.kind == .semicolon || token.kind == .rightParenthesis || Self.endsList(table, index)
                if ends || token.kind == .comma {
                    items.append(start..<index)
                    start = index + 1
                }
                listEnded = ends
            } else if throughCompound {
                break
            }
            index = table.after(index)
        }
        if !listEnded {
            guard start <= end else { return nil }
            items.append(start..<end)
        }
        self.items = items
    }

    /// What is found for each of the columns; nil where there is another number of expressions than of columns. Of `*` nothing is
    /// said, nor of what is between two of them.
    func spread<Found>(columnCount: Int, _ find: (Range<Int>) -> Found?) -> [Found?]? {
        guard let star = items.firstIndex(where: isStar), let last = items.lastIndex(where: isStar) else {
            return items.count == columnCount ? items.map(find) : nil
        }
        let (head, tail) = (items[..<star].map(find), items[(last + 1)...].map(find))
        let stars = columnCount - head.count - tail.count
        return stars > 0 ? head + Array(repeating: nil, count: stars) + tail : nil
    }

    /// `expression [AS] name`: the AS of a CAST is in parentheses, and two operands do not stand side by side.
    func withoutAlias(_ item: Range<Int>) -> Range<Int> {
        guard item.count > 1, let last = item.last else { return item }
        if table.tokens[last - 1].matches("as") { return item.dropLast(2) }
        let token = table.tokens[last]
        // `max(n) filter`: without parentheses behind it.
        let isName =
            token.kind == .identifier && (!token.isReservedWord || token.matches("filter") || token.matches("over") || token.matches("by"))
        let canName = token.kind == .quotedIdentifier || token.kind == .string || isName
        return canName && table.endsOperand(last - 1) ? item.dropLast() : item
    }

    private func isStar(_ item: Range<Int>) -> Bool {
        guard let last = item.last, table.tokens[last].isSymbol("*") else { return false }
        return item.count == 1 || table.tokens[last - 1].isSymbol(".")
    }

    /// The main SELECT, the first token or the word after a common table expression's `)`, or a writing statement's RETURNING, which
    /// is a word that names nothing to SQLite.
    private static func selectIndex(_ table: TokenTable) -> Int? {
        guard let first = table[0] else { return nil }
        if first.matches("select") { return 0 }
        var verb = 0
        if first.matches("with") {
            repeat {
                verb = table.after(verb)
                guard let token = table[verb] else { return nil }
                if token.matches("select") { return verb }
                // An arm of a compound SELECT: see CompoundArms.
                let isArm = token.kind == .leftParenthesis && table.tokens[verb - 1].kind == .rightParenthesis
                if isArm, table[verb + 1]?.matches("select") == true { return verb + 1 }
            } while !isWriting(table.tokens[verb]) || table.tokens[verb - 1].kind != .rightParenthesis
        }
        guard isWriting(table.tokens[verb]) else { return nil }
        while verb < table.count, !table.tokens[verb].matches("returning") { verb = table.after(verb) }
        return verb < table.count ? verb : nil
    }

    private static func isWriting(_ token: SQLToken) -> Bool {
        token.matches("insert") || token.matches("replace") || token.matches("update") || token.matches("delete")
    }

    private static func endsList(_ table: TokenTable, _ index: Int) -> Bool {
        let token = table.tokens[index]
        // The FROM of IS [NOT] DISTINCT FROM is an operator's.
        if token.matches("from") {
            return !(table[index - 1]?.matches("distinct") ?? false)
        }
        return token.matches("where") || token.matches("group") || token.matches("having") || token.matches("order")
            || token.matches("limit")
    }
}
