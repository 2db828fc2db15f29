import Testing

@testable import PostgresWire

@Suite struct StartupTests {
    static func decode(_ bytes: [UInt8], at position: Int = 0) -> StartupFrame {
        withRaw(bytes) { FrameDecoder.nextStartup(in: $0, at: position) }
    }

    static func message(_ bytes: [UInt8]) -> StartupMessage? {
        guard case .startup(let message, let next) = decode(bytes), next == bytes.count else { return nil }
        return message
    }

    static func refusal(_ bytes: [UInt8]) -> WireError? {
        guard case .invalid(let error) = decode(bytes) else { return nil }
        #expect(error.severity == .fatal)
        return error
    }

    @Test(arguments: [0, 1, 2, 3, 9999, 65_535], [0, 1, 5])
    func negotiation(minor: Int, options: Int) throws {
        let names = (0..<options).map { "_pq_.option\($0)" }
        let message = try #require(
            Self.message(startup(minor: minor, [("user", "ann")] + names.map { ($0, "1") } + [("database", "app")])))
        #expect(message.minorVersion == minor)
        #expect(message.effectiveMinor == min(minor, 2))
        #expect(message.needsNegotiation == (minor > 2 || options > 0))
        #expect(message.unsupportedProtocolOptions == names)
        #expect(message.parameters.map(\.0) == ["user", "database"])
        #expect(message.user == "ann" && message.database == "app")
    }

    @Test(arguments: [0, 1, 2, 4, 1234, 65_535])
    func otherMajorVersions(_ major: Int) throws {
        // The 8 bytes of length and version are enough for the refusal.
        for bytes in [startup(major: major, [("user", "ann")]), Array(startup(major: major, [("a", "b")]).prefix(8))] {
            let error = try #require(Self.refusal(bytes))
            #expect(error.state == .featureNotSupported)
            #expect(error.message == "unsupported frontend protocol \(major).0: server supports 3.0 to 3.2")
        }
    }

    @Test func requests() {
        let ssl = body(.i32(8), .i32(80_877_103))
        guard case .sslRequest(next: 8) = Self.decode(ssl) else { return #expect(Bool(false)) }
        guard case .gssEncryptionRequest(next: 16) = Self.decode(ssl + body(.i32(8), .i32(80_877_104)), at: 8)
        else { return #expect(Bool(false)) }
        for length in [9, 12, 10_000] {
            #expect(Self.refusal(body(.i32(length), .i32(80_877_103)))?.state == .protocolViolation)
            #expect(Self.refusal(body(.i32(length), .i32(80_877_104)))?.state == .protocolViolation)
        }
    }

    @Test(arguments: [4, 32, 256])
    func cancel(keyLength: Int) {
        let key = (0..<keyLength).map { UInt8(truncatingIfNeeded: $0) }
        let bytes = body(.i32(12 + keyLength), .i32(80_877_102), .i32(-5), .raw(key))
        guard case .cancel(processID: -5, let received, let next) = Self.decode(bytes) else { return #expect(Bool(false)) }
        #expect(received == key && next == bytes.count)
    }

    @Test(arguments: [8, 12, 15, 269, 10_000])
    func cancelOfWrongLength(_ length: Int) {
        #expect(Self.refusal(body(.i32(length), .i32(80_877_102)))?.state == .protocolViolation)
    }

    @Test(arguments: [-1, 0, 3, 4, 7, 10_001, Int(Int32.max), Int(Int32.min)])
    func impossibleLengths(_ length: Int) {
        #expect(Self.refusal(body(.i32(length)))?.state == .protocolViolation)
    }

    @Test func otherProtocolsAreNamed() {
        #expect(Self.refusal([0x16])?.message.contains("TLS") == true)
        #expect(Self.refusal([0x16, 3, 1, 2, 0, 1, 0, 1])?.message.contains("TLS") == true)
        for request in ["GET / HTTP/1.1\r\n", "POST", "PRI * HTTP/2.0"] {
            guard case .http = Self.decode(Array(request.utf8)) else { return #expect(Bool(false), "\(request)") }
        }
        #expect(Self.refusal(Array("EHLO".utf8))?.message == "invalid length of startup packet")
    }

    @Test func everyPrefixIsIncomplete() {
        for valid in [
            startup([("user", "a"), ("database", "b")]), startup(minor: 2, []), body(.i32(8), .i32(80_877_103)),
            body(.i32(16), .i32(80_877_102), .i32(1), .i32(2)),
        ] {
            for cut in 0..<valid.count {
                guard case .incomplete = Self.decode(Array(valid.prefix(cut))) else { return #expect(Bool(false)) }
            }
        }
    }

    @Test func brokenLayout() {
        for rest: [UInt8] in [
            [], [0, 0], Array("user".utf8), body(.cString("user")), body(.cString("user"), .cString("a")),
            body(.cString("user"), .cString("a"), .i8(0), .cString("x")), body(.cString("user"), .text("a")),
        ] {
            let bytes = body(.i32(8 + rest.count), .i32(0x30000), .raw(rest))
            #expect(Self.refusal(bytes)?.state == .protocolViolation, "\(rest)")
        }
    }

    @Test func namesAreOnlyWhatTheClientSent() throws {
        let long = String(repeating: "x", count: 9_900)
        #expect(Self.message(startup([("user", long)]))?.user == long)
        let odd = try #require(Self.message(startup([("user", ""), ("database", "../-a"), ("user", "last")])))
        #expect(odd.user == "last" && odd.database == "../-a")
        #expect(Self.message(startup([("user", "")]))?.user == nil)
        let invalid = body(.cString("user"), .raw([0xC3, 0x28, 0]), .i8(0))
        #expect(Self.refusal(body(.i32(8 + invalid.count), .i32(0x30000), .raw(invalid)))?.state == .characterNotInRepertoire)
    }

    @Test(arguments: [
        ("", ""), ("  ", ""), ("-c a=b", "a=b"), ("-ca=b", "a=b"), ("--a-b=c", "a_b=c"), ("-c a=", "a="),
        ("  -c  a=b\t--c=d=e ", "a=b;c=d=e"), (#"-c a=b\ c\\d"#, #"a=b c\d"#), (#"-c\ a=b"#, " a=b"), ("-c a=ü", "a=ü"),
        ("-c", "42601"), ("-c a", "42601"), ("-c =b", "42601"), ("--a", "42601"), ("--", "42601"), ("-B 5", "42601"), ("x", "42601"),
    ])
    func options(_ text: String, _ expected: String) throws {
        let message = try #require(Self.message(startup([("user", "a"), ("options", text)])))
        do throws(WireError) {
            let settings = try message.optionSettings()
            #expect(settings.map { "\($0)=\($1)" }.joined(separator: ";") == expected)
        } catch {
            #expect(error.state.code == expected && error.severity == .fatal)
        }
    }
}
