"""What no client may do, because connections are shared or because it reaches beyond the database.

Everything runs on a daemon with one reader, so that there are just two connections a statement could have changed.
"""

import sqlite3

import pytest

import wire
from daemon import Daemon

# PRAGMAs that show a connection's state. The deny list leaves asking for these allowed.
STATE = ["foreign_keys", "recursive_triggers", "cache_size", "synchronous", "secure_delete", "page_size", "encoding",
         "auto_vacuum", "max_page_count", "journal_mode", "busy_timeout", "mmap_size", "journal_size_limit", "wal_autocheckpoint",
         "locking_mode", "trusted_schema"]

DENIED_PRAGMAS = [
    "journal_mode = WAL", "journal_mode = DELETE", "journal_mode(OFF)", "main.journal_mode = MEMORY",
    "locking_mode = EXCLUSIVE", "synchronous = OFF", "synchronous(0)", "wal_checkpoint", "wal_checkpoint(TRUNCATE)",
    "wal_autocheckpoint = 1", "writable_schema = 1", "trusted_schema = 1", "query_only = 1", "query_only = 0",
    "temp_store = 2", "temp_store_directory = '/tmp'", "mmap_size = 1000000", "cache_size = 10", "page_size = 512",
    "auto_vacuum = 1", "soft_heap_limit = 1", "hard_heap_limit = 1000000", "threads = 4", "busy_timeout = 1",
    "foreign_keys = 0", "foreign_keys(off)", "recursive_triggers = 1", "cell_size_check = 1", "optimize",
    "case_sensitive_like = 1", "automatic_index = 0", "ignore_check_constraints = 1", "legacy_alter_table = 1",
    "reverse_unordered_selects = 1", "cache_spill = 0", "checkpoint_fullfsync = 1", "fullfsync = 1",
    "journal_size_limit = 0", "max_page_count = 10", "secure_delete = 1", "shrink_memory", "incremental_vacuum",
    "encoding = 'UTF-16'", "read_uncommitted = 1", "data_store_directory = '/tmp'", "default_cache_size = 1",
    "schema_version = 7", "analysis_limit = 1", "empty_result_callbacks = 1", "full_column_names = 1",
    "short_column_names = 0", "count_changes = 1", "hexkey = 'x'", "key = 'x'", "rekey = 'x'", "lock_status",
    "legacy_file_format = 1", "stats", "parser_trace = 1", "vdbe_trace = 1", "unheard_of = 1",
]

DENIED = [f"PRAGMA {pragma}" for pragma in DENIED_PRAGMAS] + [
    "ATTACH ':memory:' AS other", "ATTACH DATABASE '{directory}/stolen.db' AS other", "DETACH main", "DETACH other",
    "VACUUM", "VACUUM main", "VACUUM INTO '{directory}/stolen.db'",
    "CREATE TEMP TABLE x (y)", "CREATE TEMPORARY TABLE x AS SELECT 1", "CREATE TABLE temp.x (y)",
    "CREATE TEMP VIEW x AS SELECT 1", "CREATE TEMP TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE temp.x USING fts5(a)",
    "SELECT load_extension('/tmp/evil.so')", "SELECT load_extension('/tmp/evil.so', 'entry')",
    "SELECT fts3_tokenizer('simple')", "SELECT fts3_tokenizer('evil', x'4141414141414141')",
    "SELECT * FROM t WHERE load_extension('x')",
    "WITH c AS (SELECT fts3_tokenizer('simple')) SELECT * FROM c",
    "INSERT INTO t (v) VALUES (load_extension('x'))", "UPDATE t SET v = fts3_tokenizer('simple')",
    "SELECT * FROM sqlite_stmt", "SELECT * FROM dbstat", "SELECT sql FROM sqlite_stmt LIMIT 1",
    "CREATE VIRTUAL TABLE x USING dbstat", "CREATE VIRTUAL TABLE x USING sqlite_stmt",
    "CREATE VIRTUAL TABLE x USING nonsense",
    "SELECT * FROM pragma_journal_mode", "SELECT * FROM pragma_journal_mode('delete')",
    "SELECT * FROM pragma_locking_mode('exclusive')", "SELECT * FROM pragma_busy_timeout(1)",
    "SELECT * FROM pragma_soft_heap_limit(1)", "SELECT * FROM pragma_hard_heap_limit(1)",
    "SELECT * FROM pragma_optimize", "SELECT * FROM pragma_query_only", "SELECT * FROM pragma_temp_store(2)",
    "SELECT * FROM pragma_writable_schema(1)", "SELECT * FROM PRAGMA_TRUSTED_SCHEMA(1)",
    "INSERT INTO t (v) SELECT * FROM pragma_journal_mode",
]

# Refused by SQLite itself (defensive mode) or absent from it; any of these states will do.
REFUSED = [
    ("UPDATE sqlite_schema SET sql = 'x'", {"42501"}),
    ("DELETE FROM sqlite_master", {"42501"}),
    ("INSERT INTO sqlite_schema VALUES (1, 2, 3, 4, 5)", {"42501"}),
    ("DROP TABLE sqlite_schema", {"42501", "42000", "42601"}),
    ("SELECT * FROM sqlite_dbpage", {"42501", "42P01"}),
    ("UPDATE sqlite_dbpage SET data = x'00'", {"42501", "42P01"}),
    ("SELECT readfile('/etc/passwd')", {"42883"}),
    ("SELECT writefile('/tmp/x', 'y')", {"42883"}),
    ("SELECT edit('x')", {"42883"}),
    ("SELECT * FROM fsdir('/')", {"42P01"}),
    ("SELECT * FROM zipfile('x')", {"42P01"}),
    ("SELECT * FROM pragma_wal_checkpoint", {"42501", "42P01"}),
    ("SELECT * FROM pragma_wal_checkpoint('truncate')", {"42501", "42P01"}),
    ("SELECT * FROM sqlite_temp_schema", None),
]


@pytest.fixture(scope="module")
def served():
    daemon = Daemon(options=["--readers", "1"])
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)", "INSERT INTO t VALUES (1, 'x')",
               "CREATE TABLE child (t INTEGER REFERENCES t)")
    yield daemon
    daemon.close()


def state(daemon):
    """What can be seen of both connections."""
    with daemon.client() as client:
        seen = {}
        for where, begin in [("reader", "BEGIN READ ONLY"), ("writer", "BEGIN IMMEDIATE")]:
            client.query(begin).check()
            for pragma in STATE:
                seen[where, pragma] = client.query(f"PRAGMA {pragma}").check().texts
            seen[where, "databases"] = [row[:2] for row in client.query("PRAGMA database_list").check().texts
                                        if row[1] != "temp"]  # which is there as soon as SQLite sorts in it
            seen[where, "functions"] = client.query(
                "SELECT count(*) FROM pragma_function_list WHERE name = 'load_extension'").check().texts
            seen[where, "strings"] = client.query("SAVEPOINT s; SELECT \"no such column\"").state
            client.query("ROLLBACK").check()
        seen["schema"] = client.query("SELECT type, name, sql FROM sqlite_schema ORDER BY name").check().texts
        seen["rows"] = client.query("SELECT * FROM t").check().texts
        seen["foreign keys"] = client.query("INSERT INTO child VALUES (4711)").state
        seen["versions"] = [client.value(f"PRAGMA {name}") for name in ("schema_version", "user_version", "application_id")]
        client.send(wire.terminate())
        return seen


@pytest.fixture(autouse=True)
def unchanged(served):
    """Whatever a test does, nothing about the connections is different afterwards."""
    before = state(served)
    yield
    assert state(served) == before
    assert not (served.directory / "stolen.db").exists()
    assert served.is_running


def check_denied(reply, sql=""):
    error = reply.error
    if sql.startswith("VACUUM") and error["C"] == "25001":
        return  # where VACUUM could not run anyway, that may be said first
    if sql.startswith("VACUUM"):
        assert ("BACKUP TO" if "INTO" in sql else "console") in error["H"], error
    assert error["C"] == "42501", error
    assert error.get("H"), "a hint says what to do instead"
    assert error["S"] == "ERROR"


@pytest.mark.parametrize("sql", DENIED)
def test_denied(served, sql):
    sql = sql.format(directory=served.directory)
    client = served.client()
    # In all ways a statement can come.
    check_denied(client.query(sql))
    check_denied(client.ask(wire.parse(sql), wire.bind(), wire.execute()))
    check_denied(client.query(f"SELECT 1; {sql}"), sql)
    check_denied(client.query(f"/* x */ {sql} -- y"))
    if not sql.startswith("VACUUM"):  # which does nothing until it runs
        check_denied(client.query(f"EXPLAIN {sql}"))
    # What is no query, PREPARE takes in no case.
    assert client.query(f"PREPARE p AS {sql}").state in ("42501", "42601")
    for begin in ["BEGIN", "BEGIN READ ONLY", "BEGIN ISOLATION LEVEL REPEATABLE READ", "BEGIN IMMEDIATE"]:
        client.query(begin).check()
        reply = client.query(sql)
        # A transaction that may not write may say so first.
        if (reply.state, begin) != ("25006", "BEGIN READ ONLY"):
            check_denied(reply, sql)
        assert reply.status == "E"
        client.query("ROLLBACK").check()
    assert client.value("SELECT v FROM t") == "x"


@pytest.mark.parametrize("sql, states", REFUSED)
def test_refused(served, sql, states):
    client = served.client()
    for _ in range(2):
        reply = client.query(sql)
        assert not reply.closed
        if states is not None:
            assert reply.state in states, reply.errors
    assert client.value("SELECT v FROM t") == "x"


def test_denied_inside_schema_objects(served):
    client = served.client()
    # Where SQLite compiles the body at once, it is refused at once; where it does so at use, then.
    for create, use in [
        ("CREATE VIEW evil AS SELECT load_extension('x') AS x", "SELECT * FROM evil"),
        ("CREATE VIEW evil AS SELECT * FROM pragma_journal_mode('delete')", "SELECT * FROM evil"),
        ("CREATE VIEW evil AS SELECT * FROM sqlite_stmt", "SELECT * FROM evil"),
        ("CREATE TRIGGER evil AFTER INSERT ON t BEGIN SELECT load_extension('x'); END",
         "INSERT INTO t VALUES (2, 'y')"),
        ("CREATE TABLE evil (x CHECK (load_extension(x)))", "INSERT INTO evil VALUES ('x')"),
        ("CREATE TABLE evil (x DEFAULT (fts3_tokenizer('simple')))", "INSERT INTO evil DEFAULT VALUES"),
        ("CREATE TABLE evil (x, y AS (load_extension(x)))", "SELECT y FROM evil"),
        ("CREATE INDEX evil ON t (fts3_tokenizer(v))", "SELECT 1 FROM t WHERE fts3_tokenizer(v)"),
    ]:
        client.query("BEGIN").check()
        reply = client.query(create)
        if reply.errors:
            assert reply.state in ("42501", "42601", "42000", "0A000", "42883"), reply.errors
        else:
            assert client.query(use).state in ("42501", "42601", "42000"), create
        client.query("ROLLBACK").check()
    # An FTS3 table with a tokenizer by address was a crash: https://www.sqlite.org/compile.html#enable_fts3_tokenizer
    client.query("BEGIN").check()
    assert client.query("CREATE VIRTUAL TABLE x USING fts3(a, tokenize=evil)").errors
    client.query("ROLLBACK").check()


@pytest.mark.parametrize(
    "sql",
    ["PRAGMA table_info(t)", "PRAGMA table_xinfo(t)", "PRAGMA index_list(t)", "PRAGMA foreign_key_list(child)",
     "PRAGMA table_list", "PRAGMA user_version", "PRAGMA application_id", "PRAGMA data_version", "PRAGMA integrity_check",
     "PRAGMA quick_check", "PRAGMA foreign_key_check", "PRAGMA compile_options", "PRAGMA main.table_info('t')",
     "SELECT name FROM pragma_table_info('t')", "SELECT * FROM pragma_index_list('t')", "PRAGMA page_count",
     "PRAGMA freelist_count", "PRAGMA schema_version", "EXPLAIN SELECT * FROM t", "EXPLAIN QUERY PLAN SELECT * FROM t",
     "SELECT sqlite_version()", "SELECT sqlite_compileoption_used('THREADSAFE')"],
)
def test_allowed(served, sql):
    client = served.client()
    client.query(sql).check()
    client.extended(sql).check()
    client.query("BEGIN IMMEDIATE").check()
    client.query(sql).check()
    client.query("ROLLBACK").check()


def test_tables_that_are_called_like_pragmas(served):
    client = served.client()
    client.query("BEGIN").check()
    client.query("CREATE TABLE pragma_notes (x); INSERT INTO pragma_notes VALUES (1)").check()
    assert client.value("SELECT x FROM pragma_notes") == client.value("SELECT pragma_notes.x FROM pragma_notes JOIN t") == "1"
    client.query("ROLLBACK").check()


def test_a_function_that_begins_a_transaction(served):
    client = served.client()
    refused = client.query("SELECT rtreecheck('boxes')")
    assert refused.state == "42501" and "BEGIN ISOLATION LEVEL REPEATABLE READ" in refused.error["H"]
    client.query("BEGIN ISOLATION LEVEL REPEATABLE READ").check()
    client.query("CREATE VIRTUAL TABLE boxes USING rtree(id, a, b)").check()
    assert client.value("SELECT rtreecheck('boxes')") == "ok"
    client.query("ROLLBACK").check()


def test_allowed_writes(served):
    client = served.client()
    client.query("BEGIN").check()
    for sql in ["CREATE VIRTUAL TABLE f USING fts5(a)", "INSERT INTO f VALUES ('some text')",
                "CREATE VIRTUAL TABLE r USING rtree(id, a, b)", "CREATE VIRTUAL TABLE f3 USING fts3(a)",
                "CREATE VIEW w AS SELECT * FROM t", "CREATE TRIGGER g INSTEAD OF INSERT ON w BEGIN SELECT 1; END",
                "CREATE INDEX i ON t (v)", "ANALYZE", "REINDEX", "ALTER TABLE t RENAME COLUMN v TO w"]:
        client.query(sql).check()
    assert client.query("SELECT a FROM f WHERE f MATCH 'text'").value == "some text"
    client.query("ROLLBACK").check()


def test_user_version_is_transactional(served):
    client = served.client()
    client.query("BEGIN; PRAGMA user_version = 7").check()
    assert client.value("PRAGMA user_version") == "7"
    client.query("ROLLBACK").check()
    assert client.value("PRAGMA user_version") == "0"


def test_what_reading_has_left_behind_is_nobodys(served):
    """last_insert_rowid() and changes() are the session's, and 0 in a new one."""
    client = served.client()
    for _ in range(2):
        assert client.query("SELECT last_insert_rowid(), changes(), total_changes()").texts == [("0", "0", "0")]


def test_the_file_is_as_it_was():
    daemon = Daemon(options=["--readers", "1"])
    try:
        daemon.run("CREATE TABLE t (x)")
        with daemon.client() as client:
            for sql in DENIED:
                client.query(sql.format(directory=daemon.directory))
        daemon.stop()
        with sqlite3.connect(daemon.database) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("t",)]
        connection.close()
    finally:
        daemon.close()
