import CLinux
import Glibc
import Synchronization
import Workload

/// A run against a server.
struct HostRun {
    let settings: RunSettings
    let server: ServerAddress
    /// Nil: prepared statements, where a class sends none that cannot be.
    let queryProtocol: QueryProtocol?
    let retries: Int
    let threads: Int

    /// What the threads share.
    private final class Shared: Sendable {
        let line = StartLine()
        let stopTime = StopTime()
        /// An eventfd, which every thread has in its epoll.
        let wake = walpool_eventfd()
    }

    func run() throws(LoadError) -> RunOutcome {
        try FileLimit.raise(for: settings.totalClients)
        let shared = Shared()
        let programs = try makePrograms()
        let loads = try makeThreads(programs, shared)
        let length = settings.length
        var running: [RunningThread] = []
        for load in loads {
            running.append(
                try RunningThread {
                    do throws(LoadError) {
                        try load.connectAll()
                    } catch {
                        return shared.line.fail(error)
                    }
                    guard let start = shared.line.waitForStart() else { return }
                    load.run(start: start, until: start + length)
                })
        }
        var start: Int64 = 0
        try shared.line.start(whenReady: loads.count) {
            start = Clock.now + Self.startDelayNanoseconds
            for load in loads { load.beginMeasuring(from: start + settings.warmUp, until: start + length) }
            return start
        }
        let watch = RunWatch(settings: settings, start: start)
        let times = watch.wait {
            loads.reduce(0) { $0 + $1.progress.load(ordering: .relaxed) }
        } isDeserted: {
            lostEverybody(loads)
        } stop: {
            shared.stopTime.set($0)
            var one: UInt64 = 1
            write(shared.wake, &one, 8)
        }
        for thread in running { thread.join() }
        return outcome(programs, loads, times)
    }

    /// Until every thread is at its start.
    private static let startDelayNanoseconds: Int64 = 2_000_000

    private func makePrograms() throws(LoadError) -> [ClassProgram] {
        var programs: [ClassProgram] = []
        for clientClass in settings.workload.classes {
            programs.append(try ClassProgram(clientClass, queryProtocol: queryProtocol ?? .prepared))
        }
        // With an option that changes nothing the figures would be of something else than was asked for.
        if let queryProtocol, !programs.contains(where: { $0.queryProtocol == queryProtocol }) {
            let sent = programs.first { $0.queryProtocol != nil }?.queryProtocol?.rawValue ?? "none"
            throw .usage("--protocol \(queryProtocol.rawValue) means nothing with this workload: what its classes send is \(sent)")
        }
        return programs
    }

    private func makeThreads(_ programs: [ClassProgram], _ shared: Shared) throws(LoadError) -> [LoadThread] {
        // Each thread gets a share of each class.
        var shares: [[(program: Int, number: Int)]] = Array(repeating: [], count: threads)
        var next = 0
        for (index, program) in programs.enumerated() {
            for number in 0..<program.clientClass.clients {
                shares[next % threads].append((index, number))
                next += 1
            }
        }
        var loads: [LoadThread] = []
        for share in shares where !share.isEmpty {
            loads.append(
                try LoadThread(
                    server: server, programs: programs, share: share, settings: settings, retries: retries, stopTime: shared.stopTime,
                    wake: shared.wake))
        }
        return loads
    }

    private func outcome(_ programs: [ClassProgram], _ loads: [LoadThread], _ times: RunTimes) -> RunOutcome {
        let classes = settings.workload.classes.enumerated().map { index, clientClass in
            var contents = TallyContents(clients: clientClass.clients)
            for load in loads { contents.add(load.tallies[index].close()) }
            return ClassResult(clientClass, contents, queryProtocol: programs[index].queryProtocol?.rawValue)
        }
        // What all of them send, where that is one thing; each says what it sends.
        let sent = Set(programs.compactMap(\.queryProtocol))
        let used = sent.count == 1 ? sent.first : queryProtocol
        let result = settings.result(
            target: "server", options: [("protocol", .string((used ?? .prepared).rawValue)), ("retries", .integer(retries))],
            threads: loads.count, times: times, classes: classes)
        let unanswered = loads.reduce(0) { $0 + $1.unanswered }
        var failure: String?
        if unanswered > 0 { failure = "\(unanswered) clients had no answer \(Self.drainSeconds) s after the end" }
        if lostEverybody(loads) { failure = "no client has a connection any longer" }
        return RunOutcome(result, failure: failure)
    }

    private static let drainSeconds = RunSettings.drainNanoseconds / 1_000_000_000

    private func lostEverybody(_ loads: [LoadThread]) -> Bool {
        loads.reduce(0) { $0 + $1.lost.load(ordering: .relaxed) } >= settings.totalClients
    }
}
