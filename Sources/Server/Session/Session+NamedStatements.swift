import PostgresWire

/// Prepared statements by their names, and the room they take.
extension Session {
    func requireNewStatement(_ name: String) throws(WireError) {
        guard state.statements[name] == nil else {
            throw WireError(
                state: .duplicatePreparedStatement, message: "prepared statement \"\(name)\" already exists")
        }
        guard state.statements.count < SessionLimits.preparedStatements else {
            throw WireError(
                state: .programLimitExceeded, message: "too many prepared statements in this session",
                hint: "DEALLOCATE those that are not needed any more.")
        }
        try requireShort(name)
    }

    /// Under its name, if there is room for it.
    func keep(_ statement: PreparedStatement, _ name: String) throws(WireError) {
        let taken = statement.keptBytes
        guard taken <= SessionLimits.smallBytes || state.statements.bytes + taken <= SessionLimits.keptBytes else {
            throw Self.statementsTooLarge
        }
        state.statements.keep(statement, name)
    }

    /// What is known of a statement may have grown with its tables, until there is no more room for it under its name.
    func requireRoom(forGrown statement: PreparedStatement) throws(WireError) {
        guard statement.keptBytes > SessionLimits.smallBytes else { return }
        guard let name = state.statements.recount(statement) else {
            if let portal = state.portals.values.first(where: { $0.statement === statement }) { try requireRoom(for: portal) }
            return
        }
        guard state.statements.bytes > SessionLimits.keptBytes else { return }
        state.statements.remove(name)
        throw Self.statementsTooLarge
    }

    static let statementsTooLarge = WireError(
        state: .programLimitExceeded, message: "the prepared statements of this session are too large",
        hint: "DEALLOCATE those that are not needed any more.")

    func requireShort(_ name: String) throws(WireError) {
        guard name.utf8.count <= SessionLimits.nameBytes else {
            throw WireError(
                state: .programLimitExceeded, message: "a name is too long",
                detail: "It has \(name.utf8.count) bytes; \(SessionLimits.nameBytes) are the limit.")
        }
    }

    @inline(__always)
    func statement(named name: UnsafeRawBufferPointer) throws(WireError) -> PreparedStatement {
        if name.isEmpty {
            if let statement = state.unnamedStatement { return statement }
            throw WireError(
                state: .invalidSQLStatementName, message: "unnamed prepared statement does not exist")
        }
        if let statement = state.statements.named(name) { return statement }
        throw .noPreparedStatement(String(decoding: name, as: UTF8.self))
    }
}
