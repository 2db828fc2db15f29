import PostgresWire

/// The binary format of a catalog's values, which on SQLite's side are texts and numbers, or what a client casts: `'{}'::jsonb`.
enum CatalogBinary {
    /// nil where the text is no such value, or the type has no binary form here: other bytes would be read as another value.
    static func bytes(_ text: String, _ type: TypeOID) -> [UInt8]? {
        switch type {
        case .bool: [text == "t" ? 1 : 0]
        case .int2: big(Int16(text))
        case .int4: big(Int32(text))
        case .oid, .xid, .cid: big(UInt32(text))
        case .int8: big(Int64(text))
        case .float4: big(Float(text)?.bitPattern)
        case .float8: big(Double(text)?.bitPattern)
        case .numeric: DecimalNumber(text)?.binary
        // A version, which is 1, and then the text: jsonb_send in src/backend/utils/adt/jsonb.c.
        case .jsonb: [1] + Array(text.utf8)
        case .uuid: Array(text.utf8).withUnsafeBytes { UUIDCodec.bytes($0) }
        case .interval: Array(text.utf8).withUnsafeBytes { IntervalText($0)?.binary }
        case .date, .time, .timestamp, .timestamptz: Array(text.utf8).withUnsafeBytes { moment(MomentText($0), type) }
        // One byte, whatever it is: charsend in src/backend/utils/adt/char.c. What is empty as text is zero.
        case .char: [text.utf8.first ?? 0]
        case .text, .varchar, .bpchar, .name, .json, .xml, .unknown, .cstring, .void: Array(text.utf8)
        default: nil
        }
    }

    private static func moment(_ moment: MomentText?, _ type: TypeOID) -> [UInt8]? {
        switch type {
        case .date: big(moment?.date)
        case .time: big(moment?.time)
        case .timestamp: big(moment?.timestamp)
        default: big(moment?.timestamptz)
        }
    }

    private static func big(_ value: (some FixedWidthInteger)?) -> [UInt8]? {
        value.map { value in withUnsafeBytes(of: value.bigEndian) { Array($0) } }
    }
}
