"""KILL: one session ends, whatever it does, and nobody else notices but those who waited for it."""

import os
import re

import pytest
from psycopg import errors

import wire
from console import client_row, console, show, until_waiting
from daemon import eventually

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"


@pytest.fixture
def db(daemon):
    daemon.run("CREATE TABLE t (n INTEGER)", "INSERT INTO t VALUES (1)")
    return daemon


@pytest.fixture
def admin(db):
    with console(db) as connection:
        yield connection


def kill(admin, client):
    assert admin.execute(f"KILL {client.process_id}").statusmessage == "KILL"
    assert client_row(admin, client) is None


def is_told(client):
    reply = client.reply()
    assert (reply.state, reply.error["S"], reply.closed) == ("57P01", "FATAL", True), reply


def test_an_idle_one(db, admin):
    client = db.client()
    kill(admin, client)
    is_told(client)


def test_one_that_has_not_started(db, admin):
    raw = db.raw()
    eventually(lambda: [row for row in show(admin, "CLIENTS") if row["state"] == "starting"])
    (row,) = [row for row in show(admin, "CLIENTS") if row["state"] == "starting"]
    admin.execute(f"KILL {row['id']}")
    assert raw.rest() == b""


def test_the_holder_of_the_writer(db, admin):
    """
        holder             first            second
        BEGIN, INSERT 2
                           INSERT 3 waits
                                            BEGIN IMMEDIATE waits
        killed: rolled back
                           INSERT 0 1
                                            BEGIN
    """
    holder, first, second = db.client(), db.client(), db.client()
    holder.query("BEGIN; INSERT INTO t VALUES (2)").check()
    first.send(wire.query("INSERT INTO t VALUES (3)"))
    db.settle(first)
    second.send(wire.query("BEGIN IMMEDIATE"))
    db.settle(second)
    kill(admin, holder)
    is_told(holder)
    assert first.reply().tag == "INSERT 0 1" and second.reply().tag == "BEGIN"
    assert second.value("SELECT group_concat(n) FROM t") == "1,3"
    second.query("ROLLBACK").check()


@pytest.mark.parametrize("sql", ["INSERT INTO t VALUES (3)", "BEGIN IMMEDIATE", "BEGIN; SELECT 1; INSERT INTO t VALUES (3)"])
def test_one_that_waits_for_the_writer(db, admin, sql):
    holder, victim, next_one = db.client(), db.client(), db.client()
    holder.query("BEGIN; INSERT INTO t VALUES (2)").check()
    victim.send(wire.query(sql))
    db.settle(victim)
    next_one.send(wire.query("INSERT INTO t VALUES (4)"))
    db.settle(next_one)
    kill(admin, victim)
    is_told(victim)
    assert [row["client"] for row in show(admin, "WRITER")] == [holder.process_id, next_one.process_id]
    holder.query("COMMIT").check()
    assert next_one.reply().tag == "INSERT 0 1"
    assert db.value("SELECT group_concat(n) FROM t") == "1,2,4"


def test_one_that_waits_for_a_reader(start_daemon):
    daemon = start_daemon(options=["--readers", "1"])
    daemon.run("CREATE TABLE t (n INTEGER)", "INSERT INTO t VALUES (1)")
    with console(daemon) as admin:
        pinned, victim, next_one = daemon.client(), daemon.client(), daemon.client()
        pinned.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT n FROM t").check()
        for client in [victim, next_one]:
            client.send(wire.query("SELECT n FROM t"))
            daemon.settle(client)
        kill(admin, victim)
        is_told(victim)
        kill(admin, pinned)
        is_told(pinned)
        assert next_one.reply().value == "1"


@pytest.mark.parametrize("sql", [
    f"{ENDLESS} SELECT count(*) FROM c", f"{ENDLESS} INSERT INTO t SELECT x FROM c WHERE x < 0",
    f"BEGIN; INSERT INTO t VALUES (2); {ENDLESS} SELECT count(*) FROM c"])
def test_one_that_is_at_work(db, admin, sql):
    victim = db.client()
    victim.send(wire.query(sql))
    eventually(lambda: client_row(admin, victim)["state"] == "active")
    kill(admin, victim)
    assert victim.reply().errors[-1]["C"] == "57P01"
    assert db.value("SELECT group_concat(n) FROM t") == "1"
    assert show(admin, "WRITER") == []


def test_a_member_of_a_group(db, admin):
    """The others of its commit are not hurt: what it did is undone, and theirs is done again."""
    db.run("CREATE TABLE slow (n INTEGER)",
           f"CREATE TRIGGER endless AFTER INSERT ON slow BEGIN INSERT INTO t SELECT sum(value) FROM "
           f"(SELECT a.value FROM json_each('[' || substr(replace(hex(zeroblob(2000)), '00', ',1'), 2) || ']') a, "
           f"json_each('[' || substr(replace(hex(zeroblob(2000)), '00', ',1'), 2) || ']') b, "
           f"json_each('[' || substr(replace(hex(zeroblob(2000)), '00', ',1'), 2) || ']') c); END")
    holder, before, victim, after = (db.client() for _ in range(4))
    holder.query("BEGIN IMMEDIATE").check()
    for client, sql in [(before, "INSERT INTO t VALUES (2)"), (victim, "INSERT INTO slow VALUES (1)"), (after, "INSERT INTO t VALUES (3)")]:
        client.send(wire.query(sql))
        db.settle(client)
    holder.query("COMMIT").check()
    eventually(lambda: [row["purpose"] for row in show(admin, "WRITER")][:1] == ["group"])
    kill(admin, victim)
    is_told(victim)
    assert before.reply().tag == "INSERT 0 1" and after.reply().tag == "INSERT 0 1"
    assert db.value("SELECT group_concat(n) FROM (SELECT n FROM t ORDER BY n)") == "1,2,3"
    assert db.value("SELECT count(*) FROM slow") == "0"


def test_one_that_does_not_read(db, admin):
    victim = db.client()
    victim.send(wire.query(f"{ENDLESS} SELECT x, hex(randomblob(1000)) FROM c"))
    eventually(lambda: victim.has_reply())
    kill(admin, victim)
    assert victim.rest()


def test_one_that_is_paused(db, admin):
    admin.execute("PAUSE")
    victim = db.client()
    victim.send(wire.query("SELECT n FROM t"))
    until_waiting(admin, victim)
    kill(admin, victim)
    is_told(victim)
    admin.execute("RESUME")


def test_a_command_of_the_console(db, admin):
    holder, victim = db.client(), db.client(database="walpool")
    holder.query("BEGIN; INSERT INTO t VALUES (2)").check()
    victim.send(wire.query("CHECKPOINT"))
    eventually(lambda: len(show(admin, "WRITER")) == 2)
    kill(admin, victim)
    is_told(victim)
    holder.query("COMMIT").check()


def test_one_kills_another_in_one_message(db):
    client, other = db.client(), db.client()
    reply = db.client(database="pgbouncer").query(f"KILL {client.process_id}; KILL {other.process_id}; SHOW STATE")
    assert reply.check().tags == ["KILL", "KILL", "SHOW"]
    is_told(client)
    is_told(other)


def test_whom_it_refuses(db, admin):
    with pytest.raises(errors.InvalidParameterValue, match="cannot kill itself"):
        admin.execute(f"KILL {admin.info.backend_pid}")
    with pytest.raises(errors.UndefinedObject, match="there is no client 4711") as caught:
        admin.execute("KILL 4711")
    assert caught.value.diag.message_hint == "SHOW CLIENTS lists their ids."
    client = db.client()
    kill(admin, client)
    with pytest.raises(errors.UndefinedObject):
        admin.execute(f"KILL {client.process_id}")


def test_many_at_once(db, admin):
    """Clients at work in every way are killed one after the other, while new ones do the same."""
    expected = 1
    for _ in range(10):
        clients = [db.client() for _ in range(6)]
        clients[0].query("BEGIN; INSERT INTO t VALUES (0)").check()
        for client, sql in zip(clients[1:], ["INSERT INTO t VALUES (0)", "BEGIN IMMEDIATE; INSERT INTO t VALUES (0)",
                                             "SELECT count(*) FROM t", f"{ENDLESS} SELECT count(*) FROM c", "BEGIN; SELECT 1 FROM t"]):
            client.send(wire.query(sql))
        for client in clients:
            kill(admin, client)
        # One that came after the holder had gone was served before it was killed.
        expected += clients[1].reply().tags == ["INSERT 0 1"]
        assert db.value("SELECT count(*) FROM t") == str(expected)
    assert show(admin, "WRITER") == []
    db.check_alive()


def test_it_is_in_the_log(db, admin):
    client = db.client(user="alice")
    kill(admin, client)
    # The log has a thread of its own.
    line = eventually(lambda: re.search(r"^.*killed by an administrator.*$", db.errors, re.M), "the line")[0]
    # Its fields are the administrator's, by which all that one has done is found.
    assert f" session={admin.info.backend_pid} " in f"{line} " and f"peer_uid={os.geteuid()}" in line
    assert f"killed_session={client.process_id}" in line and "killed_user=alice" in line and f"killed_peer_pid={os.getpid()}" in line
