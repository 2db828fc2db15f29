import PostgresWire
import SQLite

/// Numbers that come as text, and decimals, which SQLite has no storage class for.
extension ParameterBinder {
    @inline(__always)
    static func integer(
        _ bytes: UnsafeRawBufferPointer, _ type: TypeOID, _ slot: ParameterSlot
    ) throws(WireError) -> Int64 {
        do { return try TypedNumber.integer(bytes, type) } catch { throw refusal(error, bytes, type, slot) }
    }

    static func real(
        _ bytes: UnsafeRawBufferPointer, _ type: TypeOID, _ slot: ParameterSlot
    ) throws(WireError) -> Double {
        do { return try TypedNumber.real(bytes, type) } catch { throw refusal(error, bytes, type, slot) }
    }

    private static func refusal(
        _ error: NumberError, _ bytes: UnsafeRawBufferPointer, _ type: TypeOID, _ slot: ParameterSlot
    ) -> WireError {
        error == .malformed ? malformed(bytes, type, slot) : outOfRange(bytes, type)
    }

    /// A decimal, in text or as the text of one that came in binary.
    ///
    /// - Parameter isNumber: it must not become a text, so with too many digits it is the double next to it.
    static func bindNumeric(
        _ bytes: UnsafeRawBufferPointer, _ slot: ParameterSlot, isNumber: Bool = false, _ statement: Statement
    ) throws(WireError) {
        let decimal: StoredDecimal
        do { decimal = try StoredDecimal(bytes) } catch { throw refusal(error, bytes, .numeric, slot) }
        switch decimal {
        case .integer(let value): try statement.bind(value, at: slot)
        case .real(let value): try bindReal(value, slot, statement)
        // Next to one that is too small for a double is zero.
        case .text where isNumber: try bindReal(TextCodec.parseDouble(bytes) ?? 0, slot, statement)
        case .text(let text): try statement.bindText(copying: text, at: slot)
        }
    }

    /// One that came in binary.
    static func bindDecimal(_ text: String, _ slot: ParameterSlot, isNumber: Bool, _ statement: Statement) throws(WireError) {
        try text.withBytes { bytes throws(WireError) in try bindNumeric(bytes, slot, isNumber: isNumber, statement) }
    }

    /// A text whose neighbours in the statement say that it must be a number.
    static func bindNumber(
        _ bytes: UnsafeRawBufferPointer, _ slot: ParameterSlot, to statement: Statement
    ) throws(WireError) {
        guard try bindNumberIfPossible(bytes, slot, statement) else { throw noNumber(bytes, slot) }
    }

    static func noNumber(_ bytes: UnsafeRawBufferPointer, _ slot: ParameterSlot) -> WireError {
        // A number all the same, but none of SQLite's: its affinity would make infinity or zero of it.
        DecimalSyntax.isMet(by: bytes) ? outOfRange(bytes, .numeric) : malformed(bytes, .numeric, slot)
    }

    /// Neither `0x1A` nor `inf` is a number to SQLite.
    static func isOfDecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || isSpace(byte) || "+-.eE".utf8.contains(byte)
    }

    static func bindNumberIfPossible(
        _ bytes: UnsafeRawBufferPointer, _ slot: ParameterSlot, _ statement: Statement
    ) throws(WireError) -> Bool {
        if let value = TextCodec.parseInt(bytes) {
            try statement.bind(value, at: slot)
        } else if bytes.allSatisfy(isOfDecimal), let value = TextCodec.parseDouble(bytes) {
            try bindReal(value, slot, statement)
        } else {
            return false
        }
        return true
    }

    /// "sqlite3_bind_double … NaN is converted to NULL" would lose the value without a word:
    /// https://www.sqlite.org/floatingpoint.html
    static func bindReal(_ value: Double, _ slot: ParameterSlot, _ statement: Statement) throws(WireError) {
        guard !value.isNaN else {
            throw WireError(
                state: .numericValueOutOfRange, message: "NaN cannot be stored in SQLite",
                detail: "It is the value of parameter $\(slot.number).", hint: "Send NULL instead.")
        }
        try statement.bind(value, at: slot)
    }

    /// A text without a type where an affinity makes a real of it, or an integer if that is what it is. But no affinity does of what PostgreSQL calls Infinity, as which some
    /// drivers send it where float8 was announced, and it would be stored as a text.
    static func bindLiteralOfReal(
        _ bytes: UnsafeRawBufferPointer, _ slot: ParameterSlot, _ statement: Statement
    ) throws(WireError) {
        guard let value = StoredDecimal.infinity(bytes) else { return try bindValidText(bytes, slot, statement) }
        try bindReal(value, slot, statement)
    }
}
