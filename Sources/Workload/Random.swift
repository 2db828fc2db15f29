/// xoshiro256**, https://prng.di.unimi.it: a nanosecond for a number, 32 bytes of state, and a stream of its own for each
/// client. Not for secrets.
public struct Random: RandomNumberGenerator, Sendable {
    private var a: UInt64
    private var b: UInt64
    private var c: UInt64
    private var d: UInt64

    /// - Parameter stream: streams of one seed have nothing to do with each other.
    public init(seed: UInt64, stream: UInt64) {
        // "We suggest to use SplitMix64 to initialize the state of our generators starting from a 64-bit seed".
        var state = seed &+ Random.mixed(stream &+ 1)
        func step() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            return Random.mixed(state)
        }
        (a, b, c, d) = (step(), step(), step(), step())
    }

    /// SplitMix64's output function: every bit of the input reaches every bit of the result.
    @inlinable public static func mixed(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    public mutating func next() -> UInt64 {
        let result = Random.rotated(b &* 5, 7) &* 9
        let shifted = b << 17
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        d = Random.rotated(d, 45)
        return result
    }

    private static func rotated(_ value: UInt64, _ bits: UInt64) -> UInt64 { value << bits | value >> (64 - bits) }

    /// From 0 to below `bound`. The upper half of a product; the bias is below bound / 2^64, which no run is long enough
    /// to see.
    public mutating func below(_ bound: UInt64) -> UInt64 { next().multipliedFullWidth(by: bound).high }

    /// From 0 to below 1, in steps of 2^-53.
    public mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}
