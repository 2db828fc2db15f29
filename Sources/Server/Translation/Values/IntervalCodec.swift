import PostgresWire

/// An interval as an ISO 8601 duration (`P1Y2M3DT4H5M6.5S`). In binary: microseconds, days and months, which PostgreSQL
/// keeps apart. Source: interval_recv in src/backend/utils/adt/timestamp.c; the text is that of its
/// IntervalStyle iso_8601.
enum IntervalCodec {
    static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
        guard bytes.count == 16,
            let microseconds = BinaryCodec.int64(UnsafeRawBufferPointer(rebasing: bytes[0..<8])),
            let days = BinaryCodec.int32(UnsafeRawBufferPointer(rebasing: bytes[8..<12])),
            let months = BinaryCodec.int32(UnsafeRawBufferPointer(rebasing: bytes[12..<16]))
        else { return nil }
        return text(months: Int64(months), days: Int64(days), microseconds: microseconds)
    }

    static func binary(months: Int32, days: Int32, microseconds: Int64) -> [UInt8] {
        withUnsafeBytes(of: microseconds.bigEndian) { Array($0) } + withUnsafeBytes(of: days.bigEndian) { Array($0) }
            + withUnsafeBytes(of: months.bigEndian) { Array($0) }
    }

    static func text(months: Int64, days: Int64, microseconds: Int64) -> String {
        if microseconds == 0, days == 0, months == 0 { return "PT0S" }
        var text = "P"
        func part(_ value: Int64, _ unit: String) -> String { value == 0 ? "" : "\(value)\(unit)" }
        text += part(months / 12, "Y") + part(months % 12, "M") + part(days, "D")
        guard microseconds != 0 else { return text }
        let (seconds, fraction) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        text += "T" + part(seconds / 3600, "H") + part(seconds / 60 % 60, "M")
        guard seconds % 60 != 0 || fraction != 0 else { return text }
        var digits = DateTimeCodec.padded(Int64(fraction.magnitude), 6)
        while digits.hasSuffix("0") { digits.removeLast() }
        let sign = microseconds < 0 ? "-" : ""
        return text + sign + "\((seconds % 60).magnitude)" + (digits.isEmpty ? "" : "." + digits) + "S"
    }
}
