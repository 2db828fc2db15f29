// Fields of a DataRow in the text format, written straight into the buffer.
extension OutputBuffer {
    /// A text that was made for the row. One that lies in memory already is `fieldText(_:)` of its bytes.
    @inlinable public func fieldText(_ text: String) {
        var text = text
        text.withUTF8 { fieldText(UnsafeRawBufferPointer($0)) }
    }

    /// A bool as PostgreSQL writes it: "t" or "f".
    @inlinable public func fieldBoolText(_ value: Bool) {
        fieldByte(value ? UInt8(ascii: "t") : UInt8(ascii: "f"))
    }

    /// An integer of any size, in decimal digits.
    public func fieldIntegerText(_ value: Int64) {
        guard let place = claim(4 + DecimalText.maximumLength) else { return }
        finishField(at: place, claimed: DecimalText.maximumLength, length: DecimalText.write(value, to: place + 4))
    }

    /// The shortest digits that read back as the same number, with a point or an exponent always, as SQLite shows
    /// a REAL: "1.0", "0.1", "1e+20". PostgreSQL's spellings for what is not a number: "NaN", "Infinity".
    public func fieldDoubleText(_ value: Double) {
        guard value.isFinite else {
            let text: StaticString = value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
            return text.withUTF8Buffer { fieldText(UnsafeRawBufferPointer($0)) }
        }
        guard let place = claim(4 + DoubleText.maximumLength) else { return }
        finishField(at: place, claimed: DoubleText.maximumLength, length: DoubleText.write(value, to: place + 4))
    }

    /// "The hex format encodes binary data as 2 hexadecimal digits per byte, most significant nibble first. The
    /// entire string is preceded by the sequence \x", https://www.postgresql.org/docs/current/datatype-binary.html
    public func fieldByteaText(_ bytes: UnsafeRawBufferPointer) {
        let length = 2 + 2 * bytes.count
        guard let place = claim(4 + length) else { return }
        place.storeBytes(of: Int32(truncatingIfNeeded: length).bigEndian, as: Int32.self)
        place.storeBytes(of: UInt8(ascii: "\\"), toByteOffset: 4, as: UInt8.self)
        place.storeBytes(of: UInt8(ascii: "x"), toByteOffset: 5, as: UInt8.self)
        HexText.write(bytes, to: place + 6)
    }

    /// A number inside other text, such as the count of a command tag.
    func appendDecimal(_ value: Int64) {
        guard let place = claim(DecimalText.maximumLength) else { return }
        tail -= DecimalText.maximumLength - DecimalText.write(value, to: place)
    }

    /// Writes the length of a field whose room was claimed generously, and returns what was not needed.
    @inline(__always)
    private func finishField(at place: UnsafeMutableRawPointer, claimed: Int, length: Int) {
        place.storeBytes(of: Int32(truncatingIfNeeded: length).bigEndian, as: Int32.self)
        tail -= claimed - length
    }
}
