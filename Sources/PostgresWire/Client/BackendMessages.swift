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

/// ParameterStatus ('S').
public struct ParameterStatusMessage {
    public let name: UnsafeRawBufferPointer
    public let value: UnsafeRawBufferPointer

    public init(body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = MessageReader(body)
        name = try reader.cString()
        value = try reader.cString()
        try reader.finish()
    }
}

/// BackendKeyData ('K').
public struct BackendKeyDataMessage {
    public let processID: Int32
    public let key: UnsafeRawBufferPointer

    public init(body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = MessageReader(body)
        processID = Int32(try reader.int32())
        key = try reader.bytes(body.count - 4)
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

/// CommandComplete ('C').
public struct CommandCompleteMessage {
    /// "SELECT 5".
    public let tag: UnsafeRawBufferPointer

    public init(body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = MessageReader(body)
        tag = try reader.cString()
        try reader.finish()
    }

    /// The count behind the last blank; nil when there is none.
    public var rows: Int? {
        var rows = 0
        var scale = 1
        var digits = 0
        for byte in tag.reversed() {
            if byte == UInt8(ascii: " ") { return digits > 0 ? rows : nil }
            // A count that does not fit is none.
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9"), digits < 18 else { return nil }
            rows += Int(byte - UInt8(ascii: "0")) * scale
            scale *= 10
            digits += 1
        }
        return nil
    }
}

/// DataRow ('D'): the values in order, nil for NULL.
public struct DataRowMessage {
    public let values: [UnsafeRawBufferPointer?]

    public init(body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = MessageReader(body)
        var values: [UnsafeRawBufferPointer?] = []
        for _ in 0..<(try reader.count()) {
            let length = try reader.int32()
            values.append(length == -1 ? nil : try reader.bytes(length))
        }
        try reader.finish()
        self.values = values
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
