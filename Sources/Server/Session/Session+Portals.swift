import PostgresWire

/// Portals: made, found and closed.
extension Session {
    func newPortal(
        _ name: UnsafeRawBufferPointer, for statement: PreparedStatement
    ) throws(WireError) -> Portal {
        guard !name.isEmpty else { return newUnnamedPortal(for: statement) }
        let text = String(decoding: name, as: UTF8.self)
        try requireNewPortal(text)
        let portal = Portal(name: text, statement: statement)
        portal.savepointDepth = state.transaction.savepoints.count
        state.portals[ExactName(text)] = portal
        return portal
    }

    /// The unnamed portal's object is used again, except in a group: one that is run again needs it as it was.
    func newUnnamedPortal(for statement: PreparedStatement) -> Portal {
        if let portal = state.unnamedPortal {
            finish(portal)
            if writerMode != .group {
                portal.reuse(for: statement)
                return portal
            }
        }
        let portal = Portal(name: "", statement: statement)
        state.unnamedPortal = portal
        return portal
    }

    func requireNewPortal(_ name: String) throws(WireError) {
        guard state.portals[ExactName(name)] == nil else {
            throw WireError(state: .duplicateCursor, message: "cursor \"\(name)\" already exists")
        }
        guard state.portals.count < SessionLimits.portals else {
            throw WireError(state: .programLimitExceeded, message: "too many open portals in this session")
        }
        try requireShort(name)
    }

    /// A portal that has just got its values, or of whose statement more is known.
    func requireRoom(for portal: Portal) throws(WireError) {
        guard portal.parameters.byteCount + bytesOfStatement(portal) > SessionLimits.smallBytes else { return }
        guard portalBytes <= SessionLimits.keptBytes else {
            closePortal(portal.name)
            throw WireError(
                state: .programLimitExceeded, message: "the portals of this session are too large",
                detail: "Their parameters count, and the statements that only they have.",
                hint: "Close portals that are not needed any more.")
        }
    }

    var portalBytes: Int {
        // Several may be of one statement, and several statements, as EXECUTE makes one for each call, of one text.
        var counted: Set<ObjectIdentifier> = []
        return state.portals.values.reduce(0) { sum, portal in
            let (bytes, statement) = (sum + portal.parameters.byteCount, portal.statement)
            guard !state.statements.has(statement) else { return bytes }
            let ofText = counted.insert(ObjectIdentifier(portal.query)).inserted ? portal.query.keptBytes : 0
            return bytes + ofText + (counted.insert(ObjectIdentifier(statement)).inserted ? statement.parameterBytes : 0)
        }
    }

    /// A named statement is counted under its name.
    func bytesOfStatement(_ portal: Portal) -> Int {
        state.statements.has(portal.statement) ? 0 : portal.statement.keptBytes
    }

    @inline(__always)
    func portal(named name: UnsafeRawBufferPointer) throws(WireError) -> Portal {
        if name.isEmpty {
            if let portal = state.unnamedPortal, !portal.isClosed { return portal }
            throw noPortal("")
        }
        return try portal(String(decoding: name, as: UTF8.self))
    }

    func portal(_ name: String) throws(WireError) -> Portal {
        if let portal = state.portals[ExactName(name)] { return portal }
        throw noPortal(name)
    }

    /// PostgreSQL keeps those of a failed block to its end, and says of each why it does not run. Here they are gone, and not told apart from
    /// those that never were.
    private func noPortal(_ name: String) -> WireError {
        state.transaction.hasFailed ? .inFailedTransaction : .noPortal(name)
    }

    func closePortal(_ name: String) {
        guard let portal = name.isEmpty ? state.unnamedPortal : state.portals[ExactName(name)] else { return }
        finish(portal)
        portal.isClosed = true
        if !name.isEmpty { state.portals[ExactName(name)] = nil }
    }

    /// Ends the portals opened after a savepoint. Those before it that have failed cannot be run any more, as in PostgreSQL.
    func closePortals(deeperThan depth: Int) {
        closePortal("")
        finish(simplePortal)
        for (name, portal) in state.portals {
            // One that failed in the middle of an Execute or FETCH has sent rows that it would count again.
            let hasFailed = portal.hasFailed || portal.rowsOfExecute > 0
            if portal.savepointDepth > depth {
                closePortal(name.text)
            } else if hasFailed {
                finish(portal)
                portal.fail()
            }
        }
    }

    func closeUnnamed() {
        closePortal("")
        state.unnamedStatement = nil
    }

    /// Which portals a transaction's end leaves open.
    enum Survivors {
        case none
        /// Cursors WITH HOLD of transactions that are committed.
        case held
        /// Those, and the ones of this transaction, which is about to be committed.
        case holdable
    }

    @inline(__always)
    func closePortals(but survivors: Survivors = .held) {
        if let portal = state.unnamedPortal {
            finish(portal)
            portal.isClosed = true
        }
        finish(simplePortal)
        if !state.portals.isEmpty { closeNamedPortals(but: survivors) }
    }

    @inline(never)
    private func closeNamedPortals(but survivors: Survivors) {
        for (name, portal) in state.portals {
            let survives =
                switch survivors {
                case .none: false
                case .held: portal.isHeld
                case .holdable: portal.isHoldable
                }
            if !survives {
                finish(portal)
                state.portals[name] = nil
            } else if portal.rowsOfExecute > 0 {
                // The FETCH that has sent these has failed, and another one would count them again.
                finish(portal)
                portal.fail()
            }
        }
    }
}
