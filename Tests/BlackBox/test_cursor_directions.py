"""FETCH and MOVE to a row that comes later, however they say so; what is behind the cursor cannot be had again."""

import pytest

import wire
from groups_fixtures import Group
from psycopg_fixtures import connect
from wire_fixtures import client, table  # noqa: F401 (fixtures)

IDS = "SELECT id FROM t ORDER BY id"
BACK = "55000"

# What PostgreSQL 15 answers to the same, of a cursor NO SCROLL over eight rows. (Only has it no counts beyond 32 bits.)
WAYS = [
    (["FETCH FIRST"], ["1"], "FETCH 1"),
    (["FETCH ABSOLUTE 1"], ["1"], "FETCH 1"),
    (["FETCH ABSOLUTE 4", "FETCH NEXT"], ["4", "5"], "FETCH 1"),
    (["FETCH ABSOLUTE 0", "FETCH 1"], ["1"], "FETCH 1"),
    (["FETCH 2", "FETCH ABSOLUTE 3", "FETCH ABSOLUTE 8", "FETCH NEXT"], ["1", "2", "3", "8"], "FETCH 0"),
    (["FETCH ABSOLUTE 9"], [], "FETCH 0"),
    (["FETCH ABSOLUTE 9223372036854775807"], [], "FETCH 0"),
    (["FETCH 8", "FETCH ABSOLUTE 9"], list("12345678"), "FETCH 0"),
    (["FETCH ALL", "FETCH ABSOLUTE 9"], list("12345678"), BACK),
    (["FETCH ALL", "FETCH ABSOLUTE 10"], list("12345678"), "FETCH 0"),
    (["MOVE 9", "MOVE ABSOLUTE 9"], [], BACK),
    (["MOVE ABSOLUTE 9", "FETCH ABSOLUTE 9"], [], BACK),
    (["FETCH 0", "FETCH RELATIVE 0", "MOVE 0", "FETCH NEXT"], ["1"], "FETCH 1"),
    (["FETCH 3", "MOVE 0", "MOVE RELATIVE 0", "MOVE BACKWARD 0"], ["1", "2", "3"], "MOVE 1"),
    (["FETCH 3", "MOVE FORWARD 0", "FETCH NEXT"], ["1", "2", "3", "4"], "FETCH 1"),
    (["FETCH 8", "MOVE 0"], list("12345678"), "MOVE 1"),
    (["FETCH 9", "MOVE 0"], list("12345678"), "MOVE 0"),
    (["FETCH ALL", "FETCH 0"], list("12345678"), "FETCH 0"),
    (["FETCH 3", "FETCH 0"], ["1", "2", "3"], BACK),
    (["FETCH 3", "FETCH RELATIVE 0"], ["1", "2", "3"], BACK),
    (["FETCH 3", "FETCH BACKWARD 0"], ["1", "2", "3"], BACK),
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
    reply = client.query(
        f"BEGIN; UPDATE t SET v = 'x'; DECLARE c CURSOR FOR {IDS}; FETCH ABSOLUTE 3 FROM c; FETCH ABSOLUTE 7 FROM c; COMMIT").check()
    assert reply.texts == [("3",), ("7",)]


@pytest.mark.parametrize("to", [3, 8])
def test_a_member_that_runs_again_is_where_it_was(shared, eight, to):
    """As one whose cursor was opened before, in a group that another member rolls back."""
    shared.run("DROP TABLE IF EXISTS undoing", "CREATE TABLE undoing (id INTEGER PRIMARY KEY)", "INSERT INTO undoing VALUES (1)")
    group = Group(shared)
    member = group.add(
        f"INSERT INTO t VALUES (100, 'n'); FETCH ABSOLUTE {to} FROM c; MOVE RELATIVE 1 FROM c; FETCH ABSOLUTE 9 FROM c",
        setup=f"DECLARE c CURSOR WITH HOLD FOR {IDS}; MOVE 2 FROM c")
    group.add("INSERT OR ROLLBACK INTO undoing VALUES (1)")
    group.release()
    assert group.clients[1].reply().state == "23505"
    reply = member.reply()
    assert (reply.texts, reply.tags[1:3]) == ([(str(to),)], ["FETCH 1", "MOVE 1" if to < 8 else "MOVE 0"])
    assert (reply.state or reply.tags[3]) == ("FETCH 0" if to < 8 else BACK)


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
    for rows, end in [(8, "MOVE 0"), (9, BACK), (0, BACK)]:
        client.query("BEGIN").check()
        client.ask(wire.parse(IDS), wire.bind(portal="c"), wire.execute("c", rows=rows)).check()
        assert go(client, ["MOVE ABSOLUTE 9"]) == ([], end)
        client.query("ROLLBACK").check()


def test_a_cursor_that_outlives_its_transaction_counts_on(client, eight):
    client.query(f"BEGIN; DECLARE c CURSOR WITH HOLD FOR {IDS}; FETCH 2 FROM c; COMMIT").check()
    assert go(client, ["FETCH ABSOLUTE 2"]) == ([], BACK)
    assert go(client, ["FETCH ABSOLUTE 5", "MOVE RELATIVE 1", "FETCH NEXT"]) == (["5", "7"], "FETCH 1")
    client.query("CLOSE c").check()


def test_a_large_row_behind_those_passed_over(client, table, shared):
    """Its client has to take some of it before there is more, and nothing is passed over a second time."""
    shared.run("INSERT INTO t SELECT value, hex(zeroblob(1500000)) FROM generate_series(1, 6)")
    client.query("BEGIN; DECLARE c CURSOR FOR SELECT id, v FROM t ORDER BY id").check()
    for step, row in [(2, "2"), (2, "4"), (1, "5")]:
        reply = client.query(f"FETCH RELATIVE {step} FROM c").check()
        assert [(number, len(large)) for number, large in reply.texts] == [(row, 3_000_000)]
    client.query("ROLLBACK").check()


def test_what_fails_on_the_way(client, eight):
    client.query("BEGIN; DECLARE c CURSOR FOR SELECT CASE WHEN id < 5 THEN id ELSE abs(-9223372036854775808) END FROM t ORDER BY id").check()
    assert go(client, ["FETCH ABSOLUTE 4"]) == (["4"], "FETCH 1")
    assert go(client, ["FETCH ABSOLUTE 7"]) == ([], "22003")
    client.query("ROLLBACK").check()


def test_a_failed_one_says_so(client, eight):
    client.query("BEGIN; DECLARE c CURSOR FOR SELECT abs(CASE WHEN id < 2 THEN id ELSE -9223372036854775808 END) FROM t ORDER BY id").check()
    client.query("SAVEPOINT s").check()
    assert client.query("FETCH 3 FROM c").state == "22003"
    client.query("ROLLBACK TO s").check()
    assert "cannot be run" in client.query("FETCH PRIOR FROM c").error["M"]
    client.query("ROLLBACK").check()


def test_psycopg_scroll(shared, eight):
    with connect(shared) as connection, connection.cursor(name="c") as cursor:
        cursor.execute(IDS)
        cursor.scroll(3, mode="absolute")
        assert cursor.fetchone() == (4,)
        cursor.scroll(0)
        cursor.scroll(2)
        assert cursor.fetchall() == [(7,), (8,)]
