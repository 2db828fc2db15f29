import PostgresWire
import SQLite

/// Rows as lines of text or CSV. Binary rows are `RowEncoder`'s.
///
/// No type is announced, so a number goes out as it is whatever its column says. What a reader would take for another
/// value is an error: a text in a bytea column, and a blob where none is declared to be.
struct CopyEncoder {
    enum Bytes: Equatable {
        /// Blobs as hex, and no text.
        case only
        /// Blobs as hex, texts as they are: nothing is declared.
        case beside
        case none
    }

    struct Column {
        var bytes: Bytes
        var isBoolean: Bool
        var isQuoted: Bool
        /// For errors.
        var type: TypeOID
    }

    let options: CopyOptions
    let columns: [Column]
    /// Whether numbers, booleans and blobs have to be looked through like texts.
    private let meetsNumbers: Bool

    /// What they are made of.
    private static let numberBytes = Set("0123456789+-.eE\\xabcdftNaInfinity".utf8)

    init(_ options: CopyOptions, _ analysis: Analysis, _ encoder: RowEncoder) {
        self.options = options
        meetsNumbers =
            Self.numberBytes.contains(options.delimiter)
            || options.format == .csv
                && (Self.numberBytes.contains(options.quote) || Self.numberBytes.contains(options.escape)
                    || !options.null.isEmpty && Self.numberBytes.isSuperset(of: options.null))
        columns = zip(analysis.columns, encoder.columns).map { column, encoded in
            let isOpen = column.type == .open || encoder.isAllText
            return Column(
                bytes: isOpen ? .beside : encoded.type == .bytea ? .only : .none,
                isBoolean: encoded.type == .bool, isQuoted: options.forceQuote.contains(column.name),
                type: encoded.type)
        }
    }

    func encodeHeader(_ names: [String], into out: OutputBuffer) {
        let mark = out.beginCopyData()
        for (index, name) in names.enumerated() {
            if index > 0 { out.append(options.delimiter) }
            name.withBytes { text($0, isQuoted: false, into: out) }
        }
        out.append(UInt8(ascii: "\n"))
        _ = out.endMessage(mark)
    }

    func encodeRow(_ statement: Statement, into out: OutputBuffer) throws(ColumnMismatch) {
        let mark = out.beginCopyData()
        for index in columns.indices {
            if index > 0 { out.append(options.delimiter) }
            do { try encode(index, statement, into: out) } catch {
                // Half a row must never be sent.
                out.truncate(toEnd: mark)
                throw error
            }
        }
        out.append(UInt8(ascii: "\n"))
        guard out.endMessage(mark) else { throw .ofRow(in: out) }
    }

    private func encode(_ index: Int, _ statement: Statement, into out: OutputBuffer) throws(ColumnMismatch) {
        let column = columns[index]
        let found = statement.storageClass(index)
        switch found {
        case .null:
            options.null.withUnsafeBytes { out.append($0) }
        case .text:
            guard column.bytes != .only else { throw mismatch(index, found) }
            text(statement.text(index), isQuoted: column.isQuoted, into: out)
        case .blob where column.bytes == .none: throw mismatch(index, found)
        case .integer, .real, .blob:
            guard !meetsNumbers else { return encodeAsText(index, statement, found, into: out) }
            quoteIfForced(column, into: out)
            bare(index, statement, found, blobPrefix: options.format == .csv ? "\\x" : "\\\\x", into: out)
            quoteIfForced(column, into: out)
        }
    }

    private func bare(_ index: Int, _ statement: Statement, _ found: StorageClass, blobPrefix: StaticString, into out: OutputBuffer) {
        switch found {
        case .integer:
            let value = statement.integer(index)
            if columns[index].isBoolean, value == 0 || value == 1 {
                out.append(value == 1 ? UInt8(ascii: "t") : UInt8(ascii: "f"))
            } else {
                out.copyInteger(value)
            }
        case .real: out.copyDouble(statement.double(index))
        default: out.copyHexadecimal(statement.blob(index), prefix: blobPrefix)
        }
    }

    /// With a delimiter, a quote or a NULL string that may stand in what is no text.
    private func encodeAsText(_ index: Int, _ statement: Statement, _ found: StorageClass, into out: OutputBuffer) {
        let value = OutputBuffer()
        bare(index, statement, found, blobPrefix: "\\x", into: value)
        text(value.readable, isQuoted: columns[index].isQuoted, into: out)
    }

    private func mismatch(_ index: Int, _ found: StorageClass) -> ColumnMismatch {
        ColumnMismatch(column: index, found: found, announced: columns[index].type)
    }

    private func quoteIfForced(_ column: Column, into out: OutputBuffer) {
        if column.isQuoted { out.append(options.quote) }
    }

    private func text(_ value: UnsafeRawBufferPointer, isQuoted: Bool, into out: OutputBuffer) {
        guard options.format == .csv else { return out.copyText(value, delimiter: options.delimiter) }
        guard isQuoted || needsQuotes(value) else { return out.append(value) }
        out.copyQuoted(value, quote: options.quote, escape: options.escape)
    }

    /// What would be read as something else: as more than one field, as NULL, or as the end's mark.
    private func needsQuotes(_ value: UnsafeRawBufferPointer) -> Bool {
        if value.elementsEqual(options.null) { return true }
        if columns.count == 1, value.elementsEqual("\\.".utf8) { return true }
        for byte in value
        where byte == options.delimiter || byte == options.quote || byte == UInt8(ascii: "\n")
            || byte == UInt8(ascii: "\r")
        {
            return true
        }
        return false
    }
}
