"""PAUSE and RESUME: who has begun finishes, who comes waits, and nobody is refused."""

import sqlite3
import threading

import psycopg
import pytest

import wire
from console import Pausing, admin, client_row, console, db, show, state, until_waiting  # admin and db are fixtures
from daemon import eventually
from interleaving import interleave
from metrics import values


def test_new_statements_wait(db, admin):
    # RESUME lets all of them go on, in no order: what is read is the same before and after what is written.
    sessions = {"admin": db.client(database="walpool")}
    interleave(db, """
        admin  | reader                     | writer                             | block
        PAUSE => PAUSE |                    |                                    |
               | SELECT min(n) FROM t => waits |                                 |
               |                            | INSERT INTO t VALUES (2) => waits  |
               |                            |                                    | BEGIN => BEGIN [T]
               |                            |                                    | SELECT min(n) FROM t => waits
        RESUME => RESUME |                  |                                    |
               | ... => 1                   |                                    |
               |                            | ... => INSERT 0 1                  |
               |                            |                                    | ... => 1 [T]
               |                            |                                    | ROLLBACK
    """, sessions)
    assert state(admin) == {"active"}


def test_what_the_console_says_of_it(db, admin):
    # So that it is known what the statement is; otherwise it waits for a reader to tell.
    db.run("INSERT INTO t VALUES (2)", "DELETE FROM t WHERE n = 2")
    admin.execute("PAUSE")
    reader, writer = db.client(), db.client()
    reader.send(wire.query("SELECT min(n) FROM t"))
    writer.send(wire.query("INSERT INTO t VALUES (2)"))
    until_waiting(admin, reader, writer)
    assert state(admin) == {"paused"}
    assert values(db)[("walpool_paused",)] == 1
    assert [row["paused"] for row in show(admin, "DATABASES")] == [1, 0]
    assert client_row(admin, reader)["waits_for"] == "reader" and client_row(admin, writer)["waits_for"] == "writer"
    pool, _ = show(admin, "POOLS")
    assert (pool["cl_waiting"], pool["sv_active"], pool["writer"]) == (2, 0, "free")
    assert [row["purpose"] for row in show(admin, "WRITER")] == ["member"]
    admin.execute("RESUME")
    assert reader.reply().value == "1" and writer.reply().tag == "INSERT 0 1"
    assert values(db)[("walpool_paused",)] == 0


def test_extended_protocol_and_drivers_wait(db, admin):
    with psycopg.connect(host=str(db.directory), dbname="app", user="x") as connection:
        connection.execute("SELECT n FROM t WHERE n = %s", (1,))
        connection.commit()
        admin.execute("PAUSE")
        rows = []
        thread = threading.Thread(target=lambda: rows.extend(connection.execute("SELECT n FROM t WHERE n = %s", (1,)).fetchall()))
        thread.start()
        eventually(lambda: "waiting" in [row["state"] for row in show(admin, "CLIENTS")])
        parsing = db.client()
        parsing.send(wire.parse("SELECT n + 1 FROM t"), wire.bind(), wire.execute(), wire.sync())
        until_waiting(admin, parsing)
        # What needs nothing of the database is answered.
        assert db.client().query("SHOW statement_timeout; SELECT version()").check().tags == ["SHOW", "SELECT 1"]
        admin.execute("RESUME")
        thread.join(wire.DEADLINE)
        assert rows == [(1,)] and parsing.reply().check().texts == [("2",)]


@pytest.mark.parametrize("begin", [
    "BEGIN", "BEGIN; SELECT n FROM t", "BEGIN; INSERT INTO t VALUES (2)", "BEGIN IMMEDIATE",
    "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT n FROM t", "BEGIN DEFERRED"])
def test_transactions_that_have_begun_finish(db, admin, begin):
    old, new = db.client(), db.client()
    old.query(begin).check()
    pause = Pausing(db, admin)
    new.send(wire.query("SELECT count(*) FROM t"))
    until_waiting(admin, new)
    # It reads and writes as before, ahead of whoever came first.
    for sql in ["SELECT count(*) FROM t", "INSERT INTO t VALUES (3)", "SELECT count(*) FROM t", "INSERT INTO t SELECT 4"]:
        old.query(sql).check()
    assert state(admin) == {"pausing"}
    # However late its thread has its first look.
    assert f"client {old.process_id}" in pause.client.receive().fields["M"]
    old.query("COMMIT").check()
    assert pause.reply().tag == "PAUSE" and state(admin) == {"paused"}
    # Its next transaction is a new one.
    old.send(wire.query("SELECT 5"))
    until_waiting(admin, old, new)
    admin.execute("RESUME")
    assert new.reply().value in ("3", "4")
    assert old.reply().value == "5"


def test_a_running_statement_finishes(db, admin):
    running = db.client()
    running.send(wire.query(
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 300000)"
        " SELECT hex(zeroblob(25000)) UNION ALL SELECT 'second' UNION ALL SELECT count(*) FROM c"))
    # Its first row is more than is kept back, and is sent before the third is looked for. "active" it is before it has a reader, and then the pause would be first.
    eventually(running.has_reply)
    assert db.client(database="walpool").query("PAUSE").tag == "PAUSE"
    assert client_row(admin, running)["state"] == "idle"
    assert running.reply().texts[2] == ("300000",)


def test_a_failed_block_is_waited_for(db, admin):
    failed = db.client()
    failed.query("BEGIN; SELECT nonsense")
    pause = Pausing(db, admin)
    assert failed.query("ROLLBACK").tag == "ROLLBACK"
    assert pause.reply().tag == "PAUSE"


def test_a_chained_block_is_a_new_one(db, admin):
    chained = db.client()
    chained.query("BEGIN; INSERT INTO t VALUES (2)").check()
    pause = Pausing(db, admin)
    chained.query("COMMIT AND CHAIN").check()
    assert pause.reply().tag == "PAUSE"
    chained.send(wire.query("SELECT count(*) FROM t"))
    until_waiting(admin, chained)
    admin.execute("RESUME")
    assert chained.reply().value == "2"
    chained.query("ROLLBACK").check()


def test_an_open_result_is_waited_for(db, admin):
    client = db.client()
    client.send(wire.parse("SELECT 1 UNION ALL SELECT 2 FROM t"), wire.bind(portal="p"), wire.execute("p", rows=1), wire.flush())
    messages = client.receive_until("s")
    assert [m.kind for m in messages] == ["1", "2", "D", "s"]
    pause = Pausing(db, admin)
    # It has a reader, so it may also ask for the writer, or neither would end.
    client.send(wire.parse("INSERT INTO t VALUES (7)"), wire.bind(), wire.execute(), wire.sync())
    client.reply().check()
    assert pause.reply().tag == "PAUSE"
    assert admin.execute("RESUME").statusmessage == "RESUME"
    assert db.value("SELECT count(*) FROM t") == "2"


def test_the_queue_of_the_writer_keeps_its_order(db, admin):
    db.run("CREATE TABLE log (who TEXT)")
    holder = db.client()
    holder.query("BEGIN; INSERT INTO log VALUES ('holder')").check()
    clients = [db.client() for _ in range(5)]
    for index, client in enumerate(clients[:3]):
        client.send(wire.query(f"INSERT INTO log VALUES ('{index}')"))
        db.settle(client)
    pause = Pausing(db, admin)
    for index, client in enumerate(clients[3:], 3):
        client.send(wire.query(f"BEGIN IMMEDIATE; INSERT INTO log VALUES ('{index}'); COMMIT"))
        until_waiting(admin, client)
    holder.query("COMMIT").check()
    assert pause.reply().tag == "PAUSE"
    until_waiting(admin, *clients)
    assert [row["client"] for row in show(admin, "WRITER")] == [client.process_id for client in clients]
    admin.execute("RESUME")
    for client in clients:
        client.reply().check()
    assert db.value("SELECT group_concat(who) FROM (SELECT who FROM log ORDER BY rowid)") == "holder,0,1,2,3,4"


# What it is for


def test_upkeep_goes_on(start_daemon, tmp_path):
    daemon = start_daemon(config=f'backup_directory = "{tmp_path}"\n')
    daemon.run("CREATE TABLE t (n INTEGER)", "INSERT INTO t VALUES (1)")
    with console(daemon) as admin:
        admin.execute("PAUSE; CHECKPOINT; BACKUP TO 'b.db'; VACUUM")
        assert sqlite3.connect(tmp_path / "b.db").execute("SELECT n FROM t").fetchall() == [(1,)]
        succeeded = lambda: "last_success" in [row["name"] for row in show(admin, "MAINTENANCE")]
        eventually(succeeded, "the end of the VACUUM")
        assert state(admin) == {"paused"}


def test_the_file_is_the_administrators(db, admin, outsider):
    """While it is complete nobody reads or writes: another process has the file without waiting, and no read mark of the
    daemon's keeps the WAL from being emptied."""
    readers = [db.client() for _ in range(3)]
    for client in readers:
        client.query("SELECT n FROM t").check()
    admin.execute("PAUSE")
    other = outsider(db.database)
    other("PRAGMA busy_timeout = 0")
    other("BEGIN IMMEDIATE")
    other("INSERT INTO t VALUES (2)")
    waiting = db.client()
    waiting.send(wire.query("INSERT INTO t VALUES (3)"))
    until_waiting(admin, waiting)
    other("COMMIT")
    (busy, _, _), = other("PRAGMA wal_checkpoint(TRUNCATE)")
    assert busy == 0
    admin.execute("RESUME")
    assert waiting.reply().tag == "INSERT 0 1"
    assert readers[0].value("SELECT group_concat(n) FROM t") == "1,2,3"


def test_under_load(db, admin, outsider):
    """Clients of every kind run on; during each pause the file does not change; nobody gets an error and nothing is
    lost."""
    stop = threading.Event()
    acknowledged, failures = [], []

    def work(kind):
        try:
            with psycopg.connect(host=str(db.directory), dbname="app", user=kind, autocommit=kind != "block") as connection:
                count = 0
                while not stop.is_set():
                    if kind == "reader":
                        connection.execute("SELECT max(n) FROM t").fetchall()
                        continue
                    connection.execute("INSERT INTO t VALUES (%s)", (count,))
                    if kind == "block":
                        connection.execute("SELECT count(*) FROM t")
                        connection.execute("INSERT INTO t VALUES (%s)", (count,))
                        connection.commit()
                        count += 1
                    count += 1
                acknowledged.append(count)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(kind,)) for kind in ["reader", "single", "block"] * 3]
    for thread in threads:
        thread.start()
    other = outsider(db.database)
    looks = []
    try:
        for _ in range(15):
            admin.execute("PAUSE")
            before = other("SELECT count(*) FROM t")[0][0]
            pool, _ = show(admin, "POOLS")
            assert pool["sv_active"] == 0
            assert other("SELECT count(*) FROM t")[0][0] == before
            looks.append(before)
            admin.execute("RESUME")
            eventually(lambda: other("SELECT count(*) FROM t")[0][0] > before, "more rows")
    finally:
        stop.set()
        for thread in threads:
            thread.join(wire.DEADLINE)
    assert not failures and looks == sorted(looks)
    assert int(db.value("SELECT count(*) FROM t")) == 1 + sum(acknowledged)
