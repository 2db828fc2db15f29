/// Reads the keys of one table of a workload file, each at most once, and complains about the others.
struct TableReader {
    private let nodes: [String: TOMLNode]
    private let name: String
    private let lines: SourceLines
    /// Where the table begins.
    let line: Int

    init(_ nodes: [String: TOMLNode], _ name: String, _ lines: SourceLines, line: Int) {
        self.nodes = nodes
        self.name = name
        self.lines = lines
        self.line = line
    }

    func wrong(_ key: String, _ message: String) -> WorkloadError {
        WorkloadError(line: lines.line(with: key, from: line), message)
    }

    func requireOnly(_ known: [String]) throws(WorkloadError) {
        for key in nodes.keys.sorted() where !known.contains(key) {
            throw wrong(key, "unknown key \"\(key)\" in \(name); it takes \(known.joined(separator: ", "))")
        }
    }

    func has(_ key: String) -> Bool { nodes[key] != nil }

    func string(_ key: String) throws(WorkloadError) -> String? {
        guard let node = nodes[key] else { return nil }
        guard case .string(let value) = node, !value.isEmpty else { throw wrong(key, "\(key) is a text in quotes") }
        return value
    }

    func boolean(_ key: String) throws(WorkloadError) -> Bool {
        guard let node = nodes[key] else { return false }
        guard case .boolean(let value) = node else { throw wrong(key, "\(key) is true or false") }
        return value
    }

    func integer(_ key: String, _ range: ClosedRange<Int>) throws(WorkloadError) -> Int? {
        guard let node = nodes[key] else { return nil }
        guard case .integer(let value) = node, range.contains(value) else {
            throw wrong(key, "\(key) is a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// - Parameter range: what it may be beside 0.
    func number(_ key: String, _ range: ClosedRange<Double>) throws(WorkloadError) -> Double {
        let value: Double? =
            switch nodes[key] {
            case nil: 0
            case .integer(let value): Double(value)
            case .float(let value): value
            default: nil
            }
        guard let value, value == 0 || range.contains(value) else {
            throw wrong(key, "\(key) is \(range.orZero)")
        }
        return value
    }

    func strings(_ key: String) throws(WorkloadError) -> [String] {
        var strings: [String] = []
        for node in try array(key) {
            guard case .string(let value) = node else { throw wrong(key, "\(key) is a list of texts in quotes") }
            strings.append(value)
        }
        return strings
    }

    private func array(_ key: String) throws(WorkloadError) -> [TOMLNode] {
        guard let node = nodes[key] else { return [] }
        guard case .array(let values) = node else { throw wrong(key, "\(key) is a list in brackets") }
        return values
    }

    func table(_ key: String) throws(WorkloadError) -> [String: TOMLNode] {
        guard let node = nodes[key] else { return [:] }
        guard case .table(let nodes) = node else { throw wrong(key, "\(key) is a table") }
        return nodes
    }

    func tables(_ key: String) throws(WorkloadError) -> [[String: TOMLNode]] {
        var tables: [[String: TOMLNode]] = []
        for node in try array(key) {
            guard case .table(let nodes) = node else { throw wrong(key, "\(key) is a list of tables") }
            tables.append(nodes)
        }
        return tables
    }
}
