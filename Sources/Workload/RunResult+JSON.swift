extension RunResult {
    /// For programs. The number is raised when a member changes its meaning or goes.
    public static let format = 3

    /// What walpool-load writes to the file of `--json`.
    public var json: JSON {
        .object([
            ("format", .integer(Self.format)),
            ("workload", .string(workload)),
            ("target", .string(target)),
            ("seed", .integer(seed)),
            ("first_in_sequence", .integer(firstInSequence)),
            ("variables", .object(variables.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })),
            ("options", .object(options.map { ($0.name, $0.value) })),
            ("seconds", .number(seconds)),
            ("warm_up_seconds", .number(warmUpSeconds)),
            ("started_at", .number(startedAt)),
            ("threads", .integer(threads)),
            ("client_cpu_seconds", .number(clientProcessorSeconds)),
            ("classes", .array(classes.map { $0.json(seconds: seconds) })),
            ("complaints", .array(complaints.map(JSON.string))),
        ])
    }
}

extension ClassResult {
    fileprivate func json(seconds: Double) -> JSON {
        let isOpen = clientClass.isOpenLoop
        return .object([
            ("name", .string(clientClass.name)),
            ("clients", .integer(clientClass.clients)),
            ("loop", .string(isOpen ? "open" : "closed")),
            ("rate_per_s", isOpen ? .number(clientClass.ratePerSecond) : .null),
            ("think_ms", .number(clientClass.thinkMilliseconds)),
            ("idle", .boolean(clientClass.isIdle)),
            ("protocol", queryProtocol.map(JSON.string) ?? .null),
            ("messages", queryProtocol == nil ? .null : .string(clientClass.messages.rawValue)),
            ("isolation", queryProtocol == nil ? .null : clientClass.isolation.map(JSON.string) ?? .null),
            ("transactions", .integer(contents.transactions)),
            ("warm_up_transactions", .integer(contents.warmUpTransactions)),
            ("late_transactions", .integer(contents.lateTransactions)),
            ("due", isOpen ? .integer(contents.due) : .null),
            ("not_started", isOpen ? .integer(contents.notStarted) : .null),
            ("statements", .integer(contents.statements)),
            ("rows", .integer(contents.rows)),
            ("errors", .integer(contents.errors)),
            ("error_states", Self.json(states: contents.errorStates)),
            ("warm_up_errors", .integer(contents.warmUpErrors)),
            ("warm_up_error_states", Self.json(states: contents.warmUpErrorStates)),
            ("late_errors", .integer(contents.lateErrors)),
            ("late_error_states", Self.json(states: contents.lateErrorStates)),
            ("retries", .integer(contents.retries)),
            ("throughput_per_s", .number(throughput(seconds: seconds))),
            ("latency_us", latencyJSON),
            ("fewest", .integer(contents.perClient.min() ?? 0)),
            ("most", .integer(contents.perClient.max() ?? 0)),
            ("per_client", .array(contents.perClient.map { JSON.integer($0) })),
            ("unfinished_us", .integer(microseconds(contents.unfinishedNanoseconds))),
            ("histogram", .string(base64(contents.counts.compressed))),
            ("series", .array(contents.seconds.enumerated().map { Self.json(second: $0, $1) })),
        ])
    }

    private static func json(states: [String: UInt64]) -> JSON {
        .object(states.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })
    }

    func throughput(seconds: Double) -> Double { seconds > 0 ? Double(contents.transactions) / seconds : 0 }

    private var latencyJSON: JSON {
        .object(
            [("mean", .number(latency.mean))] + latency.percentiles.map { ($0.name, .integer($0.microseconds)) }
                + [("max", .integer(latency.longest))])
    }

    private static func json(second: Int, _ contents: TallyContents.Latencies) -> JSON {
        .object([
            ("second", .integer(second)),
            ("transactions", .integer(contents.counts.total)),
            ("p99_us", .integer(contents.all.histogram.valueAtPercentile(99))),
            ("max_us", .integer(microseconds(contents.highestNanoseconds))),
        ])
    }
}
