import Pool
import PostgresWire

/// PREPARE and EXECUTE as statements.
extension Session {
    func prepare(_ name: String, _ types: [String], _ query: Query) throws(WireError) -> Wait? {
        guard let inner = query.inner else { return nil }
        try requireNewStatement(name)
        var wait: Wait?
        let analysis: Analysis?
        switch inner.kind {
        case .sqlite, .catalog: analysis = try self.analysis(of: inner, &wait)
        default: analysis = nil
        }
        if let wait { return wait }
        var given: [TypeOID] = []
        for type in types {
            guard let known = TypeOID(sqlName: type) ?? PostgresSpelling.type(named: type) else { throw .noType(type) }
            given.append(known)
        }
        let statement = try PreparedStatement(
            query: inner, analysis: analysis, given: given, typing: state.settings.typing, allowsUntyped: true)
        try keep(statement, name)
        complete("PREPARE")
        return nil
    }

    func execute(
        _ name: String, _ arguments: [Range<Int>], _ query: Query, _ invocation: Invocation
    ) throws(WireError) -> Wait? {
        if !simplePortal.isRunning {
            let call = try call(of: name, arguments, query)
            reuseSimplePortal(for: call.statement)
            simplePortal.resultFormats = invocation.formats ?? []
            simplePortal.parameters.load(texts: call.arguments)
        }
        return try runToEnd(simplePortal, maxRows: 0, describes: invocation.describes)
    }

    /// The statement that an EXECUTE names, with the types of this call's arguments, and their texts.
    ///
    /// - Parameter caller: the EXECUTE, where Parse has made it a statement of its own.
    func call(
        of name: String, _ arguments: [Range<Int>], _ query: Query, by caller: PreparedStatement? = nil
    ) throws(WireError) -> (statement: PreparedStatement, arguments: [String?]) {
        guard let statement = state.statements[name] else { throw .noPreparedStatement(name) }
        guard case .sqlite = statement.query.kind else {
            throw WireError(state: .featureNotSupported, message: "EXECUTE runs only queries and data changes")
        }
        guard arguments.count == statement.parameters.count else {
            throw WireError(
                state: .syntaxError, message: "wrong number of parameters for prepared statement \"\(name)\"",
                detail: "Expected \(statement.parameters.count) parameters but got \(arguments.count).")
        }
        let literals = try arguments.map { range throws(WireError) in try Self.literal(query.text.bytes, range) }
        let called = statement.called(with: literals.map(\.type), typing: state.settings.typing, by: caller)
        return (called, literals.map(\.text))
    }

    /// A literal argument; its text is nil for NULL.
    private static func literal(_ sql: UnsafeRawBufferPointer, _ range: Range<Int>) throws(WireError) -> PostgresSpelling.Argument {
        if let found = try PostgresSpelling.argument(UnsafeRawBufferPointer(rebasing: sql[range])) { return found }
        throw WireError(
            state: .featureNotSupported, message: "an argument of EXECUTE must be a literal",
            detail: "It may have a type: '2024-01-02'::date, TIMESTAMP '2024-01-02 03:04:05'.",
            hint: "Use the extended query protocol to pass parameters.")
    }
}
