import Pool
import PostgresWire

/// What the console can be told.
enum ConsoleStatement: Equatable, Sendable {
    case show(ConsoleTopic)
    /// Makes a backup; the reply comes when it is complete.
    case backup(name: String)
    /// Has a checkpoint made; the reply comes when it has been tried.
    case checkpoint
    /// Has upkeep done now instead of when it is due; the reply comes at once.
    case vacuum
}

/// What SHOW shows.
enum ConsoleTopic: String, CaseIterable, Sendable {
    case help, version, clients, pools, writer, wal, snapshots, maintenance, backups
    case stats, statsTotals = "stats_totals", statsAverages = "stats_averages", statements
}

extension ConsoleStatement {
    /// nil when its first words are none of the console's.
    static func parse(_ statement: UnsafeRawBufferPointer) throws(SQLSyntaxError) -> ConsoleStatement? {
        var cursor = TokenCursor(statement)
        let result: ConsoleStatement
        if cursor.accept("show") {
            guard let topic = cursor.token.flatMap({ ConsoleTopic(rawValue: $0.name) }) else { return nil }
            cursor.advance()
            result = .show(topic)
        } else if cursor.accept("backup") {
            try cursor.expect("to")
            result = .backup(name: try cursor.string())
        } else if cursor.accept("checkpoint") {
            result = .checkpoint
        } else if cursor.accept("vacuum") {
            result = .vacuum
        } else {
            return nil
        }
        try cursor.expectEnd()
        return result
    }
}

extension Query {
    /// One statement sent to the console. Beside the console's own these are what drivers send unasked: settings,
    /// transactions, the questions of `ChatterQuery`. They concern the session alone, so they do no harm.
    convenience init(console sql: UnsafeRawBufferPointer) throws(WireError) {
        let head = StatementHead(sql)
        let kind: Kind
        do throws(SQLSyntaxError) {
            kind = try Self.consoleKind(of: sql, head)
        } catch {
            throw Self.consoleError(
                error.range.isEmpty
                    ? "syntax error at end of input"
                    : "syntax error at or near \"\(String(decoding: sql[error.range], as: UTF8.self))\"",
                ErrorTranslation.characterPosition(ofByte: error.offset, in: sql))
        }
        if case .sqlite = kind {
            throw Self.consoleError("the console does not know this command: \(Self.beginning(of: sql))", nil)
        }
        self.init(text: SQLText(copying: sql), head: head, kind: kind)
    }

    private static func consoleKind(
        of sql: UnsafeRawBufferPointer, _ head: StatementHead
    ) throws(SQLSyntaxError) -> Kind {
        if head.verb == .empty { return .empty }
        if let statement = try ConsoleStatement.parse(sql) { return .console(statement) }
        if let transaction = try TransactionStatement.parse(sql) {
            // The others take nothing before a statement that reads or writes, and there is none here.
            if case .begin(_, let behavior?) = transaction, behavior != .deferred { return .sqlite }
            return .transaction(transaction)
        }
        if let session = try SessionStatement.parse(sql) { return session.isForConsole ? .session(session) : .sqlite }
        return ChatterQuery.parse(sql).map { .chatter($0) } ?? .sqlite
    }

    private static func consoleError(_ message: String, _ position: Int?) -> WireError {
        WireError(
            state: .syntaxError, message: message, hint: "SHOW HELP lists the commands of the console.",
            position: position)
    }

    /// Enough of it for a person to know what was meant.
    private static func beginning(of sql: UnsafeRawBufferPointer) -> String {
        let longest = 60
        let text = String(decoding: sql, as: UTF8.self)
        return text.count <= longest ? text : text.prefix(longest) + "…"
    }
}

extension SessionStatement {
    /// Whether it concerns settings and names of the session, and nothing that reads the database.
    fileprivate var isForConsole: Bool {
        switch self {
        case .declare, .fetch, .prepare, .execute, .listen, .notify: false
        case .show(let name): Settings().value(name) != nil || name.lowercased().hasPrefix("transaction")
        default: true
        }
    }
}
