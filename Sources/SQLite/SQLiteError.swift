import CHeap
import CSQLite
import Glibc

/// An error SQLite returned, with everything a client could want to know about it.
///
/// Source: https://www.sqlite.org/rescode.html
public struct SQLiteError: Error, Equatable, Sendable {
    /// The extended result code, for example 2067 for SQLITE_CONSTRAINT_UNIQUE.
    public let extendedCode: Int32
    /// SQLite's own words, as `sqlite3_errmsg` gave them.
    public let message: String
    /// The byte offset into the SQL text of the token the error is about, or nil.
    ///
    /// "If the most recent error does not reference a specific token … returns -1."
    /// https://www.sqlite.org/c3ref/errcode.html
    public let offset: Int?

    /// As much of a value is quoted in a message that says what is wrong with it: enough to find it again.
    public static let quotedCharacters = 64

    /// With these fields, for an error that no connection holds.
    public init(extendedCode: Int32, message: String, offset: Int? = nil) {
        self.extendedCode = extendedCode
        self.message = message
        self.offset = offset
    }

    /// The primary result code: the low byte of the extended one.
    public var code: Int32 { extendedCode & 0xFF }

    /// The error a connection holds right now. Read it before any further call on that connection.
    @usableFromInline
    init(connection: OpaquePointer?, code: Int32) {
        guard let connection else {
            self.init(extendedCode: code, message: String(cString: sqlite3_errstr(code)))
            return
        }
        if [SQLITE_NOMEM, SQLITE_AUTH].contains(code & 0xFF), walpool_stack_was_short() != 0 {
            self = .stackDepth
            return
        }
        let held = sqlite3_extended_errcode(connection)
        if let full = Self.full(held, sqlite3_system_errno(connection)) {
            self = full
            return
        }
        // A code that did not pass through the connection (SQLITE_MISUSE, for one) has no message there.
        if held & 0xFF == code & 0xFF {
            let offset = sqlite3_error_offset(connection)
            self.init(
                extendedCode: held, message: String(cString: sqlite3_errmsg(connection)),
                offset: offset >= 0 ? Int(offset) : nil)
        } else {
            self.init(extendedCode: code, message: String(cString: sqlite3_errstr(code)))
        }
    }
}

extension SQLiteError {
    /// A quota or a limit of file sizes is a full disk, too: nothing is wrong with what is there. SQLite says so of ENOSPC only
    /// (`unixWrite` in https://www.sqlite.org/src/file/src/os_unix.c).
    private static func full(_ code: Int32, _ errorNumber: Int32) -> SQLiteError? {
        guard code == Code.writeFailed, errorNumber == EDQUOT || errorNumber == EFBIG else { return nil }
        return SQLiteError(
            extendedCode: SQLITE_FULL,
            message: errorNumber == EDQUOT ? "the disk quota is used up" : "a file has reached the largest size that is allowed")
    }

    /// What was compiled nests too deeply: see heap.h. PostgreSQL's words for it.
    static let stackDepth = SQLiteError(extendedCode: SQLITE_ERROR, message: "stack depth limit exceeded")
    /// What was compiled nests too deeply for this thread's stack.
    public var isStackDepth: Bool { self == .stackDepth }

    /// A text that was to be one statement. PostgreSQL's words for it.
    public static let severalStatements = SQLiteError(
        extendedCode: SQLITE_ERROR, message: "cannot insert multiple commands into a prepared statement")

    /// What a statement ends with when its preparation was stopped: by the allocator, or by the authorizer.
    public var mayBeStoppedPreparation: Bool { code == SQLITE_NOMEM || code == SQLITE_AUTH }

    /// It came of the file, of memory or of other connections, and says nothing of the statement: the same may go well at another time.
    public var isOfCircumstances: Bool {
        // A virtual table's contents: nothing else is touched by that.
        guard extendedCode != Code.corruptVirtualTable else { return false }
        return [
            SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CANTOPEN, SQLITE_FULL, SQLITE_READONLY, SQLITE_PROTOCOL, SQLITE_BUSY,
            SQLITE_LOCKED, SQLITE_NOMEM,
        ].contains(code)
    }

    /// Another connection has a lock that this one needs.
    public var isBusy: Bool { code == SQLITE_BUSY }
    /// SQLITE_INTERRUPT: the progress handler has stopped it, or it is `interrupted`.
    public var isInterrupt: Bool { code == SQLITE_INTERRUPT }
    /// SQLITE_IOERR: an operation on a file has failed; the extended code says which.
    public var isInputOutput: Bool { code == SQLITE_IOERR }
    /// SQLITE_FULL: the disk, a quota, a limit of file sizes, or max_page_count is reached.
    public var isFull: Bool { code == SQLITE_FULL }

    /// Whether a statement that fails with it inside a transaction leaves nothing behind, unless FAIL is how the conflict was resolved.
    ///
    /// SQLite keeps a statement journal only where its code generator foresees an ABORT: "Set the 'mayAbort' flag if it is
    /// possible for a VDBE to encounter an ABORT … only if a statement transaction is required"
    /// (https://www.sqlite.org/src/file/src/build.c, sqlite3MayAbort). It does for these; a value of a wrong type in a STRICT
    /// table, one that is no rowid and one that is too long come unforeseen, and the rows before them stay (if there were any, which
    /// the code does not tell).
    public var undoesItsStatement: Bool {
        switch constraint {
        case .check, .foreignKey, .notNull, .primaryKey, .trigger, .unique, .rowid: true
        default: false
        }
    }

    /// Whether the message may repeat a value that the statement works on. SQLITE_ERROR is what functions and virtual tables report
    /// their own words with ("bad JSON path: …"), and so are RAISE and a virtual table's constraints; the other messages are
    /// SQLite's, and name tables and columns.
    public var mayQuoteValues: Bool {
        guard code == SQLITE_CONSTRAINT else { return code == SQLITE_ERROR }
        return switch constraint {
        case .check, .foreignKey, .notNull, .primaryKey, .unique, .rowid, .dataType: false
        default: true
        }
    }
}
