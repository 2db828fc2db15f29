import Pool
import PostgresWire
import SQLite

/// SQLite's errors as PostgreSQL's: the one place where the two meet.
///
/// Drivers branch on the SQLSTATE, so it must be exact; people read the rest, so SQLite's own words stay, with the
/// extended result code in the detail. https://www.postgresql.org/docs/current/errcodes-appendix.html
enum ErrorTranslation {
    /// - Parameters:
    ///   - denial: what the authorizer refused, if it was the authorizer.
    ///   - sql: the statement, for the position of the error in it.
    ///   - source: what the client sent in its place. Where the two differ a position in one is none in the other.
    static func wireError(
        _ error: SQLiteError, denial: Authorizer.Denial? = nil, sql: UnsafeRawBufferPointer? = nil,
        source: UnsafeRawBufferPointer? = nil
    ) -> WireError {
        if let denial {
            return WireError(state: .insufficientPrivilege, message: denial.message, hint: denial.hint)
        }
        var translated = WireError(
            state: state(of: error), message: error.message,
            detail: "SQLite result code \(error.extendedCode).", hint: hint(for: error))
        if let offset = error.offset, let sql {
            if offset < sql.count, sql[offset] == UInt8(ascii: "\""), translated.state == .undefinedColumn {
                translated.hint = "In SQLite, text in double quotes is a name; a string literal takes single quotes."
            }
            if source.map({ $0.prefix(offset).elementsEqual(sql.prefix(offset)) }) ?? true {
                translated.position = characterPosition(ofByte: offset, in: sql)
            }
        }
        if error.message == "incomplete input", let sql, isTrigger(sql) {
            translated.hint =
                "psql cuts a text at its semicolons, also those inside of a trigger, and sends the rest as statements of its own: "
                + "write \\; for each inside, or pass the whole with psql -c."
        }
        if translated.state == .syntaxError, let sql {
            if SyntaxHints.callsUnnest(sql) { translated.hint = SyntaxHints.unnest }
            if translated.hint == nil { translated.hint = SyntaxHints.hint(error.message, sql) }
        }
        if error.code == Code.constraint { addConstraint(error, to: &translated) }
        return translated
    }

    private static func isTrigger(_ sql: UnsafeRawBufferPointer) -> Bool {
        var lexer = SQLLexer(sql)
        return lexer.next()?.matches("create") == true && lexer.next()?.matches("trigger") == true
    }

    /// "positions are measured in characters not bytes", and SQLite counts bytes.
    static func characterPosition(ofByte offset: Int, in sql: UnsafeRawBufferPointer) -> Int {
        var characters = 1
        for byte in sql.prefix(offset) where byte & 0xC0 != 0x80 { characters += 1 }
        return characters
    }

    private typealias Code = SQLiteError.Code

    private static func state(of error: SQLiteError) -> SQLState {
        if error.extendedCode == Code.busySnapshot { return .serializationFailure }
        switch error.code {
        // RESTRICT is made of a trigger, so its code is a trigger's.
        case Code.constraint where error.message == "FOREIGN KEY constraint failed": return .foreignKeyViolation
        case Code.constraint: return constraintState(error.constraint)
        case Code.error: return stateFromMessage(error.message)
        case Code.busy, Code.locked, Code.protocolError: return .lockNotAvailable
        case Code.noMemory: return .outOfMemory
        case Code.readOnly: return .readOnlySQLTransaction
        case Code.interrupt: return .queryCanceled
        case Code.inputOutput, Code.cannotOpen, Code.permission: return .ioError
        case Code.corrupt, Code.notADatabase: return .dataCorrupted
        case Code.full: return .diskFull
        case Code.schema: return .featureNotSupported
        case Code.tooBig where error.message == "statement too long": return .programLimitExceeded
        case Code.tooBig: return .stringDataRightTruncation
        case Code.mismatch: return .datatypeMismatch
        case Code.authorization: return .insufficientPrivilege
        case Code.range: return .undefinedParameter
        default: return .internalError
        }
    }

    private static func constraintState(_ constraint: SQLiteError.Constraint?) -> SQLState {
        switch constraint {
        case .check: .checkViolation
        case .foreignKey: .foreignKeyViolation
        case .notNull: .notNullViolation
        case .primaryKey, .unique, .rowid: .uniqueViolation
        case .trigger: .raiseException
        case .dataType: .datatypeMismatch
        default: .integrityConstraintViolation
        }
    }

    /// What SQLite says on a connection that has read the schema when another process has put a database of another text encoding in
    /// the file's place (`.restore`).
    static let foreignEncoding = "attached databases must use the same text encoding as main database"

    /// SQLITE_ERROR says everything in its message only.
    private static func stateFromMessage(_ message: String) -> SQLState {
        let beginnings: [(String, SQLState)] = [
            (foreignEncoding, .ioError),
            ("no such table", .undefinedTable), ("no such view", .undefinedTable),
            ("no such column", .undefinedColumn), ("no such function", .undefinedFunction),
            ("no such index", .undefinedObject), ("no such trigger", .undefinedObject),
            ("no such collation sequence", .undefinedObject), ("no such module", .undefinedObject),
            ("no such window", .undefinedObject), ("unknown database", .invalidSchemaName),
            ("no such savepoint", .invalidSavepointSpecification), ("no such ", .undefinedObject),
            ("ambiguous column", .ambiguousColumn), ("wrong number of arguments", .undefinedFunction),
            ("misuse of aggregate", .groupingError),
            ("aggregate functions are not allowed", .groupingError), ("misuse of window", .groupingError),
            ("misuse of aliased aggregate", .groupingError),
            ("incomplete input", .syntaxError), ("unrecognized token", .syntaxError), ("near \"", .syntaxError),
            ("integer overflow", .numericValueOutOfRange), ("string or blob too big", .programLimitExceeded),
            ("too many ", .programLimitExceeded), ("LIKE or GLOB pattern too complex", .programLimitExceeded),
            ("at most 64 tables in a join", .programLimitExceeded), ("parser stack overflow", .statementTooComplex),
            ("Expression tree is too large", .statementTooComplex),
            ("stack depth limit exceeded", .statementTooComplex), ("malformed JSON", .invalidTextRepresentation),
            ("unnest() needs", .undefinedFunction),
            ("table ", .syntaxError), ("duplicate column name", .duplicateColumn),
            ("invalid input syntax for ", .invalidTextRepresentation), ("relation \"", .undefinedTable),
            ("unit \"", .invalidParameterValue), ("field position must not be zero", .invalidParameterValue),
            ("lastval is not yet defined", .objectNotInPrerequisiteState),
            ("not authorized", .insufficientPrivilege), ("unsafe use of", .insufficientPrivilege),
            ("attempt to write a readonly", .readOnlySQLTransaction),
            ("cannot start a transaction within", .activeSQLTransaction),
            ("cannot VACUUM", .activeSQLTransaction), ("cannot insert multiple commands", .syntaxError),
        ]
        if message.hasSuffix("already exists") { return alreadyExists(message) }
        if message.contains("has no column named") || message.contains("cannot be used as a column") {
            return .undefinedColumn
        }
        if message.hasSuffix("prohibited in views") || message.contains("may not be modified") {
            return .insufficientPrivilege
        }
        return beginnings.first { message.hasPrefix($0.0) }?.1 ?? .syntaxErrorOrAccessRuleViolation
    }

    private static func alreadyExists(_ message: String) -> SQLState {
        message.hasPrefix("table ") || message.hasPrefix("view ") || message.hasPrefix("there is already a table")
            ? .duplicateTable : .duplicateObject
    }

    /// Why a database cannot be opened, in one line. What the schema may not call is said to be malformed, and is not.
    static func startMessage(_ error: SQLiteError, _ path: String) -> String {
        if [Code.readOnly, Code.cannotOpen, Code.inputOutput].contains(error.code), let reason = DatabaseFiles.unwritable(path) {
            return "\(error.message): \(reason)"
        }
        if error.code == Code.inputOutput || error.code == Code.full, let room = DiskSpace.littleRoom(forDatabase: path) {
            return "\(error.message): \(room)"
        }
        // The daemon's own errors of that code say who it is.
        if error.code == Code.busy, error.message == "database is locked" {
            let holders = OutsiderLocks.holders(ofDatabase: path, withReaders: true)
            let who = holders.isEmpty ? "" : " by \(holders.joined(separator: ", "))"
            return "\(error.message)\(who). The change to WAL mode needs the file alone, once; and nobody may have it with "
                + "locking_mode = EXCLUSIVE."
        }
        guard error.message.contains("unsafe use of"), let hint = hint(for: error) else { return error.message }
        return "\(error.message). \(hint) The file is not damaged."
    }

    private static func hint(for error: SQLiteError) -> String? {
        switch error.code {
        case Code.noMemory:
            "statement_memory_limit_bytes and sqlite_memory_limit_bytes of walpoold's configuration bound what a statement takes."
        case Code.full: "The disk, a quota or a limit of file sizes is used up, or the database has reached max_page_count."
        case Code.busy where error.extendedCode == Code.busySnapshot:
            "Another transaction wrote since this one's snapshot began: run it again."
        case Code.busy: "Another process has the database locked; SET lock_timeout says how long to wait for it."
        case Code.corrupt where !error.message.contains("unsafe use of"):
            "Run PRAGMA integrity_check, and restore a backup if it finds anything."
        case Code.error where error.message == foreignEncoding:
            "Another process has replaced the database by one of another text encoding; every connection is opened anew: try again."
        case _ where error.isStackDepth:
            "Common table expressions, views, or foreign keys that cascade build on one another too often."
        case Code.error where error.message.hasPrefix("no such table: public.") || error.message == "unknown database public":
            "Tables are in schema main, SQLite's own name for it; or write the table's name alone."
        case Code.error where error.message == "no such function: currval" || error.message == "no such function: nextval":
            "There are no sequences: RETURNING gives an INSERT's new key, and lastval() the last one of this session."
        case Code.error where error.message.hasPrefix("no such function: pg_") && error.message.hasSuffix("_backend"):
            "The console (database \"walpool\") has SHOW CLIENTS and KILL. A client cancels its own statements."
        case Code.error where error.message.hasPrefix("no such function: pg_") && error.message.hasText("advisory_"):
            "There are no advisory locks: in a transaction begun with BEGIN IMMEDIATE nobody else writes until COMMIT."
        case Code.error where ["no such function: unnest", "no such table: unnest"].contains(error.message.lowercased()):
            SyntaxHints.unnest
        case Code.error where error.message.lowercased() == "no such column: interval":
            SyntaxHints.interval
        case Code.error where error.message.hasPrefix("unit \""):
            "Units are millisecond, second, minute, hour, day, week, month, quarter and year; date_part also has dow, isodow, doy, epoch."
        case Code.error where sessionWord(error.message) != nil:
            sessionWord(error.message).map { "Beside other columns and inside expressions it is a function: \($0)()." }
        case Code.error where error.message == "unrecognized token: \":\"":
            "A type behind :: is understood after literals and parameters, ::text after names; else write CAST(x AS type) for a number or "
                + "text, and date(x) or datetime(x) for a date. SQLite calculates with those by functions: datetime(x, '-1 day'), julianday(x) - julianday(y)."
        case _ where error.message.contains("unsafe use of virtual table"):
            "This version of SQLite lets no trigger or view use that virtual table (FTS5, R-Tree), unless walpoold's configuration says "
                + "trusted_schema = true."
        case _ where error.message.contains("unsafe use of"):
            "This version of SQLite lets no CHECK, index, generated column, view or trigger call that function, unless walpoold's "
                + "configuration says trusted_schema = true."
        default: nil
        }
    }

    /// The standard writes these without parentheses, and to SQLite they are columns.
    private static func sessionWord(_ message: String) -> String? {
        guard message.hasPrefix("no such column: ") else { return nil }
        switch message.dropFirst("no such column: ".count).lowercased() {
        case "current_user", "current_role", "user": return "current_user"
        case "session_user": return "session_user"
        case "current_schema": return "current_schema"
        case "current_catalog": return "current_database"
        default: return nil
        }
    }

    /// "UNIQUE constraint failed: t.a, t.b", "NOT NULL constraint failed: t.a", "CHECK constraint failed: name".
    private static func addConstraint(_ error: SQLiteError, to translated: inout WireError) {
        guard let colon = error.message.firstRange(of: "constraint failed: ") else { return }
        let subject = error.message[colon.upperBound...]
        if error.constraint == .check {
            translated.constraint = String(subject)
            return
        }
        let first = subject.prefix { $0 != "," }
        guard let dot = first.firstIndex(of: ".") else { return }
        translated.table = String(first[..<dot])
        if !subject.contains(",") { translated.column = String(first[first.index(after: dot)...]) }
    }

    // MARK: Statements that were told to stop

    static func wireError(_ reason: StopReason) -> WireError {
        switch reason {
        case .cancelled:
            WireError(state: .queryCanceled, message: "canceling statement due to user request")
        case .statementTimeout:
            WireError(
                state: .queryCanceled, message: "canceling statement due to statement timeout",
                hint: "SET statement_timeout sets another limit for this session, up to what its access rule allows.")
        case .transactionTimeout:
            WireError(
                severity: .fatal, state: .transactionTimeout,
                message: "terminating connection due to transaction timeout")
        case .writerTimeLimit:
            WireError(
                severity: .fatal, state: .transactionTimeout,
                message: "terminating connection because its transaction has had the writer for too long",
                hint: "The session's access rule sets writer_time_limit. Write less in one transaction.")
        case .lockTimeout:
            WireError(
                state: .lockNotAvailable, message: "canceling statement due to lock timeout",
                hint: "Others are writing, or another process has the database locked, which the log names; SET lock_timeout says how "
                    + "long a statement waits for its turn.")
        case .shutdown:
            WireError(
                severity: .fatal, state: .adminShutdown,
                message: "terminating connection due to administrator command")
        case .snapshotTooOld:
            WireError(
                state: .queryCanceled, message: "canceling statement because of its snapshot's age",
                detail: "The WAL reached its limit, and the statement kept it from being emptied for longer than "
                    + "gate_limit.",
                hint: "Run it again; raise wal_limit_bytes or gate_limit for statements that must read for longer.")
        case .groupTimeLimit:
            // No client hears of it.
            WireError(state: .queryCanceled, message: "the transaction is run again")
        case .disconnected:
            WireError(
                severity: .fatal, state: .connectionFailure,
                message: "connection to client lost")
        }
    }
}
