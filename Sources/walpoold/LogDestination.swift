import CSystemd
import Glibc
import Journal
import POSIX
import Pool

/// Where a record is written to, and how: fields to the journal, or a line to stderr.
enum LogDestination {
    /// stderr is the journal's, so that records may go to it with their fields; and lines on stderr have the prefix it
    /// understands.
    case journal
    /// Somebody looks on, and knows when.
    case terminal
    /// A file, another program: only the line itself can say when.
    case standardError

    /// "If the standard output or standard error output of the executed processes are connected to the journal …
    /// $JOURNAL_STREAM contains the device and inode numbers of the connection file descriptor, formatted in decimal,
    /// separated by a colon" (https://www.freedesktop.org/software/systemd/man/systemd.exec.html). The variable alone
    /// proves nothing: a child whose stderr was redirected inherits it.
    static var current: LogDestination {
        if isJournals { return .journal }
        return isatty(2) == 1 ? .terminal : .standardError
    }

    private static var isJournals: Bool {
        guard let value = getenv("JOURNAL_STREAM") else { return false }
        let numbers = String(cString: value).split(separator: ":", omittingEmptySubsequences: false)
        var status = stat()
        return numbers.count == 2 && fstat(2, &status) == 0 && UInt64(numbers[0]) == UInt64(status.st_dev)
            && UInt64(numbers[1]) == UInt64(status.st_ino)
    }

    /// In front of an error that is written past the log, since there is none yet.
    var errorPrefix: String {
        switch self {
        case .journal: "<3>"
        case .terminal, .standardError: ""
        }
    }

    /// In front of what a signal's handler writes.
    var criticalPrefix: String {
        switch self {
        case .journal: "<2>"
        case .terminal, .standardError: "critical: "
        }
    }

    /// - Parameter isBehindCut: of the line before it only a part was written.
    func write(_ record: LogRecord, isBehindCut: Bool) -> Written {
        // A line for which there are no fields, or a journal whose socket does not answer: what stderr leads to may still be read.
        if case .journal = self, !record.fields.isEmpty, Self.send(record.fields) { return .all }
        let line = (isBehindCut ? "\n" : "") + prefix(record) + record.line + "\n"
        let count = StandardError.written(of: line)
        return count == line.utf8.count ? .all : count > 0 ? .part : .nothing
    }

    /// How much of a line; the disk may be full that it is written to.
    enum Written { case all, part, nothing }

    private func prefix(_ record: LogRecord) -> String {
        switch self {
        case .terminal: "\(record.level): "
        case .standardError: "\(UTCTime.text(microseconds: record.microseconds)) \(record.level): "
        case .journal: "<\(record.level.syslogPriority)>"
        }
    }

    private static let socketPath = "/run/systemd/journal/socket"

    /// False: the journal has not taken it.
    private static func send(_ fields: [LogRecord.Field]) -> Bool {
        // Without that socket libsystemd reports success: "Fail silently if the journal is not available"
        // (https://github.com/systemd/systemd/blob/v252/src/libsystemd/sd-journal/journal-send.c).
        guard access(socketPath, F_OK) == 0 else { return false }
        var bytes: [UInt8] = []
        var lengths: [Int] = []
        for field in fields {
            let start = bytes.count
            bytes += field.name.utf8
            bytes.append(UInt8(ascii: "="))
            bytes += field.value.utf8
            lengths.append(bytes.count - start)
        }
        return bytes.withUnsafeMutableBytes { bytes in
            var offset = 0
            // libsystemd only reads them; iovec has no other kind of pointer.
            let parts = lengths.map { length -> iovec in
                defer { offset += length }
                return iovec(iov_base: bytes.baseAddress! + offset, iov_len: length)
            }
            return sd_journal_sendv(parts, Int32(parts.count)) >= 0
        }
    }
}
