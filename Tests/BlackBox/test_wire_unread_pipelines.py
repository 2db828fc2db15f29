"""Pipelines of clients that send all of it before they read anything, as drivers' batches do."""

import threading

import pytest

import wire
from daemon import eventually

# A socket takes some 280 sends, however little each of them is. So many small replies are more, in one piece and one by one.
STATEMENTS = 1000
ONE_BY_ONE = 400


@pytest.fixture
def client(shared):
    client = shared.client()
    client.send(wire.parse("SELECT length($1)", name="s", types=[25]) + wire.sync())
    assert not client.reply().errors
    return client


def statement(value):
    return wire.bind([value], statement="s") + wire.execute()


def send_one_by_one(client):
    for size in range(ONE_BY_ONE):
        client.send(statement("x" * size))
        eventually(lambda: client.unread_by_server() == 0, f"message {size} to be read")


def lengths(reply):
    assert not reply.errors, reply
    return [int(row[0]) for row in reply.rows]


@pytest.mark.parametrize("size", [3_000, 20_000, 100_000])
def test_a_pipeline_of_large_messages(client, size):
    client.send(statement("x" * size) * STATEMENTS + wire.sync())
    assert lengths(client.reply()) == [size] * STATEMENTS


def test_a_pipeline_of_messages_that_come_one_by_one(client):
    send_one_by_one(client)
    client.send(wire.sync())
    assert lengths(client.reply()) == list(range(ONE_BY_ONE))


def test_a_flush_is_answered_where_the_socket_was_full(client):
    send_one_by_one(client)
    # And of a message behind it there is only the beginning.
    client.send(wire.flush() + wire.sync()[:3])
    rows = [client.receive() for _ in range(3 * ONE_BY_ONE)]
    assert [row.kind for row in rows[-3:]] == ["2", "D", "C"]
    client.send(wire.sync()[3:])
    assert client.receive().kind == "Z"


@pytest.mark.parametrize("asked", [wire.sync(), wire.flush()], ids=["Sync", "Flush"])
def test_what_is_asked_for_comes_before_the_rest_of_the_next_message(client, asked):
    client.send(statement("xyz") + asked + statement("")[:7])
    answer = [client.receive().kind for _ in range(4 if asked == wire.sync() else 3)]
    assert answer == ["2", "D", "C", "Z"][:len(answer)]


def test_an_error_comes_before_the_rest_of_the_next_message(client):
    client.send(wire.bind([], statement="nowhere") + statement("")[:7])
    assert client.receive().fields["C"] == "26000"


def test_memory_has_an_end_though_nothing_is_asked_for(client):
    """The daemon reads no more of it while 32 KB of its replies wait."""
    many = 40_000
    sent = threading.Event()

    def send():
        client.send(statement("xyz") * many + wire.sync())
        sent.set()

    thread = threading.Thread(target=send)
    thread.start()
    try:
        eventually(lambda: client.unread_by_server() > 0 and not sent.is_set(), "the sender to stand still")
    finally:
        reply = client.reply()
        thread.join()
    assert lengths(reply) == [3] * many
