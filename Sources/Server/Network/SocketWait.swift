import CLinux
import Glibc
import POSIX
import Pool
import Synchronization

/// Even a call that asks not to wait may wait at a client's socket. It may drop the last reference to a socket that the client has sent
/// (`SentDescriptors`), that was queued in one which it closes, or that the kernel's collector of those has found. With SO_LINGER "a
/// close(2) or shutdown(2) will not return until all queued messages for the socket have been successfully sent or the linger timeout
/// has been reached" (socket(7)), and the timeout is the client's to choose.
///
/// That wait ends with a signal, any that has a handler, and the socket is closed in the background: the kernel waits `while
/// (!signal_pending(current) && timeout)`, https://github.com/torvalds/linux/blob/v6.1/net/core/stream.c, sk_stream_wait_close. So a
/// thread that is kept gets one: from the watcher (`Watch`), or, if it is the one that stops the server, from a thread for that.
enum SocketWait {
    /// By itself it does nothing: "SIGURG … Ign", signal(7); and it comes from nowhere else, for nobody asks for a socket's (F_SETOWN).
    private static let signal = SIGURG

    /// Once in a process, before the first thread that may be interrupted. System calls go on where they can.
    private static let hasHandler: Bool = {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        action.sa_flags = SA_RESTART
        return sigaction(signal, &action, nil) == 0
    }()

    /// Before the calling thread's first call on a client's socket. Whoever started the process may have blocked the signal, which is
    /// inherited: "A child created via fork(2) inherits a copy of its parent's signal mask; the signal mask is preserved across
    /// execve(2)", signal(7).
    static func letThisThreadBeInterrupted() {
        guard hasHandler else { return }
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, signal)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// - Parameter thread: pthread_self(3) of one that runs.
    static func interrupt(_ thread: UInt) { pthread_kill(pthread_t(thread), signal) }

    /// Of one thread: it is in a call on a client's socket.
    ///
    /// `@unchecked Sendable`: an atomic word, in memory of its own so that sessions reach it without counting references at each call.
    /// Who makes it deallocates it, when no thread has it any more.
    struct Mark: @unchecked Sendable {
        private let word: UnsafeMutablePointer<Atomic<Bool>>

        init() {
            word = .allocate(capacity: 1)
            word.initialize(to: Atomic(false))
        }

        func deallocate() {
            word.deinitialize(count: 1)
            word.deallocate()
        }

        @inline(__always)
        var isSet: Bool { word.pointee.load(ordering: .relaxed) }

        @inline(__always)
        func during<Result>(_ call: () -> Result) -> Result {
            word.pointee.store(true, ordering: .relaxed)
            defer { word.pointee.store(false, ordering: .relaxed) }
            return call()
        }
    }

    private final class Stopping: Sendable {
        let isOver = Atomic<Bool>(false)
    }

    /// Runs `body`, which closes sockets on a thread that nobody watches, and interrupts it again and again.
    static func interrupting(_ body: () -> Void) {
        letThisThreadBeInterrupted()
        guard hasHandler else { return body() }
        let (stopping, thread) = (Stopping(), UInt(pthread_self()))
        let interrupter = try? Pthread("walpool-signal", stackBytes: ServerLimits.interrupterStackBytes) {
            while !stopping.isOver.load(ordering: .acquiring) {
                MonotonicClock.sleep(milliseconds: ServerLimits.interruptionMilliseconds)
                interrupt(thread)
            }
        }
        body()
        stopping.isOver.store(true, ordering: .releasing)
        interrupter?.join()
    }
}
