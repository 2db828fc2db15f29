/// The keys of all parts. A part adds its keys in a file of its own in Keys/ and its list here.
extension ConfigurationKey {
    /// Group after group, as below.
    package static let all: [ConfigurationKey] = groups.flatMap(\.keys)

    /// In the order of the example file and the manual, under their titles.
    package static let groups: [(title: String, keys: [ConfigurationKey])] = [
        ("The database and its socket", serving),
        ("Readers and the writer", working),
        ("The WAL and checkpoints", checkpointing),
        ("VACUUM and backups", upkeep),
        ("Metrics", metrics),
        ("Every connection to the database", connections),
        ("What a session starts with", sessions),
        ("The log", logging),
    ]

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// The one that the file calls so; nil: there is none.
    package static func named(_ name: String) -> ConfigurationKey? { byName[name] }
}

/// The sections of all parts.
extension ConfigurationSection {
    /// In the order of the example file and the manual.
    package static let all: [ConfigurationSection] = [access]
}
