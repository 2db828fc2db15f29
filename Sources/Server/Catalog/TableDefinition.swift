import SQLite

/// What a CREATE TABLE says that SQLite's pragmas do not: the names of constraints, and CHECKs.
struct TableDefinition {
    struct Constraint: Equatable {
        enum Kind: Equatable { case primaryKey, unique, check, foreignKey }
        var kind: Kind
        var name: String?
        /// The columns in parentheses, or the one the constraint stands behind.
        var columns: [String]
        /// A CHECK's condition, as written.
        var text = ""
        var isDeferrable = false, isDeferred = false
    }

    private(set) var constraints: [Constraint] = []
    /// By column: the expression that it is calculated by, as written.
    private(set) var generated: [FoldedName: String] = [:]

    init(_ sql: String) { sql.withBytes { read($0) } }

    private mutating func read(_ sql: UnsafeRawBufferPointer) {
        var cursor = TokenCursor(sql)
        while let token = cursor.token, token.kind != .leftParenthesis { cursor.advance() }
        guard cursor.accept(.leftParenthesis) else { return }
        while let token = cursor.token, token.kind != .rightParenthesis {
            var column: String?
            if !Self.beginsTableConstraint(token) {
                column = token.name
                cursor.advance()
            }
            readDefinition(of: column, &cursor, sql)
            if !cursor.accept(.comma) { return }
        }
    }

    private static func beginsTableConstraint(_ token: SQLToken) -> Bool {
        token.matches("constraint") || token.matches("primary") || token.matches("unique") || token.matches("check")
            || token.matches("foreign")
    }

    /// Up to the comma or parenthesis that ends it.
    private mutating func readDefinition(of column: String?, _ cursor: inout TokenCursor, _ sql: UnsafeRawBufferPointer) {
        let first = constraints.count
        var name: String?
        while let token = cursor.token, token.kind != .comma, token.kind != .rightParenthesis {
            if cursor.accept("constraint") {
                name = try? cursor.identifier()
                continue
            }
            if let column, cursor.accept("as"), cursor.token?.kind == .leftParenthesis {
                generated[column.foldedName] = String(decoding: Self.inside(Self.skip(&cursor), sql), as: UTF8.self)
                continue
            }
            guard let kind = Self.acceptKind(&cursor, isColumn: column != nil) else {
                readDeferral(&cursor, since: first)
                continue
            }
            _ = cursor.accept("key")
            var constraint = Constraint(kind: kind, name: name, columns: column.map { [$0] } ?? [])
            name = nil
            if cursor.sees("references") { cursor.advance() }
            if cursor.token?.kind == .leftParenthesis {
                let inside = Self.inside(Self.skip(&cursor), sql)
                if kind == .check {
                    constraint.text = String(decoding: inside, as: UTF8.self)
                } else if column == nil {
                    constraint.columns = Self.firstNames(inside)
                }
            }
            constraints.append(constraint)
        }
    }

    /// Which constraint begins here, passing over its first word; nil: none.
    private static func acceptKind(_ cursor: inout TokenCursor, isColumn: Bool) -> Constraint.Kind? {
        if cursor.accept("primary") { return .primaryKey }
        if cursor.accept("unique") { return .unique }
        if cursor.accept("check") { return .check }
        if cursor.accept("foreign") { return .foreignKey }
        // Behind a column FOREIGN KEY is left out.
        return isColumn && cursor.sees("references") ? .foreignKey : nil
    }

    /// What a word says of the constraint before it; every other is passed over, with what it has in parentheses.
    ///
    /// - Parameter first: where this definition's own constraints begin.
    private mutating func readDeferral(_ cursor: inout TokenCursor, since first: Int) {
        let isOfOne = constraints.count > first
        if cursor.accept("not") {
            // NOT DEFERRABLE, which is so anyway, or NOT NULL.
            Self.skip(&cursor)
        } else if isOfOne, cursor.accept("deferrable") {
            constraints[constraints.count - 1].isDeferrable = true
        } else if isOfOne, cursor.accept("deferred") {
            constraints[constraints.count - 1].isDeferred = true
        } else {
            Self.skip(&cursor)
        }
    }

    /// Passes over a token, or over parentheses with all that is in them.
    @discardableResult
    private static func skip(_ cursor: inout TokenCursor) -> Range<Int> {
        let start = cursor.token?.start ?? cursor.end
        var depth = 0
        repeat {
            if cursor.token?.kind == .leftParenthesis { depth += 1 }
            if cursor.token?.kind == .rightParenthesis { depth -= 1 }
            cursor.advance()
        } while depth > 0 && cursor.token != nil
        return start..<cursor.consumedEnd
    }

    /// What the parentheses enclose.
    private static func inside(_ range: Range<Int>, _ sql: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: sql[(range.lowerBound + 1)..<max(range.lowerBound + 1, range.upperBound - 1)])
    }

    /// `a, b COLLATE NOCASE DESC`: a and b.
    private static func firstNames(_ list: UnsafeRawBufferPointer) -> [String] {
        var names: [String] = []
        var isFirst = true
        for token in SQLLexer(list) {
            if isFirst, token.isIdentifierLike { names.append(token.name) }
            isFirst = token.kind == .comma
        }
        return names
    }
}
