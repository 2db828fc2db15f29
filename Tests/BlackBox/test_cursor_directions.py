"""FETCH and MOVE to a row that comes later, however they say so; what is behind the cursor cannot be had again."""

import pytest

import wire
from psycopg_fixtures import connect
from wire_fixtures import client, table  # noqa: F401 (fixtures)

IDS = "SELECT id FROM t ORDER BY id"
BACK = "55000"

# What PostgreSQL 15 answers to the same, of a cursor NO SCROLL over eight rows. It has no counts beyond 32 bits, and refuses ABSOLUTE
# also of the first row that is not there where the cursor is at its end.
WAYS = [
    (["FETCH FIRST"], ["1"], "FETCH 1"),
    (["FETCH ABSOLUTE 1"], ["1"], "FETCH 1"),
    (["FETCH ABSOLUTE 4", "FETCH NEXT"], ["4", "5"], "FETCH 1"),
    (["FETCH ABSOLUTE 0", "FETCH 1"], ["1"], "FETCH 1"),
    (["FETCH 2", "FETCH ABSOLUTE 3", "FETCH ABSOLUTE 8", "FETCH NEXT"], ["1", "2", "3", "8"], "FETCH 0"),
    (["FETCH ABSOLUTE 9"], [], "FETCH 0"),
    (["FETCH ABSOLUTE 9223372036854775807"], [], "FETCH 0"),
    (["FETCH ALL", "FETCH ABSOLUTE 9"], list("12345678"), "FETCH 0"),
    (["FETCH RELATIVE 1", "FETCH RELATIVE 3", "FETCH RELATIVE 5"], ["1", "4"], "FETCH 0"),
    (["FETCH RELATIVE 9223372036854775807"], [], "FETCH 0"),
    (["FETCH BACKWARD -2", "FETCH FORWARD 1"], ["1", "2", "3"], "FETCH 1"),
    (["FETCH BACKWARD -9223372036854775807"], list("12345678"), "FETCH 8"),
    (["MOVE ABSOLUTE 5"], [], "MOVE 1"),
    (["MOVE ABSOLUTE 5", "FETCH ALL"], ["6", "7", "8"], "FETCH 3"),
    (["MOVE RELATIVE 2", "FETCH NEXT"], ["3"], "FETCH 1"),
    (["MOVE FIRST", "FETCH NEXT"], ["2"], "FETCH 1"),
    (["MOVE FORWARD 3", "FETCH ABSOLUTE 5"], ["5"], "FETCH 1"),
    (["MOVE ABSOLUTE 9"], [], "MOVE 0"),
    (["FETCH 3", "FETCH FIRST"], ["1", "2", "3"], BACK),
    (["FETCH 3", "FETCH ABSOLUTE 3"], ["1", "2", "3"], BACK),
    (["FETCH 3", "FETCH ABSOLUTE 0"], ["1", "2", "3"], BACK),
    (["FETCH ABSOLUTE 3", "MOVE ABSOLUTE 2"], ["3"], BACK),
    (["FETCH 3", "FETCH RELATIVE -1"], ["1", "2", "3"], BACK),
    (["FETCH 3", "FETCH PRIOR"], ["1", "2", "3"], BACK),
    (["FETCH 3", "FETCH BACKWARD ALL"], ["1", "2", "3"], BACK),
    (["FETCH 3", "FETCH -1"], ["1", "2", "3"], BACK),
    (["FETCH LAST"], [], BACK),
    (["FETCH ABSOLUTE -9223372036854775808"], [], BACK),
]


@pytest.fixture
def eight(shared, table):
    shared.run("INSERT INTO t SELECT value, 'i' FROM generate_series(1, 8)")


def go(client, ways):
    """Where the last one ends, and the rows of all."""
    rows = []
    for way in ways:
        reply = client.query(f"{way} FROM c")
        rows += [row[0] for row in reply.texts]
    return rows, reply.state or reply.tag


@pytest.mark.parametrize("before", ["", "UPDATE t SET v = 'x'; "], ids=["on a reader", "on the writer"])
@pytest.mark.parametrize("write", ["", "; DELETE FROM t"], ids=["running", "kept"])
@pytest.mark.parametrize("ways, rows, end", WAYS, ids=[", ".join(ways) for ways, _, _ in WAYS])
def test_ways(client, eight, before, write, ways, rows, end):
    client.query(f"BEGIN; {before}DECLARE c CURSOR FOR {IDS}{write}").check()
    assert go(client, ways) == (rows, end)
    client.query("ROLLBACK").check()


def test_all_in_one_query_string(client, eight):
    """Such a string is a member of a group commit, and may run again."""
    reply = client.query(
        f"BEGIN; UPDATE t SET v = 'x'; DECLARE c CURSOR FOR {IDS}; FETCH ABSOLUTE 3 FROM c; FETCH ABSOLUTE 7 FROM c; COMMIT").check()
    assert reply.texts == [("3",), ("7",)]


def test_rows_of_execute_count(client, eight):
    """A portal that Bind has opened is a cursor as well."""
    client.query("BEGIN").check()
    client.ask(wire.parse(IDS), wire.bind(portal="c"), wire.execute("c", rows=2)).check()
    assert go(client, ["FETCH ABSOLUTE 2"]) == ([], BACK)
    client.query("ROLLBACK; BEGIN").check()
    client.ask(wire.parse(IDS), wire.bind(portal="c"), wire.execute("c", rows=2)).check()
    assert go(client, ["FETCH ABSOLUTE 4"]) == (["4"], "FETCH 1")
    assert client.ask(wire.execute("c", rows=2)).check().texts == [("5",), ("6",)]
    assert go(client, ["FETCH ABSOLUTE 7"]) == (["7"], "FETCH 1")
    client.query("ROLLBACK").check()


def test_a_cursor_that_outlives_its_transaction_counts_on(client, eight):
    client.query(f"BEGIN; DECLARE c CURSOR WITH HOLD FOR {IDS}; FETCH 2 FROM c; COMMIT").check()
    assert go(client, ["FETCH ABSOLUTE 2"]) == ([], BACK)
    assert go(client, ["FETCH ABSOLUTE 5", "MOVE RELATIVE 1", "FETCH NEXT"]) == (["5", "7"], "FETCH 1")
    client.query("CLOSE c").check()


def test_a_large_row_behind_those_passed_over(client, table, shared):
    """Its client has to take some of it before there is more, and nothing is passed over a second time."""
    shared.run("INSERT INTO t SELECT value, CAST(zeroblob(3000000) AS TEXT) || value FROM generate_series(1, 6)")
    client.query("BEGIN; DECLARE c CURSOR FOR SELECT id, replace(v, char(0), 'x') FROM t ORDER BY id").check()
    for step, row in [(2, "2"), (2, "4"), (1, "5")]:
        assert [number for number, _ in client.query(f"FETCH RELATIVE {step} FROM c").check().texts] == [row]
    client.query("ROLLBACK").check()


def test_what_fails_on_the_way(client, eight):
    client.query("BEGIN; DECLARE c CURSOR FOR SELECT CASE WHEN id < 5 THEN id ELSE abs(-9223372036854775808) END FROM t ORDER BY id").check()
    assert go(client, ["FETCH ABSOLUTE 4"]) == (["4"], "FETCH 1")
    assert go(client, ["FETCH ABSOLUTE 7"]) == ([], "22003")
    client.query("ROLLBACK").check()


def test_psycopg_scroll(shared, eight):
    with connect(shared) as connection, connection.cursor(name="c") as cursor:
        cursor.execute(IDS)
        cursor.scroll(3, mode="absolute")
        assert cursor.fetchone() == (4,)
        cursor.scroll(2)
        assert cursor.fetchall() == [(7,), (8,)]
