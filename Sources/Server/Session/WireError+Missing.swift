import PostgresWire

/// Errors for names of which there is nothing, in PostgreSQL's words.
extension WireError {
    static func noPreparedStatement(_ name: String) -> WireError {
        WireError(state: .invalidSQLStatementName, message: "prepared statement \"\(name)\" does not exist")
    }

    static func noPortal(_ name: String) -> WireError {
        WireError(state: .invalidCursorName, message: "portal \"\(name)\" does not exist")
    }

    static func noType(_ name: String) -> WireError {
        WireError(state: .undefinedObject, message: "type \"\(name)\" does not exist")
    }

    /// - Parameter served: the name of the one that is.
    static func noDatabase(_ name: String, served: String) -> WireError {
        WireError(
            state: .invalidCatalogName, message: "database \"\(name)\" does not exist", hint: "This daemon serves \"\(served)\".")
    }
}
