import PostgresWire

/// A date or time as SQLite's date functions take and make it: `YYYY-MM-DD`, `HH:MM`, `HH:MM:SS.SSS`, or both with a
/// space or a T between, and a time zone (https://www.sqlite.org/lang_datefunc.html#time_values). Numbers, which there
/// may be days or seconds, are none: nothing says which.
struct MomentText {
    /// Days since 2000-01-01; nil when there is only a time.
    private(set) var days: Int64?
    /// nil when there is only a date.
    private(set) var microseconds: Int64?
    /// What has to be subtracted for UTC; nil without a time zone.
    private(set) var offsetMicroseconds: Int64?
    /// The time zone is one that PostgreSQL's drivers write and SQLite's functions do not take: `+02`, or behind a date.
    private(set) var hasForeignZone = false

    private let bytes: UnsafeRawBufferPointer
    private var index = 0

    /// nil when it is none.
    init?(_ text: UnsafeRawBufferPointer) {
        bytes = text
        if text.count > 4, text[4] == UInt8(ascii: "-") {
            guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
                (1...12).contains(month), (1...DateTimeCodec.daysInMonth(month, of: year)).contains(day)
            else { return nil }
            days = DateTimeCodec.days(year: year, month: month, day: day)
            if index == text.count { return }
            let isSeparated = skip(" ") || skip("T")
            // `2024-01-02 +01`: pgjdbc's setDate().
            if index < text.count, text[index] == UInt8(ascii: "+") || text[index] == UInt8(ascii: "-") {
                guard readZone(), index == text.count else { return nil }
                hasForeignZone = true
                return
            }
            guard isSeparated else { return nil }
        }
        guard readTime(), readZone(), index == text.count else { return nil }
    }

    private mutating func skip(_ byte: UnicodeScalar) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: byte) else { return false }
        index += 1
        return true
    }

    private mutating func number(_ width: Int) -> Int64? {
        guard index + width <= bytes.count else { return nil }
        var value: Int64 = 0
        for byte in bytes[index..<(index + width)] {
            guard isDigit(byte) else { return nil }
            value = value * 10 + Int64(byte - 0x30)
        }
        index += width
        return value
    }

    private mutating func readTime() -> Bool {
        guard let hour = number(2), hour < 24, skip(":"), let minute = number(2), minute < 60 else { return false }
        var total = (hour * 60 + minute) * 60_000_000
        if skip(":") {
            guard let second = number(2), second < 60 else { return false }
            total += second * 1_000_000
            if skip(".") {
                guard let fraction = readFraction() else { return false }
                total += fraction
            }
        }
        // As a time of day 24:00:00 is none of SQLite's.
        microseconds = days == nil ? min(total, DateTimeCodec.microsecondsPerDay - 1) : total
        return true
    }

    /// In microseconds. What there is no room for rounds, as PostgreSQL's `rint(strtod(…) * 1000000)` does it: half to even.
    private mutating func readFraction() -> Int64? {
        let start = index
        var (digits, scale) = (0.0, 1.0)
        while let digit = number(1) {
            // More digits than a double holds exactly.
            guard index - start <= 15 else { continue }
            (digits, scale) = (digits * 10 + Double(digit), scale * 10)
        }
        return index > start ? Int64((digits / scale * 1_000_000).rounded(.toNearestOrEven)) : nil
    }

    private mutating func readZone() -> Bool {
        while skip(" ") {}
        if skip("Z") || skip("z") {
            offsetMicroseconds = 0
            return true
        }
        let isEast = skip("+")
        guard isEast || skip("-") else { return true }
        guard let hours = number(2), hours <= 15 else { return false }
        var seconds = hours * 3600
        hasForeignZone = index == bytes.count
        if skip(":") || index < bytes.count {
            guard let minutes = number(2), minutes < 60 else { return false }
            seconds += minutes * 60
        }
        // Local mean times of long ago.
        if skip(":") {
            guard let found = number(2), found < 60 else { return false }
            seconds += found
            hasForeignZone = true
        }
        offsetMicroseconds = seconds * (isEast ? 1_000_000 : -1_000_000)
        return true
    }

    // MARK: As PostgreSQL's types. nil: it is no such value.

    var date: Int32? {
        guard let days, microseconds ?? 0 == 0, offsetMicroseconds ?? 0 == 0 else { return nil }
        return Int32(exactly: days)
    }

    var time: Int64? {
        guard days == nil, let microseconds, offsetMicroseconds == nil else { return nil }
        return microseconds
    }

    /// One that names a time zone, be it UTC, is no timestamp without one: a client that is in another would take it for
    /// its own time, and write it back as another moment.
    var timestamp: Int64? {
        guard let days, offsetMicroseconds == nil else { return nil }
        return days * DateTimeCodec.microsecondsPerDay + (microseconds ?? 0)
    }

    /// Without a time zone it is UTC, as for SQLite's functions.
    var timestamptz: Int64? {
        guard let days else { return nil }
        return days * DateTimeCodec.microsecondsPerDay + (microseconds ?? 0) - (offsetMicroseconds ?? 0)
    }

    // MARK: As SQLite's text of PostgreSQL's types

    static let types: [TypeOID] = [.date, .time, .timestamp, .timestamptz]

    /// Of one of these, or of a time with a time zone. What PostgreSQL's input function makes of it: "PostgreSQL … will silently ignore any
    /// time zone indication" for a timestamp without one, and turns one that has it into UTC.
    /// https://www.postgresql.org/docs/current/datatype-datetime.html#DATATYPE-DATETIME-INPUT-TIME-STAMPS
    func text(of type: TypeOID) throws(WireError) -> String? {
        switch type {
        case .date: return try days.map { days throws(WireError) in try DateTimeCodec.text(days: days) }
        case .time: return try microseconds.map { time throws(WireError) in try DateTimeCodec.text(timeOfDay: time) }
        case .timetz:
            guard days == nil, let microseconds else { return nil }
            return try DateTimeCodec.text(timeOfDay: microseconds)
                + DateTimeCodec.text(secondsWest: -(offsetMicroseconds ?? 0) / 1_000_000)
        case .timestamp:
            guard let days else { return nil }
            return try DateTimeCodec.text(timestamp: days * DateTimeCodec.microsecondsPerDay + (microseconds ?? 0))
        case .timestamptz:
            guard let timestamptz else { return nil }
            return try DateTimeCodec.text(timestamp: timestamptz) + "+00:00"
        default: return nil
        }
    }

    /// What a date or timestamp, written as `text(of:)` does, is as another of PostgreSQL's types.
    ///
    /// - Parameters:
    ///   - cast: the statement says so; it loses what that has no room for.
    ///   - column: it meets one of this type. It stays what it is rather than be another moment, and keeps its time zone.
    static func text(_ text: String, cast: TypeOID, column: TypeOID) throws(WireError) -> String {
        let value = cast == .unspecified ? text : try Self.text(text, as: cast, isCast: true)
        return column == .unspecified ? value : try Self.text(value, as: column, isCast: false)
    }

    private static func text(_ text: String, as type: TypeOID, isCast: Bool) throws(WireError) -> String {
        try text.withBytes { bytes throws(WireError) in
            guard let moment = MomentText(bytes) else { return text }
            if !isCast {
                if type == .date, moment.microseconds ?? 0 != 0 { return text }
                if type == .timestamp, moment.offsetMicroseconds != nil { return text }
            }
            return try moment.text(of: type) ?? text
        }
    }

    /// What a text without a type becomes in a column of one of these types: without its time zone where PostgreSQL's drivers alone spell
    /// it so, or where a client is told the type. nil: it stays as it is.
    func text(inColumnOf type: TypeOID, isDeclared: Bool) throws(WireError) -> String? {
        guard hasForeignZone || (isDeclared && offsetMicroseconds != nil) else { return nil }
        return try text(of: type)
    }

    /// `2026-11-23 02:35:22.54111316 +0100 CET m=+0.002472970`: what Go's pgx 4 sends for a parameter that was announced as text is what
    /// `time.Time.String()` gives, of which its documentation says that it is "meant for debugging"
    /// (https://pkg.go.dev/time#Time.String). No date function takes it, and it is no order to sort by.
    static func isDebugTextOfGo(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.count > 26, text[10] == UInt8(ascii: " "),
            let end = text[11...].firstIndex(of: UInt8(ascii: " ")), end + 7 <= text.count, text[end + 6] == UInt8(ascii: " "),
            text[end + 1] == UInt8(ascii: "+") || text[end + 1] == UInt8(ascii: "-"),
            text[(end + 2)..<(end + 6)].allSatisfy(isDigit)
        else { return false }
        return MomentText(UnsafeRawBufferPointer(rebasing: text[..<end])) != nil
    }

    static let hintForGo =
        "pgx 4 sends times as Go's debug text where a parameter is announced as text: connect with "
        + "options=-c result_typing=declared, or write $1::timestamptz."
}
