import PostgresWire
import SQLite

/// The binary format: a header, tuples of fields with their lengths, and a trailer
/// (https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9.4).
extension CopyDecoder {
    static let signature: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00]

    /// Decodes one row; false: it is not complete, or there is none.
    func decodeBinaryRow(_ rows: CopyRows, _ isLast: Bool) throws(WireError) -> Bool {
        guard hasHeader else { return try decodeBinaryHeader(rows, isLast) }
        guard let base = rows.base else { return false }
        let bytes = UnsafeRawBufferPointer(start: base, count: rows.count)
        var position = rows.decoded
        guard bytes.count - position >= 2 else {
            guard isLast else { return false }
            // PostgreSQL takes the end of the data for the trailer, and so do clients that never send one.
            guard position == bytes.count else { throw incomplete() }
            hasEnded = true
            return false
        }
        let count = bytes.loadUnaligned(fromByteOffset: position, as: Int16.self).bigEndian
        position += 2
        if count == -1 {
            hasEnded = true
            rows.decoded = position
            return false
        }
        guard count == columns.count else {
            throw failure(.badCopyFileFormat, "row field count is \(count), expected \(columns.count)")
        }
        // First whether all of it is here: values are appended only when it is.
        guard let end = try endOfTuple(bytes, position) else {
            if isLast { throw incomplete() }
            return false
        }
        for column in columns.indices {
            let length = Int(bytes.loadUnaligned(fromByteOffset: position, as: Int32.self).bigEndian)
            position += 4
            if length < 0 {
                rows.append(CopyValue(kind: .null))
            } else {
                rows.append(try binaryValue(bytes, position, length, column, rows))
                position += length
            }
        }
        line += 1
        rows.endRow(line: line, next: end)
        return true
    }

    private func incomplete() -> WireError { failure(.badCopyFileFormat, "unexpected EOF in COPY data") }

    private func endOfTuple(_ bytes: UnsafeRawBufferPointer, _ start: Int) throws(WireError) -> Int? {
        var position = start
        for column in columns.indices {
            guard bytes.count - position >= 4 else { return nil }
            let length = Int(bytes.loadUnaligned(fromByteOffset: position, as: Int32.self).bigEndian)
            position += 4
            if length == -1 { continue }
            guard length >= 0, length <= CopyLimits.rowBytes else {
                throw failure(.badCopyFileFormat, "invalid field size", column: column, nil)
            }
            guard length <= bytes.count - position else { return nil }
            position += length
        }
        return position
    }

    private func decodeBinaryHeader(_ rows: CopyRows, _ isLast: Bool) throws(WireError) -> Bool {
        let fixed = Self.signature.count + 8
        let bytes = UnsafeRawBufferPointer(start: rows.base, count: rows.count)
        guard bytes.prefix(Self.signature.count).elementsEqual(Self.signature.prefix(bytes.count)) else {
            throw failure(.badCopyFileFormat, "COPY file signature not recognized")
        }
        guard bytes.count >= fixed else {
            if isLast { throw failure(.badCopyFileFormat, "invalid COPY file header (missing flags)") }
            return false
        }
        let flags = bytes.loadUnaligned(fromByteOffset: Self.signature.count, as: UInt32.self).bigEndian
        guard flags & (1 << 16) == 0 else {
            throw failure(.badCopyFileFormat, "invalid COPY file header (WITH OIDS)")
        }
        guard flags >> 16 == 0 else {
            throw failure(.badCopyFileFormat, "unrecognized critical flags in COPY file header")
        }
        let length = Int(bytes.loadUnaligned(fromByteOffset: fixed - 4, as: Int32.self).bigEndian)
        guard length >= 0 else { throw failure(.badCopyFileFormat, "invalid COPY file header (missing length)") }
        guard bytes.count - fixed >= length else {
            if isLast { throw failure(.badCopyFileFormat, "invalid COPY file header (wrong length)") }
            return false
        }
        hasHeader = true
        rows.decoded = fixed + length
        return true
    }

    /// An integer has eight bytes, as its column is announced, and no fewer: psycopg, when it is not told the types, sends
    /// every value of a column as narrow as the first one needs, cut off.
    private func binaryValue(
        _ bytes: UnsafeRawBufferPointer, _ start: Int, _ length: Int, _ column: Int, _ rows: CopyRows
    ) throws(WireError) -> CopyValue {
        let field = UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])
        let place = CopyValue(kind: .text, count: Int32(length), bits: Int64(start))
        switch (columns[column].kind, length) {
        case (.integer, 8): return CopyValue(kind: .integer, bits: BinaryCodec.int64(field) ?? 0)
        case (.real, 8): return try real(BinaryCodec.double(field) ?? 0, column, nil)
        case (.real, 4): return try real(BinaryCodec.doubleWrittenAsFloat(field) ?? 0, column, nil)
        case (.boolean, 1): return CopyValue(kind: .integer, bits: field[0] != 0 ? 1 : 0)
        case (.bytes, _):
            var blob = place
            blob.kind = .blob
            return blob
        case (.text, _):
            try requireText(field, column)
            return place
        case (.decimal, _):
            try requireText(field, column)
            return try StoredDecimal.infinity(field).map { value throws(WireError) in try real(value, column, field) } ?? place
        case (.moment(let type), _):
            try requireText(field, column)
            return try moment(field, type, isDeclared: false, column).map(rows.make) ?? place
        case (.uuid, _):
            try requireText(field, column)
            return Self.uuid(field).map(rows.make) ?? place
        case (.declared(let type), _):
            return try declaredValue(field, place, type, column, rows)
        default: throw malformedBinary(length, column)
        }
    }

    /// A date, UUID or decimal is stored as the text or number that a parameter of its type is.
    private func declaredValue(
        _ field: UnsafeRawBufferPointer, _ place: CopyValue, _ type: TypeOID, _ column: Int, _ rows: CopyRows
    ) throws(WireError) -> CopyValue {
        switch type {
        case .numeric: return try decimal(field, column)
        case .json: return try json(field, place, column)
        case .jsonb:
            // A version, which is 1, and then the text: jsonb_recv in src/backend/utils/adt/jsonb.c.
            guard field.first == 1 else { throw malformedBinary(field.count, column) }
            let text = CopyValue(kind: .text, count: place.count - 1, bits: place.bits + 1)
            return try json(UnsafeRawBufferPointer(rebasing: field.dropFirst()), text, column)
        default:
            do {
                return rows.make(
                    try ValueText.text(ofBinary: field, type, "COPY", malformed: { malformedBinary(field.count, column) }))
            } catch {
                throw placed(error, column)
            }
        }
    }

    private func decimal(_ field: UnsafeRawBufferPointer, _ column: Int) throws(WireError) -> CopyValue {
        guard let digits = NumericCodec.text(field) else { throw malformedBinary(field.count, column) }
        let decimal = Array(digits.utf8).withUnsafeBytes { try? StoredDecimal($0) }
        switch decimal {
        case .integer(let value): return CopyValue(kind: .integer, bits: value)
        case .real(let value): return try real(value, column, nil)
        // SQLite's affinity would make of some another double than the one next to it, which for one that is too small is zero.
        case .text(let text): return try real(Double(text) ?? 0, column, nil)
        case nil: throw failure(.numericValueOutOfRange, "the value is out of range for type numeric", column: column, nil)
        }
    }

    /// - Parameter place: where `text` stands.
    private func json(_ text: UnsafeRawBufferPointer, _ place: CopyValue, _ column: Int) throws(WireError) -> CopyValue {
        try requireText(text, column)
        guard JSONSyntax.isValid(text) else { throw malformed(text, column) }
        switch JSONNumber(text) {
        case .integer(let value): return CopyValue(kind: .integer, bits: value)
        case .real(let value): return try real(value, column, nil)
        case .lost: throw placed(JSONNumber.error(text), column)
        case nil: return place
        }
    }

    private func malformedBinary(_ length: Int, _ column: Int) -> WireError {
        var error = failure(.invalidBinaryRepresentation, "incorrect binary data format", column: column, nil)
        error.detail = "\(length) bytes cannot be a value of type \(columns[column].sqlName)."
        error.hint = "The column takes \(wireName(column)); in psycopg, copy.set_types() says so."
        return error
    }

    private func wireName(_ column: Int) -> String {
        switch columns[column].kind {
        case .integer: "int8"
        case .real: "float8"
        default: columns[column].sqlName
        }
    }
}
