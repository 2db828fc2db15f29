/// The first keyword of a statement, which decides who handles it.
enum Verb: UInt8, Sendable {
    // SQLite's.
    case select, values, with, insert, replace, update, delete, explain, pragma, create, alter, drop
    case reindex, analyze, vacuum, attach, detach
    // Transaction control.
    case begin, start, commit, end, rollback, abort, savepoint, release
    // What PostgreSQL has and the session answers.
    case set, reset, show, discard, deallocate, prepare, execute, declare, fetch, move, close
    case listen, unlisten, notify, copy, truncate, lock, checkpoint, grant, revoke, comment, `do`, call
    case cluster, refresh, reassign, security, load, `import`, merge, table
    /// A parenthesised query, a word that starts no statement, or anything else.
    case other
    /// No token at all.
    case empty

    init(_ statement: UnsafeRawBufferPointer) {
        var lexer = SQLLexer(statement)
        guard let token = lexer.next() else {
            self = .empty
            return
        }
        self.init(token)
    }

    init(_ token: SQLToken) {
        guard token.kind == .identifier else {
            self = .other
            return
        }
        self =
            switch lowerASCII(token.firstByte) {
            case UInt8(ascii: "a")...UInt8(ascii: "c"): Self.fromAToC(token)
            case UInt8(ascii: "d")...UInt8(ascii: "k"): Self.fromDToK(token)
            case UInt8(ascii: "l")...UInt8(ascii: "r"): Self.fromLToR(token)
            default: Self.fromSToZ(token)
            }
    }

    private static func fromAToC(_ token: SQLToken) -> Verb {
        if token.matches("begin") { return .begin }
        if token.matches("commit") { return .commit }
        if token.matches("create") { return .create }
        if token.matches("close") { return .close }
        if token.matches("copy") { return .copy }
        if token.matches("alter") { return .alter }
        if token.matches("abort") { return .abort }
        if token.matches("analyze") { return .analyze }
        if token.matches("attach") { return .attach }
        if token.matches("checkpoint") { return .checkpoint }
        if token.matches("comment") { return .comment }
        if token.matches("call") { return .call }
        return token.matches("cluster") ? .cluster : .other
    }

    private static func fromDToK(_ token: SQLToken) -> Verb {
        if token.matches("insert") { return .insert }
        if token.matches("delete") { return .delete }
        if token.matches("end") { return .end }
        if token.matches("explain") { return .explain }
        if token.matches("execute") { return .execute }
        if token.matches("fetch") { return .fetch }
        if token.matches("drop") { return .drop }
        if token.matches("discard") { return .discard }
        if token.matches("deallocate") { return .deallocate }
        if token.matches("declare") { return .declare }
        if token.matches("detach") { return .detach }
        if token.matches("grant") { return .grant }
        if token.matches("do") { return .do }
        return token.matches("import") ? .import : .other
    }

    private static func fromLToR(_ token: SQLToken) -> Verb {
        if token.matches("rollback") { return .rollback }
        if token.matches("release") { return .release }
        if token.matches("reset") { return .reset }
        if token.matches("replace") { return .replace }
        if token.matches("pragma") { return .pragma }
        if token.matches("prepare") { return .prepare }
        if token.matches("notify") { return .notify }
        if token.matches("listen") { return .listen }
        if token.matches("lock") { return .lock }
        if token.matches("load") { return .load }
        if token.matches("move") { return .move }
        if token.matches("merge") { return .merge }
        if token.matches("reindex") { return .reindex }
        if token.matches("revoke") { return .revoke }
        if token.matches("refresh") { return .refresh }
        return token.matches("reassign") ? .reassign : .other
    }

    private static func fromSToZ(_ token: SQLToken) -> Verb {
        if token.matches("select") { return .select }
        if token.matches("update") { return .update }
        if token.matches("with") { return .with }
        if token.matches("set") { return .set }
        if token.matches("show") { return .show }
        if token.matches("savepoint") { return .savepoint }
        if token.matches("start") { return .start }
        if token.matches("values") { return .values }
        if token.matches("vacuum") { return .vacuum }
        if token.matches("unlisten") { return .unlisten }
        if token.matches("truncate") { return .truncate }
        if token.matches("table") { return .table }
        return token.matches("security") ? .security : .other
    }
}
