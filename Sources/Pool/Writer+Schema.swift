import SQLite

/// Which schema the writer's connection sees.
///
/// Inside a transaction it is a draft from the first definition on: nobody else may use what is found in it, and what was found
/// before is found again.
extension Writer {
    /// Its transaction has changed the schema, which only it sees until it commits.
    package var seesDraft: Bool { CommittedSchema.isDraft(schemaVersion) }

    /// A definition is about to run.
    package func beginDraft() { schemaVersion = schema.draft() }

    /// A savepoint was rolled back, and with it perhaps definitions.
    package func schemaMayBeAnother() {
        guard seesDraft else { return }
        schemaSize.forget()
        beginDraft()
    }

    /// The write lock was taken, and the statement that pins the snapshot stands on its row: nobody else can commit now.
    func noteSchema() throws(SQLiteError) {
        try meet(schema.version(pinnedBy: pin))
        schema.become(schemaVersion)
    }

    /// What was defined is committed, and whoever parses from here on shall know.
    func announceSchema() {
        endSnapshot()
        defer { pin.reset() }
        guard (try? pin.step()) == .row, (try? noteSchema()) != nil else { return schema.become(CommittedSchema.unknown) }
    }
}
