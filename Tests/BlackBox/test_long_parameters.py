"""Parameters that take long to convert: the limits of their statements hold meanwhile.

Each ends with an element that is none of its type: who was stopped before it has not come to refuse it.
"""

import struct

import pytest

import wire
from groups_fixtures import Group, insert
from identity import session_as
from timeouts_fixtures import db  # noqa: F401 (fixtures)

# In the fastest build, too, some twenty milliseconds' work.
ELEMENTS = 800_000
OTHER = 70001

WRITER_TIME_LIMIT = """
[[access]]
user = "root"
role = "admin"

[[access]]
user = "all"
role = "writer"
writer_time_limit = "10ms"
"""


def array(element, last):
    return "{" + f"{element}," * ELEMENTS + last + "}"


def binary(oid, element, last):
    values = [element] * ELEMENTS + [last]
    return struct.pack("!5i", 1, 0, oid, len(values), 1) + b"".join(struct.pack("!i", len(value)) + value for value in values)


INT4_ARRAY, TEXT_ARRAY, NUMERIC_ARRAY, JSON_ARRAY, INTERVAL_ARRAY = 1007, 1009, 1231, 199, 1187
INT4, INTERVAL, JSON = 23, 1186, 114
LONG = {
    "int4[]": (INT4_ARRAY, array("1", "x"), 0),
    "text[]": (TEXT_ARRAY, array('"a"', "{"), 0),
    "numeric[]": (NUMERIC_ARRAY, array("1.5", "x"), 0),
    "json[]": (JSON_ARRAY, array("1", "x"), 0),
    "interval[]": (INTERVAL_ARRAY, array("1 day", "x"), 0),
    "json": (JSON, "[" + "[1]," * ELEMENTS + "x]", 0),
    "int4[] in binary": (INT4_ARRAY, binary(INT4, b"\0\0\0\1", b"\0"), 1),
    "interval[] in binary": (INTERVAL_ARRAY, binary(INTERVAL, bytes(16), b"\0"), 1),
}


@pytest.mark.parametrize("sql", ["SELECT length($1)", "INSERT INTO t SELECT 1, length($1)"])
@pytest.mark.parametrize("kind", LONG)
def test_statement_timeout(db, kind, sql):
    client = db.client()
    oid, value, format = LONG[kind]
    client.query("SET statement_timeout = 5").check()
    reply = client.extended(sql, [value], types=[oid], formats=[format])
    assert reply.state == "57014" and "statement timeout" in reply.error["M"], reply.error
    client.query("RESET statement_timeout").check()
    assert client.value("SELECT count(*) FROM t") == "0"


def test_of_a_question_to_the_catalogs(db):
    client = db.client()
    sql = "SELECT count(*) FROM pg_type WHERE typname = $1"
    # The catalogs are made with the first question.
    client.extended(sql, ["{1}"], types=[INT4_ARRAY]).check()
    client.query("SET statement_timeout = 5").check()
    reply = client.extended(sql, [array("1", "x")], types=[INT4_ARRAY])
    assert reply.state == "57014" and "statement timeout" in reply.error["M"], reply.error


def test_that_converts_well_and_too_late(db):
    """Nobody asks while its statement runs: that ends within a thousand steps."""
    client = db.client()
    sql = "INSERT INTO t SELECT NULL, length($1)"
    client.extended(sql, ["{1}"], types=[INT4_ARRAY]).check()
    client.query("SET statement_timeout = 5").check()
    reply = client.extended(sql, [array("1", "1")], types=[INT4_ARRAY])
    assert reply.state == "57014" and reply.status == "I"
    client.query("RESET statement_timeout").check()
    client.extended(sql, [array("1", "1")], types=[INT4_ARRAY]).check()
    assert db.value("SELECT group_concat(v) FROM t") == f"3,{2 * ELEMENTS + 3}"


def test_in_a_group(start_daemon):
    """Those that came before it are answered, and it is done once."""
    daemon = start_daemon(config='group_time_limit = "2ms"\n')
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, who TEXT)")
    group = Group(daemon)
    sql = "INSERT INTO t SELECT 2, length($1)"
    early = group.add(insert(1))
    long = group.add(wire.parse(sql, types=[INT4_ARRAY]) + wire.bind([array("1", "1")]) + wire.execute() + wire.sync())
    late = group.add(insert(3))
    group.release()
    assert [client.reply().tag for client in (early, long, late)] == ["INSERT 0 1"] * 3
    assert daemon.value("SELECT group_concat(who) FROM t") == f"member,{2 * ELEMENTS + 3},member"


def test_writer_time_limit(start_daemon):
    daemon = start_daemon(options=["--socket-mode", "0666"], config=WRITER_TIME_LIMIT)
    daemon.run("CREATE TABLE t (v)")
    client = session_as(daemon, OTHER)
    reply = client.extended("INSERT INTO t SELECT length($1)", [array("1", "x")], types=[INT4_ARRAY])
    assert reply.state == "57014" and "had the writer for too long" in reply.error["M"], reply.error
    assert daemon.value("SELECT count(*) FROM t") == "0"


def test_length_limit(start_daemon):
    """What would be too long for a value in the end is refused before it is whole."""
    daemon = start_daemon(config="length_limit_bytes = 100000\n")
    client = daemon.client()
    for kind, (oid, value, format) in LONG.items():
        reply = client.extended("SELECT length($1)", [value], types=[oid], formats=[format])
        assert (reply.state, reply.error["M"]) == ("22001", "string or blob too big"), kind
    assert client.extended("SELECT length($1)", ["{" + "1," * 40_000 + "1}"], types=[INT4_ARRAY]).value == "80003"


def test_an_interval_has_the_length_that_postgresql_gives_it(db):
    client = db.client()
    sql = "SELECT $1::interval"
    assert client.extended(sql, ["1 day " * 42]).value == "P42D"
    reply = client.extended(sql, ["1 day " * 43])
    assert reply.state == "22007" and "interval" in reply.error["M"], reply.error
