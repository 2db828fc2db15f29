import PostgresWire

/// Dates and times between PostgreSQL's binary format, which counts days or microseconds from 2000-01-01, and SQLite's
/// ISO 8601 text. Source: date_recv, time_recv and timestamp_recv in src/backend/utils/adt/.
enum DateTimeCodec {
    static let microsecondsPerDay: Int64 = 86_400_000_000
    /// Days from 1970-01-01 to 2000-01-01.
    private static let epoch: Int64 = 10_957

    // MARK: To text. nil: the bytes are no such value.

    static func date(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> String? {
        guard let days = BinaryCodec.int32(bytes) else { return nil }
        guard days != Int32.max, days != Int32.min else { throw outOfRange("infinity") }
        return try text(days: Int64(days))
    }

    static func time(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> String? {
        guard let microseconds = BinaryCodec.int64(bytes), (0...microsecondsPerDay).contains(microseconds)
        else { return nil }
        return try text(timeOfDay: microseconds)
    }

    /// 24:00:00 is a time in PostgreSQL and none in SQLite.
    static func text(timeOfDay microseconds: Int64) throws(WireError) -> String {
        guard microseconds < microsecondsPerDay else { throw outOfRange("24:00:00") }
        return text(time: microseconds)
    }

    /// A time and then the seconds from it to UTC, so that what is east of Greenwich is negative. Source: timetz_recv.
    static func timetz(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> String? {
        guard bytes.count == 12, let time = try time(UnsafeRawBufferPointer(rebasing: bytes[0..<8])),
            let zone = BinaryCodec.int32(UnsafeRawBufferPointer(rebasing: bytes[8..<12])),
            abs(Int64(zone)) < 57_600
        else { return nil }
        return time + (try text(secondsWest: Int64(zone)))
    }

    /// SQLite's time zones have no seconds, and nobody's have any since 1972: without them it would be another time.
    static func text(secondsWest seconds: Int64) throws(WireError) -> String {
        guard seconds % 60 == 0 else {
            throw WireError(
                state: .datetimeFieldOverflow, message: "a time zone with seconds cannot be stored",
                detail: "SQLite's time zones are hours and minutes.")
        }
        let minutes = Int64(seconds.magnitude) / 60
        return (seconds <= 0 ? "+" : "-") + padded(minutes / 60, 2) + ":" + padded(minutes % 60, 2)
    }

    static func timestamp(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> String? {
        guard let microseconds = BinaryCodec.int64(bytes) else { return nil }
        guard microseconds != Int64.max, microseconds != Int64.min else { throw outOfRange("infinity") }
        return try text(timestamp: microseconds)
    }

    /// - Parameter microseconds: since 2000-01-01.
    static func text(timestamp microseconds: Int64) throws(WireError) -> String {
        let days = floor(microseconds, microsecondsPerDay)
        // Refuses what is out of range before it is multiplied: the first microsecond of Int64.min's day is none of Int64.
        let date = try text(days: days)
        return date + " " + text(time: microseconds - days * microsecondsPerDay)
    }

    /// - Parameter days: since 2000-01-01.
    static func text(days: Int64) throws(WireError) -> String {
        let (year, month, day) = civil(days + epoch)
        guard (0...9999).contains(year) else { throw outOfRange("the year \(year)") }
        return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2)
    }

    /// What PostgreSQL sends in text, whose years have four digits or more, and none is 0: the one before 1 is 1 BC.
    static func sent(days: Int64, _ rest: String = "") -> String {
        let (year, month, day) = civil(days + epoch)
        let date = padded(year > 0 ? year : 1 - year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2)
        return date + rest + (year > 0 ? "" : " BC")
    }

    static func sent(timestamp microseconds: Int64, zone: String = "") -> String {
        let days = floor(microseconds, microsecondsPerDay)
        return sent(days: days, " " + text(time: microseconds - days * microsecondsPerDay) + zone)
    }

    static func text(time microseconds: Int64) -> String {
        let (seconds, fraction) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let text = padded(seconds / 3600, 2) + ":" + padded(seconds / 60 % 60, 2) + ":" + padded(seconds % 60, 2)
        return fraction == 0 ? text : text + "." + padded(fraction, 6)
    }

    static func outOfRange(_ what: String) -> WireError {
        WireError(
            state: .datetimeFieldOverflow, message: "\(what) cannot be stored as a date or time",
            detail: "SQLite's dates go from 0000-01-01 to 9999-12-31.")
    }

    static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
    }

    // MARK: The calendar. Both are the well-known conversions between days and dates by eras of 400 years.

    private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// Days since 1970-01-01 to a date of the Gregorian calendar, which here has always been in use.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // Counted from 0000-03-01, so that leap days end their years.
        let shifted = days + 719_468
        let era = floor(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, day)
    }

    /// Days since 2000-01-01.
    static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floor(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468 - epoch
    }

    static func daysInMonth(_ month: Int64, of year: Int64) -> Int64 {
        if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }
}
