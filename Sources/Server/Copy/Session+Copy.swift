import Pool
import PostgresWire
import SQLite

/// COPY, either way: what is said, and what it is about.
extension Session {
    func run(_ copy: CopyStatement, _ query: Query) throws(WireError) -> Wait? {
        guard copy.endpoint == .client else {
            throw WireError(
                state: .insufficientPrivilege,
                message: "COPY \(copy.isInput ? "from" : "to") a \(copy.endpoint == .file ? "file" : "program") "
                    + "of the server is not available",
                hint: "COPY \(copy.isInput ? "FROM STDIN" : "TO STDOUT") and psql's \\copy use the client's files.")
        }
        let options = try CopyOptions(copy)
        return copy.isInput ? try beginCopyIn(copy, options, query) : try copyOut(copy, options, query)
    }

    /// Looks a table up where its newest definition is to be seen; nil: the session has to wait for a connection.
    func copyTable(
        _ table: CopyStatement.Table, _ options: CopyOptions, _ wait: inout Wait?
    ) throws(WireError) -> (table: CopyTable, schema: SchemaVersion)? {
        if writerMode == .none {
            wait = try acquireReader(onlyToPrepare: true)
            guard wait == nil else { return nil }
        }
        let connection: PooledConnection = writerMode == .none ? reader! : pool.writer
        do {
            let found = try look(table, connection)
            try requireForced(options, among: found)
            return (found, connection.schemaVersion)
        } catch {
            if readerIsOnlyToPrepare { releaseReader() }
            throw error
        }
    }

    private func requireForced(_ options: CopyOptions, among table: CopyTable) throws(WireError) {
        for (option, columns) in [
            ("FORCE_QUOTE", options.forceQuote), ("FORCE_NOT_NULL", options.forceNotNull), ("FORCE_NULL", options.forceNull),
        ] {
            try columns.require(among: table.columns.map(\.name)) {
                WireError(state: .invalidColumnReference, message: "\(option) column \"\($0)\" not referenced by COPY")
            }
        }
    }

    /// A view's columns are known when it has been compiled, which may take long.
    func look(_ table: CopyStatement.Table, _ connection: PooledConnection) throws(WireError) -> CopyTable {
        connection.beginRun(self)
        defer { connection.endRun() }
        _ = connection.connection.takeFailure()
        do { return try CopyTable(table, on: connection.connection) } catch {
            // A schema that could not be read may have cost the transaction: then nothing is tried again on this connection.
            if let failure = connection.connection.takeFailure(), writerMode != .none { pool.writer.note(failure) }
            throw connection.stopReason.map { stopError($0) } ?? error
        }
    }

    func query(for sql: String) throws(WireError) -> Query {
        try sql.withBytes { bytes throws(WireError) in try server.registry.query(bytes) }
    }
}
