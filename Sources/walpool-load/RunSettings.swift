import Glibc
import POSIX
import Workload

/// What is to be run, from the workload file and the command line.
struct RunSettings: Sendable {
    var name: String
    var workload: Workload
    var seed: UInt64
    var warmUpSeconds: Double
    var seconds: Double
    /// Between two lines that tell how far the run is; 0 for none.
    var progressSeconds: Double
    /// Where `sequence()` begins.
    var firstInSequence: Int64

    static var firstInSequenceNow: Int64 { Draws.firstInSequence(nanosecondsSince1970: SystemClock.nanoseconds(CLOCK_REALTIME)) }

    /// As long as a run may be.
    static let progressSeconds = 0...1e6

    /// After the end, as long as a server may take to answer what was under way: more than a busy_timeout of 5 s.
    static let drainNanoseconds: Int64 = 10_000_000_000

    var warmUp: Int64 { Int64(warmUpSeconds * 1e9) }
    /// Nanoseconds, with the warm-up.
    var length: Int64 { Int64((warmUpSeconds + seconds) * 1e9) }
    var totalClients: Int { workload.classes.reduce(0) { $0 + $1.clients } }

    func draws(classIndex: Int, client: Int) -> Draws {
        Draws(
            seed: seed, classIndex: classIndex, client: client, clients: workload.classes[classIndex].clients,
            firstInSequence: firstInSequence)
    }

    func result(
        target: String, options: [RunResult.Option], threads: Int, times: RunTimes, classes: [ClassResult]
    ) -> RunResult {
        RunResult(
            workload: name, target: target, seed: seed, firstInSequence: firstInSequence, variables: workload.variables,
            options: options, seconds: times.measuredSeconds, warmUpSeconds: warmUpSeconds,
            threads: threads, clientProcessorSeconds: times.processorSeconds, startedAt: times.startedAt, classes: classes)
    }
}

/// When the measured part of a run was, and what it took here.
struct RunTimes: Sendable {
    var measuredSeconds: Double
    var processorSeconds: Double
    var startedAt: Double
}

struct RunOutcome: Sendable {
    let result: RunResult
    /// Why the figures are not those of a run that took place.
    let failure: LoadError?

    /// - Parameter failure: what is known of it beside the figures.
    init(_ result: RunResult, failure: String? = nil) {
        self.result = result
        self.failure = (failure ?? result.failure).map { LoadError($0) }
    }
}
