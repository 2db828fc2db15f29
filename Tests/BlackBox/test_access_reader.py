"""What a reader can do, by every route, and what each role can in the console."""

import os

import pytest

import wire
from access import ALICE, BOB, READER, refused, started
from daemon import Daemon, Outsider, eventually
from identity import client_as, session_as

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="needs to become other users")

# Every kind of statement that changes something.
WRITES = [
    "INSERT INTO t VALUES (9, 'x')", "INSERT INTO t VALUES (9, 'x') RETURNING id", "INSERT INTO t SELECT 9, 'x'",
    "INSERT INTO t DEFAULT VALUES", "INSERT OR REPLACE INTO t VALUES (1, 'y')", "REPLACE INTO t VALUES (1, 'y')",
    "INSERT INTO t VALUES (1, 'y') ON CONFLICT DO UPDATE SET v = 'y'", "INSERT INTO t SELECT * FROM t WHERE 0",
    "WITH c AS (SELECT 9) INSERT INTO t SELECT *, 'x' FROM c", "WITH RECURSIVE c(n) AS (SELECT 1) DELETE FROM t",
    "UPDATE t SET v = 'y'", "UPDATE t SET v = 'y' RETURNING *", "UPDATE t SET v = 'y' WHERE 0", "DELETE FROM t",
    "DELETE FROM t RETURNING v", "DELETE FROM t WHERE 0", "INSERT INTO w VALUES (9, 'x')", "DELETE FROM w",
    "CREATE TABLE u (x)", "CREATE TABLE u AS SELECT 1", "CREATE TABLE IF NOT EXISTS t (x)", "CREATE INDEX i ON t (v)",
    "CREATE VIEW u AS SELECT 1", "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE u USING fts5(a)", "INSERT INTO f VALUES ('x')", "INSERT INTO f(f) VALUES ('optimize')",
    "INSERT INTO f(f) VALUES ('integrity-check')", "DELETE FROM f", "INSERT INTO r VALUES (2, 1, 1)",
    "DROP TABLE t", "DROP TABLE IF EXISTS nowhere", "DROP VIEW w", "ALTER TABLE t RENAME TO u", "ALTER TABLE t ADD COLUMN z",
    "ALTER TABLE t RENAME COLUMN v TO z", "ALTER TABLE t DROP COLUMN v", "REINDEX", "REINDEX t", "ANALYZE", "ANALYZE t",
    "PRAGMA user_version = 5", "PRAGMA application_id = 5", "PRAGMA main.user_version(5)", "COPY t FROM STDIN",
    "COPY (DELETE FROM t RETURNING id) TO STDOUT",
]
# Refused for everybody, for reasons of their own.
NEVER = [
    "VACUUM", "VACUUM INTO '{directory}/stolen.db'", "ATTACH '{directory}/stolen.db' AS other", "CREATE TEMP TABLE u (x)",
    "PRAGMA journal_mode = DELETE", "PRAGMA writable_schema = 1", "PRAGMA query_only = 0", "PRAGMA wal_checkpoint",
    "UPDATE sqlite_schema SET sql = 'x'", "COPY t TO '{directory}/stolen.db'",
    "SELECT load_extension('x')", "PREPARE TRANSACTION 'x'",
]
# What might lift the restriction, and does not.
LIFTS = [
    "SET default_transaction_read_only = off", "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
    "SELECT set_config('default_transaction_read_only', 'off', false)", "SET in_hot_standby = off", "RESET ALL",
    "SET transaction_read_only = off", "BEGIN READ WRITE; ROLLBACK", "SET ROLE root", "SET SESSION AUTHORIZATION root",
    "SET is_superuser = on", "DISCARD ALL", "SET session_replication_role = replica",
]


@pytest.fixture(scope="module")
def guarded():
    daemon = Daemon(config=READER, options=["--socket-mode", "0666", "--readers", "2"])
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)", "INSERT INTO t VALUES (1, 'x')",
               "CREATE VIEW w AS SELECT * FROM t",
               "CREATE TRIGGER w1 INSTEAD OF INSERT ON w BEGIN INSERT INTO t VALUES (new.id, new.v); END",
               "CREATE TRIGGER w2 INSTEAD OF DELETE ON w BEGIN DELETE FROM t; END",
               "CREATE VIRTUAL TABLE f USING fts5(a)", "INSERT INTO f VALUES ('text')",
               "CREATE VIRTUAL TABLE r USING rtree(id, a, b)", "INSERT INTO r VALUES (1, 1, 2)")
    yield daemon
    daemon.close()


@pytest.fixture(scope="module")
def bystander(guarded):
    """Another process with the file open, which notices every commit. A session does not: data_version is the connection's own,
    and its next question may be another reader's, which has seen more of them, or fewer."""
    outsider = Outsider(guarded.database)
    yield outsider
    outsider.close()


def contents(daemon, bystander):
    with daemon.client() as root:
        return [root.query(sql).check().texts for sql in (
            "SELECT type, name, sql FROM sqlite_schema ORDER BY name", "SELECT * FROM t", "SELECT * FROM f",
            "SELECT * FROM r", "PRAGMA user_version", "PRAGMA application_id", "PRAGMA schema_version")
        ] + bystander("PRAGMA data_version")


@pytest.fixture
def reader(guarded, bystander):
    before = contents(guarded, bystander)
    session = session_as(guarded, ALICE)
    yield session
    session.close()
    assert contents(guarded, bystander) == before
    assert not (guarded.directory / "stolen.db").exists()


@pytest.fixture
def holder(guarded):
    """Somebody who has the writer all the time."""
    with session_as(guarded, BOB) as session:
        session.query("BEGIN IMMEDIATE").check()
        yield session
        session.query("ROLLBACK").check()


@pytest.mark.parametrize("sql", WRITES)
def test_a_reader_writes_by_no_route(guarded, reader, holder, sql):
    def check(reply, *more):
        assert reply.state in ("25006", *more), (reply.errors, reply.kinds)
        assert not reply.closed

    check(reader.query(sql))
    assert "role is reader" in reader.query(sql).error["M"]
    check(reader.query(f"SELECT 1; {sql}; SELECT 2"))
    check(reader.extended(sql))
    # A statement may be prepared: that writes nothing. (What it would be is asked on a reader.)
    check(reader.ask(wire.parse(sql, name="s"), wire.describe_statement("s"), wire.bind(statement="s"), wire.execute()))
    check(reader.ask(wire.close_statement("s"), wire.bind(statement="s")), "26000")
    check(reader.query(f"PREPARE p AS {sql}"), "42601") if not sql.startswith(("INSERT", "UPDATE", "DELETE", "WITH", "REPLACE")) \
        else (reader.query(f"PREPARE p AS {sql}").check(), check(reader.query("EXECUTE p")), reader.query("DEALLOCATE p"))
    # A pipeline of several, of which one would write.
    check(reader.ask(wire.parse("SELECT 1"), wire.bind(), wire.execute(), wire.parse(sql), wire.bind(), wire.execute()))
    for begin in ["BEGIN", "BEGIN READ ONLY", "BEGIN DEFERRED", "BEGIN ISOLATION LEVEL SERIALIZABLE",
                  "BEGIN; SAVEPOINT a", "BEGIN; SELECT * FROM t", "BEGIN READ ONLY; SELECT * FROM t"]:
        reader.query(begin).check()
        check(reader.query(sql))
        if "SAVEPOINT" in begin:
            reader.query("ROLLBACK TO a").check()
            check(reader.query(sql))
        reader.query("COMMIT").check()
        reader.query(begin).check()
        # To a cursor it is no query.
        assert reader.query(f"DECLARE c CURSOR FOR {sql}").state == "42601"
        reader.query("COMMIT").check()
    assert reader.query("SELECT v FROM t WHERE id = 1").value == "x"


def test_a_reader_never_waits_for_the_writer(guarded, reader):
    holder = session_as(guarded, BOB)
    holder.query("BEGIN IMMEDIATE").check()
    for sql in WRITES + ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"]:
        assert reader.query(sql).state == "25006", sql
    reader.query("BEGIN; SAVEPOINT a; SELECT * FROM t; RELEASE a; COMMIT").check()
    assert [reader.query(sql).check().status for sql in ("BEGIN", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN", "COMMIT")] == ["T", "T", "T", "I"]
    holder.query("ROLLBACK").check()


@pytest.mark.parametrize("sql", NEVER)
def test_a_reader_and_what_nobody_may(guarded, reader, sql):
    sql = sql.format(directory=guarded.directory)
    for reply in [reader.query(sql), reader.extended(sql), reader.query(f"SELECT 1; {sql}")]:
        assert reply.state == ("0A000" if sql.startswith("PREPARE TRANSACTION") else "42501") and not reply.closed, reply.errors


@pytest.mark.parametrize("lift", LIFTS)
def test_nothing_lifts_it(guarded, reader, lift):
    reader.query(lift)
    assert reader.query("INSERT INTO t VALUES (9, 'x')").state == "25006"
    for begin in ["BEGIN", "BEGIN READ WRITE", "BEGIN; SET TRANSACTION READ WRITE", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"]:
        assert reader.query(f"{begin}; INSERT INTO t VALUES (9, 'x')").state == "25006"
        reader.query("ROLLBACK").check()
    assert reader.value("SHOW transaction_read_only") == "on"


def test_startup_lifts_nothing(guarded, reader):
    other = session_as(guarded, ALICE, user="root", options="-cdefault_transaction_read_only=off")
    assert other.query("INSERT INTO t VALUES (9, 'x')").state == "25006"


def test_what_a_writer_prepared_is_not_a_readers_to_run(guarded, reader):
    # Texts and prepared statements are shared between sessions; roles are not.
    sql = "INSERT INTO t VALUES (77, 'writer')"
    writer = session_as(guarded, BOB)
    writer.query("BEGIN").check()
    writer.query(sql).check()
    writer.query("ROLLBACK").check()
    assert reader.query(sql).state == "25006"
    assert reader.extended(sql).state == "25006"


def test_a_reader_reads(guarded, reader):
    for sql in ["SELECT * FROM t", "WITH c AS (SELECT * FROM t) SELECT * FROM c", "EXPLAIN INSERT INTO t VALUES (9, 'x')",
                "EXPLAIN QUERY PLAN DELETE FROM t", "PRAGMA user_version", "PRAGMA table_info(t)", "SELECT * FROM f('text')",
                "SELECT * FROM r WHERE a > 0", "PRAGMA integrity_check", "VALUES (1), (2)", "SHOW ALL",
                "PRAGMA journal_mode", "PRAGMA main.journal_mode", "EXPLAIN PRAGMA journal_mode", "PRAGMA busy_timeout"]:
        reader.query(sql).check()
        reader.extended(sql).check()
    reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; DECLARE c CURSOR FOR SELECT * FROM t; FETCH ALL FROM c; "
                 "COMMIT").check()


# The console


def test_the_console_by_role(guarded):
    for user, role in [(ALICE, "reader"), (BOB, "writer")]:
        console = session_as(guarded, user, database="walpool")
        for topic in ["HELP", "CLIENTS", "WRITER", "VERSION"]:
            console.query(f"SHOW {topic}").check()
            console.extended(f"SHOW {topic}").check()
        for command in ["CHECKPOINT", "VACUUM", "BACKUP TO 'x.db'"]:
            for reply in [console.query(command), console.extended(command)]:
                assert reply.state == "42501" and role in reply.error["H"]
    with guarded.raw() as admin:
        admin.start(database="walpool").check()
        assert admin.query("CHECKPOINT").tag == "CHECKPOINT"


def test_the_consoles_extra_place_is_an_admins(serve):
    daemon = serve(READER, "--max-sessions", "1")
    first = session_as(daemon, BOB)
    refused(started(daemon, ALICE, database="walpool"), "53300")
    with daemon.raw() as admin:
        admin.start(database="walpool").check()
        assert len(admin.query("SHOW CLIENTS").texts) == 2
    first.query("SELECT 1").check()


def test_sockets_that_say_nothing_keep_no_admin_out(serve):
    daemon = serve(READER, "--max-sessions", "4")
    silent = [client_as(daemon, BOB) for _ in range(120)]
    daemon.settle()
    for name in ["walpool", "pgbouncer"]:
        with daemon.raw() as admin:
            admin.start(database=name).check()
            admin.query("SHOW CLIENTS").check()
    for client in silent:
        client.close()
    eventually(lambda: not started(daemon, BOB).errors, "room")
