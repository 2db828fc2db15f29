import PostgresWire
import SQLite

/// PostgreSQL's parameter values as SQLite's.
enum ParameterBinder {
    /// Binds one parameter by its type; text and blobs stay where they are, in the portal's storage.
    ///
    /// - Parameter check: asked whether to go on before a long value, and amid those that take long to convert.
    @inline(__always)
    static func bind(
        _ slot: ParameterSlot, _ parameter: ParameterType, _ parameters: BoundParameters, to statement: Statement,
        check: ConversionBounds.Check? = nil
    ) throws(WireError) {
        let (format, bytes) = parameters.value(slot.number)
        guard let bytes else { return try statement.bindNull(slot) }
        if let check, bytes.count > SessionLimits.longParameterBytes { try check() }
        if format == .binary, parameter.takesValues { return try bindBinary(bytes, slot, parameter, statement, check) }
        switch parameter.rule {
        case .none: throw ParameterType.indeterminate(slot.number)
        case .calculated(let type): throw ParameterType.calculated(slot.number, type)
        case .mismatched(let type): throw ParameterType.mismatched(slot.number, type)
        case .unordered(let type): throw ParameterType.unordered(slot.number, type)
        case .typed: try bindText(bytes, slot, parameter.type, statement, check)
        case .verbatim where parameter.type == .float8 || parameter.type == .numeric: try bindLiteralOfReal(bytes, slot, statement)
        case .verbatim: try bindValidText(bytes, slot, statement)
        case .moment(let type): try bindMoment(bytes, slot, type, isDeclared: parameter.type == type, statement)
        case .momentAs(let cast, let column): try bindMoment(bytes, slot, parameter.type, cast, column, statement)
        case .uuid: try bindUUID(bytes, slot, statement)
        case .json: try bindJSON(bytes, slot, parameter, statement, check)
        case .array: try bindArray(bytes, slot, parameter.type, statement, check)
        case .textAs(let type): try bindText(bytes, slot, type, statement, check)
        case .truth: try statement.bind(try integer(bytes, parameter.type, slot) == 0 ? Int64(0) : 1, at: slot)
        case .number where parameter.type == .numeric && parameter.isGiven:
            try bindNumeric(bytes, slot, isNumber: true, statement)
        case .number:
            if parameter.type == .float8 || parameter.type == .numeric, let value = StoredDecimal.infinity(bytes) {
                return try bindReal(value, slot, statement)
            }
            try bindNumber(bytes, slot, to: statement)
        case .numberIfPossible:
            if try !bindNumberIfPossible(bytes, slot, statement) { try bindValidText(bytes, slot, statement) }
        }
    }

    static func bindText(
        _ bytes: UnsafeRawBufferPointer, _ slot: ParameterSlot, _ type: TypeOID, _ statement: Statement, _ check: ConversionBounds.Check?
    ) throws(WireError) {
        switch type {
        case .int8, .int4, .int2, .oid:
            try statement.bind(try integer(bytes, type, slot), at: slot)
        case .float8, .float4:
            try bindReal(try real(bytes, type, slot), slot, statement)
        case .bool:
            guard let value = TextCodec.parseBool(bytes) else { throw malformed(bytes, type, slot) }
            try statement.bind(Int64(value ? 1 : 0), at: slot)
        case .bytea:
            guard let value = TextCodec.parseBytea(bytes) else { throw malformed(bytes, type, slot) }
            try statement.bindBlob(copying: value, at: slot)
        case .numeric:
            try bindNumeric(bytes, slot, statement)
        case .text, .varchar, .bpchar, .name, .unknown, .unspecified:
            try bindValidText(bytes, slot, statement)
        case .json, .jsonb:
            try bindJSON(bytes, slot, ParameterType(type: type, rule: .typed), statement, check)
        default:
            try requireText(bytes, "parameter \(slot.number)")
            let text = try ValueText.canonical(bytes, type, ConversionBounds(statement, check)) { malformed(bytes, type, slot) }
            guard let text else { return try bindValidText(bytes, slot, statement) }
            try statement.bindText(copying: text, at: slot)
        }
    }

    /// `{a,"b c"}` cannot be JSON, whose objects have colons behind their names; both are empty as `{}`.
    static func bindArray(
        _ bytes: UnsafeRawBufferPointer, _ slot: ParameterSlot, _ type: TypeOID, _ statement: Statement, _ check: ConversionBounds.Check?
    ) throws(WireError) {
        let type = type.element == nil ? .textArray : type
        guard bytes.first == UInt8(ascii: "{") else { return try bindValidText(bytes, slot, statement) }
        try requireText(bytes, "parameter \(slot.number)")
        let json = try ArrayCodec.json(ofText: bytes, type, ConversionBounds(statement, check)) { malformed(bytes, type, slot) }
        guard let json else { return try bindValidText(bytes, slot, statement) }
        try statement.bindText(copying: json, at: slot)
    }

    /// A text without a type for a column that is declared as a date or time. pgjdbc sends `2024-01-02 +01` and
    /// `2024-01-02 03:04:05+01` and leaves it to PostgreSQL to drop the time zone; SQLite's functions take neither. All
    /// else is what the database's other users may have stored, and stays as it is.
    static func bindMoment(
        _ bytes: UnsafeRawBufferPointer, _ slot: ParameterSlot, _ type: TypeOID, isDeclared: Bool, _ statement: Statement
    ) throws(WireError) {
        // Where the client is told the type it is sent the first year so.
        if isDeclared, let text = try ValueText.momentBC(bytes, type) { return try statement.bindText(copying: text, at: slot) }
        guard let text = try MomentText(bytes)?.text(inColumnOf: type, isDeclared: isDeclared) else {
            if MomentText.isDebugTextOfGo(bytes) {
                throw WireError(
                    state: .invalidDatetimeFormat,
                    message: "invalid input syntax for type \(type.sqlName): \"\(String(decoding: bytes, as: UTF8.self))\"",
                    hint: MomentText.hintForGo)
            }
            return try bindValidText(bytes, slot, statement)
        }
        try statement.bindText(copying: text, at: slot)
    }

    /// A text with a type, or that the statement casts: see `TextRule.momentAs`.
    static func bindMoment(
        _ bytes: UnsafeRawBufferPointer, _ slot: ParameterSlot, _ type: TypeOID, _ cast: TypeOID, _ column: TypeOID, _ statement: Statement
    ) throws(WireError) {
        try requireText(bytes, "parameter \(slot.number)")
        let type = type.isCharacters ? cast : type
        guard let text = try ValueText.canonical(bytes, type, malformed: { malformed(bytes, type, slot) }) else {
            return try bindValidText(bytes, slot, statement)
        }
        try statement.bindText(copying: try MomentText.text(text, cast: cast, column: column), at: slot)
    }

    /// Of 32 digits without a hyphen some are all decimal, or have one `e`: in a column declared as UUID, whose affinity is
    /// NUMERIC, SQLite would make a number of those, and most digits would be gone; also with blanks around them, which it passes over.
    static func bindUUID(
        _ bytes: UnsafeRawBufferPointer, _ slot: ParameterSlot, _ statement: Statement
    ) throws(WireError) {
        let digits = TextCodec.trimmed(bytes)
        guard digits.allSatisfy({ isDigit($0) || $0 | 0x20 == UInt8(ascii: "e") }), let text = UUIDCodec.canonical(digits) else {
            return try bindValidText(bytes, slot, statement)
        }
        try statement.bindText(copying: text, at: slot)
    }

    /// In a column declared JSON a number is bound as what the affinity makes of its text, if that is the same number. A rule that is
    /// `verbatim` is that of such a column, too: it was announced as JSON.
    static func bindJSON(
        _ bytes: UnsafeRawBufferPointer, _ slot: ParameterSlot, _ parameter: ParameterType, _ statement: Statement,
        _ check: ConversionBounds.Check?
    ) throws(WireError) {
        let bounds = ConversionBounds(statement, check)
        try bounds.requireLength(bytes.count)
        try requireText(bytes, "parameter \(slot.number)")
        // What the client calls a text is cast.
        guard try JSONSyntax.isValid(bytes, bounds) else {
            throw malformed(bytes, parameter.type.isCharacters ? .json : parameter.type, slot)
        }
        let number = parameter.rule == .json || parameter.rule == .verbatim ? JSONNumber(bytes) : nil
        switch number {
        case .integer(let value): try statement.bind(value, at: slot)
        case .real(let value): try bindReal(value, slot, statement)
        case .lost: throw JSONNumber.error(bytes)
        case nil: try statement.bindText(inPlace: bytes, at: slot)
        }
    }

    static func bindValidText(
        _ bytes: UnsafeRawBufferPointer, _ slot: ParameterSlot, _ statement: Statement
    ) throws(WireError) {
        try requireText(bytes, "parameter \(slot.number)")
        try statement.bindText(inPlace: bytes, at: slot)
    }

    /// UTF-8 without NUL, as SQLite's text and PostgreSQL's both must be.
    @inline(__always)
    static func requireText(_ bytes: UnsafeRawBufferPointer, _ subject: @autoclosure () -> String) throws(WireError) {
        guard TextCodec.isValidUTF8(bytes) else {
            throw WireError(
                state: .characterNotInRepertoire,
                message: "invalid byte sequence for encoding \"UTF8\" in \(subject())")
        }
        guard !bytes.contains(0) else {
            throw WireError(
                state: .characterNotInRepertoire,
                message: "invalid byte sequence for encoding \"UTF8\": 0x00 in \(subject())")
        }
    }

    static func malformed(
        _ bytes: UnsafeRawBufferPointer, _ type: TypeOID, _ slot: ParameterSlot
    ) -> WireError {
        // What is no text is no value of any type.
        do { try requireText(bytes, "parameter \(slot.number)") } catch { return error }
        let shown = String(decoding: bytes.prefix(SessionLimits.quotedCharacters), as: UTF8.self)
        return WireError(
            state: .invalidTextRepresentation,
            message: "invalid input syntax for type \(type.sqlName): \"\(shown)\"",
            detail: "It is the value of parameter $\(slot.number).")
    }

    static func outOfRange(_ bytes: UnsafeRawBufferPointer, _ type: TypeOID) -> WireError {
        let shown = String(decoding: bytes.prefix(SessionLimits.quotedCharacters), as: UTF8.self)
        return WireError(
            state: .numericValueOutOfRange, message: "value \"\(shown)\" is out of range for type \(type.sqlName)")
    }
}
