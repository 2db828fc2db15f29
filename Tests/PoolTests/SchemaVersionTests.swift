import Testing

@testable import Pool
@testable import SQLite

/// Which schema a connection sees, and which one the pool takes for the newest.
@Suite struct SchemaVersionTests {
    /// A definition, as a session runs it.
    private func defines(_ sql: String, _ test: TestPool) -> FakeMember {
        let member = test.member(sql)
        member.onRun = {
            test.pool.writer.endSnapshot()
            test.pool.writer.beginDraft()
        }
        return member
    }

    private func insert(_ number: Int, _ test: TestPool) {
        _ = test.run([test.member("INSERT INTO t VALUES(\(number), \(number))")])
    }

    @Test func everyConnectionSeesTheSame() throws {
        let test = try TestPool()
        insert(1, test)
        let version = test.pool.writer.schemaVersion
        #expect(version > 0 && test.pool.schema.version == version)
        try test.reading { #expect($0.schemaVersion == version) }
        insert(2, test)
        #expect(test.pool.writer.keepsSnapshot && test.pool.writer.schemaVersion == version)
        try test.reading { #expect($0.schemaVersion == version) }
        #expect(test.pool.schema.version == version)
    }

    /// It is nobody else's before its commit, and everybody's behind it, though no reader has looked.
    @Test func aDefinitionIsADraftUntilItIsCommitted() throws {
        let test = try TestPool()
        insert(1, test)
        let before = test.pool.schema.version
        let member = defines("CREATE TABLE fresh(a)", test)
        let reads = test.member("SELECT 1")
        reads.onRun = {
            #expect(test.pool.writer.seesDraft && test.pool.schema.version == before)
            #expect(throws: Never.self) { try test.reading { #expect($0.schemaVersion == before) } }
        }
        _ = test.run([member, reads])
        #expect(member.succeeded && reads.succeeded)
        #expect(!test.pool.writer.seesDraft && test.pool.schema.version != before)
        #expect(test.pool.writer.schemaVersion == test.pool.schema.version)
        try test.reading { #expect($0.schemaVersion == test.pool.schema.version) }
    }

    @Test func whatIsRolledBackWasNeverThere() throws {
        let test = try TestPool()
        insert(1, test)
        let before = test.pool.schema.version
        let member = defines("CREATE TABLE fresh(a)", test)
        let ends = test.member("INSERT INTO tripwire VALUES(1)")
        _ = test.run([member, ends])
        #expect(member.runs == 2 && member.succeeded && ends.error != nil)
        let committed = test.pool.schema.version
        #expect(committed != before && test.pool.writer.schemaVersion == committed)
        let alone = defines("CREATE TABLE fresh(a)", test)
        _ = test.run([alone])
        #expect(alone.error != nil)
        insert(2, test)
        #expect(test.pool.schema.version == committed && test.pool.writer.schemaVersion == committed)
    }

    /// Each is another one: so is what a member's savepoint goes back to.
    @Test func draftsAreTheirOwn() throws {
        let test = try TestPool()
        let writer = test.pool.writer
        var seen: [SchemaVersion] = []
        let member = defines("SELECT 1", test)
        let looks = test.member("SELECT 1", "INSERT INTO missing VALUES(1)")
        looks.onRun = { seen.append(writer.schemaVersion) }
        let last = test.member("SELECT 1")
        last.onRun = { seen.append(writer.schemaVersion) }
        _ = test.run([member, looks, last])
        #expect(seen.count == 2 && Set(seen).count == 2 && seen.allSatisfy(CommittedSchema.isDraft))
    }

    /// An outsider's definition is seen by the first snapshot that begins behind it, a reader's or the writer's.
    @Test(arguments: [true, false])
    func anOutsidersIsSeen(_ isReader: Bool) throws {
        let test = try TestPool()
        let outsider = try Outsider(test.path)
        insert(1, test)
        try test.reading { _ in }
        let before = test.pool.schema.version
        #expect(outsider.run("CREATE TABLE fresh(a)") == "[]")
        #expect(test.pool.schema.version == before)
        if isReader {
            try test.reading { #expect($0.schemaVersion != before) }
        } else {
            insert(2, test)
            #expect(test.pool.writer.schemaVersion != before)
        }
        #expect(test.pool.schema.version != before)
    }

    @Test func aSnapshotKeepsItsSchema() throws {
        let test = try TestPool()
        insert(1, test)
        try test.reading { old in
            let before = old.schemaVersion
            _ = test.run([defines("CREATE TABLE fresh(a)", test)])
            #expect(old.schemaVersion == before && test.pool.schema.version != before)
            old.announceSchema()
            #expect(test.pool.schema.version != before)
        }
    }

    // MARK: Who is right about the newest

    struct Sight: CustomTestStringConvertible, Sendable {
        var known: SchemaVersion
        var seen: SchemaVersion
        var isNewest: Bool
        var newest: SchemaVersion
        var then: SchemaVersion
        var testDescription: String { "\(newest): \(seen) seen since \(known), newest \(isNewest)" }
    }

    @Test(arguments: [
        Sight(known: 5, seen: 5, isNewest: true, newest: 5, then: 5),
        Sight(known: 5, seen: 6, isNewest: true, newest: 5, then: 6),
        // Something else was committed meanwhile; this is newer than what was known all the same.
        Sight(known: 5, seen: 6, isNewest: false, newest: 5, then: 6),
        // Another was faster with a newer one.
        Sight(known: 5, seen: 6, isNewest: false, newest: 7, then: 7),
        // Another was faster with an older one.
        Sight(known: 4, seen: 6, isNewest: true, newest: 5, then: 6),
        Sight(known: CommittedSchema.unknown, seen: 6, isNewest: true, newest: 5, then: 6),
        Sight(known: CommittedSchema.unknown, seen: 6, isNewest: false, newest: 7, then: 7),
    ])
    func theNewestIsKept(_ sight: Sight) {
        let schema = CommittedSchema()
        schema.become(sight.newest)
        schema.wasSeen(sight.seen, since: sight.known) { sight.isNewest }
        #expect(schema.version == sight.then)
    }
}
