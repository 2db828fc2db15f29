/// A decimal as PostgreSQL's numeric has it, from the text of a number.
struct DecimalNumber {
    private let isNegative: Bool
    /// Of the whole part without leading zeros, and of the fraction as it was written.
    private let whole: [UInt8]
    private let fraction: [UInt8]

    /// The most digits on either side of the point. A double has 309 before and 324 behind it at the most.
    private static let digitLimit = 1000

    /// nil when it is no number: digits with a sign, a point and an exponent.
    init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        func digits() -> [UInt8] {
            let found = rest.prefix(while: isDigit)
            rest = rest.dropFirst(found.count)
            return found.map { $0 - 0x30 }
        }
        var whole = digits()
        var fraction: [UInt8] = []
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            fraction = digits()
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        var places = 0
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            let sign = rest.first
            if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest = rest.dropFirst() }
            let exponent = digits()
            guard !exponent.isEmpty, exponent.count <= 4 else { return nil }
            places = exponent.reduce(0) { $0 * 10 + Int($1) }
            if sign == UInt8(ascii: "-") { places = -places }
        }
        // As many digits as there will be when the point has been moved, which takes a step for each.
        guard rest.isEmpty, abs(places) <= Self.digitLimit, whole.count + places <= Self.digitLimit,
            fraction.count - places <= Self.digitLimit
        else { return nil }
        Self.shift(&whole, &fraction, by: places)
        self.whole = whole.withoutLeadingZeros
        self.fraction = fraction
    }

    private static func shift(_ whole: inout [UInt8], _ fraction: inout [UInt8], by places: Int) {
        if places > 0 {
            let moved = Swift.min(places, fraction.count)
            whole = (whole + fraction[..<moved]).withoutLeadingZeros
            fraction.removeFirst(moved)
            // Zero is none but itself.
            if !whole.isEmpty { whole += repeatElement(0, count: places - moved) }
        } else if places < 0 {
            let moved = whole.suffix(-places)
            fraction = repeatElement(0, count: -places - moved.count) + moved + fraction
            whole.removeLast(moved.count)
        }
    }

    var text: String {
        let digits = { (part: [UInt8]) in String(decoding: part.map { $0 + 0x30 }, as: UTF8.self) }
        let isZero = (whole + fraction).allSatisfy { $0 == 0 }
        return (isNegative && !isZero ? "-" : "") + (whole.isEmpty ? "0" : digits(whole))
            + (fraction.isEmpty ? "" : "." + digits(fraction))
    }

    /// Zeros behind the last digit are no other number, and zero has no sign.
    func isEqual(to other: DecimalNumber) -> Bool {
        func significant(_ digits: [UInt8]) -> ArraySlice<UInt8> { digits[..<((digits.lastIndex { $0 != 0 } ?? -1) + 1)] }
        guard whole == other.whole, significant(fraction) == significant(other.fraction) else { return false }
        return isNegative == other.isNegative || whole.isEmpty && significant(fraction).isEmpty
    }

    /// nil: it is none of 64 bits.
    var integer: Int64? {
        guard fraction.allSatisfy({ $0 == 0 }), whole.count <= 19 else { return nil }
        let digits = String(decoding: whole.map { $0 + 0x30 }, as: UTF8.self)
        return whole.isEmpty ? 0 : Int64((isNegative ? "-" : "") + digits)
    }

    /// As numeric_send writes it: see `NumericCodec`.
    var binary: [UInt8] {
        let padding = [UInt8](repeating: 0, count: (4 - whole.count % 4) % 4)
        let padded = padding + whole + fraction + [UInt8](repeating: 0, count: (4 - fraction.count % 4) % 4)
        var groups = stride(from: 0, to: padded.count, by: 4).map { start in
            padded[start..<(start + 4)].reduce(0) { $0 * 10 + Int($1) }
        }
        var weight = (padding.count + whole.count) / 4 - 1
        while groups.last == 0 { groups.removeLast() }
        while groups.first == 0 {
            groups.removeFirst()
            weight -= 1
        }
        if groups.isEmpty { weight = 0 }
        let words = [groups.count, weight & 0xFFFF, isNegative && !groups.isEmpty ? 0x4000 : 0, fraction.count] + groups
        return words.flatMap { [UInt8($0 >> 8 & 0xFF), UInt8($0 & 0xFF)] }
    }
}

extension [UInt8] {
    fileprivate var withoutLeadingZeros: [UInt8] { first == 0 ? Array(drop { $0 == 0 }) : self }
}
