import SQLite

/// Statements of a connection: out of its cache, or prepared.
extension PooledConnection {
    /// A prepared statement out of the cache or freshly prepared. Pair with `giveBack`.
    ///
    /// - Parameter owner: asked now and then whether to go on preparing; when it is stopped by that, `stopReason` says why.
    @inline(__always)
    package func statement(for text: SQLText, _ owner: (any StatementOwner)? = nil) throws(SQLiteError) -> PreparedLease {
        if let entry = statements.take(text.id) {
            if entry.schemaVersion == schemaVersion || isReader || entry.statement.isReadOnly { return PreparedLease(entry: entry) }
            // SQLite would prepare it again at its first step, and tells of no triggers in such a run (`TriggerRuns`).
            entry.isInUse = false
            statements.remove(text.id)
        }
        return try prepare(text, owner)
    }

    /// A statement prepared against the schema as it is now. One that is in the cache keeps its old columns until it is
    /// run, and a connection its old schema until something is.
    package func statementAfresh(
        for text: SQLText, _ owner: (any StatementOwner)? = nil
    ) throws(SQLiteError) -> PreparedLease {
        statements.remove(text.id)
        try connection.rereadSchema()
        return try prepare(text, owner, isNew: true)
    }

    /// The snapshot, or the transaction, has this schema. What the connection has read of another one is read again: by itself SQLite
    /// notices that when a statement runs, and some do not run (`PRAGMA index_list` of a table that is not known), or are refused before.
    ///
    /// Throws after an I/O error or without memory, for SQLite may have ended the transaction over it, also when it only reads: "it might be
    /// necessary for SQLite to rollback and cancel the entire transaction" (https://www.sqlite.org/lang_transaction.html). What else
    /// fails here fails again for who runs a statement.
    func meet(_ version: SchemaVersion) throws(SQLiteError) {
        guard version != schemaVersion else { return }
        schemaVersion = version
        do { try unasked { () throws(SQLiteError) in try connection.rereadSchema() } } catch let error
            where error.isInputOutput || error.code == SQLiteError.outOfMemory.code
        {
            schemaVersion = CommittedSchema.unknown
            throw error
        } catch {}
    }

    private func prepare(
        _ text: SQLText, _ owner: (any StatementOwner)?, isNew: Bool = false
    ) throws(SQLiteError) -> PreparedLease {
        if let owner { beginRun(owner) }
        defer { if owner != nil { endRun() } }
        connection.callbacks.denial = nil
        let prepared: Statement?
        do { prepared = try prepareAll(of: text.bytes) } catch let error where mayBeOutdated(error) {
            // The error may be about a schema that another connection has changed since this one read it: SQLite
            // notices that when a statement runs, and for some errors not when one is prepared.
            try connection.rereadSchema()
            prepared = try prepareAll(of: text.bytes)
        }
        guard let prepared else {
            throw SQLiteError(extendedCode: SQLiteError.Code.misuse, message: "the statement is empty")
        }
        // On a reader it was prepared to see what it is, and will run on the writer. What EXPLAIN and PRAGMA answer is what they have found
        // when they were prepared: SQLite does not prepare them again.
        let isFixed = prepared.explain != 0 || mayBePragma(text.bytes)
        let isKept = !isFixed && (!isReader || prepared.isReadOnly)
        let entry = isKept ? statements.add(text, prepared, isNew: isNew) : statements.once(text, prepared)
        entry.schemaVersion = schemaVersion
        return PreparedLease(entry: entry)
    }

    /// Most texts say with their first letter that they are none. What stands behind a comment is looked at, and so is an empty text.
    private func mayBePragma(_ sql: UnsafeRawBufferPointer) -> Bool {
        let first = sql.first { $0 > UInt8(ascii: " ") } ?? 0
        return (first < UInt8(ascii: "A") || first | 0x20 == UInt8(ascii: "p")) && SQLWord.stands("pragma", in: sql)
    }

    /// The text was taken for one statement. Where SQLite finds more than one in it, the others must not be dropped without a word: one
    /// of them may be a COMMIT.
    private func prepareAll(of sql: UnsafeRawBufferPointer) throws(SQLiteError) -> Statement? {
        let (statement, consumed) = try connection.prepare(sql)
        guard consumed < sql.count else { return statement }
        let rest = UnsafeRawBufferPointer(rebasing: sql[consumed...])
        guard try connection.prepare(rest).statement == nil else { throw .severalStatements }
        return statement
    }

    /// It says nothing of the schema that the authorizer refused it, that it was stopped, how deeply it nests, or that the file could not be
    /// read. What goes well after that may be outside of the transaction that it belongs to: see `meet`.
    private func mayBeOutdated(_ error: SQLiteError) -> Bool {
        connection.callbacks.denial == nil && !wasStopped(by: error) && !error.isStackDepth && !error.isOfCircumstances
    }

    /// Whether it was the statement's owner, or somebody else, who stopped what has failed: then `stopReason` says why.
    package func wasStopped(by error: SQLiteError) -> Bool {
        stopReason != nil && (error.isInterrupt || error.isBusy || error.mayBeStoppedPreparation)
    }
}

/// A prepared statement checked out of its connection's cache.
package struct PreparedLease {
    @usableFromInline let entry: StatementCache.Entry

    /// Only until the lease is given back.
    @inlinable @inline(__always)
    package var statement: Statement { entry.statement }

    /// Whether the statement's columns were compared with `description` since SQLite last prepared it. SQLite does so
    /// by itself when the schema has changed, and the columns may then be others.
    @inlinable @inline(__always)
    package func isVerified(for description: AnyObject) -> Bool {
        entry.verifiedFor === description && entry.preparationsSeen == entry.statement.preparations
    }

    /// A run of it has ended, which took so long.
    @inlinable @inline(__always)
    package func didRun(nanoseconds: Int, rows: Int) {
        let entry = entry
        entry.usage.calls &+= 1
        entry.usage.rows &+= rows
        entry.usage.nanoseconds &+= nanoseconds
        if nanoseconds > entry.usage.longestNanoseconds { entry.usage.longestNanoseconds = nanoseconds }
    }

    /// It has changed so many rows, which are counted with those it returned.
    package func didChange(rows: Int) { entry.usage.rows &+= rows }

    /// Its columns were compared with `description` and are the same.
    package func markVerified(for description: AnyObject) {
        entry.verifiedFor = description
        entry.preparationsSeen = entry.statement.preparations
    }
}
