import TestSupport
import Testing

@testable import PostgresWire

/// What the server's side writes is what the client's side reads.
@Suite struct BackendReadingTests {
    static func describe(_ bytes: [UInt8], at position: Int = 0) -> String {
        withRaw(bytes) { buffer in
            switch BackendFrameDecoder.next(in: buffer, at: position) {
            case .incomplete: "incomplete"
            case .message(let type, let body, let next): "\(Character(Unicode.Scalar(type))) \(body) \(next)"
            case .partial(let type, let missing): "\(Character(Unicode.Scalar(type))) lacks \(missing)"
            case .invalid(let error): "\(error.severity.rawValue) \(error.state)"
            }
        }
    }

    /// The body of the one message that was encoded.
    static func only<Result>(_ encode: (OutputBuffer) -> Void, _ decode: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        let bytes = encoded(encode)
        return try withRaw(bytes) { buffer in
            guard case .message(_, let body, bytes.count) = BackendFrameDecoder.next(in: buffer, at: 0) else {
                throw WireError.protocolViolation(describe(bytes))
            }
            return try decode(UnsafeRawBufferPointer(rebasing: buffer[body]))
        }
    }

    /// Every message that the server has.
    @Test(arguments: BackendMessageTests.cases)
    func everyMessageOfTheServer(_ message: BackendMessageTests.Case) {
        var position = 0
        while position < message.expected.count {
            guard case .message(_, _, let next) = withRaw(message.expected, { BackendFrameDecoder.next(in: $0, at: position) }) else {
                Issue.record("\(Self.describe(message.expected, at: position))")
                return
            }
            position = next
        }
        #expect(position == message.expected.count)
    }

    @Test func cutAnywhere() {
        let bytes = message("D", .i16(1), .i32(3), .text("abc"))
        for cut in 0..<bytes.count {
            let expected = cut < 5 ? "incomplete" : "D lacks \(bytes.count - cut)"
            #expect(Self.describe(Array(bytes.prefix(cut))) == expected)
        }
        #expect(Self.describe(bytes + [0x5A]) == "D 5..<14 14")
        #expect(Self.describe(bytes + [0x5A], at: 14) == "incomplete")
        #expect(Self.describe(bytes, at: -1) == "incomplete")
    }

    @Test(arguments: [0, 3, -1, Int(Int32.min), 30_005])
    func impossibleLengths(_ length: Int) {
        #expect(Self.describe(body(.i8(0x5A), .i32(length))) == "FATAL 08P01")
    }

    @Test func rowsMayBeLong() {
        #expect(Self.describe(body(.i8(0x44), .i32(1 << 30))) == "D lacks \((1 << 30) - 4)")
        #expect(Self.describe(body(.i8(0x44), .i32((1 << 30) + 5))) == "FATAL 08P01")
    }

    @Test func unknownTypes() {
        for type in UInt8.min...UInt8.max where !"TDdENAVt123CZSKRInscGHWv".utf8.contains(type) {
            #expect(Self.describe(body(.i8(type), .i32(4))) == "FATAL 08P01")
        }
    }

    @Test func reports() throws {
        let error = WireError(
            state: .syntaxError, message: "near \"SELEC\"", detail: "d", hint: "h", position: 3, table: "t")
        let report = try Self.only({ $0.error(error) }, { try ReportMessage(body: $0) })
        #expect(report.severity == "ERROR" && report.state == "42601" && report.message == "near \"SELEC\"")
        #expect(report.detail == "d" && report.hint == "h")
        #expect(throws: WireError.self) { try withRaw(body(.text("Mno end"))) { try ReportMessage(body: $0) } }
    }

    @Test(arguments: [TransactionStatus.idle, .inTransaction, .failed])
    func readyForQuery(_ status: TransactionStatus) throws {
        #expect(try Self.only({ $0.readyForQuery(status) }, { try ReadyForQueryMessage(body: $0).status }) == status)
    }

    @Test(arguments: [[], [0x58], [0x49, 0x49]])
    func noStatus(_ bytes: [UInt8]) {
        #expect(throws: WireError.self) { try withRaw(bytes) { try ReadyForQueryMessage(body: $0) } }
    }

    @Test func authentication() throws {
        #expect(try Self.only({ $0.authenticationOk() }, { try AuthenticationMessage(body: $0).request }) == 0)
    }

    /// No bytes make a reader read beyond them or trap.
    @Test func randomBodies() {
        var generator = SeededGenerator(state: 5)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...20, using: &generator)).map { _ in UInt8.random(in: 0...9, using: &generator) }
            withRaw(bytes) { body in
                _ = try? AuthenticationMessage(body: body)
                _ = try? ReadyForQueryMessage(body: body)
                _ = try? ReportMessage(body: body)
                _ = BackendFrameDecoder.next(in: body, at: 0)
            }
        }
    }
}
