"""Every connection keeps the schema in memory, and the statement of whoever comes first reads it: it must not outgrow a statement's memory."""

import contextlib
import sqlite3

import pytest

CONFIG = "statement_memory_limit_bytes = 16777216\n"
MANY = "1 IN (" + "1, " * 60_000 + "1)"
FEWER = "1 IN (" + "1, " * 30_000 + "1)"
# More than two mebibytes in memory, and as SQL a fifth of one or less; a view's is kept in less room.
LARGE = {
    "view": f"CREATE VIEW large AS SELECT {MANY}",
    "check": f"CREATE TABLE large (a CHECK ({FEWER}))",
    "trigger": f"CREATE TRIGGER large AFTER INSERT ON t BEGIN SELECT {MANY}; END",
    "column": f"ALTER TABLE t ADD COLUMN b CHECK ({FEWER})",
}


@pytest.fixture
def db(start_daemon):
    daemon = start_daemon(config=CONFIG)
    daemon.run("CREATE TABLE t (a)", "INSERT INTO t VALUES (1)")
    return daemon


@pytest.mark.parametrize("kind", LARGE)
def test_a_definition_that_is_too_large(db, kind):
    client, other = db.client(), db.client()
    before = other.query("SELECT sql FROM sqlite_schema").texts
    for sql in LARGE[kind], f"BEGIN; {LARGE[kind]}; COMMIT", f"INSERT INTO t VALUES (2); {LARGE[kind]}":
        reply = client.query(sql)
        assert reply.state == "54000" and "statement_memory_limit_bytes" in reply.error["D"]
        client.query("ROLLBACK")
    client.query("BEGIN; INSERT INTO t VALUES (3); SAVEPOINT a").check()
    assert client.query(LARGE[kind]).state == "54000"
    client.query("ROLLBACK TO a; COMMIT").check()
    for each in client, other, db.client():
        assert each.query("SELECT sql FROM sqlite_schema").texts == before
        assert each.query("SELECT a FROM t").texts == [("1",), ("3",)]
    db.stop()
    db.restart()
    assert db.value("SELECT count(*) FROM t") == "2"


def test_many_that_are_too_large_together(db):
    client = db.client()
    made = 0
    while (reply := client.query(f"CREATE VIEW v{made} AS SELECT 1 IN ({'1, ' * 2_000}1)")).state is None:
        made += 1
    assert reply.state == "54000" and made > 3
    # What makes it smaller is always possible.
    assert db.client().query("DROP VIEW v0").tag == "DROP VIEW"
    client.query("CREATE VIEW v0 AS SELECT 1").check()
    db.stop()
    db.restart()
    assert db.value("SELECT count(*) FROM sqlite_schema WHERE type = 'view'") == str(made)


WIDE = "CREATE TABLE wide (%s)" % ", ".join(f"c{number}" for number in range(1999))
# What a short text makes large.
SHORT = {
    "table": "CREATE TABLE made{} AS SELECT * FROM wide",
    "view": "CREATE VIEW made{} AS SELECT * FROM wide",
    "index": "CREATE INDEX made{} ON keyed (z)",
    "full text": "CREATE VIRTUAL TABLE made{} USING fts4(content=half)",
}
# So many fill two mebibytes, and a fifth more.
MOST = {"table": 29, "view": 27, "index": 250, "full text": 60}


@pytest.mark.parametrize("kind", SHORT)
@pytest.mark.optimised("view", "index")
def test_a_short_text_that_defines_much(db, kind):
    client = db.client()
    client.query(WIDE).check()
    client.query("CREATE TABLE half (%s)" % ", ".join(f"c{number}" for number in range(900))).check()
    columns = ", ".join(f"c{number}" for number in range(700))
    client.query(f"CREATE TABLE keyed ({columns}, z, PRIMARY KEY ({columns})) WITHOUT ROWID").check()
    client.query("BEGIN").check()
    made = 0
    while (reply := client.query(SHORT[kind].format(made))).state is None:
        made += 1
        assert made <= MOST[kind]
    assert reply.state == "54000" and made > 3
    client.query("ROLLBACK; BEGIN").check()
    # To the byte it is not the same the next time.
    for number in range(made - 1):
        client.query(SHORT[kind].format(number)).check()
    client.query("COMMIT").check()
    db.stop()
    db.restart()
    assert db.value("SELECT count(*) FROM wide") == "0"
    if kind == "view":
        # Everybody can ask for the columns, which SQLite then keeps.
        assert int(db.value("SELECT count(*) FROM information_schema.columns")) >= 1999 + 700
    drop = "INDEX" if kind == "index" else "VIEW" if kind == "view" else "TABLE"
    db.run(f"DROP {drop} made0")


@pytest.mark.parametrize("kind", ["view", pytest.param("full text", marks=pytest.mark.optimised)])
def test_going_on_after_a_refusal(db, kind):
    """What was undone takes from the writer's memory what it knew of the columns of all others."""
    client = db.client()
    client.query(WIDE).check()
    client.query("CREATE TABLE half (%s)" % ", ".join(f"c{number}" for number in range(900))).check()
    replies = [client.query(SHORT[kind].format(number)) for number in range(MOST[kind] + 5)]
    made = sum(reply.state is None for reply in replies)
    assert 3 < made <= MOST[kind] and {reply.state for reply in replies} == {None, "54000"}
    client.query("DROP TABLE half").check()
    db.stop()
    db.restart()
    assert int(db.value("SELECT count(*) FROM information_schema.columns")) >= 1999


@pytest.mark.parametrize("sql", [
    # Views of one column of a long type, each of whose columns has it, without a star.
    "CREATE VIEW made{} AS SELECT %s FROM typed" % ", ".join(f"a AS c{number}" for number in range(1500)),
    # Each UNIQUE is an index with all columns of the key.
    "CREATE TABLE made{} (%s, PRIMARY KEY (%s)%s) WITHOUT ROWID" % (
        *[", ".join(f"c{number}" for number in range(700))] * 2, "".join(f", UNIQUE (c{number})" for number in range(700)))])
def test_a_short_text_is_enough(db, sql):
    client = db.client()
    client.query(f'CREATE TABLE typed (a "{"x" * 2_000}")').check()
    replies = [client.query(sql.format(number)) for number in range(3)]
    assert replies[-1].state == "54000", replies[-1].errors
    client.query("DROP TABLE typed").check()
    assert db.value("SELECT count(*) FROM information_schema.tables") is not None


LONG = "x" * 60_000


@pytest.mark.parametrize("view, sql, less", [
    ("SELECT * FROM t", f'ALTER TABLE t ADD COLUMN "{LONG}"', "ALTER TABLE t ADD COLUMN b"),
    ("SELECT * FROM t", f'ALTER TABLE t RENAME COLUMN a TO "{LONG}"', "ALTER TABLE t RENAME COLUMN a TO c"),
    ("SELECT * FROM late", f'CREATE TABLE late (a, "{LONG}")', "CREATE TABLE late (a, b)"),
    ("SELECT * FROM late", "CREATE TABLE late AS SELECT * FROM wide", "CREATE TABLE late AS SELECT a FROM t"),
    ("SELECT * FROM late", "CREATE VIEW late AS SELECT * FROM wide", "CREATE TABLE late AS SELECT a FROM t"),
])
def test_views_get_what_their_table_has(db, view, sql, less):
    client = db.client()
    client.query(WIDE).check()
    for number in range(40):
        client.query(f"CREATE VIEW v{number} AS {view}").check()
    for _ in range(2):
        reply = client.query(sql)
        assert reply.state == "54000" and "statement_memory_limit_bytes" in reply.error["D"], reply.errors
        client.query(less).check()
        client.query("DROP TABLE IF EXISTS late; ALTER TABLE t ADD COLUMN more").check()
        client.query("DROP TABLE t; CREATE TABLE t (a)").check()
    assert db.value("SELECT count(*) FROM information_schema.tables") == "42"


@pytest.mark.parametrize("undo", ["ROLLBACK", "ROLLBACK TO s; COMMIT"])
def test_what_a_rollback_brings_back_counts(db, undo):
    """Counted while it is gone, it would be there for nothing."""
    client = db.client()
    for number in range(3):
        client.query(f'CREATE TABLE wide{number} ("{number}{LONG}")').check()
    made = 0
    while (reply := client.query(f"CREATE VIEW v{made} AS SELECT * FROM wide{made % 3}")).state is None:
        made += 1
    assert reply.state == "54000" and made > 20
    for _ in range(3):
        client.query(f"BEGIN; SAVEPOINT s; DROP TABLE wide0; DROP TABLE wide1; DROP TABLE wide2; CREATE TABLE new AS SELECT 1 AS a; {undo}").check()
        assert client.query(f"CREATE VIEW more AS SELECT * FROM wide0").state == "54000"


def test_columns_are_counted_apart(db):
    """What the writer happens to know of them is nothing that a table is refused for."""
    client = db.client()
    client.query(WIDE).check()
    for number in range(12):
        client.query(f"CREATE VIEW v{number} AS SELECT * FROM wide").check()
    for number in range(2):
        client.query(f"CREATE TABLE checked{number} (a CHECK (a IN (" + "1, " * 8_000 + "1)))").check()


def test_a_view_of_what_is_not_there(db):
    """It may be, later."""
    db.run("CREATE VIEW early AS SELECT * FROM late", "CREATE TABLE late (x)", "INSERT INTO late VALUES (1)")
    assert db.value("SELECT x FROM early") == "1"
    assert db.client().query("CREATE VIEW early AS SELECT 1").state == "42P07"
    db.run("CREATE VIEW IF NOT EXISTS early AS SELECT 2")


def test_a_view_whose_columns_take_long(start_daemon):
    """They are nobody's statement: who defines it is not stopped for it, nor who defines another after it."""
    daemon = start_daemon(config='statement_timeout = "1s"\n')
    client = daemon.client()
    client.query("CREATE TABLE t (a, b); CREATE VIEW f0 AS SELECT * FROM t").check()
    for number in range(1, 6):
        joined = ", ".join(f"f{number - 1} AS j{each}" for each in range(12))
        client.query(f"CREATE VIEW f{number} AS SELECT j0.* FROM {joined}").check()
    for _ in range(2):
        client.query("CREATE VIEW IF NOT EXISTS f1 AS SELECT *, 1 FROM t").check()
    client.query("CREATE VIEW another AS SELECT * FROM t").check()
    client.query("BEGIN; INSERT INTO t VALUES (1, 2); CREATE VIEW more AS SELECT * FROM f4; INSERT INTO t VALUES (3, 4); COMMIT").check()
    assert client.query("SELECT * FROM another").texts == [("1", "2"), ("3", "4")]


def test_a_large_database_is_served(start_daemon):
    """With the limits that are there without a configuration."""
    daemon = start_daemon()
    columns = ", ".join(f"column_{number} INTEGER NOT NULL DEFAULT 0" for number in range(20))
    made = [f"CREATE TABLE t{n} (id INTEGER PRIMARY KEY, {columns}); CREATE INDEX i{n} ON t{n} (column_1);" for n in range(1000)]
    with contextlib.closing(sqlite3.connect(daemon.database)) as connection:
        connection.executescript("BEGIN;" + "".join(made) + "COMMIT")
    daemon.run("CREATE TABLE another (x)", f"CREATE VIEW v AS SELECT {MANY}")
    assert daemon.value("SELECT count(*) FROM t999, another") == "0"


def test_a_long_name_that_is_mentioned_often(db):
    """RENAME writes it wherever it stands: a text of a thousand bytes may add megabytes."""
    client = db.client()
    client.query("CREATE TABLE s (a)").check()
    mentions = "a IN (" + ", ".join(["new.a"] * 800) + ")"
    for number in range(4):
        client.query(f"CREATE TRIGGER often{number} AFTER INSERT ON s BEGIN SELECT {mentions} FROM s; END").check()
    assert client.query(f"ALTER TABLE s RENAME COLUMN a TO {'n' * 900}").state == "54000"
    client.query("INSERT INTO s (a) VALUES (1)").check()


def test_a_schema_that_is_too_large_already(start_daemon):
    """Another process made it so. Whatever does not make it larger goes on."""
    daemon = start_daemon()
    daemon.run("CREATE TABLE t (a PRIMARY KEY, b)", "CREATE INDEX ti ON t (a)", "INSERT INTO t VALUES (1, 2)")
    daemon.stop()
    with contextlib.closing(sqlite3.connect(daemon.database)) as connection:
        connection.execute(f"CREATE VIEW large AS SELECT {MANY}")
        connection.execute(f"CREATE VIEW larger AS SELECT {MANY}")
    daemon.config = CONFIG
    daemon.restart()
    for sql in ["ANALYZE", "ANALYZE t", "REINDEX", "REINDEX ti", "CREATE TABLE IF NOT EXISTS t (x)", "CREATE VIEW IF NOT EXISTS large AS SELECT 1", "CREATE INDEX IF NOT EXISTS ti ON t (b)",
                "ALTER TABLE t DROP COLUMN b", "DROP VIEW larger", "INSERT INTO t VALUES (2)"]:
        daemon.run(sql)
    assert daemon.value("SELECT count(*) FROM t") == "2"
