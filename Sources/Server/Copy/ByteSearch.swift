/// Finds the next of a few bytes, eight at a time: a field is mostly bytes that mean nothing to COPY.
///
/// `(x - 0x01…01) & ~x & 0x80…80` has the high bit set in the lowest byte of x that is zero ("Determine if a word has a
/// zero byte", https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord); bits above that one may be wrong, so
/// only the lowest counts.
struct ByteSearch {
    private let first: UInt64, second: UInt64, third: UInt64, fourth: UInt64
    private let bytes: (UInt8, UInt8, UInt8, UInt8)
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// Besides these, NUL is always found.
    init(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8) {
        bytes = (first, second, third, fourth)
        self.first = UInt64(first) &* Self.ones
        self.second = UInt64(second) &* Self.ones
        self.third = UInt64(third) &* Self.ones
        self.fourth = UInt64(fourth) &* Self.ones
    }

    /// Where the next of them is, or `end`. `high` collects the bits of what was passed over, and may collect those of
    /// a few bytes behind it.
    @inline(__always)
    func next(
        in base: UnsafeMutablePointer<UInt8>, from start: Int, to end: Int, _ high: inout UInt64
    ) -> Int {
        var position = start
        while end - position >= 8 {
            let word = UnsafeRawPointer(base + position).loadUnaligned(as: UInt64.self).littleEndian
            high |= word
            let found =
                Self.zeros(word) | Self.zeros(word ^ first) | Self.zeros(word ^ second) | Self.zeros(word ^ third)
                | Self.zeros(word ^ fourth)
            if found != 0 { return position + found.trailingZeroBitCount >> 3 }
            position += 8
        }
        while position < end {
            let byte = base[position]
            high |= UInt64(byte)
            if byte == 0 || byte == bytes.0 || byte == bytes.1 || byte == bytes.2 || byte == bytes.3 { return position }
            position += 1
        }
        return end
    }

    @inline(__always)
    private static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & highs }

    /// Whether what was collected has a byte beyond ASCII.
    @inline(__always)
    static func hasHighBytes(_ high: UInt64) -> Bool { high & highs != 0 }
}
