/// What a client's input holds at some place.
public enum BackendFrame {
    /// Not even the head of a message has arrived.
    case incomplete
    /// A whole message; where its body is, and where the next one begins.
    case message(type: UInt8, body: Range<Int>, next: Int)
    /// The head has arrived, but of the body so many bytes are missing.
    case partial(type: UInt8, missing: Int)
    /// Not a message. The connection cannot be read any further. Boxed, so that the common cases stay small.
    indirect case invalid(WireError)
}

/// Cuts what a server sends into messages. The format is the one that `FrameDecoder` reads; the types are others.
public enum BackendFrameDecoder {
    /// PostgreSQL's own limit of a message.
    static let longestBody = OutputBuffer.maximumMessageLength
    /// Messages that carry neither rows nor texts are short. libpq has the same limit: "VALID_LONG_MESSAGE_TYPE" and
    /// 30,000 bytes in src/interfaces/libpq/fe-protocol3.c.
    static let longestShortBody = 30_000

    /// The message that begins at `position`. One of a type that no server sends, or longer than its type can be, is invalid as soon as its
    /// head has arrived.
    @inlinable @inline(__always)
    public static func next(in buffer: UnsafeRawBufferPointer, at position: Int) -> BackendFrame {
        // Compared by subtraction: positions cannot overflow, sums could.
        let available = buffer.count - position
        guard position >= 0, available >= 5 else { return .incomplete }
        let type = buffer[position]
        let length = Int(Int32(bigEndian: buffer.loadUnaligned(fromByteOffset: position + 1, as: Int32.self)))
        guard length >= 4, length - 4 <= longest(type) else { return refuse(type, length) }
        guard available - 1 >= length else { return .partial(type: type, missing: length - (available - 1)) }
        let next = position + 1 + length
        return .message(type: type, body: position + 5..<next, next: next)
    }

    /// The longest body of a message type; negative for what is none.
    @usableFromInline
    static func longest(_ type: UInt8) -> Int {
        switch type {
        // RowDescription, DataRow, CopyData, ErrorResponse, NoticeResponse, NotificationResponse, FunctionCallResponse
        case UInt8(ascii: "T"), UInt8(ascii: "D"), UInt8(ascii: "d"), UInt8(ascii: "E"), UInt8(ascii: "N"),
            UInt8(ascii: "A"), UInt8(ascii: "V"), UInt8(ascii: "t"):
            longestBody
        case UInt8(ascii: "1"), UInt8(ascii: "2"), UInt8(ascii: "3"), UInt8(ascii: "C"), UInt8(ascii: "Z"),
            UInt8(ascii: "S"), UInt8(ascii: "K"), UInt8(ascii: "R"), UInt8(ascii: "I"), UInt8(ascii: "n"),
            UInt8(ascii: "s"), UInt8(ascii: "c"), UInt8(ascii: "G"), UInt8(ascii: "H"), UInt8(ascii: "W"),
            UInt8(ascii: "v"):
            longestShortBody
        default: -1
        }
    }

    @usableFromInline @inline(never)
    static func refuse(_ type: UInt8, _ length: Int) -> BackendFrame {
        .invalid(.lostSynchronization("a server's message of type \(type) claims \(length) bytes"))
    }
}
