/// A SQLSTATE: five characters, of which the first two name the class. Kept as one word, so that comparing and
/// hashing cost nothing.
public struct SQLState: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    private let packed: UInt64

    /// Traps unless the literal is five of `0-9A-Z`: a wrong one is a mistake of ours, not of a client.
    public init(stringLiteral code: StaticString) {
        guard let state = code.withUTF8Buffer(Self.pack) else {
            preconditionFailure("a SQLSTATE is five digits or capital letters")
        }
        packed = state
    }

    /// Nil unless the text is five of `0-9A-Z`.
    public init?(_ code: String) {
        var code = code
        guard let state = code.withUTF8(Self.pack) else { return nil }
        packed = state
    }

    private static func pack(_ code: UnsafeBufferPointer<UInt8>) -> UInt64? {
        guard code.count == 5 else { return nil }
        var packed: UInt64 = 0
        for byte in code {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
                packed = packed << 8 | UInt64(byte)
            default:
                return nil
            }
        }
        return packed
    }

    /// The five characters.
    public var code: String {
        String(unsafeUninitializedCapacity: 5) { bytes in
            for index in 0..<5 { bytes[index] = UInt8(truncatingIfNeeded: packed >> UInt64(8 * (4 - index))) }
            return 5
        }
    }

    public var description: String { code }
}
