"""How a pause ends, also one that is not complete yet, and what timeouts, cancels and a stop are during one."""

import psycopg
import pytest
from psycopg import errors

import wire
from console import Pausing, admin, client_row, console, db, show, state, until_waiting  # admin and db are fixtures
from daemon import eventually
from service import Stalls


def test_paused_twice_and_resumed_twice(db, admin):
    admin.execute("PAUSE")
    with pytest.raises(errors.ObjectNotInPrerequisiteState, match="paused already"):
        admin.execute("PAUSE")
    admin.execute("RESUME")
    with pytest.raises(errors.ObjectNotInPrerequisiteState, match="not paused"):
        admin.execute("RESUME")


def test_the_database_may_be_named(db, admin):
    admin.execute("PAUSE app; RESUME \"app\"")
    for command in ["PAUSE walpool", "RESUME other"]:
        with pytest.raises(errors.InvalidCatalogName) as caught:
            admin.execute(command)
        assert 'serves "app"' in caught.value.diag.message_hint
    assert state(admin) == {"active"}


def undo_by_cancel(pause, _):
    pause.client.cancel()
    assert pause.reply().state == "57014"


def undo_by_resume(pause, admin):
    admin.execute("RESUME")
    assert pause.reply().state == "57014"


def undo_by_leaving(pause, _):
    pause.client.close()


def undo_by_kill(pause, admin):
    admin.execute(f"KILL {pause.client.process_id}")
    reply = pause.reply()
    assert reply.state == "57P01" and reply.closed


@pytest.mark.parametrize("undo", [undo_by_cancel, undo_by_resume, undo_by_leaving, undo_by_kill])
def test_undone_before_it_is_complete(db, admin, undo):
    old, new = db.client(), db.client()
    old.query("BEGIN; INSERT INTO t VALUES (2)").check()
    pause = Pausing(db, admin)
    new.send(wire.query("SELECT count(*) FROM t"))
    until_waiting(admin, new)
    undo(pause, admin)
    assert new.reply().value == "1"
    eventually(lambda: state(admin) == {"active"})
    old.query("COMMIT").check()
    assert db.value("SELECT count(*) FROM t") == "2"


def test_it_is_undone_where_its_client_has_just_left(db, admin):
    """Whoever waits is looked for now and then only, and what it waits for may end before the next look."""
    old = db.client()
    for number in range(2, 7):
        old.query(f"BEGIN; INSERT INTO t VALUES ({number})").check()
        pause = Pausing(db, admin)
        pause.client.close()
        old.query("COMMIT").check()
        assert db.client(statement_timeout="10s").query(f"SELECT count(*) FROM t WHERE n = {number}").value == "1"
        eventually(lambda: state(admin) == {"active"})


def test_it_waits_for_commits_that_are_not_on_the_disk(start_daemon, tmp_path, monkeypatch):
    """With `pipelined` a commit has given the writer back by then."""
    stalls = Stalls(tmp_path)
    for name, value in stalls.environment.items():
        monkeypatch.setenv(name, value)
    daemon = start_daemon(options=["--synchronous", "pipelined"])
    daemon.run("CREATE TABLE t (n)")
    with daemon.client() as client, daemon.client(database="walpool") as pausing, console(daemon) as admin:
        stalls.arm("sync")
        client.send(wire.query("INSERT INTO t VALUES (1)"))
        eventually(lambda: stalls.calls > 0, "the sync")
        pausing.send(wire.query("PAUSE"))
        eventually(lambda: state(admin) == {"pausing"})
        for _ in range(20):
            assert state(admin) == {"pausing"}
        assert not pausing.has_reply() and not client.has_reply()
        stalls.release()
        client.reply().check()
        pausing.reply().check()
        assert state(admin) == {"paused"}


def test_a_timeout_undoes_it(db, admin):
    old = db.client()
    old.query("BEGIN").check()
    impatient = db.client(database="walpool", statement_timeout="50ms")
    assert impatient.query("PAUSE").state == "57014"
    assert state(admin) == {"active"} and db.value("SELECT count(*) FROM t") == "1"


def test_it_outlives_who_asked_for_it(db, admin):
    with console(db) as other:
        other.execute("PAUSE")
    client = db.client()
    client.send(wire.query("SELECT n FROM t"))
    until_waiting(admin, client)
    assert state(admin) == {"paused"}
    admin.execute("RESUME")
    assert client.reply().value == "1"


def test_the_consoles_own_block_is_not_waited_for(db):
    # Drivers open one around every command.
    with console(db, autocommit=False) as admin:
        admin.execute("PAUSE")
        admin.execute("RESUME")


def test_idle_in_transaction_is_ended_by_kill(db, admin):
    with psycopg.connect(host=str(db.directory), dbname="app", user="x") as idle:
        idle.execute("SELECT n FROM t")
        pause = Pausing(db, admin)
        (row,) = [row for row in show(admin, "CLIENTS") if row["user"] == "x"]
        assert (row["state"], row["transaction"]) == ("idle", "open")
        admin.execute(f"KILL {row['id']}")
        assert pause.reply().tag == "PAUSE"
        with pytest.raises(errors.AdminShutdown):
            idle.execute("SELECT n FROM t")


def test_an_idle_holder_is_evicted_as_ever(start_daemon):
    # The pause waits for it, as those in the queue do.
    daemon = start_daemon(config="writer_idle_limit = 100\n")
    daemon.run("CREATE TABLE t (n INTEGER)")
    with console(daemon) as admin:
        holder, waiter = daemon.client(), daemon.client()
        holder.query("BEGIN; INSERT INTO t VALUES (1)").check()
        pause = Pausing(daemon, admin)
        waiter.send(wire.query("INSERT INTO t VALUES (2)"))
        assert pause.reply().tag == "PAUSE"
        assert holder.reply().state == "25P03"
        admin.execute("RESUME")
        assert waiter.reply().tag == "INSERT 0 1"


# Timeouts, cancels, stops


def test_statement_timeout_counts_and_lock_timeout_does_not(db, admin):
    admin.execute("PAUSE")
    patient = [db.client(lock_timeout="200ms"), db.client(lock_timeout="200ms")]
    # It may be answered after the other has written.
    patient[0].send(wire.query("SELECT min(n) FROM t"))
    patient[1].send(wire.query("INSERT INTO t VALUES (2)"))
    until_waiting(admin, *patient)
    for sql in ["SELECT n FROM t", "INSERT INTO t VALUES (3)", "BEGIN IMMEDIATE"]:
        assert db.client(statement_timeout="100ms").query(sql).state == "57014"
    # So more than 200 ms have passed for these. It counts from RESUME, so it is no shorter than a slow machine's turn.
    until_waiting(admin, *patient)
    admin.execute("RESUME")
    assert patient[0].reply().value == "1" and patient[1].reply().tag == "INSERT 0 1"
    assert db.value("SELECT group_concat(n) FROM t") == "1,2"


def test_who_waited_before_the_pause_waits_on(db, admin):
    holder = db.client()
    holder.query("BEGIN; INSERT INTO t VALUES (2)").check()
    # Time enough for a slow machine to come to the pause.
    waiter = db.client(lock_timeout="2s")
    waiter.send(wire.query("INSERT INTO t VALUES (3)"))
    db.settle(waiter)
    pause = Pausing(db, admin)
    holder.query("COMMIT").check()
    assert pause.reply().tag == "PAUSE"
    assert db.client(statement_timeout="2100ms").query("SELECT 1 FROM t").state == "57014"
    until_waiting(admin, waiter)
    admin.execute("RESUME")
    assert waiter.reply().tag == "INSERT 0 1"


def test_lock_timeout_begins_when_the_pause_is_over(db, admin):
    admin.execute("PAUSE")
    first, second = db.client(), db.client(lock_timeout="50ms")
    first.send(wire.query("BEGIN IMMEDIATE"))
    until_waiting(admin, first)
    second.send(wire.query("INSERT INTO t VALUES (2)"))
    until_waiting(admin, second)
    admin.execute("RESUME")
    first.reply().check()
    assert second.reply().state == "55P03"
    first.query("ROLLBACK").check()


def test_a_waiting_client_can_be_cancelled(db, admin):
    admin.execute("PAUSE")
    for sql in ["SELECT n FROM t", "INSERT INTO t VALUES (2)"]:
        client = db.client()
        client.send(wire.query(sql))
        until_waiting(admin, client)
        client.cancel()
        assert client.reply().state == "57014"
    admin.execute("RESUME")
    assert db.value("SELECT count(*) FROM t") == "1"


def test_a_stop_ends_it(db, admin):
    admin.execute("PAUSE")
    clients = [db.client(), db.client()]
    clients[0].send(wire.query("SELECT n FROM t"))
    clients[1].send(wire.query("INSERT INTO t VALUES (2)"))
    until_waiting(admin, *clients)
    db.stop()
    for client in clients:
        reply = client.reply()
        assert reply.state == "57P01" and reply.closed
    db.restart()
    assert db.value("SELECT count(*) FROM t") == "1"


def test_a_stop_that_ends_what_pause_waits_for(start_daemon):
    """Whoever runs `psql -c PAUSE && cp ...` would copy beside a daemon that is about to write its last."""
    daemon = start_daemon(config='shutdown_timeout = "200ms"\n')
    with console(daemon) as admin:
        reader = daemon.client()
        # What has a reader only to be prepared is held back by the pause, and that is complete without it.
        reader.query("BEGIN").check()
        reader.send(wire.query("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"))
        # That the daemon has read it does not say that it has begun.
        eventually(lambda: (client_row(admin, reader) or {}).get("link"), "a reader for it")
        pausing = Pausing(daemon, admin)
        daemon.terminate()
        reply = pausing.reply()
        # It may have begun, and not have come to its wait.
        assert reply.state in ("57P01", "55000") and "PAUSE" not in reply.tags, reply
    assert daemon.wait() == 0


def test_a_pause_beside_one_that_waits(db, admin):
    """Nobody is to take it for one that is complete."""
    holder = db.client()
    holder.query("BEGIN; UPDATE t SET n = 2").check()
    pausing = Pausing(db, admin)
    with pytest.raises(errors.ObjectNotInPrerequisiteState, match="not paused yet"):
        admin.execute("PAUSE")
    holder.query("COMMIT").check()
    assert pausing.reply().tags == ["PAUSE"]
