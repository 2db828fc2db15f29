import SQLite

/// What a statement that has failed may have left behind, inside a transaction.
extension Writer {
    /// Whether the schema says FAIL anywhere: in a trigger's statement, a RAISE or a table's constraint.
    ///
    /// "When an applicable constraint violation occurs, the FAIL resolution algorithm aborts the current SQL statement with an
    /// SQLITE_CONSTRAINT error. But the FAIL resolution does not back out prior changes of the SQL statement that failed"
    /// (https://www.sqlite.org/lang_conflict.html), and of what triggers had changed by then not even total_changes() tells. The error
    /// is the one of ABORT, so all that can be asked is whether there is such a thing at all. A word of that name that means
    /// something else costs the group's other members a second run.
    package func schemaSaysFail() -> Bool {
        do {
            let version = try connection.firstText("PRAGMA schema_version") ?? ""
            if let known = failInSchema, known.version == version { return known.isThere }
            let definitions = try connection.prepareInternal("SELECT sql FROM sqlite_schema WHERE sql LIKE '%fail%'")
            var isThere = false
            while !isThere, try definitions.step() == .row { isThere = SQLWord.stands("fail", in: definitions.text(0)) }
            failInSchema = (version, isThere)
            return isThere
        } catch {
            return true
        }
    }
}
