"""SQLite rolls a transaction back over an error of the disk, also where it only reads ("it might be necessary for SQLite to rollback and
cancel the entire transaction", https://www.sqlite.org/lang_transaction.html). Whatever asks it for something inside a transaction may lose
that, and what comes behind is not done by itself."""

import contextlib
import sqlite3

import pytest

import wire
from daemon import eventually
from test_pipelined import faulty_daemon

COLUMNS = ", ".join(f"a_column_with_a_long_name_{number} TEXT" for number in range(80))
# What a transaction has in the page cache is not the schema any more.
FILL = (
    "INSERT INTO large SELECT randomblob(3000) FROM "
    "(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) SELECT i FROM n)")


@pytest.fixture
def faulty(tmp_path, monkeypatch):
    with faulty_daemon(tmp_path, monkeypatch, synchronous="full", config="cache_size_kib = 16\n") as (daemon, control):
        daemon.run("; ".join([
            "BEGIN", *[f"CREATE TABLE wide_{number} ({COLUMNS})" for number in range(60)], "CREATE TABLE large (x)",
            "CREATE TABLE u (id INTEGER PRIMARY KEY, x NUMERIC, b BOOLEAN)", "COMMIT"]))
        yield daemon, control


def there(daemon):
    """What t and u hold, once the writer is there again."""
    with daemon.client() as client:
        eventually(lambda: not client.query("UPDATE t SET id = id WHERE id = 0").errors, "the writer")
    with contextlib.closing(sqlite3.connect(daemon.database)) as outsider:
        return {row[0] for row in outsider.execute("SELECT id FROM t UNION ALL SELECT id FROM u")}


def look(client, name=""):
    """Prepares a statement that the writer has to be asked about."""
    return client.ask(wire.parse("INSERT INTO u (id, x, b) VALUES ($1, $2, $3) RETURNING id", name=name), wire.describe_statement(name))


def copy(client, first):
    client.send(wire.query("COPY u (id, x, b) FROM STDIN"))
    begun = client.receive()
    if begun.kind != "G":
        reply = client.reply()
        reply.messages.insert(0, begun)
        return reply
    rows = f"{first}\t5\tt\n{first + 1}\t5\tf\n".encode()
    client.send(wire.message("d", rows), wire.message("c", b""))
    return client.reply()


BEHIND = {
    "savepoint": lambda client, n: [client.query("SAVEPOINT q"), client.query(f"INSERT INTO u VALUES ({n}, 1, 1)")],
    "savepoint and release": lambda client, n: [client.query(f"SAVEPOINT q; INSERT INTO u VALUES ({n}, 1, 1); RELEASE q")],
    "release": lambda client, n: [client.query("RELEASE a"), client.query(f"INSERT INTO u VALUES ({n}, 1, 1)")],
    "copy": copy,
    "nothing": lambda client, n: [],
}


@pytest.mark.optimised("savepoint-ROLLBACK", "release-COMMIT", "copy-ROLLBACK", "nothing-COMMIT")
@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
@pytest.mark.parametrize("behind", BEHIND)
def test_a_statement_that_is_only_looked_at(faulty, behind, end):
    daemon, control = faulty
    before = there(daemon)
    lost = 0
    for read in range(1, 9):
        first = 1000 * read
        with daemon.client() as client:
            client.query(f"BEGIN; INSERT INTO t VALUES ({first}); SAVEPOINT a; CREATE TABLE own_{read} (x); {FILL}").check()
            control.arm("read", read, "EUCLEAN", 1)
            if behind != "copy":
                look(client)
                control.disarm()
            BEHIND[behind](client, first + 1)
            control.disarm()
            ended = client.query(end)
            lost += ended.tag == "ROLLBACK"
        new = there(daemon) - before
        assert first in new if ended.tag == "COMMIT" else not new, (read, ended, new)
        before |= new
    assert lost > 0


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_a_statement_from_before_the_transaction(faulty, end):
    """The schema of a definition that went back is read again when it is prepared."""
    daemon, control = faulty
    failed = 0
    for read in range(1, 9):
        with daemon.client() as client:
            client.ask(wire.parse(f"INSERT INTO t VALUES ({5000 + read})", name="s")).check()
            client.query(f"BEGIN; INSERT INTO t VALUES ({read}); SAVEPOINT a; CREATE TABLE own (x); {FILL}; ROLLBACK TO a").check()
            control.arm("read", read, "EUCLEAN", 1)
            reply = client.ask(wire.bind(statement="s"), wire.execute())
            control.disarm()
            ended = client.query(end)
            failed += bool(reply.errors)
        assert there(daemon) == ({read, 5000 + read} if ended.tag == "COMMIT" else set()), (read, reply, ended)
        daemon.run("DELETE FROM t")
    assert failed > 0


@pytest.mark.parametrize("form", ["block", "group", "copy"])
def test_a_virtual_table_whose_own_tables_cannot_be_read(faulty, form):
    """SQLite opens it when the first statement that names it is prepared, by statements of its own."""
    daemon, control = faulty
    daemon.run("CREATE VIRTUAL TABLE f USING fts5 (x)")
    failed = 0
    for read in range(1, 6):
        daemon.run("DELETE FROM t", "CREATE TABLE other (x)", "DROP TABLE other")
        with daemon.client() as client:
            client.ask(wire.parse("INSERT INTO f VALUES ('a')", name="s")).check()
            # The writer has not opened it since.
            before = int(daemon.value("SELECT count(*) FROM f"))
            control.arm("read", read, "EUCLEAN", 1)
            if form == "group":
                reply = client.query("BEGIN; INSERT INTO t VALUES (1); INSERT INTO f VALUES ('a'); COMMIT")
            else:
                control.disarm()
                client.query("BEGIN; INSERT INTO t VALUES (1)").check()
                control.arm("read", read, "EUCLEAN", 1)
                if form == "block":
                    reply = client.ask(wire.bind(statement="s"), wire.execute())
                else:
                    client.send(wire.query("COPY f FROM STDIN"))
                    if client.receive().kind == "G":
                        client.send(wire.message("d", b"a\n"), wire.message("c", b""))
                    reply = client.reply()
            control.disarm()
            ended = client.query("ROLLBACK")
            failed += bool(reply.errors)
            assert reply.state in (None, "58030", "08007"), reply.errors
        rows = there(daemon)
        lasts = form == "group" and not reply.errors
        if reply.state != "08007":
            assert rows == ({1} if lasts else set()), (read, reply, ended)
            assert int(daemon.value("SELECT count(*) FROM f")) == before + lasts, (read, reply, ended)


TYPED = [
    ("INSERT INTO u (b) VALUES ($1) /*%d*/", 16), ("SELECT id FROM u WHERE x + 0 = $1 /*%d*/", 1700),
    ("SELECT s FROM (SELECT count(*) AS s FROM u) WHERE s > $1 /*%d*/", 20)]


@pytest.mark.parametrize("sql, expected", TYPED)
@pytest.mark.parametrize("error", ["EUCLEAN", "EIO"])
def test_what_could_not_be_read_is_nobodys_knowledge(tmp_path, monkeypatch, sql, expected, error):
    """A statement that is analysed once is known to all sessions. One whose tables could not be looked at is an error to who asked."""
    config = "cache_size_kib = 16\nreaders = 1\n"
    with faulty_daemon(tmp_path, monkeypatch, synchronous="full", config=config) as (daemon, control):
        daemon.run(
            *[f"CREATE TABLE wide_{number} ({COLUMNS})" for number in range(60)],
            "CREATE TABLE u (id INTEGER PRIMARY KEY, x NUMERIC, b BOOLEAN)")
        failed = 0
        for read in range(1, 12):
            # What the reader knows is outdated.
            daemon.run("INSERT INTO t VALUES (NULL)")
            with daemon.client() as client, daemon.client() as another:
                control.arm("read", read, error, 1)
                failed += bool(client.ask(wire.parse(sql % read, name="a")).errors)
                control.disarm()
                described = another.ask(wire.parse(sql % read), wire.describe_statement("")).check()
                assert [message.types for message in described.of("t")] == [[expected]], read
        assert failed > 0
