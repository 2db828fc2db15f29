import TOMLKit

/// A value of the configuration file, or of the command line.
package enum ConfigurationValue: Equatable, Sendable {
    case string(String)
    case integer(Int)
    case boolean(Bool)
    case array([ConfigurationValue])
    /// What no key takes, by what it is called.
    case other(String)

    /// As TOML writes it.
    package var text: String {
        switch self {
        case .string(let string): Self.quoted(string)
        case .integer(let number): String(number)
        case .boolean(let isOn): isOn ? "true" : "false"
        case .array(let values): "[" + values.map(\.text).joined(separator: ", ") + "]"
        case .other(let kind): kind
        }
    }

    /// As it is typed into the command line.
    package var plainText: String {
        if case .string(let string) = self { return string }
        return text
    }

    /// A basic string: https://toml.io/en/v1.0.0#string
    private static func quoted(_ string: String) -> String {
        var text = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\" + String(scalar)
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}

extension ConfigurationValue {
    init(_ value: TOMLValue) {
        switch value.type {
        case .string: self = .string(value.string ?? "")
        case .int: self = .integer(value.int ?? 0)
        case .bool: self = .boolean(value.bool ?? false)
        case .array: self = .array(value.array?.map { ConfigurationValue($0.tomlValue) } ?? [])
        case .table: self = .other("a table")
        case .double: self = .other("a number with a fraction")
        case .date, .time, .dateTime: self = .other("a date or time")
        }
    }
}
