"""Clients that are stuck half-way through what they send: what they drip does not keep the writer, or their time, from running
out."""

import itertools
import time

import pytest

import wire
from daemon import eventually

# Longer than what is dripped of it, and shorter than what counts as progress.
UNFINISHED = wire.query("SELECT '" + "x" * 12_000 + "'")
ROWS = wire.message("d", b"1\n" * 6_000)
DRIPS = {
    "a query's bytes": lambda client, number: client.send(UNFINISHED[number : number + 1]),
    "Flush": lambda client, number: client.send(wire.flush()),
}
COPY_DRIPS = {
    "a row's bytes": lambda client, number: client.send(ROWS[number : number + 1]),
    "empty rows": lambda client, number: client.send(wire.message("d", b"")),
    "Sync": lambda client, number: client.send(wire.sync()),
}


def dripping(client, drip):
    """A function that sends a bit more at every eighth call, for as long as somebody takes it: there is enough for longer than
    anything here may take."""
    calls = itertools.count()

    def go_on():
        number = next(calls)
        try:
            if number % 8 == 0:
                drip(client, number // 8)
        except (BrokenPipeError, ConnectionResetError):
            pass

    return go_on


def until_answered(waiter, go_on):
    def is_answered():
        go_on()
        return waiter.has_reply()

    eventually(is_answered, "the writer")
    return waiter.reply()


def start(start_daemon, limit):
    daemon = start_daemon(config=f"writer_idle_limit = '{limit}'\nqueue_notice = 0\n")
    daemon.run("CREATE TABLE t (x)", "CREATE TABLE u (x)")
    return daemon


@pytest.mark.parametrize("drip", DRIPS)
def test_a_drip_does_not_keep_the_writer(start_daemon, drip):
    daemon = start(start_daemon, "200ms")
    holder, waiter = daemon.client(), daemon.client()
    holder.query("BEGIN; INSERT INTO t VALUES (1)").check()
    waiter.send(wire.query("INSERT INTO u VALUES (1)"))
    assert until_answered(waiter, dripping(holder, DRIPS[drip])).tag == "INSERT 0 1"
    assert holder.reply().state == "25P03"
    assert daemon.value("SELECT count(*) FROM t") == "0"


@pytest.mark.parametrize("drip", COPY_DRIPS)
def test_a_drip_in_a_copy_does_not_keep_the_writer(start_daemon, drip):
    daemon = start(start_daemon, "200ms")
    holder, waiter = daemon.client(), daemon.client()
    holder.query("BEGIN; INSERT INTO t VALUES (1)").check()
    holder.send(wire.query("COPY t FROM STDIN"))
    waiter.send(wire.query("INSERT INTO u VALUES (1)"))
    assert until_answered(waiter, dripping(holder, COPY_DRIPS[drip])).tag == "INSERT 0 1"
    assert holder.reply().state == "25P03"


@pytest.mark.parametrize("drip", DRIPS)
def test_a_drip_does_not_prolong_an_idle_block(start_daemon, drip):
    client = start(start_daemon, "5s").client()
    client.query("SET idle_in_transaction_session_timeout = '200ms'").check()
    client.query("BEGIN").check()
    assert until_answered(client, dripping(client, DRIPS[drip])).state == "25P03"


def test_a_large_message_that_comes_is_no_idleness(start_daemon):
    """Pieces of it, for longer than either limit is; each is small enough to need several to count."""
    query = wire.parse("INSERT INTO t VALUES ($1::text)") + wire.bind([b"x" * (16 << 20)]) + wire.execute() + wire.sync()
    daemon = start(start_daemon, "1s")
    holder, waiter = daemon.client(), daemon.client()
    holder.query("SET idle_in_transaction_session_timeout = '1s'").check()
    holder.query("BEGIN; INSERT INTO t VALUES (1)").check()
    waiter.send(wire.query("INSERT INTO u VALUES (1)"))
    begin, sent = time.monotonic(), 0
    while time.monotonic() - begin < 2.3:
        holder.send(query[sent : sent + 4096])
        sent += 4096
        # No more of it than of the time, so that a part is left.
        eventually(lambda: holder.unread_by_server() == 0 and sent / len(query) < (time.monotonic() - begin) / 2.5, "reading")
    assert not waiter.has_reply()
    holder.send(query[sent:])
    assert holder.reply().tag == "INSERT 0 1"
    assert holder.query("COMMIT").tag == "COMMIT"
    assert waiter.reply().tag == "INSERT 0 1"
