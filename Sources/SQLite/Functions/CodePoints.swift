/// Code points of a text's bytes, found where they stand: an array of them would take four bytes for each, of memory that no limit
/// counts.
enum CodePoints {
    /// "the first byte of a code point … the others begin with the bits 10": https://www.rfc-editor.org/rfc/rfc3629#section-3
    @inline(__always)
    private static func begins(_ byte: UInt8) -> Bool { byte & 0xC0 != 0x80 }

    static func count(_ bytes: some Sequence<UInt8>) -> Int {
        var count = 0
        for byte in bytes where begins(byte) { count += 1 }
        return count
    }

    /// Where the code point of this number, from 0, begins; the end where there are not so many.
    static func offset(of number: Int, in bytes: ArraySlice<UInt8>) -> Int {
        guard number > 0 else { return bytes.startIndex }
        var left = number
        for index in bytes.indices where begins(bytes[index]) {
            if left == 0 { return index }
            left -= 1
        }
        return bytes.endIndex
    }

    /// Where the last so many begin.
    static func offset(ofLast number: Int, in bytes: ArraySlice<UInt8>) -> Int {
        guard number > 0 else { return bytes.endIndex }
        var left = number
        for index in bytes.indices.reversed() where begins(bytes[index]) {
            left -= 1
            if left == 0 { return index }
        }
        return bytes.startIndex
    }
}
