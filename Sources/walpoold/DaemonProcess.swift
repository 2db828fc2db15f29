import Glibc
import Server

/// What the console can ask of the daemon.
final class DaemonProcess: ServerProcess {
    /// To the process, and every thread but the one that waits for signals has this one blocked: so it is taken as one that
    /// an administrator sent.
    func shutDown() { kill(getpid(), SIGTERM) }

    func reload() throws(ReloadError) -> ReloadOutcome {
        throw ReloadError(problems: ["this version reads its configuration only when it starts"])
    }

    func settings() -> [SettingView]? { nil }
}
