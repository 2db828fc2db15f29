/// Reads values in the binary format: what the types' send functions write, in network byte order. Nil when the length
/// is not the type's: 22P03 "incorrect binary data format".
public enum BinaryCodec {
    /// int2: two bytes.
    @inlinable public static func int16(_ bytes: UnsafeRawBufferPointer) -> Int16? { integer(bytes) }
    /// int4, or an oid as the same bits with a sign: four bytes.
    @inlinable public static func int32(_ bytes: UnsafeRawBufferPointer) -> Int32? { integer(bytes) }
    /// int8: eight bytes.
    @inlinable public static func int64(_ bytes: UnsafeRawBufferPointer) -> Int64? { integer(bytes) }

    /// float4: four bytes, as IEEE 754 has them; NaN and infinities are values like others.
    @inlinable public static func float(_ bytes: UnsafeRawBufferPointer) -> Float? {
        integer(bytes).map { Float(bitPattern: $0) }
    }

    /// A float4 as the double that is written alike: 0.1 is 0.1, as where a client sends it in text, and not 0.10000000149011612.
    public static func doubleWrittenAsFloat(_ bytes: UnsafeRawBufferPointer) -> Double? {
        float(bytes).map { Double($0.description) ?? Double($0) }
    }

    /// float8: eight bytes, likewise.
    @inlinable public static func double(_ bytes: UnsafeRawBufferPointer) -> Double? {
        integer(bytes).map { Double(bitPattern: $0) }
    }

    /// Any byte but zero is true, as in PostgreSQL's boolrecv.
    @inlinable public static func bool(_ bytes: UnsafeRawBufferPointer) -> Bool? {
        bytes.count == 1 ? bytes[0] != 0 : nil
    }

    @inlinable @inline(__always)
    static func integer<Value: FixedWidthInteger & BitwiseCopyable>(_ bytes: UnsafeRawBufferPointer) -> Value? {
        guard bytes.count == MemoryLayout<Value>.size else { return nil }
        return Value(bigEndian: bytes.loadUnaligned(as: Value.self))
    }
}
