import Glibc
import PostgresWire

/// Cuts what a client sends into rows and makes values of their fields, by PostgreSQL's rules
/// (https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9, src/backend/commands/copyfromparse.c).
///
/// It needs neither a connection nor the session, so all of it happens before the writer is taken. A row that is not
/// complete is read again from its start when more has arrived, which is asked for only after as much as is there has
/// come again: so however small the pieces, each byte is looked at a few times at most.
final class CopyDecoder {
    /// How lines end is settled by the first one.
    enum LineEnd { case unknown, newline, carriageReturn, both }

    /// A field as it was sent.
    struct Field {
        var start: Int
        var end: Int
        /// Backslashes, or quotes, are to be taken out.
        var isEscaped: Bool
        /// CSV: it was in quotes, at least in part.
        var isQuoted = false
    }

    let table: String
    let columns: [CopyColumn]
    let options: CopyOptions
    /// Lines that have been read, without the row at hand.
    var line = 0
    /// CSV: line ends in quotes of the row at hand.
    var quotedLines = 0
    var lineEnd = LineEnd.unknown
    /// The end was marked, or the client has sent everything.
    var hasEnded = false
    /// The header line, or the binary header, has been read.
    var hasHeader: Bool
    /// The fields of the row at hand.
    var fields: ContiguousArray<Field> = []
    /// FORCE NULL or FORCE NOT NULL names one.
    let hasForcedColumns: Bool
    /// Beyond ASCII is something in the row at hand.
    var hasHighBytes = false
    /// How many bytes must be there before it is worth looking again.
    var wanted = CopyLimits.decodeBytes

    init(table: String, columns: [CopyColumn], options: CopyOptions) {
        (self.table, self.options) = (table, options)
        self.columns = columns.map { column in
            var column = column
            column.forcesNotNull = options.forceNotNull.contains(column.name)
            column.forcesNull = options.forceNull.contains(column.name)
            return column
        }
        hasForcedColumns = self.columns.contains { $0.forcesNotNull || $0.forcesNull }
        hasHeader = options.format != .binary && options.header == .none
    }

    /// Decodes rows until there are enough, or `limit` of them, or what is here has come to its end.
    ///
    /// - Parameter isLast: nothing more will come.
    func decode(_ rows: CopyRows, limit: Int = .max, isLast: Bool) throws(WireError) {
        guard isLast || rows.undecoded >= wanted || (hasEnded && rows.undecoded > 0) else { return }
        while !rows.isFull, rows.rows < limit {
            if hasEnded { return try discard(rows) }
            let hasRow =
                switch options.format {
                case .text: try decodeTextRow(rows, isLast)
                case .csv: try decodeCSVRow(rows, isLast)
                case .binary: try decodeBinaryRow(rows, isLast)
                }
            guard hasRow else {
                if hasEnded {
                    try requireHeader(rows)
                    return try discard(rows)
                }
                wanted = max(CopyLimits.decodeBytes, 2 * rows.undecoded)
                guard rows.undecoded <= CopyLimits.rowBytes else {
                    throw failure(.programLimitExceeded, "a row of COPY is longer than \(CopyLimits.rowBytes) bytes")
                }
                return
            }
        }
        // There may be whole rows left.
        wanted = 1
    }

    /// What follows a mark of the end: in text, nothing is looked at; in binary, nothing may.
    private func discard(_ rows: CopyRows) throws(WireError) {
        if options.format == .binary, rows.undecoded > 0 {
            throw WireError(state: .badCopyFileFormat, message: "received copy data after EOF marker")
        }
        rows.discardRest()
    }

    // MARK: Lines of text and CSV

    /// How long the line end at `position` is; nil when that needs another byte.
    func lineEndLength(
        _ bytes: UnsafeMutablePointer<UInt8>, _ position: Int, _ end: Int, _ isLast: Bool
    ) throws(WireError) -> Int? {
        guard bytes[position] == UInt8(ascii: "\r") else {
            switch lineEnd {
            case .unknown, .newline:
                lineEnd = .newline
                return 1
            case .carriageReturn, .both: throw wrongLineEnd("newline", "\\n")
            }
        }
        switch lineEnd {
        case .newline: throw wrongLineEnd("carriage return", "\\r")
        case .carriageReturn: return 1
        case .unknown, .both:
            guard position + 1 < end || isLast else { return nil }
            let isBoth = position + 1 < end && bytes[position + 1] == UInt8(ascii: "\n")
            if lineEnd == .both, !isBoth { throw wrongLineEnd("carriage return", "\\r") }
            lineEnd = isBoth ? .both : .carriageReturn
            return isBoth ? 2 : 1
        }
    }

    private func wrongLineEnd(_ name: String, _ escape: String) -> WireError {
        let isCSV = options.format == .csv
        var error = failure(.badCopyFileFormat, "\(isCSV ? "unquoted" : "literal") \(name) found in data")
        error.hint = isCSV ? "Use quoted CSV field to represent \(name)." : "Use \"\(escape)\" to represent \(name)."
        return error
    }

    enum Mark { case none, alone, incomplete, corrupt }

    /// Whether a line is the end's mark, `\.`, as psql and dumps write it. In CSV it is one only with a line end behind it, as in PostgreSQL
    /// (CopyReadLineText in src/backend/commands/copyfromparse.c), and a value else.
    func mark(_ bytes: UnsafeMutablePointer<UInt8>, _ position: Int, _ end: Int, _ isLast: Bool) -> Mark {
        guard bytes[position] == UInt8(ascii: "\\") else { return .none }
        if position + 1 == end { return isLast ? .none : .incomplete }
        guard bytes[position + 1] == UInt8(ascii: ".") else { return .none }
        if position + 2 == end { return !isLast ? .incomplete : options.format == .csv ? .corrupt : .alone }
        let next = bytes[position + 2]
        return next == UInt8(ascii: "\n") || next == UInt8(ascii: "\r") ? .alone : .corrupt
    }

    /// The fields of a line are known: a row's, or the header's.
    @inline(__always)
    func finishLine(_ rows: CopyRows, next: Int) throws(WireError) -> Bool {
        guard hasHeader else {
            if options.header == .match { try checkHeader(rows) }
            hasHeader = true
            line = lineAtHand
            rows.decoded = next
            return true
        }
        guard fields.count == columns.count else { throw wrongCount() }
        for index in 0..<columns.count { rows.append(try value(fields[index], index, rows)) }
        line = lineAtHand
        rows.endRow(line: line, next: next)
        return true
    }

    /// PostgreSQL compares the columns with an empty line, too, where there is none.
    private func requireHeader(_ rows: CopyRows) throws(WireError) {
        guard !hasHeader, options.header == .match else { return }
        fields = [Field(start: 0, end: 0, isEscaped: false)]
        try checkHeader(rows)
    }

    private func checkHeader(_ rows: CopyRows) throws(WireError) {
        guard fields.count == columns.count else {
            throw failure(
                .badCopyFileFormat,
                "wrong number of fields in header line: got \(fields.count), expected \(columns.count)")
        }
        for (index, column) in columns.enumerated() {
            let value = try text(fields[index], index, rows)
            let found = String(decoding: rows.bytes(value), as: UTF8.self)
            guard ExactName(found) == ExactName(column.name) else {
                throw failure(
                    .badCopyFileFormat,
                    "column name mismatch in header line field \(index + 1): got \"\(found)\", "
                        + "expected \"\(column.name)\"")
            }
        }
    }

    /// A line may have more fields than a row has, and millions of them; a header that nobody compares, any number within reason.
    @inline(__always)
    var fieldLimit: Int { hasHeader ? columns.count : max(columns.count, CopyLimits.headerFields) }

    func wrongCount() -> WireError {
        fields.count > columns.count
            ? failure(.badCopyFileFormat, "extra data after last expected column")
            : failure(.badCopyFileFormat, "missing data for column \"\(columns[fields.count].name)\"")
    }

    // MARK: Errors

    private var lineAtHand: Int { line + 1 + quotedLines }

    /// An error of the row at hand.
    func failure(_ state: SQLState, _ message: String) -> WireError {
        var error = WireError(state: state, message: message)
        error.context = context(line: lineAtHand)
        return error
    }

    func context(line: Int) -> String { "COPY \(table), line \(line)" }

    func failure(
        _ state: SQLState, _ message: String, column: Int, _ shown: UnsafeRawBufferPointer?
    ) -> WireError {
        var error = WireError(state: state, message: message, table: table, column: columns[column].name)
        var context = "\(context(line: lineAtHand)), column \(columns[column].name)"
        if let shown { context += ": \"\(Self.shown(shown))\"" }
        error.context = context
        return error
    }

    static func shown(_ bytes: UnsafeRawBufferPointer) -> String {
        let text = String(decoding: bytes.prefix(CopyLimits.shownBytes), as: UTF8.self)
        return bytes.count > CopyLimits.shownBytes ? text + "..." : text
    }
}
