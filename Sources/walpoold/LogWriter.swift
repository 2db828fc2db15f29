import Glibc
import Journal
import POSIX
import Pool
import Server

/// The thread that writes the log, and what waits for it.
///
/// Both ways out may block for as long as they like: a pipe whose reader has stopped, and `sd_journal_sendv`, which waits
/// while the journal's queue is full. So the threads that serve clients only append to a bounded backlog, and when that is
/// full their lines are left out and counted (`LogBacklog`). The price: what was logged in the last microseconds before
/// the process is killed is lost.
///
/// `@unchecked Sendable`: everything mutable is touched with the mutex held, or by the one thread that writes.
final class LogWriter: @unchecked Sendable {
    private let destination: LogDestination
    private let mutex = PthreadMutex()
    /// Something came, or the last of it was written.
    private let changed = PthreadCondition()
    private var backlog = LogBacklog()
    private var isWriting = false
    // Only the thread that writes knows these: lines that could not be written, and whether the last of them was begun.
    private var unwritten = 0
    private var isCut = false

    /// How long the daemon's last words may take, with nobody at work any more.
    static let lastDrainMilliseconds: Int64 = 2_000
    /// The process is about to end itself, and must not fail to because nobody reads why.
    static let criticalDrainMilliseconds: Int64 = 1_000

    init(_ destination: LogDestination = .current) {
        self.destination = destination
    }

    var wantsFields: Bool {
        if case .journal = destination { true } else { false }
    }

    /// Starts the thread, which lives as long as the process: so does this object.
    func start() throws(StartError) {
        do { _ = try Pthread("walpool-log", isDetached: true) { self.main() } } catch { throw StartError(error.description) }
    }

    /// Never waits for whoever reads the log.
    func append(_ record: LogRecord) {
        mutex.locked {
            backlog.append(record)
            changed.broadcast()
        }
    }

    /// Waits until all is written, but no longer than that.
    func drain(withinMilliseconds limit: Int64) {
        let end = MonotonicClock.now.advanced(byMilliseconds: limit)
        mutex.locked {
            while isWriting || !backlog.isEmpty {
                guard changed.wait(mutex, untilNanoseconds: end.nanoseconds) else { return }
            }
        }
    }

    private func main() {
        while true {
            let (records, leftOut) = mutex.locked {
                isWriting = false
                changed.broadcast()
                while backlog.isEmpty { changed.wait(mutex) }
                isWriting = true
                return backlog.takeAll()
            }
            for record in records { write(record) }
            if leftOut > 0 {
                write(LogRecord(linesLeftOut: leftOut, .readerIsSlow, withFields: wantsFields), standsFor: leftOut)
            }
        }
    }

    /// What could not be written is counted, and told of in front of the next line that can be.
    private func write(_ record: LogRecord, standsFor lines: Int = 1) {
        if unwritten > 0 {
            guard isWritten(LogRecord(linesLeftOut: unwritten, .notWritten, withFields: wantsFields)) else { return unwritten += lines }
            unwritten = 0
        }
        if !isWritten(record) { unwritten += lines }
    }

    private func isWritten(_ record: LogRecord) -> Bool {
        switch destination.write(record, isBehindCut: isCut) {
        case .all: isCut = false
        case .part: isCut = true
        case .nothing: return false
        }
        return !isCut
    }
}
