/// What a client that has not started a session yet has sent. These messages have no type byte: "For historical
/// reasons, the very first message sent by the client (the startup message) has no initial message-type byte",
/// https://www.postgresql.org/docs/current/protocol-overview.html
public enum StartupFrame {
    case incomplete
    /// To be answered with one byte, 'N' or 'S'; then the client starts afresh at `next`.
    case sslRequest(next: Int)
    /// To be answered with one byte, 'N' or 'G'; then the client starts afresh at `next`.
    case gssEncryptionRequest(next: Int)
    /// To be acted upon and never answered. Compare the key in constant time.
    case cancel(processID: Int32, key: [UInt8], next: Int)
    case startup(StartupMessage, next: Int)
    /// The first four bytes are an HTTP request's. As a length they would be far too much, so they mean only that.
    case http
    case invalid(WireError)
}

extension FrameDecoder {
    /// PostgreSQL's MAX_STARTUP_PACKET_LENGTH (src/include/libpq/pqcomm.h).
    static let startupMessageLimit = 10_000

    // The request codes have 1234 in the upper half, which no protocol version will ever have.
    private static let cancelRequest = 80_877_102
    private static let sslRequest = 80_877_103
    private static let gssEncryptionRequest = 80_877_104

    /// The startup packet or request that begins at `position`.
    public static func nextStartup(in buffer: UnsafeRawBufferPointer, at position: Int) -> StartupFrame {
        guard position >= 0, position < buffer.count else { return .incomplete }
        let packet = UnsafeRawBufferPointer(rebasing: buffer[position...])
        // A TLS handshake begins with 0x16. As a length that byte would be far too much, so it means only that.
        if packet[0] == 0x16 {
            return .invalid(
                .lostSynchronization(
                    "received a TLS handshake instead of a startup packet",
                    detail: "This server does not speak TLS.",
                    hint: "Connect with sslmode=disable and without sslnegotiation=direct."))
        }
        guard packet.count >= 4 else { return .incomplete }
        let length = Int(Int32(bigEndian: packet.loadUnaligned(as: Int32.self)))
        guard length >= 8, length <= startupMessageLimit else {
            return isHTTP(packet) ? .http : .invalid(.lostSynchronization("invalid length of startup packet"))
        }
        guard packet.count >= 8 else { return .incomplete }
        let code = Int(Int32(bigEndian: packet.loadUnaligned(fromByteOffset: 4, as: Int32.self)))
        // A length that cannot be right for the request is refused before the bytes it promises are awaited.
        switch code {
        case sslRequest, gssEncryptionRequest:
            guard length == 8 else { return .invalid(.lostSynchronization("invalid length of startup packet")) }
        case cancelRequest:
            // "The minimum and maximum key length are 4 and 256 bytes".
            guard (16...268).contains(length) else {
                return .invalid(.lostSynchronization("invalid length of query cancel packet"))
            }
        default:
            if let refusal = StartupMessage.refusal(version: code) { return .invalid(refusal) }
        }
        guard packet.count >= length else { return .incomplete }
        let next = position + length
        let body = UnsafeRawBufferPointer(rebasing: packet[8..<length])
        switch code {
        case sslRequest: return .sslRequest(next: next)
        case gssEncryptionRequest: return .gssEncryptionRequest(next: next)
        case cancelRequest:
            let processID = Int32(bigEndian: body.loadUnaligned(as: Int32.self))
            return .cancel(processID: processID, key: Array(body[4...]), next: next)
        default:
            do throws(WireError) {
                return .startup(try StartupMessage(minorVersion: code & 0xFFFF, body: body), next: next)
            } catch {
                return .invalid(error)
            }
        }
    }

    private static func isHTTP(_ packet: UnsafeRawBufferPointer) -> Bool {
        let methods: [StaticString] = ["GET ", "POST", "HEAD", "PUT ", "DELE", "OPTI", "PATC", "CONN", "TRAC", "PRI "]
        return methods.contains { method in method.withUTF8Buffer { $0.elementsEqual(packet.prefix(4)) } }
    }
}
