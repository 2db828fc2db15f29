/// What is to be logged and has not been written yet, bounded.
///
/// The log's reader may be slow or have stopped: a pipe whose reader hangs, a journal that is stopped. Then the
/// newest lines are left out and counted. The oldest are kept, because they say how it began.
package struct LogBacklog: Sendable {
    /// A second of a busy daemon's lines; with long statements in all of them the bytes come first.
    package static let entryLimit = 2_000
    /// Of all lines that wait, with their fields.
    package static let byteLimit = 4 << 20

    private var records: [LogRecord] = []
    private var bytes = 0
    private var leftOut = 0
    private let entryLimit: Int
    private let byteLimit: Int

    package init(entryLimit: Int = entryLimit, byteLimit: Int = byteLimit) {
        (self.entryLimit, self.byteLimit) = (entryLimit, byteLimit)
    }

    /// Nothing is to be written, a gap neither.
    package var isEmpty: Bool { records.isEmpty && leftOut == 0 }

    /// Adds it, or counts it among those that are left out.
    package mutating func append(_ record: LogRecord) {
        let size = record.byteCount
        // Once one was left out, so are those behind it until all is written: no gap that is not marked as one.
        guard leftOut == 0, records.count < entryLimit, bytes + size <= byteLimit else { return leftOut += 1 }
        records.append(record)
        bytes += size
    }

    /// All that waits, and how many lines were left out after it.
    package mutating func takeAll() -> (records: [LogRecord], leftOut: Int) {
        defer { (records, bytes, leftOut) = ([], 0, 0) }
        return (records, leftOut)
    }
}

extension LogRecord {
    var byteCount: Int { fields.reduce(line.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count } }
}
