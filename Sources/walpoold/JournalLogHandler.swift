import Journal
import Logging

/// Where the program's log goes: swift-log's lines become records, and a thread of their own writes them.
struct JournalLogHandler: LogHandler {
    /// A level of its own, for a logger that was given one.
    private var ownLevel: Logger.Level?
    var logLevel: Logger.Level {
        get { ownLevel ?? LogThreshold.level }
        set { ownLevel = newValue }
    }
    var metadata: Logger.Metadata = [:]
    private let writer: LogWriter

    init(writer: LogWriter) {
        self.writer = writer
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        writer.append(LogRecord(event, metadata: metadata, withFields: writer.wantsFields))
        // Whoever logs this is about to end the process.
        if event.level == .critical { writer.drain(withinMilliseconds: LogWriter.criticalDrainMilliseconds) }
    }
}
