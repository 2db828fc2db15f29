"""Limits of time while another process has the lock or keeps a snapshot."""

import pytest

import wire
from daemon import cancel_until_answered, daemon_reads
from timeouts_fixtures import db, time_passes  # noqa: F401 (fixtures)


@pytest.mark.parametrize("lock", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_busy_outsider(db, outsider, lock):
    other = outsider(db.database)
    client = db.client()
    other(lock)
    client.query("SET lock_timeout = '200ms'").check()
    reply = client.query("INSERT INTO t VALUES (1, 'x')")
    assert reply.error["C"] == "55P03" and reply.status == "I"
    client.query("BEGIN").check()
    reply = client.query("INSERT INTO t VALUES (1, 'x')")
    assert reply.state == "55P03" and reply.status == "E"
    client.query("ROLLBACK").check()
    assert client.value("SELECT count(*) FROM t") == "0", "nothing half-done, and reading goes on"
    client.query("SET lock_timeout = 0").check()
    client.send(wire.query("INSERT INTO t VALUES (1, 'x')"))
    daemon_reads(client)
    time_passes(db, 400)
    assert not client.has_reply(), "without a limit it waits"
    other("INSERT INTO t VALUES (2, 'outside')")
    other("COMMIT")
    assert client.reply().tag == "INSERT 0 1"
    assert db.run("SELECT id, v FROM t").texts == [("1", "x"), ("2", "outside")]


def test_cancel_behind_an_outsider(db, outsider):
    other = outsider(db.database)
    client = db.client()
    other("BEGIN IMMEDIATE")
    client.send(wire.query("INSERT INTO t VALUES (1, 'x')"))
    cancel_until_answered(client)
    assert client.reply().state == "57014"
    other("COMMIT")
    assert client.query("INSERT INTO t VALUES (1, 'x')").tag == "INSERT 0 1"


def group_behind_an_outsider(db, settings):
    """A group that has been granted the writer together and waits for another process, which has the lock."""
    first = db.client()
    first.query("SET lock_timeout = '200ms'").check()
    clients = [db.client() for _ in settings]
    for client, setting in zip(clients, settings):
        if setting:
            client.query(f"SET {setting}").check()
    # The first is a group of its own. While it waits the others gather; they become a group when it gives up.
    first.send(wire.query("INSERT INTO t VALUES (99, 'x')"))
    for number, client in enumerate(clients):
        client.send(wire.query(f"INSERT INTO t VALUES ({number}, 'x')"))
    daemon_reads(*clients)
    assert first.reply().state == "55P03"
    return clients


def test_timeouts_in_a_group_behind_an_outsider(db, outsider):
    # Those who would wait no longer are answered while the others go on waiting.
    other = outsider(db.database)
    other("BEGIN IMMEDIATE")
    settings = [None, "lock_timeout = '800ms'", "statement_timeout = '800ms'"] * 2
    clients = group_behind_an_outsider(db, settings)
    for client, setting in zip(clients, settings):
        if setting:
            assert client.reply().state == ("55P03" if "lock" in setting else "57014")
            assert client.value("SELECT 1") == "1"
    assert not clients[0].has_reply() and not clients[3].has_reply()
    other("COMMIT")
    assert clients[0].reply().tag == clients[3].reply().tag == "INSERT 0 1"
    assert db.run("SELECT id FROM t").texts == [("0",), ("3",)]


def test_cancel_in_a_group_behind_an_outsider(db, outsider):
    other = outsider(db.database)
    other("BEGIN IMMEDIATE")
    clients = group_behind_an_outsider(db, [None] * 4)
    for number in (2, 0):
        clients[number].cancel()
        assert clients[number].reply().state == "57014"
    clients[1].close()
    assert not clients[3].has_reply()
    other("COMMIT")
    assert clients[3].reply().tag == "INSERT 0 1"
    assert db.value("SELECT count(*) FROM t WHERE id IN (0, 2)") == "0"


def test_outsider_that_keeps_an_old_snapshot(db, outsider):
    other = outsider(db.database)
    db.run("INSERT INTO t VALUES (1, 'x')")
    other("BEGIN")
    assert other("SELECT count(*) FROM t") == [(1,)]
    client = db.client()
    for number in range(2, 200):
        client.query(f"INSERT INTO t VALUES ({number}, 'x')").check()
    assert other("SELECT count(*) FROM t") == [(1,)]
    other("COMMIT")
    assert client.value("SELECT count(*) FROM t") == "199"
