import Pool
import PostgresWire
import SQLite

/// Definitions, and DROP TABLE among them, which would delete or change rows of other tables without a word; and those that are
/// refused where a table is there, or is not.
///
/// PostgreSQL drops no table that others reference; SQLite first deletes its rows, with all that the foreign keys say of that. Here it
/// is refused where that would reach rows of other tables.
extension Session {
    /// On the writer, in the transaction that it will run in: what is found stays so until it has run.
    func prepareDefinition(_ query: Query) throws(WireError) -> PreparedLease {
        let writer = pool.writer
        if let condition = query.condition { try require(condition, query) }
        let lease: PreparedLease
        do {
            // One that was prepared earlier may be of another table of the name, or of none.
            lease =
                query.head.main == .drop
                ? try writer.statementAfresh(for: query.text, self) : try writer.statement(for: query.text, self)
        } catch {
            throw preparationError(error, query, writer)
        }
        guard let table = lease.statement.droppedTable else { return lease }
        do { try requireNoDependents(ofTable: table, query) } catch {
            writer.giveBack(lease)
            throw error
        }
        return lease
    }

    private func require(_ condition: DefinitionCheck.Condition, _ query: Query) throws(WireError) {
        let isThere: Bool
        do throws(SQLiteError) {
            let name = SQLQuoting.literal(condition.table)
            isThere =
                try pool.writer.connection.prepareInternal(
                    "SELECT 1 FROM sqlite_schema WHERE type IN ('table', 'view') AND name = \(name) COLLATE NOCASE"
                ).step() == .row
        } catch {
            throw preparationError(error, query, pool.writer)
        }
        guard isThere != condition.isRefusedIfThere else { throw condition.refusal }
    }

    private func requireNoDependents(ofTable table: String, _ query: Query) throws(WireError) {
        let writer = pool.writer
        let dependents: [Writer.Dependent]
        writer.beginRun(self)
        defer { writer.endRun() }
        do { dependents = try writer.dependents(ofTable: table, limit: SessionLimits.namedDependents) } catch {
            throw stepError(error, writer, query, hasParameters: false)
        }
        guard !dependents.isEmpty else { return }
        let tables = dependents.map { "\"\($0.table)\"" }.joined(separator: ", ")
        throw WireError(
            state: .dependentObjectsStillExist, message: "cannot drop table \"\(table)\" because rows of other tables depend on it",
            detail: dependents.map { "Rows of table \"\($0.table)\" reference it with ON DELETE \($0.action)." }.joined(separator: "\n"),
            hint: "Drop first what references it (\(tables)), or delete its rows yourself. To make it anew and keep theirs as they are: "
                + "foreign_keys = false in the daemon's configuration, and a restart, until that is done.")
    }
}
