// Bytes of ASCII and their classes, as SQL and its literals have them. No byte of another character is in any of them but the last.

/// ASCII only: SQLite's keywords and its case folding are ASCII, whatever the locale.
@inline(__always)
func lowerASCII(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
}

@inline(__always)
func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

@inline(__always)
func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

@inline(__always)
func isHexadecimal(_ byte: UInt8) -> Bool { isDigit(byte) || (byte | 0x20) &- UInt8(ascii: "a") < 6 }

@inline(__always)
func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 0x09 < 5 }

/// SQLite's `IdChar`: letters, digits, `_`, `$`, and every byte of a non-ASCII character.
@inline(__always)
func isIdentifierByte(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "_")
        || byte == UInt8(ascii: "$") || byte >= 0x80
}
