import PostgresWire

/// DECLARE, FETCH and MOVE.
extension Session {
    func declare(_ cursor: CursorDeclaration, _ query: Query, _ invocation: Invocation) throws(WireError) -> Wait? {
        // Several statements of one message are a transaction, too.
        guard state.transaction.isExplicit || cursor.holds || !isAloneInMessage else {
            throw WireError(
                state: .noActiveSQLTransaction, message: "DECLARE CURSOR can only be used in transaction blocks")
        }
        guard cursor.scrolls != true else {
            throw WireError(
                state: .featureNotSupported, message: "cursors with SCROLL are not available",
                hint: "Leave SCROLL out: FETCH and MOVE go forward.")
        }
        guard let inner = query.inner else { return nil }
        guard !(cursor.holds && inner.locksRows) else {
            throw WireError(
                state: .featureNotSupported, message: "DECLARE CURSOR WITH HOLD ... FOR UPDATE is not supported",
                detail: "Holdable cursors must be READ ONLY.")
        }
        var wait: Wait?
        let found = try self.analysis(of: inner, &wait)
        if let wait { return wait }
        guard let analysis = found, analysis.isRead, !analysis.columns.isEmpty else {
            throw WireError(state: .invalidCursorDefinition, message: "DECLARE CURSOR needs a query that only reads")
        }
        try requireNewPortal(cursor.name)
        let portal = Portal(
            name: cursor.name,
            statement: try PreparedStatement(
                query: inner, analysis: analysis, given: invocation.parameterTypes, typing: state.settings.typing))
        // The client has written its values for what they were in the schema and with the settings of its Describe.
        if let told = invocation.toldParameters, told != portal.statement.parameters.map(\.type) {
            throw PreparedStatement.staleParameters
        }
        portal.savepointDepth = state.transaction.savepoints.count
        if let parameters = invocation.parameters { portal.parameters.load(copying: parameters) }
        guard analysis.parameterTypes.count == portal.parameters.count else {
            throw WireError(state: .undefinedParameter, message: "there is no parameter $1")
        }
        if cursor.isBinary {
            portal.resultFormats = [.binary]
            portal.isBinaryCursor = true
        }
        if cursor.holds {
            portal.isHoldable = true
            // Where its transaction ends nobody could wait for a reader.
            if !state.transaction.isExplicit, let wait = try keepToHold(portal) { return wait }
        }
        state.portals[ExactName(cursor.name)] = portal
        try requireRoom(for: portal)
        complete("DECLARE CURSOR")
        return nil
    }

    func fetch(_ fetch: CursorFetch, _ invocation: Invocation) throws(WireError) -> Wait? {
        let portal = try portal(fetch.name)
        guard portal.isCursor else {
            throw WireError(
                state: .featureNotSupported, message: "portal \"\(portal.name)\" is not of a query",
                hint: "FETCH and MOVE have nothing to read from it: run it with Execute.")
        }
        if let wait = try start(portal) { return wait }
        switch fetch.direction.way(from: portal.position, isPastEnd: portal.isPastEnd) {
        case .forward(let passedOver, let count): return try self.fetch(from: portal, passedOver, count, isMove: fetch.isMove, invocation)
        case .again where !portal.isOnRow: return try self.fetch(from: portal, 0, 0, isMove: fetch.isMove, invocation)
        case .again where fetch.isMove: out.commandComplete("MOVE", count: 1)
        case .again, .back:
            throw WireError(
                state: .objectNotInPrerequisiteState, message: "cursor can only scan forward",
                hint: "FETCH gives rows that come later: NEXT, FORWARD n, RELATIVE n, ABSOLUTE n and ALL.")
        }
        return nil
    }

    /// - Parameters:
    ///   - passedOver: so many rows before those that it takes.
    ///   - count: so many of these; nil: all.
    private func fetch(
        from portal: Portal, _ passedOver: Int, _ count: Int?, isMove: Bool, _ invocation: Invocation
    ) throws(WireError) -> Wait? {
        try completeWrite(of: portal)
        // Not where it goes on after its client had to take some of it.
        if passedOver > 0, portal.rowsOfExecute == 0, portal.isBegun { try passOver(passedOver, of: portal) }
        if isMove {
            let rows = count == 0 ? 0 : try passOver(count ?? 0, of: portal)
            out.commandComplete("MOVE", count: Int64(rows))
            return nil
        }
        do { try tellColumns(of: portal, invocation) } catch {
            // It has moved, and the same FETCH would go on from there.
            if passedOver > 0 { portal.fail() }
            throw error
        }
        if count != 0, portal.isBegun {
            switch try sendRows(of: portal, maxRows: count ?? 0) {
            case .full: return .output
            case .end: finish(portal)
            case .limit: keepErrorBehind(of: portal)
            }
        }
        out.commandComplete("FETCH", count: Int64(portal.rowsOfExecute))
        if portal.rowsOfExecute < count ?? .max { portal.passEnd() }
        portal.endRowsOfExecute()
        return nil
    }

    private func tellColumns(of portal: Portal, _ invocation: Invocation) throws(WireError) {
        // A query string asks for texts, and those of a cursor that was DECLAREd BINARY are none.
        portal.changeFormats(invocation.formats ?? [])
        if invocation.describes { return describeColumns(of: portal, again: portal.rowsOfExecute == 0) }
        try ensureEncoder(of: portal, told: invocation.toldTypes)
        if let told = invocation.toldTypes { try requireTold(told, of: portal) }
    }

    /// - Parameter maxRows: 0: all.
    @discardableResult
    private func passOver(_ maxRows: Int, of portal: Portal) throws(WireError) -> Int {
        let rows = try skipRows(of: portal, maxRows: maxRows)
        portal.passOver(rows: rows)
        if maxRows == 0 || rows < maxRows { portal.passEnd() }
        return rows
    }
}
