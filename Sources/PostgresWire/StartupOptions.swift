// The `options` parameter: "Command-line arguments for the backend. (This is deprecated in favor of setting individual
// run-time parameters.) Spaces within this string are considered to separate arguments, unless escaped with a backslash
// (\); write \\ to represent a literal backslash", https://www.postgresql.org/docs/current/protocol-message-formats.html
extension StartupMessage {
    /// The settings of `options`, in order: `-c name=value`, `-cname=value` and `--name=value`. PostgreSQL's other
    /// switches have no meaning here and are refused.
    public func optionSettings() throws(WireError) -> [(String, String)] {
        guard let options = self["options"] else { return [] }
        var settings: [(String, String)] = []
        var arguments = Self.arguments(of: options).makeIterator()
        while let argument = arguments.next() {
            if argument == "-c" {
                guard let setting = arguments.next() else {
                    throw Self.syntaxError("option requires an argument -- 'c'")
                }
                settings.append(try Self.setting(setting, of: "-c \(setting)"))
            } else if argument.hasPrefix("-c") {
                settings.append(try Self.setting(argument.dropFirst(2), of: argument))
            } else if argument.hasPrefix("--"), argument.utf8.count > 2 {
                settings.append(try Self.setting(argument.dropFirst(2), of: argument))
            } else {
                throw Self.syntaxError("invalid command-line argument for server process: \(argument)")
            }
        }
        return settings
    }

    /// "name=value". A dash in a name stands for an underscore, as in PostgreSQL's ParseLongOption.
    private static func setting(
        _ text: some StringProtocol, of argument: String
    ) throws(WireError) -> (String, String) {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
            throw syntaxError("\(argument) requires a value")
        }
        let name = text[..<equals].map { $0 == "-" ? "_" : $0 }
        return (String(name), String(text[text.index(after: equals)...]))
    }

    private static func syntaxError(_ message: String) -> WireError {
        WireError(severity: .fatal, state: .syntaxError, message: message)
    }

    /// Splits at unescaped white space and takes the backslashes away, like PostgreSQL's pg_split_opts.
    private static func arguments(of options: String) -> [String] {
        var arguments: [String] = []
        var current: [UInt8] = []
        var isInside = false
        var isEscaped = false
        for byte in options.utf8 {
            if !isEscaped, byte == 0x20 || (0x09...0x0D).contains(byte) {
                if isInside { arguments.append(String(decoding: current, as: UTF8.self)) }
                current.removeAll(keepingCapacity: true)
                isInside = false
            } else {
                isInside = true
                if !isEscaped, byte == UInt8(ascii: "\\") {
                    isEscaped = true
                    continue
                }
                current.append(byte)
            }
            isEscaped = false
        }
        if isInside { arguments.append(String(decoding: current, as: UTF8.self)) }
        return arguments
    }
}
