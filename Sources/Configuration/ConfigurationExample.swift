/// The example file: every key with what it is for, commented out, at its default.
package enum ConfigurationExample {
    private static let width = 100

    /// The whole file: systemd/walpoold.toml.example is written from it by `make example`.
    package static var text: String {
        var lines = comment(
            """
            walpoold's configuration, in TOML (https://toml.io). Every key is here, at its default where it has one, as a \
            comment: take away the # to set it. walpoold.toml(5) says the same.
            """)
        lines += ["#"]
        lines += comment(
            """
            Times are milliseconds, or strings with a unit: "500ms", "5s", "1min", "2h", "7d". An option of the command line \
            wins over the file. "systemctl reload" and the console's RELOAD read the file again; keys marked (restart) wait \
            for a restart. "walpoold --check-config" says whether all is well.
            """)
        for group in ConfigurationKey.groups {
            lines += ["", "", "## \(group.title)"]
            for key in group.keys { lines += [""] + entry(key) }
        }
        for section in ConfigurationSection.all { lines += ["", ""] + table(section) }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func entry(_ key: ConfigurationKey) -> [String] {
        var text = key.summary + "."
        if !key.details.isEmpty { text += " " + key.details }
        var kind = "Takes \(key.form)."
        if let words = key.defaultInWords { kind += " Default: \(words)." }
        if key.change == .restart { kind += " (restart)" }
        if key.change == .newSessions { kind += " (new sessions)" }
        let value = key.defaultValue ?? key.example
        return comment(text) + comment(kind) + ["#\(key.name) = \(value?.text ?? "\"\"")"]
    }

    private static func table(_ section: ConfigurationSection) -> [String] {
        var lines = ["## \(section.summary)", ""]
        if !section.details.isEmpty { lines += comment(section.details) + ["#"] }
        for key in section.keys { lines += comment("\(key.name): \(key.summary). Takes \(key.form).") }
        let example = section.example.split(separator: "\n", omittingEmptySubsequences: false)
        return lines + [""] + example.map { $0.isEmpty ? "" : "#\($0)" }
    }

    private static func comment(_ text: String) -> [String] {
        var lines: [String] = []
        var line = "#"
        for word in text.split(separator: " ") {
            if line.count + 1 + word.count > width, line != "#" {
                lines.append(line)
                line = "#"
            }
            line += " " + word
        }
        return lines + [line]
    }
}
