"""Each connection has read the schema for itself: whichever runs a statement, and whatever it knew, the answer is the same."""

import contextlib
import sqlite3

import pytest

import wire
from types_fixtures import client, parameter_types  # noqa: F401 (fixtures)
from wire import BOOL, BYTEA, INT8

CHECKED = "CREATE TABLE checked (id INTEGER PRIMARY KEY, active BOOLEAN, n INT, data BLOB, CHECK (active IS NOT n), CHECK (data IS NOT n))"


@pytest.fixture
def db(start_daemon):
    daemon = start_daemon()
    daemon.run(CHECKED, "INSERT INTO checked VALUES (1, 0, 5, NULL)", "CREATE TABLE t (a INT, b INT)", "INSERT INTO t VALUES (1, 2)",
               "CREATE TABLE u (a INT, c INT)", "INSERT INTO u VALUES (1, 2)", "CREATE VIEW v (x, y) AS SELECT * FROM u")
    return daemon


# CHECK constraints: a connection that only reads knows none.

STATEMENTS = [
    ("UPDATE checked SET active = $1 WHERE id = $2", [BOOL, INT8]), ("INSERT INTO checked (active, n) VALUES ($1, $2)", [BOOL, INT8]),
    ("INSERT INTO checked (data) VALUES ($1)", [BYTEA]), ("INSERT OR IGNORE INTO checked (active) VALUES ($1)", [BOOL]),
    ("INSERT INTO checked (id, active) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET active = excluded.active", [INT8, BOOL]),
]


@pytest.mark.parametrize("sql, types", STATEMENTS)
@pytest.mark.parametrize("where", ["on a reader", "on the writer", "on the writer, in a schema of its own"])
def test_checks_say_nothing_of_parameters(db, client, sql, types, where):
    if where != "on a reader":
        client.query("BEGIN; INSERT INTO t VALUES (3, 4)").check()
    if where == "on the writer, in a schema of its own":
        client.query("CREATE TABLE own (x)").check()
    assert parameter_types(client, sql) == types


def test_a_check_holds_behind_that(db, client):
    client.query("BEGIN; INSERT INTO t VALUES (3, 4)").check()
    insert = "INSERT INTO checked (active, n) VALUES ($1, $2)"
    assert client.extended(insert, ["t", "1"]).state == "23514"
    client.query("ROLLBACK").check()
    assert client.extended(insert, ["t", "1"]).state == "23514"
    # A statement that was there before is as it was.
    assert client.extended(insert, ["t", "2"]).check().tag == "INSERT 0 1"


def test_a_definition_of_others_changes_no_type(db, client):
    sql = "UPDATE checked SET active = $1 WHERE id = $2"
    client.ask(wire.parse(sql, name="s")).check()
    for number in range(3):
        client.ask(wire.bind(["t", "1"], statement="s"), wire.execute()).check()
        assert client.query("SELECT typeof(active) FROM checked WHERE id = 1").texts == [("integer",)]
        db.run(f"CREATE TABLE other_{number} (x)")
    with db.client() as other:
        assert parameter_types(other, sql) == [BOOL, INT8]


# What was right, is wrong for a while, and is right again.

MENDED = [
    ("INSERT INTO t SELECT * FROM u LIMIT 0", "ALTER TABLE u ADD COLUMN q INT", "ALTER TABLE u DROP COLUMN q"),
    ("SELECT x FROM v", "ALTER TABLE u ADD COLUMN q INT", "ALTER TABLE u DROP COLUMN q"),
    ("SELECT a FROM t WHERE (a, b) = (SELECT * FROM u)", "ALTER TABLE u ADD COLUMN q INT", "ALTER TABLE u DROP COLUMN q"),
    ("INSERT INTO t VALUES (1, 2) ON CONFLICT (a) DO NOTHING", "DROP INDEX t_a", "CREATE UNIQUE INDEX t_a ON t (a)"),
    ("UPDATE t SET b = 3", "DROP TABLE t; CREATE VIEW t AS SELECT 1 AS a, 2 AS b", "DROP VIEW t; CREATE TABLE t (a INT, b INT)"),
]


@pytest.mark.parametrize("by", ["a session", "an outsider"])
@pytest.mark.parametrize("sql, breaks, mends", MENDED)
def test_a_statement_that_was_wrong_for_a_while(db, client, sql, breaks, mends, by):
    db.run("CREATE UNIQUE INDEX t_a ON t (a)")
    outsider = sqlite3.connect(db.database, isolation_level=None)
    with contextlib.closing(outsider):
        def define(statements):
            if by == "an outsider":
                return outsider.executescript(statements)
            db.run(*statements.split("; "))

        run = [wire.bind(statement="s"), wire.execute()]
        client.ask(wire.parse(sql, name="s"), *run).check()
        define(breaks)
        for _ in range(2):
            assert client.ask(*run).state is not None
        define(mends)
        for _ in range(2):
            client.ask(*run).check()
            client.query(sql).check()


# Statements whose answer SQLite finds when it prepares them, and that it does not prepare again.

DEFINED = [
    ("PRAGMA index_list('new')", "CREATE TABLE new (a UNIQUE)"), ("PRAGMA foreign_key_list('new')", "CREATE TABLE new (a REFERENCES t)"),
    ("PRAGMA index_info('new')", "CREATE INDEX new ON t (a)"), ("EXPLAIN QUERY PLAN SELECT b FROM t WHERE a = 1", "CREATE INDEX new ON t (a)")]
# Who does not switch foreign keys on can break one.
BROKEN = ("PRAGMA foreign_key_check", "CREATE TABLE new (a REFERENCES checked); INSERT INTO new VALUES (77)")


@pytest.mark.parametrize("by, sql, definition", [
    *(("a session", *one) for one in DEFINED), *(("an outsider", *one) for one in [*DEFINED, BROKEN])])
def test_what_was_defined_meanwhile(db, by, sql, definition):
    clients = [db.client() for _ in range(3)]
    with contextlib.closing(sqlite3.connect(db.database, isolation_level=None)) as outsider:
        def answers():
            """Of readers, and of the writer."""
            clients[0].query("BEGIN; INSERT INTO t VALUES (3, 4)").check()
            found = [one.query(sql).check().texts for one in clients for _ in range(2)]
            clients[0].query("ROLLBACK").check()
            return found

        before = answers()
        outsider.executescript(definition) if by == "an outsider" else db.run(definition)
        after = answers()
        expected = [tuple(None if value is None else str(value) for value in row) for row in outsider.execute(sql)]
    assert after == [expected] * 6 and before[0] != expected


def test_a_word_that_becomes_a_column(db, client):
    client.ask(wire.parse("SELECT true FROM t", name="s"), wire.describe_statement("s"), wire.bind(statement="s"), wire.execute()).check()
    db.run('ALTER TABLE t ADD COLUMN "true"', 'UPDATE t SET "true" = 0')
    assert client.ask(wire.bind(statement="s"), wire.execute()).state == "0A000"
    assert client.query("SELECT true FROM t").texts == [("0",)]


def test_what_has_grown_is_dropped_and_nothing_else(db, client):
    """The statement that is run is the one that there is no more room for, of however many with its text."""
    db.run("CREATE TABLE wide (c0 INT)")
    for first in range(0, 2000, 100):
        client.send(*[wire.parse("SELECT * FROM wide WHERE c0 = $1", name=f"m{number}") for number in range(first, first + 100)], wire.sync())
        client.reply().check()
    db.run("DROP TABLE wide", f"CREATE TABLE wide ({', '.join(f'c{number} INT' for number in range(1500))})")
    states = [client.ask(wire.bind(["1"], statement="m0"), wire.execute()).state for _ in range(2)]
    assert states == ["54000", "26000"]
