"""Messages, statements and values that are too large: memory follows what came, not what was promised."""

import struct

import pytest

import wire
from daemon import eventually


def test_promised_gigabytes_cost_nothing(shared):
    shared.check_alive()
    before = shared.memory()
    clients = []
    for kind, promised in [("Q", 1 << 30), ("P", (1 << 30) - 5), ("B", 1 << 30), ("d", 1 << 30)]:
        client = shared.client()
        client.send(kind.encode(), struct.pack("!i", promised))
        reply = client.reply()
        assert reply.closed and reply.error["C"] == "08P01"
    # What is allowed and does not come takes no more than what came.
    for kind in "QPB" * 20:
        client = shared.client()
        client.send(kind.encode(), struct.pack("!i", 64 << 20), b"x" * 1000)
        clients.append(client)
    shared.settle(*clients)
    assert shared.memory() - before < 64 << 20
    shared.check_alive()
    for client in clients:
        client.close()


@pytest.mark.optimised
def test_a_large_message_gives_its_memory_back(shared):
    shared.check_alive()
    client = shared.client()
    text = "x" * (32 << 20)
    for _ in range(3):
        assert client.extended("SELECT length($1)", [text], types=[wire.TEXT]).value == str(32 << 20)
    clients = [shared.client() for _ in range(8)]
    for each in clients:
        assert each.extended("SELECT length($1)", [text], types=[wire.TEXT]).value == str(32 << 20)
    # Eight sessions that each once had a large message do not keep eight of them.
    eventually(lambda: shared.memory() < 200 << 20, "memory given back")


def test_too_large_messages(shared):
    client = shared.client()
    try:
        client.send(wire.query("SELECT '" + "x" * (100 << 20) + "'"))
    except (BrokenPipeError, ConnectionResetError):
        pass
    reply = client.reply()
    assert reply.closed
    if reply.messages:  # a reset may have swallowed it
        assert reply.error["S"] == "FATAL"


def test_too_long_statement(shared):
    client = shared.client()
    reply = client.query("SELECT '" + "x" * (2 << 20) + "'")
    assert reply.state == "54000" and "sql_length_limit_bytes" in reply.error["D"]
    assert client.value("SELECT 1") == "1"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT zeroblob(1000000000)",
        "SELECT randomblob(2000000000)",
        pytest.param("SELECT printf('%.*c', 1000000000, 'x')", marks=pytest.mark.optimised),
        "SELECT replace(hex(zeroblob(30000000)), '0', 'xxxxxxxx')",
        "SELECT group_concat(hex(zeroblob(1000000)), '') FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1"
        " FROM c WHERE x < 1000) SELECT x FROM c)",
        "SELECT " + "(" * 3000 + "1" + ")" * 3000,
        "SELECT " + "+".join(["1"] * 5000),
        "SELECT " + " UNION ALL SELECT ".join(["1"] * 2000),
        "SELECT " + ", ".join(["1"] * 5000),
        "SELECT 'a' LIKE '" + "%a" * 40_000 + "'",
        "SELECT abs(-9223372036854775808)",
        "SELECT sum(9223372036854775807) FROM (SELECT 1 UNION ALL SELECT 2)",
        "SELECT json('{')",
        "SELECT json_extract('" + "[" * 5000 + "', '$')",
        "SELECT strftime('%Y', 9e999), substr('x', -9223372036854775808, 9223372036854775807)",
        "SELECT " + "-" * 5000 + "1",
        "SELECT CAST('" + "9" * 5000 + "' AS INTEGER)",
        "WITH " + ", ".join(f"c{n} AS (SELECT {n})" for n in range(500)) + " SELECT * FROM c499",
        "SELECT * FROM " + ", ".join(["(SELECT 1)"] * 100),
        "CREATE TABLE deep (x CHECK (" + "(" * 900 + "x" + ")" * 900 + "))",
    ],
    ids=range(20),
)
def test_hostile_sql(shared, sql):
    client = shared.client()
    reply = client.query(sql)
    assert not reply.closed
    assert shared.memory("VmHWM") < 1 << 30
    client.query("DROP TABLE IF EXISTS deep").check()
    assert client.value("SELECT 1") == "1"
