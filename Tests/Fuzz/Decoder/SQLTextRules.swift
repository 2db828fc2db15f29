@testable import PostgresWire
@testable import Server

/// Readers of SQL text, for any bytes at all.
enum SQLTextRules {
    static func check(_ bytes: UnsafeRawBufferPointer) {
        checkTokens(bytes)
        checkStatements(bytes)
        readEverything(bytes)
        _ = CatalogNames.appear(in: bytes)
        _ = ParameterName(bytes)
    }

    private static func checkTokens(_ bytes: UnsafeRawBufferPointer) {
        var end = 0
        var separated: [UInt8] = []
        var tokens: [(SQLToken.Kind, [UInt8])] = []
        for token in SQLLexer(bytes) {
            require(token.start >= end && token.end > token.start && token.end <= bytes.count, "tokens follow each other")
            end = token.end
            tokens.append((token.kind, Array(token.bytes)))
            separated += token.bytes + [0x20]
            _ = token.name
        }
        // A vertical tab is a space behind a space, and illegal elsewhere; so its neighbours matter, as they do to SQLite.
        guard !bytes.contains(0x0B) else { return }
        // An open bracket is illegal by itself before a quote, which may have stood in a comment.
        let hasComment = zip(bytes, bytes.dropFirst()).contains { ($0, $1) == (0x2D, 0x2D) || ($0, $1) == (0x2F, 0x2A) }
        guard !hasComment || !bytes.contains(UInt8(ascii: "[")) else { return }
        separated.withUnsafeBytes { separated in
            var index = 0
            for token in SQLLexer(separated) {
                // An unterminated one takes the space that was added.
                let isLast = index == tokens.count - 1
                require(
                    index < tokens.count && token.kind == tokens[index].0
                        && (isLast || token.bytes.elementsEqual(tokens[index].1)),
                    "a token is the same between spaces: \(index < tokens.count ? tokens[index].1 : [])")
                index += 1
            }
            require(index == tokens.count, "as many tokens between spaces")
        }
    }

    private static func checkStatements(_ bytes: UnsafeRawBufferPointer) {
        var end = 0
        var count = 0
        for range in StatementSplitter(bytes) {
            require(range.lowerBound >= end && !range.isEmpty && range.upperBound <= bytes.count, "statements follow each other")
            end = range.upperBound
            count += 1
            guard count <= 64 else { break }
            onExactCopy(UnsafeRawBufferPointer(rebasing: bytes[range])) { statement in
                var again = StatementSplitter(statement)
                let only = again.next()
                require(only?.lowerBound == 0 && again.next() == nil, "one statement of several is one statement")
                readEverything(statement)
            }
        }
    }

    /// Everything that is asked of a statement's text.
    private static func readEverything(_ statement: UnsafeRawBufferPointer) {
        let head = StatementHead(statement)
        checkParsers(statement, head)
        for use in NumericContext.uses(statement) {
            require(isInside(use.name, statement), "a parameter is in its statement")
            if case .column(let name) = use.context { require(isInside(name, statement), "a column's name is in the statement") }
        }
        _ = try? LikePatterns.escaped(statement)
        _ = try? CompoundArms.rewritten(statement)
        _ = PostgresSpelling.definition(statement)
        for columns in 0...3 {
            if let types = SelectListTypes.infer(statement, columnCount: columns) {
                require(types.count == columns, "a type for each column")
            }
            if let names = ResultNames.names(in: statement, columnCount: columns) {
                require(names.count == columns, "a name for each column")
            }
        }
    }

    private static func checkParsers(_ statement: UnsafeRawBufferPointer, _ head: StatementHead) {
        do throws(WireError) {
            let query = try Query(statement)
            check(query, statement)
        } catch {
            check(error, statement)
        }
        do throws(WireError) { _ = try Query(console: statement) } catch { check(error, statement) }
    }

    private static func check(_ query: Query, _ statement: UnsafeRawBufferPointer) {
        guard case .session(let session) = query.kind else { return }
        switch session {
        case .prepare(_, _, let inner): require(isInside(inner, statement), "a prepared statement is in its statement")
        case .execute(_, let arguments):
            for argument in arguments { require(isInside(argument, statement), "an argument is in its statement") }
        case .declare(let cursor): require(isInside(cursor.query, statement), "a cursor's query is in its statement")
        default: break
        }
    }

    private static func check(_ error: WireError, _ statement: UnsafeRawBufferPointer) {
        require(error.severity == .error, "bad SQL does not end the session")
        if let position = error.position {
            require((1...statement.count + 1).contains(position), "an error's position is in the statement or at its end")
        }
    }

    private static func isInside(_ range: Range<Int>, _ statement: UnsafeRawBufferPointer) -> Bool {
        range.lowerBound >= 0 && range.upperBound <= statement.count && !range.isEmpty
    }
}
