"""What stands behind the name in EXECUTE or FETCH may be something else by the time that a client reads by what it was told of it."""

import struct

import pytest

import wire


@pytest.fixture
def db(shared):
    shared.run("DROP TABLE IF EXISTS days", "CREATE TABLE days (day DATE, n INTEGER, x)", "INSERT INTO days VALUES ('2024-01-02', 7, 12345678)")
    return shared


def tell(client, sql, how, *setup):
    """Parse, and a first run that is described; in binary, where nothing but the type tells what the bytes are."""
    for statement in setup:
        client.query(statement).check()
    statement = [wire.describe_statement("s")] if how == "statement" else []
    portal = [wire.describe_portal()] if how == "portal" else []
    run = [wire.bind(statement="s", result_formats=[1]), *portal, wire.execute()]
    return client.ask(wire.parse(sql, name="s"), *statement, *run).check()


def again(client):
    """As pgjdbc and asyncpg go on: they know."""
    return client.ask(wire.bind(statement="s", result_formats=[1]), wire.execute())


def stale(reply):
    return reply.state == "0A000" and reply.error["R"] == "RevalidateCachedQuery"


CHANGES = {
    "another statement": ("SELECT 12345678", ["DEALLOCATE p", "PREPARE p AS SELECT 'eight___'"]),
    "other parameters": ("SELECT $1", ["DEALLOCATE p", "PREPARE p(float8) AS SELECT $1"]),
    "another setting": ("SELECT day FROM days", ["SET result_typing = declared"]),
    "another table": ("SELECT n FROM days", ["DROP TABLE days", "CREATE TABLE days (n TEXT)", "INSERT INTO days VALUES ('eight___')"]),
}


@pytest.mark.parametrize("how", ["portal", "statement"])
@pytest.mark.parametrize("change", CHANGES)
def test_calls_of_a_prepared_statement(db, change, how):
    sql, changes = CHANGES[change]
    client = db.client()
    arguments = "(5)" if "$1" in sql else ""
    first = tell(client, f"EXECUTE p{arguments}", how, f"PREPARE p{'(int8)' if arguments else ''} AS {sql}").rows
    assert again(client).check().rows == first
    for statement in changes:
        client.query(statement).check()
    for _ in range(2):
        assert stale(again(client))
    # Who asks again is told anew.
    reply = client.ask(wire.parse(f"EXECUTE p{arguments}"), wire.bind(result_formats=[1]), wire.describe_portal(), wire.execute())
    assert reply.check().rows != first


def test_what_the_rows_of_a_call_gave_holds(db):
    client = db.client()
    first = tell(client, "EXECUTE p", "portal", "PREPARE p AS SELECT x FROM days")
    assert first.of("T")[0].columns[0].type == wire.INT8 and first.rows == [[struct.pack("!q", 12345678)]]
    for change, expected in [("SET x = 87654321", [[struct.pack("!q", 87654321)]]), ("SET x = NULL", [[None]])]:
        client.query(f"UPDATE days {change}").check()
        assert again(client).check().rows == expected
    client.query("UPDATE days SET x = 'eight___'").check()
    assert stale(again(client))
    client.query("DELETE FROM days").check()
    assert again(client).check().rows == []


@pytest.mark.parametrize("how", ["portal", "statement"])
@pytest.mark.parametrize("query, expected", [
    ("SELECT 8", [[struct.pack("!q", 8)]]), ("SELECT x FROM days", [[struct.pack("!q", 12345678)]]), ("SELECT NULL", [[None]]),
    ("SELECT x FROM days WHERE false", []), ("SELECT 'eight___'", None), ("SELECT x || '' FROM days", None), ("SELECT 1, 2", None)])
def test_another_cursor_of_the_name(db, how, query, expected):
    client = db.client()
    first = tell(client, "FETCH ALL FROM c", how, "BEGIN", "DECLARE c CURSOR FOR SELECT n FROM days").rows
    assert first == [[struct.pack("!q", 7)]]
    client.query(f"CLOSE c; DECLARE c CURSOR FOR {query}").check()
    reply = again(client)
    assert stale(reply) if expected is None else reply.check().rows == expected


@pytest.mark.parametrize("how", ["portal", "statement"])
def test_questions_to_the_catalogs(db, how):
    client = db.client()
    first = tell(client, "SELECT attnum FROM pg_attribute WHERE attname = 'day'", how).rows
    assert again(client).check().rows == first == [[struct.pack("!h", 1)]]
    client.query("SET result_typing = declared").check()
    assert again(client).check().rows == first
    client.query("SET result_typing = text").check()
    assert stale(again(client))


def test_values_of_a_cursor_that_was_declared_with_others(db):
    """The client sends an integer, as it was told, and its bits are another number to a column of reals."""
    client = db.client()
    two, = struct.unpack("!q", struct.pack("!d", 2.0))
    declare = [wire.bind([struct.pack("!q", two)], statement="s", formats=[1]), wire.execute()]
    told = client.ask(wire.parse("DECLARE c CURSOR FOR SELECT n FROM days WHERE n = $1", name="s"), wire.describe_statement("s")).check()
    assert told.of("t")[0].types == [wire.INT8]
    client.query("BEGIN").check()
    client.ask(*declare).check()
    assert client.query("FETCH ALL FROM c; ROLLBACK").check().rows == []
    db.run("DROP TABLE days", "CREATE TABLE days (n REAL)", "INSERT INTO days VALUES (2)")
    client.query("BEGIN").check()
    assert stale(client.ask(*declare))


def test_what_was_told_in_two_ways(db):
    """Describe of the statement says text of a column without a type, and that of a portal what its rows are: who was told both and
    asks no more may read by either."""
    client = db.client()
    assert tell(client, "SELECT x FROM days", "statement").of("T")[0].columns[0].type == wire.TEXT
    assert again(client).check().rows == [[b"12345678"]]
    run = [wire.bind(statement="s", result_formats=[1]), wire.describe_portal(), wire.execute()]
    for _ in range(2):
        reply = client.ask(*run).check()
        assert reply.of("T")[0].columns[0].type == wire.INT8 and reply.rows == [[struct.pack("!q", 12345678)]]
    assert stale(again(client))
    client.query("UPDATE days SET x = 'eight___'").check()
    assert client.ask(*run).check().rows == again(client).check().rows == [[b"eight___"]]
    client.query("UPDATE days SET x = 87654321").check()
    client.ask(wire.describe_statement("s")).check()
    assert again(client).check().rows == [[b"87654321"]]


def test_move_has_no_columns(db):
    client = db.client()
    client.query("BEGIN; DECLARE c CURSOR FOR SELECT 1").check()
    reply = client.ask(wire.parse("MOVE 1 IN c"), wire.describe_statement(), wire.bind(), wire.describe_portal(), wire.execute()).check()
    assert reply.kinds.count("n") == 2 and reply.tag == "MOVE 1"
