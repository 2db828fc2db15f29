"""Formats and types of values, message by message."""

import struct

import pytest

import wire
from wire_fixtures import client, column, table  # noqa: F401 (fixtures)


# Formats


def test_result_formats(client):
    sql = "SELECT 258 AS i, 'x' AS t, 1.5 AS f"
    binary = [struct.pack("!q", 258), b"x", struct.pack("!d", 1.5)]
    text = [b"258", b"x", b"1.5"]
    assert client.extended(sql).rows == [text]
    assert client.extended(sql, result_formats=[0]).rows == [text]
    assert client.extended(sql, result_formats=[1]).rows == [binary]
    assert client.extended(sql, result_formats=[1, 0, 1]).rows == [[binary[0], text[1], binary[2]]]


@pytest.mark.parametrize("formats, state", [([1, 1], "08P01"), ([0, 0, 0, 0], "08P01"), ([2], "22023"), ([-1], "22023"), ([0, 1, 7], "22023")])
def test_wrong_result_formats(client, formats, state):
    reply = client.extended("SELECT 1, 2, 3", result_formats=formats)
    assert reply.state == state
    assert client.value("SELECT 1") == "1"


def test_parameter_formats(client):
    sql = "SELECT $1::int8, $2::int4, $3::int2, $4::float8, $5::float4, $6::bool, $7::text, hex($8::bytea)"
    binary = [struct.pack("!q", -2), struct.pack("!i", 3), struct.pack("!h", -4), struct.pack("!d", 0.1),
              struct.pack("!f", 0.5), b"\1", "é".encode(), b"\0\xff"]
    text = [b"-2", b"3", b"-4", b"0.1", b"0.5", b"true", "é".encode(), b"\\x00ff"]
    expected = ("-2", "3", "-4", "0.1", "0.5", "t", "é", "00FF")

    def values(parameters, formats):
        return client.extended(sql, parameters, formats=formats).check().texts[0]

    assert values(text, []) == values(text, [0]) == values(binary, [1]) == expected
    mixed = [binary[n] if n % 2 else text[n] for n in range(8)]
    assert values(mixed, [n % 2 for n in range(8)]) == expected


@pytest.mark.parametrize("formats, state", [([0, 0], "08P01"), ([1, 1, 1, 1], "08P01"), ([2], "22023"), ([0, 0, 3], "22023")])
def test_wrong_parameter_formats(client, formats, state):
    reply = client.extended("SELECT $1::int8, $2::int8, $3::int8", [1, 2, 3], formats=formats)
    assert reply.state == state


@pytest.mark.parametrize(
    "type, size",
    [(wire.INT8, 4), (wire.INT4, 8), (wire.INT2, 4), (wire.FLOAT8, 4), (wire.FLOAT4, 8), (wire.BOOL, 2), (wire.BOOL, 0),
     (wire.INT8, 0), (wire.INT8, 9)],
)
def test_binary_parameters_of_wrong_length(client, type, size):
    reply = client.extended("SELECT $1", [bytes(size)], types=[type], formats=[1])
    assert reply.state == "22P03"


@pytest.mark.parametrize(
    "type, value, state",
    [
        (wire.INT8, "abc", "22P02"),
        (wire.INT8, "", "22P02"),
        (wire.INT8, "1.5", "22P02"),
        (wire.INT8, "9223372036854775808", "22003"),
        (wire.INT4, "2147483648", "22003"),
        (wire.INT2, "-32769", "22003"),
        (wire.FLOAT8, "x", "22P02"),
        (wire.BOOL, "maybe", "22P02"),
        (wire.BYTEA, "\\xabc", "22P02"),
        (wire.BYTEA, "\\xzz", "22P02"),
        (wire.TEXT, b"\xff", "22021"),
        (wire.TEXT, b"a\0b", "22021"),
    ],
)
def test_parameters_that_are_not_of_their_type(client, type, value, state):
    reply = client.extended("SELECT $1", [value], types=[type])
    assert reply.state == state, reply.errors


@pytest.mark.parametrize("value", [0, 1, -1, 9223372036854775807, -9223372036854775808])
def test_integers_both_ways(client, value):
    assert client.extended("SELECT $1::int8", [value]).texts == [(str(value),)]
    raw = struct.pack("!q", value)
    assert client.extended("SELECT $1::int8", [raw], formats=[1], result_formats=[1]).rows == [[raw]]


@pytest.mark.parametrize("text", ["0.1", "1e+300", "-2.5", "5e-324", "1.7976931348623157e+308", "0.30000000000000004"])
def test_doubles_both_ways(client, text):
    assert float(client.extended("SELECT $1::float8", [text]).texts[0][0]) == float(text)
    raw = struct.pack("!d", float(text))
    reply = client.extended("SELECT $1::float8", [raw], formats=[1], result_formats=[1])
    assert reply.rows == [[raw]] and reply.of("T")[0].columns[0].type == wire.FLOAT8


def test_infinity(client):
    assert client.query("SELECT 9e999, -9e999").texts == [("Infinity", "-Infinity")]
    assert client.extended("SELECT $1::float8 > 1e308", ["Infinity"]).texts == [("t",)]


def test_large_values(client, table):
    text = "x" * 10_000_000
    client.extended("INSERT INTO t VALUES (1, $1)", [text], types=[wire.TEXT]).check()
    assert client.value("SELECT length(v) FROM t") == "10000000"
    assert client.query("SELECT v FROM t").texts == [(text,)]


# Types of results


def test_declared_types(shared, client):
    shared.run(
        "DROP TABLE IF EXISTS types",
        "CREATE TABLE types (i INTEGER, s SMALLINT, b BIGINT, t TEXT, v VARCHAR(10), r REAL, d DOUBLE PRECISION, f FLOAT,"
        " x BLOB, o BOOLEAN, n NUMERIC(10,2), dt DATE, ts TIMESTAMP, u UUID, j JSON)")
    reply = client.ask(wire.parse("SELECT * FROM types"), wire.describe_statement())
    assert [c.type for c in reply.of("T")[0].columns] == [
        wire.INT8, wire.INT8, wire.INT8, wire.TEXT, wire.TEXT, wire.FLOAT8, wire.FLOAT8, wire.FLOAT8, wire.BYTEA,
        wire.BOOL, wire.TEXT, wire.TEXT, wire.TEXT, wire.TEXT, wire.TEXT]


def test_known_functions_have_types_before_they_run(client, table):
    reply = client.ask(
        wire.parse("SELECT count(*), length('x'), avg(id), total(id), upper(v), date('now'), 1, 1.5, 'x', x'00', id = 1,"
                   " CAST(v AS INTEGER), v || 'x' FROM t"),
        wire.describe_statement())
    assert [c.type for c in reply.of("T")[0].columns] == [
        wire.INT8, wire.INT8, wire.FLOAT8, wire.FLOAT8, wire.TEXT, wire.TEXT, wire.INT8, wire.FLOAT8, wire.TEXT,
        wire.BYTEA, wire.BOOL, wire.INT8, wire.TEXT]


def test_the_first_row_decides_what_nothing_else_does(client):
    for expression, type in [("1", wire.INT8), ("1.5", wire.FLOAT8), ("'x'", wire.TEXT), ("x'00'", wire.BYTEA)]:
        reply = client.extended(f"SELECT max(a) FROM (SELECT {expression} AS a)")
        assert reply.of("T")[0].columns[0].type == type, expression


def test_bool(shared, client):
    shared.run("DROP TABLE IF EXISTS flags", "CREATE TABLE flags (b BOOLEAN)")
    for value in ["t", "true", "1", "f", "false", "0"]:
        client.extended("INSERT INTO flags VALUES ($1)", [value], types=[wire.BOOL]).check()
    assert column(client.query("SELECT b FROM flags ORDER BY rowid")) == ["t", "t", "t", "f", "f", "f"]
    assert client.extended("SELECT b FROM flags LIMIT 1", result_formats=[1]).rows == [[b"\1"]]
    assert client.value("SELECT group_concat(b, '') FROM flags") == "111000"


@pytest.mark.parametrize("format", [0, 1])
@pytest.mark.parametrize(
    "declared, value", [("INTEGER", "'abc'"), ("INTEGER", "1.5"), ("REAL", "'x'"), ("BLOB", "'text'"), ("BOOLEAN", "7"),
                        ("TEXT", "x'ff00'")],
)
def test_a_value_that_does_not_fit_is_an_error(shared, client, declared, value, format):
    shared.run("DROP TABLE IF EXISTS loose", f"CREATE TABLE loose (id INTEGER PRIMARY KEY, misfit {declared})",
               f"INSERT INTO loose VALUES (1, NULL), (2, {value})")
    reply = client.extended("SELECT id, misfit FROM loose ORDER BY id", result_formats=[format])
    assert reply.state == "42804", reply
    assert "misfit" in reply.error["M"] + reply.error.get("D", ""), "the column is named"
    assert client.value("SELECT count(*) FROM loose") == "2"


def test_result_typing_text(shared, client):
    shared.run("DROP TABLE IF EXISTS loose", "CREATE TABLE loose (misfit INTEGER)",
               "INSERT INTO loose VALUES (1), ('abc'), (1.5)")
    client.query("SET result_typing = text").check()
    reply = client.extended("SELECT misfit FROM loose ORDER BY rowid")
    assert column(reply) == ["1", "abc", "1.5"]
    assert reply.of("T")[0].columns[0].type == wire.TEXT


# Untyped parameters: where the place of a parameter says what is meant, that


@pytest.mark.parametrize(
    "sql, value, expected",
    [
        ("SELECT id FROM u WHERE n = $1", "10", ["1"]),
        ("SELECT id FROM u WHERE n + 0 = $1", "10", ["1"]),
        ("SELECT id FROM u WHERE n * 1 = $1", "10", ["1"]),
        ("SELECT id FROM u WHERE t = $1", "10", ["1"]),
        ("SELECT id FROM u WHERE substr(t, 1, 2) = $1", "10", ["1"]),
        ("SELECT id FROM u WHERE length(t) > $1 ORDER BY id", "1", ["1", "2"]),
        ("SELECT count(*) FROM u GROUP BY n > 0 HAVING count(*) > $1", "0", ["3"]),
        ("SELECT sum(n) = $1 FROM u", "33", ["t"]),
        ("SELECT id FROM u ORDER BY id LIMIT $1", "2", ["1", "2"]),
        ("SELECT id FROM u WHERE n BETWEEN 0 AND $1 ORDER BY id", "20", ["1", "2", "3"]),
        ("SELECT id FROM u WHERE n IN (1, $1)", "20", ["2"]),
        ("SELECT id FROM u WHERE t LIKE $1", "2%", ["2"]),
        ("SELECT id FROM u WHERE t || 'x' = $1", "10x", ["1"]),
        ("SELECT id FROM u WHERE id = 1 AND n - $1 = 0", "10", ["1"]),
    ],
)
def test_untyped_text_parameters(shared, client, sql, value, expected):
    shared.run("DROP TABLE IF EXISTS u", "CREATE TABLE u (id INTEGER PRIMARY KEY, n INTEGER, t TEXT)",
               "INSERT INTO u VALUES (1, 10, '10'), (2, 20, '20'), (3, 3, '3')")
    assert column(client.extended(sql, [value]).check()) == expected


def test_untyped_insert_has_the_columns_affinity(shared, client):
    shared.run("DROP TABLE IF EXISTS u", "CREATE TABLE u (i INTEGER, t TEXT, r REAL)")
    client.extended("INSERT INTO u VALUES ($1, $2, $3)", ["12", "12", "12"]).check()
    assert client.query("SELECT typeof(i), typeof(t), typeof(r) FROM u").texts == [("integer", "text", "real")]


# DDL under a prepared statement


def test_changed_columns_end_a_prepared_statement(shared, client, table):
    assert client.ask(wire.parse("SELECT * FROM t", name="s"), wire.describe_statement("s")).kinds == "1tTZ"
    assert client.ask(wire.bind(statement="s"), wire.execute()).kinds == "2CZ"
    shared.run("ALTER TABLE t ADD COLUMN more TEXT", "INSERT INTO t VALUES (1, 'a', 'b')")
    reply = client.ask(wire.bind(statement="s"), wire.describe_portal(), wire.execute())
    assert reply.error["C"] == "0A000"
    assert reply.error["M"] == "cached plan must not change result type"
    client.ask(wire.close_statement("s")).check()
    reply = client.ask(wire.parse("SELECT * FROM t", name="s"), wire.bind(statement="s"), wire.execute())
    assert reply.texts == [("1", "a", "b")]


def test_other_ddl_does_not(shared, client, table):
    client.ask(wire.parse("SELECT id, v FROM t", name="s"), wire.describe_statement("s")).check()
    client.ask(wire.parse("INSERT INTO t VALUES ($1::int8, 'x')", name="i")).check()
    shared.run("CREATE INDEX t_v ON t (v)", "ALTER TABLE t ADD COLUMN more TEXT DEFAULT 'm'", "CREATE TABLE another_t (x)",
               "DROP TABLE another_t", "ALTER TABLE t DROP COLUMN more")
    client.ask(wire.bind([1], statement="i"), wire.execute()).check()
    assert client.ask(wire.bind(statement="s"), wire.execute()).texts == [("1", "x")]


def test_dropped_table_under_a_prepared_statement(shared, client, table):
    client.ask(wire.parse("SELECT id, v FROM t", name="s")).check()
    shared.run("DROP TABLE t")
    assert client.ask(wire.bind(statement="s"), wire.execute()).state == "42P01"
    shared.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)", "INSERT INTO t VALUES (5, 'five')")
    assert client.ask(wire.bind(statement="s"), wire.execute()).texts == [("5", "five")]


def test_texts_of_another_encoding_are_what_is_there(shared):
    """In Latin-1, as an application may have stored it."""
    client = shared.client()
    for sql in "SELECT CAST(x'63616665e9' AS TEXT)", "SELECT json_extract('[\"\\ud834\"]', '$[0]')":
        value = client.query(sql).check().rows[0][0]
        with pytest.raises(UnicodeDecodeError):
            value.decode()
        assert client.query(sql.replace("SELECT ", "SELECT CAST(") + " AS BLOB)").check().texts == [("\\x" + value.hex(),)]
    assert client.extended("SELECT $1::text", [b"caf\xe9"]).state == "22021"
