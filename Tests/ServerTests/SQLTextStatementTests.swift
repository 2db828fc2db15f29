import Testing

@testable import Server

@Suite struct SQLTextStatementTests {
    private static let none = TransactionModes()

    @Test(
        arguments: [
            ("begin", .begin(none, nil)), ("BEGIN WORK;", .begin(none, nil)), ("begin immediate transaction", .begin(none, .immediate)),
            ("BEGIN DEFERRED", .begin(none, .deferred)), ("begin exclusive", .begin(none, .exclusive)),
            (
                "START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY, NOT DEFERRABLE",
                .begin(TransactionModes(isolation: .repeatableRead, readOnly: true), nil)
            ),
            ("begin isolation level serializable read write", .begin(TransactionModes(isolation: .serializable, readOnly: false), nil)),
            (
                "BEGIN TRANSACTION ISOLATION LEVEL READ UNCOMMITTED DEFERRABLE",
                .begin(TransactionModes(isolation: .readUncommitted), nil)
            ),
            ("commit", .commit(chain: false)), ("END TRANSACTION", .commit(chain: false)), ("commit work and chain", .commit(chain: true)),
            ("commit and no chain", .commit(chain: false)), ("rollback", .rollback(chain: false)),
            ("ABORT WORK AND CHAIN", .rollback(chain: true)),
            ("rollback to savepoint A", .rollbackTo("a")), ("ROLLBACK WORK TO \"A\"", .rollbackTo("A")),
            ("rollback to savepoint", .rollbackTo("savepoint")),
            ("savepoint s1", .savepoint("s1")), ("release s1", .release("s1")), ("release savepoint \"a\"\"b\"", .release("a\"b")),
            ("prepare transaction 'x'", .twoPhase), ("commit prepared 'x'", .twoPhase), ("rollback prepared 'x'", .twoPhase),
            ("prepare p as select 1", nil), ("select 1", nil), ("", nil),
        ] as [(String, TransactionStatement?)])
    func transaction(sql: String, expected: TransactionStatement?) throws {
        #expect(try onBytes(sql) { try TransactionStatement.parse($0) } == expected)
    }

    @Test(arguments: [
        ("begin foo", 6), ("start", 5), ("begin read", 10), ("commit and", 10), ("savepoint 1", 10), ("begin read only,", 16),
        ("rollback to a b", 14), ("begin isolation level x", 22),
    ])
    func transactionErrors(sql: String, offset: Int) {
        let error = #expect(throws: SQLSyntaxError.self) { try onBytes(sql) { _ = try TransactionStatement.parse($0) } }
        #expect(error?.offset == offset)
    }

    @Test(
        arguments: [
            ("SET a = 1", .set(.session, name: "a", values: ["1"])), ("set x=y", .set(.session, name: "x", values: ["y"])),
            ("SET LOCAL a.b TO 'It''s'", .set(.local, name: "a.b", values: ["It's"])),
            ("SET SESSION x TO DEFAULT", .set(.session, name: "x", values: nil)),
            ("set search_path to \"$user\", public", .set(.session, name: "search_path", values: ["$user", "public"])),
            ("SET extra_float_digits = -3", .set(.session, name: "extra_float_digits", values: ["-3"])),
            ("SET TIME ZONE 'UTC'", .set(.session, name: "timezone", values: ["UTC"])),
            ("set time zone local", .set(.session, name: "timezone", values: nil)),
            ("SET TIME ZONE -7", .set(.session, name: "timezone", values: ["-7"])),
            ("SET TIME ZONE INTERVAL '-08:00' HOUR TO MINUTE", .set(.session, name: "timezone", values: ["-08:00"])),
            ("SET NAMES 'UTF8'", .set(.session, name: "client_encoding", values: ["UTF8"])),
            ("SET SESSION AUTHORIZATION bob", .set(.session, name: "session_authorization", values: ["bob"])),
            ("SET ROLE NONE", .set(.session, name: "role", values: nil)),
            ("SET TRANSACTION READ ONLY", .setTransaction(TransactionModes(readOnly: true))),
            ("SET TRANSACTION SNAPSHOT 'a'", .setTransactionSnapshot("a")),
            (
                "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED",
                .setSessionCharacteristics(TransactionModes(isolation: .readCommitted))
            ),
            ("SET CONSTRAINTS ALL DEFERRED", .setConstraints(deferred: true)), ("RESET ALL", .resetAll), ("reset a.b", .reset("a.b")),
            ("SHOW ALL", .showAll), ("SHOW TIME ZONE", .show("timezone")),
            ("SHOW TRANSACTION ISOLATION LEVEL", .show("transaction_isolation")),
            ("show POOLS;", .show("pools")), ("DISCARD ALL", .discard(.all)), ("discard temp", .discard(.temporary)),
            ("DEALLOCATE PREPARE p", .deallocate("p")), ("deallocate all", .deallocate(nil)), ("CLOSE ALL", .close(nil)),
            ("close \"C\"", .close("C")),
            ("UNLISTEN *", .unlisten(nil)), ("LISTEN ch", .listen("ch")), ("NOTIFY ch, 'p'", .notify(channel: "ch", payload: "p")),
            (
                "DECLARE c BINARY NO SCROLL CURSOR WITH HOLD FOR select 1;",
                .declare(CursorDeclaration(name: "c", isBinary: true, scrolls: false, holds: true, query: 48..<56))
            ),
            ("DECLARE c CURSOR FOR select 1 for Read Only;", .declare(CursorDeclaration(name: "c", query: 21..<29))),
            ("DECLARE c CURSOR FOR select 1 read only", .declare(CursorDeclaration(name: "c", query: 21..<39))),
            ("DECLARE c CURSOR FOR for read only", .declare(CursorDeclaration(name: "c", query: 21..<34))),
            ("FETCH c", .fetch(CursorFetch(name: "c", direction: .forward(1), isMove: false))),
            ("FETCH next", .fetch(CursorFetch(name: "next", direction: .forward(1), isMove: false))),
            ("FETCH FORWARD 100 FROM c", .fetch(CursorFetch(name: "c", direction: .forward(100), isMove: false))),
            ("move all in c", .fetch(CursorFetch(name: "c", direction: .forward(nil), isMove: true))),
            ("FETCH ABSOLUTE -1 c", .fetch(CursorFetch(name: "c", direction: .absolute(-1), isMove: false))),
            ("fetch backward all from c", .fetch(CursorFetch(name: "c", direction: .backward(nil), isMove: false))),
            ("fetch 5 c", .fetch(CursorFetch(name: "c", direction: .forward(5), isMove: false))),
            ("fetch from c", .fetch(CursorFetch(name: "c", direction: .forward(1), isMove: false))),
            ("PREPARE p (int, varchar(10)) AS select $1", .prepare(name: "p", types: ["int", "varchar(10)"], statement: 32..<41)),
            ("execute p(1, f('a', 2))", .execute(name: "p", arguments: [10..<11, 13..<22])),
            ("execute p", .execute(name: "p", arguments: [])),
            ("execute p('1'::int8, NULL::date)", .execute(name: "p", arguments: [10..<19, 21..<31])),
            ("select 1", nil), ("prepare transaction 'x'", nil), ("", nil),
        ] as [(String, SessionStatement?)])
    func session(sql: String, expected: SessionStatement?) throws {
        #expect(try onBytes(sql) { try SessionStatement.parse($0) } == expected)
    }

    @Test(arguments: [
        ("set", 3), ("set a", 5), ("set a = ", 8), ("set a = 1 2", 10), ("show", 4), ("fetch", 5), ("declare c cursor for", 20),
        ("execute p(1", 11), ("execute p(,1)", 10), ("discard x", 8), ("set a = 'x", 8),
    ])
    func sessionErrors(sql: String, offset: Int) {
        let error = #expect(throws: SQLSyntaxError.self) { try onBytes(sql) { _ = try SessionStatement.parse($0) } }
        #expect(error?.offset == offset)
    }

    @Test(
        arguments: [
            ("SELECT version()", ChatterQuery(question: .version, column: "version")),
            ("select pg_catalog.version() as V", ChatterQuery(question: .version, column: "v")),
            ("select current_schema", ChatterQuery(question: .currentSchema, column: "current_schema")),
            ("select current_schema()", ChatterQuery(question: .currentSchema, column: "current_schema")),
            ("select current_catalog", ChatterQuery(question: .currentDatabase, column: "current_catalog")),
            ("select user;", ChatterQuery(question: .currentUser, column: "user")),
            ("SELECT pg_advisory_unlock_all()", ChatterQuery(question: .advisoryUnlockAll, column: "pg_advisory_unlock_all")),
            (
                "SELECT set_config('a', 'b', false)",
                ChatterQuery(question: .setConfig(name: "a", value: "b", isLocal: false), column: "set_config")
            ),
            (
                "SELECT current_setting('a', true)",
                ChatterQuery(question: .currentSetting(name: "a", missingOK: true), column: "current_setting")
            ),
            (
                "SELECT current_schema(),session_user",
                ChatterQuery([
                    .init(question: .currentSchema, column: "current_schema"), .init(question: .sessionUser, column: "session_user"),
                ])
            ),
            (
                "select user as u, version();",
                ChatterQuery([.init(question: .currentUser, column: "u"), .init(question: .version, column: "version")])
            ),
            ("select user,", nil), ("select user, current_user from t", nil), ("select version() from t", nil), ("select 1", nil),
            ("select user, 1", nil), ("select set_config($1, 'a', true)", nil), ("select version", nil), ("update t", nil), ("select", nil),
        ] as [(String, ChatterQuery?)])
    func chatter(sql: String, expected: ChatterQuery?) {
        #expect(onBytes(sql) { ChatterQuery.parse($0) } == expected)
    }
}
