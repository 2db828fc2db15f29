/// How they are written.
extension ConsoleStatement {
    /// nil when its first words are none of the console's.
    static func parse(_ statement: UnsafeRawBufferPointer) throws(SQLSyntaxError) -> ConsoleStatement? {
        var cursor = TokenCursor(statement)
        guard let first = cursor.token, first.kind == .identifier else { return nil }
        let verb = first.name.lowercased()
        if verb == "show" { return try show(&cursor) }
        cursor.advance()
        let result: ConsoleStatement
        switch verb {
        case "backup":
            try cursor.expect("to")
            result = .backup(name: try cursor.string())
        case "checkpoint": result = .checkpoint
        case "vacuum": result = .vacuum
        case "reload": result = .reload
        case "pause": result = .pause(try cursor.optionalIdentifier())
        case "resume": result = .resume(try cursor.optionalIdentifier())
        case "kill": result = .kill(try cursor.clientNumber())
        case "shutdown": result = .shutdown(whenClientsHaveLeft: cursor.accept("wait_for_clients"))
        default:
            guard let missing = MissingCommand(rawValue: verb) else { return nil }
            // Whatever it says besides, it is not available.
            return .missing(missing)
        }
        try cursor.expectEnd()
        return result
    }

    private static func show(_ cursor: inout TokenCursor) throws(SQLSyntaxError) -> ConsoleStatement? {
        cursor.advance()
        guard let topic = cursor.token.flatMap({ ConsoleTopic(rawValue: $0.name.lowercased()) }) else { return nil }
        cursor.advance()
        try cursor.expectEnd()
        return .show(topic)
    }
}

extension TokenCursor {
    fileprivate mutating func optionalIdentifier() throws(SQLSyntaxError) -> String? { isAtEnd ? nil : try identifier() }

    fileprivate mutating func clientNumber() throws(SQLSyntaxError) -> Int32 {
        guard let token, token.kind == .number, let number = Int32(token.text) else { throw failure() }
        advance()
        return number
    }
}
