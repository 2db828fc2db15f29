import Glibc
import Workload

extension WalpoolLoad {
    /// Reads the workload file and puts in what the command line says.
    func runSettings() throws(LoadError) -> RunSettings {
        guard seconds > 0, seconds <= 1e6, warmUp >= 0, warmUp <= 1e6 else {
            throw LoadError.usage("--seconds is above 0, --warm-up not below, and neither above 1000000")
        }
        guard RunSettings.progressSeconds.contains(progress) else {
            throw LoadError.usage("--progress is \(RunSettings.progressSeconds.orZero)")
        }
        var workload: Workload
        do throws(WorkloadError) {
            workload = try Workload(InputFile.read(file), replacing: replacements())
        } catch {
            throw LoadError.usage("\(file): \(error)")
        }
        do throws(WorkloadError) {
            try workload.set(clients: clients, rate: rate, messages: messages)
        } catch {
            throw LoadError.usage(error.description)
        }
        return RunSettings(
            name: workloadName, workload: workload, seed: seed, warmUpSeconds: warmUp, seconds: seconds,
            progressSeconds: progress, firstInSequence: RunSettings.firstInSequenceNow)
    }

    private var workloadName: String {
        let name = file.split(separator: "/").last ?? ""
        return String(name.hasSuffix(".toml") ? name.dropLast(5) : name)
    }

    private func replacements() throws(WorkloadError) -> [String: Int64] {
        var values: [String: Int64] = [:]
        for text in variables {
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let value = Int64(parts[1]) else {
                throw WorkloadError("--set \(text): write VARIABLE=VALUE, with a whole number")
            }
            values[String(parts[0])] = value
        }
        return values
    }

    /// What only a server takes, and whether it was given.
    var optionsOfServers: [(name: String, isGiven: Bool)] {
        [
            ("--port", port != nil), ("--database", database != nil), ("--user", user != nil), ("--threads", threads != nil),
            ("--messages", messages != nil), ("--protocol", queryProtocol != nil), ("--retries", retries != nil),
        ]
    }

    /// What only a SQLite file takes.
    var optionsOfFiles: [(name: String, isGiven: Bool)] {
        [("--synchronous", synchronous != nil), ("--busy-timeout", busyTimeout != nil), ("--begin", beginMode != nil)]
    }

    /// With an option that changes nothing the figures would be of something else than was asked for.
    func requireNone(of options: [(name: String, isGiven: Bool)], with target: String) throws(LoadError) {
        if let option = options.first(where: { $0.isGiven }) { throw .usage("\(option.name) means nothing with \(target)") }
    }

    func hostRun(_ settings: RunSettings, host: String) throws(LoadError) -> HostRun {
        guard let database else { throw LoadError.usage("--host needs --database") }
        let sent = queryProtocol.flatMap(QueryProtocol.init)
        if let queryProtocol, sent == nil {
            throw LoadError.usage("--protocol \(queryProtocol): one of \(Self.words(QueryProtocol.self))")
        }
        if let threads, threads < 1 { throw LoadError.usage("--threads is at least 1") }
        if let retries, retries < 0 { throw LoadError.usage("--retries is not below 0") }
        let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        return HostRun(
            settings: settings,
            server: try ServerAddress(directory: host, port: port ?? 5432, user: user ?? Self.userName, database: database),
            queryProtocol: sent, retries: retries ?? 0, threads: min(threads ?? cores, settings.totalClients))
    }

    /// What an option may be, in words.
    static func words<Word: RawRepresentable<String> & CaseIterable>(_ type: Word.Type) -> String {
        type.allCases.map(\.rawValue).joined(separator: ", ")
    }

    func sqliteFile(_ path: String) throws(LoadError) -> SQLiteFile {
        let word = synchronous ?? SQLiteFile.Synchronous.full.rawValue
        guard let synchronous = SQLiteFile.Synchronous(rawValue: word) else {
            throw LoadError.usage("--synchronous \(word): one of \(Self.words(SQLiteFile.Synchronous.self))")
        }
        let begin = beginMode ?? SQLiteFile.BeginMode.immediate.rawValue
        guard let mode = SQLiteFile.BeginMode(rawValue: begin) else {
            throw LoadError.usage("--begin \(begin): one of \(Self.words(SQLiteFile.BeginMode.self))")
        }
        let busyTimeout = busyTimeout ?? 5000
        guard let timeout = Int32(exactly: busyTimeout), timeout >= 0 else {
            throw LoadError.usage("--busy-timeout \(busyTimeout): a number of milliseconds")
        }
        return SQLiteFile(path: path, synchronous: synchronous, busyTimeoutMilliseconds: timeout, beginMode: mode)
    }

    /// - Parameter child: the class, the client and the first number of its sequence.
    func runChild(_ child: String, _ settings: RunSettings) throws(LoadError) {
        let numbers = child.split(separator: ":").compactMap { Int64($0) }
        guard numbers.count == 3, let direct else { throw LoadError.usage("--child is for processes that --direct starts") }
        var settings = settings
        settings.firstInSequence = numbers[2]
        let file = try sqliteFile(direct)
        DirectChild(settings: settings, file: file, classIndex: Int(numbers[0]), number: Int(numbers[1])).run()
    }

    private static var userName: String {
        guard let entry = getpwuid(geteuid()) else { return "postgres" }
        return String(cString: entry.pointee.pw_name)
    }
}

/// A file as a whole.
enum InputFile {
    /// Whether it can be read again and again.
    static func isRegular(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    static func read(_ path: String) throws(WorkloadError) -> String {
        guard let file = fopen(path, "r") else { throw WorkloadError(String(cString: strerror(errno))) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
        guard ferror(file) == 0 else { throw WorkloadError(String(cString: strerror(errno))) }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw WorkloadError("it is not UTF-8") }
        return text
    }
}
