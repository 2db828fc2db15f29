import Glibc

/// The signals that say something to the daemon. They are blocked, and one thread asks for them.
struct Signals {
    private static let toStop = [SIGTERM, SIGINT, SIGQUIT]
    /// PgBouncer's PAUSE and RESUME (https://www.pgbouncer.org/usage.html#signals), which somebody may send who knows its console.
    /// By default either would end the process without a word.
    private static let ofPgBouncer = [SIGUSR1, SIGUSR2]
    private static let toReload = SIGHUP

    private let blocked: sigset_t

    /// Blocks them in the calling thread, and so in all that it starts from now on.
    init() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in Self.toStop + Self.ofPgBouncer + [Self.toReload] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)
        // A limit of file sizes (RLIMIT_FSIZE) is an error of the write, and of one statement.
        signal(SIGXFSZ, SIG_IGN)
        blocked = signals
    }

    struct Received {
        let number: Int32
        /// This process has sent it to itself.
        let isOwn: Bool
        var name: String { String(cString: strsignal(number)) }
        /// A terminal that goes away sends it, too, and is no reason to stop serving.
        var isToReload: Bool { number == toReload }
        var isOfPgBouncer: Bool { ofPgBouncer.contains(number) }
    }

    /// Waits for the next one.
    func next() -> Received {
        var signals = blocked
        var information = siginfo_t()
        while true {
            let number = sigwaitinfo(&signals, &information)
            // "Signals sent with kill(2) and sigqueue(3) fill in si_pid and si_uid": sigaction(2),
            // https://man7.org/linux/man-pages/man2/sigaction.2.html
            let isOwn = information.si_code == SI_USER && information._sifields._kill.si_pid == getpid()
            if number > 0 { return Received(number: number, isOwn: isOwn) }
        }
    }

    /// Whether one to stop has come meanwhile; does not wait. All others that have come are forgotten: nobody is left to tell.
    func takeStop() -> Bool {
        var signals = blocked
        var noTime = timespec()
        while true {
            let signal = sigtimedwait(&signals, nil, &noTime)
            if signal < 0 { return false }
            if Self.toStop.contains(signal) { return true }
        }
    }
}
