"""The simple and the extended query protocol, message by message."""

import struct

import pytest

import wire

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


# Simple queries


def test_simple_query(client):
    reply = client.query("SELECT 1 AS one, 'two' AS two, NULL AS three, 2.5 AS four")
    assert reply.kinds == "TDCZ"
    assert [c.name for c in reply.of("T")[0].columns] == ["one", "two", "three", "four"]
    assert all(c.format == 0 for c in reply.of("T")[0].columns)
    assert reply.texts == [("1", "two", None, "2.5")]
    assert reply.tag == "SELECT 1"


@pytest.mark.parametrize("sql", ["", ";", "  ", ";;;", "-- nothing", "/* nothing */ ;"])
def test_empty_query(client, sql):
    assert client.query(sql).kinds == "IZ"


def test_several_statements(client):
    reply = client.query("SELECT 1; SELECT 2 WHERE 1 = 0;; SELECT 3, 4;")
    assert reply.kinds == "TDCTCTDCZ"
    assert reply.tags == ["SELECT 1", "SELECT 0", "SELECT 1"]


def test_nothing_is_run_after_an_error(client, table):
    reply = client.query("SELECT 1; SELECT nope; INSERT INTO t VALUES (1, 'x')")
    assert reply.kinds == "TDCEZ"
    assert reply.state == "42703"
    assert client.value("SELECT count(*) FROM t") == "0"


def test_no_rows(client):
    assert client.query("SELECT 1 WHERE 1 = 0").kinds == "TCZ"


def test_result_without_select(client, table):
    reply = client.query("INSERT INTO t VALUES (1, 'a'), (2, 'b') RETURNING id, v")
    assert reply.kinds == "TDDCZ"
    assert reply.tag == "INSERT 0 2"
    assert reply.texts == [("1", "a"), ("2", "b")]


def test_semicolons_inside(client):
    reply = client.query("SELECT ';' || \"a;b\" /* ; */ FROM (SELECT 'x;y' AS \"a;b\") -- ;\n; SELECT 2")
    assert reply.tags == ["SELECT 1", "SELECT 1"]
    assert reply.texts[0] == (";x;y",)


def test_trigger_is_one_statement(client, table):
    reply = client.query(
        "DROP TRIGGER IF EXISTS g; CREATE TRIGGER g AFTER INSERT ON t WHEN new.id > 0 BEGIN "
        "UPDATE t SET v = CASE WHEN v = 'x' THEN 'y' ELSE v END; SELECT 1; END; INSERT INTO t VALUES (1, 'x')")
    assert [m.kind for m in reply.messages].count("C") == 3
    assert client.value("SELECT v FROM t") == "y"


@pytest.mark.parametrize(
    "sql, state, position",
    [
        ("SELEC 1", "42601", 1),
        ("SELECT 1 +", "42601", None),
        ("SELECT nope", "42703", 8),
        ("SELECT 'é', nope", "42703", 13),
        ("\n\n  SELECT nope", "42703", 12),
        ("SELECT 1; SELECT nope", "42703", 18),
        ("SELECT * FROM nowhere", "42P01", None),
        ("SELECT nofunction(1)", "42883", None),
        ("SELECT 1 FROM t WHERE id = 1 GROUP BY sum(id)", "42803", None),
        ("SELECT 'open", "42601", None),
        ("INSERT INTO t (nope) VALUES (1)", "42703", None),
        ("INSERT INTO t VALUES (1, 2, 3)", "42601", None),
        ("CREATE TABLE t (x)", "42P07", None),
        ("DROP INDEX nope", "42704", None),
        ('SELECT "no_such_column"', "42703", None),
    ],
)
def test_errors(client, table, sql, state, position):
    reply = client.query(sql)
    assert reply.messages[-1].status == "I"
    assert reply.error["C"] == state
    assert reply.error["S"] == reply.error["V"] == "ERROR"
    if position:
        assert reply.error["P"] == str(position)


# The parts of an extended query


def test_extended_query(client):
    reply = client.extended("SELECT $1::int8 + 1 AS n, $2::text", [41, "x"])
    assert reply.kinds == "12TDCZ"
    assert reply.texts == [("42", "x")]
    assert reply.tag == "SELECT 1"


def test_nothing_is_ready_before_sync(client, shared):
    client.send(wire.parse("SELECT 1"), wire.bind(), wire.execute(), wire.flush())
    assert "".join(client.receive().kind for _ in range(4)) == "12DC"
    shared.settle(client)
    assert not client.has_reply(), "ReadyForQuery comes at Sync"
    client.send(wire.sync())
    assert client.reply().kinds == "Z"


def test_flush(client):
    client.send(wire.parse("SELECT 1"), wire.flush())
    assert client.receive().kind == "1"
    client.send(wire.bind(), wire.flush())
    assert client.receive().kind == "2"
    client.send(wire.describe_portal(), wire.flush())
    assert client.receive().kind == "T"
    client.send(wire.execute(), wire.flush())
    assert [client.receive().kind, client.receive().kind] == ["D", "C"]
    client.send(wire.close_portal(), wire.flush())
    assert client.receive().kind == "3"
    client.send(wire.sync())
    assert client.receive().status == "I"


def test_sync_alone(client):
    assert client.ask().kinds == "Z"


def test_describe_statement(client, table):
    reply = client.ask(wire.parse("SELECT id, v FROM t WHERE id = $1", types=[wire.INT8]), wire.describe_statement())
    assert reply.kinds == "1tTZ"
    assert reply.of("t")[0].types == [wire.INT8]
    described = reply.of("T")[0].columns
    assert [(c.name, c.type, c.format) for c in described] == [("id", wire.INT8, 0), ("v", wire.TEXT, 0)]


def test_describe_statement_without_rows(client, table):
    reply = client.ask(wire.parse("INSERT INTO t VALUES ($1::int8, $2::text)"), wire.describe_statement())
    assert reply.kinds == "1tnZ"
    assert reply.of("t")[0].types == [wire.INT8, wire.TEXT]


def test_describe_portal_without_rows(client, table):
    reply = client.ask(wire.parse("DELETE FROM t"), wire.bind(), wire.describe_portal(), wire.execute())
    assert reply.kinds == "12nCZ"
    assert reply.tag == "DELETE 0"


def test_describe_returning(client, table):
    reply = client.ask(
        wire.parse("INSERT INTO t VALUES (1, 'x') RETURNING id, v"), wire.describe_statement(), wire.bind(),
        wire.describe_portal(), wire.execute())
    assert reply.kinds == "1tT2TDCZ"
    assert [c.type for c in reply.of("T")[1].columns] == [wire.INT8, wire.TEXT]
    assert client.value("SELECT count(*) FROM t") == "1", "describing it does not run it"


def test_describe_portal_has_its_formats(client):
    reply = client.ask(
        wire.parse("SELECT 1 AS a, 'x' AS b"), wire.bind(result_formats=[1, 0]), wire.describe_portal())
    assert [c.format for c in reply.of("T")[0].columns] == [1, 0]


@pytest.mark.parametrize("sql", ["", "-- nothing"])
def test_empty_statement(client, sql):
    reply = client.ask(wire.parse(sql), wire.describe_statement(), wire.bind(), wire.describe_portal(), wire.execute())
    assert reply.kinds == "1tn2nIZ"


def test_several_statements_cannot_be_parsed(client):
    reply = client.ask(wire.parse("SELECT 1; SELECT 2"))
    assert reply.kinds == "EZ" and reply.state == "42601"
    assert client.ask(wire.parse("SELECT 1; ; -- end")).kinds == "1Z"


def test_parse_error_has_a_position(client):
    assert client.ask(wire.parse("  SELECT nope")).error["P"] == "10"


# Names


def test_named_statement(client):
    assert client.ask(wire.parse("SELECT $1::int8", name="s")).kinds == "1Z"
    for number in (1, 2):
        reply = client.ask(wire.bind([number], statement="s"), wire.execute())
        assert reply.texts == [(str(number),)]
    assert client.ask(wire.parse("SELECT 2", name="s")).state == "42P05"
    assert client.ask(wire.close_statement("s")).kinds == "3Z"
    assert client.ask(wire.bind(statement="s")).state == "26000"
    assert client.ask(wire.parse("SELECT 2", name="s")).kinds == "1Z"


def test_unnamed_statement_is_replaced(client):
    assert client.ask(wire.parse("SELECT 1")).kinds == "1Z"
    assert client.ask(wire.parse("SELECT 2")).kinds == "1Z"
    assert client.ask(wire.bind(), wire.execute()).texts == [("2",)]


def test_failed_parse_leaves_no_unnamed_statement(client):
    client.ask(wire.parse("SELECT 1"))
    client.ask(wire.parse("SELECT nope"))
    assert client.ask(wire.bind()).state == "26000"


def test_simple_query_ends_the_unnamed_statement(client):
    client.ask(wire.parse("SELECT 1"))
    client.query("SELECT 2").check()
    assert client.ask(wire.bind()).state == "26000"


def test_unnamed_portal_is_replaced(client):
    reply = client.ask(
        wire.parse("SELECT $1::int8"), wire.bind([1]), wire.bind([2]), wire.execute(), wire.bind([3]), wire.execute())
    assert reply.kinds == "122DC2DCZ"
    assert column(reply) == ["2", "3"]


def test_named_portal_is_not(client):
    reply = client.ask(wire.parse("SELECT 1"), wire.bind(portal="p"), wire.bind(portal="p"))
    assert reply.kinds == "12EZ" and reply.state == "42P03"


@pytest.mark.parametrize(
    "messages, state",
    [
        ([wire.bind(statement="nope")], "26000"),
        ([wire.describe_statement("nope")], "26000"),
        ([wire.bind()], "26000"),
        ([wire.describe_statement()], "26000"),
        ([wire.describe_portal("nope")], "34000"),
        ([wire.execute("nope")], "34000"),
        ([wire.describe_portal()], "34000"),
        ([wire.execute()], "34000"),
    ],
)
def test_unknown_names(client, messages, state):
    reply = client.ask(*messages)
    assert reply.kinds == "EZ" and reply.state == state


def test_closing_what_is_not_there(client):
    reply = client.ask(
        wire.close_statement("nope"), wire.close_portal("nope"), wire.close_statement(), wire.close_portal())
    assert reply.kinds == "3333Z"


def test_deallocate(client):
    client.ask(wire.parse("SELECT 1", name="s1"), wire.parse("SELECT 1", name="s2")).check()
    assert client.query("DEALLOCATE s1").tag == "DEALLOCATE"
    assert client.ask(wire.bind(statement="s1")).state == "26000"
    assert client.query("DEALLOCATE s1").state == "26000"
    assert client.query("DEALLOCATE ALL").tag == "DEALLOCATE ALL"
    assert client.ask(wire.bind(statement="s2")).state == "26000"


def test_names_are_any_text(client):
    for name in ["ü", "a b", '"', "'", "x" * 1000]:
        reply = client.ask(
            wire.parse("SELECT 1", name=name), wire.bind(portal=name, statement=name), wire.execute(name))
        assert reply.kinds == "12DCZ"


# Errors and Sync


def test_after_an_error_all_is_skipped_up_to_sync(client, table):
    client.send(
        wire.parse("SELECT nope"), wire.bind(), wire.execute(), wire.query("INSERT INTO t VALUES (1, 'x')"),
        wire.parse("INSERT INTO t VALUES (2, 'x')"), wire.bind(), wire.execute(), wire.flush(), wire.sync())
    assert client.reply().kinds == "EZ"
    assert client.value("SELECT count(*) FROM t") == "0"


def test_each_sync_is_answered(client):
    client.send(wire.parse("SELECT nope"), wire.sync(), wire.parse("SELECT 1"), wire.bind(), wire.execute(), wire.sync())
    assert client.reply().kinds == "EZ"
    assert client.reply().kinds == "12DCZ"


def test_error_at_execute(client, table):
    client.query("INSERT INTO t VALUES (1, 'x')").check()
    reply = client.extended("INSERT INTO t VALUES ($1, 'y')", [1], types=[wire.INT8])
    assert reply.kinds == "12nEZ"
    assert reply.state == "23505"


def test_query_may_end_a_pipeline(client, table):
    client.send(
        wire.parse("INSERT INTO t VALUES (1, 'x')"), wire.bind(), wire.execute(), wire.query("SELECT count(*) FROM t"))
    reply = client.reply()
    assert reply.kinds == "12CTDCZ"
    assert reply.texts == [("1",)]


@pytest.mark.parametrize("parameters", [[], [1, 2]])
def test_wrong_number_of_parameters(client, parameters):
    reply = client.ask(wire.parse("SELECT $1::int8"), wire.bind(parameters))
    assert reply.kinds == "1EZ" and reply.state == "08P01"


def test_parameter_used_twice(client):
    assert client.extended("SELECT $2::int8, $1::int8, $2::int8", [1, 2]).texts == [("2", "1", "2")]


def test_parameters_out_of_order(client, table):
    client.extended("INSERT INTO t (v, id) VALUES ($2, $1)", [7, "seven"], types=[wire.INT8, wire.TEXT]).check()
    assert client.query("SELECT id, v FROM t").texts == [("7", "seven")]


@pytest.mark.parametrize("sql", ["SELECT :name", "SELECT @name", "SELECT $name", "SELECT $0", "SELECT $65536"])
def test_other_parameters(client, sql):
    reply = client.ask(wire.parse(sql))
    assert reply.kinds == "EZ" and reply.state in ("42P02", "42601", "54000"), reply.error


def test_most_parameters(client):
    sql = "SELECT " + "+".join(f"${n}::int8" for n in range(1, 501))
    assert client.extended(sql, range(1, 501)).texts == [(str(sum(range(1, 501))),)]
    count = 30_000
    sql = "SELECT count(*) FROM (VALUES " + ",".join(f"(${n})" for n in range(1, count + 1)) + ")"
    # Either it is possible or a limit says so.
    reply = client.extended(sql, ["x"] * count, types=[wire.TEXT] * count)
    assert reply.texts == [(str(count),)] or reply.state == "54000", reply.errors


# Formats


def test_result_formats(client):
    sql = "SELECT 258 AS i, 'x' AS t, 1.5 AS f"
    binary = [struct.pack("!q", 258), b"x", struct.pack("!d", 1.5)]
    text = [b"258", b"x", b"1.5"]
    assert client.extended(sql).rows == [text]
    assert client.extended(sql, result_formats=[0]).rows == [text]
    assert client.extended(sql, result_formats=[1]).rows == [binary]
    assert client.extended(sql, result_formats=[1, 0, 1]).rows == [[binary[0], text[1], binary[2]]]


@pytest.mark.parametrize("formats", [[1, 1], [0, 0, 0, 0], [2], [-1], [0, 1, 7]])
def test_wrong_result_formats(client, formats):
    reply = client.extended("SELECT 1, 2, 3", result_formats=formats)
    assert reply.state in ("08P01", "22023", "0A000")
    assert client.value("SELECT 1") == "1"


def test_parameter_formats(client):
    sql = "SELECT $1::int8, $2::int4, $3::int2, $4::float8, $5::float4, $6::bool, $7::text, hex($8::bytea)"
    binary = [struct.pack("!q", -2), struct.pack("!i", 3), struct.pack("!h", -4), struct.pack("!d", 0.1),
              struct.pack("!f", 0.5), b"\1", "é".encode(), b"\0\xff"]
    text = [b"-2", b"3", b"-4", b"0.1", b"0.5", b"true", "é".encode(), b"\\x00ff"]
    expected = ("-2", "3", "-4", "0.1", "0.5", "é", "00FF")

    def values(parameters, formats):
        row = client.extended(sql, parameters, formats=formats).check().texts[0]
        assert row[5] in ("1", "t")
        return row[:5] + row[6:]

    assert values(text, []) == values(text, [0]) == values(binary, [1]) == expected
    mixed = [binary[n] if n % 2 else text[n] for n in range(8)]
    assert values(mixed, [n % 2 for n in range(8)]) == expected


@pytest.mark.parametrize("formats", [[0, 0], [1, 1, 1, 1], [2], [0, 0, 3]])
def test_wrong_parameter_formats(client, formats):
    reply = client.extended("SELECT $1::int8, $2::int8, $3::int8", [1, 2, 3], formats=formats)
    assert reply.state in ("08P01", "22023", "0A000")


@pytest.mark.parametrize(
    "type, size",
    [(wire.INT8, 4), (wire.INT4, 8), (wire.INT2, 4), (wire.FLOAT8, 4), (wire.FLOAT4, 8), (wire.BOOL, 2), (wire.BOOL, 0),
     (wire.INT8, 0), (wire.INT8, 9)],
)
def test_binary_parameters_of_wrong_length(client, type, size):
    reply = client.extended("SELECT $1", [bytes(size)], types=[type], formats=[1])
    assert reply.state in ("22P03", "08P01")


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
    # bytea's digits are 22023 in PostgreSQL
    assert reply.state == state or (type == wire.BYTEA and reply.state == "22023"), reply.errors


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
    assert client.extended("SELECT $1::float8 > 1e308", ["Infinity"]).texts == [("1",)]


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
        wire.BYTEA, wire.INT8, wire.INT8, wire.TEXT]


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
    assert reply.state in ("22P03", "42804"), reply
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
        ("SELECT sum(n) = $1 FROM u", "33", ["1"]),
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


# Portals and row limits


def test_portal_suspended(client):
    client.query("BEGIN").check()
    reply = client.ask(wire.parse(numbers(5)), wire.bind(portal="p"), wire.execute("p", 2))
    assert reply.kinds == "12DDsZ" and reply.status == "T"
    reply = client.ask(wire.execute("p", 2))
    assert reply.kinds == "DDsZ" and column(reply) == ["3", "4"]
    reply = client.ask(wire.execute("p", 2))
    assert reply.kinds == "DCZ" and column(reply) == ["5"] and reply.tag == "SELECT 1"
    reply = client.ask(wire.execute("p", 2))
    assert reply.kinds == "CZ" and reply.tag == "SELECT 0"
    client.query("COMMIT").check()


def test_exactly_as_many_rows_as_asked_for(client):
    client.query("BEGIN").check()
    reply = client.ask(wire.parse(numbers(2)), wire.bind(portal="p"), wire.execute("p", 2), wire.execute("p", 2))
    # PostgreSQL does not look whether there are more; who looks says so at once.
    assert (reply.kinds, reply.tags) in [("12DDsCZ", ["SELECT 0"]), ("12DDCCZ", ["SELECT 2", "SELECT 0"])]


@pytest.mark.parametrize("rows", [0, -1, 6, 0x7FFFFFFF, -(1 << 31)])
def test_all_rows(client, rows):
    reply = client.ask(wire.parse(numbers(5)), wire.bind(), wire.execute(rows=rows))
    assert reply.kinds == "12DDDDDCZ" and reply.tag == "SELECT 5"


def test_several_open_portals(client):
    client.query("BEGIN").check()
    client.ask(wire.parse(NUMBERS.format("$1::int8 AND x >= 0"), name="s")).check()
    sizes = {"a": 10, "b": 7, "c": 25}
    for name, size in sizes.items():
        client.ask(wire.bind([size], portal=name, statement="s")).check()
    seen = {name: [] for name in sizes}
    open_portals = set(sizes)
    step = 0
    while open_portals:
        for name in sorted(open_portals):
            step += 1
            reply = client.ask(wire.execute(name, step % 4 + 1)).check()
            seen[name] += [int(x) for x in column(reply)]
            if reply.kinds.endswith("CZ"):
                open_portals.remove(name)
    assert seen == {name: list(range(1, size + 1)) for name, size in sizes.items()}
    client.query("COMMIT").check()


def test_portals_of_one_pipeline(client):
    reply = client.ask(
        wire.parse(numbers(3), name="s1"), wire.parse(numbers(4), name="s2"), wire.bind(portal="a", statement="s1"),
        wire.bind(portal="b", statement="s2"), wire.execute("a", 1), wire.execute("b", 2), wire.execute("a"),
        wire.execute("b"))
    assert reply.kinds == "1122DsDDsDDCDDCZ"
    assert column(reply) == ["1", "1", "2", "2", "3", "3", "4"]


def test_portal_ends_at_sync_outside_a_transaction(client):
    client.ask(wire.parse(numbers(5)), wire.bind(portal="p"), wire.execute("p", 2)).check()
    assert client.ask(wire.execute("p", 2)).state == "34000"


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_portal_ends_with_its_transaction(client, end):
    client.query("BEGIN").check()
    client.ask(wire.parse(numbers(5)), wire.bind(portal="p"), wire.execute("p", 2)).check()
    client.query(end).check()
    assert client.ask(wire.execute("p", 2)).state == "34000"


def test_closed_portal(client):
    client.query("BEGIN").check()
    reply = client.ask(
        wire.parse(numbers(5)), wire.bind(portal="p"), wire.execute("p", 2), wire.close_portal("p"), wire.execute("p", 2))
    assert reply.kinds == "12DDs3EZ" and reply.state == "34000"


def test_suspended_portal_sees_its_own_snapshot(shared, client, table):
    shared.run("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    client.query("BEGIN").check()
    client.ask(wire.parse("SELECT id, v FROM t ORDER BY id"), wire.bind(portal="p"), wire.execute("p", 1)).check()
    shared.run("DELETE FROM t WHERE id = 2")
    assert client.ask(wire.execute("p")).texts == [("2", "b"), ("3", "c")]
    assert client.query("SELECT id FROM t ORDER BY id").texts == [("1",), ("3",)], "READ COMMITTED"
    client.query("COMMIT").check()


def test_own_writes_under_an_open_portal(client, table):
    client.query("BEGIN; INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')").check()
    client.ask(wire.parse("SELECT id FROM t ORDER BY id"), wire.bind(portal="p"), wire.execute("p", 1)).check()
    client.query("INSERT INTO t VALUES (4, 'd')").check()
    assert column(client.ask(wire.execute("p", 2)).check()) == ["2", "3"]
    assert client.query("COMMIT").tag == "COMMIT"
    assert client.value("SELECT count(*) FROM t") == "4"


def test_suspended_returning_has_written_all(client, table):
    client.query("BEGIN").check()
    reply = client.ask(
        wire.parse("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c') RETURNING id"), wire.bind(portal="p"),
        wire.execute("p", 1))
    assert reply.kinds == "12DsZ"
    assert client.query("COMMIT").tag == "COMMIT"
    assert client.value("SELECT count(*) FROM t") == "3"


def test_cursor_is_a_portal(client):
    client.query("BEGIN").check()
    assert client.query(f"DECLARE c CURSOR FOR {numbers(5)}").tag == "DECLARE CURSOR"
    assert column(client.query("FETCH 2 FROM c")) == ["1", "2"]
    reply = client.ask(wire.describe_portal("c"), wire.execute("c", 1))
    assert reply.kinds == "TDsZ" and column(reply) == ["3"]
    reply = client.query("FETCH ALL FROM c")
    assert column(reply) == ["4", "5"] and reply.tag == "FETCH 2"
    assert client.query("FETCH 1 FROM c").tag == "FETCH 0"
    assert client.query("CLOSE c").tag == "CLOSE CURSOR"
    assert client.query("FETCH 1 FROM c").state == "34000"


def test_fetch_by_an_extended_query(client):
    client.query(f"BEGIN; DECLARE c CURSOR FOR SELECT CAST(x AS INTEGER) AS x FROM ({numbers(3)})").check()
    for formats, first in [([1], struct.pack("!q", 1)), ([0], b"2"), ([], b"3")]:
        reply = client.ask(
            wire.parse("FETCH 1 FROM c"), wire.describe_statement(), wire.bind(result_formats=formats), wire.describe_portal(),
            wire.execute())
        assert reply.kinds == "1tT2TDCZ"
        assert reply.of("T")[1].columns[0].type == wire.INT8
        assert reply.of("T")[1].columns[0].format == (formats or [0])[0]
        assert reply.rows == [[first]]


def test_cursor_with_parameters(client):
    client.query("BEGIN").check()
    reply = client.ask(
        wire.parse("DECLARE c CURSOR FOR SELECT $1, $2, $3", types=[wire.INT2, wire.BYTEA, wire.UNKNOWN]),
        wire.bind([b"\0\7", b"\0\xff", b"x"], formats=[1]), wire.describe_portal(), wire.execute())
    assert reply.kinds == "12nCZ" and reply.tag == "DECLARE CURSOR"
    assert client.query("FETCH c").texts == [("7", "\\x00ff", "x")]


def test_declare_needs_a_transaction(client):
    assert client.query("DECLARE c CURSOR FOR SELECT 1").state == "25P01"


# Statements that are no SQL of SQLite's


def test_prepare_and_execute(client):
    assert client.query("PREPARE p (int8, text) AS SELECT $1, $2").tag == "PREPARE"
    assert client.query("EXECUTE p (7, 'x')").texts == [("7", "x")]
    assert client.ask(wire.bind([8, "y"], statement="p"), wire.execute()).texts == [("8", "y")]
    assert client.query("PREPARE p AS SELECT 1").state == "42P05"
    assert client.query("DEALLOCATE p").tag == "DEALLOCATE"
    assert client.query("EXECUTE p (7, 'x')").state == "26000"


@pytest.mark.parametrize(
    "sql", ["SELECT version()", "SELECT current_schema()", "SELECT current_database()", "SELECT pg_backend_pid()",
            "SELECT pg_is_in_recovery()", "SELECT current_user", "SHOW transaction isolation level",
            "SHOW server_version", "SELECT set_config('application_name', 'x', false)",
            "SELECT current_setting('server_version')"],
)
def test_what_drivers_ask_unasked(client, sql):
    assert client.query(sql).value
    assert client.extended(sql).value


def test_facts_of_the_session(shared, client):
    assert client.value("SELECT current_database()") == shared.name
    assert client.value("SELECT pg_backend_pid()") == str(client.process_id)
    assert client.value("SELECT current_user") == "tester"
    assert client.value("SHOW transaction_isolation") == "read committed"


def test_reset_script_of_a_pool(client):
    reply = client.query("SELECT pg_advisory_unlock_all(); CLOSE ALL; UNLISTEN *; RESET ALL;")
    assert reply.tags == ["SELECT 1", "CLOSE CURSOR ALL", "UNLISTEN", "RESET"]


def test_discard_all(client):
    client.ask(wire.parse("SELECT 1", name="s")).check()
    client.query("SET statement_timeout = 1000").check()
    assert client.query("DISCARD ALL").tag == "DISCARD ALL"
    assert client.value("SHOW statement_timeout") == "0"
    assert client.ask(wire.bind(statement="s")).state == "26000"
    client.query("BEGIN").check()
    assert client.query("DISCARD ALL").state == "25001"


def test_unknown_catalogs(client):
    for sql in ["SELECT * FROM pg_catalog.pg_stat_replication", "SELECT * FROM pg_catalog.pg_locks",
                "SELECT * FROM information_schema.role_table_grants"]:
        assert client.query(sql).state == "42P01", sql


def test_function_call_is_refused(client):
    client.send(wire.message("F", struct.pack("!ihhih", 1, 0, 0, -1, 0)[:-4] + struct.pack("!h", 0)))
    reply = client.reply()
    assert reply.kinds == "EZ" and reply.state in ("0A000", "08P01")


def test_terminate(client):
    client.send(wire.query("SELECT 1"), wire.terminate(), wire.query("SELECT 2"))
    reply = client.reply()
    assert reply.value == "1"
    assert client.rest() == b""


# Pipelines


def test_long_pipeline(client, table):
    import threading

    count = 5_000
    statement = wire.parse("INSERT INTO t VALUES ($1::int8, $2::text)", name="i")
    work = b"".join(wire.bind([n, f"row {n}"], statement="i") + wire.execute() for n in range(count))
    sender = threading.Thread(target=client.send, args=(statement, work, wire.sync()))
    sender.start()
    reply = client.reply()
    sender.join()
    assert reply.kinds == "1" + "2C" * count + "Z"
    assert client.value("SELECT count(*) FROM t") == str(count)


def test_pipeline_of_syncs(client, table):
    client.send(*[wire.query(f"INSERT INTO t VALUES ({n}, 'x')") for n in range(100)])
    for _ in range(100):
        assert client.reply().tag == "INSERT 0 1"
    client.send(*[wire.parse("SELECT $1::int8") + wire.bind([n]) + wire.execute() + wire.sync() for n in range(100)])
    assert [client.reply().value for _ in range(100)] == [str(n) for n in range(100)]


def test_pipeline_byte_by_byte(client):
    for byte in wire.parse("SELECT $1::text") + wire.bind(["x"]) + wire.describe_portal() + wire.execute() + wire.sync():
        client.send(bytes([byte]))
    assert client.reply().kinds == "12TDCZ"
