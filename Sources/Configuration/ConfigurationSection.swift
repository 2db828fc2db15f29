import Server

/// A `[[section]]` of the configuration file, of which there may be any number, in an order that may matter.
///
/// The section's own part of the program turns its tables into settings: `read` gets them with their lines, all of them at
/// once, and adds a problem for each thing that is wrong. A key of a table that is not in `keys`, and one that is there
/// twice, is a problem already.
package struct ConfigurationSection: Sendable {
    /// A key in such a table, for the manual and the example file.
    package struct Key: Sendable {
        /// As the table has it.
        package let name: String
        /// What it takes, in words.
        package let form: String
        /// A sentence, without its full stop.
        package let summary: String
        /// A text is one of the values it takes.
        package let takesText: Bool

        package init(_ name: String, form: String, _ summary: String, takesText: Bool = true) {
            self.name = name
            self.form = form
            self.summary = summary
            self.takesText = takesText
        }
    }

    /// What stands between its brackets.
    package let name: String
    /// When tables that are changed in the file come into effect.
    package let change: ConfigurationKey.Change
    /// A few words: the title of its part of the example file.
    package let summary: String
    /// Whole sentences, for the manual and the example file.
    package let details: String
    /// Those that a table of it may have.
    package let keys: [Key]
    /// TOML for the example file, whole tables; it comes out as a comment.
    package let example: String
    /// What the settings hold of it, in a few words that differ when it does: a reload compares and tells them.
    let shown: @Sendable (StartSettings) -> String
    let read: @Sendable ([ConfigurationTable], inout StartSettings, inout [ConfigurationProblem]) -> Void

    package init(
        _ name: String, change: ConfigurationKey.Change, _ summary: String, details: String, keys: [Key], example: String,
        shown: @escaping @Sendable (StartSettings) -> String,
        read: @escaping @Sendable ([ConfigurationTable], inout StartSettings, inout [ConfigurationProblem]) -> Void
    ) {
        self.name = name
        self.change = change
        self.summary = summary
        self.details = details
        self.keys = keys
        self.example = example
        self.shown = shown
        self.read = read
    }
}
