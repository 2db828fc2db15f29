import PostgresWire

/// PostgreSQL's binary numeric: a count of base-10000 digits, the weight of the first, a sign, a display scale, the
/// digits, each two bytes. Source: numeric_send in src/backend/utils/adt/numeric.c.
enum NumericCodec {
    /// The decimal text of a binary numeric, or nil when the bytes are none.
    static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
        func word(_ index: Int) -> Int { Int(bytes[index * 2]) << 8 | Int(bytes[index * 2 + 1]) }
        guard bytes.count >= 8, bytes.count % 2 == 0 else { return nil }
        let count = word(0)
        let weight = Int(Int16(truncatingIfNeeded: word(1)))
        let scale = word(3)
        guard bytes.count == 8 + count * 2, scale <= 0x3FFF, abs(weight) <= 1000 else { return nil }
        let sign = word(2)
        switch sign {
        case 0xC000: return "NaN"
        case 0xD000: return "Infinity"
        case 0xF000: return "-Infinity"
        default: break
        }
        guard sign == 0 || sign == 0x4000 else { return nil }
        var digits: [Int] = []
        for index in 0..<count {
            guard word(4 + index) < 10_000 else { return nil }
            digits.append(word(4 + index))
        }
        func group(_ position: Int) -> String {
            let index = weight - position
            let value = digits.indices.contains(index) ? digits[index] : 0
            let text = String(value)
            return String(repeating: "0", count: 4 - text.utf8.count) + text
        }
        var whole = ""
        if weight >= 0 { for position in stride(from: weight, through: 0, by: -1) { whole += group(position) } }
        whole = String(whole.drop { $0 == "0" })
        if whole.isEmpty { whole = "0" }
        var fraction = ""
        var position = -1
        while fraction.utf8.count < scale {
            fraction += group(position)
            position -= 1
        }
        let result = scale > 0 ? whole + "." + fraction.prefix(scale) : whole
        return sign == 0x4000 ? "-" + result : result
    }
}
