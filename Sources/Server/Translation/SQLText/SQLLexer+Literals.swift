/// The tokens of more than a symbol's length: words, quoted things, numbers, parameters. Each function is given
/// the first byte of its token and returns the kind and the offset just past it.
extension SQLLexer {
    func quoted(from start: Int, kind: SQLToken.Kind) -> (SQLToken.Kind, Int) {
        let quote = bytes[start]
        var index = start + 1
        while index < end {
            if bytes[index] == quote {
                guard byte(index + 1) == quote, index + 1 < end else { return (kind, index + 1) }
                index += 1
            }
            index += 1
        }
        return (.illegal, end)
    }

    /// `[a name]`, unless it is not one.
    ///
    /// Behind the word ARRAY stand values that a driver has written as literals, and so may they in what PostgreSQL takes for a
    /// subscript: `doc['a]']`, `list[1:'2']`. Read as a name, either would end inside a value, and what somebody has sent as a value
    /// would be SQL. Such a bracket is illegal. `PostgresSpelling` makes an array of the first, and what then is left is refused
    /// (`Query`), as SQLite would read it otherwise. So a name with a quote in it is written in double quotes.
    mutating func bracket(at start: Int) -> (SQLToken.Kind, Int) {
        if isBehindArray || openBrackets.contains(start) { return (.illegal, start + 1) }
        var index = start + 1
        while index < end {
            if bytes[index] == UInt8(ascii: "]") { return (.quotedIdentifier, index + 1) }
            if bytes[index] == UInt8(ascii: "'") || bytes[index] == UInt8(ascii: "\"") {
                // Many brackets before one quote would each be read up to it.
                openBrackets = start..<index
                return (.illegal, start + 1)
            }
            index += 1
        }
        return (.illegal, end)
    }

    func blob(from start: Int) -> (SQLToken.Kind, Int) {
        var index = start + 2
        while isHexadecimal(byte(index)) { index += 1 }
        let wellFormed = byte(index) == UInt8(ascii: "'") && (index - start) % 2 == 0
        if wellFormed { return (.blob, index + 1) }
        while index < end, bytes[index] != UInt8(ascii: "'") { index += 1 }
        return (.illegal, Swift.min(index + 1, end))
    }

    func word(from start: Int) -> Int {
        var index = start + 1
        while index < end, isIdentifierByte(bytes[index]) { index += 1 }
        return index
    }

    func digits(from start: Int) -> Int {
        var index = start
        while isDigit(byte(index)) { index += 1 }
        return index
    }

    /// Digits with single underscores between them, which SQLite takes since 3.46
    /// (https://www.sqlite.org/lang_expr.html#literal_values_constants_). An older SQLite refuses them itself.
    private func separatedDigits(from start: Int) -> Int {
        var index = digits(from: start)
        while index > start, byte(index) == UInt8(ascii: "_"), isDigit(byte(index + 1)) {
            index = digits(from: index + 1)
        }
        return index
    }

    func number(from start: Int) -> (SQLToken.Kind, Int) {
        var index = start
        if bytes[start] == UInt8(ascii: "0"), byte(start + 1) | 0x20 == UInt8(ascii: "x"), isHexadecimal(byte(start + 2)) {
            index = start + 2
            while isHexadecimal(byte(index)) || (byte(index) == UInt8(ascii: "_") && isHexadecimal(byte(index + 1))) {
                index += 1
            }
        } else {
            index = separatedDigits(from: index)
            if byte(index) == UInt8(ascii: ".") { index = separatedDigits(from: index + 1) }
            index = exponent(from: index)
        }
        guard index < end, isIdentifierByte(bytes[index]) else { return (.number, index) }
        return (.illegal, word(from: index))
    }

    private func exponent(from start: Int) -> Int {
        guard byte(start) | 0x20 == UInt8(ascii: "e") else { return start }
        let sign = byte(start + 1) == UInt8(ascii: "+") || byte(start + 1) == UInt8(ascii: "-")
        let first = sign ? start + 2 : start + 1
        return isDigit(byte(first)) ? separatedDigits(from: first) : start
    }

    /// `$name`, `:name`, `@name`, `#name`. "The identifier name can include one or more occurrences of "::" and a
    /// suffix enclosed in "(...)" containing any text at all" (https://www.sqlite.org/lang_expr.html#varparam):
    /// this is why `$1::int8` and `$1::varchar(10)` are one token each. `$1::numeric(10, 2)`, which SQLAlchemy writes, is one here, too,
    /// and no token of SQLite's at all: `PostgresSpelling` takes the parenthesis away.
    func variable(from start: Int) -> (SQLToken.Kind, Int) {
        var index = start + 1
        var hasName = false
        while index < end {
            let byte = bytes[index]
            if isIdentifierByte(byte) {
                hasName = true
            } else if byte == UInt8(ascii: "("), hasName {
                return variableSuffix(from: index)
            } else if byte == UInt8(ascii: ":"), self.byte(index + 1) == UInt8(ascii: ":") {
                index += 1
            } else {
                break
            }
            index += 1
        }
        return (hasName ? .parameter : .illegal, index)
    }

    private func variableSuffix(from start: Int) -> (SQLToken.Kind, Int) {
        var index = start + 1
        while index < end, bytes[index] != UInt8(ascii: ")"), !isSpace(bytes[index]) { index += 1 }
        if byte(index) == UInt8(ascii: ")") { return (.parameter, index + 1) }
        return modifiersEnd(from: start).map { (.parameter, $0) } ?? (.illegal, index)
    }

    /// Behind `(10, 2)`: numbers and commas with spaces between them.
    private func modifiersEnd(from start: Int) -> Int? {
        var index = start + 1
        while index < end, isDigit(bytes[index]) || bytes[index] == UInt8(ascii: ",") || isSpace(bytes[index]) { index += 1 }
        return byte(index) == UInt8(ascii: ")") ? index + 1 : nil
    }
}
