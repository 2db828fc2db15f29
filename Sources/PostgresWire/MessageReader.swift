import Glibc

/// Reads a message body from front to back, believing no length it has not compared with what is left.
/// The error texts are PostgreSQL's (src/backend/libpq/pqformat.c). Inlined: a Bind is read with a dozen of these, and each
/// call costs more than what it does.
struct MessageReader {
    private let body: UnsafeRawBufferPointer
    private var position = 0

    init(_ body: UnsafeRawBufferPointer) {
        self.body = body
    }

    private var left: Int { body.count - position }

    @inline(__always)
    mutating func byte() throws(WireError) -> UInt8 {
        guard left >= 1 else { throw .protocolViolation("no data left in message") }
        defer { position += 1 }
        return body[position]
    }

    /// A count: two bytes, unsigned, as PostgreSQL reads them, so that 65,535 parameters are possible.
    @inline(__always)
    mutating func count() throws(WireError) -> Int {
        guard left >= 2 else { throw .protocolViolation("insufficient data left in message") }
        defer { position += 2 }
        return Int(UInt16(bigEndian: body.loadUnaligned(fromByteOffset: position, as: UInt16.self)))
    }

    @inline(__always)
    mutating func int32() throws(WireError) -> Int {
        guard left >= 4 else { throw .protocolViolation("insufficient data left in message") }
        defer { position += 4 }
        return Int(Int32(bigEndian: body.loadUnaligned(fromByteOffset: position, as: Int32.self)))
    }

    @inline(__always)
    mutating func bytes(_ length: Int) throws(WireError) -> UnsafeRawBufferPointer {
        guard length >= 0, length <= left else {
            throw .protocolViolation("insufficient data left in message")
        }
        defer { position += length }
        return UnsafeRawBufferPointer(rebasing: body[position..<position + length])
    }

    /// A string without its NUL, which must be there.
    @inline(__always)
    mutating func cString() throws(WireError) -> UnsafeRawBufferPointer {
        guard left > 0, let base = body.baseAddress, let nul = memchr(base + position, 0, left) else {
            throw .protocolViolation("invalid string in message")
        }
        let text = try bytes(UnsafeRawPointer(nul) - (base + position))
        position += 1
        return text
    }

    /// Everything up to here, from a position taken earlier.
    @inline(__always)
    func since(_ earlier: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: body[earlier..<position])
    }

    var mark: Int { position }

    /// Nothing may follow.
    @inline(__always)
    func finish() throws(WireError) {
        guard left == 0 else { throw .protocolViolation("invalid message format") }
    }
}
