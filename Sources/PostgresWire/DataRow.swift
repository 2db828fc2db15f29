// DataRow and its fields in the binary format. Each field is "the length of the column value, in bytes (this count
// does not include itself). Can be zero. As a special case, -1 indicates a NULL column value", then the value.
// https://www.postgresql.org/docs/current/protocol-message-formats.html
extension OutputBuffer {
    /// Begins a row of so many columns; exactly as many fields must follow before `endDataRow`.
    @inlinable public func beginDataRow(columns: Int) -> Int {
        let mark = beginMessage(UInt8(ascii: "D"))
        append16(Int16(truncatingIfNeeded: columns))
        return mark
    }

    /// False when the row is too long for a message; it has been taken back then.
    @inlinable public func endDataRow(_ mark: Int) -> Bool {
        endMessage(mark)
    }

    /// NULL, in either format: a length of -1 and no value.
    @inlinable public func fieldNull() {
        append32(-1)
    }

    /// An int2: two bytes.
    @inlinable public func fieldBinary(_ value: Int16) {
        guard let place = claim(6) else { return }
        place.storeBytes(of: Int32(2).bigEndian, as: Int32.self)
        place.storeBytes(of: value.bigEndian, toByteOffset: 4, as: Int16.self)
    }

    /// An int4: four bytes.
    @inlinable public func fieldBinary(_ value: Int32) {
        guard let place = claim(8) else { return }
        place.storeBytes(of: Int32(4).bigEndian, as: Int32.self)
        place.storeBytes(of: value.bigEndian, toByteOffset: 4, as: Int32.self)
    }

    /// An int8: eight bytes.
    @inlinable public func fieldBinary(_ value: Int64) {
        guard let place = claim(12) else { return }
        place.storeBytes(of: Int32(8).bigEndian, as: Int32.self)
        place.storeBytes(of: value.bigEndian, toByteOffset: 4, as: Int64.self)
    }

    /// A float4: four bytes, as IEEE 754 has them.
    @inlinable public func fieldBinary(_ value: Float) {
        fieldBinary(Int32(bitPattern: value.bitPattern))
    }

    /// A float8: eight bytes, as IEEE 754 has them.
    @inlinable public func fieldBinary(_ value: Double) {
        fieldBinary(Int64(bitPattern: value.bitPattern))
    }

    /// A bool: one byte, 1 or 0.
    @inlinable public func fieldBoolBinary(_ value: Bool) {
        fieldByte(value ? 1 : 0)
    }

    /// Bytes as they are: a binary `text` or `bytea`, or any type's text.
    @inlinable public func fieldText(_ bytes: UnsafeRawBufferPointer) {
        // Where the length does not fit its 32 bits, neither does the message fit its limit, and it is dropped.
        guard let place = claim(4 + bytes.count) else { return }
        place.storeBytes(of: Int32(truncatingIfNeeded: bytes.count).bigEndian, as: Int32.self)
        guard let source = bytes.baseAddress else { return }
        (place + 4).copyMemory(from: source, byteCount: bytes.count)
    }

    @inlinable @inline(__always)
    func fieldByte(_ byte: UInt8) {
        guard let place = claim(5) else { return }
        place.storeBytes(of: Int32(1).bigEndian, as: Int32.self)
        place.storeBytes(of: byte, toByteOffset: 4, as: UInt8.self)
    }
}
