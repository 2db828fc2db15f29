import PostgresWire

/// The simple query protocol: one message, any number of statements, one implicit transaction around them.
/// https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-MULTI-STATEMENT
extension Session {
    func beginQuery(_ message: QueryMessage, bodyStart: Int, _ next: Int) throws(WireError) -> Wait? {
        // From here on it can be cancelled: a message of many megabytes takes a while to be split.
        try beginActivity()
        // "the unnamed prepared statement and portal are destroyed" by a simple query.
        closeUnnamed()
        if answerPoolReset(message.sql) {
            state.inputPosition = next
            endStatement()
            readyForQuery()
            return nil
        }
        let reading = QueryReading(limitBytes: server.configuration.connection.sqlLengthLimitBytes, hasVerbs: !isConsole)
        state.query = SessionState.RunningQuery(
            sql: bodyStart..<(bodyStart + message.sql.count), reading: reading, end: next, messageEnd: next)
        return nil
    }

    /// Reads what is left of the message to read; nil when that is all of it.
    private func readQuery(_ range: Range<Int>) throws(WireError) -> Wait? {
        // A cancel between two turns of it.
        try beginActivity()
        let sql = UnsafeRawBufferPointer(rebasing: input.bytes[range])
        while let bytes = try state.query?.reading?.step(sql) {
            turn.add(bytes: bytes)
            if try countTowardsTurn() { return .turn }
        }
        state.query?.finishReading()
        return nil
    }

    /// The statement that runs is not one of several of a Query message.
    var isAloneInMessage: Bool { state.query?.statements.count ?? 1 == 1 }

    /// Runs the statements that are left; nil when the message is done.
    func continueQuery() throws(WireError) -> Wait? {
        // Not as a copy of the query: the list that grows while it is read would be copied with each turn.
        if state.query?.reading != nil, let range = state.query?.sql, let wait = try readQuery(range) { return wait }
        while let query = state.query, query.next < query.statements.count {
            // A few bytes may be answered by many, and there may be two million of them.
            if !query.hasStarted, state.copyIn == nil {
                if let wait = try waitForClientToRead() { return wait }
                if try countTowardsTurn() { return .turn }
            }
            if let wait = try runStatement(of: query) { return wait }
            finishStatement(isFollowed: query.next < query.statements.count - 1)
            state.query?.next += 1
            state.query?.hasStarted = false
        }
        if !state.transaction.isExplicit {
            let mark = marks.commit
            do { try commitAndClosePortals() } catch {
                // PostgreSQL commits before it says that the last statement is complete.
                if mark >= out.start { takeReplyBack(to: mark) }
                throw error
            }
        }
        if state.query?.statements.isEmpty == true {
            out.emptyQueryResponse()
            endStatement()
        }
        state.inputPosition = state.query?.end ?? state.inputPosition
        state.query = nil
        readyForQuery()
        return writerMode == .group ? .transactionEnd : nil
    }

    private func runStatement(of query: SessionState.RunningQuery) throws(WireError) -> Wait? {
        if let copy = state.copyIn { return try continueCopyIn(copy) }
        if !query.hasStarted {
            let text = statementText(query.next, of: query)
            try beginStatement()
            let parsed = try parsedQuery(text)
            try requireUsableTransaction(for: parsed)
            guard case .sqlite = parsed.kind else {
                if let wait = try run(parsed, Invocation(describes: true)) { return wait }
                guard let copy = state.copyIn else { return nil }
                return try continueCopyIn(copy)
            }
            var wait: Wait?
            // What max(day) is declared as only the program tells.
            let isDeep = state.settings.typing.results == .declared
            guard let analysis = try self.analysis(of: parsed, isDeep: isDeep, &wait) else { return wait }
            guard analysis.slots.isEmpty else {
                throw WireError(
                    state: .undefinedParameter, message: "there is no parameter $\(analysis.slots[0].number)",
                    hint: "Parameters belong to the extended query protocol.")
            }
            reuseSimplePortal(
                for: try PreparedStatement(query: parsed, analysis: analysis, given: [], typing: state.settings.typing))
            state.query?.hasStarted = true
        }
        return try runToEnd(simplePortal, maxRows: 0, describes: true)
    }

    /// For a statement that no portal of the client's is for.
    func reuseSimplePortal(for statement: PreparedStatement) {
        hasSimpleStatement = true
        simplePortal.reuse(for: statement)
    }

    func statementText(_ index: Int, of query: SessionState.RunningQuery) -> UnsafeRawBufferPointer {
        let range = query.statements[index]
        let start = query.sql.lowerBound
        return UnsafeRawBufferPointer(rebasing: input.bytes[(start + range.lowerBound)..<(start + range.upperBound)])
    }

    /// An error's position counts from the statement's start; the client's from the start of what it sent.
    func positionInQuery(_ error: WireError) -> WireError {
        guard let position = error.position, let query = state.query, query.reading == nil, query.next < query.statements.count
        else { return error }
        let sql = UnsafeRawBufferPointer(rebasing: input.bytes[query.sql])
        var moved = error
        moved.position =
            position - 1 + ErrorTranslation.characterPosition(ofByte: query.statements[query.next].lowerBound, in: sql)
        return moved
    }
}
