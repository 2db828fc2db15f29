"""Types and values of PREPARE and EXECUTE as statements: what a driver writes there is what it would have bound."""

import struct

import pytest

import wire
from spelling_fixtures import db, ID  # noqa: F401 (a fixture)
from types_fixtures import client  # noqa: F401 (a fixture)


# Qt's driver prepares by SQL, and writes its values into EXECUTE.
@pytest.mark.parametrize(
    "argument, stored", [
        ("TIMESTAMP WITH TIME ZONE '2024-01-02T03:04:05.600Z'", "'2024-01-02 03:04:05.600000+00:00'"),
        ("timestamp with time zone '2024-01-02T03:04:05+02:00'", "'2024-01-02 01:04:05+00:00'"), ("TIMESTAMP '2024-01-02 03:04:05'", "'2024-01-02 03:04:05'"),
        ("'2024-01-02'::date", "'2024-01-02'"), ("DATE '2024-01-02'", "'2024-01-02'"), ("NULL::date", "NULL"), ("'5'::int8", "5"), ("5::int4", "5"),
        ("-1.5::float8", "-1.5"), ("-1.5", "-1.5"), ("'\\x6162'::bytea", "X'6162'"), ("'t'::boolean", "1"), ("true::bool", "1"), ("E'a\\\\b'", "'a\\b'"),
        (f"'{str(ID).upper()}'::uuid", f"'{ID}'"), ("'1 day'::interval", "'P1D'"), ("'a''b'::text", "'a''b'"), ("'{1,2}'::int8[]", "'[1,2]'"),
        ("'a'::varchar(5)", "'a'")])
def test_arguments_of_execute(client, argument, stored):
    client.query("PREPARE put AS INSERT INTO s (v) VALUES ($1); PREPARE find AS SELECT quote(v) FROM s WHERE v IS $1 AND id > 3").check()
    client.query(f"EXECUTE put ({argument})").check()
    assert client.query(f"EXECUTE find ({argument})").texts == [(stored,)]


def test_arguments_of_execute_with_types_of_their_own(client):
    client.query("PREPARE p (timestamp, boolean) AS SELECT $1, $2").check()
    # PostgreSQL turns it into the session's time zone, which is UTC.
    assert client.query("EXECUTE p ('2024-01-02 03:04:05+02'::timestamptz, 't'::boolean)").texts == [("2024-01-02 01:04:05", "t")]
    for argument, state in [("'x'::date", "22007"), ("now()", "0A000"), ("1 + 1", "0A000"), ("'x'::nothing", "0A000"), ("'a' 'b'", "0A000"), ("true::date", "0A000")]:
        assert client.query(f"EXECUTE p ({argument}, NULL)").state == state, argument
    assert client.query("EXECUTE p ('a' : 'b', NULL)").state in ("42601", "0A000")


@pytest.mark.parametrize("argument", ["'abc'::int8::text", "'2024-13-45'::date::int8", "5::int4::text", "true::date"])
def test_chains_of_types_are_refused_in_execute_too(client, argument):
    client.query("PREPARE p AS SELECT $1").check()
    assert client.query(f"EXECUTE p({argument})").state == "0A000"
    assert client.query("EXECUTE p(true)").check().texts == [("t",)]


def test_types_of_prepare_with_modifiers(client):
    client.query("PREPARE p (numeric(10, 2), varchar(5), timestamp(3) with time zone, double precision, int[]) AS "
                 "SELECT $1 + 1, $2, $3, $4, $5").check()
    assert client.query("EXECUTE p(1.5, 'x', '2024-01-02 03:04:05+02', 2, '{1}')").check().texts == [
        ("2.5", "x", "2024-01-02 01:04:05+00:00", "2.0", "[1]")]
    for type in ["numeric(10", "nothing(1)", "int4 x", "numeric(10,2) x"]:
        assert client.query(f"PREPARE q ({type}) AS SELECT $1").state in ("42704", "42601"), type


def test_strings_of_execute_are_what_a_driver_would_have_bound(client):
    """A UUID of digits, a list, a date with a zone."""
    client.query("DROP TABLE IF EXISTS se; CREATE TABLE se (u UUID, d DATE, n INTEGER, b BOOLEAN, x)").check()
    client.query("PREPARE p AS INSERT INTO se (u, d, n, b, x) VALUES ($1, $2, $3, $4, $5)").check()
    client.query("EXECUTE p('00000000000000000000000000000002', '2024-01-02 +01', '7', 't', '007')").check()
    assert client.query("SELECT u, d, n, typeof(n), b, x, typeof(x) FROM se").check().texts == [
        ("00000000-0000-0000-0000-000000000002", "2024-01-02", "7", "integer", "t", "007", "text")]
    client.query("PREPARE q AS SELECT count(*) FROM se WHERE n = ANY($1)").check()
    assert client.value("EXECUTE q('{1,7}')") == "1"


# What a call's arguments are has a say in what type its results are, and the client reads them by what it is told.
CALLS = [("SELECT $1 + 1", "5", wire.INT8, 6), ("SELECT $1 + 1", "1.5", wire.FLOAT8, 2.5), ("SELECT 2 * $1", "-3", wire.INT8, -6),
         ("SELECT sum(id) * $1 FROM s WHERE id < 3", "5", wire.INT8, 15), ("SELECT sum(id) * $1 FROM s WHERE id < 3", "'0.5'::float8", wire.FLOAT8, 1.5)]


@pytest.mark.parametrize("how", ["portal", "statement"])
@pytest.mark.parametrize("sql, argument, type, value", CALLS)
def test_results_of_a_call_are_what_was_announced(client, how, sql, argument, type, value):
    client.query(f"PREPARE p AS {sql}").check()
    describe = [wire.describe_statement("e")] if how == "statement" else []
    bind = [wire.bind(statement="e", result_formats=[1])] + ([wire.describe_portal()] if how == "portal" else [])
    reply = client.ask(wire.parse(f"EXECUTE p({argument})", name="e"), *describe, *bind, wire.execute()).check()
    assert [column.type for column in reply.of("T")[0].columns] == [type]
    assert struct.unpack("!q" if type == wire.INT8 else "!d", reply.rows[0][0]) == (value,)
