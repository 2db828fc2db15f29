"""What the tests of the protocol share: a client, a table, queries of many rows or none, and how a session has to end that is refused."""

import pytest

import wire

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
# Its first row is more than is kept back.
ENDLESS_ROWS = f"SELECT hex(zeroblob(25000)) UNION ALL SELECT 'second' UNION ALL SELECT * FROM ({ENDLESS})"
NUMBERS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < {}) SELECT x FROM c"


def numbers(last):
    return NUMBERS.format(last)


@pytest.fixture
def client(shared):
    return shared.client()


@pytest.fixture
def table(shared):
    """An empty table t(id, v)."""
    shared.run("DROP TABLE IF EXISTS t", "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    return "t"


def column(reply):
    return [row[0] for row in reply.texts]


def endless(client):
    """Sends ENDLESS_ROWS and waits for its first row. Only then does it run for certain: what has been read, and no more, is not begun."""
    client.send(wire.query(ENDLESS_ROWS))
    assert [client.receive().kind for _ in range(2)] == ["T", "D"]


def refused(client):
    """What a refused client gets: one FATAL error, then the end."""
    reply = client.reply()
    assert reply.closed, reply
    assert reply.messages[-1].kind == "E", reply
    assert reply.messages[-1].fields["S"] == "FATAL", reply
    return reply.messages[-1].fields


def check_answer(answer):
    """Of a connection that got what no driver sends: whole messages, no error that is the server's own, nothing behind a FATAL one."""
    found = wire.messages(answer)
    errors = [m.fields for m in found if m.kind == "E"]
    assert all(error["C"] != "XX000" for error in errors), errors
    assert all(m.fields["S"] != "FATAL" for m in found[:-1] if m.kind == "E"), errors
    return found


def probe(client):
    """Sends what ends every state, and a SELECT; returns what came before its row, and whether it came."""
    try:
        client.send(wire.sync(), wire.query("ROLLBACK"), wire.query("SELECT 'probe'"))
    except (BrokenPipeError, ConnectionResetError):
        pass
    before = []
    while True:
        reply = client.reply()
        if reply.texts == [("probe",)]:
            return before, True
        before += reply.messages
        if reply.closed:
            return before, False


def ends_well(client, may_end_silently=False):
    before, is_usable = probe(client)
    if is_usable:
        return
    if before and before[-1].kind == "E":
        assert before[-1].fields["S"] == "FATAL"
        assert before[-1].fields["C"] == "08P01"
    else:
        assert may_end_silently, before
