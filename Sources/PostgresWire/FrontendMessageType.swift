/// The messages that a client sends once it has started, by their first byte.
/// https://www.postgresql.org/docs/current/protocol-message-formats.html
public enum FrontendMessageType: UInt8, CaseIterable, Sendable {
    /// B
    case bind = 0x42
    /// C
    case close = 0x43
    /// D
    case describe = 0x44
    /// E
    case execute = 0x45
    /// F
    case functionCall = 0x46
    /// H
    case flush = 0x48
    /// P
    case parse = 0x50
    /// Q
    case query = 0x51
    /// S
    case sync = 0x53
    /// X
    case terminate = 0x58
    /// c
    case copyDone = 0x63
    /// d
    case copyData = 0x64
    /// f
    case copyFail = 0x66
    /// p: PasswordMessage, and those of SASL and GSSAPI, which have the same byte
    case password = 0x70
}
