import Logging

/// A line of a kind. The kind travels among the metadata, under a key of its own, so that any `LogHandler` will do.
extension Logger {
    /// Under which it does.
    package static let kindKey = "kind"

    /// What happens in normal operation, and is worth a line.
    package func info(
        _ kind: EventKind, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata = [:],
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.info, kind, message(), metadata(), file, function, line)
    }

    /// Normal, but of interest to whoever runs the daemon.
    package func notice(
        _ kind: EventKind, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata = [:],
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.notice, kind, message(), metadata(), file, function, line)
    }

    /// Something is not as it should be; the daemon has dealt with it.
    package func warning(
        _ kind: EventKind, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata = [:],
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.warning, kind, message(), metadata(), file, function, line)
    }

    /// Something that was asked for has failed, and not by a mistake of the client's.
    package func error(
        _ kind: EventKind, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata = [:],
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.error, kind, message(), metadata(), file, function, line)
    }

    /// The daemon cannot go on.
    package func critical(
        _ kind: EventKind, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata = [:],
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.critical, kind, message(), metadata(), file, function, line)
    }

    /// A line whose level is known only when it is written.
    package func log(
        level: Level, _ kind: EventKind, _ message: @autoclosure () -> Message,
        metadata: @autoclosure () -> Metadata = [:], file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log(level, kind, message(), metadata(), file, function, line)
    }

    /// What is not to be written is not put together either.
    private func log(
        _ level: Level, _ kind: EventKind, _ message: @autoclosure () -> Message,
        _ metadata: @autoclosure () -> Metadata, _ file: String, _ function: String, _ line: UInt
    ) {
        guard level >= logLevel else { return }
        var all = metadata()
        all[Self.kindKey] = .stringConvertible(kind)
        log(level: level, message(), metadata: all, file: file, function: function, line: line)
    }
}
