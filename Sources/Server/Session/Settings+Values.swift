import PostgresWire

/// The texts that SET takes and SHOW gives.
extension Settings {
    static func invalid(_ name: String, _ value: String) -> WireError {
        WireError(
            state: .invalidParameterValue, message: "invalid value for parameter \"\(name)\": \"\(value)\"")
    }

    private static func noTime(_ name: String, _ value: String) -> WireError {
        var error = invalid(name, value)
        error.hint = "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\"."
        return error
    }

    static func boolean(_ name: String, _ value: String) throws(WireError) -> Bool {
        switch value.lowercased() {
        case "on", "true", "yes", "1", "t", "y": return true
        case "off", "false", "no", "0", "f", "n": return false
        default: throw invalid(name, value)
        }
    }

    /// A time as PostgreSQL takes it: a number of milliseconds, or one with us, ms, s, min, h or d. But what is less than one
    /// millisecond is one, and not 0, which is no limit: who asks for a very short time would get none at all.
    static func milliseconds(
        _ name: String, _ value: String, upTo longest: Int64 = Int64(Int32.max)
    ) throws(WireError) -> Int64 {
        let text = value.filter { $0 != " " }
        let digits = text.prefix { $0.isNumber || $0 == "." || $0 == "-" }
        guard let number = Double(digits), number.isFinite else { throw noTime(name, value) }
        let factor: Double
        switch text.dropFirst(digits.count).lowercased() {
        case "", "ms": factor = 1
        case "us": factor = 0.001
        case "s": factor = 1000
        case "min": factor = 60_000
        case "h": factor = 3_600_000
        case "d": factor = 86_400_000
        default: throw noTime(name, value)
        }
        let milliseconds = (number * factor).rounded()
        guard milliseconds >= 0, milliseconds <= Double(longest) else {
            throw WireError(
                state: .invalidParameterValue,
                message: "\(value) is outside the valid range for parameter \"\(name)\" (0 ms .. \(longest) ms)")
        }
        return number > 0 ? max(1, Int64(milliseconds)) : 0
    }

    /// A time as SHOW gives it: in the largest unit that divides it.
    static func shown(_ milliseconds: Int64) -> String {
        if milliseconds == 0 { return "0" }
        for (factor, unit) in [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s")] as [(Int64, String)]
        where milliseconds % factor == 0 { return "\(milliseconds / factor)\(unit)" }
        return "\(milliseconds)ms"
    }
}

extension IsolationLevel {
    var name: String {
        switch self {
        case .readUncommitted: "read uncommitted"
        case .readCommitted: "read committed"
        case .repeatableRead: "repeatable read"
        case .serializable: "serializable"
        }
    }

    init?(name: String) {
        switch name.lowercased() {
        case "read uncommitted": self = .readUncommitted
        case "read committed": self = .readCommitted
        case "repeatable read": self = .repeatableRead
        case "serializable": self = .serializable
        default: return nil
        }
    }
}
