import Glibc

/// A wall clock time as text in UTC, "2026-11-21T05:10:49Z" (RFC 3339), for people and for the maintenance file.
package enum UTCTime {
    /// Seconds since 1970 as text.
    package static func text(_ seconds: Int64) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        let date = "\(padded(parts.tm_year + 1900, 4))-\(padded(parts.tm_mon + 1, 2))-\(padded(parts.tm_mday, 2))"
        return "\(date)T\(padded(parts.tm_hour, 2)):\(padded(parts.tm_min, 2)):\(padded(parts.tm_sec, 2))Z"
    }

    /// The same with milliseconds, "2026-11-21T05:10:49.250Z".
    package static func text(microseconds: Int64) -> String {
        let milliseconds = max(0, microseconds) / 1000
        return "\(text(milliseconds / 1000).dropLast()).\(padded(Int32(milliseconds % 1000), 3))Z"
    }

    /// Nil for everything that `text` does not write.
    package static func seconds(_ text: some StringProtocol) -> Int64? {
        let numbers = text.split { !$0.isASCII || !$0.isNumber }.compactMap { Int32($0) }
        guard numbers.count == 6, text.utf8.count == 20 else { return nil }
        var parts = tm()
        parts.tm_year = numbers[0] - 1900
        parts.tm_mon = numbers[1] - 1
        (parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[2], numbers[3], numbers[4], numbers[5])
        let seconds = Int64(timegm(&parts))
        // The 31st of February comes back as another day.
        return Self.text(seconds) == text ? seconds : nil
    }

    private static func padded(_ number: Int32, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
