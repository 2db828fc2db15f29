/// The two formats in which metrics are asked for.
enum ExpositionFormat: Equatable {
    /// https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md
    case openMetrics
    /// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
    case text

    var contentType: StaticString {
        switch self {
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        case .text: "text/plain; version=0.0.4; charset=utf-8"
        }
    }

    /// What an Accept field asks for: OpenMetrics, unless the older format is wanted more.
    init(accept: String) {
        var openMetrics: Double?
        var text: Double?
        for range in accept.lowercased().split(separator: ",") {
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let type = parts.first else { continue }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            switch type {
            case "application/openmetrics-text": openMetrics = max(openMetrics ?? 0, quality)
            case "text/plain": text = max(text ?? 0, quality)
            default: break
            }
        }
        self = (text ?? 0) > (openMetrics ?? 0) ? .text : .openMetrics
    }
}
