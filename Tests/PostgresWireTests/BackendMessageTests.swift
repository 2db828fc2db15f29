import Testing

@testable import PostgresWire

/// Golden bytes of https://www.postgresql.org/docs/current/protocol-message-formats.html
@Suite struct BackendMessageTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let expected: [UInt8]
        let encode: @Sendable (OutputBuffer) -> Void

        init(_ name: String, _ expected: [UInt8], _ encode: @escaping @Sendable (OutputBuffer) -> Void) {
            testDescription = name
            self.expected = expected
            self.encode = encode
        }
    }

    static let cases: [Case] = [
        Case("AuthenticationOk", [0x52, 0, 0, 0, 8, 0, 0, 0, 0]) { $0.authenticationOk() },
        Case("BackendKeyData 3.0", [0x4B, 0, 0, 0, 12, 0, 0, 1, 2, 9, 8, 7, 6]) {
            $0.backendKeyData(processID: 258, key: [9, 8, 7, 6])
        },
        Case("BackendKeyData 3.2", message("K", .i32(1), .raw(Array(repeating: 5, count: 32)))) {
            $0.backendKeyData(processID: 1, key: Array(repeating: 5, count: 32))
        },
        Case("ParameterStatus", message("S", .cString("TimeZone"), .cString("Europe/Zürich"))) {
            $0.parameterStatus("TimeZone", "Europe/Zürich")
        },
        Case("ParameterStatus, NUL cut", message("S", .cString("a"), .cString("b"))) { $0.parameterStatus("a\0x", "b\0") },
        Case("NegotiateProtocolVersion", message("v", .i32(0x30002), .i32(2), .cString("_pq_.a"), .cString("_pq_.b"))) {
            $0.negotiateProtocolVersion(newestMinor: 2, unsupported: ["_pq_.a", "_pq_.b"])
        },
        Case("NegotiateProtocolVersion, none", message("v", .i32(0x30000), .i32(0))) {
            $0.negotiateProtocolVersion(newestMinor: 0, unsupported: [])
        },
        Case("ReadyForQuery I", [0x5A, 0, 0, 0, 5, 0x49]) { $0.readyForQuery(.idle) },
        Case("ReadyForQuery T", [0x5A, 0, 0, 0, 5, 0x54]) { $0.readyForQuery(.inTransaction) },
        Case("ReadyForQuery E", [0x5A, 0, 0, 0, 5, 0x45]) { $0.readyForQuery(.failed) },
        Case("CommandComplete static", message("C", .cString("BEGIN"))) { $0.commandComplete("BEGIN" as StaticString) },
        Case("CommandComplete string", message("C", .cString("CREATE TABLE"))) { $0.commandComplete(String("CREATE TABLE")) },
        Case("CommandComplete SELECT", message("C", .cString("SELECT 5"))) { $0.commandComplete("SELECT", count: 5) },
        Case("CommandComplete INSERT", message("C", .cString("INSERT 0 1000000"))) {
            $0.commandComplete("INSERT 0", count: 1_000_000)
        },
        Case("EmptyQueryResponse", [0x49, 0, 0, 0, 4]) { $0.emptyQueryResponse() },
        Case("ParseComplete", [0x31, 0, 0, 0, 4]) { $0.parseComplete() },
        Case("BindComplete", [0x32, 0, 0, 0, 4]) { $0.bindComplete() },
        Case("CloseComplete", [0x33, 0, 0, 0, 4]) { $0.closeComplete() },
        Case("NoData", [0x6E, 0, 0, 0, 4]) { $0.noData() },
        Case("PortalSuspended", [0x73, 0, 0, 0, 4]) { $0.portalSuspended() },
        Case("CopyDone", [0x63, 0, 0, 0, 4]) { $0.copyDone() },
        Case("CopyInResponse", message("G", .i8(0), .i16(2), .i16(0), .i16(0))) { $0.copyInResponse(columns: 2, format: .text) },
        Case("CopyOutResponse", message("H", .i8(1), .i16(1), .i16(1))) { $0.copyOutResponse(columns: 1, format: .binary) },
        Case("ParameterDescription", message("t", .i16(2), .i32(20), .i32(25))) { $0.parameterDescription([.int8, .text]) },
        Case("ParameterDescription, none", message("t", .i16(0))) { $0.parameterDescription([]) },
        Case(
            "RowDescription",
            message(
                "T", .i16(2), .cString("id"), .i32(7), .i16(1), .i32(20), .i16(8), .i32(-1), .i16(1),
                .cString("né"), .i32(0), .i16(0), .i32(25), .i16(-1), .i32(-1), .i16(0))
        ) {
            $0.rowDescription([
                FieldDescription(name: "id", tableOID: 7, attributeNumber: 1, type: .int8, format: .binary),
                FieldDescription(name: "né", type: .text),
            ])
        },
        Case(
            "ErrorResponse, least",
            message("E", .cString("SERROR"), .cString("VERROR"), .cString("C42601"), .cString("Msyntax error"), .i8(0))
        ) { $0.error(WireError(state: .syntaxError, message: "syntax error")) },
        Case(
            "ErrorResponse, all",
            message(
                "E", .cString("SFATAL"), .cString("VFATAL"), .cString("C23505"), .cString("Mm"), .cString("Dd"),
                .cString("Hh"), .cString("P12"), .cString("smain"), .cString("tt"), .cString("cc"), .cString("nn"), .i8(0))
        ) {
            $0.error(
                WireError(
                    severity: .fatal, state: .uniqueViolation, message: "m\0hidden", detail: "d", hint: "h", position: 12,
                    schema: "main", table: "t", column: "c", constraint: "n"))
        },
        Case(
            "NoticeResponse",
            message("N", .cString("SWARNING"), .cString("VWARNING"), .cString("C01000"), .cString("M"), .i8(0))
        ) { $0.notice(WireError(severity: .warning, state: .warning, message: "")) },
    ]

    @Test(arguments: cases)
    func goldenBytes(_ golden: Case) {
        #expect(encoded(golden.encode) == golden.expected)
    }

    /// A message that quotes a large value is cut, and never inside of a character.
    @Test(arguments: ["x", "ä", "€", "😀"]) func longFields(_ character: String) {
        for shift in 0..<4 {
            let words = String(repeating: "-", count: shift) + String(repeating: character, count: 100_000)
            let bytes = encoded { $0.error(WireError(state: .syntaxError, message: words)) }
            #expect(bytes.count < OutputBuffer.longestFieldBytes + 50)
            let message = String(validating: bytes.dropFirst(5 + "SERROR VERROR C42601 M".utf8.count).prefix { $0 != 0 }, as: UTF8.self)
            #expect(message?.hasSuffix("…") == true && words.hasPrefix(message!.dropLast()))
        }
        let longest = String(repeating: "x", count: OutputBuffer.longestFieldBytes)
        #expect(encoded { $0.error(WireError(state: .syntaxError, message: longest)) }.count == 5 + 22 + longest.utf8.count + 2)
    }

    @Test func announcedTypesCanBePatched() {
        let buffer = OutputBuffer()
        buffer.parseComplete()
        var positions: [Int] = []
        buffer.rowDescription(
            [FieldDescription(name: "a", type: .text), FieldDescription(name: "bb", type: .text)], oidPositions: &positions)
        #expect(positions == [5 + 7 + 2 + 6, 5 + 7 + 2 + 6 + 12 + 3 + 6])
        for position in positions { buffer.patchType(.int8, at: position) }
        let patched = encoded {
            $0.parseComplete()
            $0.rowDescription([FieldDescription(name: "a", type: .int8), FieldDescription(name: "bb", type: .int8)])
        }
        #expect(Array(buffer.readable) == patched)
    }
}
