import PostgresWire

/// Why a text is no value of a type of numbers.
enum NumberError: Error { case malformed, outOfRange }

/// Integers and reals in text, as PostgreSQL's input functions read them.
enum TypedNumber {
    /// Digits alone: neither `1e3` nor `0x10`.
    @inline(__always)
    static func integer(_ bytes: UnsafeRawBufferPointer, _ type: TypeOID) throws(NumberError) -> Int64 {
        guard let value = TextCodec.parseInt(bytes) else { throw noInteger(bytes) }
        switch type {
        case .int2 where Int16(exactly: value) == nil, .int4 where Int32(exactly: value) == nil, .oid where UInt32(exactly: value) == nil:
            throw .outOfRange
        default: return value
        }
    }

    private static func noInteger(_ bytes: UnsafeRawBufferPointer) -> NumberError {
        var digits = TextCodec.trimmed(bytes)[...]
        if digits.first == UInt8(ascii: "-") || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst() }
        // Digits only, and still no integer: too many of them.
        return !digits.isEmpty && digits.allSatisfy(isDigit) ? .outOfRange : .malformed
    }

    static func real(_ bytes: UnsafeRawBufferPointer, _ type: TypeOID) throws(NumberError) -> Double {
        guard let value = TextCodec.parseDouble(bytes) else { throw DecimalSyntax.isMet(by: bytes) ? .outOfRange : .malformed }
        if type == .float4, value.isFinite {
            let float = Float(value)
            guard float.isFinite, !float.isZero || value.isZero else { throw .outOfRange }
        }
        return value
    }
}
