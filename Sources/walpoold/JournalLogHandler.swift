import Glibc
import Logging

/// One line a message on stderr, with the priority prefix the journal understands when the journal is listening.
///
/// "Prefixing lines with <N>, N from 0 to 7": https://www.freedesktop.org/software/systemd/man/sd-daemon.html
struct JournalLogHandler: LogHandler {
    /// A level of its own, for a logger that was given one.
    private var ownLevel: Logger.Level?
    var logLevel: Logger.Level {
        get { ownLevel ?? LogThreshold.level }
        set { ownLevel = newValue }
    }
    var metadata: Logger.Metadata = [:]
    private let isJournal: Bool

    init() {
        isJournal = getenv("JOURNAL_STREAM") != nil
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let fields = all.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.quoted($0.value.description))" }.joined()
        let prefix = isJournal ? "<\(Self.priority(event.level))>" : "\(event.level): "
        StandardError.write("\(prefix)\(event.message)\(fields)\n")
    }

    /// Values come from clients: they must not end a line, look like other fields, or move a terminal's cursor.
    private static func quoted(_ value: String) -> String {
        let isPlain = value.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=") && $0 < 0x7F }
        if isPlain && value.utf8.count <= longestValue { return value }
        var result = "\""
        for scalar in value.unicodeScalars.prefix(longestValue) {
            switch scalar.value {
            case 0..<0x20, 0x7F...0x9F: result += " "
            case 0x22, 0x5C: result += "\\" + String(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static let longestValue = 1024

    private static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

/// Descriptor 2, a line at a time: one write each, so that lines of several threads never mix.
enum StandardError {
    static func write(_ line: String) {
        var line = line
        line.withUTF8 { _ = Glibc.write(2, $0.baseAddress, $0.count) }
    }
}
