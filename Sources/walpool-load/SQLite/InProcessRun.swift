import CSQLite
import Synchronization
import Workload

/// sqlite3 in a loop, without any server: a thread and a connection for each client, in this process.
struct InProcessRun {
    let settings: RunSettings
    let file: SQLiteFile

    private final class Shared: Sendable {
        let line = StartLine()
        let stopTime = StopTime()
    }

    /// A client's thread puts its tally here.
    private final class Slot: Sendable {
        let contents = Mutex<TallyContents?>(nil)
        let progress = Atomic<Int>(0)
    }

    func run() throws(LoadError) -> RunOutcome {
        // This shows the limit of the library: without a mutex around every allocation of every thread.
        // https://www.sqlite.org/c3ref/c_config_covering_index_scan.html#sqliteconfigmemstatus
        _ = walpool_config_int(SQLITE_CONFIG_MEMSTATUS, 0)
        try file.prepare()
        let shared = Shared()
        var clients: [(classIndex: Int, slot: Slot)] = []
        var running: [RunningThread] = []
        for (classIndex, clientClass) in settings.workload.classes.enumerated() {
            for number in 0..<clientClass.clients {
                let slot = Slot()
                clients.append((classIndex, slot))
                running.append(try RunningThread { runClient(classIndex, number, slot, shared) })
            }
        }
        var start: Int64 = 0
        try shared.line.start(whenReady: clients.count) {
            start = Clock.now + Self.startDelayNanoseconds
            return start
        }
        let times = RunWatch(settings: settings, start: start).wait {
            clients.reduce(0) { $0 + $1.slot.progress.load(ordering: .relaxed) }
        } stop: {
            shared.stopTime.set($0)
        }
        for thread in running { thread.join() }
        let classes = settings.workload.classes.enumerated().map { index, clientClass in
            var contents = TallyContents(clients: clientClass.clients)
            for client in clients where client.classIndex == index {
                if let counted = client.slot.contents.withLock({ $0 }) { contents.add(counted) }
            }
            return ClassResult(clientClass, contents)
        }
        let result = settings.result(
            target: "in-process", options: file.options, threads: clients.count, times: times, classes: classes)
        return RunOutcome(result)
    }

    /// Until every thread is at its start.
    private static let startDelayNanoseconds: Int64 = 5_000_000

    private func runClient(_ classIndex: Int, _ number: Int, _ slot: Slot, _ shared: Shared) {
        do throws(LoadError) {
            let client = try SQLiteClient(file: file, settings: settings, classIndex: classIndex, number: number, stopTime: shared.stopTime)
            guard let start = shared.line.waitForStart() else { return }
            client.run(
                start: start, from: start + settings.warmUp, until: start + settings.length
            ) { slot.progress.store($0, ordering: .relaxed) }
            let contents = client.tally.close()
            slot.contents.withLock { $0 = contents }
        } catch {
            shared.line.fail(error)
        }
    }
}
