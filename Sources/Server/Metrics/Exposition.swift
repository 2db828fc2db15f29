import Scheduling

/// Metrics as text, in either format: https://prometheus.io/docs/instrumenting/exposition_formats/
///
/// They differ in how a counter's family is called (with `_total` or without), in UNIT, and in the end.
struct Exposition {
    let format: ExpositionFormat
    private(set) var text = ""
    /// Families that were written, so that none is written twice.
    private var names: Set<String> = []

    enum Kind: String { case counter, gauge, histogram }

    /// What a value is measured in; it ends the name.
    enum Unit: String { case seconds, bytes }

    /// Labels, in the order they are written.
    struct Labels: ExpressibleByDictionaryLiteral {
        fileprivate var pairs: [(String, String)]
        init(dictionaryLiteral elements: (String, String)...) { pairs = elements }

        fileprivate func with(_ name: String, _ value: String) -> Labels {
            var more = self
            more.pairs.append((name, value))
            return more
        }
    }

    init(_ format: ExpositionFormat) { self.format = format }

    mutating func counter(_ name: String, _ help: String, unit: Unit? = nil, _ value: Int) {
        counter(name, help, unit: unit, samples: [([:], Double(value))])
    }

    mutating func counter(_ name: String, _ help: String, unit: Unit? = nil, samples: [(labels: Labels, value: Double)]) {
        begin(name, .counter, help, unit)
        for sample in samples { write(name + "_total", sample.labels, sample.value) }
    }

    mutating func gauge(_ name: String, _ help: String, unit: Unit? = nil, _ value: Int) {
        gauge(name, help, unit: unit, samples: [([:], Double(value))])
    }

    mutating func gauge(_ name: String, _ help: String, unit: Unit? = nil, samples: [(labels: Labels, value: Double)]) {
        begin(name, .gauge, help, unit)
        for sample in samples { write(name, sample.labels, sample.value) }
    }

    /// - Parameter divisor: of the histogram's values, to become the unit's.
    mutating func histogram(
        _ name: String, _ help: String, unit: Unit? = nil, divisor: Double, samples: [(labels: Labels, values: Histogram)]
    ) {
        begin(name, .histogram, help, unit)
        for (labels, values) in samples {
            var below = 0
            for (index, count) in values.counts.enumerated() {
                below &+= count
                let bound = index < values.bounds.count ? Self.number(Double(values.bounds[index]) / divisor) : "+Inf"
                write(name + "_bucket", labels.with("le", bound), Double(below))
            }
            write(name + "_sum", labels, Double(values.sum) / divisor)
            write(name + "_count", labels, Double(below))
        }
    }

    /// A histogram of nanoseconds.
    mutating func durations(_ name: String, _ help: String, _ values: Histogram) {
        durations(name, help, samples: [([:], values)])
    }

    mutating func durations(_ name: String, _ help: String, samples: [(labels: Labels, values: Histogram)]) {
        histogram(name, help, unit: .seconds, divisor: 1e9, samples: samples)
    }

    mutating func end() {
        if format == .openMetrics { text += "# EOF\n" }
    }

    // MARK: Lines

    private mutating func begin(_ name: String, _ kind: Kind, _ help: String, _ unit: Unit?) {
        precondition(names.insert(name).inserted, "a metric of that name has been written")
        precondition(unit == nil || name.hasSuffix("_\(unit!.rawValue)"), "a unit ends the name")
        let family = kind == .counter && format == .text ? name + "_total" : name
        text += "# HELP \(family) \(Self.escaped(help))\n# TYPE \(family) \(kind.rawValue)\n"
        if let unit, format == .openMetrics { text += "# UNIT \(family) \(unit.rawValue)\n" }
    }

    private mutating func write(_ name: String, _ labels: Labels, _ value: Double) {
        text += name
        if !labels.pairs.isEmpty {
            text += "{" + labels.pairs.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",") + "}"
        }
        text += " \(Self.number(value))\n"
    }

    /// Whole numbers without a fraction, as counters are expected.
    static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : "\(value)"
    }

    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
