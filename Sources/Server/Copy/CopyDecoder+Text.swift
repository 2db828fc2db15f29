import PostgresWire

/// The text format.
extension CopyDecoder {
    /// Decodes one row; false: it is not complete, or there is none.
    func decodeTextRow(_ rows: CopyRows, _ isLast: Bool) throws(WireError) -> Bool {
        guard let base = rows.base, rows.undecoded > 0 else {
            hasEnded = isLast
            return false
        }
        let start = rows.decoded
        let end = rows.count
        switch mark(base, start, end, isLast) {
        case .none: break
        case .alone:
            hasEnded = true
            return false
        case .incomplete: return false
        case .corrupt:
            throw failure(.badCopyFileFormat, "end-of-copy marker corrupt")
        }
        guard let next = try scanText(base, start, end, isLast) else { return false }
        return try finishLine(rows, next: next)
    }

    /// Finds the fields of the row at `start`. Returns where the next one begins, nil when this one is not complete.
    private func scanText(
        _ base: UnsafeMutablePointer<UInt8>, _ start: Int, _ end: Int, _ isLast: Bool
    ) throws(WireError) -> Int? {
        let delimiter = options.delimiter
        let search = ByteSearch(delimiter, UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\\"))
        fields.removeAll(keepingCapacity: true)
        var high: UInt64 = 0
        var position = start
        var fieldStart = start
        var isEscaped = false
        while true {
            position = search.next(in: base, from: position, to: end, &high)
            guard position < end else {
                guard isLast else { return nil }
                endField(fieldStart, position, isEscaped, high)
                return end
            }
            let byte = base[position]
            if byte == delimiter {
                endField(fieldStart, position, isEscaped, high)
                guard fields.count <= fieldLimit else { throw wrongCount() }
                position += 1
                fieldStart = position
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
                guard position + 1 < end else {
                    guard isLast else { return nil }
                    position += 1
                    continue
                }
                if base[position + 1] == UInt8(ascii: ".") {
                    throw failure(.badCopyFileFormat, "end-of-copy marker is not alone on its line")
                }
                // Whatever follows a backslash ends neither field nor line, and may be beyond ASCII.
                high |= UInt64(base[position + 1])
                position += 2
            } else if byte == 0 {
                throw failure(.characterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": 0x00")
            } else {
                guard let length = try lineEndLength(base, position, end, isLast) else { return nil }
                endField(fieldStart, position, isEscaped, high)
                return position + length
            }
        }
    }

    @inline(__always)
    func endField(_ start: Int, _ end: Int, _ isEscaped: Bool, _ high: UInt64, isQuoted: Bool = false) {
        hasHighBytes = ByteSearch.hasHighBytes(high)
        fields.append(Field(start: start, end: end, isEscaped: isEscaped, isQuoted: isQuoted))
    }
}

// MARK: Escapes

extension CopyDecoder {
    /// Takes the backslashes out of a field in place; returns its new end. "Any other backslashed character that is not
    /// mentioned in the above table will be taken to represent itself."
    static func unescape(_ base: UnsafeMutablePointer<UInt8>, _ field: Field) -> Int {
        var read = field.start
        var written = field.start
        while read < field.end {
            var byte = base[read]
            read += 1
            if byte == UInt8(ascii: "\\") {
                // At the very end of the data there is nothing for it to stand before, and PostgreSQL drops it.
                guard read < field.end else { break }
                byte = base[read]
                read += 1
                switch byte {
                case UInt8(ascii: "b"): byte = 0x08
                case UInt8(ascii: "f"): byte = 0x0C
                case UInt8(ascii: "n"): byte = 0x0A
                case UInt8(ascii: "r"): byte = 0x0D
                case UInt8(ascii: "t"): byte = 0x09
                case UInt8(ascii: "v"): byte = 0x0B
                case UInt8(ascii: "0")...UInt8(ascii: "7"):
                    byte = digits(base, &read, field.end, first: Int(byte & 7), base: 8, more: 2)
                case UInt8(ascii: "x") where read < field.end && isHexadecimal(base[read]):
                    byte = digits(base, &read, field.end, first: 0, base: 16, more: 2)
                default: break
                }
            }
            base[written] = byte
            written += 1
        }
        return written
    }

    /// "\digits: Backslash followed by one to three octal digits", "\xdigits: Backslash x followed by one or two hex
    /// digits". What is too much for a byte is cut off, as PostgreSQL does.
    private static func digits(
        _ bytes: UnsafeMutablePointer<UInt8>, _ read: inout Int, _ end: Int, first: Int, base: Int, more: Int
    ) -> UInt8 {
        var value = first
        var left = more
        while left > 0, read < end, let digit = digit(bytes[read]), digit < base {
            value = value * base + digit
            read += 1
            left -= 1
        }
        return UInt8(truncatingIfNeeded: value)
    }

    private static func digit(_ byte: UInt8) -> Int? {
        if isDigit(byte) { return Int(byte & 15) }
        return isHexadecimal(byte) ? Int((byte | 0x20) - UInt8(ascii: "a")) + 10 : nil
    }
}
