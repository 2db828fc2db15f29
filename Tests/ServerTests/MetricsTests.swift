import Glibc
import POSIX
import Testing

@testable import Pool
@testable import Scheduling
@testable import Server

private func withBytes<Result>(_ text: String, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    var text = text
    return try text.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
}

@Suite struct NormalisedSQLTests {
    private func normalised(_ sql: String) -> String { withBytes(sql) { NormalisedSQL.text(of: $0) } }

    @Test(arguments: [
        ("SELECT * FROM t WHERE id = 17", "SELECT * FROM t WHERE id = ?"),
        ("select  a,b\n from t -- why\n where s='x''y' and n=-1.5e3 /* ! */;", "select a, b from t where s = ? and n = - ?"),
        ("SELECT x'00', 0x1F, .5", "SELECT ?, ..."),
        ("SELECT * FROM t WHERE id IN (1,2,3)", "SELECT * FROM t WHERE id IN (?, ...)"),
        ("SELECT * FROM t WHERE id IN ( 1 )", "SELECT * FROM t WHERE id IN (?)"),
        ("SELECT f(1, a, 2), count( * )", "SELECT f(?, a, ?), count(*)"),
        ("SELECT f(1, 2, a)", "SELECT f(?, ..., a)"),
        ("INSERT INTO t(a,b) VALUES ($1, 'x')", "INSERT INTO t(a, b) VALUES ($1, ?)"),
        ("SELECT \"A b\".[c d] FROM main . t", "SELECT \"A b\".[c d] FROM main.t"),
        ("SELECT a->>'x'||b", "SELECT a ->> ? || b"),
        ("", ""), (";;", ""), ("-- nothing", ""), ("'unterminated", "'unterminated"), ("1", "?"), ("1,", "?"),
    ])
    func texts(_ sql: String, _ expected: String) {
        #expect(normalised(sql) == expected)
    }

    /// No literal's content stays, however it is written.
    @Test func nothingSecretStays() {
        for sql in ["'secret'", "x'5ec7e7'", "12345", "'a' || 'secret'", "('secret')", "f('secret', 'secret', x)", "-12345"] {
            let text = normalised("SELECT " + sql)
            #expect(!text.contains("secret") && !text.contains("5ec7e7") && !text.contains("12345"), "\(text)")
        }
    }

    @Test func longTextsAreCut() {
        let long = normalised("SELECT " + (0..<1_000).map { "column\($0)" }.joined(separator: ", "))
        #expect(long.utf8.count <= NormalisedSQL.longestBytes + 3 && long.hasSuffix("…"))
        let name = normalised("SELECT \"" + String(repeating: "ä", count: 5_000) + "\"")
        #expect(name.utf8.count <= NormalisedSQL.longestBytes + 3 && !name.contains("\u{FFFD}"))
    }
}

@Suite struct StatementTableTests {
    private func usage(_ calls: Int, _ nanoseconds: Int = 0) -> StatementUsage {
        var usage = StatementUsage()
        (usage.calls, usage.nanoseconds, usage.longestNanoseconds) = (calls, nanoseconds, nanoseconds)
        return usage
    }

    @Test func equalTextsAreOne() {
        var table = StatementTable()
        table.add("SELECT ?", usage(2, 10))
        table.add("select ?", usage(3, 4))
        table.add("SELECT a", usage(1, 50))
        #expect(table.byTime.map(\.text) == ["SELECT a", "SELECT ?"])
        #expect(table.byTime[1].usage.calls == 5 && table.byTime[1].usage.nanoseconds == 14)
        #expect(table.byTime[1].usage.longestNanoseconds == 10)
    }

    /// However many texts come once, those that are called often stay, and there are never more than the limit.
    @Test func theLeastCalledGo() {
        var table = StatementTable(limit: 40)
        for number in 0..<10 { table.add("often \(number)", usage(100)) }
        for number in 0..<1_000 {
            table.add("once \(number)", usage(1))
            #expect(table.count <= 40)
        }
        let texts = Set(table.byTime.map(\.text))
        #expect((0..<10).allSatisfy { texts.contains("often \($0)") } && texts.contains("once 999"))
        #expect(table.evicted == 1_010 - table.count)
    }
}

@Suite struct StatisticsPeriodsTests {
    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: 1_000_000_000 * (1_000 + seconds)) }
    private func totals(_ n: Int) -> StatisticsTotals {
        StatisticsTotals(
            transactions: n, queries: 2 * n, receivedBytes: 10 * n, sentBytes: 100 * n, transactionMicroseconds: 500 * n,
            queryMicroseconds: 600 * n, waitMicroseconds: 50 * n)
    }

    @Test func sinceTheStartUntilThereIsAPeriod() {
        let periods = StatisticsPeriods(now: at(0))
        #expect(periods.averages(totals(0), now: at(0)) == StatisticsTotals())
        let averages = periods.averages(totals(600), now: at(6))
        #expect((averages.transactions, averages.queries) == (100, 200))
        #expect((averages.receivedBytes, averages.sentBytes) == (1_000, 10_000))
        #expect((averages.transactionMicroseconds, averages.queryMicroseconds) == (500, 300))
        #expect(averages.waitMicroseconds == 5_000)
    }

    @Test func ofTheLastFullPeriod() {
        var periods = StatisticsPeriods(now: at(0))
        #expect(periods.end == at(60))
        periods.endIfDue(totals(60), now: at(59))
        #expect(periods.end == at(60))
        periods.endIfDue(totals(60), now: at(60))
        // What came since then does not count yet.
        #expect(periods.averages(totals(100_000), now: at(61)).transactions == 1)
        // A timer that came late: the period was that much longer.
        periods.endIfDue(totals(60 + 800), now: at(140))
        #expect(periods.averages(totals(100_000), now: at(150)).transactions == 10)
        #expect(periods.end == at(200))
        periods.endIfDue(totals(860), now: at(200))
        #expect(periods.averages(totals(860), now: at(201)) == StatisticsTotals())
    }
}

@Suite struct ExpositionTests {
    @Test func openMetrics() {
        var page = Exposition(.openMetrics)
        page.counter("a_bytes", "Of \"all\" \\ kinds\nthere are.", unit: .bytes, samples: [(["k": "x\"\\\n"], 3)])
        page.gauge("b", "Now.", -2)
        page.histogram("c_seconds", "Long.", unit: .seconds, divisor: 10, samples: [([:], histogram)])
        page.end()
        #expect(
            page.text == """
                # HELP a_bytes Of \\"all\\" \\\\ kinds\\nthere are.
                # TYPE a_bytes counter
                # UNIT a_bytes bytes
                a_bytes_total{k="x\\"\\\\\\n"} 3
                # HELP b Now.
                # TYPE b gauge
                b -2
                # HELP c_seconds Long.
                # TYPE c_seconds histogram
                # UNIT c_seconds seconds
                c_seconds_bucket{le="0.5"} 1
                c_seconds_bucket{le="1"} 3
                c_seconds_bucket{le="+Inf"} 4
                c_seconds_sum 3.5
                c_seconds_count 4
                # EOF

                """)
    }

    private var histogram: Histogram {
        var histogram = Histogram(bounds: [5, 10])
        for value in [1, 6, 7, 21] { histogram.observe(value) }
        return histogram
    }

    @Test func text() {
        var page = Exposition(.text)
        page.counter("a", "x", 1)
        page.end()
        #expect(page.text == "# HELP a_total x\n# TYPE a_total counter\na_total 1\n")
    }

    @Test func numbers() {
        #expect(Exposition.number(0) == "0" && Exposition.number(1e14) == "100000000000000")
        #expect(Exposition.number(0.25) == "0.25" && Exposition.number(1e-5) == "1e-05")
    }

    @Test(arguments: [
        ("", ExpositionFormat.openMetrics), ("*/*", .openMetrics), ("text/html", .openMetrics), ("text/plain", .text),
        ("text/plain; version=0.0.4", .text),
        (
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            .openMetrics
        ),
        ("application/openmetrics-text;q=0.3, text/plain;q=0.5", .text), ("TEXT/PLAIN ; Q=0.5 , application/json", .text),
        ("application/openmetrics-text;q=0.5,text/plain;q=0.5", .openMetrics), (",;q=,;;", .openMetrics),
    ])
    func accept(_ accept: String, _ expected: ExpositionFormat) {
        #expect(ExpositionFormat(accept: accept) == expected)
    }
}

@Suite struct HTTPRequestTests {
    private func parse(_ text: String) -> HTTPRequest.Parsed { withBytes(text) { HTTPRequest.parse($0) } }

    @Test func requests() {
        let host = "Host: localhost\r\n\r\n"
        #expect(parse("GET /metrics HTTP/1.1\r\n" + host) == .request(HTTPRequest(method: "GET", path: "/metrics")))
        #expect(parse("HEAD /a?b=c HTTP/1.1\r\n" + host) == .request(HTTPRequest(method: "HEAD", path: "/a")))
        #expect(parse("GET http://h:9/metrics?x HTTP/1.1\r\n" + host) == .request(HTTPRequest(method: "GET", path: "/metrics")))
        #expect(parse("GET http://h HTTP/1.1\r\n" + host) == .request(HTTPRequest(method: "GET", path: "/")))
        #expect(parse("GET / HTTP/1.0\n\n") == .request(HTTPRequest(method: "GET", path: "/")))
        let accepting = parse("GET / HTTP/1.1\r\nHOST:x\r\naccept: a/b\r\nX: 1\r\nAccept:c/d\r\n\r\nrest")
        #expect(accepting == .request(HTTPRequest(method: "GET", path: "/", accept: " a/b,c/d")))
    }

    @Test func everyPrefixIsIncomplete() {
        let request = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
        for length in 0..<request.count { #expect(parse(String(request.prefix(length))) == .incomplete, "\(length)") }
    }

    @Test(arguments: [
        "GET /metrics\r\n\r\n", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "\r\n\r\n", "GET / SMTP\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : x\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nnothing\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n",
    ])
    func badRequests(_ text: String) {
        #expect(parse(text) == .refused(.badRequest))
    }

    @Test func otherProtocolsAreNotWaitedFor() {
        for start in ["\0", "\0\0\0\u{8}", "\u{16}\u{3}", "\r\n", " GET"] {
            #expect(parse(start) == .refused(.badRequest), "\(start.debugDescription)")
        }
    }

    @Test func otherVersions() {
        #expect(parse("PRI * HTTP/2.0\r\n\r\n") == .refused(.versionNotSupported))
    }

    @Test func theHeadIsBounded() {
        let longest = HTTPRequest.longestHeadBytes
        let frame = "GET / HTTP/1.1\r\nHost: x\r\nX: \r\n\r\n"
        func padded(to length: Int) -> String {
            "GET / HTTP/1.1\r\nHost: x\r\nX: " + String(repeating: "y", count: length - frame.utf8.count) + "\r\n\r\n"
        }
        #expect(parse(padded(to: longest)) == .request(HTTPRequest(method: "GET", path: "/")))
        #expect(parse(padded(to: longest + 1)) == .refused(.headerFieldsTooLarge))
        #expect(parse(String(repeating: "a", count: longest)) == .incomplete)
        #expect(parse(String(repeating: "a", count: longest + 1)) == .refused(.headerFieldsTooLarge))
    }
}

@Suite struct LoopbackAddressTests {
    @Test func addresses() throws {
        #expect(try LoopbackAddress("127.0.0.1:9187").port == 9187)
        #expect(try LoopbackAddress("127.9.8.7:1").address == 0x7F09_0807)
        #expect(try LoopbackAddress("[::1]:65535").isVersion6)
    }

    @Test(arguments: [
        "", "9187", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:-1", "0.0.0.0:9187", "10.0.0.1:9187",
        "[::]:9187", "[fe80::1]:9187", "::1:9187", "localhost:9187", ":9187", "128.0.0.1:9187", "127.0.0.1:9187x", "[::ffff:127.0.0.1]:1",
    ])
    func others(_ text: String) {
        #expect(throws: StartError.self) { try LoopbackAddress(text) }
    }
}

@Suite struct ThreadCountersTests {
    @Test func threadsAreAddedUp() {
        let metrics = Metrics(now: Instant(nanoseconds: 0))
        onThreads(4) { number in
            let counters = metrics.lend()
            for _ in 0..<1_000 {
                counters.add(.rows, 2)
                counters.countRun(number == 0 ? .insert : .select, nanoseconds: 20_000)
            }
            metrics.giveBack(counters)
        }
        let sum = metrics.sum
        #expect(sum[.rows] == 8_000 && sum.statements == 4_000)
        #expect((sum[.insert], sum[.select], sum[.update]) == (1_000, 3_000, 0))
        #expect(sum.statementDurations.counts[1] == 4_000 && sum.statementDurations.sum == 80_000_000)
        #expect(sum.readerWaits.count == 0)
        // The next thread goes on where another ended.
        let counters = metrics.lend()
        counters.countReaderWait(nanoseconds: 1)
        #expect(metrics.sum.readerWaits.count == 1 && metrics.sum[.rows] == 8_000)
    }
}

@Suite struct WallClockTests {
    /// However far apart the two looks are, and wherever in its second either clock stands.
    @Test(arguments: [(0, 0), (0, 999_999_999), (999_999_999, 0), (500_000_000, 500_000_000), (1, 999_999_998)] as [(Int64, Int64)])
    func aMomentStaysWhereItIs(began: Int64, wallAtBeginning: Int64) {
        let moment = Instant(nanoseconds: 5_000_000_000 + began)
        for look in 0..<300 {
            let passed = Int64(look) * 10_000_001
            let wall = 1_700_000_000_000_000_000 + wallAtBeginning + passed
            let seconds = UTCTime.seconds(
                of: moment, now: Instant(nanoseconds: moment.nanoseconds + passed), wallNanoseconds: wall)
            #expect(seconds == 1_700_000_000)
        }
    }
}
