import Testing

@testable import PostgresWire

/// What the client's side writes is what the server's side reads.
@Suite struct FrontendEncodingTests {
    /// The one message that was encoded, cut and decoded.
    static func only<Result>(_ type: Character, _ encode: (OutputBuffer) -> Void, _ decode: (UnsafeRawBufferPointer) throws -> Result)
        throws -> Result
    {
        let bytes = encoded(encode)
        return try withRaw(bytes) { buffer in
            guard case .message(let found, let body, bytes.count) = FrameDecoder.next(in: buffer, at: 0, maximumBodyLength: 1 << 20),
                found.rawValue == type.asciiValue
            else {
                throw WireError.protocolViolation("not one message of type \(type)")
            }
            return try decode(UnsafeRawBufferPointer(rebasing: buffer[body]))
        }
    }

    @Test func startup() throws {
        let bytes = encoded { $0.startup([("user", "ann"), ("database", "app")]) }
        let frame = withRaw(bytes) { FrameDecoder.nextStartup(in: $0, at: 0) }
        guard case .startup(let message, bytes.count) = frame else { throw WireError.protocolViolation("\(frame)") }
        #expect(message.user == "ann" && message.database == "app" && message.minorVersion == 0)
    }

    @Test func cancelRequest() throws {
        let bytes = encoded { out in [UInt8]([9, 8, 7, 6]).withUnsafeBytes { out.cancelRequest(processID: 258, key: $0) } }
        let frame = withRaw(bytes) { FrameDecoder.nextStartup(in: $0, at: 0) }
        guard case .cancel(258, [9, 8, 7, 6], 16) = frame else {
            Issue.record("\(frame)")
            return
        }
    }

    @Test func query() throws {
        let sql = try Self.only("Q", { $0.query("SELECT 'ü'") }, { string(try QueryMessage(body: $0).sql) })
        #expect(sql == "SELECT 'ü'")
    }

    @Test func parse() throws {
        try Self.only("P", { $0.parse(name: "s1", sql: "SELECT $1", types: [TypeOID(20)]) }) { body in
            let message = try ParseMessage(body: body)
            #expect(string(message.name) == "s1" && string(message.sql) == "SELECT $1" && message.parameterTypes == [TypeOID(20)])
        }
    }

    @Test func execute() throws {
        #expect(try Self.only("E", { $0.execute() }, { try ExecuteMessage(body: $0).maxRows }) == 0)
    }

    @Test func withoutBody() {
        #expect(encoded { $0.sync() } == message("S"))
        #expect(encoded { $0.terminate() } == message("X"))
    }
}
