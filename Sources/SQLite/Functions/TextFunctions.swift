import CSQLite

/// PostgreSQL's string functions, https://www.postgresql.org/docs/current/functions-string.html
///
/// Lengths and positions count characters, which in SQLite as in PostgreSQL are code points.
enum TextFunctions {
    static func register(on connection: Connection) {
        registerConcatenation(on: connection)
        registerPieces(on: connection)
        connection.register("md5", 1, .deterministic) { call in
            call.isNull(0) ? call.answerNull() : call.answer(MD5.hexadecimal(call.bytes(0)))
        }
        connection.register("repeat", 2, .deterministic) { call in
            guard !call.hasNull else { return call.answerNull() }
            let bytes = Array(call.bytes(0))
            let count = Int(clamping: max(0, call.integer(1)))
            let (length, overflows) = bytes.count.multipliedReportingOverflow(by: count)
            guard call.allows(length: overflows ? .max : length) else { return }
            var result: [UInt8] = []
            result.reserveCapacity(length)
            for _ in 0..<(bytes.isEmpty ? 0 : count) { result.append(contentsOf: bytes) }
            result.withUnsafeBytes { call.answer($0) }
        }
        connection.register("reverse", 1, .deterministic) { call in
            guard !call.isNull(0) else { return call.answerNull() }
            var scalars = String.UnicodeScalarView()
            scalars.append(contentsOf: call.text(0).unicodeScalars.reversed())
            call.answer(String(scalars))
        }
        connection.register("initcap", 1, .deterministic) { call in
            call.isNull(0) ? call.answerNull() : call.answer(capitalised(call.text(0)))
        }
    }

    private static func registerConcatenation(on connection: Connection) {
        // Both pass over NULL, where SQLite's || gives NULL.
        connection.register("concat", -1, .deterministic) { join($0, from: 0, separator: []) }
        connection.register("concat_ws", -1, .deterministic) { call in
            guard call.count > 0, !call.isNull(0) else { return call.answerNull() }
            join(call, from: 1, separator: Array(call.bytes(0)))
        }
    }

    private static func join(_ call: FunctionCall, from first: Int, separator: [UInt8]) {
        var result: [UInt8] = []
        var isFirst = true
        for index in first..<max(first, call.count) where !call.isNull(index) {
            if !isFirst { result.append(contentsOf: separator) }
            isFirst = false
            guard call.allows(length: result.count + call.bytes(index).count) else { return }
            result.append(contentsOf: call.bytes(index))
        }
        result.withUnsafeBytes { call.answer($0) }
    }

    private static func registerPieces(on connection: Connection) {
        // A negative number is how many are left out at the other end.
        connection.register("left", 2, .deterministic) {
            cut($0) { $0[..<($1 >= 0 ? CodePoints.offset(of: $1, in: $0) : CodePoints.offset(ofLast: -$1, in: $0))] }
        }
        connection.register("right", 2, .deterministic) {
            cut($0) { $0[($1 >= 0 ? CodePoints.offset(ofLast: $1, in: $0) : CodePoints.offset(of: -$1, in: $0))...] }
        }
        for count in [2, 3] {
            connection.register("lpad", count, .deterministic) { pad($0, atStart: true) }
            connection.register("rpad", count, .deterministic) { pad($0, atStart: false) }
        }
        connection.register("split_part", 3, .deterministic) { call in
            guard !call.hasNull else { return call.answerNull() }
            guard call.integer(2) != 0 else { return call.fail("field position must not be zero") }
            // A copy, because what asking for the second argument does to the bytes of the first is not said.
            let text = Array(call.bytes(0))
            let range = part(text, Array(call.bytes(1)), number: Int(call.integer(2)))
            text.withUnsafeBytes { call.answer(UnsafeRawBufferPointer(rebasing: $0[range])) }
        }
        connection.register("strpos", 2, .deterministic) { call in
            guard !call.hasNull else { return call.answerNull() }
            let (text, part) = (Array(call.bytes(0)), Array(call.bytes(1)))
            call.answer(Int64(position(of: part, in: text).map { CodePoints.count(text[..<$0]) + 1 } ?? 0))
        }
        connection.register("starts_with", 2, .deterministic) { call in
            call.hasNull ? call.answerNull() : call.answer(Array(call.bytes(0)).starts(with: Array(call.bytes(1))))
        }
        for name: StaticString in ["char_length", "character_length"] {
            connection.register(name, 1, .deterministic) { call in
                call.isNull(0) ? call.answerNull() : call.answer(Int64(CodePoints.count(call.bytes(0))))
            }
        }
    }

    private static func cut(_ call: FunctionCall, _ body: (ArraySlice<UInt8>, Int) -> ArraySlice<UInt8>) {
        guard !call.hasNull else { return call.answerNull() }
        let text = Array(call.bytes(0))
        body(text[...], Int(Int32(clamping: call.integer(1)))).withUnsafeBytes { call.answer($0) }
    }

    private static func pad(_ call: FunctionCall, atStart: Bool) {
        guard !call.hasNull else { return call.answerNull() }
        let text = Array(call.bytes(0))
        let fill = call.count > 2 ? Array(call.bytes(2)) : [UInt8(ascii: " ")]
        let wanted = Int(clamping: max(0, call.integer(1)))
        let (missing, fillCount) = (wanted - CodePoints.count(text), CodePoints.count(fill))
        guard missing > 0, fillCount > 0 else {
            return text[..<CodePoints.offset(of: wanted, in: text[...])].withUnsafeBytes { call.answer($0) }
        }
        let (copies, rest) = missing.quotientAndRemainder(dividingBy: fillCount)
        let restBytes = CodePoints.offset(of: rest, in: fill[...])
        let (copied, overflows) = copies.multipliedReportingOverflow(by: fill.count)
        let (length, isTooLong) = copied.addingReportingOverflow(text.count + restBytes)
        guard call.allows(length: overflows || isTooLong ? .max : length) else { return }
        var result: [UInt8] = []
        result.reserveCapacity(length)
        if !atStart { result += text }
        for _ in 0..<copies { result += fill }
        result += fill[..<restBytes]
        if atStart { result += text }
        result.withUnsafeBytes { call.answer($0) }
    }

    /// memmem takes time for the sum of both, whatever they are.
    private static func position(of part: [UInt8], in text: [UInt8], from start: Int = 0) -> Int? {
        guard !part.isEmpty else { return start }
        return text.withUnsafeBytes { text in
            guard let base = text.baseAddress, start < text.count,
                let found = walpool_find(base + start, text.count - start, part, part.count)
            else { return nil }
            return base.distance(to: UnsafeRawPointer(found))
        }
    }

    /// Where the part is, counted from the end where the number is negative; empty where there is none. Only where it begins and
    /// ends is kept: parts may be as many as bytes.
    private static func part(_ text: [UInt8], _ separator: [UInt8], number: Int) -> Range<Int> {
        var wanted = number
        if number < 0 {
            var count = 0
            eachPart(text, separator) { _ in
                count += 1
                return true
            }
            guard number >= -count else { return 0..<0 }
            wanted = count + number + 1
        }
        var found = 0..<0
        var index = 0
        eachPart(text, separator) { range in
            index += 1
            if index == wanted { found = range }
            return index < wanted
        }
        return found
    }

    /// For as long as it returns true.
    private static func eachPart(_ text: [UInt8], _ separator: [UInt8], _ body: (Range<Int>) -> Bool) {
        var start = 0
        while !separator.isEmpty, let found = position(of: separator, in: text, from: start) {
            guard body(start..<found) else { return }
            start = found + separator.count
        }
        _ = body(start..<text.count)
    }

    private static func capitalised(_ text: String) -> String {
        var result = ""
        var isInWord = false
        for character in text {
            let isWord = character.isLetter || character.isNumber
            result += isWord && !isInWord ? character.uppercased() : character.lowercased()
            isInWord = isWord
        }
        return result
    }
}
