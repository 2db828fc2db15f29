import Logging
import Testing

@testable import Journal

@Suite struct LogTextTests {
    @Test(arguments: [
        ("plain", "plain"), ("a/b.c:1", "a/b.c:1"), ("", "\"\""), ("two words", "\"two words\""), ("a=b", "\"a=b\""),
        ("say \"hi\"", "\"say \\\"hi\\\"\""), ("back\\slash", "\"back\\\\slash\""),
        ("new\nline", "\"new line\""), ("tab\tcr\rnul\0del\u{7F}", "\"tab cr nul del \""), ("\u{1B}[31mred", "\" [31mred\""),
        ("c1\u{9B}31m", "\"c1 31m\""), ("nel\u{85}x", "\"nel x\""), ("sep\u{2028}x\u{2029}", "\"sep x \""),
        ("\u{202E}txt.exe\u{2066}", "\" txt.exe \""), ("\u{FEFF}bom", "\" bom\""), ("a\u{061C}b", "\"a b\""), ("ü", "\"ü\""),
        ("🙂 é", "\"🙂 é\""),
    ])
    func quoted(_ value: String, _ expected: String) {
        #expect(LogText.quoted(value) == expected)
    }

    /// Whatever a value is, it is one word of one line: nothing of it can pass for another field.
    @Test func noValueEndsItsQuotes() {
        for first in UInt32(0)..<0x300 {
            guard let scalar = Unicode.Scalar(first) else { continue }
            let text = LogText.quoted("a\(Character(scalar))b session=1")
            #expect(text.first == "\"" && text.last == "\"", "\(first)")
            var isEscaped = false
            for character in text.dropFirst().dropLast() {
                #expect(isEscaped || character != "\"", "\(first)")
                isEscaped = !isEscaped && character == "\\"
            }
            #expect(!isEscaped && !text.unicodeScalars.contains { $0.value < 0x20 || 0x7F...0x9F ~= $0.value }, "\(first)")
        }
    }

    @Test func cutsBetweenCharacters() {
        #expect(LogText.cut("abc", toBytes: 3) == "abc")
        #expect(LogText.cut("abcd", toBytes: 3) == "abc…")
        #expect(LogText.cut("aüb", toBytes: 2) == "a…")
        #expect(LogText.cut("🙂🙂", toBytes: 7) == "🙂…")
        #expect(LogText.cut("🙂🙂", toBytes: 0) == "…")
        let long = LogText.quoted(String(repeating: "x", count: LogText.longestValueBytes + 1))
        #expect(long.utf8.count == LogText.longestValueBytes + 5 && long.hasSuffix("…\""))
    }

    @Test(arguments: [(0, "0.000ms"), (1, "0.001ms"), (1_000, "1.000ms"), (1_234_567, "1234.567ms"), (-5, "0.000ms")])
    func durations(_ microseconds: Int64, _ expected: String) {
        #expect(LoggedDuration(microseconds: microseconds).description == expected)
    }
}

@Suite struct LogRecordTests {
    private func record(
        _ metadata: Logger.Metadata, kind: EventKind? = nil, level: Logger.Level = .notice, withFields: Bool = true
    ) -> LogRecord {
        var metadata = metadata
        if let kind { metadata[Logger.kindKey] = .stringConvertible(kind) }
        return LogRecord(
            LogEvent(
                level: level, message: "it\nhappened", metadata: metadata, source: nil, file: "Server/X.swift",
                function: "f()", line: 7),
            metadata: ["always": "here"], withFields: withFields)
    }

    @Test func line() {
        let record = record(
            ["sql": "SELECT 1\n  FROM t", "duration": .stringConvertible(LoggedDuration(milliseconds: 12))], kind: .slowStatement,
            withFields: false)
        #expect(record.line == "it happened always=here duration=12.000ms sql=\"SELECT 1   FROM t\"")
        #expect(record.fields.isEmpty)
    }

    @Test func fields() {
        let record = record(
            [
                "sql": "SELECT 1\nPRIORITY=0", "duration": .stringConvertible(LoggedDuration(milliseconds: 12)),
                "peer_uid": "1000",
            ], kind: .slowStatement, level: .warning)
        let fields = Dictionary(uniqueKeysWithValues: record.fields.map { ($0.name, $0.value) })
        #expect(fields["MESSAGE"] == record.line)
        #expect(fields["PRIORITY"] == "4")
        #expect(fields["MESSAGE_ID"] == EventKind.slowStatement.messageID)
        #expect(fields["CODE_FILE"] == "Server/X.swift" && fields["CODE_LINE"] == "7" && fields["CODE_FUNC"] == "f()")
        #expect(fields["SYSLOG_IDENTIFIER"] == "walpoold")
        // As the client sent it: the journal's format has the length of each value.
        #expect(fields["WALPOOL_SQL"] == "SELECT 1\nPRIORITY=0")
        #expect(fields["WALPOOL_DURATION_USEC"] == "12000" && fields["WALPOOL_DURATION"] == nil)
        #expect(fields["WALPOOL_PEER_UID"] == "1000" && fields["WALPOOL_ALWAYS"] == "here")
        #expect(fields.count == 11)
    }

    @Test func namesAreTheJournals() {
        let record = record(["odd key-é": "1", String(repeating: "k", count: 80): "2"])
        for field in record.fields {
            #expect(field.name.utf8.count <= 64 && field.name.first != "_", "\(field.name)")
            let allowed = field.name.utf8.allSatisfy { 65...90 ~= $0 || 48...57 ~= $0 || $0 == 95 }
            #expect(allowed, "\(field.name)")
        }
    }

    @Test func kinds() {
        let ids = EventKind.allCases.map(\.messageID)
        #expect(Set(ids).count == ids.count)
        for id in ids {
            let isHexadecimal = id.utf8.allSatisfy { 48...57 ~= $0 || 97...102 ~= $0 }
            #expect(id.utf8.count == 32 && isHexadecimal, "\(id)")
        }
    }

    @Test func priorities() {
        let levels: [Logger.Level] = [.critical, .error, .warning, .notice, .info, .debug, .trace]
        #expect(levels.map(\.syslogPriority) == [2, 3, 4, 5, 6, 7, 7])
    }
}

@Suite struct LogBacklogTests {
    private func record(_ text: String) -> LogRecord { LogRecord(level: .info, line: text) }

    @Test func keepsTheOldestAndCountsTheRest() {
        var backlog = LogBacklog(entryLimit: 2, byteLimit: 100)
        #expect(backlog.isEmpty)
        for text in ["a", "b", "c", "d"] { backlog.append(record(text)) }
        var (records, leftOut) = backlog.takeAll()
        #expect(records.map(\.line) == ["a", "b"] && leftOut == 2)
        #expect(backlog.isEmpty)
        backlog.append(record("e"))
        (records, leftOut) = backlog.takeAll()
        #expect(records.map(\.line) == ["e"] && leftOut == 0)
    }

    @Test func boundsBytes() {
        var backlog = LogBacklog(entryLimit: 100, byteLimit: 10)
        backlog.append(record("12345"))
        backlog.append(record("123456"))
        // It would fit, but behind a gap that is not written yet.
        backlog.append(record("1"))
        let (records, leftOut) = backlog.takeAll()
        #expect(records.map(\.line) == ["12345"] && leftOut == 2)
    }

    @Test func aGapIsARecord() {
        let gap = LogRecord(linesLeftOut: 3, .readerIsSlow, withFields: true)
        #expect(gap.line.contains("lines=3") && gap.fields.contains { $0.value == EventKind.linesLeftOut.messageID })
    }
}
