import Foundation
import Testing

@testable import SQLite

@Suite struct AuthorizerTests {
    /// What is there before a client comes. The temporary objects cannot be made by clients; should some be there, no
    /// client may touch them.
    static let schema = """
        CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 2);
        CREATE INDEX i ON t(a);
        CREATE TABLE trap(a);
        CREATE TRIGGER trap BEFORE INSERT ON trap BEGIN SELECT load_extension('x'); END;
        """
    static let temporaries = """
        CREATE TEMP TABLE tt(a); CREATE INDEX temp.ti ON tt(a); CREATE TEMP VIEW tv AS SELECT 1;
        CREATE TEMP TRIGGER ttr AFTER INSERT ON tt BEGIN SELECT 1; END;
        """

    static let attaching = [
        "ATTACH ':memory:' AS x", "ATTACH 'outside.db' AS x", "ATTACH '' AS x", "DETACH main", "DETACH x",
        "attach database 'outside.db' as x", "EXPLAIN ATTACH 'outside.db' AS x",
        "VACUUM", "VACUUM main", "VACUUM INTO 'outside.db'", "vacuum main into 'outside.db'",
    ]
    static let functions = [
        "SELECT load_extension('x')", "SELECT load_extension('x', 'y')", "SELECT LOAD_EXTENSION('x')",
        "SELECT fts3_tokenizer('simple')", "SELECT fts3_tokenizer('evil', x'4141414141414141')",
        "SELECT \"fts3_tokenizer\"('simple')", "SELECT (SELECT load_extension('x'))",
        "WITH w AS (SELECT load_extension('x')) SELECT * FROM w", "EXPLAIN SELECT load_extension('x')",
        "SELECT * FROM t WHERE load_extension('x')", "INSERT INTO t VALUES(load_extension('x'), 1)",
        "DELETE FROM t RETURNING load_extension('x')", "INSERT INTO trap VALUES(1)",
    ]
    static let virtualTables = [
        "SELECT * FROM sqlite_stmt", "SELECT count(*) FROM sqlite_stmt", "SELECT x.sql FROM main.sqlite_stmt AS x",
        "SELECT 1 FROM SQLITE_STMT", "SELECT * FROM dbstat", "SELECT * FROM dbstat('main')",
        "SELECT count(*) FROM DbStat", "SELECT (SELECT count(*) FROM dbstat)",
        "CREATE VIRTUAL TABLE x USING dbstat", "CREATE VIRTUAL TABLE x USING dbstat(main)",
        "CREATE VIRTUAL TABLE x USING fts3tokenize", "CREATE VIRTUAL TABLE x USING csv(filename='/etc/passwd')",
        "CREATE VIRTUAL TABLE x USING sqlite_dbpage", "CREATE VIRTUAL TABLE x USING nosuch",
    ]
    static let temporary = [
        "CREATE TEMP TABLE x(a)", "CREATE TEMPORARY TABLE x AS SELECT 1", "CREATE TABLE temp.x(a)",
        "CREATE TEMP VIEW x AS SELECT 1", "CREATE VIEW temp.x AS SELECT 1",
        "CREATE TEMP TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END", "CREATE INDEX temp.x ON tt(a)",
        "CREATE VIRTUAL TABLE temp.x USING fts3(a)", "CREATE VIRTUAL TABLE temp.x USING rtree(a, b, c)",
        "INSERT INTO tt VALUES(1)", "UPDATE tt SET a = 1", "DELETE FROM tt", "DELETE FROM temp.tt WHERE a = 1",
        "DROP TABLE tt", "DROP INDEX ti", "DROP VIEW tv", "DROP TRIGGER ttr", "ALTER TABLE tt RENAME TO uu",
        "EXPLAIN CREATE TEMP TABLE x(a)",
    ]
    static let transactions = [
        "BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE", "COMMIT", "END", "ROLLBACK", "SAVEPOINT a", "RELEASE a",
        "ROLLBACK TO a", "EXPLAIN BEGIN",
    ]
    static let pragmas = [
        "journal_mode = DELETE", "journal_mode(MEMORY)", "main.journal_mode = OFF", "JOURNAL_MODE = nonsense",
        "locking_mode = EXCLUSIVE", "locking_mode = nonsense", "synchronous = OFF", "synchronous(0)", "main.synchronous = OFF",
        "wal_checkpoint", "wal_checkpoint(TRUNCATE)", "wal_autocheckpoint = 1",
        "journal_size_limit = 1", "writable_schema", "writable_schema = ON", "writable_schema = RESET",
        "trusted_schema = ON", "query_only", "query_only = OFF", "temp_store = MEMORY", "temp_store_directory = '/tmp'",
        "data_store_directory = '/tmp'", "mmap_size = 1", "cache_size = 1", "cache_spill = OFF",
        "page_size = 512", "auto_vacuum = FULL", "incremental_vacuum", "incremental_vacuum(5)", "soft_heap_limit = 1",
        "hard_heap_limit = 1", "soft_heap_limit", "threads = 4", "busy_timeout = 1", "foreign_keys = OFF",
        "foreign_keys(0)", "defer_foreign_keys = ON", "ignore_check_constraints = ON", "recursive_triggers = ON",
        "cell_size_check = ON", "optimize", "optimize(-1)", "shrink_memory", "case_sensitive_like = ON",
        "encoding = 'UTF-16'", "legacy_alter_table = ON", "legacy_file_format", "reverse_unordered_selects = ON",
        "analysis_limit = 1", "secure_delete = OFF", "max_page_count = 1", "schema_version = 7", "data_version = 1",
        "freelist_count = 1", "page_count(1)", "read_uncommitted = ON", "automatic_index = OFF", "checkpoint_fullfsync = ON",
        "fullfsync = ON", "short_column_names = OFF", "full_column_names = ON", "count_changes = ON",
        "empty_result_callbacks = ON", "default_cache_size = 1", "lock_status", "stats", "parser_trace = ON",
        "vdbe_trace = ON", "key = 'x'", "nosuch", "nosuch = 1",
    ]
    static let tableValued = [
        "SELECT * FROM pragma_journal_mode", "SELECT count(*) FROM pragma_journal_mode", "SELECT * FROM PRAGMA_LOCKING_MODE",
        "SELECT * FROM pragma_busy_timeout", "SELECT * FROM pragma_optimize", "SELECT * FROM pragma_optimize(1)",
        "SELECT * FROM pragma_temp_store", "SELECT * FROM pragma_soft_heap_limit", "SELECT * FROM pragma_hard_heap_limit",
        "SELECT * FROM pragma_threads", "SELECT * FROM pragma_query_only", "SELECT * FROM pragma_writable_schema",
        "SELECT * FROM pragma_trusted_schema", "SELECT * FROM pragma_cache_spill",
        "SELECT (SELECT timeout FROM pragma_busy_timeout)",
        "WITH w AS (SELECT * FROM pragma_journal_mode) SELECT * FROM w",
    ]

    static var denied: [String] {
        attaching + functions + virtualTables + temporary + transactions + pragmas.map { "PRAGMA \($0)" }
            + pragmas.map { "EXPLAIN PRAGMA \($0)" } + tableValued
    }

    @Test(arguments: [Connection.Mode.readOnly, .readWrite])
    func denies(_ mode: Connection.Mode) throws {
        let database = try TemporaryDatabase(Self.schema)
        let connection = try database.open(mode)
        try connection.executeInternal(Self.temporaries)
        let files = database.fileNames
        for sql in Self.denied {
            connection.callbacks.denial = nil
            let error = connection.failure(sql)
            // For a function SQLite has no code of its own, only words.
            #expect(
                error?.code == 23 || error?.message.hasPrefix("not authorized to use function") == true,
                "\(sql): \(String(describing: error))")
            let denial = connection.callbacks.denial
            #expect(denial?.message.isEmpty == false && denial?.hint.isEmpty == false, "\(sql)")
            #expect(connection.isAutocommit, "\(sql)")
        }
        #expect(database.fileNames == files)
        #expect(!FileManager.default.fileExists(atPath: "outside.db"))
        // Nothing of it has left a trace on the connection.
        #expect(try connection.firstText("PRAGMA journal_mode") == "wal")
        #expect(try connection.firstText("PRAGMA locking_mode") == "normal")
        #expect(try connection.firstText("PRAGMA foreign_keys") == "1")
        #expect(try connection.firstText("PRAGMA query_only") == "0")
        #expect(try connection.firstText("PRAGMA writable_schema") == "0")
        #expect(try connection.firstText("PRAGMA wal_autocheckpoint") == "0")
        #expect(try connection.firstText("PRAGMA user_version") == "0")
        #expect(try connection.firstText("SELECT count(*) FROM temp.sqlite_master") == "4")
    }

    /// Functions of the shell alone, and tables a build may have: absent, or refused.
    @Test(arguments: [
        "SELECT readfile('/etc/passwd')", "SELECT writefile('outside', 'x')", "SELECT edit('x')",
        "SELECT * FROM fsdir('/')", "SELECT * FROM sqlite_dbpage", "SELECT * FROM sqlite_memstat", "SELECT * FROM bytecode('SELECT 1')",
        "SELECT * FROM pragma_stats", "SELECT * FROM pragma_wal_checkpoint",
    ])
    func absentOrRefused(_ sql: String) throws {
        let error = try #require(try TemporaryDatabase().open().failure(sql))
        #expect(error.code == 23 || error.message.hasPrefix("no such function") || error.message.hasPrefix("no such table"))
    }

    /// A schema that was written elsewhere may mention anything: what it mentions is refused when it is used.
    @Test(arguments: [
        ("CREATE VIEW x AS SELECT * FROM sqlite_stmt", "SELECT * FROM x"),
        ("CREATE VIEW x AS SELECT * FROM dbstat", "SELECT count(*) FROM x"),
        ("CREATE VIEW x AS SELECT load_extension('x')", "SELECT * FROM x"),
        ("CREATE VIEW x AS SELECT * FROM pragma_journal_mode", "SELECT * FROM x"),
        ("CREATE TABLE x(a, b AS (load_extension(a)))", "SELECT b FROM x"),
        (
            "CREATE TABLE x(a); CREATE TRIGGER y AFTER INSERT ON x BEGIN INSERT INTO x SELECT sql FROM sqlite_stmt; END",
            "INSERT INTO x VALUES(1)"
        ),
        ("CREATE VIRTUAL TABLE x USING fts4(content='sqlite_stmt', sql)", "SELECT * FROM x"),
        ("CREATE VIRTUAL TABLE x USING fts5(sql, content='sqlite_stmt')", "SELECT * FROM x"),
        ("CREATE VIRTUAL TABLE x USING fts5(name, content='dbstat')", "INSERT INTO x(x) VALUES('rebuild')"),
    ])
    func schemaCannotSmuggle(_ schema: String, _ sql: String) throws {
        let database = try TemporaryDatabase()
        // The schema may be refused already, and then there is nothing to use.
        try? database.open().executeInternal(schema)
        #expect(try database.open().failure(sql) != nil)
    }

    static let allowedReads = [
        "SELECT * FROM t", "SELECT 1", "VALUES (1), (2)", "SELECT name FROM sqlite_master", "SELECT * FROM sqlite_schema",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5) SELECT sum(i) FROM n",
        "SELECT value FROM json_each('[1,2]')", "SELECT key FROM json_tree('{\"a\":1}')", "SELECT upper('x') || abs(-1)",
        "SELECT row_number() OVER (ORDER BY a) FROM t", "EXPLAIN SELECT * FROM t", "EXPLAIN QUERY PLAN SELECT * FROM t",
        "EXPLAIN DELETE FROM t", "SELECT sqlite_version()",
        "PRAGMA table_info(t)", "PRAGMA main.table_info('t')", "PRAGMA TABLE_XINFO(t)", "PRAGMA table_list", "PRAGMA table_list(t)",
        "PRAGMA index_list(t)", "PRAGMA index_info(i)", "PRAGMA index_xinfo(i)", "PRAGMA foreign_key_list(t)",
        "PRAGMA foreign_key_check", "PRAGMA foreign_key_check(t)", "PRAGMA collation_list", "PRAGMA function_list",
        "PRAGMA module_list", "PRAGMA pragma_list", "PRAGMA compile_options", "PRAGMA database_list", "PRAGMA integrity_check",
        "PRAGMA integrity_check(5)", "PRAGMA quick_check(t)", "PRAGMA user_version", "PRAGMA application_id",
        "PRAGMA schema_version", "PRAGMA data_version", "PRAGMA freelist_count", "PRAGMA page_count", "PRAGMA page_size",
        "PRAGMA encoding", "PRAGMA auto_vacuum", "PRAGMA foreign_keys", "PRAGMA recursive_triggers", "PRAGMA max_page_count",
        "PRAGMA cache_size", "PRAGMA synchronous", "PRAGMA secure_delete", "PRAGMA journal_mode", "PRAGMA main.JOURNAL_MODE",
        "PRAGMA busy_timeout", "PRAGMA mmap_size", "PRAGMA journal_size_limit", "PRAGMA main.journal_size_limit",
        "PRAGMA wal_autocheckpoint",
        "PRAGMA locking_mode", "PRAGMA main.locking_mode", "PRAGMA trusted_schema", "EXPLAIN PRAGMA journal_mode",
        "EXPLAIN PRAGMA table_info(t)",
        "SELECT * FROM pragma_table_info('t')", "SELECT count(*) FROM pragma_index_list('t')",
        "SELECT m.name, p.name FROM sqlite_master m, pragma_table_xinfo(m.name) p",
        "SELECT * FROM pragma_user_version", "SELECT * FROM pragma_foreign_keys", "SELECT * FROM pragma_integrity_check",
        "SELECT * FROM pragma_database_list", "SELECT * FROM pragma_function_list",
    ]

    /// Asking changes nothing, however often and on whichever connection.
    @Test(arguments: [Connection.Mode.readOnly, .readWrite])
    func askingChangesNothing(_ mode: Connection.Mode) throws {
        let connection = try TemporaryDatabase(Self.schema).open(mode)
        let questions: [StaticString] = [
            "PRAGMA journal_mode", "PRAGMA busy_timeout", "PRAGMA mmap_size", "PRAGMA journal_size_limit", "PRAGMA wal_autocheckpoint",
            "PRAGMA locking_mode", "PRAGMA trusted_schema",
        ]
        let first = try questions.map { try connection.firstText($0) }
        _ = try connection.firstText("SELECT count(*) FROM t")
        #expect(try questions.map { try connection.firstText($0) } == first)
        #expect(first[0] == "wal" && first[4] == "0" && first[5] == "normal" && first[6] == "0")
    }

    @Test(arguments: [Connection.Mode.readOnly, .readWrite])
    func allowsReads(_ mode: Connection.Mode) throws {
        let connection = try TemporaryDatabase(Self.schema).open(mode)
        for sql in Self.allowedReads {
            let error = connection.failure(sql)
            #expect(error == nil, "\(sql)")
        }
        #expect(connection.callbacks.denial == nil)
    }

    /// One after the other on one database.
    static let allowedWrites = [
        "CREATE TABLE p(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT)", "CREATE TABLE c(p REFERENCES p ON DELETE CASCADE, x)",
        "CREATE TABLE copy AS SELECT * FROM t", "CREATE TABLE IF NOT EXISTS p(a)", "CREATE TABLE w(a PRIMARY KEY) WITHOUT ROWID",
        "CREATE INDEX pa ON p(a)", "CREATE UNIQUE INDEX px ON p(lower(a)) WHERE a IS NOT NULL",
        "CREATE VIEW v AS SELECT * FROM p", "CREATE TRIGGER tr AFTER INSERT ON p BEGIN INSERT INTO c VALUES(new.id, 1); END",
        "CREATE TRIGGER vt INSTEAD OF INSERT ON v BEGIN INSERT INTO p(a) VALUES(new.a); END",
        "INSERT INTO p(a) VALUES('x')", "INSERT INTO v(a) VALUES('y')", "INSERT INTO p(a) SELECT 'z' RETURNING id",
        "INSERT INTO p VALUES(1, 'x') ON CONFLICT(id) DO UPDATE SET a = excluded.a", "REPLACE INTO w VALUES(1)",
        "UPDATE p SET a = 'q' WHERE id = 1", "UPDATE c SET x = 2 FROM p WHERE p.id = c.p", "DELETE FROM p WHERE id = 1",
        "WITH w2 AS (SELECT 5 AS n) INSERT INTO w SELECT n FROM w2",
        "ALTER TABLE p ADD COLUMN b DEFAULT 1", "ALTER TABLE p RENAME COLUMN b TO bb", "ALTER TABLE p DROP COLUMN bb",
        "ALTER TABLE copy RENAME TO copied", "ALTER TABLE p RENAME TO parent", "ANALYZE", "ANALYZE parent", "REINDEX",
        "REINDEX pa", "PRAGMA user_version = 5", "PRAGMA application_id = 6", "PRAGMA main.user_version(7)",
        "CREATE VIRTUAL TABLE f3 USING fts3(a)", "CREATE VIRTUAL TABLE f4 USING fts4(a, tokenize=porter)",
        "CREATE VIRTUAL TABLE f5 USING fts5(a, b)", "CREATE VIRTUAL TABLE f4a USING fts4aux(f4)",
        "CREATE VIRTUAL TABLE f5v USING fts5vocab(f5, row)", "CREATE VIRTUAL TABLE r USING rtree(id, x1, x2)",
        "CREATE VIRTUAL TABLE ri USING rtree_i32(id, x1, x2)", "INSERT INTO f3 VALUES('one two')", "INSERT INTO f4 VALUES('one two')",
        "INSERT INTO f5 VALUES('one two', 'three')", "INSERT INTO r VALUES(1, 2, 3)", "SELECT * FROM f5 WHERE f5 MATCH 'two'",
        "SELECT snippet(f5, 0, '<', '>', '', 5) FROM f5('one')", "SELECT matchinfo(f4) FROM f4 WHERE a MATCH 'one'",
        "SELECT * FROM f5v", "SELECT * FROM f4a", "SELECT * FROM r WHERE x1 > 1", "INSERT INTO f5(f5) VALUES('optimize')",
        "ALTER TABLE f5 RENAME TO f55", "PRAGMA integrity_check", "DROP TABLE f3", "DROP TABLE f4a", "DROP TABLE f4", "DROP TABLE f5v",
        "DROP TABLE f55", "DROP TABLE r", "DROP TABLE ri", "DROP INDEX pa", "DROP TRIGGER tr", "DROP VIEW v",
        "DROP TABLE c", "DROP TABLE parent", "DROP TABLE copied", "DROP TABLE w", "DELETE FROM t",
    ]

    @Test func allowsWrites() throws {
        let connection = try TemporaryDatabase("CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 2)").open()
        for sql in Self.allowedWrites {
            let error = connection.failure(sql)
            #expect(error == nil, "\(sql)")
            #expect(connection.callbacks.denial == nil, "\(sql)")
        }
        #expect(try connection.rows("PRAGMA user_version") == [["7"]])
    }

    /// A name that merely contains a refused one is a client's own affair.
    @Test func similarNamesAreFree() throws {
        let connection = try TemporaryDatabase(
            "CREATE TABLE dbstat2(a); CREATE TABLE my_pragma_x(a); CREATE TABLE sqlitestmt(load_extension)"
        ).open()
        for sql in ["SELECT * FROM dbstat2", "SELECT * FROM my_pragma_x", "SELECT load_extension FROM sqlitestmt"] {
            #expect(connection.failure(sql) == nil, "\(sql)")
        }
    }
}
