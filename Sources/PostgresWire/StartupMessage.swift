/// The StartupMessage of protocol 3: who the client is, and what it would like to have set.
public struct StartupMessage: Sendable {
    /// The major version spoken here.
    static let majorVersion: Int32 = 3
    /// The newest minor version spoken here: 3.2, of PostgreSQL 18, which knows cancel keys longer than four bytes.
    public static let newestMinorVersion = 2

    /// The minor version the client asked for.
    public let minorVersion: Int
    /// The parameters in the order sent, without protocol options. Nothing in them is known to be true or harmless.
    public let parameters: [(String, String)]
    /// "Parameter names beginning with _pq_. are reserved for use as protocol extensions": none is known here.
    public let unsupportedProtocolOptions: [String]

    /// Whether NegotiateProtocolVersion has to be sent: "The server does not support the minor protocol version requested
    /// by the client, but does support an earlier version of the protocol; this message indicates the highest supported
    /// minor version. This message will also be sent if the client requested unsupported protocol options (i.e., beginning
    /// with _pq_.) in the startup packet", https://www.postgresql.org/docs/current/protocol-flow.html.
    /// Without it the greased handshake of libpq 19 betas (version 3.9999) fails.
    public var needsNegotiation: Bool {
        minorVersion > Self.newestMinorVersion || !unsupportedProtocolOptions.isEmpty
    }

    /// The minor version to be spoken, and to be named in the negotiation. 3.1 does not exist, but PostgreSQL lets a
    /// client have it: it behaves as 3.0.
    public var effectiveMinor: Int { min(minorVersion, Self.newestMinorVersion) }

    /// Nil when missing or empty: "no PostgreSQL user name specified in startup packet" is 28000.
    public var user: String? { self["user"].flatMap { $0.isEmpty ? nil : $0 } }

    /// Nil when missing or empty: "Defaults to the user name."
    public var database: String? { self["database"].flatMap { $0.isEmpty ? nil : $0 } }

    /// A parameter's value. Of several with the same name the last one counts, as in PostgreSQL.
    public subscript(name: String) -> String? {
        parameters.last { $0.0 == name }?.1
    }

    /// Why a protocol version is refused: only the major version can be wrong.
    static func refusal(version: Int) -> WireError? {
        let (major, minor) = (version >> 16 & 0xFFFF, version & 0xFFFF)
        guard major != Int(majorVersion) else { return nil }
        return WireError(
            severity: .fatal, state: .featureNotSupported,
            message: "unsupported frontend protocol \(major).\(minor): server supports 3.0 to 3.\(newestMinorVersion)")
    }

    /// Reads the names and values behind the version. "A zero byte is required as a terminator after the last
    /// name/value pair", and nothing may follow it.
    init(minorVersion: Int, body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = MessageReader(body)
        var parameters: [(String, String)] = []
        var options: [String] = []
        do throws(WireError) {
            while true {
                let name = try Self.text(reader.cString())
                if name.isEmpty { break }
                let value = try Self.text(reader.cString())
                if name.hasPrefix("_pq_.") {
                    options.append(name)
                } else {
                    parameters.append((name, value))
                }
            }
            try reader.finish()
        } catch let error where error.state == .protocolViolation {
            throw .lostSynchronization("invalid startup packet layout: expected terminator as last byte")
        }
        self.minorVersion = minorVersion
        self.parameters = parameters
        unsupportedProtocolOptions = options
    }

    /// Bytes that are no text are refused and not repaired: two different names must not become one.
    private static func text(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw WireError(
                severity: .fatal, state: .characterNotInRepertoire,
                message: "invalid byte sequence for encoding \"UTF8\" in startup packet")
        }
        return text
    }
}
