import PostgresWire
import SQLite

/// Values in the binary format.
extension ParameterBinder {
    static func bindBinary(
        _ bytes: UnsafeRawBufferPointer, _ slot: ParameterSlot, _ parameter: ParameterType, _ statement: Statement,
        _ check: ConversionBounds.Check?
    ) throws(WireError) {
        let type = parameter.type
        // A text, which is no array in binary: that begins with the number of its dimensions.
        if parameter.rule == .array, bytes.first != 0 { return try bindArray(bytes, slot, type, statement, check) }
        switch type {
        case .int2, .int4, .int8, .oid, .bool:
            guard let value = integer(ofBinary: bytes, type) else { throw wrongFormat(bytes, type, slot) }
            try statement.bind(parameter.rule == .truth ? (value == 0 ? 0 : 1) : value, at: slot)
        case .float4, .float8:
            let value = type == .float4 ? BinaryCodec.doubleWrittenAsFloat(bytes) : BinaryCodec.double(bytes)
            guard let value else { throw wrongFormat(bytes, type, slot) }
            try bindReal(value, slot, statement)
        case .bytea:
            try statement.bindBlob(inPlace: bytes, at: slot)
        case .numeric:
            guard let text = NumericCodec.text(bytes) else { throw wrongFormat(bytes, type, slot) }
            // That it was announced as numeric, too, says that it meets no texts.
            try bindDecimal(text, slot, isNumber: parameter.rule != .typed, statement)
        case .json:
            try bindJSON(bytes, slot, parameter, statement, check)
        case .jsonb:
            // A version, which is 1, and then the text: jsonb_recv in src/backend/utils/adt/jsonb.c.
            guard bytes.first == 1 else { throw wrongFormat(bytes, type, slot) }
            try bindJSON(ofBinary: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()), slot, parameter, statement, check)
        case .text, .varchar, .bpchar, .name, .unknown, .unspecified:
            try bindText(ofBinary: bytes, slot, parameter, statement, check)
        default:
            let bounds = ConversionBounds(statement, check)
            var text = try ValueText.text(ofBinary: bytes, type, "parameter \(slot.number)", bounds) { wrongFormat(bytes, type, slot) }
            if case .momentAs(let cast, let column) = parameter.rule { text = try MomentText.text(text, cast: cast, column: column) }
            try statement.bindText(copying: text, at: slot)
        }
    }

    /// Of the text behind the version, which the statement may cast to a number.
    private static func bindJSON(
        ofBinary text: UnsafeRawBufferPointer, _ slot: ParameterSlot, _ parameter: ParameterType, _ statement: Statement,
        _ check: ConversionBounds.Check?
    ) throws(WireError) {
        switch parameter.rule {
        case .number: try bindNumber(text, slot, to: statement)
        case .textAs(let type): try bindText(text, slot, type, statement, check)
        default: try bindJSON(text, slot, parameter, statement, check)
        }
    }

    private static func integer(ofBinary bytes: UnsafeRawBufferPointer, _ type: TypeOID) -> Int64? {
        switch type {
        case .int2: BinaryCodec.int16(bytes).map { Int64($0) }
        case .int4: BinaryCodec.int32(bytes).map { Int64($0) }
        case .oid: BinaryCodec.int32(bytes).map { Int64(UInt32(bitPattern: $0)) }
        case .int8: BinaryCodec.int64(bytes)
        default: BinaryCodec.bool(bytes).map { $0 ? 1 : 0 }
        }
    }

    /// A text is the same bytes in both formats, and means the same.
    private static func bindText(
        ofBinary bytes: UnsafeRawBufferPointer, _ slot: ParameterSlot, _ parameter: ParameterType, _ statement: Statement,
        _ check: ConversionBounds.Check?
    ) throws(WireError) {
        switch parameter.rule {
        case .number: try bindNumber(bytes, slot, to: statement)
        case .uuid: try bindUUID(bytes, slot, statement)
        case .momentAs(let cast, let column): try bindMoment(bytes, slot, parameter.type, cast, column, statement)
        case .json: try bindJSON(bytes, slot, parameter, statement, check)
        case .textAs(let type): try bindText(bytes, slot, type, statement, check)
        case .moment(let own): try bindMoment(bytes, slot, own, isDeclared: parameter.type == own, statement)
        default: try bindValidText(bytes, slot, statement)
        }
    }

    private static func wrongFormat(_ bytes: UnsafeRawBufferPointer, _ type: TypeOID, _ slot: ParameterSlot) -> WireError {
        WireError(
            state: .invalidBinaryRepresentation,
            message: "incorrect binary data format in bind parameter \(slot.number)",
            detail: "\(bytes.count) bytes cannot be a value of type \(type.sqlName).")
    }
}
