"""The writer keeps a read transaction over its commits: what SQLite refuses on a connection that reads goes on as if it did not.

The same statements by the sqlite3 module of Python, which keeps nothing, say what has to come out.
"""

import contextlib
import sqlite3
import threading

import pytest

import wire
from console import console
from daemon import eventually

SETUP = """
    CREATE TABLE t (id INTEGER PRIMARY KEY, w);
    CREATE TABLE other (a);
    CREATE INDEX known ON other (a);
    CREATE VIRTUAL TABLE words USING fts5(text);
    CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1);
    INSERT INTO words VALUES ('one two');
    INSERT INTO t VALUES (1, 'kept');
"""

STATEMENTS = [
    "DROP TABLE other",
    "DROP INDEX known",
    "DROP TABLE words",
    "DROP TABLE boxes",
    "ALTER TABLE t ADD COLUMN x DEFAULT 5",
    "ALTER TABLE t DROP COLUMN w",
    "ALTER TABLE t RENAME COLUMN w TO z",
    "ALTER TABLE other RENAME TO another",
    "CREATE INDEX i ON t (w)",
    "CREATE TABLE copy AS SELECT * FROM t",
    "CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO other VALUES (new.id); END",
    "CREATE VIRTUAL TABLE more USING fts5(text)",
    "REINDEX",
    "ANALYZE",
    "DELETE FROM t",
    "INSERT INTO words (words) VALUES ('rebuild')",
    "INSERT INTO words (words) VALUES ('optimize')",
    "WITH new (id) AS (SELECT 7) INSERT INTO t (id) SELECT id FROM new",
]

BEFORE = "INSERT INTO t (id) VALUES (2)"
WITHIN = "INSERT INTO t (id) VALUES (3)"
AFTER = "INSERT INTO t (id) VALUES (4)"


def content(path):
    """Everything that is in a database, whichever tables there are."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        schema = db.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall()
        return schema, [db.execute(f"SELECT * FROM {name}").fetchall() for kind, name, _ in schema if kind == "table"]


@pytest.fixture
def compare(daemon, tmp_path):
    def compare(*steps):
        """Each step is a statement, or several in one simple query."""
        client = daemon.client()
        client.query(SETUP).check()
        expected = tmp_path / "expected.db"
        with contextlib.closing(sqlite3.connect(expected, isolation_level=None)) as db:
            db.executescript(SETUP)
            for step in steps:
                statements = [step] if isinstance(step, str) else step
                client.query("; ".join(statements)).check()
                for statement in statements:
                    db.execute(statement)
        assert content(daemon.database) == content(expected)

    return compare


@pytest.mark.parametrize("statement", STATEMENTS)
def test_alone(compare, statement):
    compare(BEFORE, statement, AFTER)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_in_a_transaction(compare, statement):
    compare(BEFORE, "BEGIN", WITHIN, statement, "COMMIT", AFTER)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_in_one_message(compare, statement):
    compare(BEFORE, ["BEGIN", WITHIN, statement, "COMMIT"], AFTER)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_undone(compare, statement):
    compare(BEFORE, "BEGIN", WITHIN, statement, "ROLLBACK", AFTER)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_to_a_savepoint(compare, statement):
    compare(BEFORE, "BEGIN", WITHIN, "SAVEPOINT s", statement, "ROLLBACK TO s", AFTER, "COMMIT")


# Another process empties the WAL


INSERT = "INSERT INTO t VALUES (NULL)"


@pytest.fixture
def other(start_daemon, outsider):
    """Another process, beside a daemon that does not checkpoint by itself and whose readers keep no snapshot."""
    daemon = start_daemon(config="checkpoint_frames = 8000\n")
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY)", INSERT)
    with console(daemon) as admin:
        # Readers have prepared the statement; their snapshots end, and they are not needed for it any more.
        admin.execute("CHECKPOINT")
    other = outsider(daemon.database)
    other("PRAGMA busy_timeout = 0")
    other.daemon = daemon
    return other


def test_an_idle_writer_is_in_nobodys_way(other):
    other.daemon.run(INSERT)
    eventually(lambda: other("PRAGMA wal_checkpoint(TRUNCATE)") == [(0, 0, 0)], "an empty WAL")
    other.daemon.run(INSERT)
    assert other("SELECT count(*) FROM t") == [(3,)]


@pytest.mark.parametrize("mode", ["FULL", "RESTART", "TRUNCATE"])
def test_idle_readers_make_way_for_a_checkpoint_that_a_writer_waits_for(other, mode):
    """It waits for their snapshots with the write lock in its hands: none of the three would get on before its timeout."""
    def use_readers():
        # One is busy with the first of them when the second comes.
        for client in readers:
            client.send(wire.query("SELECT count(*) FROM t AS a, t AS b, t AS c"))
        for client in readers:
            client.reply().check()

    readers = [other.daemon.client() for _ in range(2)]
    other.daemon.run("WITH RECURSIVE n(x) AS (SELECT 10 UNION ALL SELECT x + 1 FROM n WHERE x < 200) INSERT INTO t SELECT x FROM n")
    use_readers()
    other.daemon.run(INSERT)
    results = []

    def empty_the_wal():
        with contextlib.closing(sqlite3.connect(other.daemon.database, timeout=20)) as db:
            results.extend(db.execute(f"PRAGMA wal_checkpoint({mode})").fetchall())

    checkpoint = threading.Thread(target=empty_the_wal)
    checkpoint.start()
    while checkpoint.is_alive():
        other.daemon.run(INSERT)
        use_readers()
    checkpoint.join()
    (is_busy, frames, copied), = results
    assert not is_busy and frames == copied


def test_a_busy_writer_lets_others_checkpoint(other):
    """PASSIVE copies what is older than the snapshot, which is renewed: so more and more."""
    client = other.daemon.client()
    for _ in range(3):
        client.query(INSERT).check()
        (_, frames, _), = other("PRAGMA wal_checkpoint(PASSIVE)")
        # So many take much longer than a snapshot is kept, and are too few for a checkpoint of the daemon's own.
        for _ in range(2000):
            client.query(INSERT).check()
            (_, _, copied), = other("PRAGMA wal_checkpoint(PASSIVE)")
            if copied >= frames:
                break
        else:
            raise AssertionError("nothing newer was copied")
