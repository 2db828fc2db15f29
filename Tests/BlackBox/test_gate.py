"""The WAL's limit: whoever reads, however long, it is emptied before it outgrows the limit, and writers go on."""

import fcntl

import pytest

import wire
from daemon import daemon_reads, eventually
from metrics import values
from test_preparing import select

# 256 KiB: 63 pages, the gate at 47 of them.
CONFIG = """
wal_limit_bytes = 262144
gate_limit = '20ms'
"""
LIMIT = 262144
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c, (SELECT count(*) FROM t)"


@pytest.fixture
def db(start_daemon):
    daemon = start_daemon(config=CONFIG)
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)", "INSERT INTO t (v) VALUES ('first')")
    return daemon


def wal_bytes(daemon):
    return daemon.database.with_name(daemon.database.name + "-wal").stat().st_size


def write(daemon, rows=200):
    """Ten times the limit, in small transactions; the WAL never outgrows it."""
    writer = daemon.client()
    for _ in range(rows):
        writer.query("INSERT INTO t (v) VALUES (hex(randomblob(6000)))").check()
        assert wal_bytes(daemon) <= LIMIT + 32
    writer.query("DELETE FROM t WHERE id > 1").check()
    writer.close()


def pinned(daemon, level="ISOLATION LEVEL REPEATABLE READ"):
    reader = daemon.client()
    reader.query(f"BEGIN {level}").check()
    assert reader.value("SELECT count(*) FROM t") == "1"
    return reader


@pytest.mark.parametrize("level", ["ISOLATION LEVEL REPEATABLE READ", "ISOLATION LEVEL SERIALIZABLE", "READ ONLY", "DEFERRED"])
def test_an_idle_snapshot(db, level):
    reader = pinned(db, level)
    write(db)
    failed = reader.query("SELECT count(*) FROM t")
    assert (failed.state, failed.status) == ("40001", "E")
    assert "snapshot too old" in failed.error["M"]
    assert reader.query("SELECT 1").state == "25P02"
    reader.query("ROLLBACK").check()
    assert reader.value("SELECT count(*) FROM t") == "1"
    # The same again: nothing of it is left in the session.
    reader.query(f"BEGIN {level}").check()
    assert reader.value("SELECT count(*) FROM t") == "1"
    reader.query("COMMIT").check()


def test_it_cannot_come_back_behind_a_savepoint(db):
    reader = pinned(db)
    reader.query("SAVEPOINT a").check()
    write(db)
    for _ in range(2):
        assert reader.query("SELECT count(*) FROM t").state == "40001"
        reader.query("ROLLBACK TO a").check()
    assert reader.query("INSERT INTO t (v) VALUES ('x')").state == "40001"
    assert reader.query("COMMIT").tag == "ROLLBACK"
    assert reader.value("SELECT count(*) FROM t") == "1"


def test_a_snapshot_whose_session_waits_for_the_writer(db):
    """
        reader                       holder
                                     BEGIN IMMEDIATE
        a cursor's first row
        INSERT: waits
                                     writes beyond the limit
                                     COMMIT
        its turn never comes: the gate is before it, and its own cursor is in the way
    """
    holder = db.client()
    reader = db.client()
    reader.query("BEGIN; DECLARE c CURSOR FOR SELECT id FROM t UNION ALL SELECT id + 1 FROM t").check()
    assert reader.query("FETCH 1 FROM c").texts == [("1",)]
    holder.query("BEGIN IMMEDIATE").check()
    reader.send(wire.query("INSERT INTO t (v) VALUES ('waited')"))
    db.settle(reader)
    holder.query("INSERT INTO t (v) SELECT hex(randomblob(6000)) FROM "
                 "(WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 20) SELECT x FROM c)").check()
    holder.query("COMMIT").check()
    assert reader.reply().state == "57014"
    reader.query("ROLLBACK").check()
    assert db.value("SELECT count(*) FROM t WHERE v = 'waited'") == "0"
    write(db, rows=60)


def test_a_running_statement(db):
    reader = db.client()
    reader.send(wire.query(ENDLESS))
    write(db)
    ended = reader.reply()
    assert ended.state == "57014" and "snapshot" in ended.error["M"]
    assert reader.value("SELECT count(*) FROM t") == "1"


# Each is at a connection of the catalogs' own, and has a reader all the while.
LONG_TO_PREPARE = select(200).replace("s t", "pg_class t").replace(".a", ".oid").replace(".b", ".relname") + " FROM pg_class"
CATALOGS = {
    "runs": wire.query("SELECT count(*) FROM " + ", ".join(f"pg_type t{number}" for number in range(12))),
    "is prepared": wire.parse(LONG_TO_PREPARE) + wire.sync(),
}


@pytest.mark.parametrize("begin", ["", "BEGIN ISOLATION LEVEL REPEATABLE READ"], ids=["alone", "in a block"])
@pytest.mark.parametrize("what", CATALOGS)
def test_a_question_to_the_catalogs(db, what, begin):
    reader = db.client()
    if begin:
        reader.query(begin).check()
        assert reader.value("SELECT count(*) FROM t") == "1"
    reader.send(CATALOGS[what])
    daemon_reads(reader)
    write(db)
    ended = reader.reply()
    assert ended.state == ("40001" if begin else "57014") and "snapshot" in ended.error["M"]
    if begin:
        reader.query("ROLLBACK").check()
    assert reader.value("SELECT count(*) FROM pg_class WHERE relname = 't'") == "1"


def test_a_cursor_in_a_transaction_that_pins_nothing(db):
    reader = db.client()
    reader.query("BEGIN; DECLARE c CURSOR FOR SELECT id FROM t UNION ALL SELECT id + 1 FROM t").check()
    assert reader.query("FETCH 1 FROM c").texts == [("1",)]
    write(db)
    failed = reader.query("FETCH 1 FROM c")
    assert failed.state == "40001", "never the end of the rows"
    reader.query("ROLLBACK").check()


def test_a_client_that_does_not_read(db):
    """Its result stands still on a snapshot. It gets the rows that were sent, and then the error."""
    db.run("CREATE TABLE big (v TEXT)",
           "INSERT INTO big SELECT hex(zeroblob(500)) FROM (WITH RECURSIVE c(x) AS "
           "(SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100) SELECT x FROM c)")
    slow = db.client()
    slow.send(wire.query("SELECT a.v FROM big a, big b"))
    write(db)
    kinds = slow.reply()
    assert kinds.state == "57014" and len(kinds.rows) < 10_000
    assert slow.value("SELECT count(*) FROM t") == "1"


def test_many_readers_and_writers(db):
    """However often the gate closes, readers get their rows; only those that keep a snapshot lose it."""
    readers = [db.client() for _ in range(20)]
    pins = [pinned(db) for _ in range(3)]
    for reader in readers:
        reader.send(wire.query("SELECT count(*) >= 1 FROM t") * 20)
    write(db, rows=100)
    for reader in readers:
        for _ in range(20):
            assert reader.reply().texts == [("t",)]
    for pin in pins:
        assert pin.query("SELECT count(*) FROM t").state == "40001"


def test_a_long_write_while_readers_leave(start_daemon):
    """
        reader                  writer                          another reader
        SELECT: endless
                                writes to the gate's level
                                the gate closes, writers go on
                                INSERT: endless
                                                                SELECT: is answered, for the gate has opened
    """
    daemon = start_daemon(config=CONFIG.replace("20ms", "60s"))
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)", "INSERT INTO t (v) VALUES ('first')")
    reader, writer, other = daemon.client(), daemon.client(), daemon.client()
    reader.send(wire.query(ENDLESS))
    while wal_bytes(daemon) < 48 * 4120:
        writer.query("INSERT INTO t (v) VALUES (hex(randomblob(2000)))").check()
    writer.send(wire.query(f"INSERT INTO t (v) {ENDLESS}"))
    assert int(other.value("SELECT count(*) FROM t")) > 1
    for client in (writer, reader):
        client.cancel()
        assert client.reply().state == "57014"
    daemon.run("INSERT INTO t (v) VALUES ('last')")


def test_readers_wait_at_the_closed_gate(start_daemon):
    """
        reader                  writer                          other readers
        SELECT: endless
                                writes to the gate's level
                                                                SELECT: wait
        is cancelled
                                                                get their rows
    """
    daemon = start_daemon(config=CONFIG.replace("20ms", "60s"))
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)", "INSERT INTO t (v) VALUES ('first')")
    reader, writer, console = daemon.client(), daemon.client(), daemon.client(database="walpool")
    others = [daemon.client() for _ in range(20)]
    wal = lambda: dict(console.query("SHOW WAL").check().texts)
    reader.send(wire.query(ENDLESS))
    eventually(lambda: "oldest_snapshot_owner" in wal(), "its snapshot")
    while wal_bytes(daemon) < 48 * 4120:
        writer.query("INSERT INTO t (v) VALUES (hex(randomblob(2000)))").check()
    eventually(lambda: wal()["gate_closed"] == "yes", "the closed gate")
    for other in others:
        other.send(wire.query("SELECT count(*) > 1 FROM t"))
    # All of them wait, though readers are free.
    eventually(lambda: values(daemon)["walpool_queue_length", ("connection", "reader")] == len(others), "the queue")
    assert not any(other.has_reply() for other in others)
    reader.cancel()
    assert reader.reply().state == "57014"
    for other in others:
        assert other.reply().check().texts == [("t",)]


# What others do


def insert(client):
    return client.query("INSERT INTO t (v) VALUES (hex(randomblob(6000)))")


def test_another_process_that_checkpoints(db):
    """It holds the checkpoint lock, so nothing can be emptied; that is tried now and then, and writers go on."""
    with open(f"{db.database}-shm", "r+b") as index:
        # WAL_CKPT_LOCK, https://www.sqlite.org/walformat.html#wal_locks
        fcntl.lockf(index, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 121)
        writer = db.client()
        for _ in range(60):
            insert(writer).check()
        assert wal_bytes(db) > LIMIT
        assert db.errors.count("mode=gate") < 60
    # Soon after it has let go.
    for _ in range(20):
        insert(writer).check()
    assert wal_bytes(db) <= LIMIT
    writer.query("DELETE FROM t WHERE id > 1").check()
    write(db, rows=60)


def test_another_process_that_reads_and_then_checkpoints(db, outsider):
    """What was tried in vain while it read is not held against the WAL it has emptied."""
    other = outsider(db.database)
    other("BEGIN")
    other("SELECT count(*) FROM t")
    writer = db.client()
    for _ in range(200):
        insert(writer).check()
    assert wal_bytes(db) > LIMIT
    other("COMMIT")
    other("PRAGMA wal_checkpoint(TRUNCATE)")
    reader = db.client()
    reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ").check()
    reader.query("SELECT count(*) FROM t").check()
    write(db)


def killed_group(daemon, member, sql):
    """Runs `sql` of this client in a group that another member kills, so that it runs again; returns its reply."""
    holder, killer = daemon.client(), daemon.client()
    holder.query("BEGIN IMMEDIATE").check()
    member.send(wire.query(sql))
    daemon.settle(member)
    killer.send(wire.query("INSERT OR ROLLBACK INTO t VALUES (1, 'twice')"))
    daemon.settle(killer)
    holder.query("COMMIT").check()
    assert killer.reply().state == "23505"
    return member.reply()


def test_a_lost_cursor_stays_lost_when_its_group_runs_again(db):
    reader = db.client()
    reader.query("BEGIN; DECLARE c CURSOR FOR SELECT id FROM t UNION ALL SELECT id + 1 FROM t").check()
    assert reader.query("FETCH 1 FROM c").texts == [("1",)]
    write(db, rows=60)
    assert killed_group(db, reader, "INSERT INTO t VALUES (1000, 'm'); FETCH 1 FROM c; COMMIT").state == "40001"


def test_a_finished_cursor_stays_finished_when_its_group_runs_again(db):
    reader = db.client()
    reader.query("BEGIN; DECLARE c CURSOR FOR SELECT id FROM t").check()
    assert reader.query("FETCH ALL FROM c").texts == [("1",)]
    again = killed_group(db, reader, "INSERT INTO t VALUES (1000, 'm'); FETCH ALL FROM c; COMMIT").check()
    assert again.texts == []
