import Testing

@testable import PostgresWire

@Suite struct FrameTests {
    static let limit = 1 << 20

    /// A frame in words, for tables.
    static func describe(_ bytes: [UInt8], at position: Int = 0, limit: Int = limit) -> String {
        withRaw(bytes) { buffer in
            switch FrameDecoder.next(in: buffer, at: position, maximumBodyLength: limit) {
            case .incomplete: "incomplete"
            case .message(let type, let body, let next): "\(Character(Unicode.Scalar(type.rawValue))) \(body) \(next)"
            case .invalid(let error): "\(error.severity.rawValue) \(error.state)"
            }
        }
    }

    @Test func messagesInARow() {
        let bytes = message("S") + message("Q", .cString("x")) + message("X")
        #expect(Self.describe(bytes) == "S 5..<5 5")
        #expect(Self.describe(bytes, at: 5) == "Q 10..<12 12")
        #expect(Self.describe(bytes, at: 12) == "X 17..<17 17")
        #expect(Self.describe(bytes, at: 17) == "incomplete")
        #expect(Self.describe(bytes, at: 99) == "incomplete")
        #expect(Self.describe(bytes, at: -1) == "incomplete")
    }

    @Test(arguments: [0, 1, 3, -1, Int(Int32.min), Int(Int32.max), limit + 5])
    func impossibleLengths(_ length: Int) {
        for type in "QPBFdSHDCEXcfp" {
            let bytes = body(.i8(type.asciiValue ?? 0), .i32(length))
            #expect(Self.describe(bytes) == "FATAL 08P01")
        }
    }

    @Test func smallMessagesHaveASmallLimit() {
        for type in "SHDCEXcfp" {
            #expect(Self.describe(body(.i8(type.asciiValue ?? 0), .i32(10_000))) == "incomplete")
            #expect(Self.describe(body(.i8(type.asciiValue ?? 0), .i32(10_001))) == "FATAL 08P01")
        }
        for type in "QPBFd" {
            #expect(Self.describe(body(.i8(type.asciiValue ?? 0), .i32(Self.limit + 4))) == "incomplete")
        }
    }

    /// All other first bytes are refused before anything else is read.
    @Test func unknownTypes() {
        let known = Set("QPBFdSHDCEXcfp".utf8)
        for type in UInt8.min...UInt8.max {
            #expect(Self.describe([type]) == (known.contains(type) ? "incomplete" : "FATAL 08P01"))
        }
    }

    @Test func everyPrefixIsIncomplete() {
        for valid in validMessages {
            for cut in 0..<valid.count { #expect(Self.describe(Array(valid.prefix(cut))) == "incomplete") }
            #expect(Self.describe(valid).hasSuffix(" \(valid.count)"))
        }
    }
}
