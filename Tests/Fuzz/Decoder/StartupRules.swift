@testable import PostgresWire

/// What comes before a session has started.
enum StartupRules {
    static func check(_ bytes: UnsafeRawBufferPointer) {
        let whole = read(bytes)
        for arrived in 0...bytes.count {
            let sofar = read(UnsafeRawBufferPointer(rebasing: bytes[..<arrived]))
            guard sofar != "incomplete" else { continue }
            require(sofar == whole, "a startup packet does not depend on how its bytes arrive")
            break
        }
    }

    /// What the packet is, as text to compare.
    private static func read(_ bytes: UnsafeRawBufferPointer) -> String {
        switch FrameDecoder.nextStartup(in: bytes, at: 0) {
        case .incomplete: return "incomplete"
        case .sslRequest(let next), .gssEncryptionRequest(let next):
            require(next == 8, "a request for encryption has 8 bytes")
            return "encryption"
        case .cancel(let processID, let key, let next):
            require(next <= bytes.count && (4...256).contains(key.count), "a cancel key has 4 to 256 bytes")
            return "cancel \(processID) \(key)"
        case .startup(let message, let next):
            require(next <= bytes.count, "a startup message lies within what has arrived")
            return describe(message)
        case .http: return "HTTP"
        case .invalid(let error):
            require(error.severity == .fatal, "a bad startup packet ends the session")
            return "invalid \(error.message)"
        }
    }

    private static func describe(_ message: StartupMessage) -> String {
        require(message.effectiveMinor <= StartupMessage.newestMinorVersion, "no newer version is spoken than is known")
        require(message.user != "" && message.database != "", "an empty name is none")
        for (name, value) in message.parameters {
            require(!name.isEmpty && !name.utf8.contains(0) && !value.utf8.contains(0), "names and values hold no NUL")
        }
        var options = "refused"
        do {
            let settings = try message.optionSettings()
            for (name, _) in settings { require(!name.isEmpty, "an option has a name") }
            options = settings.map { "\($0.0)=\($0.1)" }.joined(separator: " ")
        } catch {
            require(error.severity == .fatal, "bad options end the session")
        }
        return "startup \(message.minorVersion) \(message.parameters) \(message.unsupportedProtocolOptions) \(options)"
    }
}
