/// A parameter's value before it is written out: three words, no memory of its own. A text is the seed of its letters.
public struct Value: Equatable, Sendable {
    /// How it is written: in digits, as "user" and twelve digits, or as random letters and digits.
    public enum Kind: UInt8, Sendable { case integer, key, text }

    /// What the number stands for.
    public let kind: Kind
    /// The integer, the key's number, or the seed of the text.
    public let number: Int64
    let length: Int

    /// A value of the kind `integer`.
    public init(integer: Int64) { self.init(kind: .integer, number: integer, length: 0) }

    init(kind: Kind, number: Int64, length: Int = 0) {
        self.kind = kind
        self.number = number
        self.length = length
    }

    /// How many bytes `write` may take, at least.
    public var mostBytes: Int { max(length, Self.mostBytesOfNumber) }
    /// "user" and a sign and 19 digits.
    static let mostBytesOfNumber = 24

    private static let letters: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
    private static let keyDigits = 12

    /// Writes it as text, `mostBytes` at most, and returns how many bytes it took.
    public func write(to bytes: UnsafeMutablePointer<UInt8>) -> Int {
        switch kind {
        case .integer: return Self.writeDecimal(number, digits: 1, to: bytes)
        case .key:
            bytes[0] = UInt8(ascii: "u")
            bytes[1] = UInt8(ascii: "s")
            bytes[2] = UInt8(ascii: "e")
            bytes[3] = UInt8(ascii: "r")
            return 4 + Self.writeDecimal(number, digits: Self.keyDigits, to: bytes + 4)
        case .text:
            writeLetters(to: bytes)
            return length
        }
    }

    /// Six random bits are a letter: ten of them from one random number.
    private func writeLetters(to bytes: UnsafeMutablePointer<UInt8>) {
        let letters = Self.letters.utf8Start
        var state = UInt64(bitPattern: number)
        var index = 0
        while index < length {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = Random.mixed(state)
            let end = min(index + 10, length)
            while index < end {
                bytes[index] = letters[Int(word & 63)]
                word >>= 6
                index += 1
            }
        }
    }

    /// At least so many digits.
    private static func writeDecimal(_ value: Int64, digits: Int, to bytes: UnsafeMutablePointer<UInt8>) -> Int {
        var count = 1
        var rest = value.magnitude
        while rest >= 10 {
            rest /= 10
            count += 1
        }
        count = max(count, digits)
        let sign = value < 0 ? 1 : 0
        if value < 0 { bytes[0] = UInt8(ascii: "-") }
        rest = value.magnitude
        for place in stride(from: sign + count - 1, through: sign, by: -1) {
            let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 10)
            bytes[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: remainder)
            rest = quotient
        }
        return sign + count
    }

    /// For callers that are in no hurry.
    public var text: String {
        String(unsafeUninitializedCapacity: mostBytes) { bytes in
            bytes.baseAddress.map { write(to: $0) } ?? 0
        }
    }
}
