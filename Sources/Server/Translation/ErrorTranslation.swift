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

    typealias Code = SQLiteError.Code

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
