/// Reads one `[[class]]` with its `[[class.transaction]]` tables.
struct ClassReader {
    let table: TableReader
    let lines: SourceLines
    let variables: [String: Int64]

    private static let keys = [
        "name", "clients", "rate", "think_ms", "isolation", "messages", "connect", "idle", "read_bytes_per_s", "transaction",
    ]
    func read() throws(WorkloadError) -> ClientClass {
        try table.requireOnly(Self.keys)
        guard let name = try table.string("name") else { throw WorkloadError(line: table.line, "the class has no name") }
        var result = ClientClass(name: name, clients: try table.integer("clients", 0...ClientClass.mostClients) ?? 1)
        result.ratePerSecond = try table.number("rate", ClientClass.rates)
        result.thinkMilliseconds = try table.number("think_ms", ClientClass.pausesMilliseconds)
        result.isolation = try isolation()
        if let word = try table.string("messages") {
            guard let messages = ClientClass.Messages(rawValue: word) else {
                throw table.wrong("messages", "messages is \"separate\", \"pipeline\" or \"query\", not \"\(word)\"")
            }
            result.messages = messages
        }
        if let word = try table.string("connect") {
            guard word == "each" else { throw table.wrong("connect", "connect is \"each\" or left out") }
            result.connectsEachTime = true
        }
        result.isIdle = try table.boolean("idle")
        result.readBytesPerSecond = try table.integer("read_bytes_per_s", 1...Int(Int32.max)) ?? 0
        try readTransactions(into: &result)
        if let wrong = result.contradiction(isGiven: table.has) { throw table.wrong(wrong.key, wrong.message) }
        return result
    }

    private func isolation() throws(WorkloadError) -> String? {
        guard let level = try table.string("isolation") else { return nil }
        let known = ["read committed", "repeatable read", "serializable"]
        guard known.contains(level) else {
            throw table.wrong("isolation", "isolation is one of \(known.joined(separator: ", ")), not \"\(level)\"")
        }
        return level
    }

    private func readTransactions(into result: inout ClientClass) throws(WorkloadError) {
        let tables = try table.tables("transaction")
        for (index, nodes) in tables.enumerated() {
            let header = "[[class.transaction]]"
            let line = lines.line(ofHeader: header, number: index, after: table.line) ?? table.line
            let table = TableReader(nodes, header, lines, line: line)
            result.transactions.append(try TransactionReader(table: table, lines: lines, variables: variables).read())
        }
        if result.isIdle, !tables.isEmpty { throw table.wrong("idle", "a class that is idle has no transactions") }
        if !result.isIdle, tables.isEmpty {
            throw WorkloadError(line: table.line, "class \"\(result.name)\" has no [[class.transaction]], and is not idle")
        }
    }
}
