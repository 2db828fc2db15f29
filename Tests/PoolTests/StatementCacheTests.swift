import Testing

@testable import Pool
@testable import SQLite
@testable import Scheduling

@Suite struct StatementCacheTests {
    private static let texts = (0..<5).map { text("SELECT \($0)") }

    /// Takes the text's statement and gives it back; the statement, weakly held by whoever asks.
    private func use(_ writer: Writer, _ index: Int) throws -> ObjectIdentifier {
        let lease = try writer.statement(for: Self.texts[index])
        defer { writer.giveBack(lease) }
        return ObjectIdentifier(lease.statement)
    }

    @Test func whatWasUsedAgainStays() throws {
        let test = try TestPool { $0.statementsPerConnection = 3 }
        let writer = test.pool.writer
        weak var zero: Statement?
        weak var one: Statement?
        do {
            let first = try writer.statement(for: Self.texts[0])
            let second = try writer.statement(for: Self.texts[1])
            (zero, one) = (first.statement, second.statement)
            writer.giveBack(first)
            writer.giveBack(second)
        }
        _ = try use(writer, 2)
        _ = try use(writer, 0)
        #expect(zero != nil && one != nil)
        // A fourth text: 1 has been there for the longest time of those that nobody used again.
        _ = try use(writer, 3)
        #expect(zero != nil && one == nil)
        _ = try use(writer, 4)
        #expect(zero != nil)
        _ = try use(writer, 1)
        #expect(zero == nil)
    }

    /// Literals make each text new: such texts push out each other.
    @Test func textsThatComeOnceLeaveTheOthers() throws {
        let test = try TestPool { $0.statementsPerConnection = 4 }
        let writer = test.pool.writer
        for index in 0..<2 { _ = try use(writer, index) }
        for round in 0..<50 {
            for index in 0..<2 {
                #expect(writer.statements.has(Self.texts[index].id))
                _ = try use(writer, index)
            }
            let lease = try writer.statement(for: text("SELECT 'once', \(round)"))
            writer.giveBack(lease)
        }
    }

    /// A full cache goes on taking new texts and giving up old ones, whatever was taken out of its middle.
    @Test func itIsNeverLargerThanItsLimit() throws {
        let test = try TestPool { $0.statementsPerConnection = 3 }
        let writer = test.pool.writer
        let texts = (0..<40).map { text("SELECT 'many', \($0)") }
        for (index, each) in texts.enumerated() {
            writer.giveBack(try writer.statement(for: each))
            if index % 3 == 1 { writer.giveBack(try writer.statementAfresh(for: texts[index - 1])) }
            if index == 20 { writer.forgetStatements() }
            let size = texts[0...index].filter { writer.statements.has($0.id) }.count
            #expect(size == min(3, index <= 20 ? index + 1 : index - 20) || index == 20 && size == 0)
        }
    }

    /// What a reader prepares only to see what it is does not push out what it runs, and what EXPLAIN and PRAGMA have found when they were
    /// prepared may be so no longer.
    @Test func aReaderKeepsNoWrites() throws {
        let test = try TestPool()
        let index = try #require(test.pool.requestReader(test.member(), deadline: .distantFuture).value)
        let reader = try test.pool.reader(at: index)
        let (write, read) = (text("INSERT INTO t VALUES(1, 1)"), text("SELECT * FROM t"))
        let fixed = ["EXPLAIN QUERY PLAN DELETE FROM t", "PRAGMA index_list(t)", "/**/ pragma table_info(t)"].map { text($0) }
        for each in [write, read] + fixed { reader.giveBack(try reader.statementAfresh(for: each)) }
        #expect(!reader.statements.has(write.id) && reader.statements.has(read.id))
        #expect(!fixed.contains { reader.statements.has($0.id) })
    }

    /// A statement is prepared to see what it is, and run then: that is not being used again.
    @Test func itsFirstRunIsNoSecondUse() throws {
        let test = try TestPool { $0.statementsPerConnection = 3 }
        let writer = test.pool.writer
        let once = (0..<9).map { text("SELECT 'first', \($0)") }
        _ = try use(writer, 0)
        for each in once {
            _ = try use(writer, 0)
            writer.giveBack(try writer.statementAfresh(for: each))
            writer.giveBack(try writer.statement(for: each))
            #expect(writer.statements.has(Self.texts[0].id))
        }
    }

    /// The same text run by two portals at once: each has its own statement, and only one of them is kept.
    @Test func aStatementInUseIsNotShared() throws {
        let test = try TestPool()
        let writer = test.pool.writer
        let first = try writer.statement(for: Self.texts[0])
        weak var copy: Statement?
        do {
            let second = try writer.statement(for: Self.texts[0])
            copy = second.statement
            #expect(first.statement !== second.statement)
            #expect(try first.statement.step() == .row)
            #expect(try second.statement.step() == .row)
            writer.giveBack(second)
            #expect(first.statement.isRunning)
        }
        #expect(copy == nil)
        let again = try writer.statement(for: Self.texts[0])
        #expect(again.statement !== first.statement)
        writer.giveBack(again)
        writer.giveBack(first)
        #expect(!first.statement.isRunning)
        #expect(try use(writer, 0) == ObjectIdentifier(first.statement))
    }

    /// A statement in use is nobody's to finalise, even when the cache is full of them.
    @Test func aStatementInUseIsNotEvicted() throws {
        let test = try TestPool { $0.statementsPerConnection = 2 }
        let writer = test.pool.writer
        let leases = try (0..<4).map { try writer.statement(for: Self.texts[$0]) }
        for lease in leases { #expect(try lease.statement.step() == .row) }
        writer.forgetStatements()
        for (index, lease) in leases.enumerated() {
            #expect(lease.statement.row == ["\(index)"])
            writer.giveBack(lease)
        }
    }

    @Test func theyHaveABoundInBytes() throws {
        let numbers = { (count: Int) in (0..<count).map(String.init).joined(separator: ",") }
        let test = try TestPool { $0.statementBytesPerConnection = 1 << 20 }
        let writer = test.pool.writer
        weak var small: Statement?
        weak var largest: Statement?
        do {
            let (first, second) = (
                try writer.statement(for: Self.texts[0]), try writer.statement(for: text("SELECT 1 IN (\(numbers(9_000)))"))
            )
            (small, largest) = (first.statement, second.statement)
            #expect(second.statement.memoryBytes > 1 << 17)
            writer.giveBack(first)
            writer.giveBack(second)
        }
        #expect(small != nil && largest == nil)
        // Each of these is kept, and together they push out what was not used for the longest time.
        weak var last: Statement?
        for round in 0..<20 {
            let lease = try writer.statement(for: text("SELECT \(round) IN (\(numbers(500)))"))
            #expect((1 << 14)..<(1 << 17) ~= lease.statement.memoryBytes)
            last = lease.statement
            writer.giveBack(lease)
            #expect(last != nil)
            _ = try use(writer, 1)
        }
        #expect(small == nil)
        #expect(writer.statementBytes <= 1 << 20)
    }

    /// SQLite prepares a statement again when the schema has changed; it may take many times as much then.
    @Test func whatGrowsWithItsTableIsCounted() throws {
        let test = try TestPool { ($0.statementBytesPerConnection, $0.statementsPerConnection) = (1_000_000, 100) }
        let writer = test.pool.writer
        let texts = (0..<100).map { text("SELECT * FROM t AS t\($0)") }
        func run(_ text: SQLText) throws {
            let lease = try writer.statement(for: text)
            while try lease.statement.step() == .row {}
            writer.giveBack(lease)
        }
        func makeTable(columns: Int) throws {
            let names = (0..<columns).map { "column_\($0)" }.joined(separator: ", ")
            try writer.connection.executeInternal("DROP TABLE t; CREATE TABLE t (\(names))")
        }
        for text in texts { try run(text) }
        #expect(texts.allSatisfy { writer.statements.has($0.id) })
        try makeTable(columns: 100)
        for text in texts { try run(text) }
        let kept = texts.filter { writer.statements.has($0.id) }
        #expect(writer.statementBytes <= 1_000_000 && kept.count < 50)
        try #require(!kept.isEmpty)
        let bytes = try kept.reduce(0) { sum, text in
            let lease = try writer.statement(for: text)
            defer { writer.giveBack(lease) }
            return sum + lease.statement.memoryBytes
        }
        #expect(bytes == writer.statementBytes)
        // One that would push out a good part of the others goes.
        try makeTable(columns: 1000)
        try run(kept[0])
        #expect(!writer.statements.has(kept[0].id))
    }

    @Test func forgottenStatementsAreFinalised() throws {
        let test = try TestPool()
        let writer = test.pool.writer
        weak var statement: Statement?
        do {
            let lease = try writer.statement(for: Self.texts[0])
            statement = lease.statement
            writer.giveBack(lease)
        }
        #expect(statement != nil)
        writer.forgetStatements()
        #expect(statement == nil)
    }

    /// DDL expires a statement; SQLite prepares it again at its next step, and the cache keeps it.
    @Test func aStatementSurvivesDDL() throws {
        let test = try TestPool()
        let all = text("SELECT * FROM parent")
        var identities: [ObjectIdentifier] = []
        for (change, columns) in [("SELECT 1", 1), ("ALTER TABLE parent ADD COLUMN b", 2), ("DROP TABLE child", 2)] {
            _ = test.run([test.member(change)])
            let lease = try test.pool.writer.statement(for: all)
            _ = try lease.statement.step()
            #expect(lease.statement.columnCount == columns)
            identities.append(ObjectIdentifier(lease.statement))
            test.pool.writer.giveBack(lease)
        }
        #expect(Set(identities).count == 1)
        _ = test.run([test.member("DROP TABLE parent")])
        let lease = try test.pool.writer.statement(for: all)
        #expect(throws: SQLiteError.self) { try lease.statement.step() }
        test.pool.writer.giveBack(lease)
    }

    @Test(arguments: [("", 21), ("-- nothing", 21), ("SELEC 1", 1), ("SELECT * FROM nowhere", 1)])
    func whatCannotBePrepared(_ sql: String, _ code: Int32) throws {
        let test = try TestPool()
        #expect { _ = try test.pool.writer.statement(for: text(sql)) } throws: { ($0 as? SQLiteError)?.code == code }
    }
}
