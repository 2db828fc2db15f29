/// DECLARE ... CURSOR (https://www.postgresql.org/docs/current/sql-declare.html).
struct CursorDeclaration: Sendable, Equatable {
    var name = ""
    var isBinary = false
    /// nil when not said.
    var scrolls: Bool?
    var holds = false
    /// The bytes of the query.
    var query = 0..<0
}

/// FETCH and MOVE (https://www.postgresql.org/docs/current/sql-fetch.html).
struct CursorFetch: Sendable, Equatable {
    /// NEXT is `forward(1)`, PRIOR `backward(1)`, FIRST `absolute(1)`, LAST `absolute(-1)`; nil is ALL.
    enum Direction: Sendable, Equatable {
        case forward(Int64?), backward(Int64?), absolute(Int64), relative(Int64)

        /// What it comes to from where a cursor is.
        enum Way: Equatable {
            /// Past so many rows, and then so many are taken; nil: all.
            case forward(passedOver: Int, count: Int?)
            /// The row that the cursor is on, once more.
            case again
            /// Rows that it has passed.
            case back
        }

        /// - Parameters:
        ///   - position: so many rows the cursor has given or passed over.
        ///   - isPastEnd: it has looked for one more than there are, so that it is on none.
        func way(from position: Int, isPastEnd: Bool) -> Way {
            switch self {
            case .forward(nil): .forward(passedOver: 0, count: nil)
            case .forward(0), .backward(0), .relative(0): .again
            case .forward(let count?) where count > 0: .forward(passedOver: 0, count: Int(count))
            // Backwards by less than nothing is forward: "if (count < 0) { fdirection = FETCH_FORWARD; count = -count; }"
            // (https://github.com/postgres/postgres/blob/master/src/backend/tcop/pquery.c).
            case .backward(let count?) where count < 0: .forward(passedOver: 0, count: Int(clamping: count.magnitude))
            case .relative(let count) where count > 0: .forward(passedOver: Int(count - 1), count: 1)
            case .absolute(0) where position == 0 && !isPastEnd: .forward(passedOver: 0, count: 0)
            // Behind the last row stands nothing, which counts: "if (portal->atEnd) pos++" (ibid.).
            case .absolute(let row) where row > position + (isPastEnd ? 1 : 0): .forward(passedOver: Int(row) - 1 - position, count: 1)
            default: .back
            }
        }
    }

    var name: String
    var direction: Direction
    var isMove: Bool
}

extension TokenCursor {
    mutating func cursorDeclaration() throws(SQLSyntaxError) -> CursorDeclaration {
        var cursor = CursorDeclaration()
        cursor.name = try identifier()
        while !accept("cursor") {
            if accept("binary") {
                cursor.isBinary = true
            } else if !accept("insensitive"), !accept("asensitive") {
                // Those two change nothing: every cursor is insensitive (see Session+OpenPortals).
                let no = accept("no")
                try expect("scroll")
                cursor.scrolls = !no
            }
        }
        if accept("with") {
            try expect("hold")
            cursor.holds = true
        } else if accept("without") {
            try expect("hold")
        }
        try expect("for")
        cursor.query = withoutReadOnly(try remainder())
        return cursor
    }

    /// Without FOR READ ONLY at its end, which libpqxx writes, and SQLite does not know. It is what every cursor here is for.
    private func withoutReadOnly(_ query: Range<Int>) -> Range<Int> {
        guard bytes(query).suffix(4).lazy.map(lowerASCII).elementsEqual("only".utf8) else { return query }
        var lexer = SQLLexer(bytes(query))
        var lastThree: [SQLToken] = []
        var end = 0
        while let token = lexer.next() {
            if lastThree.count == 3 { end = lastThree.removeFirst().end }
            lastThree.append(token)
        }
        guard end > 0, lastThree[0].matches("for"), lastThree[1].matches("read"), lastThree[2].matches("only") else { return query }
        return query.lowerBound..<(query.lowerBound + end)
    }

    mutating func cursorFetch(isMove: Bool) throws(SQLSyntaxError) -> CursorFetch {
        // None of the direction words is reserved: `FETCH next` fetches from the cursor `next`.
        var ahead = self
        if let name = try? ahead.identifier(), ahead.isAtEnd {
            self = ahead
            return CursorFetch(name: name, direction: .forward(1), isMove: isMove)
        }
        let direction = try fetchDirection()
        if !accept("from") { _ = accept("in") }
        return CursorFetch(name: try identifier(), direction: direction, isMove: isMove)
    }

    private mutating func fetchDirection() throws(SQLSyntaxError) -> CursorFetch.Direction {
        if accept("next") { return .forward(1) }
        if accept("prior") { return .backward(1) }
        if accept("first") { return .absolute(1) }
        if accept("last") { return .absolute(-1) }
        if accept("absolute") { return .absolute(try signedInteger()) }
        if accept("relative") { return .relative(try signedInteger()) }
        if accept("forward") { return .forward(try optionalCount()) }
        if accept("backward") { return .backward(try optionalCount()) }
        if accept("all") { return .forward(nil) }
        if seesNumber { return .forward(try signedInteger()) }
        // FETCH FROM name, FETCH IN name, FETCH name.
        return .forward(1)
    }

    private var seesNumber: Bool {
        guard let token else { return false }
        return token.kind == .number || token.isSymbol("-") || token.isSymbol("+")
    }

    private mutating func optionalCount() throws(SQLSyntaxError) -> Int64? {
        if accept("all") { return nil }
        return seesNumber ? try signedInteger() : 1
    }

    private mutating func signedInteger() throws(SQLSyntaxError) -> Int64 {
        let negative = accept(symbol: "-")
        if !negative { _ = accept(symbol: "+") }
        guard let token, token.kind == .number, let value = Int64((negative ? "-" : "") + token.text) else {
            throw failure()
        }
        advance()
        return value
    }
}
