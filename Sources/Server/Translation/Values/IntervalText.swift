/// An interval in PostgreSQL's and psycopg's words (`1 day 0:00:05`, `1 years 2 mons 3 days 4 hours 5 mins 6.5 secs`,
/// `3 days ago`), or as an ISO 8601 duration: one interval is one text in the database, however a client sends it.
/// https://www.postgresql.org/docs/current/datatype-datetime.html#DATATYPE-INTERVAL-INPUT
struct IntervalText {
    private var months: Int64 = 0
    private var days: Int64 = 0
    private var microseconds: Int64 = 0
    private var rest: ArraySlice<UInt8>

    /// More digits would overflow the products below; no interval of PostgreSQL's has as many.
    private static let digitLimit = 12

    /// PostgreSQL refuses a longer one: the room for a copy of it in interval_in, src/backend/utils/adt/timestamp.c. Units may come again
    /// and again, so it would be seconds' work.
    private static let byteLimit = 255

    /// nil when it is none.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= Self.byteLimit else { return nil }
        rest = Array(bytes)[...]
        let isDuration = rest.first == UInt8(ascii: "P")
        guard isDuration ? readDuration() : readWords() else { return nil }
        guard Int32(exactly: months) != nil, Int32(exactly: days) != nil else { return nil }
    }

    var text: String { IntervalCodec.text(months: months, days: days, microseconds: microseconds) }

    /// nil when the months or the days are more than the format has places for.
    var binary: [UInt8]? {
        guard let days = Int32(exactly: days), let months = Int32(exactly: months) else { return nil }
        return IntervalCodec.binary(months: months, days: days, microseconds: microseconds)
    }

    private mutating func accept(_ byte: UnicodeScalar) -> Bool {
        guard rest.first == UInt8(ascii: byte) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// So many a double holds exactly, and so the quotient is the double next to the number.
    private static let digitsOfFraction = 15

    private struct Quantity {
        var isNegative = false
        var whole: Int64 = 0
        /// Less than 1, or 1 where the seconds of a time round up.
        var fraction = 0.0

        func microseconds(perUnit unit: Int64) -> Int64? {
            let (product, tooLarge) = whole.multipliedReportingOverflow(by: unit)
            let (sum, tooLargeStill) = product.addingReportingOverflow(Self.rounded(fraction * Double(unit)))
            return tooLarge || tooLargeStill ? nil : isNegative ? -sum : sum
        }

        /// A half is rounded down. Source: AdjustFractMicroseconds in src/backend/utils/adt/datetime.c.
        private static func rounded(_ microseconds: Double) -> Int64 {
            let whole = microseconds.rounded(.down)
            return Int64(whole) + (microseconds - whole > 0.5 ? 1 : 0)
        }

        /// Of what has no halves here.
        var exact: Int64? { fraction == 0 ? (isNegative ? -whole : whole) : nil }
    }

    private mutating func quantity() -> Quantity? {
        var result = Quantity()
        result.isNegative = accept("-")
        if !result.isNegative { _ = accept("+") }
        let digits = rest.prefix(while: isDigit)
        guard digits.count <= Self.digitLimit else { return nil }
        rest = rest.dropFirst(digits.count)
        result.whole = digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        guard accept(".") else { return digits.isEmpty ? nil : result }
        let fraction = rest.prefix(while: isDigit)
        rest = rest.dropFirst(fraction.count)
        var (value, scale) = (0.0, 1.0)
        for digit in fraction.prefix(Self.digitsOfFraction) { (value, scale) = (value * 10 + Double(digit - 0x30), scale * 10) }
        result.fraction = value / scale
        return result
    }

    /// False: the unit is none, or the interval would be too long.
    private mutating func add(_ quantity: Quantity, _ unit: String) -> Bool {
        let seconds: Int64
        switch unit {
        case "year", "years", "y", "yr", "yrs": return addWhole(quantity, 12, \.months)
        case "mon", "mons", "month", "months": return addWhole(quantity, 1, \.months)
        case "week", "weeks", "w": return addWhole(quantity, 7, \.days)
        case "day", "days", "d": return addWhole(quantity, 1, \.days)
        case "hour", "hours", "h", "hr", "hrs": seconds = 3600
        case "min", "mins", "minute", "minutes", "m": seconds = 60
        case "sec", "secs", "second", "seconds", "s": seconds = 1
        default: return false
        }
        guard let value = quantity.microseconds(perUnit: seconds * 1_000_000) else { return false }
        let (sum, tooLarge) = microseconds.addingReportingOverflow(value)
        microseconds = sum
        return !tooLarge
    }

    private mutating func addWhole(_ quantity: Quantity, _ factor: Int64, _ part: WritableKeyPath<Self, Int64>) -> Bool {
        guard let value = quantity.exact, value.magnitude < 1 << 40 else { return false }
        let (sum, tooLarge) = self[keyPath: part].addingReportingOverflow(value * factor)
        self[keyPath: part] = sum
        return !tooLarge
    }

    private mutating func readWords() -> Bool {
        guard !rest.isEmpty else { return false }
        while !rest.isEmpty {
            if accept(" ") || accept("@") { continue }
            if rest.elementsEqual("ago".utf8) {
                (months, days, microseconds) = (0 &- months, 0 &- days, 0 &- microseconds)
                return true
            }
            guard let quantity = quantity() else { return false }
            if rest.first == UInt8(ascii: ":") {
                guard readTime(quantity) else { return false }
                continue
            }
            while accept(" ") {}
            let unit = rest.prefix { isIdentifierByte($0) }
            rest = rest.dropFirst(unit.count)
            // A number without a unit at the end: seconds.
            guard add(quantity, unit.isEmpty && rest.isEmpty ? "s" : String(decoding: unit.map(lowerASCII), as: UTF8.self))
            else { return false }
        }
        return true
    }

    /// The rest of `-12:34:56.7`, of which the hours have been read.
    private mutating func readTime(_ hours: Quantity) -> Bool {
        guard hours.fraction == 0, accept(":"), let minutes = quantity(), minutes.fraction == 0, minutes.whole < 60,
            add(hours, "h")
        else { return false }
        var seconds = Quantity()
        if accept(":") {
            guard let found = quantity(), found.whole < 60 else { return false }
            seconds = found
            // Here a half rounds to even, as in a time of day: ParseFractionalSecond in the same file.
            seconds.fraction = (found.fraction * 1_000_000).rounded(.toNearestOrEven) / 1_000_000
        }
        guard !minutes.isNegative, !seconds.isNegative else { return false }
        var signed = (minutes, seconds)
        (signed.0.isNegative, signed.1.isNegative) = (hours.isNegative, hours.isNegative)
        return add(signed.0, "m") && add(signed.1, "s")
    }

    /// `P1Y2M3DT4H5M6.5S`.
    private mutating func readDuration() -> Bool {
        rest = rest.dropFirst()
        guard !rest.isEmpty else { return false }
        var isTime = false
        while !rest.isEmpty {
            if !isTime, accept("T") {
                isTime = true
                guard !rest.isEmpty else { return false }
                continue
            }
            guard let quantity = quantity(), let unit = rest.first else { return false }
            rest = rest.dropFirst()
            let name =
                switch (unit, isTime) {
                case (UInt8(ascii: "Y"), false): "year"
                case (UInt8(ascii: "M"), false): "mon"
                case (UInt8(ascii: "W"), false): "week"
                case (UInt8(ascii: "D"), false): "day"
                case (UInt8(ascii: "H"), true): "hour"
                case (UInt8(ascii: "M"), true): "min"
                case (UInt8(ascii: "S"), true): "sec"
                default: ""
                }
            guard add(quantity, name) else { return false }
        }
        return true
    }
}
