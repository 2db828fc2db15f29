import PostgresWire

/// The statements a session answers by itself: transactions, settings, cursors, and what drivers ask unprompted.
extension Session {
    /// How a statement was called: as a simple query, or by Execute with what Parse and Bind said.
    struct Invocation {
        var parameters: BoundParameters?
        var parameterTypes: [TypeOID] = []
        /// What Describe has told of the parameters, if it was asked.
        var toldParameters: [TypeOID]?
        /// What Describe has told of the columns, if it was asked.
        var toldTypes: [TypeOID]?
        /// The result formats Bind asked for; nil in a simple query.
        var formats: [Format]?
        /// Its rows are to be announced.
        var describes = false
    }

    /// Runs one of them; nil when it is done.
    func run(_ query: Query, _ invocation: Invocation) throws(WireError) -> Wait? {
        let wait = try answer(query, invocation)
        if wait == nil { countOwn(query.kind) }
        return wait
    }

    private func answer(_ query: Query, _ invocation: Invocation) throws(WireError) -> Wait? {
        switch query.kind {
        case .empty:
            out.emptyQueryResponse()
            return nil
        case .sqlite:
            return nil
        case .transaction(let statement):
            return try run(statement, tag: query.head.tag)
        case .chatter(let chatter):
            try answer(chatter, formats: invocation.formats ?? [], describes: invocation.describes)
            return nil
        case .session(let statement):
            return try run(statement, query, invocation)
        case .catalog(.success(let statement)):
            return try run(statement, query, invocation)
        case .catalog(.failure(let refusal)):
            throw refusedCatalog(query, refusal)
        case .copy(let statement):
            return try run(statement, query)
        case .console(let statement):
            return try run(statement, invocation)
        }
    }

    private func run(
        _ statement: SessionStatement, _ query: Query, _ invocation: Invocation
    ) throws(WireError) -> Wait? {
        let (formats, describes) = (invocation.formats ?? [], invocation.describes)
        switch statement {
        case .show(let name):
            try show(name, formats, describes)
            return nil
        case .showAll:
            showAll(formats, describes)
            return nil
        case .fetch(let fetch):
            return try self.fetch(fetch, invocation)
        case .declare(let cursor):
            return try declare(cursor, query, invocation)
        case .prepare(let name, let types, _):
            return try prepare(name, types, query)
        case .execute(let name, let arguments):
            return try execute(name, arguments, query, invocation)
        default:
            try runSetting(statement)
            complete(Self.tag(of: statement) ?? query.head.tag)
            return nil
        }
    }

    /// Where PostgreSQL's tag says more than the verb.
    private static func tag(of statement: SessionStatement) -> StaticString? {
        switch statement {
        case .deallocate(nil): "DEALLOCATE ALL"
        case .close(nil): "CLOSE CURSOR ALL"
        case .discard(.all): "DISCARD ALL"
        case .discard(.plans): "DISCARD PLANS"
        case .discard(.sequences): "DISCARD SEQUENCES"
        case .discard(.temporary): "DISCARD TEMP"
        default: nil
        }
    }

    private func runSetting(_ statement: SessionStatement) throws(WireError) {
        switch statement {
        case .set(let scope, let name, let values):
            if scope == .local { warnOfLocalAlone() }
            try set(name, values, isLocal: scope == .local)
        case .setTransaction(let modes):
            try setTransaction(modes)
        case .setTransactionSnapshot:
            throw WireError(state: .featureNotSupported, message: "snapshots cannot be imported")
        case .setSessionCharacteristics(let modes):
            try change { settings throws(WireError) in
                if let isolation = modes.isolation { settings.defaultIsolation = isolation }
                if let readOnly = modes.readOnly { settings.defaultReadOnly = readOnly }
            }
            if modes.readOnly != nil { report("default_transaction_read_only") }
        case .setConstraints:
            throw WireError(
                state: .featureNotSupported, message: "SET CONSTRAINTS is not available",
                hint: "A foreign key declared DEFERRABLE INITIALLY DEFERRED is checked at COMMIT.")
        case .reset(let name):
            try requireSessionSetting(name)
            try change { settings throws(WireError) in try settings.reset(name, from: defaults) }
            report(name)
        case .resetAll:
            try resetAllSettings()
        case .discard(let what):
            try discard(what)
        case .deallocate(let name):
            try deallocate(name)
        case .close(let name):
            if let name {
                _ = try portal(name)
                closePortal(name)
            } else {
                for name in state.portals.keys { closePortal(name.text) }
            }
        case .unlisten:
            break
        case .listen, .notify:
            throw WireError(state: .featureNotSupported, message: "LISTEN and NOTIFY are not available")
        default:
            break
        }
    }
}
