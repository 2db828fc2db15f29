extension RunResult {
    /// HdrHistogram's interval log, format 1.3, for its tools: a line for each class and second, tagged with the class.
    /// Latencies are in microseconds; Interval_Max is in milliseconds.
    /// https://github.com/HdrHistogram/HdrHistogram, HistogramLogWriter
    public var intervalLog: String {
        let start = decimal(startedAt, places: 3)
        var log = "#[walpool-load \(workload), latencies in microseconds]\n"
        // Its default is for nanoseconds.
        log += "#[In milliseconds: HistogramLogProcessor -outputValueUnitRatio 1000]\n"
        log += "#[Histogram log format version 1.3]\n"
        log += "#[StartTime: \(start) (seconds since epoch)]\n"
        log += "#[BaseTime: \(start) (seconds since epoch)]\n"
        log += "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
        let longestSeries = classes.map(\.contents.seconds.count).max() ?? 0
        for second in 0..<longestSeries {
            for result in classes where second < result.contents.seconds.count {
                let interval = result.contents.logged(second)
                let length = min(1, max(0, seconds - Double(second)))
                let longest = Double(interval.highestNanoseconds) / 1e6
                let numbers = [Double(second), length, longest].map { decimal($0, places: 3) }.joined(separator: ",")
                log += "Tag=\(Self.tag(result.clientClass.name)),\(numbers),\(base64(interval.all.compressed))\n"
            }
        }
        return log
    }

    /// "a tag ... may not include commas, spaces, or line breaks".
    private static func tag(_ name: String) -> String {
        String(name.map { $0 == "," || $0.isWhitespace ? "_" : $0 })
    }
}

extension TallyContents {
    /// A second with what its line tells: the last one's has what was overdue as well.
    fileprivate func logged(_ index: Int) -> Latencies {
        var second = seconds[index]
        if index == seconds.count - 1 { second.add(overdue) }
        return second
    }
}
