/// A statement with thousands of rows in VALUES, or of elements in IN, as far as it says anything of its parameters'
/// types: rows that look like the first one say nothing new.
///
/// Reading a program takes time in proportion to its length times its registers, of which every parameter has one.
struct AbridgedStatement {
    let text: [UInt8]
    /// By number: the parameter in the same place of the first row.
    let standIns: [Int: Int]

    /// Lists of fewer elements stay whole.
    private static let shortList = 8
    /// SQLite makes comparisons of an IN with one or two elements.
    private static let kept = 3

    /// - Parameter sql: with parameters `?n` only.
    init(_ sql: UnsafeRawBufferPointer) {
        let table = TokenTable(sql)
        var reader = Reader(table: table)
        reader.countUses()
        var index = 0
        while index < table.count {
            if table.valuesRows.contains(index) {
                index = reader.abridgeRows(from: index)
            } else if table.tokens[index].kind == .leftParenthesis, index > 0, table.tokens[index - 1].matches("in") {
                index = reader.abridgeList(index)
            } else {
                index += 1
            }
        }
        var text: [UInt8] = []
        var taken = 0
        for range in reader.dropped {
            text += sql[taken..<range.lowerBound]
            taken = range.upperBound
        }
        text += sql[taken...]
        (self.text, standIns) = (text, reader.standIns)
    }

    private struct Reader {
        let table: TokenTable
        var uses: [Int: Int] = [:]
        var standIns: [Int: Int] = [:]
        /// In bytes, in order.
        var dropped: [Range<Int>] = []

        private func number(_ token: SQLToken) -> Int? {
            guard token.kind == .parameter, case .numbered(let number, _) = ParameterName(token.bytes) else { return nil }
            return number
        }

        mutating func countUses() {
            for parameter in table.parameters {
                if let number = number(table.tokens[parameter.index]) { uses[number, default: 0] += 1 }
            }
        }

        /// Where the statement goes on behind the rows.
        mutating func abridgeRows(from first: Int) -> Int {
            var rows: [Range<Int>] = []
            var next = first
            while table.valuesRows.contains(next), let close = table.otherParenthesis(next) {
                rows.append(next..<(close + 1))
                next = close + 2
            }
            abridge(rows)
            return (rows.last?.upperBound ?? first) + (rows.isEmpty ? 1 : 0)
        }

        mutating func abridgeList(_ open: Int) -> Int {
            guard let close = table.otherParenthesis(open) else { return open + 1 }
            var items: [Range<Int>] = []
            var (start, index) = (open + 1, open + 1)
            while index < close {
                if table.tokens[index].kind == .comma {
                    items.append(start..<index)
                    start = index + 1
                }
                index = table.after(index)
            }
            items.append(start..<close)
            guard items.count > AbridgedStatement.shortList else { return open + 1 }
            abridge(items)
            return close + 1
        }

        private mutating func abridge(_ items: [Range<Int>]) {
            // Whose parameters are what they are there, and nowhere else besides.
            guard items.count > AbridgedStatement.shortList, let first = items.prefix(AbridgedStatement.kept).first(where: isUsedHereOnly)
            else { return }
            for item in items.dropFirst(AbridgedStatement.kept) where isLike(first, item) {
                for (mine, other) in zip(first, item) {
                    if let number = number(table.tokens[other]) { standIns[number] = self.number(table.tokens[mine]) }
                }
                // With the comma before it.
                dropped.append(table.tokens[item.lowerBound - 1].start..<table.tokens[item.upperBound - 1].end)
            }
        }

        private func isUsedHereOnly(_ item: Range<Int>) -> Bool {
            item.allSatisfy { token in number(table.tokens[token]).map { uses[$0] == 1 } ?? true }
        }

        /// The same but for the numbers of parameters, none of which stands anywhere else, and the values of literals.
        private func isLike(_ first: Range<Int>, _ item: Range<Int>) -> Bool {
            guard first.count == item.count, !item.isEmpty else { return false }
            return zip(first, item).allSatisfy { mine, other in
                let (a, b) = (table.tokens[mine], table.tokens[other])
                guard a.kind == b.kind else { return false }
                switch a.kind {
                case .parameter: return number(b).map { uses[$0] == 1 } ?? false
                case .string, .blob: return true
                // An integer, a real, and an integer that is too large are different things.
                case .number: return a.bytes.elementsEqual(b.bytes) || (isShortInteger(a) && isShortInteger(b))
                default: return a.bytes.elementsEqual(b.bytes)
                }
            }
        }

        private func isShortInteger(_ token: SQLToken) -> Bool {
            token.bytes.count <= 18 && token.bytes.allSatisfy(isDigit)
        }
    }
}
