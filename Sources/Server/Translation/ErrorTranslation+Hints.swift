import SQLite

/// What helps with an error of SQLite's that its own words leave unsaid.
extension ErrorTranslation {
    /// What people may do about it.
    static func hint(for error: SQLiteError) -> String? {
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
        case Code.error where error.message.hasPrefix("unit \"") && error.message.hasSuffix("without a date"):
            "date_part and extract give a time's hour, minute, second, millisecond, microsecond and epoch."
        case Code.error where error.message.hasPrefix("unit \""):
            "Units are millisecond, second, minute, hour, day, week, month, quarter and year; date_part also has microsecond, decade, "
                + "century, millennium, isoyear, dow, isodow, doy and epoch."
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
}
