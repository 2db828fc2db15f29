"""What a parameter is that comes without a type: the statement's program says it, or the value is refused."""

import asyncio
import struct

import asyncpg
import psycopg
import pytest

import wire
from parameters_fixtures import db  # noqa: F401 (fixtures)
from types_fixtures import client  # noqa: F401 (fixtures)


# The table of silently wrong answers: each of these once gave no row, or a wrong one, for a number sent as text.

RIGHT = [
    ("SELECT id FROM p WHERE n = $1", "10", [1]),
    ("SELECT id FROM p WHERE n + 0 = $1", "10", [1]),
    ("SELECT sum(n) = $1 FROM p", "33", [True]),
    ("SELECT max(n) = $1 FROM p", "20", [True]),
    ("SELECT n * 1 = $1 FROM p WHERE id = 1", "10", [True]),
    ("SELECT t FROM p GROUP BY t HAVING count(*) > $1", "1", ["b"]),
    ("SELECT CASE WHEN $1 > 5 THEN 'more' ELSE 'less' END", "3", ["less"]),
    ("SELECT total FROM sums WHERE total > $1", "15", [23]),
    ("SELECT x FROM (SELECT count(*) AS x FROM p) WHERE x = $1", "3", [3]),
    ("SELECT id FROM p WHERE n + 0 IN ($1, 999, 998, 997)", "20", [2]),
    ("SELECT id FROM p WHERE coalesce(n, 0) = $1", "20", [2]),
    ("SELECT id FROM p WHERE length(t) = $1 AND id < 2", "2", [1]),
    ("SELECT id FROM p WHERE CASE WHEN id > 0 THEN n ELSE 0 END = $1", "20", [2]),
    ("SELECT id FROM p WHERE (SELECT max(n) FROM p) = $1 ORDER BY id LIMIT 1", "20", [1]),
    ("SELECT c FROM (SELECT id, row_number() OVER (ORDER BY n) AS c FROM p) WHERE c = $1", "2", [2]),
    ("SELECT id FROM p WHERE rowid = $1", "2", [2]),
    ("SELECT id FROM p WHERE abs(n) BETWEEN $1 AND 15", "5", [1]),
    ("SELECT max(n, $1) FROM p WHERE id = 1", "9", [10]),
    ("SELECT min(100, $1, n) FROM p WHERE id = 1", "9", [9]),
    ("SELECT max(max($1, 5), 7) + 0", "9", [9]),
    ("SELECT greatest($1, 5) > least(7, 8)", "70", [True]),
    ("SELECT id FROM p WHERE max(n, 11) = $1 ORDER BY id LIMIT 1", "11", [1]),
    ("SELECT max(coalesce(nullif(n, 20), $1)) FROM p", "12", [12]),
    ("SELECT id FROM p GROUP BY id HAVING max(coalesce(n, $1)) > 15", "9", [2]),
    ("SELECT id FROM p WHERE n = (SELECT n FROM p ORDER BY n DESC LIMIT $1)", "1", [2]),
    ("SELECT id FROM p WHERE EXISTS (SELECT 1 FROM p LIMIT $1) AND id < 2", "1", [1]),
]

UNDECIDED = [
    ("SELECT json_extract('{\"a\":1}', '$.a') = $1", "1"),
    ("SELECT max($1, $2)", "3"),
    ("SELECT id FROM p WHERE n + 0 < (SELECT max($1))", "3"),
    ("SELECT id FROM p WHERE n + 0 IN (SELECT max($1) FROM p)", "3"),
    ("SELECT id FROM p GROUP BY id, n HAVING max(CASE WHEN n > 0 THEN $1 END) = max(n)", "10"),
    ("SELECT max(n, $1, t) FROM p", "3"),
    ("SELECT id FROM p WHERE x = $1", "10"),
    ("SELECT id FROM p WHERE x IN ($1, 1, 2, 3)", "10"),
    ("INSERT INTO p (x) VALUES ($1)", "10"),
    ("UPDATE p SET x = $1", "10"),
    ("SELECT id FROM p WHERE t = $1 AND length(t) > $1", "1"),
    ("SELECT $1 = $2", "1"),
]


@pytest.mark.parametrize("sql, value, want", RIGHT)
def test_numbers_as_text(client, sql, value, want):
    assert [row[0] for row in client.extended(sql, [value]).check().texts] == ["t" if w is True else str(w) for w in want]


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
@pytest.mark.parametrize("sql, value, want", RIGHT)
def test_psycopg(db, sql, value, want, binary):
    """Strings come without a type in text, and as text in binary; numbers come typed."""
    with psycopg.connect(host=str(db.directory), dbname=db.name, user="tester", autocommit=True) as connection:
        for parameter in [value, int(value)]:
            for place in ["%s", "%t", "%b"]:
                cursor = connection.cursor(binary=binary)
                got = cursor.execute(sql.replace("$1", place), [parameter]).fetchall()
                assert got == [(w,) for w in want], (place, parameter)


def test_asyncpg(db):
    async def work():
        connection = await asyncpg.connect(host=str(db.directory), database=db.name, user="tester")
        for sql, value, want in RIGHT:
            assert [row[0] for row in await connection.fetch(sql, int(value))] == want, sql
        for sql, _ in UNDECIDED:
            with pytest.raises(asyncpg.IndeterminateDatatypeError):
                await connection.prepare(sql)
        assert await connection.fetchval("SELECT max($1::int8, $2::int8)", 3, 5) == 5
        await connection.close()

    asyncio.run(work())


@pytest.mark.parametrize("sql, value", UNDECIDED)
@pytest.mark.parametrize("format", [0, 1])
def test_undecided(client, sql, value, format):
    count = 2 if "$2" in sql else 1
    reply = client.extended(sql, [value] * count, formats=[format])
    assert reply.state == "42P18" and "$1::int8" in reply.error["H"]
    assert client.ask(wire.parse(sql), wire.describe_statement()).state == "42P18"
    # NULL is NULL whatever its type would be.
    client.extended(sql, [None] * count).check()
    # The client's word, the text's and the setting decide.
    client.extended(sql, [value] * count, types=[wire.TEXT] * count).check()
    client.extended(sql.replace("$1", "$1::int8").replace("$2", "$2::int8"), [value] * count).check()
    for setting in ["text", "number"]:
        client.query(f"SET untyped_parameters = {setting}").check()
        assert client.value("SHOW untyped_parameters") == setting
        client.extended(sql, [value] * count, formats=[0]).check()


def test_untyped_parameters_setting(client):
    assert client.value("SHOW untyped_parameters") == "error"
    assert client.query("SET untyped_parameters = maybe").state == "22023"
    sql = "SELECT typeof(x) FROM p WHERE x = $1"
    client.query("SET untyped_parameters = text").check()
    assert client.extended(sql, ["10"]).value == "text"
    client.query("SET untyped_parameters = number").check()
    assert client.extended(sql, ["10"]).value == "integer"
    client.extended("INSERT INTO p (id, x) VALUES (7, $1)", ["no number"]).check()
    assert client.value("SELECT x FROM p WHERE id = 7") == "no number"


def test_a_column_and_a_function_of_any_number_of_arguments(client):
    """The column's affinity would convert the text; max() does not."""
    assert client.extended("SELECT max($1, 5) FROM p WHERE n = $1", ["3"]).check().texts == [("5",)]
    assert client.extended("SELECT max($1, 5) FROM p WHERE n = $1", ["abc"]).state == "22P02"
    assert client.extended("SELECT max($1, 5)", ["30"], types=[wire.TEXT]).check().texts == [("30",)]
    assert client.extended("SELECT min($1, 'b') FROM p WHERE t = $1", ["10"]).check().texts == [("10",)]


def test_misfit_for_a_number(client):
    assert client.extended("SELECT count(*) > $1 FROM p", ["abc"]).state == "22P02"
    assert client.extended("SELECT count(*) > $1 FROM p", ["abc"], types=[wire.TEXT]).state == "22P02"
    assert client.extended("SELECT id FROM p WHERE n = $1", ["abc"]).check().rows == []


def test_sql_prepare(client):
    client.query("PREPARE s AS SELECT typeof(x) FROM p WHERE x = $1").check()
    assert client.value("EXECUTE s(10)") == "integer"
    assert client.value("EXECUTE s('10')") == "text"


@pytest.mark.parametrize("text, kind", [
    ("7", "integer"), ("-7.5e3", "real"), (".5", "real"), ("0x1A", "text"), ("inf", "text"), ("nan", "text"), ("Infinity", "text"), ("1e", "text")])
def test_what_looks_like_a_number(client, text, kind):
    client.query("SET untyped_parameters = number").check()
    assert client.extended("SELECT typeof($1)", [text.encode()]).check().value == kind


def test_a_decimal_of_many_digits_is_a_number_in_either_format(client):
    """A text would be greater than every number."""
    client.query("SET untyped_parameters = number").check()
    binary = struct.pack("!hhHh5h", 5, -1, 0, 17, 1234, 5678, 9012, 3456, 7000)
    for value, format in [(b"0.12345678901234567", 0), (binary, 1)]:
        assert client.extended("SELECT typeof($1), max($1, $2)", [value, b"0.5"], formats=[format, 0]).check().texts == [("real", "0.5")]


def test_what_the_statement_calls_a_text_is_one(client):
    """Where a number is expected, too: the statement's own word counts, the driver's does not."""
    assert client.extended("SELECT typeof($1::text), n + 0 = $1::text FROM p WHERE id = 1", [b"10"]).check().texts == [("text", "f")]
    assert client.extended("SELECT n + 0 = $1 FROM p WHERE id = 1", [b"10"], types=[25]).check().value == "t"
    for type in [0, wire.TEXT, wire.VARCHAR]:
        sql = "SELECT coalesce(NULLIF(n, n), $1::text) FROM p WHERE id = 1"
        assert client.extended(sql, [b"007"], types=[type]).check().value == "007"


# Lists


@pytest.mark.parametrize("sql, sent, rows", [
    ("SELECT id FROM p WHERE n = ANY($1)", ["{10,3}", '{"10","3"}', "[10, 3]", '["10", "3"]'], ["1", "3"]),
    ("SELECT id FROM p WHERE n <> ALL($1)", ["{10,3}", "[10, 3]"], ["2"]),
    ("SELECT id FROM p WHERE n + 0 = ANY($1)", ["{10,3}", '{"10",NULL,"3"}', "[10, 3]"], ["1", "3"]),
    ("SELECT id FROM p WHERE t = ANY($1)", ["{10,x}", '["10"]'], ["1"]), ("SELECT id FROM p WHERE n = ANY($1)", ["{}", "[]", None], []),
])
def test_arrays_without_a_type(client, sql, sent, rows):
    for value in sent:
        assert [row[0] for row in client.extended(sql, [value]).check().texts] == rows, value
    if "n " in sql:
        assert client.extended(sql, ["{10,ten}"]).state == "22P02"


def test_asyncpg_arrays_without_a_type(db):
    async def work():
        connection = await asyncpg.connect(host=str(db.directory), database=db.name, user="tester")
        assert [row[0] for row in await connection.fetch("SELECT id FROM p WHERE n = ANY($1)", [10, 3])] == [1, 3]
        assert [row[0] for row in await connection.fetch("SELECT id FROM p WHERE t <> ALL($1)", ["b", "it's {\"x\"}"])] == [1]
        assert await connection.fetch("SELECT id FROM p WHERE n = ANY($1)", None) == []
        await connection.close()

    asyncio.run(work())


def test_an_untyped_list_in_binary(client):
    for formats in [[], [1]]:
        reply = client.ask(wire.parse("SELECT count(*) FROM p WHERE n = ANY ($1)"), wire.bind(["{10,20}"], formats=formats), wire.execute())
        assert reply.check().texts == [("2",)]


# One parameter in several places


def test_bytes_and_truths_that_returning_calculates_with(client):
    reply = client.extended("INSERT INTO p (b, f) VALUES ($1, $2) RETURNING length(b), NOT f, typeof(b), typeof(f)", ["\\x00ff", "t"])
    assert reply.check().texts == [("2", "f", "blob", "integer")]
    reply = client.extended("UPDATE p SET n = $1 WHERE id = 1 RETURNING n + 1, length(n)", ["12"])
    assert reply.check().texts == [("13", "2")]
    assert client.extended("UPDATE p SET n = $1 WHERE id = 1 RETURNING n + 1", ["twelve"]).state == "22P02"
    # Two values of one parameter: bytes, and what the column makes of a text.
    assert client.extended("UPDATE p SET b = $1, t = $1", ["x"]).state == "42P18"


@pytest.mark.parametrize("columns", ["b BLOB, x TEXT", "b BLOB, x DATE", "b BLOB, x INTEGER", "b, x INTEGER", "b, x REAL"])
def test_one_value_for_columns_of_different_kinds(client, columns):
    """Bytes in a text's column, or 7 for '007': as in PostgreSQL it must be said what it is. What the client says holds."""
    client.query(f"DROP TABLE IF EXISTS kinds; CREATE TABLE kinds ({columns})").check()
    sql = "INSERT INTO kinds (b, x) VALUES ($1, $1)"
    assert client.extended(sql, ["007"]).state == "42P18"
    assert client.value("SELECT count(*) FROM kinds") == "0"
    client.extended(sql, ["007"], types=[wire.TEXT]).check()
    assert client.query("SELECT typeof(b), CAST(b AS TEXT) FROM kinds").check().texts == [("text", "007")]
    client.extended(sql, [None]).check()


@pytest.mark.parametrize("sql", [
    "INSERT INTO kv VALUES (1, $1) RETURNING coalesce(v, 0)",
    "INSERT INTO kv VALUES (0, $1) ON CONFLICT (k) DO UPDATE SET v = excluded.v WHERE kv.v + 0 <> $1",
    "WITH c(a) AS (VALUES ($1)) INSERT INTO kv SELECT 3, a FROM c WHERE a <> 5",
    "INSERT INTO kv VALUES (0, $1) ON CONFLICT (k) DO UPDATE SET v = v + $1 RETURNING 'counted'"])
def test_what_is_stored_without_a_type_stays_a_text(client, sql):
    client.query("DROP TABLE IF EXISTS kv; CREATE TABLE kv (k PRIMARY KEY, v); INSERT INTO kv VALUES (0, 0)").check()
    for text in ["007", "1e3", "abc"]:
        client.query("DELETE FROM kv WHERE k <> 0; UPDATE kv SET v = 0").check()
        client.extended(sql, [text.encode()], types=[wire.TEXT]).check()
        if "counted" not in sql:
            assert client.query("SELECT v, typeof(v) FROM kv WHERE v IS NOT 0").check().texts == [(text, "text")]
    # Without a type nothing decides, except that it is counted with.
    client.query("DELETE FROM kv WHERE k <> 0; UPDATE kv SET v = 0").check()
    reply = client.extended(sql, [b"5"])
    if "counted" in sql:
        assert reply.check() and client.value("SELECT v FROM kv") == "5"
    else:
        assert reply.state == "42P18"


@pytest.mark.parametrize("sql", ["nullif($1, '')", "coalesce(nullif($1, ''), NULL)", "CASE WHEN $1 = '' THEN NULL ELSE $1 END"])
def test_a_text_is_no_truth_and_its_bytes_are_bytes(client, sql):
    """A text in a BOOLEAN column is an error to everybody who reads it."""
    client.query("DROP TABLE IF EXISTS forms; CREATE TABLE forms (f BOOLEAN, b BLOB)").check()
    assert client.extended(f"INSERT INTO forms (f) VALUES ({sql})", [b"t"]).state == "42P18"
    client.extended(f"INSERT INTO forms (b) VALUES ({sql})", [b"t"]).check()
    assert client.query("SELECT * FROM forms").check().texts == [(None, "\\x74")]


@pytest.mark.parametrize("sql, value, found", [
    ("SELECT '{\"s\": \"x\"}' ->> $1", "s", "x"), ("SELECT '{\"s\": {\"t\": 7}}' -> $1 ->> 't'", "s", "7"), ("SELECT $1 ->> 'a'", '{"a": 1}', "1")])
def test_keys_of_json_are_texts(client, sql, value, found):
    reply = client.ask(wire.parse(sql), wire.describe_statement()).check()
    assert next(message.types for message in reply.messages if message.kind == "t") == [wire.TEXT]
    assert client.extended(sql, [value]).check().value == found
    # Who says that it is an index means one.
    assert client.extended("SELECT '[10, 20]' ->> $1", ["1"], [wire.INT4]).check().value == "20"
