import SQLite

/// PostgreSQL's format(), in the place of SQLite's other name for printf().
/// https://www.postgresql.org/docs/15/functions-string.html#FUNCTIONS-STRING-FORMAT
enum CatalogFormat {
    static func register(on connection: Connection) {
        connection.register("format", -1, .deterministic) { call in
            guard call.count > 0, !call.isNull(0) else { return call.answerNull() }
            let template = call.text(0)
            var result = ""
            var rest = template.unicodeScalars[...]
            var argument = 0
            while let scalar = rest.popFirst() {
                guard scalar == "%" else {
                    result.unicodeScalars.append(scalar)
                    continue
                }
                guard let conversion = conversion(&rest) else { return call.fail("format() here knows %s, %I, %L and %n$s only") }
                if conversion.kind == "%" {
                    result += "%"
                    continue
                }
                argument = conversion.position ?? argument + 1
                guard argument > 0, argument < call.count else { return call.fail("too few arguments for format()") }
                guard let text = text(call, argument, conversion.kind) else {
                    return call.fail("null values cannot be formatted as an SQL identifier")
                }
                guard call.allows(length: result.utf8.count + text.utf8.count) else { return }
                result += text
            }
            call.answer(result)
        }
    }

    private static func conversion(_ rest: inout Substring.UnicodeScalarView) -> (position: Int?, kind: Unicode.Scalar)? {
        var position: Int?
        let digits = rest.prefix { $0.value &- 0x30 < 10 }
        if !digits.isEmpty {
            position = Int(String(digits))
            rest.removeFirst(digits.count)
            guard rest.popFirst() == "$", position != nil else { return nil }
        }
        guard let kind = rest.popFirst(), "sIL%".unicodeScalars.contains(kind) else { return nil }
        return (position, kind)
    }

    /// nil: NULL is no name.
    private static func text(_ call: FunctionCall, _ index: Int, _ kind: Unicode.Scalar) -> String? {
        if call.isNull(index) { return kind == "s" ? "" : kind == "L" ? "NULL" : nil }
        let text = call.text(index)
        return kind == "I" ? CatalogContents.quoted(text) : kind == "L" ? SQLQuoting.literal(text) : text
    }
}
