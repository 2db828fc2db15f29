import Glibc
import PostgresWire

/// Fields of text and CSV as values.
extension CopyDecoder {
    @inline(__always)
    func value(_ field: Field, _ column: Int, _ rows: CopyRows) throws(WireError) -> CopyValue {
        if isNull(field, column, rows) { return CopyValue(kind: .null) }
        if !field.isEscaped, columns[column].kind == .integer, let bytes = rows.base,
            let value = Self.shortInteger(bytes, field.start, field.end)
        {
            return CopyValue(kind: .integer, bits: value)
        }
        return try otherValue(field, column, rows)
    }

    @inline(never)
    private func otherValue(_ field: Field, _ column: Int, _ rows: CopyRows) throws(WireError) -> CopyValue {
        let text = try text(field, column, rows)
        let bytes = rows.bytes(text)
        switch columns[column].kind {
        case .text:
            return text
        case .uuid, .declared(.uuid):
            return Self.uuid(bytes).map(rows.make) ?? text
        case .moment(let type):
            return try moment(bytes, type, isDeclared: false, column).map(rows.make) ?? text
        case .declared(let type) where MomentText.types.contains(type):
            return try moment(bytes, type, isDeclared: true, column).map(rows.make) ?? text
        case .decimal, .declared(.numeric):
            return try StoredDecimal.infinity(bytes).map { value throws(WireError) in try real(value, column, bytes) } ?? text
        case .declared:
            return text
        case .integer:
            do { return CopyValue(kind: .integer, bits: try TypedNumber.integer(bytes, .int8)) } catch {
                throw refusal(error, bytes, .int8, column)
            }
        case .real:
            let value: Double
            do { value = try TypedNumber.real(bytes, .float8) } catch { throw refusal(error, bytes, .float8, column) }
            return try real(value, column, bytes)
        case .boolean:
            guard let value = TextCodec.parseBool(bytes) else { throw malformed(bytes, column) }
            return CopyValue(kind: .integer, bits: value ? 1 : 0)
        case .bytes:
            guard let value = TextCodec.parseBytea(bytes) else { throw malformed(bytes, column) }
            // In place: neither of bytea's formats is shorter than the bytes it stands for.
            if let base = rows.base, !value.isEmpty {
                value.withUnsafeBytes { _ = memcpy(base + Int(text.bits), $0.baseAddress!, $0.count) }
            }
            return CopyValue(kind: .blob, count: Int32(value.count), bits: text.bits)
        }
    }

    /// psycopg copies a UUID as 32 digits without hyphens, of which SQLite would make a number where they look like one, also with blanks
    /// around them. What has hyphens stays in its spelling, which may be another user's.
    static func uuid(_ bytes: UnsafeRawBufferPointer) -> String? {
        let digits = TextCodec.trimmed(bytes)
        return digits.count == 32 ? UUIDCodec.canonical(digits) : nil
    }

    /// As a parameter without a type: what has a time zone loses it where the column has none.
    func moment(
        _ bytes: UnsafeRawBufferPointer, _ type: TypeOID, isDeclared: Bool, _ column: Int
    ) throws(WireError) -> String? {
        do {
            if let text = try Self.stored(bytes, type, isDeclared: isDeclared) { return text }
        } catch {
            throw placed(error, column, bytes)
        }
        guard MomentText.isDebugTextOfGo(bytes) else { return nil }
        var error = malformed(bytes, column)
        error.state = .invalidDatetimeFormat
        error.hint = MomentText.hintForGo
        throw error
    }

    /// nil: it stays as it is.
    private static func stored(_ bytes: UnsafeRawBufferPointer, _ type: TypeOID, isDeclared: Bool) throws(WireError) -> String? {
        if isDeclared, let text = try ValueText.momentBC(bytes, type) { return text }
        guard let moment = MomentText(bytes) else { return nil }
        let hasZone = type == .timestamptz
        if let text = try moment.text(inColumnOf: type, isDeclared: isDeclared && !hasZone) { return text }
        return hasZone || type == .timestamp && !isDeclared ? try utc(bytes, moment, hasZone) : nil
    }

    /// A date and time with a time zone is stored as that moment in UTC, as a parameter that is such by its type is (psycopg copies its
    /// aware datetimes so, Go's lib/pq with a Z): also in a column that has no time zone but where nobody is told, if it is not UTC
    /// anyway. nil for all else, which stays as it is: what COPY TO has written of such comes back unchanged.
    private static func utc(_ bytes: UnsafeRawBufferPointer, _ moment: MomentText, _ hasZone: Bool) throws(WireError) -> String? {
        guard moment.days != nil, moment.microseconds != nil, let offset = moment.offsetMicroseconds else { return nil }
        // As ISO 8601 has it: another spelling than any driver's parameters get.
        let isISO = bytes.last.map(lowerASCII) == UInt8(ascii: "z") || bytes.count > 10 && bytes[10] == UInt8(ascii: "T")
        guard !(hasZone && isISO) else { return try moment.text(of: .timestamptz) }
        guard offset != 0 else { return nil }
        // Finer than PostgreSQL's, or without seconds.
        let fraction = bytes.drop { $0 != UInt8(ascii: ".") }.dropFirst().prefix(while: isDigit)
        guard fraction.count <= 6, bytes.count > 16, bytes[16] == UInt8(ascii: ":") else { return nil }
        return try moment.text(of: .timestamptz)
    }

    /// An error of one value, with its line and column.
    func placed(_ error: WireError, _ column: Int, _ bytes: UnsafeRawBufferPointer? = nil) -> WireError {
        var placed = failure(error.state, error.message, column: column, bytes)
        (placed.detail, placed.hint) = (error.detail, error.hint)
        return placed
    }

    func real(_ value: Double, _ column: Int, _ bytes: UnsafeRawBufferPointer?) throws(WireError) -> CopyValue {
        // "sqlite3_bind_double … NaN is converted to NULL": https://www.sqlite.org/floatingpoint.html
        guard !value.isNaN else {
            throw failure(.numericValueOutOfRange, "NaN cannot be stored in SQLite", column: column, bytes)
        }
        return CopyValue(kind: .real, bits: Int64(bitPattern: value.bitPattern))
    }

    private func refusal(_ error: NumberError, _ bytes: UnsafeRawBufferPointer, _ type: TypeOID, _ column: Int) -> WireError {
        guard error == .outOfRange else { return malformed(bytes, column) }
        return failure(
            .numericValueOutOfRange, "value \"\(Self.shown(bytes))\" is out of range for type \(type.sqlName)", column: column, bytes)
    }

    func malformed(_ bytes: UnsafeRawBufferPointer, _ column: Int) -> WireError {
        failure(
            .invalidTextRepresentation,
            "invalid input syntax for type \(columns[column].sqlName): \"\(Self.shown(bytes))\"", column: column, bytes)
    }

    /// The field without its escapes, as text that SQLite may have.
    func text(_ field: Field, _ column: Int, _ rows: CopyRows) throws(WireError) -> CopyValue {
        guard let base = rows.base else { return CopyValue(kind: .text) }
        var end = field.end
        if field.isEscaped {
            end = options.format == .csv ? unquote(base, field) : Self.unescape(base, field)
        }
        let bytes = UnsafeRawBufferPointer(start: base + field.start, count: end - field.start)
        if hasHighBytes || field.isEscaped { try requireText(bytes, column) }
        return CopyValue(kind: .text, count: Int32(bytes.count), bits: Int64(field.start))
    }

    func requireText(_ bytes: UnsafeRawBufferPointer, _ column: Int) throws(WireError) {
        do { try ParameterBinder.requireText(bytes, "COPY") } catch {
            guard column < columns.count else { throw error }
            throw failure(error.state, error.message, column: column, nil)
        }
    }

    /// "the null string … is matched before removing backslashes": a field that was written with an escape is not NULL.
    @inline(__always)
    private func isNull(_ field: Field, _ column: Int, _ rows: CopyRows) -> Bool {
        let count = field.end - field.start
        if field.isQuoted || hasForcedColumns {
            // The quotes are still there; FORCE NULL looks between them.
            return isNullInQuotes(field, column, rows)
        }
        guard count == options.null.count, let base = rows.base else { return false }
        for index in 0..<count where base[field.start + index] != options.null[index] { return false }
        return true
    }

    @inline(never)
    private func isNullInQuotes(_ field: Field, _ column: Int, _ rows: CopyRows) -> Bool {
        guard column < columns.count, let base = rows.base else { return false }
        var start = field.start
        var end = field.end
        if field.isQuoted {
            // A NULL string has no quotes in it, so one in quotes is as long as it is and a quote on either side.
            guard columns[column].forcesNull, end - start == options.null.count + 2 else {
                return false
            }
            (start, end) = (start + 1, end - 1)
        } else if columns[column].forcesNotNull {
            return false
        }
        return UnsafeBufferPointer(start: base + start, count: end - start).elementsEqual(options.null)
    }

    /// At most 18 digits, which cannot be too many, with a minus sign or without: nearly every integer there is.
    @inline(__always)
    static func shortInteger(_ bytes: UnsafeMutablePointer<UInt8>, _ start: Int, _ end: Int) -> Int64? {
        var position = start
        let isNegative = position < end && bytes[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        guard position < end, end - position <= 18 else { return nil }
        var value: Int64 = 0
        while position < end {
            let digit = bytes[position] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value &* 10 &+ Int64(digit)
            position += 1
        }
        return isNegative ? -value : value
    }
}
