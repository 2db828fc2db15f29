import CSQLite

/// What no client's statement may do, because connections are shared and a change to one would meet other sessions,
/// or because it reaches beyond the database.
///
/// It must be an authorizer: "Some pragmas take effect during the SQL compilation stage, not the execution stage"
/// (https://www.sqlite.org/pragma.html), so looking at a prepared statement would come too late.
/// Action codes: https://www.sqlite.org/c3ref/c_alter_table.html
public enum Authorizer {
    /// A refusal, in words for the person who wrote the statement.
    public struct Denial: Equatable, Sendable {
        /// What is not available, and mostly why; the client gets it with SQLSTATE 42501.
        public let message: String
        /// What to do instead.
        public let hint: String
    }

    typealias Name = UnsafePointer<CChar>?

    static func denial(action: Int32, first: Name, second: Name, schema: Name) -> Denial? {
        switch action {
        case SQLITE_READ:
            readDenial(table: first)
        case SQLITE_SELECT, SQLITE_RECURSIVE:
            nil
        case SQLITE_UPDATE where equals(first, "sqlite_temp_master"):
            // ALTER TABLE goes through all schemas for mentions of what it renames. A client's own UPDATE of this table
            // is refused by SQLite ("may not be modified").
            nil
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
            equals(schema, "temp") ? temporary : nil
        case SQLITE_ALTER_TABLE:
            equals(first, "temp") ? temporary : nil
        case SQLITE_FUNCTION:
            functionDenial(second)
        case SQLITE_PRAGMA:
            pragmaDenial(name: first, argument: second, schema: schema)
        case SQLITE_ATTACH, SQLITE_DETACH:
            Denial(
                message: "ATTACH, DETACH and VACUUM INTO are not available: connections are shared between clients",
                hint: "The daemon serves one database file; serve another file with another walpoold.")
        case SQLITE_CREATE_TEMP_INDEX, SQLITE_CREATE_TEMP_TABLE, SQLITE_CREATE_TEMP_TRIGGER,
            SQLITE_CREATE_TEMP_VIEW, SQLITE_DROP_TEMP_INDEX, SQLITE_DROP_TEMP_TABLE, SQLITE_DROP_TEMP_TRIGGER,
            SQLITE_DROP_TEMP_VIEW:
            temporary
        case SQLITE_CREATE_VTABLE:
            virtualTableDenial(module: second)
        case SQLITE_TRANSACTION, SQLITE_SAVEPOINT:
            // Sessions handle these verbs themselves, so one that arrives here came by a way nobody foresaw.
            Denial(
                message: "a transaction statement is not possible here",
                hint: "Send BEGIN, COMMIT, ROLLBACK and SAVEPOINT as statements of their own. A function that begins a transaction "
                    + "by itself, as rtreecheck() does, needs one: BEGIN ISOLATION LEVEL REPEATABLE READ.")
        default:
            nil
        }
    }

    private static let temporary = Denial(
        message: "temporary objects are not available: connections are shared between clients",
        hint: "Use a common table expression (WITH ... AS), or an ordinary table with a name of your own.")

    private static func readDenial(table: Name) -> Denial? {
        guard let table else { return nil }
        if equals(table, "sqlite_stmt") || equals(table, "dbstat") || equals(table, "sqlite_dbpage") {
            return Denial(
                message: "\"\(String(cString: table))\" is not available: it shows what other clients do",
                hint: "Ask the console (database \"walpool\") for statistics.")
        }
        // A table-valued PRAGMA runs the PRAGMA: the same list applies to both spellings. What SQLite has no PRAGMA for is an
        // ordinary table, which may be called pragma_notes.
        guard hasPrefix(table, "pragma_"), isPragma(table + 7) else { return nil }
        for asked in askedPragmas where equals(table + 7, asked) {
            return Denial(message: "\(String(cString: table)) is not available as a table", hint: "PRAGMA \(asked) asks for it.")
        }
        return pragmaDenial(name: table + 7, argument: nil)
    }

    private static func functionDenial(_ name: Name) -> Denial? {
        guard equals(name, "load_extension") || equals(name, "fts3_tokenizer") else { return nil }
        return Denial(
            message: "function \(String(cString: name!))() is not available: it loads code into the daemon",
            hint: "Extensions and tokenizers are a matter of the server's build, not of a client.")
    }

    private static func virtualTableDenial(module: Name) -> Denial? {
        for allowed in ["fts3", "fts4", "fts5", "fts4aux", "fts5vocab", "rtree", "rtree_i32", "geopoly"]
        where equals(module, allowed) { return nil }
        let name = module.map { String(cString: $0) } ?? ""
        return Denial(
            message: "virtual table module \"\(name)\" is not available",
            hint: "fts3, fts4, fts5, rtree and geopoly are.")
    }

    /// PRAGMAs that only ask. Each may have an argument (a table's name), which changes nothing.
    private static let askingPragmas = [
        "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list",
        "foreign_key_check", "collation_list", "function_list", "module_list", "pragma_list", "compile_options",
        "database_list", "integrity_check", "quick_check",
    ]
    /// PRAGMAs that ask without an argument and would change the connection or the file with one.
    private static let readablePragmas = [
        "schema_version", "data_version", "freelist_count", "page_count", "page_size", "encoding", "auto_vacuum",
        "foreign_keys", "recursive_triggers", "max_page_count", "cache_size", "synchronous", "secure_delete",
    ]
    /// PRAGMAs of that kind that tools send first. They are allowed as statements only, because as tables some of them take arguments. That
    /// asking leaves the connection as it is stands in `sqlite3Pragma` of https://www.sqlite.org/src/file/src/pragma.c: each sets something
    /// if there is a value (`zRight`).
    private static let askedPragmas = [
        "journal_mode", "busy_timeout", "mmap_size", "journal_size_limit", "wal_autocheckpoint", "locking_mode", "trusted_schema",
    ]
    /// PRAGMAs that store a number in the database file itself, within the transaction, as any write does.
    private static let transactionalPragmas = ["user_version", "application_id"]

    private static func pragmaDenial(name: Name, argument: Name, schema: Name = nil) -> Denial? {
        for allowed in askingPragmas where equals(name, allowed) { return nil }
        for allowed in transactionalPragmas where equals(name, allowed) {
            return argument != nil && equals(schema, "temp") ? temporary : nil
        }
        for allowed in readablePragmas + askedPragmas where equals(name, allowed) && argument == nil { return nil }
        let name = name.map { String(cString: $0) } ?? ""
        return Denial(
            message: "PRAGMA \(name) is not available: it would change a connection that other clients share",
            hint: pragmaHint(name.lowercased()))
    }

    private static func pragmaHint(_ name: String) -> String {
        switch name {
        case "journal_mode", "locking_mode", "wal_checkpoint", "wal_autocheckpoint", "journal_size_limit":
            "The daemon keeps the database in WAL mode and checkpoints it by itself."
        case "busy_timeout": "SET lock_timeout = '5s' says how long a statement waits for the writer."
        case "optimize": "ANALYZE collects the statistics the planner uses."
        case "foreign_keys":
            "foreign_keys = false in the daemon's configuration, and a restart, turn them off for everybody, as SQLite's way of "
                + "making a table anew needs it. While they are on, no table is dropped whose rows others reference with ON DELETE "
                + "CASCADE, SET NULL or SET DEFAULT."
        case "synchronous", "cache_size", "mmap_size", "secure_delete", "recursive_triggers",
            "trusted_schema":
            "It is a setting of the daemon's configuration."
        default: "PRAGMAs that describe the database, such as table_info, index_list and integrity_check, are available."
        }
    }

    // MARK: C strings, compared without case as SQLite compares names

    private static func equals(_ name: Name, _ other: String) -> Bool {
        guard let name else { return false }
        return sqlite3_stricmp(name, other) == 0
    }

    private static func hasPrefix(_ name: UnsafePointer<CChar>, _ prefix: String) -> Bool {
        sqlite3_strnicmp(name, prefix, Int32(prefix.utf8.count)) == 0
    }

    /// Whether SQLite has one of that name; true of each where it cannot tell.
    private static func isPragma(_ name: UnsafePointer<CChar>) -> Bool {
        pragmas.isEmpty || pragmas.contains(String(cString: name).lowercased())
    }

    /// What `PRAGMA pragma_list` says, of this build and no other: https://www.sqlite.org/pragma.html#pragma_pragma_list
    private static let pragmas: Set<String> = {
        var (connection, statement): (OpaquePointer?, OpaquePointer?)
        defer {
            sqlite3_finalize(statement)
            sqlite3_close(connection)
        }
        guard sqlite3_open(":memory:", &connection) == SQLITE_OK,
            sqlite3_prepare_v2(connection, "PRAGMA pragma_list", -1, &statement, nil) == SQLITE_OK
        else { return [] }
        var names: Set<String> = []
        while sqlite3_step(statement) == SQLITE_ROW {
            if let name = sqlite3_column_text(statement, 0) { names.insert(String(cString: name).lowercased()) }
        }
        return names
    }()
}
