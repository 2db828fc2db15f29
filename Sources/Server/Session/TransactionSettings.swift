/// Settings that hold later or held before. An object that never changes, since they are large: what holds it is copied for each member
/// of a group, and looked at for each statement.
final class HeldSettings {
    let settings: Settings
    /// What was to be kept then, as `TransactionSettings` has it.
    let toKeep: HeldSettings?
    /// What of all that may be large.
    let bytes: Int

    /// Of a dictionary, for one entry.
    private static let entryBytes = 64

    init(_ settings: Settings, toKeep: HeldSettings? = nil) {
        self.settings = settings
        self.toKeep = toKeep
        let texts = settings.texts.reduce(toKeep?.bytes ?? 0) { $0 + $1.utf8.count }
        bytes = settings.others.reduce(texts) { $0 + $1.key.utf8.count + $1.value.utf8.count + Self.entryBytes }
    }
}

/// What a transaction has changed of its session's settings, with or without a block. Nearly always nothing.
struct TransactionSettings {
    /// What held before the first change: "If SET (or equivalently SET SESSION) is issued within a transaction that is later aborted,
    /// the effects of the SET command disappear when the transaction is rolled back"
    /// (https://www.postgresql.org/docs/current/sql-set.html). nil: nothing was changed.
    var before: HeldSettings?
    /// What will hold after COMMIT, once SET LOCAL has made that something else than what holds now.
    var toKeep: HeldSettings?
}

/// One of a transaction's savepoints.
struct Savepoint {
    let name: ExactName
    /// The transaction's mode, as it was.
    let isReadOnly: Bool
    /// What held before the first change since, to go back to by ROLLBACK TO; nil: nothing was changed.
    var settingsBefore: HeldSettings?
}
