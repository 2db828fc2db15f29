import Glibc
import Logging
import POSIX

/// One thing to be logged: as a line a person reads, and as fields for the journal.
package struct LogRecord: Sendable {
    /// A field of the journal's: "NAME=value", the value being any bytes.
    package struct Field: Equatable, Sendable {
        package var name: String
        package var value: String
    }

    /// How important it is; systemd's number for that is `syslogPriority`.
    package var level: Logger.Level
    /// When it was logged, since 1970: it may be written later.
    package var microseconds = SystemClock.nanoseconds(CLOCK_REALTIME) / 1_000
    /// Without its end, and without anything in front that says how important it is.
    package var line: String
    /// Empty unless they were asked for.
    package var fields: [Field] = []

    /// A line without fields, logged now.
    package init(level: Logger.Level, line: String) { (self.level, self.line) = (level, line) }

    /// - Parameter withFields: the journal takes them; a terminal has no use for them.
    package init(_ event: LogEvent, metadata: Logger.Metadata, withFields: Bool) {
        level = event.level
        var metadata = metadata.merging(event.metadata ?? [:]) { $1 }
        let kind = metadata.removeValue(forKey: Logger.kindKey)
        let sorted = metadata.sorted { $0.key < $1.key }
        line = LogText.plain(event.message.description)
        for (key, value) in sorted { line += " \(key)=\(LogText.quoted(value.description))" }
        guard withFields else { return }
        fields = [
            // The line and not the message alone: it is what `journalctl` shows, and the fields are not.
            Field(name: "MESSAGE", value: line),
            Field(name: "PRIORITY", value: String(level.syslogPriority)),
            Field(name: "SYSLOG_IDENTIFIER", value: "walpoold"),
            Field(name: "CODE_FILE", value: event.file), Field(name: "CODE_LINE", value: String(event.line)),
            Field(name: "CODE_FUNC", value: event.function),
        ]
        if case .stringConvertible(let value) = kind, let kind = value as? EventKind {
            fields.append(Field(name: "MESSAGE_ID", value: kind.messageID))
        }
        for (key, value) in sorted { fields.append(Field(key: key, value)) }
    }
}

extension LogRecord.Field {
    /// "The variable name must be in uppercase and consist only of characters, numbers and underscores, and may not begin
    /// with an underscore" (https://www.freedesktop.org/software/systemd/man/sd_journal_print.html); the journal takes 64
    /// characters of them. Keys are words of this program, never a client's; the prefix keeps them apart from the
    /// journal's own.
    init(key: String, _ value: Logger.MetadataValue) {
        var name = "WALPOOL_"
        for byte in key.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): name.unicodeScalars.append(Unicode.Scalar(byte - 32))
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default: name += "_"
            }
        }
        if case .stringConvertible(let convertible) = value, let duration = convertible as? LoggedDuration {
            self.init(name: String((name + "_USEC").prefix(64)), value: String(duration.microseconds))
        } else {
            self.init(name: String(name.prefix(64)), value: LogText.cut(value.description))
        }
    }
}

extension Logger.Level {
    /// "<N>, N from 0 to 7": https://www.freedesktop.org/software/systemd/man/sd-daemon.html
    package var syslogPriority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

extension LogRecord {
    /// Why a log has a gap.
    package enum Gap: String {
        case readerIsSlow = "whoever reads the log is too slow"
        case notWritten = "they could not be written"
    }

    /// The gap in a log.
    package init(linesLeftOut count: Int, _ gap: Gap, withFields: Bool, file: String = #fileID, line: UInt = #line) {
        self.init(
            LogEvent(
                level: .warning, message: "lines were left out: \(gap.rawValue)",
                metadata: [Logger.kindKey: .stringConvertible(EventKind.linesLeftOut), "lines": "\(count)"],
                source: nil, file: file, function: #function, line: line),
            metadata: [:], withFields: withFields)
    }
}
