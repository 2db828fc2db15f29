@testable import PostgresWire

/// What a buffer holds after `encode`, as bytes.
func encoded(_ encode: (OutputBuffer) -> Void) -> [UInt8] {
    let buffer = OutputBuffer()
    encode(buffer)
    return Array(buffer.readable)
}

/// Wire bytes in a readable notation: integers big-endian, strings as they are, a C string with its NUL.
enum Part {
    case i8(UInt8), i16(Int), i32(Int), text(String), cString(String), raw([UInt8])

    var bytes: [UInt8] {
        switch self {
        case .i8(let value): [value]
        case .i16(let value): withUnsafeBytes(of: UInt16(truncatingIfNeeded: value).bigEndian) { Array($0) }
        case .i32(let value): withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian) { Array($0) }
        case .text(let value): Array(value.utf8)
        case .cString(let value): Array(value.utf8) + [0]
        case .raw(let value): value
        }
    }
}

func body(_ parts: Part...) -> [UInt8] { parts.flatMap(\.bytes) }

/// A whole message: type, length, body.
func message(_ type: Character, _ parts: Part...) -> [UInt8] {
    let body = parts.flatMap(\.bytes)
    return [type.asciiValue ?? 0] + Part.i32(body.count + 4).bytes + body
}

/// A startup packet: length, version, pairs, terminator.
func startup(major: Int = 3, minor: Int = 0, _ pairs: [(String, String)]) -> [UInt8] {
    let rest =
        Part.i32(major << 16 | minor).bytes
        + pairs.flatMap { Part.cString($0.0).bytes + Part.cString($0.1).bytes } + [0]
    return Part.i32(rest.count + 4).bytes + rest
}

/// Runs `work` on a copy of the bytes that is exactly as large as they are, so that reading beyond is found by tools.
func withRaw<Result>(_ bytes: [UInt8], _ work: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyBytes(from: bytes)
    return try work(UnsafeRawBufferPointer(copy))
}

func withRaw<Result>(_ text: String, _ work: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try withRaw(Array(text.utf8), work)
}

func string(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }

/// Valid frontend messages, one or more of each kind.
let validMessages: [[UInt8]] = [
    message("Q", .cString("SELECT 1")),
    message("P", .cString("s1"), .cString("SELECT $1, $2"), .i16(2), .i32(20), .i32(25)),
    message("P", .cString(""), .cString(""), .i16(0)),
    message("B", .cString("p"), .cString("s1"), .i16(0), .i16(0), .i16(0)),
    message(
        "B", .cString(""), .cString("s1"), .i16(3), .i16(0), .i16(1), .i16(0), .i16(3),
        .i32(2), .text("42"), .i32(-1), .i32(0), .i16(1), .i16(1)),
    message("B", .cString(""), .cString(""), .i16(1), .i16(1), .i16(2), .i32(4), .i32(7), .i32(1), .i8(9), .i16(2), .i16(0), .i16(1)),
    message("D", .text("S"), .cString("s1")),
    message("D", .text("P"), .cString("")),
    message("C", .text("S"), .cString("s1")),
    message("E", .cString(""), .i32(0)),
    message("f", .cString("no")),
    message("d", .text("a\tb\n")),
    message("S"), message("H"), message("X"), message("c"),
]

/// Decodes a message body as its type says and walks all of it. True when the body is accepted.
@discardableResult
func decode(type: UInt8, _ body: UnsafeRawBufferPointer) -> Bool {
    do {
        switch type {
        case UInt8(ascii: "Q"): _ = try QueryMessage(body: body)
        case UInt8(ascii: "P"): _ = try ParseMessage(body: body)
        case UInt8(ascii: "B"):
            let bind = try BindMessage(body: body)
            var sum = 0
            for parameter in bind.parameters { sum &+= parameter.bytes?.reduce(0) { $0 &+ Int($1) } ?? 1 }
            for column in -1...bind.resultFormatCount { sum &+= Int(bind.resultFormat(column: column).rawValue) }
        case UInt8(ascii: "D"): _ = try DescribeMessage(body: body)
        case UInt8(ascii: "C"): _ = try CloseMessage(body: body)
        case UInt8(ascii: "E"): _ = try ExecuteMessage(body: body)
        case UInt8(ascii: "f"): _ = try CopyFailMessage(body: body)
        default: break
        }
        return true
    } catch {
        return false
    }
}
