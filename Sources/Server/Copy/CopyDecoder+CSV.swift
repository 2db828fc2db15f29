import PostgresWire

/// CSV, as RFC 4180 has it and as PostgreSQL reads it: quotes may begin and end in the middle of a field, and the
/// escape, which is the quote itself unless ESCAPE says otherwise, counts only inside of them.
extension CopyDecoder {
    /// Decodes one row; false: it is not complete, or there is none.
    func decodeCSVRow(_ rows: CopyRows, _ isLast: Bool) throws(WireError) -> Bool {
        guard let base = rows.base, rows.undecoded > 0 else {
            hasEnded = isLast
            return false
        }
        switch mark(base, rows.decoded, rows.count, isLast) {
        case .alone:
            hasEnded = true
            return false
        case .incomplete: return false
        // In CSV a line that only begins so is data.
        case .none, .corrupt: break
        }
        quotedLines = 0
        guard let next = try scanCSV(base, rows.decoded, rows.count, isLast) else { return false }
        defer { quotedLines = 0 }
        return try finishLine(rows, next: next)
    }

    private func scanCSV(
        _ base: UnsafeMutablePointer<UInt8>, _ start: Int, _ end: Int, _ isLast: Bool
    ) throws(WireError) -> Int? {
        let (delimiter, quote) = (options.delimiter, options.quote)
        let search = ByteSearch(delimiter, quote, UInt8(ascii: "\n"), UInt8(ascii: "\r"))
        fields.removeAll(keepingCapacity: true)
        var high: UInt64 = 0
        var position = start
        var fieldStart = start
        var isQuoted = false
        while true {
            position = search.next(in: base, from: position, to: end, &high)
            guard position < end else {
                guard isLast else { return nil }
                endField(fieldStart, position, isQuoted, high, isQuoted: isQuoted)
                return end
            }
            let byte = base[position]
            if byte == delimiter {
                endField(fieldStart, position, isQuoted, high, isQuoted: isQuoted)
                guard fields.count <= fieldLimit else { throw wrongCount() }
                position += 1
                fieldStart = position
                isQuoted = false
            } else if byte == quote {
                isQuoted = true
                guard let behind = try skipQuoted(base, position + 1, end, isLast, &high) else { return nil }
                position = behind
            } else if byte == 0 {
                throw failure(.characterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": 0x00")
            } else {
                guard let length = try lineEndLength(base, position, end, isLast) else { return nil }
                endField(fieldStart, position, isQuoted, high, isQuoted: isQuoted)
                return position + length
            }
        }
    }

    /// Returns where the field goes on behind the closing quote; nil when that has not arrived.
    private func skipQuoted(
        _ base: UnsafeMutablePointer<UInt8>, _ start: Int, _ end: Int, _ isLast: Bool, _ high: inout UInt64
    ) throws(WireError) -> Int? {
        let (quote, escape) = (options.quote, options.escape)
        let newline = lineEnd == .carriageReturn ? UInt8(ascii: "\r") : UInt8(ascii: "\n")
        let search = ByteSearch(quote, escape, newline, newline)
        var position = start
        while true {
            position = search.next(in: base, from: position, to: end, &high)
            guard position < end else {
                guard isLast else { return nil }
                throw failure(.badCopyFileFormat, "unterminated CSV quoted field")
            }
            let byte = base[position]
            if byte == escape {
                // Whether it is one depends on what follows.
                guard position + 1 < end || isLast else { return nil }
                if position + 1 < end, base[position + 1] == quote || base[position + 1] == escape {
                    position += 2
                    continue
                }
            }
            if byte == quote { return position + 1 }
            if byte == 0 {
                throw failure(.characterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": 0x00")
            }
            if byte == newline { quotedLines += 1 }
            position += 1
        }
    }

    /// Takes the quotes out of a field in place; returns its new end.
    func unquote(_ base: UnsafeMutablePointer<UInt8>, _ field: Field) -> Int {
        let (quote, escape) = (options.quote, options.escape)
        var read = field.start
        var written = field.start
        var isInside = false
        while read < field.end {
            let byte = base[read]
            read += 1
            if isInside, byte == escape, read < field.end, base[read] == quote || base[read] == escape {
                base[written] = base[read]
                written += 1
                read += 1
            } else if byte == quote {
                isInside.toggle()
            } else {
                base[written] = byte
                written += 1
            }
        }
        return written
    }
}
