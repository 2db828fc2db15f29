"""The end of a reply that is complete, where the socket has no room for it: it does not wait for the statement behind it."""

import time

import pytest

import wire
from daemon import eventually
from test_wire_streams import BUSY

# From what a socket takes (208 KiB by default) to that and some more than the daemon keeps before it waits for its client.
SIZES = range(180, 300, 4)


def rows(kilobytes):
    return f"SELECT printf('%.*c', 1000, 'x') FROM generate_series(1, {kilobytes})"


def comes_whole(client, kilobytes):
    reply = client.reply().check()
    return len(reply.rows) == kilobytes and reply.status == "I"


# A notice of the wait would bring the rest along.
QUIET = 'writer_idle_limit = "1min"\nqueue_notice = 0\n'


@pytest.fixture
def db(start_daemon):
    daemon = start_daemon(config=QUIET)
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    return daemon


def test_beside_a_statement_that_waits_for_the_writer(db):
    holder = db.client()
    holder.query("BEGIN IMMEDIATE").check()
    clients = []
    for size in SIZES:
        client = db.client()
        client.send(wire.query(rows(size)), wire.query("INSERT INTO t DEFAULT VALUES"))
        db.settle()
        assert comes_whole(client, size)
        db.settle()
        assert not client.has_reply()
        clients.append(client)
    holder.query("ROLLBACK").check()
    for client in clients:
        assert client.reply().tag == "INSERT 0 1"


def test_beside_a_statement_that_waits_for_a_reader(start_daemon):
    daemon = start_daemon(options=["--readers", "1"], config=QUIET)
    begin = wire.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
    for size in SIZES:
        first, client, second = daemon.client(), daemon.client(), daemon.client()
        first.send(begin)
        first.reply().check()
        client.send(wire.query(rows(size)), wire.query("SELECT 1"))
        daemon.settle(client)
        second.send(begin)
        daemon.settle(second)
        # The reader is the client's now, and then the second's, before the client's second statement.
        first.query("COMMIT").check()
        daemon.settle()
        assert comes_whole(client, size)
        second.reply().check()
        assert not client.has_reply()
        second.query("COMMIT").check()
        assert client.reply().value == "1"


@pytest.mark.parametrize("second", ["INSERT INTO t DEFAULT VALUES", "BEGIN; INSERT INTO t DEFAULT VALUES; COMMIT", "CREATE TABLE u (x)"])
def test_the_time_of_the_next_statement_begins_with_it(db, second):
    """A client that reads late has not used up the time of what it sent behind."""
    client = db.client()
    client.query("SET statement_timeout = '100ms'").check()
    client.send(wire.query(rows(245)), wire.query(second))
    db.settle()
    time.sleep(0.3)  # The client does something else.
    assert comes_whole(client, 245)
    client.reply().check()


COPY = wire.query("COPY t FROM STDIN") + wire.message("d", b"1\n") + wire.message("c")


@pytest.mark.parametrize("second", [wire.query(f"INSERT INTO t {BUSY}"), COPY], ids=["insert", "copy"])
def test_the_next_statement_has_its_time_all_the_same(db, second):
    """It runs out where the statement is long, however much of the reply before it the socket had no room for."""
    db.run(f"CREATE TRIGGER slow AFTER INSERT ON t BEGIN SELECT ({BUSY}); END")
    for size in SIZES[::3]:
        client = db.client()
        client.query("SET statement_timeout = '200ms'").check()
        client.send(wire.query(rows(size)), second)
        db.settle()
        assert comes_whole(client, size)
        assert client.reply().state == "57014"


def test_beside_a_long_statement(db):
    for size in SIZES:
        client = db.client()
        client.send(wire.query(rows(size)), wire.query(BUSY))
        eventually(lambda: client.unread_by_server() == 0, "both messages to be read")
        assert comes_whole(client, size)
        eventually(lambda: client.cancel() or client.has_reply(), "the cancel")
        assert client.reply().state == "57014"
