import Pool
import PostgresWire

/// What the console can be told.
enum ConsoleStatement: Equatable, Sendable {
    case show(ConsoleTopic)
    /// Makes a backup; the reply comes when it is complete.
    case backup(name: String)
    /// Has a checkpoint made; the reply comes when it has been tried.
    case checkpoint
    /// Ends a client's session, by its number in SHOW CLIENTS.
    case kill(Int32)
    /// New transactions wait; the reply comes when those that had begun have ended. Of this database, if one is named.
    case pause(String?)
    case reload
    case resume(String?)
    case shutdown(whenClientsHaveLeft: Bool)
    /// Has upkeep done now instead of when it is due; the reply comes at once.
    case vacuum
    /// A setting of the daemon's, which is not changed here.
    case set(String)
    case missing(MissingCommand)

    var tag: StaticString {
        switch self {
        case .show: "SHOW"
        case .backup: "BACKUP"
        case .checkpoint: "CHECKPOINT"
        case .kill: "KILL"
        case .pause: "PAUSE"
        case .reload: "RELOAD"
        case .resume: "RESUME"
        case .shutdown: "SHUTDOWN"
        case .vacuum: "VACUUM"
        case .set: "SET"
        case .missing: "a command of PgBouncer's"
        }
    }

    /// The commands as SHOW HELP lists them, after the SHOWs.
    static let help: [(syntax: String, summary: String)] = [
        ("BACKUP TO 'name'", "copies the database into backup_directory; answers when the copy is checked and on the disk"),
        ("CHECKPOINT", "copies what it can of the write-ahead log into the database file"),
        ("KILL client", "ends a client's session, by its id in SHOW CLIENTS"),
        ("PAUSE [database]", "new transactions wait; answers when those that had begun have ended"),
        ("RELOAD", "reads the configuration file again and says what was applied"),
        ("RESUME [database]", "ends a pause"),
        ("SHUTDOWN [WAIT_FOR_CLIENTS]", "stops the daemon; or lets nobody in any more and stops it when the last client has left"),
        ("VACUUM", "asks for upkeep now; SHOW MAINTENANCE says how it goes"),
    ]
}

/// PgBouncer's commands that mean nothing here; whoever tries one is told why.
enum MissingCommand: String, CaseIterable, Sendable {
    case disable, enable, reconnect, suspend
    case waitClose = "wait_close"

    var error: WireError {
        WireError(
            state: .featureNotSupported, message: "\(rawValue.uppercased()) is not available: \(reason)", hint: alternative)
    }

    private var reason: String {
        switch self {
        case .suspend: "it is for handing sockets over to another process, and here the service manager keeps the socket"
        case .disable, .enable: "there is one database, and without it no daemon"
        case .reconnect, .waitClose: "its connections are to a file, and it looks for itself whether that is still the same"
        }
    }

    private var alternative: String? {
        switch self {
        case .suspend: "PAUSE holds statements back; SHUTDOWN WAIT_FOR_CLIENTS is for restarts."
        case .disable, .enable: "PAUSE and RESUME, or SHUTDOWN WAIT_FOR_CLIENTS."
        case .reconnect, .waitClose: nil
        }
    }
}

extension ConsoleStatement {
    /// nil when its first words are none of the console's.
    static func parse(_ statement: UnsafeRawBufferPointer) throws(SQLSyntaxError) -> ConsoleStatement? {
        var cursor = TokenCursor(statement)
        guard let first = cursor.token, first.kind == .identifier else { return nil }
        let verb = first.name.lowercased()
        if verb == "show" { return try show(&cursor) }
        cursor.advance()
        let result: ConsoleStatement
        switch verb {
        case "backup":
            try cursor.expect("to")
            result = .backup(name: try cursor.string())
        case "checkpoint": result = .checkpoint
        case "vacuum": result = .vacuum
        case "reload": result = .reload
        case "pause": result = .pause(try cursor.optionalIdentifier())
        case "resume": result = .resume(try cursor.optionalIdentifier())
        case "kill": result = .kill(try cursor.clientNumber())
        case "shutdown": result = .shutdown(whenClientsHaveLeft: cursor.accept("wait_for_clients"))
        default:
            guard let missing = MissingCommand(rawValue: verb) else { return nil }
            // Whatever it says besides, it is not available.
            return .missing(missing)
        }
        try cursor.expectEnd()
        return result
    }

    private static func show(_ cursor: inout TokenCursor) throws(SQLSyntaxError) -> ConsoleStatement? {
        cursor.advance()
        guard let topic = cursor.token.flatMap({ ConsoleTopic(rawValue: $0.name.lowercased()) }) else { return nil }
        cursor.advance()
        try cursor.expectEnd()
        return .show(topic)
    }
}

extension TokenCursor {
    fileprivate mutating func optionalIdentifier() throws(SQLSyntaxError) -> String? { isAtEnd ? nil : try identifier() }

    fileprivate mutating func clientNumber() throws(SQLSyntaxError) -> Int32 {
        guard let token, token.kind == .number, let number = Int32(token.text) else { throw failure() }
        advance()
        return number
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
