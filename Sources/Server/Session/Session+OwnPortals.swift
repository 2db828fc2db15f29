import PostgresWire

/// Portals of statements that SQLite does not run, at least not under this name.
extension Session {
    func executeOwn(_ portal: Portal, _ query: Query, maxRows: Int) throws(WireError) -> Wait? {
        if case .session(.execute) = query.kind {
            try becomeCalled(portal)
            return try runToEnd(portal, maxRows: maxRows, describes: false)
        }
        if portal.isDone {
            try executeAgain(portal, query.kind)
            return nil
        }
        let statement = portal.statement
        let wait = try run(
            query,
            Invocation(
                parameters: portal.parameters, parameterTypes: statement.givenTypes,
                toldParameters: statement.hasToldParameters ? statement.parameters.map(\.type) : nil, toldTypes: statement.toldTypes,
                formats: portal.resultFormats))
        if wait == nil, query.head.verb != .empty { portal.end() }
        return wait
    }

    /// A portal of EXECUTE. From here on it is the prepared statement's, is described by the types of the arguments that stand there, and
    /// stops where the client says, as any.
    func becomeCalled(_ portal: Portal) throws(WireError) {
        let execute = portal.statement
        guard case .session(.execute(let name, let arguments)) = execute.query.kind else { return }
        let call = try call(of: name, arguments, execute.query, by: execute)
        portal.become(call.statement)
        portal.parameters.load(texts: call.arguments)
        // They were counted as the text of one EXECUTE, and each of its portals has them now.
        if !portal.name.isEmpty { try requireRoom(for: portal) }
    }

    /// It has done what it does: its rows were sent, all at once, and there are no more. What gives no rows is not done twice.
    private func executeAgain(_ portal: Portal, _ kind: Query.Kind) throws(WireError) {
        switch kind {
        case .chatter, .catalog: out.commandComplete("SELECT", count: 0)
        case .session(.show), .session(.showAll): complete("SHOW")
        case .session(.fetch(let fetch)) where !fetch.isMove: out.commandComplete("FETCH", count: 0)
        default: throw Self.cannotRunAgain(portal)
        }
    }

    /// The client was told of the columns before, by Describe of the statement or of an earlier portal, and reads the rows by that. What
    /// stands behind the name in a FETCH or EXECUTE may be something else since, and so may result_typing.
    func requireTold(_ told: [TypeOID], of portal: Portal) throws(WireError) {
        // Without a row nothing says what open columns are, and nothing is read.
        if firstRow(of: portal) != nil { try requireTold(told, portal.encoder.columns.map(\.type)) }
    }

    func requireTold(_ told: [TypeOID], _ types: [TypeOID]) throws(WireError) {
        guard told != types else { return }
        func names(_ types: [TypeOID]) -> Substring {
            types.map(\.sqlName).joined(separator: ", ").prefix(SessionLimits.typeListCharacters)
        }
        throw PreparedStatement.stale("Its columns were announced as \(names(told)), and are \(names(types)) now.")
    }
}
