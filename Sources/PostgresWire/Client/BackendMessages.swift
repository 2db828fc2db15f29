// What a client reads of a server's messages. Each is a view into the body it was read from, or a value of its own.
// https://www.postgresql.org/docs/current/protocol-message-formats.html

/// Authentication ('R'): what the server wants to know of the client.
public struct AuthenticationMessage {
    /// 0 is AuthenticationOk: nothing.
    public let request: Int

    public init(body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = MessageReader(body)
        request = try reader.int32()
    }
}

/// ReadyForQuery ('Z').
public struct ReadyForQueryMessage {
    public let status: TransactionStatus

    @inline(__always)
    public init(body: UnsafeRawBufferPointer) throws(WireError) {
        guard body.count == 1, let status = TransactionStatus(rawValue: body[0]) else {
            throw .lostSynchronization("a ReadyForQuery that tells no status")
        }
        self.status = status
    }
}

/// ErrorResponse ('E') and NoticeResponse ('N').
public struct ReportMessage: Equatable, Sendable {
    /// Never translated: ERROR, FATAL or PANIC, or a notice's. Empty when the server does not tell, before PostgreSQL 9.6.
    public private(set) var severity = ""
    public private(set) var state = ""
    public private(set) var message = ""
    public private(set) var detail: String?
    public private(set) var hint: String?

    public init(body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = MessageReader(body)
        while true {
            let code = try reader.byte()
            if code == 0 { break }
            let text = String(decoding: try reader.cString(), as: UTF8.self)
            switch code {
            case UInt8(ascii: "V"): severity = text
            case UInt8(ascii: "C"): state = text
            case UInt8(ascii: "M"): message = text
            case UInt8(ascii: "D"): detail = text
            case UInt8(ascii: "H"): hint = text
            // "frontends should silently ignore fields of unrecognized type"
            default: break
            }
        }
        try reader.finish()
    }
}
