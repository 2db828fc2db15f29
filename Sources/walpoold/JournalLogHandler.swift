import Glibc
import Logging

/// One line a message on stderr, with the priority prefix the journal understands when the journal is listening.
///
/// "Prefixing lines with <N>, N from 0 to 7": https://www.freedesktop.org/software/systemd/man/sd-daemon.html
struct JournalLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    private let isJournal: Bool

    init(level: Logger.Level) {
        logLevel = level
        isJournal = getenv("JOURNAL_STREAM") != nil
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        // A line is a line, whatever a client put into its SQL.
        let fields = all.sorted { $0.key < $1.key }
            .map { " \($0.key)=\(String($0.value.description.map { $0.isNewline ? " " : $0 }))" }.joined()
        let prefix = isJournal ? "<\(Self.priority(event.level))>" : "\(event.level): "
        StandardError.write("\(prefix)\(event.message)\(fields)\n")
    }

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
