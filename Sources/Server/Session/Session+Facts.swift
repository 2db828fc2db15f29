import Pool
import PostgresWire
import SQLite

/// What functions ask of the session that calls them, and set in it.
extension Session {
    /// What functions such as current_user() answer while this session's statement runs.
    var facts: SessionFacts? {
        SessionFacts(
            userName: userName, databaseName: server.configuration.databaseName, processID: processID,
            version: ServerVersion.sentence,
            setting: { [unowned self] in shown($0) ?? CatalogContents.presets[$0] },
            set: { [unowned self] in setInStatement($0, $1, isLocal: $2) }, cursors: cursors)
    }

    /// For set_config() as a function among others, whose arguments may be parameters.
    func setInStatement(_ name: String, _ value: String, isLocal: String) -> String? {
        do throws(WireError) {
            guard let isLocal = Array(isLocal.utf8).withUnsafeBytes({ TextCodec.parseBool($0) }) else {
                throw WireError(
                    state: .invalidTextRepresentation,
                    message: "invalid input syntax for type boolean: \"\(isLocal.prefix(SessionLimits.quotedCharacters))\"")
            }
            guard !["transaction_isolation", "transaction_read_only"].contains(name.lowercased()) else {
                throw WireError(
                    state: .featureNotSupported, message: "\(name) cannot be set in the middle of a statement",
                    hint: "SELECT set_config('\(name)', 'value', true) with literals, and nothing else, or SET TRANSACTION.")
            }
            try set(name, [value], isLocal: isLocal, isInStatement: true)
            // Outside of a block that would be for this statement alone, and so it is.
            return isLocal && !state.transaction.isExplicit ? value : state.settings.value(name) ?? value
        } catch {
            // The name or the value may have been a parameter.
            running.errorOfFunction = error
            running.errorOfFunction?.mayQuoteParameters = true
            return nil
        }
    }

    /// What a function of the session's own has failed with, which SQLite only repeats the words of.
    func takeErrorOfFunction() -> WireError? {
        defer { running.errorOfFunction = nil }
        return running.errorOfFunction
    }

    /// For pg_cursors.
    var cursors: @Sendable () -> [SessionFacts.Cursor] {
        guard !state.portals.isEmpty else { return { [] } }
        let open = state.portals.map { (name: $0.text, query: $1.statement.query, isBinary: $1.isBinaryCursor, isHoldable: $1.isHoldable) }
        return {
            open.map { cursor in
                let text = cursor.query.sent
                return SessionFacts.Cursor(
                    name: cursor.name, statement: String(decoding: text.bytes, as: UTF8.self), isBinary: cursor.isBinary,
                    isHoldable: cursor.isHoldable)
            }
        }
    }
}
