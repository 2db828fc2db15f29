import Glibc
import Testing

/// The fuzzers' rules on their seeds, and on every input that once broke one; without libFuzzer, so in seconds.
///
/// A broken rule ends the process, as it has to under a fuzzer: its text is in the output.
@Suite(.serialized) struct ReplayTests {
    @Test func decoderOnStatements() throws {
        for statement in try Files.statements() {
            for kind in [2, 3] as [UInt8] { Self.decode([kind] + Array(statement.utf8)) }
        }
    }

    /// Every kind of input, cut short everywhere and with each byte replaced.
    @Test func decoderOnCorruptedInputs() throws {
        for valid in [
            [0] + Self.query("SELECT 1") + [UInt8(ascii: "S"), 0, 0, 0, 4], [1] + Greeting.bytes(4),
            [4] + Array("-1.5e3".utf8), [5, 10, 0] + Array(#"\x00ff"#.utf8), [7] + Array("statement_timeout=1.5s".utf8),
        ] {
            for index in valid.indices {
                Self.decode(Array(valid[..<index]))
                var bytes = valid
                for value in UInt8.min...UInt8.max {
                    bytes[index] = value
                    Self.decode(bytes)
                }
            }
        }
    }

    @Test func decoderOnRegressions() throws {
        for (_, bytes) in try Files.regressions("decoder") { Self.decode(bytes) }
    }

    /// Each statement alone, and all of them in one session, by turns with another one.
    @Test func sessionOnStatements() throws {
        let statements = try Files.statements()
        for index in stride(from: 0, to: statements.count, by: 16) {
            var input = SessionInput()
            input.configuration = UInt8(truncatingIfNeeded: index)
            for (number, statement) in statements[index...].prefix(16).enumerated() {
                input.steps.append(.init(client: number % 3 / 2, action: .send, bytes: Self.query(statement)))
            }
            input.encoded.withUnsafeBytes { SessionRules.check($0) }
        }
    }

    /// What psql, psycopg, asyncpg and pgbench sent, piece by piece as it came.
    @Test func sessionOnRecordings() throws {
        let recordings = try Files.recordings()
        try #require(recordings.count > 5)
        for pieces in recordings {
            var input = SessionInput()
            input.steps = [.init(client: 0, action: .connect, choice: 1)]
            input.steps += pieces.map { .init(client: 0, action: .send, bytes: $0) }
            input.encoded.withUnsafeBytes { SessionRules.check($0) }
        }
    }

    @Test func sessionOnRegressions() throws {
        for (_, bytes) in try Files.regressions("session") { bytes.withUnsafeBytes { SessionRules.check($0) } }
    }

    /// The rules are rules: a broken one ends the process.
    @Test func aBrokenRuleIsNoticed() async {
        await #expect(processExitsWith: .failure) {
            var conversation = Conversation()
            conversation.send(Greeting.bytes(0))
            conversation.receive([UInt8(ascii: "C"), 0, 0, 0, 5, 0])
        }
    }

    private static func decode(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { DecoderInput.check($0) }
    }

    private static func query(_ sql: String) -> [UInt8] {
        var message = FrontendWriter()
        message.byte(UInt8(ascii: "Q"))
        message.int32(sql.utf8.count + 5)
        return message.bytes + Array(sql.utf8) + [0]
    }
}

/// The texts beside these sources.
private enum Files {
    static let directory = String(#filePath.dropLast("Replay/ReplayTests.swift".count))

    static func statements() throws -> [String] {
        let lines = try text(directory + "seeds/statements.sql").split(separator: "\n").map(String.init)
        try #require(lines.count > 50)
        return lines
    }

    /// By name: hexadecimal digits, and comments that say what they are.
    static func regressions(_ target: String) throws -> [(name: String, bytes: [UInt8])] {
        try lines(of: "regressions/", target).map { ($0.name, try bytes(ofDigits: $0.lines.joined())) }
    }

    /// Of each client the pieces in which it sent.
    static func recordings() throws -> [[[UInt8]]] {
        try lines(of: "seeds/recorded/", "").map { try $0.lines.map { try bytes(ofDigits: String($0)) } }
    }

    private static func lines(of folder: String, _ prefix: String) throws -> [(name: String, lines: [Substring])] {
        let entries = try #require(opendir(directory + folder))
        defer { closedir(entries) }
        var found: [(String, [Substring])] = []
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasPrefix(prefix), name.hasSuffix(".hex") else { continue }
            found.append((name, try text(directory + folder + name).split(separator: "\n").filter { !$0.hasPrefix("#") }))
        }
        return found.sorted { $0.0 < $1.0 }
    }

    private static func bytes(ofDigits text: String) throws -> [UInt8] {
        let digits = Array(text.utf8)
        return try stride(from: 0, to: digits.count - 1, by: 2).map { index in
            try #require(UInt8(String(decoding: digits[index...(index + 1)], as: UTF8.self), radix: 16))
        }
    }

    private static func text(_ path: String) throws -> String {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
