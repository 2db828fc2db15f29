import Glibc
import POSIX

/// A few of PostgreSQL's date functions, on SQLite's ISO-8601 text ("YYYY-MM-DD HH:MM:SS.SSSSSS", UTC):
/// https://www.postgresql.org/docs/current/functions-datetime.html
enum DateFunctions {
    static func register(on connection: Connection) {
        // The time of the call, in the form SQLite's own functions take and give. Not deterministic, or it could stand in
        // an index.
        for name: StaticString in ["now", "clock_timestamp", "statement_timestamp", "transaction_timestamp"] {
            connection.register(name, 0, .volatile) { $0.answer(now()) }
        }
        connection.register("date_trunc", 2, .deterministic) { call in
            answer(call, "date_trunc") { date, unit in date.truncated(to: unit).map { text in { call.answer(text) } } }
        }
        connection.register("date_part", 2, .deterministic) { call in
            answer(call, "date_part") { date, unit in date.part(unit).map { number in { call.answer(number) } } }
        }
    }

    /// - Parameter result: of a date and a unit; nil where there is no such unit.
    private static func answer(_ call: FunctionCall, _ name: String, _ result: (DateFields, String) -> (() -> Void)?) {
        guard !call.hasNull else { return call.answerNull() }
        guard let date = DateFields(call.bytes(1)) else {
            return call.fail("invalid input syntax for a date and time: \"\(call.quoted(1))\"")
        }
        // No unit's name is as long as what is quoted.
        guard let answer = result(date, call.quoted(0).lowercased()) else {
            return call.fail("unit \"\(call.quoted(0))\" is not known to \(name)" + (date.hasDate ? "" : " for a time without a date"))
        }
        answer()
    }

    /// What a column has by DEFAULT (now()) equals itself when its client sends it back: see `DateFields.text`.
    private static func now() -> String {
        let microseconds = SystemClock.nanoseconds(CLOCK_REALTIME) / 1000
        // A clock that has never been set may be before 1970.
        var (second, fraction) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        if fraction < 0 { (second, fraction) = (second - 1, fraction + 1_000_000) }
        var fields = tm()
        var seconds = time_t(second)
        gmtime_r(&seconds, &fields)
        let date = DateFields(
            year: Int(fields.tm_year) + 1900, month: Int(fields.tm_mon) + 1, day: Int(fields.tm_mday),
            hour: Int(fields.tm_hour), minute: Int(fields.tm_min), second: Int(fields.tm_sec), microseconds: Int(fraction))
        return date.text
    }
}

/// A date and time taken apart.
struct DateFields {
    var year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0, microseconds = 0
    /// false of a time by itself, which is of no day.
    private(set) var hasDate = true

    init(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, microseconds: Int) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second, self.microseconds) = (hour, minute, second, microseconds)
    }

    /// `YYYY-MM-DD`, then optionally ` ` or `T` and `HH:MM[:SS[.fraction]]`, then optionally `Z` or `+00[:00]`; or such a time alone.
    init?(_ bytes: UnsafeRawBufferPointer) {
        if Self.isAt(2, ":", bytes) {
            guard readTime(bytes, from: 0) == bytes.count else { return nil }
            hasDate = false
            return
        }
        guard let year = Self.number(bytes, 0, 4), Self.isAt(4, "-", bytes), let month = Self.number(bytes, 5, 2),
            Self.isAt(7, "-", bytes), let day = Self.number(bytes, 8, 2),
            (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        var end = 10
        if Self.isAt(10, " ", bytes) || Self.isAt(10, "T", bytes) {
            guard let behind = readTime(bytes, from: 11) else { return nil }
            end = behind
        }
        let zone = bytes[end...]
        guard zone.count <= "+00:00".utf8.count, ["", "Z", "+00", "+00:00"].contains(String(decoding: zone, as: UTF8.self)) else {
            return nil
        }
    }

    /// - Returns: where it ends.
    private mutating func readTime(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let hour = Self.number(bytes, start, 2), Self.isAt(start + 2, ":", bytes), let minute = Self.number(bytes, start + 3, 2),
            hour < 24, minute < 60
        else { return nil }
        (self.hour, self.minute) = (hour, minute)
        guard Self.isAt(start + 5, ":", bytes) else { return start + 5 }
        guard let second = Self.number(bytes, start + 6, 2), second < 60 else { return nil }
        self.second = second
        guard Self.isAt(start + 8, ".", bytes) else { return start + 8 }
        let end: Int
        (microseconds, end) = Self.fraction(bytes, from: start + 9)
        return end
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ count: Int) -> Int? {
        guard start + count <= bytes.count else { return nil }
        var value = 0
        for byte in bytes[start..<(start + count)] {
            guard byte &- 0x30 < 10 else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        return value
    }

    private static func isAt(_ index: Int, _ byte: Character, _ bytes: UnsafeRawBufferPointer) -> Bool {
        index < bytes.count && bytes[index] == byte.asciiValue
    }

    private static func fraction(_ bytes: UnsafeRawBufferPointer, from start: Int) -> (Int, Int) {
        var (value, scale, index) = (0, 100_000, start)
        while index < bytes.count, bytes[index] &- 0x30 < 10 {
            value += Int(bytes[index] - 0x30) * scale
            scale /= 10
            index += 1
        }
        return (value, index)
    }

    static func days(in month: Int, of year: Int) -> Int {
        if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// One moment is one text, as a parameter of it is stored: six digits, or none of a whole second.
    var text: String {
        func padded(_ value: Int, _ width: Int) -> String {
            // As SQLite writes the year before its first.
            if value < 0 { return "-" + padded(-value, width) }
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let time = "\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))"
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        return microseconds == 0 ? "\(date) \(time)" : "\(date) \(time).\(padded(microseconds, 6))"
    }

    /// nil: there is no such unit, or this is a time without a date.
    func truncated(to unit: String) -> String? {
        guard hasDate else { return nil }
        var result = self
        let units = ["millisecond", "second", "minute", "hour", "day", "month", "year"]
        let unit = unit.hasSuffix("s") ? String(unit.dropLast()) : unit
        if unit == "week" {
            result.move(days: 1 - weekday)
            return result.truncated(to: "day")
        }
        if unit == "quarter" {
            result.month = (month - 1) / 3 * 3 + 1
            return result.truncated(to: "month")
        }
        guard let level = units.firstIndex(of: unit) else { return nil }
        result.microseconds = level > 0 ? 0 : microseconds / 1000 * 1000
        if level > 1 { result.second = 0 }
        if level > 2 { result.minute = 0 }
        if level > 3 { result.hour = 0 }
        if level > 4 { result.day = 1 }
        if level > 5 { result.month = 1 }
        return result.text
    }

    /// By less than a month.
    private mutating func move(days count: Int) {
        day += count
        if day < 1 {
            month -= 1
            if month < 1 { (month, year) = (12, year - 1) }
            day += Self.days(in: month, of: year)
        } else if day > Self.days(in: month, of: year) {
            day -= Self.days(in: month, of: year)
            month += 1
            if month > 12 { (month, year) = (1, year + 1) }
        }
    }

    /// nil: there is no such unit, or a time has no such part.
    func part(_ unit: String) -> Double? {
        let unit = unit.hasSuffix("s") ? String(unit.dropLast()) : unit
        return partOfTime(unit) ?? (hasDate ? partOfDate(unit) : nil)
    }

    private func partOfTime(_ unit: String) -> Double? {
        switch unit {
        case "hour": Double(hour)
        case "minute": Double(minute)
        case "second": Double(second) + Double(microseconds) / 1_000_000
        // "The seconds field, including fractional parts, multiplied by 1000. Note that this includes full seconds."
        // https://www.postgresql.org/docs/current/functions-datetime.html#FUNCTIONS-DATETIME-EXTRACT
        case "millisecond": Double(second * 1000) + Double(microseconds) / 1000
        case "microsecond": Double(second * 1_000_000 + microseconds)
        case "epoch": Double(secondsSinceEpoch) + Double(microseconds) / 1_000_000
        default: nil
        }
    }

    /// Of a time alone since midnight.
    private var secondsSinceEpoch: Int {
        let ofDay = hour * 3600 + minute * 60 + second
        return hasDate ? daysSinceEpoch * 86_400 + ofDay : ofDay
    }

    private func partOfDate(_ unit: String) -> Double? {
        switch unit {
        // "The first century starts at 0001-01-01 00:00:00 AD", so 2000 is of the 20th, and so for millennia. The year 0 is 1 BC.
        case "millennium": Double(year > 0 ? (year + 999) / 1000 : -1)
        case "century": Double(year > 0 ? (year + 99) / 100 : -1)
        case "decade": Double(year / 10)
        case "year": Double(year)
        case "isoyear": Double(thursday.year)
        case "quarter": Double((month + 2) / 3)
        case "month": Double(month)
        case "day": Double(day)
        case "week": Double((thursday.dayOfYear - 1) / 7 + 1)
        case "dow": Double(weekday % 7)
        case "isodow": Double(weekday)
        case "doy": Double(dayOfYear)
        default: nil
        }
    }

    private var dayOfYear: Int {
        daysSinceEpoch - DateFields(year: year, month: 1, day: 1, hour: 0, minute: 0, second: 0, microseconds: 0).daysSinceEpoch + 1
    }

    /// That of its week: to ISO 8601 a week belongs to the year that its Thursday is in.
    private var thursday: DateFields {
        var thursday = self
        thursday.move(days: 4 - weekday)
        return thursday
    }

    /// Monday is 1.
    private var weekday: Int { ((daysSinceEpoch + 3) % 7 + 7) % 7 + 1 }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar: years that begin in March end with the leap day.
    private var daysSinceEpoch: Int {
        let marchYear = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        // The first two months of the year 0 are of the one before it, and division is towards 0: 400 years later it is the same.
        let later = marchYear + 400
        let leapDays = later / 4 - later / 100 + later / 400
        return later * 365 + leapDays + dayOfYear - 719_468 - 146_097
    }
}
