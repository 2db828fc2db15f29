import PostgresWire
import SQLite

/// Arrays of one dimension as JSON, which `json_each` takes apart: `WHERE id IN (SELECT value FROM json_each($1))`.
enum ArrayCodec {
    /// - Returns: nil when the bytes are no array. In binary: the number of dimensions, whether there are NULLs, the
    ///   element's type; for each dimension its size and lower bound; each element with its length, -1 for NULL.
    ///   Source: array_recv in src/backend/utils/adt/arrayfuncs.c.
    static func json(
        ofBinary bytes: UnsafeRawBufferPointer, _ type: TypeOID, _ subject: String, _ bounds: ConversionBounds, malformed: () -> WireError
    ) throws(WireError) -> String? {
        var rest = bytes[...]
        func word() -> Int32? {
            guard rest.count >= 4 else { return nil }
            defer { rest = rest.dropFirst(4) }
            return BinaryCodec.int32(UnsafeRawBufferPointer(rebasing: rest.prefix(4)))
        }
        guard let dimensions = word(), let flags = word(), let found = word(), (0...1).contains(flags) else { return nil }
        let element = TypeOID(rawValue: UInt32(bitPattern: found))
        guard element == type.element else { return nil }
        if dimensions == 0 { return rest.isEmpty ? "[]" : nil }
        guard dimensions > 0, dimensions <= 6 else { return nil }
        guard dimensions == 1 else { throw severalDimensions }
        // Every element takes four bytes at the least, so this bounds the count before anything is made of it.
        guard let count = word(), word() != nil, count >= 0, Int(count) <= rest.count / 4 else { return nil }
        var items = JSONItems(bounds)
        for _ in 0..<count {
            guard let length = word() else { return nil }
            if length == -1 {
                try items.append("null".utf8)
                continue
            }
            guard length >= 0, Int(length) <= rest.count else { return nil }
            let value = UnsafeRawBufferPointer(rebasing: rest.prefix(Int(length)))
            rest = rest.dropFirst(Int(length))
            try append(value, element, subject, to: &items, malformed: malformed)
        }
        return rest.isEmpty ? items.array : nil
    }

    static let severalDimensions = WireError(
        state: .featureNotSupported, message: "arrays of several dimensions are not supported",
        hint: "Send it as JSON text.")

    /// An element in binary.
    private static func append(
        _ bytes: UnsafeRawBufferPointer, _ type: TypeOID, _ subject: String, to items: inout JSONItems, malformed: () -> WireError
    ) throws(WireError) {
        let text: String?
        switch type {
        case .bool: text = BinaryCodec.bool(bytes).map { $0 ? "true" : "false" }
        case .int2: text = BinaryCodec.int16(bytes).map { String($0) }
        case .int4: text = BinaryCodec.int32(bytes).map { String($0) }
        case .oid: text = BinaryCodec.int32(bytes).map { String(UInt32(bitPattern: $0)) }
        case .int8: text = BinaryCodec.int64(bytes).map { String($0) }
        case .float4: text = try BinaryCodec.doubleWrittenAsFloat(bytes).map { value throws(WireError) in try number(value) }
        case .float8: text = try BinaryCodec.double(bytes).map { value throws(WireError) in try number(value) }
        case .numeric:
            guard let digits = NumericCodec.text(bytes) else { throw malformed() }
            text = digits == "NaN" || digits.hasSuffix("y") ? try number(Double(digits) ?? .nan) : digits
        case .text, .varchar, .bpchar, .name, .char, .json:
            try ParameterBinder.requireText(bytes, subject)
            guard type == .json else { return try items.appendString(bytes) }
            guard try JSONSyntax.isValid(bytes, items.bounds) else { throw malformed() }
            return try items.append(bytes)
        case .bytea:
            throw WireError(
                state: .featureNotSupported, message: "arrays of bytea are not supported: JSON has no bytes",
                hint: "Send each value as a parameter of its own.")
        case .jsonb:
            let json = try ValueText.text(ofBinary: bytes, type, subject, malformed: malformed)
            guard try isValid(Array(json.utf8), items.bounds) else { throw malformed() }
            text = json
        default: return try items.appendString(ValueText.text(ofBinary: bytes, type, subject, malformed: malformed).utf8)
        }
        guard let text else { throw malformed() }
        try items.append(text.utf8)
    }

    /// JSON has no infinity, but SQLite reads a number that is too large as one.
    static func number(_ value: Double) throws(WireError) -> String {
        if value.isInfinite { return value < 0 ? "-9e999" : "9e999" }
        guard let text = JSONText.number(value) else {
            throw WireError(
                state: .numericValueOutOfRange, message: "NaN cannot be stored in SQLite", hint: "Send NULL instead.")
        }
        return text
    }

    // MARK: Text

    /// Of PostgreSQL's `{1,x}`, whose type is not known: its elements as texts, and behind them those once more as numbers that are one.
    static func json(ofTextAndNumbers bytes: UnsafeRawBufferPointer, malformed: () -> WireError) throws(WireError) -> String? {
        guard let texts = try json(ofText: bytes, .textArray, malformed: malformed), var reader = ArrayLiteral(bytes) else { return nil }
        var numbers = ""
        while let element = reader.next() {
            let number = element.text.withUnsafeBytes { (try? scalar($0, .numeric)) ?? nil }
            if !element.isNull, let number { numbers += "," + number }
        }
        return numbers.isEmpty ? texts : String(texts.dropLast()) + numbers + "]"
    }

    /// Of PostgreSQL's `{1,2,NULL,"a b"}`; nil when it is none.
    static func json(
        ofText bytes: UnsafeRawBufferPointer, _ type: TypeOID, _ bounds: ConversionBounds = ConversionBounds(), malformed: () -> WireError
    ) throws(WireError) -> String? {
        guard let element = type.element, var reader = ArrayLiteral(bytes) else { return nil }
        var items = JSONItems(bounds)
        while let next = reader.next() {
            if next.isNull {
                try items.append("null".utf8)
            } else {
                guard try append(next.text, element, to: &items, malformed) else { return nil }
            }
        }
        return reader.hasFailed ? nil : items.array
    }

    /// An element in text; false when it is none.
    private static func append(
        _ text: [UInt8], _ type: TypeOID, to items: inout JSONItems, _ malformed: () -> WireError
    ) throws(WireError) -> Bool {
        switch type {
        case .json, .jsonb:
            guard try isValid(text, items.bounds) else { return false }
            try items.append(text)
        case .bool, .int2, .int4, .int8, .oid, .float4, .float8, .numeric:
            let scalar = try text.withUnsafeBufferPointer { utf8 throws(WireError) -> String? in
                try Self.scalar(UnsafeRawBufferPointer(utf8), type)
            }
            guard let scalar else { return false }
            try items.append(scalar.utf8)
        case .bytea: return false
        default:
            let canonical = try text.withUnsafeBufferPointer { utf8 throws(WireError) -> String? in
                try ValueText.canonical(UnsafeRawBufferPointer(utf8), type, malformed: malformed)
            }
            if let canonical { try items.appendString(canonical.utf8) } else { try items.appendString(text) }
        }
        return true
    }

    private static func isValid(_ json: [UInt8], _ bounds: ConversionBounds) throws(WireError) -> Bool {
        try json.withUnsafeBufferPointer { utf8 throws(WireError) in try JSONSyntax.isValid(UnsafeRawBufferPointer(utf8), bounds) }
    }

    private static func scalar(_ bytes: UnsafeRawBufferPointer, _ type: TypeOID) throws(WireError) -> String? {
        switch type {
        case .bool: return TextCodec.parseBool(bytes).map { $0 ? "true" : "false" }
        case .int2, .int4, .int8, .oid: return try value(bytes, type, TypedNumber.integer).map { String($0) }
        case .numeric: return try decimal(TextCodec.trimmed(bytes))
        default: return try value(bytes, type, TypedNumber.real).map { value throws(WireError) in try number(value) }
        }
    }

    /// nil when it is none; an error when it is out of the type's range.
    private static func value<Value>(
        _ bytes: UnsafeRawBufferPointer, _ type: TypeOID, _ read: (UnsafeRawBufferPointer, TypeOID) throws(NumberError) -> Value
    ) throws(WireError) -> Value? {
        do { return try read(bytes, type) } catch {
            if error == .malformed { return nil }
            throw ParameterBinder.outOfRange(bytes, type)
        }
    }

    /// With all its digits, as from binary.
    private static func decimal(_ text: UnsafeRawBufferPointer) throws(WireError) -> String? {
        guard let syntax = DecimalSyntax(text) else {
            return try StoredDecimal.infinity(text).map { value throws(WireError) in try number(value) }
        }
        if syntax.isPlain, isJSONNumber(text) { return String(decoding: text, as: UTF8.self) }
        guard let decimal = DecimalNumber(String(decoding: text, as: UTF8.self)) else { throw ParameterBinder.outOfRange(text, .numeric) }
        return decimal.text
    }

    /// Of plain digits: one with a digit before its point, no sign but a minus, and no zero that need not be there.
    private static func isJSONNumber(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let digits = bytes.first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes[...]
        guard let first = digits.first, isDigit(first) else { return false }
        return first != UInt8(ascii: "0") || digits.dropFirst().first.map(isDigit) != true
    }
}

/// The elements of an array, one behind the other as JSON has them.
private struct JSONItems {
    let bounds: ConversionBounds
    private var text: [UInt8] = [UInt8(ascii: "[")]
    private var nextCheck = ConversionBounds.bytesPerCheck
    /// An element may be empty: of json that is none.
    private var isFirst = true

    init(_ bounds: ConversionBounds) { self.bounds = bounds }

    var array: String { String(decoding: text + [UInt8(ascii: "]")], as: UTF8.self) }

    mutating func append(_ item: some Sequence<UInt8>) throws(WireError) {
        try begin()
        text += item
        try bounds.requireLength(text.count)
    }

    mutating func appendString(_ item: some Sequence<UInt8>) throws(WireError) {
        try begin()
        guard JSONText.appendString(item, to: &text, limit: bounds.lengthLimit) else { throw ConversionBounds.tooBig }
    }

    private mutating func begin() throws(WireError) {
        if text.count >= nextCheck {
            nextCheck = text.count + ConversionBounds.bytesPerCheck
            try bounds.check?()
        }
        if !isFirst { text.append(UInt8(ascii: ",")) }
        isFirst = false
    }
}
