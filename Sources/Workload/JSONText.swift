/// A JSON value, written out without Foundation. https://www.rfc-editor.org/rfc/rfc8259
public indirect enum JSON: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// With three decimals.
    case number(Double)
    case string(String)
    case array([JSON])
    /// In the order given.
    case object([(String, JSON)])

    /// The greatest Int64 in place of what is beyond it.
    public static func integer(_ value: UInt64) -> JSON { .integer(Int64(clamping: value)) }
    /// For counts, which are `Int`.
    public static func integer(_ value: Int) -> JSON { .integer(Int64(value)) }

    /// On one line. Nothing is escaped but what JSON requires.
    public var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += decimal(value, places: 3)
        case .string(let value): Self.quote(value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += ", " }
                value.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += ", " }
                Self.quote(member.0, to: &text)
                text += ": "
                member.1.write(to: &text)
            }
            text += "}"
        }
    }

    private static func quote(_ value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

/// A number with so many decimals. JSON has no infinity: what is not finite is 0.
func decimal(_ value: Double, places: Int) -> String {
    guard value.isFinite, value.magnitude < 1e15 else { return "0" }
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let scaled = Int64((value.magnitude * scale).rounded())
    let sign = value < 0 && scaled != 0 ? "-" : ""
    guard places > 0 else { return sign + String(scaled) }
    let digits = String(scaled)
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
    return sign + padded.dropLast(places) + "." + padded.suffix(places)
}
