/// What a parameter is called, as `sqlite3_bind_parameter_name` tells it
/// (https://www.sqlite.org/c3ref/bind_parameter_name.html): that name is the whole token, so `$1::int8` carries its
/// type with it.
enum ParameterName: Sendable, Equatable {
    /// PostgreSQL's `$n`, or SQLite's `?n`; `type` is the range, in the name, of the type after `::`, without
    /// what stands in parentheses after it.
    case numbered(Int, type: Range<Int>?)
    /// `?`: SQLite's own index is its number.
    case positional
    /// `:a`, `@a`, `$a`: nothing in PostgreSQL's protocol can name it.
    case named
    /// Number 0 or above 65535, the most that Bind's 16-bit count can carry.
    case outOfRange
    /// `$1::a::b`, `$1(x)`, `$1::`: a name of which no number and type can be made.
    case malformed

    init(_ name: UnsafeRawBufferPointer?) {
        guard let name, let first = name.first else {
            self = .positional
            return
        }
        guard first == UInt8(ascii: "$") || first == UInt8(ascii: "?") else {
            self = .named
            return
        }
        var index = 1
        var number = 0
        while index < name.count, isDigit(name[index]) {
            number = Swift.min(number * 10 + Int(name[index] - UInt8(ascii: "0")), 65536)
            index += 1
        }
        guard index > 1 else {
            self = name.count == 1 ? .positional : .named
            return
        }
        guard index == name.count || !isIdentifierByte(name[index]) else {
            self = .named
            return
        }
        guard (1...65535).contains(number) else {
            self = .outOfRange
            return
        }
        self = Self.numbered(number, suffixOf: name, at: index)
    }

    private static func numbered(_ number: Int, suffixOf name: UnsafeRawBufferPointer, at start: Int) -> ParameterName {
        if start == name.count { return .numbered(number, type: nil) }
        guard start + 2 < name.count, name[start] == UInt8(ascii: ":"), name[start + 1] == UInt8(ascii: ":") else {
            return .malformed
        }
        let first = start + 2
        var end = first
        while end < name.count, isIdentifierByte(name[end]) { end += 1 }
        guard end > first, end == name.count || name[end] == UInt8(ascii: "(") else { return .malformed }
        return .numbered(number, type: first..<end)
    }
}
