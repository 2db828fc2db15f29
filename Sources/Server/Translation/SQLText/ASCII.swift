import Glibc

// Bytes of ASCII and their classes, as SQL and its literals have them. No byte of another character is in any of them but the last.

// As numbers: `UInt8(ascii: "_")` is a call in a debug build, which is what the tests run.

/// ASCII only: SQLite's keywords and its case folding are ASCII, whatever the locale.
@inline(__always)
func lowerASCII(_ byte: UInt8) -> UInt8 {
    byte &- 0x41 < 26 ? byte | 0x20 : byte
}

@inline(__always)
func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

@inline(__always)
func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

@inline(__always)
func isHexadecimal(_ byte: UInt8) -> Bool { isDigit(byte) || (byte | 0x20) &- 0x61 < 6 }

@inline(__always)
func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 0x09 < 5 }

/// SQLite's `IdChar`: letters, digits, `_`, `$`, and every byte of a non-ASCII character.
@inline(__always)
func isIdentifierByte(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || byte == 0x5F || byte == 0x24 || byte >= 0x80
}

extension UnsafeRawBufferPointer {
    /// Where the byte stands next, at `start` or behind it: memchr(3), which is many times as quick as a loop.
    func firstIndex(of byte: UnicodeScalar, from start: Int = 0) -> Int? {
        guard let baseAddress, start < count, let found = memchr(baseAddress + start, Int32(byte.value), count - start) else { return nil }
        return baseAddress.distance(to: found)
    }
}
