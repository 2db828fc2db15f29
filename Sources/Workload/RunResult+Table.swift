extension RunResult {
    /// For people.
    public var table: String {
        let head = [
            "class", "clients", "transactions", "rows", "per second", "p50 ms", "p99 ms", "p99.9 ms", "max ms", "fewest", "most", "errors",
        ]
        let rows = [head] + classes.map { row($0) }
        let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var text = "\(workload) (\(target)): \(decimal(seconds, places: 1)) s "
        text += "after \(decimal(warmUpSeconds, places: 1)) s of warm-up, "
        text += "seed \(seed), \(threads) threads, \(decimal(clientProcessorSeconds, places: 2)) s of CPU here\n"
        for row in rows {
            let cells = row.enumerated().map { column, cell in
                let blanks = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + blanks : blanks + cell
            }
            text += cells.joined(separator: "  ") + "\n"
        }
        return text + remarks
    }

    private func row(_ result: ClassResult) -> [String] {
        let contents = result.contents
        func milliseconds(_ microseconds: Int64) -> String { decimal(Double(microseconds) / 1000, places: 3) }
        return [
            result.clientClass.name, String(result.clientClass.clients), String(contents.transactions),
            String(contents.rows),
            decimal(result.throughput(seconds: seconds), places: 1),
            milliseconds(Int64(result.latency["p50"])), milliseconds(Int64(result.latency["p99"])),
            milliseconds(Int64(result.latency["p999"])), milliseconds(result.latency.longest),
            String(contents.perClient.min() ?? 0), String(contents.perClient.max() ?? 0), String(contents.errors),
        ]
    }

    /// What is not in the columns, where there is something to say.
    private var remarks: String {
        var text = ""
        for result in classes {
            let contents = result.contents
            let name = result.clientClass.name
            if contents.notStarted > 0 {
                text += "\(name): \(contents.notStarted) of \(contents.due) transactions that were due were not started\n"
            }
            if result.clientClass.isOpenLoop, contents.errors > 0 {
                text += "\(name): of \(contents.due) transactions that were due \(contents.errors) failed: "
                text += "the latencies have the time until they did\n"
            }
            if contents.retries > 0 { text += "\(name): \(contents.retries) transactions were retried\n" }
            let failures = [
                (contents.warmUpErrorStates, " in the warm-up"), (contents.errorStates, ""), (contents.lateErrorStates, " after the end"),
            ]
            for (states, when) in failures {
                for (state, count) in states.sorted(by: { $0.key < $1.key }) { text += "\(name): \(state) \(count) times\(when)\n" }
            }
            if contents.unfinishedNanoseconds > Tally.second {
                text += "\(name): at the end a transaction had been running, or due, for "
                text += "\(decimal(Double(contents.unfinishedNanoseconds) / 1e9, places: 1)) s\n"
            }
            for complaint in contents.complaints { text += "\(name): \(complaint)\n" }
        }
        return text
    }
}
