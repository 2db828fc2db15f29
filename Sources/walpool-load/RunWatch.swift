import Glibc
import POSIX

/// What the main thread does during a run: it waits for the end, for Ctrl-C, and for the time to tell how far the run is.
struct RunWatch {
    let settings: RunSettings
    let start: Int64

    /// From now on the main thread takes the signals that end a run by `sigtimedwait`; `RunningThread` keeps them from the
    /// others. Before the run they end the program as they do by default: there is nothing to tell yet, and nobody knows how
    /// long a server takes to accept its clients.
    static func blockSignals() {
        var signals = stopSignals
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    static var stopSignals: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
        return signals
    }

    /// Returns at the end of the measured time, which a signal may bring early, or that there is nobody left to measure. What is under
    /// way then is waited for by the caller; who does not want to wait sends a signal, which from now on ends the program as it does by
    /// default.
    ///
    /// - Parameters:
    ///   - transactions: how many have ended so far; nil when nobody knows.
    ///   - isDeserted: all clients are lost.
    ///   - stop: ends the run early, at the time it is given.
    func wait(transactions: () -> Int?, isDeserted: () -> Bool = { false }, stop: (Int64) -> Void) -> RunTimes {
        Self.blockSignals()
        defer { unblockSignals() }
        let from = start + settings.warmUp
        var until = start + settings.length
        if waitForEarlyEnd(until: from, transactions, isDeserted) {
            stop(Clock.now)
            return RunTimes(measuredSeconds: 0, processorSeconds: 0, startedAt: Clock.timeOfDay)
        }
        let startedAt = Clock.timeOfDay
        let processorBefore = Clock.processorSeconds
        if waitForEarlyEnd(until: until, transactions, isDeserted) {
            until = Clock.now
            stop(until)
        }
        return RunTimes(
            measuredSeconds: Double(until - from) / 1e9, processorSeconds: Clock.processorSeconds - processorBefore,
            startedAt: startedAt)
    }

    private func unblockSignals() {
        var signals = Self.stopSignals
        // What has come in the last moment has asked for the end that is there.
        while waitForSignal(nanoseconds: 0) {}
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// How long a run without clients goes on at most.
    private static let lookNanoseconds: Int64 = 50_000_000

    /// True when a signal came first, or everybody went.
    private func waitForEarlyEnd(until deadline: Int64, _ transactions: () -> Int?, _ isDeserted: () -> Bool) -> Bool {
        let interval = Int64(settings.progressSeconds * 1e9)
        var last = (time: Clock.now, count: transactions() ?? 0)
        while true {
            let now = Clock.now
            guard now < deadline else { return false }
            let next = interval > 0 ? min(deadline, last.time + interval) : deadline
            if waitForSignal(nanoseconds: min(max(0, next - now), Self.lookNanoseconds)) || isDeserted() { return true }
            guard interval > 0, Clock.now >= last.time + interval, let count = transactions() else { continue }
            let time = Clock.now
            report(time: time, rate: Double(count - last.count) / (Double(time - last.time) / 1e9))
            last = (time, count)
        }
    }

    private func waitForSignal(nanoseconds: Int64) -> Bool {
        var signals = Self.stopSignals
        var limit = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        return sigtimedwait(&signals, nil, &limit) > 0
    }

    private func report(time: Int64, rate: Double) {
        let tenths = (time - start + 50_000_000) / 100_000_000
        let phase = time < start + settings.warmUp ? "warm-up" : settings.name
        StandardError.write("walpool-load: \(phase) \(tenths / 10).\(tenths % 10) s, \(Int(rate)) transactions/s\n")
    }
}
