import Glibc
import Workload

/// Where the figures of a run go. Opened before it: what was measured for hours is not lost to a directory that is missing.
struct Outputs {
    private let json: OutputFile?
    private let intervalLog: OutputFile?
    private let table: OutputFile?

    /// - Parameters:
    ///   - json: a path; "-" is standard output.
    ///   - intervalLog: a path of HdrHistogram's interval log.
    init(json: String?, intervalLog: String?, hasTable: Bool) throws(LoadError) {
        if let json, json == intervalLog { throw .usage("--json and --hdr-log are the same, \(json)") }
        self.json = try OutputFile.at(json)
        self.intervalLog = try OutputFile.at(intervalLog)
        if let json, let intervalLog, let file = self.json?.identity, file == self.intervalLog?.identity {
            throw .usage("--json and --hdr-log are the same file, \(json) and \(intervalLog)")
        }
        // The table must not get into what programs read.
        table = !hasTable ? nil : [json, intervalLog].contains("-") ? .standardError : .standardOutput
    }

    /// Writes each, whatever becomes of the others, and returns what could not be written. The table comes last: its reader may
    /// have gone, which ends the program.
    func write(_ result: RunResult) -> [LoadError] {
        var failures: [LoadError] = []
        func write(_ text: @autoclosure () -> String, _ file: OutputFile?) {
            do throws(LoadError) {
                try file?.write(text())
            } catch {
                failures.append(error)
            }
        }
        write(result.intervalLog, intervalLog)
        write(result.json.text + "\n", json)
        write(result.table, table)
        return failures
    }
}

/// A file to be written once, to its end.
struct OutputFile {
    private let path: String
    private let descriptor: Int32

    static let standardOutput = OutputFile(path: "standard output", descriptor: STDOUT_FILENO)
    static let standardError = OutputFile(path: "standard error", descriptor: STDERR_FILENO)

    /// "-" is standard output. What is in the file stays there until something else is written.
    static func at(_ path: String?) throws(LoadError) -> OutputFile? {
        guard let path else { return nil }
        guard path != "-" else { return standardOutput }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, permissions)
        guard descriptor >= 0 else { throw .system("cannot write \(path)") }
        return OutputFile(path: path, descriptor: descriptor)
    }

    /// What is written to it replaces what was there. Nil of what is no file: a pipe or a terminal takes one text after the other.
    var identity: [UInt]? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return [UInt(status.st_dev), UInt(status.st_ino)]
    }

    /// As fopen() has them; the umask takes its part away.
    private static let permissions: mode_t = 0o666

    func write(_ text: String) throws(LoadError) {
        if descriptor > STDERR_FILENO, ftruncate(descriptor, 0) != 0, errno != EINVAL { throw .system("cannot write \(path)") }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("cannot write \(path)") }
            rest = rest.dropFirst(count)
        }
        // Some file systems tell only now that there was no room.
        if descriptor > STDERR_FILENO, close(descriptor) != 0 { throw .system("cannot write \(path)") }
    }
}
