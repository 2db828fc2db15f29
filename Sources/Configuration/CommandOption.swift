/// The options of the command line, for --help and walpoold(8): those that stand for a key of the configuration file, and
/// these few that do not.
package struct CommandOption: Sendable {
    /// Without its dashes.
    package let name: String
    /// What follows it, if something does.
    package let argument: String?
    /// A sentence, without its full stop.
    package let summary: String
    /// Whole sentences, for the manual.
    package let details: String

    /// As --help and the manual list them.
    package static let all: [CommandOption] = [config, checkConfig] + keys + [version, help]

    /// The one of that name, without its dashes; nil: there is none.
    package static func named(_ name: String) -> CommandOption? { all.first { $0.name == name } }

    private static let keys = ConfigurationKey.all.compactMap { key in
        key.option.map { name in
            CommandOption(
                name: name, argument: name.split(separator: "-").last.map { $0.uppercased() }, summary: key.helpText,
                details: key.details)
        }
    }

    private static let config = CommandOption(
        name: "config", argument: "FILE", summary: "Configuration file, see walpoold.toml(5)",
        details: """
            Without this option and without a database on the command line, \(ConfigurationFile.standardPath) is read \
            if it is there.
            """)

    private static let checkConfig = CommandOption(
        name: "check-config", argument: nil, summary: "Check the configuration, and start nothing",
        details: """
            Every error is told, a line each, with its place in the file; so is what would keep the daemon from starting on \
            this machine, or from making backups, such as a directory it may not write to. Permissions are checked for the user who \
            runs the command: run it as the daemon's user. Prints ok if nothing is wrong. The database is not opened. Where nothing \
            names one, it says which one a service has.
            """)

    private static let version = CommandOption(name: "version", argument: nil, summary: "Show the version", details: "")
    private static let help = CommandOption(name: "help", argument: nil, summary: "Show the options", details: "")
}

extension ConfigurationKey {
    /// For --help: the summary and the default.
    package var helpText: String {
        let text = defaultInWords ?? defaultValue?.plainText ?? "none"
        return text == "none" ? summary : "\(summary) (default: \(text))"
    }
}
