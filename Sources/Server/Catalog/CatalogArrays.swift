import SQLite

/// Arrays in catalog statements: JSON on SQLite's side, made of whatever form a client or a catalog has them in.
enum CatalogArrays {
    static func register(on connection: Connection) {
        connection.register("pg_array", 1, .deterministic) { call in
            guard !call.isNull(0) else { return call.answerNull() }
            guard let elements = elements(call.text(0)) else {
                return call.fail("malformed array literal: \"\(call.text(0).prefix(SessionLimits.quotedCharacters))\"")
            }
            call.answer(json(elements))
        }
        // An int2vector's first subscript is 0, an array's is 1.
        connection.register("pg_lower_bound", 1, .deterministic) { $0.answer(Int64(isVector($0.text(0)) ? 0 : 1)) }
        connection.register("pg_nth", 2, .deterministic) { call in
            guard !call.hasNull, let elements = elements(call.text(0)) else { return call.answerNull() }
            answer(elements, Int(call.integer(1)), call)
        }
        connection.register("pg_element", 2, .deterministic) { call in
            guard !call.hasNull, let elements = elements(call.text(0)) else { return call.answerNull() }
            let (index, isNone) = Int(call.integer(1)).subtractingReportingOverflow(isVector(call.text(0)) ? 0 : 1)
            if isNone { call.answerNull() } else { answer(elements, index, call) }
        }
        for count in [2, 3] {
            connection.register("pg_series", count, .deterministic) { call in
                guard !call.hasNull else { return call.answer("[]") }
                guard let values = series(call.integer(0), call.integer(1), step: count == 3 ? call.integer(2) : 1) else {
                    return call.fail("the series is too long for a catalog statement")
                }
                call.answer("[" + values.map { String($0) }.joined(separator: ",") + "]")
            }
            connection.register("array_to_string", count, .deterministic) { call in
                guard !call.isNull(0), !call.isNull(1), let elements = elements(call.text(0)) else { return call.answerNull() }
                let null = count == 3 && !call.isNull(2) ? call.text(2) : nil
                call.answer(elements.compactMap { $0 ?? null }.joined(separator: call.text(1)))
            }
        }
        registerArrayFunctions(on: connection)
        connection.register("pg_sort_key", -1, .deterministic) { call in
            let orders = call.count > 0 ? Array(call.bytes(0)) : []
            guard orders.count == call.count - 1 else { return call.fail("pg_sort_key() takes a letter for each key") }
            call.answer(orders.indices.map { CatalogSortKey.text(call, $0 + 1, order: orders[$0]) }.joined())
        }
        connection.register(aggregate: "array_agg", 1, ArrayAggregate.self)
        connection.register(aggregate: "array_agg", 2, ArrayAggregate.self)
        connection.register(aggregate: "string_agg", 3, OrderedStringAggregate.self)
        connection.register(aggregate: "pg_json_agg", 2, JSONAggregate.self)
        connection.register(aggregate: "pg_json_agg", 3, JSONAggregate.self)
    }

    /// https://www.postgresql.org/docs/15/functions-array.html
    private static func registerArrayFunctions(on connection: Connection) {
        connection.register("array_lower", 2, .deterministic) { call in
            guard !call.hasNull, let elements = elements(call.text(0)), !elements.isEmpty else { return call.answerNull() }
            call.answer(Int64(isVector(call.text(0)) ? 0 : 1))
        }
        for (name, isSubscript): (StaticString, Bool) in [("array_upper", true), ("array_length", false)] {
            connection.register(name, 2, .deterministic) { call in
                guard !call.hasNull, let elements = elements(call.text(0)), !elements.isEmpty else { return call.answerNull() }
                call.answer(Int64(elements.count - (isSubscript && isVector(call.text(0)) ? 1 : 0)))
            }
        }
        connection.register("pg_array_text", 2, .deterministic) { call in
            guard !call.isNull(0), let elements = elements(call.text(0)) else { return call.answerNull() }
            call.answer(CatalogEncoder.literal(elements, call.text(1) == "bool[]" ? .bool : .text))
        }
        connection.register("cardinality", 1, .deterministic) { call in
            guard !call.hasNull, let elements = elements(call.text(0)) else { return call.answerNull() }
            call.answer(Int64(elements.count))
        }
        connection.register("array_remove", 2, .deterministic) { call in
            guard !call.isNull(0), let elements = elements(call.text(0)) else { return call.answerNull() }
            let unwanted = call.isNull(1) ? nil : call.text(1)
            call.answer(json(elements.filter { $0 != unwanted }))
        }
        connection.register("array_position", 2, .deterministic) { call in
            guard !call.hasNull, let elements = elements(call.text(0)), let at = elements.firstIndex(of: call.text(1))
            else { return call.answerNull() }
            call.answer(Int64(at + (isVector(call.text(0)) ? 0 : 1)))
        }
    }

    /// nil: it has too many numbers, or no end. Catalogs number columns with it.
    private static func series(_ start: Int64, _ stop: Int64, step: Int64) -> [Int64]? {
        guard step != 0 else { return nil }
        var values: [Int64] = []
        var (value, isPast) = (start, false)
        while !isPast, step > 0 ? value <= stop : value >= stop {
            guard values.count < CatalogLimits.seriesNumbers else { return nil }
            values.append(value)
            (value, isPast) = value.addingReportingOverflow(step)
        }
        return values
    }

    private static func answer(_ elements: [String?], _ index: Int, _ call: FunctionCall) {
        guard elements.indices.contains(index), let element = elements[index] else { return call.answerNull() }
        if let number = Int64(element) { call.answer(number) } else { call.answer(element) }
    }

    /// `1 2 3`, as catalogs have column numbers.
    static func isVector(_ text: String) -> Bool { text.first != "[" && text.first != "{" }

    /// The elements of `{a,"b c",NULL}`, of `["a",null]` or of `1 2 3`; nil is NULL.
    static func elements(_ text: String) -> [String?]? {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, !isVector(text) else { return text.split(separator: " ").map(String.init) }
        let isJSON = first == UInt8(ascii: "[")
        guard bytes.last == UInt8(ascii: isJSON ? "]" : "}") else { return nil }
        var elements: [String?] = []
        var element: [UInt8] = []
        var (isQuoted, wasQuoted, index) = (false, false, 1)
        func finish() {
            let text = String(decoding: element, as: UTF8.self)
            elements.append(!wasQuoted && text.lowercased() == "null" ? nil : text)
            (element, wasQuoted) = ([], false)
        }
        while index < bytes.count - 1 {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\\") where isQuoted && isJSON: element += Array(JSONEscape.read(bytes, &index).utf8)
            case UInt8(ascii: "\\") where isQuoted:
                element.append(bytes[index])
                index += 1
            case UInt8(ascii: "\""):
                isQuoted.toggle()
                wasQuoted = true
            case UInt8(ascii: ",") where !isQuoted: finish()
            case UInt8(ascii: "{") where !isQuoted, UInt8(ascii: "[") where !isQuoted: return nil
            case 0x20 where !isQuoted: break
            default: element.append(byte)
            }
        }
        if isQuoted { return nil }
        if bytes.count > 2 { finish() }
        return elements
    }

    static func json(_ elements: [String?]) -> String {
        let texts = elements.map { element -> String in
            guard let element else { return "null" }
            if let number = Int64(element), String(number) == element { return element }
            return quoted(element)
        }
        return "[" + texts.joined(separator: ",") + "]"
    }

    static func quoted(_ element: String) -> String {
        var quoted = "\""
        for scalar in element.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
