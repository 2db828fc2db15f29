@testable import PostgresWire
@testable import Server

/// The text and the binary format of values.
enum CodecRules {
    static func check(_ bytes: UnsafeRawBufferPointer) {
        checkNumbers(bytes)
        checkBytes(bytes)
        _ = TextCodec.parseBool(bytes)
        _ = BinaryCodec.int16(bytes)
        _ = BinaryCodec.int32(bytes)
        _ = BinaryCodec.float(bytes)
        _ = BinaryCodec.bool(bytes)
        checkNumeric(bytes)
        let repaired = String(decoding: bytes, as: UTF8.self)
        require(
            TextCodec.isValidUTF8(bytes) == repaired.utf8.elementsEqual(bytes),
            "text is valid exactly when there is nothing to repair in it")
    }

    private static func checkNumbers(_ bytes: UnsafeRawBufferPointer) {
        if let value = TextCodec.parseInt(bytes) {
            let text = field { $0.fieldIntegerText(value) }
            require(text == Array("\(value)".utf8), "an integer is written as its digits")
            require(text.withUnsafeBytes(TextCodec.parseInt) == value, "an integer written is read as itself")
        }
        for value in [TextCodec.parseDouble(bytes), BinaryCodec.double(bytes)].compactMap({ $0 }) {
            let text = field { $0.fieldDoubleText(value) }
            let read = text.withUnsafeBytes(TextCodec.parseDouble)
            require(
                read?.bitPattern == value.bitPattern || (value.isNaN && read?.isNaN ?? false),
                "a double written is read as itself: \(value)")
            let binary = field { $0.fieldBinary(value) }
            require(
                binary.withUnsafeBytes(BinaryCodec.double)?.bitPattern == value.bitPattern,
                "a double in binary is read as itself")
        }
        if let value = BinaryCodec.int64(bytes) {
            require(field { $0.fieldBinary(value) }.elementsEqual(bytes), "an integer in binary is written as it was read")
        }
    }

    private static func checkBytes(_ bytes: UnsafeRawBufferPointer) {
        let hexadecimal = field { $0.fieldByteaText(bytes) }
        require(
            hexadecimal.withUnsafeBytes(TextCodec.parseBytea)?.elementsEqual(bytes) ?? false,
            "bytes written are read as themselves")
        if let read = TextCodec.parseBytea(bytes) { require(read.count <= bytes.count, "reading bytes makes no more of them") }
    }

    private static func checkNumeric(_ bytes: UnsafeRawBufferPointer) {
        guard let text = NumericCodec.text(bytes) else { return }
        require(text.utf8.count < 25_000, "a numeric's text is bounded by its scale and weight")
        var copy = text
        let value = copy.withUTF8 { TextCodec.parseDouble(UnsafeRawBufferPointer($0)) }
        // Out of a double's range is no number either.
        require(value != nil || text.utf8.count > 300, "a numeric's text is a number: \(text)")
    }

    /// The bytes of one field, behind its length.
    static func field(_ write: (OutputBuffer) -> Void) -> [UInt8] {
        let out = OutputBuffer()
        write(out)
        let bytes = Array(out.readable)
        let length = bytes.withUnsafeBytes { BinaryCodec.int32(UnsafeRawBufferPointer(rebasing: $0.prefix(4))) }
        require(length == Int32(bytes.count - 4), "a field has the length it says")
        return Array(bytes.dropFirst(4))
    }
}
