/// The form in which a process hands its tally to the one that started it: numbers of eight bytes (places of latencies have four), texts
/// behind their length.
/// Both ends are the same program.
extension TallyContents {
    /// For `init(bytes:)`. Numbers have their most significant byte first.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        let counts = [
            transactions, statements, rows, errors, lateErrors, retries, warmUpTransactions, lateTransactions, due, notStarted,
            warmUpErrors,
        ]
        for number in counts { bytes.append(bigEndian: number) }
        bytes.append(bigEndian: unfinishedNanoseconds)
        bytes.append(bigEndian: longestNanoseconds)
        bytes.append(bigEndian: perClient.count)
        for count in perClient { bytes.append(bigEndian: count) }
        for states in [errorStates, lateErrorStates, warmUpErrorStates] { bytes.append(states: states) }
        bytes.append(bigEndian: complaints.count)
        for complaint in complaints { bytes.append(text: complaint) }
        bytes.append(bigEndian: seconds.count)
        for latencies in seconds + [overdue] { bytes.append(latencies: latencies) }
        return bytes
    }

    /// Nil when the bytes end early.
    public init?(bytes: [UInt8]) {
        var reader = TallyReader(bytes)
        self.init(clients: 0)
        transactions = reader.number()
        statements = reader.number()
        rows = reader.number()
        errors = reader.number()
        lateErrors = reader.number()
        retries = reader.number()
        warmUpTransactions = reader.number()
        lateTransactions = reader.number()
        due = reader.number()
        notStarted = reader.number()
        warmUpErrors = reader.number()
        unfinishedNanoseconds = reader.number()
        longestNanoseconds = reader.number()
        perClient = reader.list { $0.number() }
        errorStates = reader.states()
        lateErrorStates = reader.states()
        warmUpErrorStates = reader.states()
        complaints = reader.list { $0.text() }
        seconds = reader.list { $0.latencies() }
        overdue = reader.latencies()
        guard !reader.endedEarly else { return nil }
    }
}

extension [UInt8] {
    fileprivate mutating func append(text: String) {
        append(bigEndian: text.utf8.count)
        append(contentsOf: text.utf8)
    }

    fileprivate mutating func append(states: [String: UInt64]) {
        append(bigEndian: states.count)
        for (state, count) in states {
            append(text: state)
            append(bigEndian: count)
        }
    }

    fileprivate mutating func append(latencies: TallyContents.Latencies) {
        append(bigEndian: latencies.highestNanoseconds)
        for counts in [latencies.counts, latencies.failed] {
            append(bigEndian: counts.entries.count)
            for entry in counts.entries {
                append(bigEndian: entry.index)
                append(bigEndian: entry.count)
            }
        }
    }
}

private struct TallyReader {
    private var rest: ArraySlice<UInt8>
    private(set) var endedEarly = false

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func number<Number: FixedWidthInteger>() -> Number {
        let size = MemoryLayout<Number>.size
        guard rest.count >= size else {
            endedEarly = true
            rest = []
            return 0
        }
        defer { rest = rest.dropFirst(size) }
        return rest.withUnsafeBytes { Number(bigEndian: $0.loadUnaligned(as: Number.self)) }
    }

    mutating func text() -> String {
        let count: Int = number()
        let bytes = rest.prefix(max(count, 0))
        if bytes.count != count { endedEarly = true }
        rest = rest.dropFirst(bytes.count)
        return String(decoding: bytes, as: UTF8.self)
    }

    mutating func list<Element>(_ element: (inout TallyReader) -> Element) -> [Element] {
        let count: Int = number()
        var list: [Element] = []
        while list.count < count, !endedEarly { list.append(element(&self)) }
        return list
    }

    mutating func states() -> [String: UInt64] {
        Dictionary(list { ($0.text(), $0.number() as UInt64) }) { $0 + $1 }
    }

    mutating func latencies() -> TallyContents.Latencies {
        let highest: Int64 = number()
        return .init(counts: counts(), failed: counts(), highestNanoseconds: highest)
    }

    private mutating func counts() -> SparseCounts {
        SparseCounts(entries: list { SparseCounts.Entry(index: $0.number(), count: $0.number()) })
    }
}
