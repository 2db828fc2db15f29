import Glibc
import Journal
import Server

/// The thread that writes the log, and what waits for it.
///
/// Both ways out may block for as long as they like: a pipe whose reader has stopped, and `sd_journal_sendv`, which waits
/// while the journal's queue is full. So the threads that serve clients only append to a bounded backlog, and when that is
/// full their lines are left out and counted (`LogBacklog`). The price: what was logged in the last microseconds before
/// the process is killed is lost.
///
/// `@unchecked Sendable`: everything mutable is touched with the mutex held.
final class LogWriter: @unchecked Sendable {
    private let destination: LogDestination
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// Something came, or the last of it was written.
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var backlog = LogBacklog()
    private var isWriting = false

    /// How long the daemon's last words may take, with nobody at work any more.
    static let lastDrainMilliseconds: Int64 = 2_000
    /// The process is about to end itself, and must not fail to because nobody reads why.
    static let criticalDrainMilliseconds: Int64 = 1_000

    init(_ destination: LogDestination = .current) {
        self.destination = destination
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        changed = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    var wantsFields: Bool {
        if case .journal = destination { true } else { false }
    }

    /// Starts the thread, which lives as long as the process: so does this object.
    func start() throws(StartError) {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        let code = pthread_create(
            &thread, nil,
            { context in
                Unmanaged<LogWriter>.fromOpaque(context!).takeUnretainedValue().main()
                return nil
            }, context)
        guard code == 0 else { throw StartError("cannot start a thread: \(String(cString: strerror(code)))") }
        pthread_detach(thread)
    }

    /// Never waits for whoever reads the log.
    func append(_ record: LogRecord) {
        pthread_mutex_lock(mutex)
        backlog.append(record)
        pthread_cond_broadcast(changed)
        pthread_mutex_unlock(mutex)
    }

    /// Waits until all is written, but no longer than that.
    func drain(withinMilliseconds limit: Int64) {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        end.tv_sec += Int(limit / 1000)
        end.tv_nsec += Int(limit % 1000) * 1_000_000
        if end.tv_nsec >= 1_000_000_000 { (end.tv_sec, end.tv_nsec) = (end.tv_sec + 1, end.tv_nsec - 1_000_000_000) }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while isWriting || !backlog.isEmpty {
            guard pthread_cond_timedwait(changed, mutex, &end) == 0 else { return }
        }
    }

    private func main() {
        while true {
            pthread_mutex_lock(mutex)
            isWriting = false
            pthread_cond_broadcast(changed)
            while backlog.isEmpty { pthread_cond_wait(changed, mutex) }
            let (records, leftOut) = backlog.takeAll()
            isWriting = true
            pthread_mutex_unlock(mutex)
            for record in records { destination.write(record) }
            if leftOut > 0 { destination.write(LogRecord(linesLeftOut: leftOut, withFields: wantsFields)) }
        }
    }
}
