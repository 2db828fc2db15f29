/// Everything a run has to tell.
public struct RunResult: Sendable {
    /// A choice of the target's: its name in the JSON, and what was chosen.
    public typealias Option = (name: String, value: JSON)

    /// The name of its file, without folders and ".toml".
    public var workload: String
    /// Against what: "server", "direct", "in-process" or "grdb".
    public var target: String
    /// With it the same workload draws the same values again.
    public var seed: UInt64
    /// Where `sequence()` began, which no seed says.
    public var firstInSequence: Int64
    /// The workload's, with what the command line has replaced.
    public var variables: [String: Int64]
    /// How the target was used, where there is a choice.
    public var options: [Option]
    /// The measured time.
    public var seconds: Double
    /// How long the warm-up before it was to be.
    public var warmUpSeconds: Double
    /// How many ran the clients: threads of the generator, or processes where each client is one.
    public var threads: Int
    /// User and system time that the generator took in the measured time.
    public var clientProcessorSeconds: Double
    /// Seconds since 1970 when the measured time began.
    public var startedAt: Double
    /// In the order of the file.
    public var classes: [ClassResult]

    /// A run that is over. All times are in seconds.
    public init(
        workload: String, target: String, seed: UInt64, firstInSequence: Int64, variables: [String: Int64], options: [Option],
        seconds: Double, warmUpSeconds: Double, threads: Int,
        clientProcessorSeconds: Double, startedAt: Double, classes: [ClassResult]
    ) {
        self.workload = workload
        self.target = target
        self.seed = seed
        self.firstInSequence = firstInSequence
        self.variables = variables
        self.options = options
        self.seconds = seconds
        self.warmUpSeconds = warmUpSeconds
        self.threads = threads
        self.clientProcessorSeconds = clientProcessorSeconds
        self.startedAt = startedAt
        self.classes = classes
    }

    /// Why these are the figures of no run, in words; nil otherwise.
    public var failure: String? {
        if seconds <= 0 { return "it was stopped in the warm-up: nothing was measured" }
        guard let complaint = complaints.first, classes.allSatisfy({ $0.contents.ended == 0 }) else { return nil }
        return "not one transaction succeeded: \(complaint)"
    }

    /// The first few different texts of errors.
    var complaints: [String] { classes.flatMap(\.contents.complaints) }
}

/// What one class did.
public struct ClassResult: Sendable {
    /// With what the command line has replaced in it.
    public var clientClass: ClientClass
    /// How its statements were sent to a server: "prepared", "extended" or "simple". Nil where none were, so that `messages` and
    /// `isolation` of the class meant nothing.
    public var queryProtocol: String?
    /// Of all its clients, whichever thread or process ran them.
    public var contents: TallyContents
    /// Of the contents that this was made with.
    public let latency: LatencyFigures

    /// Calculates the latencies, for which a histogram is built.
    public init(_ clientClass: ClientClass, _ contents: TallyContents, queryProtocol: String? = nil) {
        self.clientClass = clientClass
        self.queryProtocol = queryProtocol
        self.contents = contents
        latency = LatencyFigures(contents.counts, longestNanoseconds: contents.longestNanoseconds)
    }
}

/// Latencies in microseconds.
public struct LatencyFigures: Equatable, Sendable {
    /// 0 when nothing was counted, like the percentiles.
    public let mean: Double
    /// "p50" to "p9999", which is 99.99 %. None is above `longest`.
    public let percentiles: [(name: String, microseconds: UInt64)]
    /// Of transactions that failed, were late or had not ended, too, which the others may be without.
    public let longest: Int64

    static let wanted = [("p50", 50), ("p90", 90), ("p95", 95), ("p99", 99), ("p999", 99.9), ("p9999", 99.99)]

    init(_ counts: SparseCounts, longestNanoseconds: Int64) {
        let histogram = counts.histogram
        longest = microseconds(longestNanoseconds)
        let most = UInt64(max(longest, 0))
        // In place of the package's `mean`, which asks for every place of the histogram.
        let sum = counts.entries.reduce(0.0) { sum, entry in
            sum + Double(histogram.medianEquivalentForValue(LatencyCounts.value(at: Int(entry.index)))) * Double(entry.count)
        }
        mean = counts.entries.isEmpty ? 0 : sum / Double(counts.total)
        // The highest value of the place it was counted at, as HdrHistogram has it; the longest there was may be below that.
        percentiles = Self.wanted.map { name, percentile in
            let value = histogram.valueAtPercentile(percentile)
            return (name, counts.entries.isEmpty ? 0 : min(histogram.highestEquivalentForValue(value), most))
        }
    }

    /// Tuples have no equality, so the names, which are always the same ones, are left out.
    public static func == (left: Self, right: Self) -> Bool {
        left.mean == right.mean && left.longest == right.longest
            && left.percentiles.map(\.microseconds) == right.percentiles.map(\.microseconds)
    }

    subscript(name: String) -> UInt64 { percentiles.first { $0.name == name }?.microseconds ?? 0 }
}
