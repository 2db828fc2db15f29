/// What statements are counted by.
enum StatementKind: Int, CaseIterable {
    case select, insert, update, delete
    /// CREATE, ALTER, DROP, REINDEX, ANALYZE.
    case definition
    case pragma, explain
    /// BEGIN, COMMIT, ROLLBACK, SAVEPOINT.
    case transaction
    /// SET, SHOW, DECLARE, FETCH, what drivers ask unasked, and whatever else a session answers by itself.
    case session
    case console
    case other

    var name: String { "\(self)" }
}

extension Verb {
    /// Of a statement that SQLite runs.
    var statementKind: StatementKind {
        switch self {
        case .select, .values, .table: .select
        case .insert, .replace: .insert
        case .update: .update
        case .delete: .delete
        case .create, .alter, .drop, .reindex, .analyze: .definition
        case .pragma: .pragma
        case .explain: .explain
        default: .other
        }
    }
}
