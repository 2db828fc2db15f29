import CLinux
import Glibc
import Workload

/// The SQLite file opened by many processes, as people do it today: one for each client.
struct DirectRun {
    let settings: RunSettings
    let file: SQLiteFile

    func run() throws(LoadError) -> RunOutcome {
        try FileLimit.raise(for: settings.totalClients)
        try file.prepare()
        var processes: [ClientProcess] = []
        // Whatever happens, no process is left behind.
        defer { for process in processes { process.end() } }
        for (classIndex, clientClass) in settings.workload.classes.enumerated() {
            for number in 0..<clientClass.clients {
                processes.append(try ClientProcess(classIndex: classIndex, number: number, firstInSequence: settings.firstInSequence))
            }
        }
        try waitUntilReady(processes)
        // Processes that have begun must be told to end.
        RunWatch.blockSignals()
        let start = Clock.now + Self.startDelayNanoseconds
        for process in processes { process.channel.sendStart(start) }
        var times = RunWatch(settings: settings, start: start).wait {
            processes.reduce(0) { $0 + $1.finished }
        } isDeserted: {
            try? receive(processes, milliseconds: 0)
            return processes.allSatisfy(\.hasDied)
        } stop: { _ in
            for process in processes where !process.hasDied { kill(process.number, SIGTERM) }
        }
        waitForTallies(processes)
        times.processorSeconds = processes.reduce(0) { $0 + $1.processorSeconds }
        let result = settings.result(
            target: "direct", options: file.options, threads: processes.count, times: times, classes: classes(processes))
        return RunOutcome(result, failure: failure(processes))
    }

    private static let openNanoseconds: Int64 = 60_000_000_000
    /// Until every process has read when to start.
    private static let startDelayNanoseconds: Int64 = 50_000_000
    /// Beyond the busy timeout: a transaction may wait at its BEGIN, and then take its time.
    private static let drainNanoseconds: Int64 = 30_000_000_000
    private static let lookMilliseconds: Int32 = 50

    private func classes(_ processes: [ClientProcess]) -> [ClassResult] {
        settings.workload.classes.enumerated().map { index, clientClass in
            var contents = TallyContents(clients: clientClass.clients)
            for process in processes where process.classIndex == index {
                if let counted = process.contents {
                    contents.add(counted)
                } else {
                    contents.addMissing(process.death == nil ? "no end" : "died", reason(process))
                }
            }
            return ClassResult(clientClass, contents)
        }
    }

    /// Figures without those of a client are no figures of the class, but of the others they are.
    private func failure(_ processes: [ClientProcess]) -> String? {
        let missing = processes.filter { $0.contents == nil }
        guard let first = missing.first else { return nil }
        return "what \(missing.count) of \(processes.count) clients did is in no figure: \(reason(first))"
    }

    private func reason(_ process: ClientProcess) -> String { process.death ?? "a client's process did not end" }

    // MARK: Waiting

    private func waitUntilReady(_ processes: [ClientProcess]) throws(LoadError) {
        let deadline = Clock.now + Self.openNanoseconds
        while processes.contains(where: { !$0.isReady }) {
            guard Clock.now < deadline else { throw LoadError("opening the file took longer than a minute") }
            try receive(processes.filter { !$0.isReady }, milliseconds: Self.lookMilliseconds)
            if let death = processes.compactMap(\.death).first { throw LoadError(death) }
        }
    }

    private func waitForTallies(_ processes: [ClientProcess]) {
        let deadline = Clock.now + Self.drainNanoseconds + Int64(file.busyTimeoutMilliseconds) * 1_000_000
        while Clock.now < deadline, processes.contains(where: { $0.contents == nil && !$0.hasDied }) {
            try? receive(processes, milliseconds: Self.lookMilliseconds)
        }
    }

    /// Takes what they have said, and waits so long at most for one of them to say something.
    private func receive(_ processes: [ClientProcess], milliseconds: Int32) throws(LoadError) {
        let open = processes.filter { !$0.reader.isClosed }
        var polled = open.map { pollfd(fd: $0.channel.descriptor, events: Int16(POLLIN), revents: 0) }
        guard poll(&polled, nfds_t(polled.count), milliseconds) > 0 else { return }
        for (process, found) in zip(open, polled) where found.revents != 0 { try process.receive() }
    }
}
