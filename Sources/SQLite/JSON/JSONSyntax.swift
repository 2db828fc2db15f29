/// Whether a text is JSON by the grammar of RFC 8259 (https://www.rfc-editor.org/rfc/rfc8259). It is read once, and however deeply it is
/// nested: what is open is kept in a list, not on the stack.
public struct JSONSyntax {
    private let bytes: UnsafeRawBufferPointer
    private(set) var index = 0
    /// Brackets and braces that are open.
    private var open: [UInt8] = []

    /// Whether the whole text is.
    public static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool { isValid(bytes, askingEvery: .max) {} }

    /// - Parameters:
    ///   - bytesPerCheck: after how many bytes who reads a long text is asked whether to go on.
    ///   - check: throws if not.
    public static func isValid<Failure: Error>(
        _ bytes: UnsafeRawBufferPointer, askingEvery bytesPerCheck: Int, _ check: () throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        var syntax = JSONSyntax(bytes)
        var nextCheck = bytesPerCheck
        while true {
            if syntax.index >= nextCheck {
                nextCheck = syntax.index + bytesPerCheck
                try check()
            }
            guard let isOver = syntax.step() else { return false }
            guard isOver else { continue }
            syntax.skipSpace()
            return syntax.index == bytes.count
        }
    }

    /// For whoever reads its parts.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// NUL, which is nowhere allowed, behind the end.
    var next: UInt8 { index < bytes.count ? bytes[index] : 0 }

    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        index += 1
        return true
    }

    mutating func skipSpace() { while next == 0x20 || next == 0x09 || next == 0x0A || next == 0x0D { index += 1 } }

    /// Passes over a value, with all that is in it; false: there is none.
    mutating func pass() -> Bool {
        while true {
            guard let isOver = step() else { return false }
            if isOver { return true }
        }
    }

    /// Passes over a value, or into it as far as the first that stands in it; true: that was the end of the outermost. nil: it is none.
    private mutating func step() -> Bool? {
        skipSpace()
        guard let isWhole = value() else { return nil }
        return isWhole ? ends() : false
    }

    /// Whether a value is over; false where it has only begun, and another stands in it. nil: there is none.
    private mutating func value() -> Bool? {
        switch next {
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            let isObject = next == UInt8(ascii: "{")
            open.append(next)
            index += 1
            skipSpace()
            if take(UInt8(ascii: isObject ? "}" : "]")) {
                open.removeLast()
                return true
            }
            return !isObject || name() ? false : nil
        case UInt8(ascii: "\""): return string() ? true : nil
        case UInt8(ascii: "t"): return literal("true")
        case UInt8(ascii: "f"): return literal("false")
        case UInt8(ascii: "n"): return literal("null")
        default: return number() ? true : nil
        }
    }

    /// What follows a value: whether that was the last one. nil: nothing that may.
    private mutating func ends() -> Bool? {
        while true {
            guard let last = open.last else { return true }
            skipSpace()
            let isObject = last == UInt8(ascii: "{")
            if take(UInt8(ascii: ",")) {
                skipSpace()
                return !isObject || name() ? false : nil
            }
            guard take(UInt8(ascii: isObject ? "}" : "]")) else { return nil }
            open.removeLast()
        }
    }

    /// Of a member, with its colon.
    private mutating func name() -> Bool {
        guard string() else { return false }
        skipSpace()
        return take(UInt8(ascii: ":"))
    }

    private mutating func literal(_ word: StaticString) -> Bool? {
        let count = word.utf8CodeUnitCount
        guard index + count <= bytes.count,
            bytes[index..<index + count].elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: count))
        else { return nil }
        index += count
        return true
    }

    private mutating func string() -> Bool {
        guard take(UInt8(ascii: "\"")) else { return false }
        while index < bytes.count, next >= 0x20 {
            if take(UInt8(ascii: "\"")) { return true }
            let isEscape = take(UInt8(ascii: "\\"))
            if isEscape, next == UInt8(ascii: "u") {
                for offset in 1...4 where index + offset >= bytes.count || !isHexDigit(bytes[index + offset]) { return false }
            } else if isEscape, !"\"\\/bfnrt".utf8.contains(next) {
                return false
            }
            index += 1
        }
        return false
    }

    private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20) }

    private mutating func number() -> Bool {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")), !digits() { return false }
        if take(UInt8(ascii: ".")), !digits() { return false }
        guard next | 0x20 == UInt8(ascii: "e") else { return true }
        index += 1
        if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
        return digits()
    }

    private mutating func digits() -> Bool {
        let start = index
        while isDigit(next) { index += 1 }
        return index > start
    }
}
