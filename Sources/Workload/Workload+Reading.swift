extension Workload {
    /// Reads a workload file.
    ///
    /// - Parameter replacing: variables that get another value than the file gives them.
    public init(_ text: String, replacing: [String: Int64] = [:]) throws(WorkloadError) {
        let lines = SourceLines(text)
        let root = TableReader(try TOMLNode.parse(text), "the file", lines, line: 1)
        try root.requireOnly(["description", "data", "variables", "class"])
        description = try root.string("description") ?? ""
        data = .none
        if let name = try root.string("data") {
            guard let known = DataSet(rawValue: name) else {
                throw root.wrong("data", "data is \"pgbench\", \"ycsb\" or \"none\", not \"\(name)\"")
            }
            data = known
        }
        variables = try Self.variables(root, replacing)
        classes = []
        for (index, nodes) in try root.tables("class").enumerated() {
            let line = lines.line(ofHeader: "[[class]]", number: index) ?? 1
            let table = TableReader(nodes, "[[class]]", lines, line: line)
            let clientClass = try ClassReader(table: table, lines: lines, variables: variables).read()
            guard !classes.contains(where: { $0.name == clientClass.name }) else {
                throw WorkloadError(line: line, "there are two classes \"\(clientClass.name)\"")
            }
            classes.append(clientClass)
        }
        guard !classes.isEmpty else { throw WorkloadError("there is no [[class]]") }
    }

    private static func variables(
        _ root: TableReader, _ replacing: [String: Int64]
    ) throws(WorkloadError) -> [String: Int64] {
        var variables: [String: Int64] = [:]
        for (name, node) in try root.table("variables") {
            guard case .integer(let value) = node else { throw root.wrong(name, "\(name) is a whole number") }
            variables[name] = Int64(value)
        }
        for (name, value) in replacing {
            guard variables[name] != nil else {
                let known = variables.keys.sorted().joined(separator: ", ")
                throw WorkloadError("there is no variable \"\(name)\"; the workload has \(known.isEmpty ? "none" : known)")
            }
            variables[name] = value
        }
        return variables
    }
}
