import CLinux
import Glibc
import Workload

/// The SQLite file opened by many processes, as people do it today: one for each client.
struct DirectRun {
    let settings: RunSettings
    let file: SQLiteFile

    /// A client's process, as the one that started it sees it. Used by the main thread.
    private final class Process {
        let number: Int32
        let classIndex: Int
        let channel: Channel
        var reader = ChannelReader()
        var isReady = false
        var finished = 0
        var contents: TallyContents?
        var processorSeconds = 0.0

        init(number: Int32, classIndex: Int, channel: Channel) {
            self.number = number
            self.classIndex = classIndex
            self.channel = channel
        }
    }

    func run() throws(LoadError) -> RunOutcome {
        try FileLimit.raise(for: settings.totalClients)
        try file.prepare()
        var processes: [Process] = []
        // Whatever happens, no process is left behind.
        defer { end(processes) }
        for (classIndex, clientClass) in settings.workload.classes.enumerated() {
            for number in 0..<clientClass.clients { processes.append(try start(classIndex, number)) }
        }
        try wait(for: processes, nanoseconds: Self.openNanoseconds, "opening the file took longer than a minute") { $0.isReady }
        // Processes that have begun must be told to end.
        RunWatch.blockSignals()
        let start = Clock.now + Self.startDelayNanoseconds
        for process in processes { process.channel.sendStart(start) }
        var times = RunWatch(settings: settings, start: start).wait {
            for process in processes { try? receive(process) }
            return processes.reduce(0) { $0 + $1.finished }
        } stop: { _ in
            for process in processes { kill(process.number, SIGTERM) }
        }
        let patience = Self.drainNanoseconds + Int64(file.busyTimeoutMilliseconds) * 1_000_000
        try wait(for: processes, nanoseconds: patience, "a client did not end") { $0.contents != nil }
        times.processorSeconds = processes.reduce(0) { $0 + $1.processorSeconds }
        let result = settings.result(
            target: "direct", options: file.options, threads: processes.count, times: times, classes: classes(processes))
        return RunOutcome(result)
    }

    private static let openNanoseconds: Int64 = 60_000_000_000
    /// Until every process has read when to start.
    private static let startDelayNanoseconds: Int64 = 50_000_000
    /// Beyond the busy timeout: a transaction may wait at its BEGIN, and then take its time.
    private static let drainNanoseconds: Int64 = 30_000_000_000
    private static let lookMilliseconds: Int32 = 50

    private func classes(_ processes: [Process]) -> [ClassResult] {
        settings.workload.classes.enumerated().map { index, clientClass in
            var contents = TallyContents(clients: clientClass.clients)
            for process in processes where process.classIndex == index { process.contents.map { contents.add($0) } }
            return ClassResult(clientClass, contents)
        }
    }

    // MARK: Processes

    private func start(_ classIndex: Int, _ number: Int) throws(LoadError) -> Process {
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
        let child = "\(classIndex):\(number):\(settings.firstInSequence)"
        let arguments = (CommandLine.arguments + ["--child", child]).map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, "/proc/self/exe", &actions, nil, arguments + [nil], environ)
        guard code == 0 else {
            close(pair[0])
            throw LoadError("cannot start a process: \(String(cString: strerror(code)))")
        }
        return Process(number: process, classIndex: classIndex, channel: Channel(descriptor: pair[0]))
    }

    private func receive(_ process: Process) throws(LoadError) {
        process.reader.receive(process.channel)
        while let message = process.reader.next() {
            switch message {
            case .ready: process.isReady = true
            case .failed(let text): throw LoadError(text)
            case .progress(let count): process.finished = count
            case .tally(let bytes, let seconds):
                process.contents = TallyContents(bytes: bytes)
                process.processorSeconds = seconds
            }
        }
    }

    private func wait(
        for processes: [Process], nanoseconds: Int64, _ complaint: String, until isDone: (Process) -> Bool
    ) throws(LoadError) {
        let deadline = Clock.now + nanoseconds
        while true {
            let waiting = processes.filter { !isDone($0) }
            if waiting.isEmpty { return }
            guard Clock.now < deadline else { throw LoadError(complaint) }
            var polled = waiting.map { pollfd(fd: $0.channel.descriptor, events: Int16(POLLIN), revents: 0) }
            poll(&polled, nfds_t(polled.count), Self.lookMilliseconds)
            for process in waiting {
                try receive(process)
                guard !process.reader.isClosed || isDone(process) else { throw LoadError("a client's process has died") }
            }
        }
    }

    /// Closing the sockets lets those end that have not begun; the others are killed.
    private func end(_ processes: [Process]) {
        for process in processes {
            close(process.channel.descriptor)
            if process.contents == nil { kill(process.number, SIGKILL) }
            var status: Int32 = 0
            while waitpid(process.number, &status, 0) < 0, errno == EINTR {}
        }
    }
}
