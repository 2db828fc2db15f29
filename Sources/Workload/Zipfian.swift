import Glibc

/// Numbers of which some come far more often than others, as YCSB draws them: Gray et al., "Quickly Generating
/// Billion-Record Synthetic Databases", SIGMOD 1994, with the constant 0.99.
public struct Zipfian: Sendable {
    private let items: Double
    private let zeta: Double
    private let eta: Double
    private let secondIsBelow: Double

    private static let theta = 0.99
    private static let alpha = 1 / (1 - theta)

    /// 0 is the most frequent, 1 the next, and so on to below `items`. Takes a step for each item, once.
    public init(items: Int64) {
        var zeta = 0.0
        for item in 1...max(items, 1) { zeta += 1 / pow(Double(item), Self.theta) }
        self.init(items: items, zeta: zeta)
    }

    private init(items: Int64, zeta: Double) {
        self.items = Double(items)
        self.zeta = zeta
        secondIsBelow = 1 + pow(0.5, Self.theta)
        eta = items < 2 ? 0 : (1 - pow(2 / Double(items), 1 - Self.theta)) / (1 - secondIsBelow / zeta)
    }

    /// YCSB's "scrambled zipfian" draws from ten billion items, whose zeta its source gives as a constant, and spreads them
    /// by a hash: the most frequent are anywhere, and the same ones whatever the number of rows.
    /// https://github.com/brianfrankcooper/YCSB, ScrambledZipfianGenerator.java
    static let ofTenBillion = Zipfian(items: 10_000_000_000, zeta: 26.46902820178302)

    /// A number from 0 to below the count of items, for which one random number is drawn.
    public func draw(_ random: inout Random) -> Int64 {
        let u = random.fraction()
        let scaled = u * zeta
        if scaled < 1 { return 0 }
        if scaled < secondIsBelow { return 1 }
        return min(Int64(items * pow(eta * u - eta + 1, Self.alpha)), Int64(items) - 1)
    }

    /// FNV-1a over the eight bytes, without the sign, as YCSB does it.
    static func scattered(_ value: Int64) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        var rest = UInt64(bitPattern: value)
        for _ in 0..<8 {
            hash ^= rest & 0xFF
            hash &*= 1_099_511_628_211
            rest >>= 8
        }
        let signed = Int64(bitPattern: hash)
        return signed == .min ? .max : abs(signed)
    }
}
