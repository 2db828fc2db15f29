import PostgresWire
import SQLite

/// What SQLite stores in a column declared as a date, a decimal, a UUID or JSON, as a value of that type.
enum DeclaredValue {
    /// The types that are announced only with `result_typing = declared`.
    static func isKnown(_ type: TypeOID) -> Bool {
        switch type {
        case .date, .time, .timestamp, .timestamptz, .numeric, .uuid, .json, .jsonb: true
        default: false
        }
    }

    /// Writes the field; false when the value is none of the type, and nothing was written.
    static func encode(
        _ row: some RowValues, _ column: Int, _ type: TypeOID, _ format: Format, into out: OutputBuffer
    ) -> Bool {
        switch type {
        case .date, .time, .timestamp, .timestamptz:
            moment(row, column, type, format, out)
        case .uuid:
            uuid(row, column, format, out)
        case .numeric:
            numeric(row, column, format, out)
        case .json, .jsonb:
            json(row, column, type, format, out)
        default: false
        }
    }

    private static func moment(
        _ row: some RowValues, _ column: Int, _ type: TypeOID, _ format: Format, _ out: OutputBuffer
    ) -> Bool {
        guard row.storageClass(column) == .text, let moment = MomentText(row.text(column)) else { return false }
        switch type {
        case .date:
            guard let days = moment.date else { return false }
            field(days, format, out) { DateTimeCodec.sent(days: Int64($0)) }
        case .time:
            guard let time = moment.time else { return false }
            field(time, format, out, DateTimeCodec.text(time:))
        case .timestamp:
            guard let time = moment.timestamp else { return false }
            field(time, format, out) { DateTimeCodec.sent(timestamp: $0) }
        default:
            guard let time = moment.timestamptz else { return false }
            field(time, format, out) { DateTimeCodec.sent(timestamp: $0, zone: "+00") }
        }
        return true
    }

    private static func field<Value: FixedWidthInteger>(
        _ value: Value, _ format: Format, _ out: OutputBuffer, _ text: (Value) -> String
    ) {
        if format == .text { return out.fieldText(text(value)) }
        withUnsafeBytes(of: value.bigEndian) { out.fieldText($0) }
    }

    private static func uuid(_ row: some RowValues, _ column: Int, _ format: Format, _ out: OutputBuffer) -> Bool {
        let bytes: [UInt8]
        switch row.storageClass(column) {
        case .text:
            guard let found = UUIDCodec.bytes(row.text(column)) else { return false }
            bytes = found
        case .blob where row.blob(column).count == 16: bytes = Array(row.blob(column))
        default: return false
        }
        return bytes.withUnsafeBytes { bytes in
            if format == .binary { out.fieldText(bytes) } else { out.fieldText(UUIDCodec.text(bytes) ?? "") }
            return true
        }
    }

    private static func numeric(_ row: some RowValues, _ column: Int, _ format: Format, _ out: OutputBuffer) -> Bool {
        let text: String
        switch row.storageClass(column) {
        case .integer: text = String(row.integer(column))
        case .real:
            guard row.double(column).isFinite else { return infinity(isNegative: row.double(column) < 0, format, out) }
            text = "\(row.double(column))"
        case .text: text = String(decoding: row.text(column), as: UTF8.self)
        default: return false
        }
        guard let decimal = DecimalNumber(text) else { return false }
        if format == .text {
            out.fieldText(decimal.text)
        } else {
            decimal.binary.withUnsafeBytes { out.fieldText($0) }
        }
        return true
    }

    /// In binary as numeric_send writes it: no digits, the sign, and what the bits of that say as a scale.
    private static func infinity(isNegative: Bool, _ format: Format, _ out: OutputBuffer) -> Bool {
        if format == .text {
            out.fieldText(isNegative ? "-Infinity" : "Infinity")
        } else {
            ([0, 0, 0, 0, isNegative ? 0xF0 : 0xD0, 0, 0, 0x20] as [UInt8]).withUnsafeBytes { out.fieldText($0) }
        }
        return true
    }

    private static func json(
        _ row: some RowValues, _ column: Int, _ type: TypeOID, _ format: Format, _ out: OutputBuffer
    ) -> Bool {
        let stored = row.storageClass(column)
        guard stored == .text || stored == .integer || stored == .real else { return false }
        let isVersioned = type == .jsonb && format == .binary
        /// As jsonb_send writes it: the number of its version, 1, and the text.
        func jsonb(_ text: some Sequence<UInt8>) { ([1] + Array(text)).withUnsafeBytes { out.fieldText($0) } }
        if stored == .text {
            let text = row.text(column)
            guard JSONSyntax.isValid(text) else { return false }
            if isVersioned { jsonb(text) } else { out.fieldText(text) }
            return true
        }
        // SQLite's text of a real number has 15 digits only.
        let number = stored == .real ? JSONText.number(row.double(column)) : String(row.integer(column))
        guard let digits = number else { return false }
        if isVersioned { jsonb(digits.utf8) } else { out.fieldText(digits) }
        return true
    }
}
