import Glibc

// CopyData and the fields of COPY's text and CSV formats, written straight into the buffer.
// https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9
extension OutputBuffer {
    /// Begins a CopyData message, for `endMessage`.
    @inlinable public func beginCopyData() -> Int { beginMessage(UInt8(ascii: "d")) }

    /// A row of COPY's binary format is a DataRow but for the message's type: "a 16-bit integer count of the number of
    /// fields in the tuple … a 32-bit length word followed by that many bytes of field data". So it is written as one,
    /// and renamed.
    public func renameDataRowToCopyData(at mark: Int) {
        precondition(mark >= start && mark < end, "patching what is not in the buffer")
        storage?.storeBytes(of: UInt8(ascii: "d"), toByteOffset: mark - shift, as: UInt8.self)
    }

    /// An integer as a field of the text or the CSV format has it.
    public func copyInteger(_ value: Int64) { appendDecimal(value) }

    /// A double as a text-format field has it.
    public func copyDouble(_ value: Double) {
        guard value.isFinite else { return append(value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity") }
        guard let place = claim(DoubleText.maximumLength) else { return }
        tail -= DoubleText.maximumLength - DoubleText.write(value, to: place)
    }

    /// Bytes as bytea's hex format has them, behind as many backslashes as the `x` needs.
    public func copyHexadecimal(_ bytes: UnsafeRawBufferPointer, prefix: StaticString) {
        append(prefix)
        guard let place = claim(2 * bytes.count) else { return }
        HexText.write(bytes, to: place)
    }

    /// A value in the text format: what would end it, and backslashes, behind a backslash.
    public func copyText(_ text: UnsafeRawBufferPointer, delimiter: UInt8) {
        var written = 0
        for position in 0..<text.count {
            let byte = text[position]
            guard byte < 0x20 || byte == UInt8(ascii: "\\") || byte == delimiter else { continue }
            let replacement: UInt8
            switch byte {
            case 0x08: replacement = UInt8(ascii: "b")
            case 0x09: replacement = UInt8(ascii: "t")
            case 0x0A: replacement = UInt8(ascii: "n")
            case 0x0B: replacement = UInt8(ascii: "v")
            case 0x0C: replacement = UInt8(ascii: "f")
            case 0x0D: replacement = UInt8(ascii: "r")
            case UInt8(ascii: "\\"), delimiter: replacement = byte
            default: continue
            }
            append(UnsafeRawBufferPointer(rebasing: text[written..<position]))
            append(UInt8(ascii: "\\"))
            append(replacement)
            written = position + 1
        }
        append(UnsafeRawBufferPointer(rebasing: text[written...]))
    }

    /// A value of CSV in quotes.
    public func copyQuoted(_ text: UnsafeRawBufferPointer, quote: UInt8, escape: UInt8) {
        append(quote)
        var written = 0
        for position in 0..<text.count where text[position] == quote || text[position] == escape {
            append(UnsafeRawBufferPointer(rebasing: text[written..<position]))
            append(escape)
            written = position
        }
        append(UnsafeRawBufferPointer(rebasing: text[written...]))
        append(quote)
    }
}
