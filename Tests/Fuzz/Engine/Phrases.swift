/// What clients say, for a mutator to put in: whole messages.
enum Phrases {
    static func pick(_ generator: inout SeededGenerator) -> [UInt8] {
        func below(_ limit: Int, _ generator: inout SeededGenerator) -> Int { Int(generator.next() % UInt64(limit)) }
        let name = names[below(names.count, &generator)]
        switch below(16, &generator) {
        case 0...4: return message("Q", statement(&generator) + [0])
        case 5...6: return message("P", name + [0] + statement(&generator) + [0, 0, 0])
        case 7: return message("B", name + [0] + names[below(names.count, &generator)] + [0, 0, 0, 0, 0, 0, 0])
        case 8:
            let formats: [UInt8] = [0, 1, 0, UInt8(below(2, &generator))]
            return message("B", [0] + name + [0] + formats + [0, 1, 0, 0, 0, 1, 49, 0, 1, 0, UInt8(below(2, &generator))])
        case 9...10: return message("E", name + [0, 0, 0, 0, UInt8(below(3, &generator))])
        case 11: return message("D", [below(2, &generator) == 0 ? UInt8(ascii: "S") : UInt8(ascii: "P")] + name + [0])
        case 12: return message("C", [below(2, &generator) == 0 ? UInt8(ascii: "S") : UInt8(ascii: "P")] + name + [0])
        case 13: return message("H", [])
        default: return message("S", [])
        }
    }

    static func statement(_ generator: inout SeededGenerator) -> [UInt8] {
        Array(statements[Int(generator.next() % UInt64(statements.count))].utf8)
    }

    private static func message(_ type: Character, _ body: [UInt8]) -> [UInt8] {
        var written = FrontendWriter()
        written.byte(type.asciiValue ?? 0)
        written.int32(body.count + 4)
        return written.bytes + body
    }

    private static let names: [[UInt8]] = [[], [], [], Array("a".utf8), Array("c".utf8), Array("p".utf8)]

    private static let statements = [
        "BEGIN", "BEGIN IMMEDIATE", "BEGIN ISOLATION LEVEL SERIALIZABLE", "BEGIN READ ONLY", "COMMIT", "ROLLBACK", "COMMIT AND CHAIN",
        "SAVEPOINT a", "ROLLBACK TO a", "RELEASE a", "SELECT 1", "SELECT * FROM t", "SELECT $1", "SELECT a, b, x FROM t, u",
        "SELECT count(*) FROM t", "SELECT nothing", "SELECT a FROM t ORDER BY id DESC", "SELECT zeroblob(30000) FROM t, t LIMIT 9",
        "INSERT INTO t(n, x) VALUES (1, 'x')", "INSERT INTO t(n) VALUES ($1)", "INSERT INTO t(a) VALUES ($1) RETURNING *",
        "INSERT INTO u VALUES ('a', 1)", "INSERT OR ROLLBACK INTO u VALUES ('a', 1)",
        "INSERT OR FAIL INTO u SELECT 'c', 1 UNION SELECT 'a', 1",
        "INSERT INTO child VALUES (5)", "INSERT INTO parent VALUES (5)", "INSERT INTO tripwire VALUES (1)", "UPDATE t SET n = n + 1",
        "UPDATE t SET a = x RETURNING a, b", "DELETE FROM t WHERE id > 3", "DELETE FROM t RETURNING x", "CREATE TABLE z(q)", "DROP TABLE z",
        "CREATE INDEX i ON t(n)", "DROP INDEX i", "ALTER TABLE t ADD COLUMN y", "ALTER TABLE t RENAME COLUMN x TO xx", "DROP VIEW w",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE u SET v = v + 1; END", "DROP TRIGGER g", "DECLARE c CURSOR FOR SELECT * FROM t",
        "DECLARE c CURSOR FOR SELECT a FROM t", "FETCH 1 FROM c", "FETCH ALL FROM c", "MOVE 1 IN c", "CLOSE c", "CLOSE ALL",
        "PREPARE p AS SELECT $1",
        "PREPARE p AS INSERT INTO t(n) VALUES ($1)", "EXECUTE p (1)", "DEALLOCATE p", "DEALLOCATE ALL", "DISCARD ALL",
        "SET statement_timeout = 1",
        "SET LOCAL lock_timeout = 10", "SET transaction_timeout = 50", "SET queue_notice = 1", "SET result_typing = text", "SHOW ALL",
        "RESET ALL",
        "SET default_transaction_read_only = on", "SET default_transaction_isolation = serializable",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
        "INSERT INTO t(b) SELECT zeroblob(900) FROM t, t LIMIT 30",
        "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT i FROM r",
        "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) INSERT INTO t(n) SELECT i FROM r", "", ";", "VACUUM", "CHECKPOINT",
        "BACKUP TO 'x'", "SHOW CLIENTS", "SHOW WRITER", "SHOW WAL", "PAUSE", "RESUME", "KILL 2", "KILL 3", "SHOW STATS", "SHOW STATEMENTS",
        "SHOW SERVERS",
    ]
}
