import CLinux
import Glibc
import Workload

/// Set by SIGTERM, in a process that is one client.
private let stopTime = StopTime()

/// One client in a process of its own, started by `DirectRun`.
struct DirectChild {
    let settings: RunSettings
    let file: SQLiteFile
    let classIndex: Int
    let number: Int

    /// Its side of the pair of sockets is its standard input.
    private let channel = Channel(descriptor: 0)

    func run() {
        // Nobody would read the figures, and the file would be written to for the rest of the run. A parent that has gone before this
        // has closed its side of the pair of sockets, and the start never comes.
        walpool_die_with_parent()
        takeSignals()
        let client: SQLiteClient
        do throws(LoadError) {
            client = try SQLiteClient(file: file, settings: settings, classIndex: classIndex, number: number, stopTime: stopTime)
        } catch {
            return channel.send(.failed(error.description))
        }
        channel.send(.ready)
        guard let start = channel.readStart() else { return }
        let from = start + settings.warmUp
        var processorBefore: Double?
        var nextReport = reportInterval.map { start + $0 } ?? .max
        Clock.sleep(until: start)
        client.run(start: start, from: from, until: start + settings.length) { count in
            let now = Clock.now
            if processorBefore == nil, now >= from { processorBefore = Clock.processorSeconds }
            guard now >= nextReport, let reportInterval else { return }
            nextReport = now + reportInterval
            channel.send(.progress(count))
        }
        let used = Clock.processorSeconds - (processorBefore ?? Clock.processorSeconds)
        channel.send(.tally(client.tally.close().bytes, processorSeconds: used))
    }

    private static let reportNanoseconds: Int64 = 500_000_000

    /// Between two reports; nil: nobody reads them. What is not read fills the pair of sockets within minutes, and the client would
    /// wait in it instead of for SQLite, to the end of the run. So it sends no more than two for each that is asked for.
    private var reportInterval: Int64? {
        guard settings.progressSeconds > 0 else { return nil }
        return max(Self.reportNanoseconds, Int64(settings.progressSeconds * 1e9 / 2))
    }

    /// Ctrl-C at a terminal is for the process that started this one, which passes it on as SIGTERM.
    private func takeSignals() {
        signal(SIGINT, SIG_IGN)
        // What the handler does must be safe in one, which an atomic and clock_gettime() are, but not the making of a global variable:
        // signal-safety(7). So it is made here, by setting what it is.
        stopTime.set(.max)
        signal(SIGTERM) { _ in stopTime.set(Clock.now) }
        var signals = RunWatch.stopSignals
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }
}
