import CSQLite
import Glibc

/// PostgreSQL's string functions, https://www.postgresql.org/docs/current/functions-string.html
///
/// Lengths and positions count characters, which in SQLite as in PostgreSQL are code points. Arguments are read where they stand, several
/// at once, as SQLite's own replace() does it: to ask for one moves no other.
enum TextFunctions {
    static func register(on connection: Connection) {
        registerConcatenation(on: connection)
        registerPieces(on: connection)
        connection.register("md5", 1, .deterministic) { call in
            guard !call.isNull(0) else { return call.answerNull() }
            if let digest = MD5.hexadecimal(call.bytes(0), call) { call.answer(digest) }
        }
        connection.register("repeat", 2, .deterministic) { call in
            guard !call.hasNull else { return call.answerNull() }
            let bytes = call.bytes(0)
            let count = Int(clamping: max(0, call.integer(1)))
            let (length, overflows) = bytes.count.multipliedReportingOverflow(by: count)
            guard var result = ResultText(call, capacity: overflows ? .max : length) else { return }
            if result.append(bytes, times: count) { result.answer() }
        }
        connection.register("reverse", 1, .deterministic) { reverse($0) }
        connection.register("initcap", 1, .deterministic) { call in
            guard !call.isNull(0) else { return call.answerNull() }
            let text = call.bytes(0)
            guard var result = ResultText(call, capacity: text.count) else { return }
            if Capitals.append(of: text, to: &result) { result.answer() }
        }
    }

    private static func reverse(_ call: FunctionCall) {
        guard !call.isNull(0) else { return call.answerNull() }
        let text = call.bytes(0)
        guard var result = ResultText(call, capacity: text.count) else { return }
        var end = text.count
        for index in text.indices.reversed() where CodePoints.begins(text[index]) || index == 0 {
            guard result.append(UnsafeRawBufferPointer(rebasing: text[index..<end])) else { return }
            end = index
        }
        result.answer()
    }

    private static func registerConcatenation(on connection: Connection) {
        // Both pass over NULL, where SQLite's || gives NULL.
        connection.register("concat", -1, .deterministic) { join($0, from: 0, separator: UnsafeRawBufferPointer(start: nil, count: 0)) }
        connection.register("concat_ws", -1, .deterministic) { call in
            guard call.count > 0, !call.isNull(0) else { return call.answerNull() }
            join(call, from: 1, separator: call.bytes(0))
        }
    }

    private static func join(_ call: FunctionCall, from first: Int, separator: UnsafeRawBufferPointer) {
        let indices = (first..<max(first, call.count)).filter { !call.isNull($0) }
        let length = indices.reduce(separator.count * max(0, indices.count - 1)) { $0 + call.bytes($1).count }
        guard var result = ResultText(call, capacity: length) else { return }
        for index in indices {
            guard index == indices[0] || result.append(separator), result.append(call.bytes(index)) else { return }
        }
        result.answer()
    }

    private static func registerPieces(on connection: Connection) {
        // A negative number is how many are left out at the other end.
        connection.register("left", 2, .deterministic) {
            cut($0) { 0..<($1 >= 0 ? CodePoints.offset(of: $1, in: $0) : CodePoints.offset(ofLast: -$1, in: $0)) }
        }
        connection.register("right", 2, .deterministic) {
            cut($0) { ($1 >= 0 ? CodePoints.offset(ofLast: $1, in: $0) : CodePoints.offset(of: -$1, in: $0))..<$0.count }
        }
        for count in [2, 3] {
            connection.register("lpad", count, .deterministic) { pad($0, atStart: true) }
            connection.register("rpad", count, .deterministic) { pad($0, atStart: false) }
        }
        connection.register("split_part", 3, .deterministic) { call in
            guard !call.hasNull else { return call.answerNull() }
            guard call.integer(2) != 0 else { return call.fail("field position must not be zero") }
            let text = call.bytes(0)
            guard let range = part(text, call.bytes(1), number: Int(call.integer(2)), call) else { return }
            call.answer(UnsafeRawBufferPointer(rebasing: text[range]))
        }
        connection.register("strpos", 2, .deterministic) { call in
            guard !call.hasNull else { return call.answerNull() }
            let (text, part) = (call.bytes(0), call.bytes(1))
            call.answer(Int64(position(of: part, in: text).map { CodePoints.count(text[..<$0]) + 1 } ?? 0))
        }
        connection.register("starts_with", 2, .deterministic) { call in
            guard !call.hasNull else { return call.answerNull() }
            let (text, part) = (call.bytes(0), call.bytes(1))
            call.answer(text.count >= part.count && (part.isEmpty || memcmp(text.baseAddress!, part.baseAddress!, part.count) == 0))
        }
        for name: StaticString in ["char_length", "character_length"] {
            connection.register(name, 1, .deterministic) { call in
                call.isNull(0) ? call.answerNull() : call.answer(Int64(CodePoints.count(call.bytes(0))))
            }
        }
    }

    private static func cut(_ call: FunctionCall, _ range: (UnsafeRawBufferPointer, Int) -> Range<Int>) {
        guard !call.hasNull else { return call.answerNull() }
        let text = call.bytes(0)
        call.answer(UnsafeRawBufferPointer(rebasing: text[range(text, Int(Int32(clamping: call.integer(1))))]))
    }

    private static func pad(_ call: FunctionCall, atStart: Bool) {
        guard !call.hasNull else { return call.answerNull() }
        if call.count > 2 { return pad(call, with: call.bytes(2), atStart: atStart) }
        withUnsafeBytes(of: UInt8(ascii: " ")) { pad(call, with: $0, atStart: atStart) }
    }

    private static func pad(_ call: FunctionCall, with fill: UnsafeRawBufferPointer, atStart: Bool) {
        let text = call.bytes(0)
        let wanted = Int(clamping: max(0, call.integer(1)))
        let (missing, fillCount) = (wanted - CodePoints.count(text), CodePoints.count(fill))
        guard missing > 0, fillCount > 0 else {
            return call.answer(UnsafeRawBufferPointer(rebasing: text[..<CodePoints.offset(of: wanted, in: text)]))
        }
        let (copies, rest) = missing.quotientAndRemainder(dividingBy: fillCount)
        let restBytes = CodePoints.offset(of: rest, in: fill)
        let (copied, overflows) = copies.multipliedReportingOverflow(by: fill.count)
        let (length, isTooLong) = copied.addingReportingOverflow(text.count + restBytes)
        guard var result = ResultText(call, capacity: overflows || isTooLong ? .max : length) else { return }
        guard atStart || result.append(text), result.append(fill, times: copies),
            result.append(UnsafeRawBufferPointer(rebasing: fill[..<restBytes])), !atStart || result.append(text)
        else { return }
        result.answer()
    }

    /// memmem takes time for the sum of both, whatever they are.
    private static func position(of part: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
        guard let wanted = part.baseAddress, !part.isEmpty else { return start }
        guard let base = text.baseAddress, start < text.count,
            let found = walpool_find(base + start, text.count - start, wanted, part.count)
        else { return nil }
        return base.distance(to: UnsafeRawPointer(found))
    }

    /// Where the part is, counted from the end where the number is negative; empty where there is none. Only where it begins and
    /// ends is kept: parts may be as many as bytes. nil: the call has failed.
    private static func part(
        _ text: UnsafeRawBufferPointer, _ separator: UnsafeRawBufferPointer, number: Int, _ call: FunctionCall
    ) -> Range<Int>? {
        var wanted = number
        if number < 0 {
            var count = 0
            let hasCounted = eachPart(text, separator, call) { _ in
                count += 1
                return true
            }
            guard hasCounted else { return nil }
            guard number >= -count else { return 0..<0 }
            wanted = count + number + 1
        }
        var found = 0..<0
        var index = 0
        let hasLooked = eachPart(text, separator, call) { range in
            index += 1
            if index == wanted { found = range }
            return index < wanted
        }
        return hasLooked ? found : nil
    }

    /// For as long as it returns true. False: the call has failed.
    private static func eachPart(
        _ text: UnsafeRawBufferPointer, _ separator: UnsafeRawBufferPointer, _ call: FunctionCall, _ body: (Range<Int>) -> Bool
    ) -> Bool {
        var start = 0
        var work = FunctionWork()
        while !separator.isEmpty, let found = position(of: separator, in: text, from: start) {
            guard body(start..<found) else { return true }
            guard work.goesOn(found - start + separator.count, call) else { return false }
            start = found + separator.count
        }
        _ = body(start..<text.count)
        return true
    }
}
