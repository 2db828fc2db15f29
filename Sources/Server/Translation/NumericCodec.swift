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
        for index in 0..<count where word(4 + index) >= 10_000 { return nil }
        // Of zeros before the first digit, too, an element of eight bytes may have thousands.
        let zeros = (0..<count).prefix { word(4 + $0) == 0 }.count
        let first = zeros < count ? weight - zeros : -1
        var text: [UInt8] = []
        text.reserveCapacity(4 * max(0, first + 1) + scale + 6)
        func append(_ position: Int) {
            let index = weight - position
            let value = index >= 0 && index < count ? word(4 + index) : 0
            for unit in [1000, 100, 10, 1] { text.append(UInt8(ascii: "0") + UInt8(value / unit % 10)) }
        }
        for position in stride(from: first, through: 0, by: -1) { append(position) }
        text.removeFirst(text.prefix { $0 == UInt8(ascii: "0") }.count)
        if text.isEmpty { text.append(UInt8(ascii: "0")) }
        if scale > 0 {
            text.append(UInt8(ascii: "."))
            let end = text.count + scale
            // Behind the last digit there are only zeros, and an element of eight bytes may ask for sixteen thousand of them.
            var position = -1
            while text.count < end, weight - position < count {
                append(position)
                position -= 1
            }
            if text.count < end { text += repeatElement(UInt8(ascii: "0"), count: end - text.count) }
            text.removeLast(text.count - end)
        }
        let result = String(decoding: text, as: UTF8.self)
        return sign == 0x4000 ? "-" + result : result
    }
}
