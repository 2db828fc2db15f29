/// Code points of a text's bytes, found where they stand: an array of them would take four bytes for each, of memory that no limit
/// counts.
enum CodePoints {
    /// "the first byte of a code point … the others begin with the bits 10": https://www.rfc-editor.org/rfc/rfc3629#section-3
    @inline(__always)
    static func begins(_ byte: UInt8) -> Bool { byte & 0xC0 != 0x80 }

    static func count(_ bytes: some Sequence<UInt8>) -> Int {
        var count = 0
        for byte in bytes where begins(byte) { count += 1 }
        return count
    }

    /// Where the code point of this number, from 0, begins; the end where there are not so many.
    static func offset(of number: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        guard number > 0 else { return 0 }
        var left = number
        for index in bytes.indices where begins(bytes[index]) {
            if left == 0 { return index }
            left -= 1
        }
        return bytes.count
    }

    /// Where the last so many begin.
    static func offset(ofLast number: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        guard number > 0 else { return bytes.count }
        var left = number
        for index in bytes.indices.reversed() where begins(bytes[index]) {
            left -= 1
            if left == 0 { return index }
        }
        return 0
    }

    /// The one that begins at an offset, and how many bytes it has; nil where there is none: the bytes are no UTF-8 there.
    static func scalar(at offset: Int, in bytes: UnsafeRawBufferPointer) -> (scalar: Unicode.Scalar, width: Int)? {
        let first = bytes[offset]
        let width = first < 0x80 ? 1 : first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        guard width > 0, offset + width <= bytes.count else { return nil }
        var value = width == 1 ? UInt32(first) : UInt32(first) & 0x7F >> width
        for next in offset + 1..<offset + max(1, width) {
            guard !begins(bytes[next]) else { return nil }
            value = value << 6 | UInt32(bytes[next] & 0x3F)
        }
        return Unicode.Scalar(value).map { ($0, width) }
    }
}
