/// Reads one `[[class.transaction]]`.
struct TransactionReader {
    let table: TableReader
    let lines: SourceLines
    let variables: [String: Int64]

    /// A pipeline or a statement of so many rows is as large as anyone sends at once.
    private static let mostRepetitions = 10_000

    /// Their number is an Int16, which PostgreSQL reads without a sign. SQLite as it comes has half of them, and says so.
    private static let mostParameters = 65_535

    func read() throws(WorkloadError) -> Transaction {
        try table.requireOnly(["weight", "let", "statements"])
        let locals = try readLocals()
        var steps: [Transaction.Step] = []
        for nodes in try table.tables("statements") { steps += try readStep(nodes, locals) }
        let transaction = Transaction(weight: try table.integer("weight", 1...1_000_000) ?? 1, locals: locals, steps: steps)
        guard !transaction.statements.isEmpty else {
            throw WorkloadError(line: table.line, "the transaction has no statements")
        }
        try requireBalance(transaction)
        try requireHoldsInside(transaction)
        return transaction
    }

    /// At its ends not every target would wait, and count that as a part of it.
    private func requireHoldsInside(_ transaction: Transaction) throws(WorkloadError) {
        for step in [transaction.steps.first, transaction.steps.last] {
            guard case .some(.hold) = step else { continue }
            throw table.wrong("hold_ms", "hold_ms stands between two statements; think_ms is the time between two transactions")
        }
    }

    private func readLocals() throws(WorkloadError) -> [Transaction.Local] {
        var locals: [Transaction.Local] = []
        for (name, node) in try table.table("let").sorted(by: { $0.key < $1.key }) {
            guard case .string(let text) = node else { throw table.wrong(name, "\(name) is an expression in quotes") }
            // They do not see each other: a table of TOML has no order.
            locals.append(.init(name: name, expression: try expression(text, [])))
        }
        return locals
    }

    private func expression(_ text: String, _ locals: [Transaction.Local]) throws(WorkloadError) -> Expression {
        do throws(WorkloadError) {
            return try ExpressionParser.parse(text, variables: variables, locals: locals)
        } catch {
            throw table.wrong("\"\(text)\"", error.message)
        }
    }

    private func readStep(
        _ nodes: [String: TOMLNode], _ locals: [Transaction.Local]
    ) throws(WorkloadError) -> [Transaction.Step] {
        let step = TableReader(nodes, "a step of statements", lines, line: table.line)
        try step.requireOnly(["sql", "parameters", "repeat", "rows", "hold_ms"])
        if step.has("hold_ms") {
            guard !step.has("sql") else { throw step.wrong("hold_ms", "a step has sql or hold_ms, not both") }
            for key in ["parameters", "repeat", "rows"] where step.has(key) {
                throw step.wrong("hold_ms", "a step with hold_ms has no \(key)")
            }
            return [.hold(milliseconds: try step.number("hold_ms", ClientClass.pausesMilliseconds))]
        }
        guard let sql = try step.string("sql") else {
            throw WorkloadError(line: table.line, "a step has neither sql nor hold_ms")
        }
        var parameters: [Expression] = []
        for text in try step.strings("parameters") { parameters.append(try expression(text, locals)) }
        let wanted = Statement.highestParameter(sql)
        guard wanted == parameters.count else {
            throw step.wrong(sql, "the statement has \(wanted) parameters, and \(parameters.count) are given")
        }
        var statement = Statement(sql: sql, parameters: parameters)
        if let rows = try step.integer("rows", 1...Self.mostRepetitions) {
            guard let many = statement.repeatingValues(rows) else {
                throw step.wrong(sql, "rows is for a statement that ends in VALUES (...)")
            }
            statement = many
        }
        guard statement.parameters.count <= Self.mostParameters else {
            throw step.wrong(
                sql, "the statement has \(statement.parameters.count) parameters with its rows, and Bind has \(Self.mostParameters) at most"
            )
        }
        return Array(repeating: .statement(statement), count: try step.integer("repeat", 1...Self.mostRepetitions) ?? 1)
    }

    /// What BEGIN opens is closed at the end; nothing else may be left open from one transaction to the next.
    private func requireBalance(_ transaction: Transaction) throws(WorkloadError) {
        var isOpen = false
        for statement in transaction.statements {
            switch statement.kind {
            case .begin where isOpen: throw table.wrong(statement.sql, "BEGIN in a transaction")
            case .commit where !isOpen: throw table.wrong(statement.sql, "\(statement.sql) without BEGIN")
            case .begin: isOpen = true
            case .commit: isOpen = false
            case .read, .write: break
            }
        }
        if isOpen { throw WorkloadError(line: table.line, "BEGIN without COMMIT") }
    }
}
