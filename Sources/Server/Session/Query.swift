import POSIX
import Pool
import PostgresWire

/// One statement's text with all that is known of it. Shared by every session that sends the same text.
final class Query: Sendable {
    enum Kind: Sendable {
        /// SQLite runs it.
        case sqlite
        case transaction(TransactionStatement)
        case session(SessionStatement)
        case copy(CopyStatement)
        /// A SELECT that drivers send unasked and that the session answers itself.
        case chatter(ChatterQuery)
        /// A question to PostgreSQL's catalogs, or why it is not understood.
        case catalog(Result<CatalogStatement, CatalogStatement.Refusal>)
        /// Only in a session of the console's.
        case console(ConsoleStatement)
        case empty
    }

    let text: SQLText
    /// What the client sent, where SQLite gets something else.
    let source: SQLText?
    var sent: SQLText { source ?? text }
    /// When there are very many.
    let numbered: NumberedParameters?
    let head: StatementHead
    let kind: Kind
    /// A query that reads what nobody else is to write until its transaction ends: it takes the writer. See `RowLock`.
    let locksRows: Bool
    /// Why this definition would make something else than its client means, if it makes anything.
    let condition: DefinitionCheck.Condition?
    /// It is not to wait for the writer (NOWAIT).
    let isImpatient: Bool
    /// The query inside DECLARE ... CURSOR FOR or PREPARE ... AS.
    let inner: Query?
    /// Of an inner one: what its positions are behind in the statement that its client has sent.
    private let charactersBefore: Int
    let likeEscape: LikePatterns.Escape
    private let analysisBox = Locked<Analysis?>(nil)

    /// What preparing the statement told; nil before it was first prepared.
    var analysis: Analysis? {
        get { analysisBox.withLock { $0 } }
        set { analysisBox.withLock { $0 = newValue } }
    }

    /// What it takes, roughly, with what is known of it.
    var keptBytes: Int {
        text.bytes.count + (source?.bytes.count ?? 0) + (inner?.keptBytes ?? 0)
            + (numbered.map {
                $0.text.bytes.count + $0.textForSQLite.count + $0.keptBytes
            } ?? 0)
            + (analysis?.keptBytes ?? 0) + bytesOfTranslation
    }

    /// Of what has been read in the text: of a list of single letters or digits eight times as much as the text.
    private var bytesOfTranslation: Int {
        switch kind {
        case .catalog(.success(let statement)): statement.keptBytes
        case .session(.execute(_, let arguments)): arguments.count * MemoryLayout<Range<Int>>.stride
        case .session(.prepare(_, let types, _)): types.count * MemoryLayout<String>.stride
        case .session(.set(_, _, let values?)): values.count * MemoryLayout<String>.stride
        case .chatter(let chatter): chatter.items.count * MemoryLayout<ChatterQuery.Item>.stride
        case .copy(let copy): copy.names * MemoryLayout<String>.stride
        default: 0
        }
    }

    /// Reads the statement's first words, and all of it when it is one the session handles by itself.
    ///
    /// - Parameter likeEscape: what escapes in the patterns of LIKE.
    init(
        _ sql: UnsafeRawBufferPointer, charactersBefore: Int = 0, likeEscape: LikePatterns.Escape = .none
    ) throws(WireError) {
        (self.charactersBefore, self.likeEscape) = (charactersBefore, likeEscape)
        head = StatementHead(sql)
        condition = try DefinitionCheck.check(sql, head)
        do { kind = try Self.kind(of: sql, head) } catch {
            throw WireError(
                state: .syntaxError,
                message: error.range.isEmpty
                    ? "syntax error at end of input"
                    : "syntax error at or near \"\(String(decoding: sql[error.range], as: UTF8.self))\"",
                position: ErrorTranslation.characterPosition(ofByte: error.offset, in: sql))
        }
        let lock = Self.lock(in: sql, head)
        (locksRows, isImpatient) = (lock != nil && [.select, .values].contains(head.main), lock?.isImpatient ?? false)
        var rewritten: [UInt8]?
        if case .sqlite = kind {
            rewritten = try Self.rewritten(sql, head, lock)
            if likeEscape == .backslash { rewritten = try Self.escaped(sql, head, rewritten) ?? rewritten }
            if rewritten == nil { try ForeignQuotes.check(sql) }
            try rewritten?.withUnsafeBufferPointer { bytes throws(WireError) in try ForeignQuotes.check(UnsafeRawBufferPointer(bytes)) }
            numbered = rewritten.map { $0.withUnsafeBytes { NumberedParameters($0) } } ?? NumberedParameters(sql)
            rewritten = numbered?.textForSQLite ?? rewritten
        } else {
            numbered = nil
        }
        text = rewritten.map { $0.withUnsafeBytes { SQLText(copying: $0) } } ?? SQLText(copying: sql)
        source = rewritten == nil ? nil : SQLText(copying: sql)
        switch kind {
        case .session(.declare(let cursor)):
            inner = try Self.inner(sql, cursor.query, allowed: [.select, .values], likeEscape)
        case .session(.prepare(_, _, let statement)):
            inner = try Self.inner(sql, statement, allowed: [.select, .values, .insert, .replace, .update, .delete], likeEscape)
        case .copy(let copy):
            guard case .query(let range) = copy.source else {
                inner = nil
                break
            }
            inner = try Self.inner(sql, range, allowed: [.select, .values, .insert, .replace, .update, .delete], likeEscape)
        default:
            inner = nil
        }
    }

    init(text: SQLText, head: StatementHead, kind: Kind) {
        (self.text, self.head, self.kind, inner, source, numbered) = (text, head, kind, nil, nil, nil)
        (locksRows, isImpatient, charactersBefore, condition, likeEscape) = (false, false, 0, nil, .none)
    }

    /// An error with its position in what the client has sent.
    func placed(_ error: WireError) -> WireError { Self.placed(error, behind: charactersBefore) }

    private static func placed(_ error: WireError, behind characters: Int) -> WireError {
        guard characters > 0, let position = error.position else { return error }
        var placed = error
        placed.position = position + characters
        return placed
    }

    /// In definitions, which others will use, LIKE is what it is to SQLite.
    private static func escaped(_ sql: UnsafeRawBufferPointer, _ head: StatementHead, _ text: [UInt8]?) throws(WireError) -> [UInt8]? {
        var main = head.main
        if main == .explain, let start = startOfExplained(sql) {
            main = StatementHead(UnsafeRawBufferPointer(rebasing: sql[start...])).main
        }
        switch main {
        case .select, .values, .insert, .replace, .update, .delete: break
        default: return nil
        }
        guard let text else { return try LikePatterns.escaped(sql) }
        do throws(WireError) {
            return try text.withUnsafeBufferPointer { bytes throws(WireError) in try LikePatterns.escaped(UnsafeRawBufferPointer(bytes)) }
        } catch {
            throw unplaced(error)
        }
    }

    /// Its place is one in another text than the client has.
    private static func unplaced(_ error: WireError) -> WireError {
        var elsewhere = error
        elsewhere.position = nil
        return elsewhere
    }

    /// What drivers write for PostgreSQL only, as SQLite takes it. Definitions are kept as they were written, but for casts of a DEFAULT.
    private static func rewritten(
        _ sql: UnsafeRawBufferPointer, _ head: StatementHead, _ lock: RowLock?
    ) throws(WireError) -> [UInt8]? {
        switch head.main {
        case .select, .values, .insert, .replace, .update, .delete: break
        case .explain: return try explained(sql)
        case .create, .alter: return PostgresSpelling.definition(sql)
        default: return nil
        }
        // What PostgreSQL's drivers write is no number to SQLite behind that.
        guard let text = try spelled(sql, head, lock) else {
            try NumericCoercion.check(sql)
            return nil
        }
        try text.withUnsafeBufferPointer { bytes throws(WireError) in try NumericCoercion.check(UnsafeRawBufferPointer(bytes)) }
        return text
    }

    private static func spelled(
        _ sql: UnsafeRawBufferPointer, _ head: StatementHead, _ lock: RowLock?
    ) throws(WireError) -> [UInt8]? {
        guard let unlocked = lock?.removed(from: sql) else { return try spelled(sql, head) }
        do throws(WireError) {
            return try unlocked.withUnsafeBufferPointer { bytes throws(WireError) in
                try spelled(UnsafeRawBufferPointer(bytes), head) ?? unlocked
            }
        } catch { throw unplaced(error) }
    }

    private static func spelled(_ sql: UnsafeRawBufferPointer, _ head: StatementHead) throws(WireError) -> [UInt8]? {
        guard let arms = try CompoundArms.rewritten(sql) else { return try spelledArms(sql, head) }
        return try arms.withUnsafeBufferPointer { bytes throws(WireError) in
            try spelledArms(UnsafeRawBufferPointer(bytes), head) ?? arms
        }
    }

    private static func spelledArms(_ sql: UnsafeRawBufferPointer, _ head: StatementHead) throws(WireError) -> [UInt8]? {
        guard head.main == .insert || head.main == .replace else { return try PostgresSpelling.rewritten(sql) }
        // Types stand in them, too.
        guard let insert = try DefaultValues.rewritten(sql) ?? SentinelInsert.rewritten(sql) else {
            return try PostgresSpelling.rewritten(sql)
        }
        return try spelled(insert) ?? insert
    }

    /// Definitions have none: a trigger may be called FOR.
    private static func lock(in sql: UnsafeRawBufferPointer, _ head: StatementHead) -> RowLock? {
        switch head.main {
        case .select, .values, .insert, .replace, .update, .delete: RowLock(in: sql)
        default: nil
        }
    }

    /// EXPLAIN, or EXPLAIN QUERY PLAN, of a statement as it would be run.
    private static func explained(_ sql: UnsafeRawBufferPointer) throws(WireError) -> [UInt8]? {
        guard let start = startOfExplained(sql) else { return nil }
        let statement = UnsafeRawBufferPointer(rebasing: sql[start...])
        let head = StatementHead(statement)
        do throws(WireError) { return try rewritten(statement, head, lock(in: statement, head)).map { sql[..<start] + $0 } } catch {
            throw placed(error, behind: ErrorTranslation.characterPosition(ofByte: start, in: sql) - 1)
        }
    }

    private static func startOfExplained(_ sql: UnsafeRawBufferPointer) -> Int? {
        var lexer = SQLLexer(sql)
        guard let explain = lexer.next(), var first = lexer.next() else { return nil }
        if first.matches("query"), lexer.next()?.matches("plan") == true, let next = lexer.next() { first = next }
        return explain.matches("explain") && !first.matches("explain") ? first.start : nil
    }

    private static func spelled(_ sql: [UInt8]) throws(WireError) -> [UInt8]? {
        try sql.withUnsafeBufferPointer { bytes throws(WireError) in try PostgresSpelling.rewritten(UnsafeRawBufferPointer(bytes)) }
    }

    /// The statement inside DECLARE or PREPARE. Never another of these: they would nest without end.
    private static func inner(
        _ sql: UnsafeRawBufferPointer, _ range: Range<Int>, allowed: [Verb], _ likeEscape: LikePatterns.Escape
    ) throws(WireError) -> Query {
        let text = UnsafeRawBufferPointer(rebasing: sql[range])
        let position = ErrorTranslation.characterPosition(ofByte: range.lowerBound, in: sql)
        guard allowed.contains(StatementHead(text).main) else {
            throw WireError(
                state: .syntaxError, message: "a query is expected here", position: position)
        }
        do { return try Query(text, charactersBefore: position - 1, likeEscape: likeEscape) } catch {
            throw placed(error, behind: position - 1)
        }
    }

    private static func kind(
        of sql: UnsafeRawBufferPointer, _ head: StatementHead
    ) throws(SQLSyntaxError) -> Kind {
        switch head.verb {
        case .empty:
            return .empty
        case .select:
            if let chatter = ChatterQuery.parse(sql) { return .chatter(chatter) }
            return CatalogStatement.parse(sql).map { .catalog($0) } ?? .sqlite
        case .values, .with:
            return CatalogStatement.parse(sql).map { .catalog($0) } ?? .sqlite
        case .insert, .replace, .update, .delete, .explain, .pragma, .create, .alter, .drop:
            return .sqlite
        case .copy:
            return .copy(try CopyStatement.parse(sql))
        default:
            if let transaction = try TransactionStatement.parse(sql) { return .transaction(transaction) }
            if let session = try SessionStatement.parse(sql) { return .session(session) }
            return .sqlite
        }
    }

    /// The query whose rows and parameters this statement's are.
    var prepared: Query {
        if case .session(.declare) = kind { return inner ?? self }
        return self
    }
}
