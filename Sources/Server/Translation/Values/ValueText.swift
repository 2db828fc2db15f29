import PostgresWire

/// Values SQLite has no storage class for, as the text it is given for them.
///
/// "SQLite does not have a storage class set aside for storing dates and/or times. Instead, the built-in Date And Time
/// Functions of SQLite are capable of storing dates and times as TEXT" (https://www.sqlite.org/datatype3.html), in
/// ISO 8601. So one moment is one text, however a client sends it.
enum ValueText {
    /// What a value in binary format is as text.
    ///
    /// - Parameters:
    ///   - subject: what it is, for an error: "parameter 1".
    ///   - malformed: the error for bytes that are no such value.
    static func text(
        ofBinary bytes: UnsafeRawBufferPointer, _ type: TypeOID, _ subject: @autoclosure () -> String,
        _ bounds: ConversionBounds = ConversionBounds(), malformed: () -> WireError
    ) throws(WireError) -> String {
        let text: String?
        switch type {
        case .uuid: text = UUIDCodec.text(bytes)
        case .jsonb:
            // A version, which is 1, and then the text: jsonb_recv in src/backend/utils/adt/jsonb.c.
            guard bytes.first == 1 else { throw malformed() }
            let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
            try ParameterBinder.requireText(rest, subject())
            text = String(decoding: rest, as: UTF8.self)
        case .date: text = try DateTimeCodec.date(bytes)
        case .time: text = try DateTimeCodec.time(bytes)
        case .timetz: text = try DateTimeCodec.timetz(bytes)
        case .timestamp: text = try DateTimeCodec.timestamp(bytes)
        case .timestamptz: text = try DateTimeCodec.timestamp(bytes).map { $0 + "+00:00" }
        case .interval: text = IntervalCodec.text(bytes)
        case .inet, .cidr: text = NetworkAddressCodec.text(bytes, isNetwork: type == .cidr)
        default:
            guard type.element != nil else {
                throw WireError(
                    state: .featureNotSupported,
                    message: "binary format is not supported for \(subject()) of type \(type.sqlName)",
                    hint: "Send it in text format.")
            }
            text = try ArrayCodec.json(ofBinary: bytes, type, subject(), bounds, malformed: malformed)
        }
        guard let text else { throw malformed() }
        return text
    }

    /// What a value in text format is stored as, where that is not what was sent: nil.
    static func canonical(
        _ bytes: UnsafeRawBufferPointer, _ type: TypeOID, _ bounds: ConversionBounds = ConversionBounds(), malformed: () -> WireError
    ) throws(WireError) -> String? {
        let text: String?
        switch type {
        case .uuid: text = UUIDCodec.canonical(bytes)
        case .date, .time, .timetz, .timestamp, .timestamptz:
            text = try moment(TextCodec.trimmed(bytes), type)
        case .interval:
            text = IntervalText(TextCodec.trimmed(bytes))?.text
        case .inet: return NetworkAddressCodec.host(bytes)
        default:
            guard type.element != nil else { return nil }
            text = try ArrayCodec.json(ofText: bytes, type, bounds, malformed: malformed)
        }
        if let text { return text }
        var error = malformed()
        if type == .timetz || PostgresSpelling.isMoment(type) { error.state = .invalidDatetimeFormat }
        throw error
    }

    private static func moment(_ text: UnsafeRawBufferPointer, _ type: TypeOID) throws(WireError) -> String? {
        if let text = try momentBC(text, type) { return text }
        guard let moment = MomentText(text) else { return nil }
        if moment.days != nil, text.starts(with: "0000".utf8) { throw DateTimeCodec.outOfRange("the year 0000") }
        return try moment.text(of: type)
    }

    /// To PostgreSQL the year before 1 is 1 BC, which is 0 to SQLite, and its first. nil: it is no moment before Christ.
    static func momentBC(_ text: UnsafeRawBufferPointer, _ type: TypeOID) throws(WireError) -> String? {
        guard text.suffix(3).elementsEqual(" bc".utf8, by: { lowerASCII($0) == $1 }) else { return nil }
        var digits = Array(TextCodec.trimmed(UnsafeRawBufferPointer(rebasing: text.dropLast(3))))
        guard digits.count >= "0001-01-01".utf8.count else { return nil }
        let year = digits.prefix(4)
        guard year.elementsEqual("0001".utf8) else {
            if year.allSatisfy(isDigit), digits[4] == UInt8(ascii: "-") {
                throw DateTimeCodec.outOfRange("the year \(String(decoding: year, as: UTF8.self)) BC")
            }
            return nil
        }
        digits[3] = UInt8(ascii: "0")
        return try digits.withUnsafeBufferPointer { digits throws(WireError) in
            try MomentText(UnsafeRawBufferPointer(digits))?.text(of: type)
        }
    }
}
