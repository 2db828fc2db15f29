import Testing

@testable import Workload

@Suite struct ResultTests {
    static var result: RunResult {
        let tally = Tally(clients: 2, isOpen: true)
        tally.begin(from: 0, until: 1_500_000_000)
        tally.failed(began: -2, ended: -1, state: "57014", message: "early")
        tally.succeeded(client: 0, began: 0, ended: 2_000_000, statements: 7, rows: 1)
        tally.failed(began: 0, ended: 9_000_000, state: "40001", message: "a \"quoted\" text")
        tally.succeeded(client: 0, began: 1_000_000_000, ended: 1_004_000_000, statements: 7, rows: 1)
        tally.failed(began: 1_600_000_000, ended: 1_700_000_000, state: "XX000", message: "late")
        tally.countDue(.open(everyNanoseconds: 50_000_000, offsetNanoseconds: 0), start: 0, started: 28)
        var clientClass = ClientClass(name: "a, b", clients: 2)
        clientClass.ratePerSecond = 20
        clientClass.isolation = "serializable"
        return RunResult(
            workload: "tpcb", target: "server", seed: 3, firstInSequence: 77, variables: ["scale": 9, "a": -1],
            options: [("protocol", .string("simple"))], seconds: 1.5, warmUpSeconds: 0.25, threads: 1,
            clientProcessorSeconds: 0.0125, startedAt: 1_700_000_000.5,
            classes: [ClassResult(clientClass, tally.close(), queryProtocol: "simple")])
    }

    @Test func json() {
        let text = Self.result.json.text
        for part in [
            "\"format\": 3", "\"seed\": 3, \"first_in_sequence\": 77, \"variables\": {\"a\": -1, \"scale\": 9}",
            "\"options\": {\"protocol\": \"simple\"}", "\"think_ms\": 0.000",
            "\"protocol\": \"simple\", \"messages\": \"separate\", \"isolation\": \"serializable\"",
            "\"workload\": \"tpcb\"", "\"seconds\": 1.500", "\"client_cpu_seconds\": 0.013", "\"loop\": \"open\"",
            "\"rate_per_s\": 20.000", "\"transactions\": 2", "\"statements\": 14",
            "\"error_states\": {\"40001\": 1}, \"warm_up_errors\": 1, \"warm_up_error_states\": {\"57014\": 1}",
            "\"late_errors\": 1, \"late_error_states\": {\"XX000\": 1}",
            "\"throughput_per_s\": 1.333", "\"p50\": 9007", "\"max\": 100000", "\"fewest\": 0", "\"most\": 2", "\"per_client\": [2, 0]",
            "\"due\": 30, \"not_started\": 2", "\"unfinished_us\": 100000",
            "\"series\": [{\"second\": 0, \"transactions\": 1, \"p99_us\": 9000, \"max_us\": 9000}, {\"second\": 1",
            "\"complaints\": [\"57014: early\", \"40001: a \\\"quoted\\\" text\", \"XX000: late\"]", "\"histogram\": \"HISTF",
        ] {
            #expect(text.contains(part), "\(part) is not in \(text)")
        }
    }

    /// Of what was not sent to a server nothing is said that was not done.
    @Test func jsonWithoutServer() {
        var result = Self.result
        result.classes[0].queryProtocol = nil
        let text = result.json.text
        #expect(text.contains("\"protocol\": null, \"messages\": null, \"isolation\": null"), "\(text)")
    }

    @Test func intervalLog() {
        let lines = Self.result.intervalLog.split(separator: "\n")
        #expect(lines[1] == "#[In milliseconds: HistogramLogProcessor -outputValueUnitRatio 1000]")
        #expect(lines[2] == "#[Histogram log format version 1.3]")
        #expect(lines[3] == "#[StartTime: 1700000000.500 (seconds since epoch)]")
        #expect(lines[5] == "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"")
        #expect(lines[6].hasPrefix("Tag=a__b,0.000,1.000,9.000,HISTF") && lines[7].hasPrefix("Tag=a__b,1.000,0.500,100.000,HISTF"))
        #expect(lines.count == 8)
    }

    @Test func table() {
        let lines = Self.result.table.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines[1] == "class clients transactions rows per second p50 ms p99 ms p99.9 ms max ms fewest most errors")
        #expect(lines[2] == "a, b 2 2 2 1.3 9.007 100.000 100.000 100.000 0 2 1")
        #expect(lines[3] == "a, b: 2 of 30 transactions that were due were not started")
        #expect(lines[4] == "a, b: of 30 transactions that were due 1 failed: the latencies have the time until they did")
        #expect(lines[5] == "a, b: 57014 1 times in the warm-up")
        #expect(lines[6] == "a, b: 40001 1 times" && lines[7] == "a, b: XX000 1 times after the end")
    }

    @Test(arguments: [
        (JSON.null, "null"), (.boolean(true), "true"), (.integer(-5 as Int64), "-5"), (.integer(UInt64.max), "9223372036854775807"),
        (.number(0.0005), "0.001"),
        (.number(-1.25), "-1.250"), (.number(.infinity), "0"), (.string("a\"\\\n\u{1}ü"), "\"a\\\"\\\\\\u000a\\u0001ü\""),
        (.array([]), "[]"), (.object([]), "{}"), (.object([("b", .array([.null])), ("a", .null)]), "{\"b\": [null], \"a\": null}"),
    ])
    func jsonText(_ value: JSON, _ text: String) { #expect(value.text == text) }
}
