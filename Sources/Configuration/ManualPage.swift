/// The manual pages walpoold(8) and walpoold.toml(5), in man(7)'s macros, from the texts that --help and the example file
/// have too.
public enum ManualPage {
    /// walpoold.toml(5).
    public static func file(version: String) -> String {
        var page = Roff(title: "walpoold.toml", section: 5, version: version)
        page.section("NAME")
        page.text("walpoold.toml - configuration of walpoold(8)")
        page.section("DESCRIPTION")
        page.text("""
            The file is TOML, in UTF-8. An unknown key, a value of the wrong type and a value that is impossible are errors, \
            and all of them are told at once, with their lines; walpoold --check-config looks for them without starting \
            anything. An option of the command line wins over the file.
            """)
        page.paragraph("""
            Times are milliseconds, or strings with a unit (us, ms, s, min, h, d), such as "500ms" or "7d".
            """)
        page.paragraph("""
            SIGHUP and the console's RELOAD read the file again. Most keys change then; of some, it is said with them, new \
            sessions begin with the new value, and some wait for a restart. A file with errors changes nothing.
            """)
        for group in ConfigurationKey.groups {
            page.section(group.title.uppercased())
            for key in group.keys { page.item(key.name, key.purpose, key.usage) }
        }
        for section in ConfigurationSection.all {
            page.section("[[\(section.name)]]")
            page.text("\(section.summary). \(section.details)\(section.change.words.map { " " + $0 } ?? "")")
            for key in section.keys { page.item(key.name, "\(key.summary). Takes \(key.form).") }
            page.paragraph("For example:")
            page.verbatim(section.example)
        }
        page.section("FILES")
        page.item(ConfigurationFile.standardPath, "Read when walpoold is given neither --config nor a database.")
        page.section("SEE ALSO")
        page.text("walpoold(8)")
        return page.source
    }
}

extension ConfigurationKey {
    fileprivate var purpose: String { details.isEmpty ? "\(summary)." : "\(summary). \(details)" }

    fileprivate var usage: String {
        var sentences = ["Takes \(form)."]
        sentences.append("Default: \(defaultInWords ?? defaultValue?.text ?? "none").")
        if let option { sentences.append("Option: --\(option).") }
        if let words = change.words { sentences.append(words) }
        return sentences.joined(separator: " ")
    }
}

extension ConfigurationKey.Change {
    fileprivate var words: String? {
        switch self {
        case .reload: nil
        case .newSessions: "New sessions begin with a new value."
        case .restart: "Needs a restart."
        }
    }
}
