"""COPY's messages, and the table that the tests of COPY copy into."""

import pytest

import wire


def copy_data(data):
    return wire.message("d", data if isinstance(data, bytes) else data.encode())


def copy_done():
    return wire.message("c")


def copy_fail(reason="no more"):
    return wire.message("f", wire.cstring(reason))


@pytest.fixture
def db(shared):
    shared.run("DROP TABLE IF EXISTS t", "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    return shared


@pytest.fixture
def client(db):
    return db.client()


def begin(client, sql="COPY t FROM STDIN"):
    """Sends it and waits for CopyInResponse."""
    client.send(wire.query(sql))
    return client.receive_until("G")[-1]


def copied(client, sql, *data):
    """A whole COPY FROM in one go; returns the reply."""
    client.send(wire.query(sql), *[copy_data(part) for part in data], copy_done())
    return client.reply()


def error_of(client, data, sql="COPY t FROM STDIN"):
    return copied(client, sql, data).error


def rows(daemon):
    return daemon.run("SELECT id, v FROM t ORDER BY id").texts
