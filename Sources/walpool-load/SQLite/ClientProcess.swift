import CLinux
import Glibc
import Workload

/// A client's process, as the one that started it sees it. Used by the main thread.
final class ClientProcess {
    let number: pid_t
    let classIndex: Int
    let channel: Channel
    private(set) var reader = ChannelReader()
    private(set) var isReady = false
    private(set) var finished = 0
    private(set) var contents: TallyContents?
    private(set) var processorSeconds = 0.0
    /// How it has ended without a tally, in words.
    private(set) var death: String?
    private var hasBeenWaitedFor = false

    var hasDied: Bool { death != nil }

    /// Starts it.
    init(classIndex: Int, number: Int, firstInSequence: Int64) throws(LoadError) {
        self.classIndex = classIndex
        var pair: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
            throw .system("socketpair")
        }
        defer { close(pair[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The copy stays open when the program begins.
        posix_spawn_file_actions_adddup2(&actions, pair[1], 0)
        let child = "\(classIndex):\(number):\(firstInSequence)"
        let arguments = (CommandLine.arguments + ["--child", child]).map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, "/proc/self/exe", &actions, nil, arguments + [nil], environ)
        guard code == 0 else {
            close(pair[0])
            throw LoadError("cannot start a process: \(String(cString: strerror(code)))")
        }
        self.number = process
        channel = Channel(descriptor: pair[0])
    }

    /// Takes what it has said, without waiting.
    func receive() throws(LoadError) {
        reader.receive(channel)
        while let message = reader.next() {
            switch message {
            case .ready: isReady = true
            case .failed(let text): throw LoadError(text)
            case .progress(let count): finished = count
            case .tally(let bytes, let seconds):
                contents = TallyContents(bytes: bytes)
                processorSeconds = seconds
            }
        }
        if reader.isClosed, contents == nil, death == nil { death = describedDeath(waitForEnd()) }
    }

    private func describedDeath(_ status: Int32) -> String {
        let signal = status & 0x7F
        return "a client's process " + (signal > 0 ? "was killed by signal \(signal)" : "has ended with status \(status >> 8 & 0xFF)")
    }

    /// As `waitpid` tells of it.
    private func waitForEnd() -> Int32 {
        var status: Int32 = 0
        while waitpid(number, &status, 0) < 0, errno == EINTR {}
        hasBeenWaitedFor = true
        return status
    }

    /// Closing the socket lets one end that has not begun; one that has not handed over its tally is killed.
    func end() {
        close(channel.descriptor)
        // Its number may be another's by now.
        guard !hasBeenWaitedFor else { return }
        if contents == nil { kill(number, SIGKILL) }
        _ = waitForEnd()
    }
}
