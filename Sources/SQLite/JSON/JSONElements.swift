import Glibc

/// The elements of a JSON array, one after the other.
///
/// They are what json_each() gives as `value`: true and false are 1 and 0, what has a point, an exponent or more digits than an integer is
/// a real number, and an array or an object is the text that is written there.
struct JSONElements {
    enum Element {
        case null
        case integer(Int64)
        case real(Double)
        case text(UnsafeRawBufferPointer)
        /// A text with escapes in it: see `unescape`.
        case escapedText(UnsafeRawBufferPointer)
        case nested(UnsafeRawBufferPointer)
    }

    enum Failure: Error { case isNoArray, isMalformed }

    private let text: UnsafeRawBufferPointer
    private var syntax: JSONSyntax
    private var isAtEnd: Bool

    /// - Parameter text: stays where it is for as long as its elements are used. What stands behind it must be no part of a number.
    init(_ text: UnsafeRawBufferPointer) throws(Failure) {
        self.text = text
        syntax = JSONSyntax(text)
        syntax.skipSpace()
        guard syntax.take(UInt8(ascii: "[")) else { throw JSONSyntax.isValid(text) ? .isNoArray : .isMalformed }
        syntax.skipSpace()
        isAtEnd = syntax.take(UInt8(ascii: "]"))
        if isAtEnd { try requireEnd() }
    }

    /// nil behind the last one.
    mutating func next() throws(Failure) -> Element? {
        guard !isAtEnd else { return nil }
        syntax.skipSpace()
        let start = syntax.index
        let first = syntax.next
        guard syntax.pass() else { throw .isMalformed }
        let written = UnsafeRawBufferPointer(rebasing: text[start..<syntax.index])
        syntax.skipSpace()
        if !syntax.take(UInt8(ascii: ",")) {
            guard syntax.take(UInt8(ascii: "]")) else { throw .isMalformed }
            isAtEnd = true
            try requireEnd()
        }
        return element(written, first)
    }

    private mutating func requireEnd() throws(Failure) {
        syntax.skipSpace()
        guard syntax.index == text.count else { throw .isMalformed }
    }

    private func element(_ written: UnsafeRawBufferPointer, _ first: UInt8) -> Element {
        switch first {
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "t"): return .integer(1)
        case UInt8(ascii: "f"): return .integer(0)
        case UInt8(ascii: "["), UInt8(ascii: "{"): return .nested(written)
        case UInt8(ascii: "\""):
            let content = UnsafeRawBufferPointer(rebasing: written.dropFirst().dropLast())
            return content.contains(UInt8(ascii: "\\")) ? .escapedText(content) : .text(content)
        default: return Self.number(written)
        }
    }

    private static func number(_ written: UnsafeRawBufferPointer) -> Element {
        let isNegative = written.first == UInt8(ascii: "-")
        var value: Int64 = 0
        for byte in isNegative ? written.dropFirst() : written[...] {
            let digit = Int64(byte) - 0x30
            let (tenfold, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isBeyond) = isNegative ? tenfold.subtractingReportingOverflow(digit) : tenfold.addingReportingOverflow(digit)
            guard (0...9).contains(digit), !isTooLarge, !isBeyond else {
                // It reads as much as looks like a number, and what that is the grammar has said.
                return .real(strtod(written.baseAddress!.assumingMemoryBound(to: CChar.self), nil))
            }
            value = sum
        }
        return .integer(value)
    }

    /// What an escaped text stands for, which is never longer than what is written; returns its length. nil: there is a NUL in it, which
    /// no text of PostgreSQL's has, and half of SQLite's functions take for the end.
    static func unescape(_ written: UnsafeRawBufferPointer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        var (index, count) = (0, 0)
        while index < written.count {
            let byte = written[index]
            index += 1
            guard byte == UInt8(ascii: "\\") else {
                memory[count] = byte
                count += 1
                continue
            }
            for unit in JSONEscape.read(written, &index).utf8 {
                if unit == 0 { return nil }
                memory[count] = unit
                count += 1
            }
        }
        return count
    }
}
