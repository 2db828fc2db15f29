import Pool
import PostgresWire

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
            throw Self.consoleError("the console does not know this command: \(Self.beginning(of: sql))", nil, isShow: head.verb == .show)
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
        if let session = try SessionStatement.parse(sql) {
            if let name = session.unknownSetting { return .console(.set(name)) }
            return session.isForConsole ? .session(session) : .sqlite
        }
        return ChatterQuery.parse(sql).map { .chatter($0) } ?? .sqlite
    }

    private static func consoleError(_ message: String, _ position: Int?, isShow: Bool = false) -> WireError {
        WireError(state: .syntaxError, message: message, hint: isShow ? topicsHint : commandsHint, position: position)
    }

    private static let commandsHint =
        "The commands are SHOW, " + ConsoleStatement.help.map(\.syntax).joined(separator: ", ")
        + ". SHOW HELP explains them."
    private static let topicsHint =
        "There is SHOW " + ConsoleTopic.allCases.map { $0.rawValue.uppercased() }.joined(separator: ", ")
        + ". SHOW HELP explains them."

    /// Enough of it for a person to know what was meant.
    private static func beginning(of sql: UnsafeRawBufferPointer) -> String {
        let longest = 60
        let text = String(decoding: sql, as: UTF8.self)
        return text.count <= longest ? text : text.prefix(longest) + "…"
    }
}

extension SessionStatement {
    /// The setting it changes, if no session has one of that name: the client means the daemon's.
    fileprivate var unknownSetting: String? {
        guard case .set(_, let name, _) = self, !name.contains("."), Settings().value(name) == nil else { return nil }
        return ["transaction_isolation", "transaction_read_only"].contains(name) ? nil : name
    }

    /// Whether it concerns settings and names of the session, and nothing that reads the database.
    fileprivate var isForConsole: Bool {
        switch self {
        case .declare, .fetch, .prepare, .execute, .listen, .notify: false
        case .show(let name): Settings().value(name) != nil || name.lowercased().hasPrefix("transaction")
        default: true
        }
    }
}
