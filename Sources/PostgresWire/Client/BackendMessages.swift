// What a client reads of a server's messages. Each is a view into the body it was read from, or a value of its own.
// https://www.postgresql.org/docs/current/protocol-message-formats.html

/// Authentication ('R'): what the server wants to know of the client.
public struct AuthenticationMessage {
    /// 0 is AuthenticationOk: nothing.
    public let request: Int

    /// Reads the request; what follows it depends on that, and is not looked at.
    ///
    /// - Throws: 08P01 when the body has fewer than four bytes.
    public init(body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = MessageReader(body)
        request = try reader.int32()
    }
}

/// ReadyForQuery ('Z').
public struct ReadyForQueryMessage {
    /// Its only field.
    public let status: TransactionStatus

    /// Reads the body: one byte.
    ///
    /// - Throws: 08P01, as FATAL, when the body is not one byte, or another than I, T or E.
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
    /// Field `C`, the SQLSTATE; empty when the server sends none.
    public private(set) var state = ""
    /// Field `M`; empty when the server sends none.
    public private(set) var message = ""
    /// Field `D`; nil when there is none.
    public private(set) var detail: String?
    /// Field `H`; nil when there is none.
    public private(set) var hint: String?

    /// Reads the fields. What is no UTF-8 in them is repaired.
    ///
    /// - Throws: 08P01 when a field has no NUL, no zero byte ends the last, or something follows it.
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
