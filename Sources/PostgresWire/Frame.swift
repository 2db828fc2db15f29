/// What the front of the input buffer holds.
public enum Frame {
    /// The message has not arrived in full.
    case incomplete
    /// A message of this type; its body, and where the next one begins.
    case message(type: FrontendMessageType, body: Range<Int>, next: Int)
    /// Not a message. The connection cannot be read any further. Boxed, so that the common cases stay small.
    indirect case invalid(WireError)
}

/// Cuts the input into messages. "The first byte of a message identifies the message type, and the next four bytes
/// specify the length of the rest of the message (this length count includes itself, but not the message-type byte)",
/// https://www.postgresql.org/docs/current/protocol-overview.html
public enum FrameDecoder {
    /// PostgreSQL's PQ_SMALL_MESSAGE_LIMIT (src/include/libpq/libpq.h), for messages that carry no SQL and no data.
    static let smallMessageLimit = 10_000

    /// The message that begins at `position`. Nothing is believed beyond the bytes that are there, and a message
    /// that will be refused is refused as soon as its head has arrived, before anyone buffers the rest.
    public static func next(
        in buffer: UnsafeRawBufferPointer, at position: Int, maximumBodyLength: Int
    ) -> Frame {
        guard position >= 0, position < buffer.count else { return .incomplete }
        guard let type = FrontendMessageType(rawValue: buffer[position]) else {
            return .invalid(.lostSynchronization("invalid frontend message type \(buffer[position])"))
        }
        let limit = limit(of: type, maximumBodyLength: maximumBodyLength)
        // Compared by subtraction: positions cannot overflow, sums could.
        let available = buffer.count - position
        guard available >= 5 else { return .incomplete }
        let length = Int(Int32(bigEndian: buffer.loadUnaligned(fromByteOffset: position + 1, as: Int32.self)))
        guard length >= 4, length - 4 <= limit else {
            return .invalid(
                .lostSynchronization(
                    "invalid message length",
                    detail: "A message of type \(describe(type)) claims \(length) bytes; at most \(limit + 4) are allowed."))
        }
        guard available - 1 >= length else { return .incomplete }
        let next = position + 1 + length
        return .message(type: type, body: position + 5..<next, next: next)
    }

    /// The longest body of a message of this type.
    @inline(__always)
    private static func limit(of type: FrontendMessageType, maximumBodyLength: Int) -> Int {
        switch type {
        case .query, .parse, .bind, .functionCall, .copyData: maximumBodyLength
        case .sync, .flush, .describe, .close, .execute, .terminate, .copyDone, .copyFail, .password:
            min(smallMessageLimit - 4, maximumBodyLength)
        }
    }

    private static func describe(_ type: FrontendMessageType) -> String {
        "\"\(Character(Unicode.Scalar(type.rawValue)))\""
    }
}
