"""unnest() as bulk inserts write it: a table of one array or several side by side."""

import asyncio
import datetime
import decimal
import uuid

import asyncpg
import psycopg
import pytest

import wire
from psycopg_fixtures import connect
from wire_fixtures import client, table  # noqa: F401 (fixtures)


def rows(reply):
    return [" ".join("NULL" if value is None else value for value in row) for row in reply.check().texts]


@pytest.mark.parametrize("sql, expected", [
    ("SELECT * FROM unnest('{3,1,2}'::int8[])", ["3", "1", "2"]),
    ("SELECT x.unnest + 1 FROM unnest('{3}'::int8[]) AS x", "42703"),
    ("SELECT unnest + 1 FROM unnest('{3}'::int8[])", ["4"]),
    ("SELECT x, x.x FROM unnest('{3}'::int8[]) AS x", ["3 3"]),
    ('SELECT "a b" FROM unnest(\'{3}\'::int8[]) "t u"("a b")', ["3"]),
    ("SELECT * FROM unnest('{1,2,3}'::int8[], '{a,NULL}'::text[])", ["1 a", "2 NULL", "3 NULL"]),
    ("SELECT * FROM unnest('{1}'::int8[], '{a,\"b,c}\",\"\"}'::text[])", ["1 a", "NULL b,c}", "NULL "]),
    ("SELECT y, x FROM unnest('{1,2}'::int8[], '{a,b}'::text[]) AS t(x, y) ORDER BY y DESC", ["b 2", "a 1"]),
    ("SELECT x, unnest_2 FROM unnest('{1,2}'::int8[], '{a,b}'::text[]) t(x)", ["1 a", "2 b"]),
    ("SELECT * FROM unnest(ARRAY[1, 2], ARRAY['a', 'b'], '{t,f}'::bool[])", ["1 a 1", "2 b 0"]),
    ("SELECT * FROM unnest(ARRAY[1, 2], ARRAY[true, false]) AS x(a, b)", ["1 1", "2 0"]),
    ("SELECT unnest.unnest, unnest.unnest_2 FROM unnest('{3}'::int8[], '{4}'::int8[])", ["3 4"]),
    ("SELECT unnest.unnest FROM json_each('[[1,2]]') j, unnest(j.value)", ["1", "2"]),
    ("SELECT x.unnest FROM unnest('[1]') 'x' WHERE '1'::int = 1", ["1"]), ("SELECT * FROM unnest('[1]') WHERE '1'::int = 1", ["1"]),
    ("SELECT unnest.unnest, v FROM unnest('[1]') LEFT JOIN (SELECT '1'::int AS v) ON v = unnest", ["1 1"]),
    ("SELECT unnest.unnest, v FROM unnest('{1,2}'::int[]) FULL OUTER JOIN (SELECT '1'::int AS v) ON v = unnest", ["1 1", "2 NULL"]),
    ("SELECT unnest.unnest FROM unnest('{1,2}'::int[]) RIGHT JOIN (SELECT '1'::int AS v) ON v = unnest", ["1"]),
    ("SELECT unnest.unnest, row_number() OVER w FROM unnest('{5,6}'::int[]) WINDOW w AS (ORDER BY unnest)", ["5 1", "6 2"]),
    ("SELECT * FROM unnest(('{1,2}'::int2[])::integer[], (('{a,b}'))::varchar[], ('{c}'::text[])::varchar[])", ["1 a c", "2 b NULL"]),
    ("SELECT * FROM unnest(('{\"2026-11-28 20:40:50\"}'::timestamp[])::timestamp with time zone[])", ["2026-11-28 20:40:50"]),
    ("SELECT * FROM unnest('{a,b}'::text[]) WITH ORDINALITY", ["a 1", "b 2"]),
    ("SELECT place, word FROM unnest('{a,b}'::text[]) WITH ORDINALITY AS w(word, place)", ["1 a", "2 b"]),
    ("SELECT a, b.* FROM unnest('{1,2}'::int[]) a, unnest('{x}'::text[], '{y,z}'::text[]) b", ["1 x y", "1 NULL z", "2 x y", "2 NULL z"]),
    ("SELECT j.key, u.unnest FROM json_each('[[1,2],[3]]') j, unnest(j.value) u", ["0 1", "0 2", "1 3"]),
    ("SELECT j.key, u.unnest FROM json_each('[[1,2],[3]]') j, unnest(j.value) u WHERE '1'::int = 1", ["0 1", "0 2", "1 3"]),
    ("SELECT j.key, u.a FROM json_each('[[1,2],[3]]') j, unnest(j.value) u(a)", "42601"),
    ("SELECT (SELECT max(u.unnest) FROM json_each('[[5]]') j, unnest(value) AS u) FROM (SELECT '[9]' AS value)", ["5"]),
    ("SELECT 1 IS DISTINCT FROM 2, unnest('{1,2}'::int[])", "42883"),
    ("SELECT * FROM unnest('{1}'::double precision[], '{2024-01-02 00:00:00+00}'::timestamp with time zone[]) AS x(a, b)",
     ["1.0 2024-01-02 00:00:00+00:00"]),
    ("SELECT count(*) FROM unnest('{1,2}'::int[]) AS x(a) WHERE " + " AND ".join(f"a > {-n}" for n in range(40)), ["2"]),
    ("SELECT count(*) FROM unnest('{1,2}'::int[], NULL::int[]) AS x(a) WHERE " + " AND ".join(f"a > {-n}" for n in range(40)), ["2"]),
    ("SELECT * FROM unnest(('{1,2}' -- one\n )::int[])", ["1", "2"]), ("SELECT * FROM unnest(('{1}'::int[], '{2}'::int[]))", "42000"),
    ("SELECT j.key, unnest FROM json_each('[[1,2],[3]]') j JOIN unnest(j.value) WHERE '1'::int = 1", ["0 1", "0 2", "1 3"]),
    ("SELECT * FROM unnest('{}'::int[])", []), ("SELECT * FROM unnest(NULL::int[])", []), ("SELECT * FROM unnest(NULL::int[], '{1}'::int[])", ["NULL 1"]),
    ("SELECT * FROM unnest((SELECT json_group_array(unnest) FROM unnest('{2,1}'::int[])))", ["2", "1"]),
    ("SELECT unnest('{1,2}'::int[])", ["1", "2"]), ("SELECT DISTINCT unnest('{1,1}'::int[]);", ["1"]),
    ("SELECT unnest('{1,2}'::int[]) AS a, unnest('{x}'::text[]) b ORDER BY a DESC", ["2 NULL", "1 x"]),
    ("SELECT 2 IN (SELECT unnest('{1,2}'::int[]))", ["t"]),
    ("SELECT * FROM (SELECT unnest('{1}'::int[]) UNION ALL SELECT unnest('{2}'::int[]))", ["1", "2"]),
    ("WITH x(a) AS (SELECT unnest('{5}'::int[])) SELECT a FROM x", ["5"]),
    ("SELECT count(*) FROM unnest('{1}'::int[]) LEFT JOIN (SELECT 1) ON false", ["1"]),
])
def test_spellings(client, sql, expected):
    if isinstance(expected, str):
        # What is named after its alias has that name alone, as in PostgreSQL; what stands to the left is no argument of a query.
        assert client.query(sql).state == expected, sql
    else:
        assert rows(client.query(sql)) == expected


@pytest.mark.parametrize("count", [2, 15, 16, 17, 18, 63, 100])
@pytest.mark.parametrize("how", ["literals", "select list", "parameters", "types in Parse"])
def test_many_side_by_side(client, table, count, how):
    """From the seventeenth constraint on SQLite looks at a table's rows again."""
    columns = ", ".join(f"c{number}" for number in range(count))
    client.query(f"DROP TABLE IF EXISTS wide; CREATE TABLE wide ({columns})").check()
    arrays = [f"{{{number},-{number}}}" if number % 5 else None for number in range(1, count + 1)]
    literals = ["NULL::int[]" if array is None else f"'{array}'::int[]" for array in arrays]
    numbers = range(1, count + 1)
    if how == "literals":
        reply = client.query(f"INSERT INTO wide SELECT * FROM unnest({', '.join(literals)})")
    elif how == "select list":
        reply = client.query(f"INSERT INTO wide SELECT {', '.join(f'unnest({array})' for array in literals)}")
    elif how == "parameters":
        reply = client.extended(f"INSERT INTO wide SELECT * FROM unnest({', '.join(f'${n}::int8[]' for n in numbers)})", arrays)
    else:
        sql = f"INSERT INTO wide SELECT * FROM unnest({', '.join(f'${n}' for n in numbers)}) AS x({columns})"
        reply = client.ask(wire.parse(sql, types=[1016] * count), wire.bind(arrays), wire.execute())
    assert reply.check().tag == "INSERT 0 2"
    found = client.query("SELECT * FROM wide ORDER BY c0 DESC").check().texts
    assert found == [tuple(None if n % 5 == 0 else str(sign * n) for n in numbers) for sign in (1, -1)]
    client.query("DROP TABLE wide").check()


@pytest.mark.parametrize("sql, state", [
    ("SELECT * FROM unnest()", "42883"), ("SELECT * FROM unnest('{\"a\":1}')", "42883"), ("SELECT * FROM unnest(x'5b5d')", "42883"), ("SELECT * FROM unnest(5)", "42883"), ("SELECT * FROM walpool_unnest_2('[[1],[2]]', 2)", "54000"), ("SELECT * FROM unnest('nonsense')", "22P02"), ("SELECT id, unnest('{1}'::int[]) FROM t", "42883"),
    ("SELECT unnest('{1}'::int[]) FROM t", "42883"), ("SELECT * FROM unnest('{1}'::int[]) AS x(a, b)", "42601"),
    ("SELECT * FROM unnest('{1'::int[])", "42601"), ("SELECT * FROM unnest(" + ", ".join(["'{1}'::int[]"] * 101) + ")", "54000"),
    ("SELECT * FROM unnest(" * 50 + "'{1}'::int[]" + ")" * 50, "42601")])
def test_what_is_none(client, table, sql, state):
    reply = client.query(sql)
    assert reply.state == state, reply.errors


@pytest.mark.parametrize("part, state", [
    ("SELECT * FROM unnest((SELECT 1 FROM ", "42601"), ("(SELECT unnest((SELECT 1) + ", "54001"), ("FROM unnest((", "42601"), ("unnest(", "54001")])
def test_calls_in_calls(client, part, state):
    """Each would be read to the end of the text. A text without a type is not looked at."""
    reply = client.query("SELECT '1'::int, " + part * (200_000 // len(part)))
    assert reply.state == state, reply.errors
    amplified = "SELECT '1'::int" + "+1" * 10_000
    for _ in range(9):
        amplified = f"SELECT 1 FROM unnest(({amplified}),)"
    assert client.query(amplified).state == "54001"
    reply = client.query("SELECT '1'::int FROM " + "unnest((SELECT x FROM " * 5_000 + "t" + "))::int[])" * 5_000)
    assert reply.state == "42601", reply.errors


def test_inserts(client, table):
    insert = "INSERT INTO t (id, v) SELECT * FROM unnest('{1,2}'::int8[], '{a,b}'::text[])"
    assert rows(client.query(insert + " RETURNING id, v")) == ["1 a", "2 b"]
    assert client.query(insert).state == "23505"
    assert client.query(insert + " ON CONFLICT DO NOTHING").check().tag == "INSERT 0 0"
    upsert = "INSERT INTO t SELECT unnest('{2,3}'::int[]), unnest('{B,C}'::text[]) ON CONFLICT (id) DO UPDATE SET v = excluded.v"
    assert client.query(upsert).check().tag == "INSERT 0 2"
    update = "UPDATE t SET v = x.v FROM unnest('{1,3}'::int[], '{eins,drei}'::text[]) AS x(id, v) WHERE t.id = x.id"
    assert client.query(update).check().tag == "UPDATE 2"
    assert rows(client.query("SELECT * FROM t ORDER BY id")) == ["1 eins", "2 B", "3 drei"]
    assert client.query("DELETE FROM t WHERE id IN (SELECT unnest('{1,2}'::int[]))").check().tag == "DELETE 2"


def test_many(client, table):
    """In time that grows with their number."""
    numbers = ",".join(map(str, range(30_000)))
    reply = client.extended("INSERT INTO t SELECT * FROM unnest($1::int8[], $2::text[])", ["{" + numbers + "}", "{" + numbers + "}"])
    assert reply.check().tag == "INSERT 0 30000"
    assert rows(client.query("SELECT count(*), sum(id = CAST(v AS INTEGER)) FROM t")) == ["30000 30000"]


@pytest.mark.parametrize("rows_, columns, size", [(100, 100, 100), (500, 20, 400), (10, 2, 100_000)])
@pytest.mark.optimised("500")
def test_memory_grows_with_what_is_sent(start_daemon, rows_, columns, size):
    """And not with that times the number of arrays. Each text has what is escaped in JSON."""
    # Several times what is sent, and less than half of that product where there are many arrays.
    client = start_daemon(config="statement_memory_limit_bytes = 33554432\n").client()
    arrays = ["{" + ",".join(f'"{number:04} \\"{index:03}{"x" * (size - 9)}"' for number in range(rows_)) + "}" for index in range(columns)]
    sql = f"SELECT count(*), {', '.join(f'sum(length(c{n}))' for n in range(columns))} FROM unnest(" + \
        ", ".join(f"${n + 1}::text[]" for n in range(columns)) + f") AS x({', '.join(f'c{n}' for n in range(columns))})"
    assert client.extended(sql, arrays).check().texts == [(str(rows_), *[str(rows_ * size)] * columns)]


def test_out_of_memory_is_of_the_statement(start_daemon):
    """What a transaction has done before stays, where SQLite keeps a statement's journal, as after any other error behind a savepoint."""
    daemon = start_daemon(config="statement_memory_limit_bytes = 8388608\n")
    client = daemon.client()
    client.query("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); BEGIN; INSERT INTO t VALUES (1, 'before'); SAVEPOINT s").check()
    # More than the limit by itself.
    failed = client.extended("INSERT INTO t SELECT 5, unnest FROM unnest($1::text[])", ["{" + ",".join(["x" * 1000] * 9_000) + "}"])
    assert failed.state == "53200", failed.errors
    client.query("ROLLBACK TO s; COMMIT").check()
    assert rows(client.query("SELECT id, v FROM t")) == ["1 before"]


def test_what_stands_behind_an_escape(client):
    texts = ['a"b\\c', "\n\t\x01", "ä€𝄞", "", "NULL", "[1]", "{}"]
    quoted = ",".join('"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in texts)
    reply = client.extended("SELECT a, b FROM unnest($1::text[], $1::text[]) AS x(a, b)", ["{" + quoted + "}"])
    assert reply.check().texts == [(text, text) for text in texts]
    assert [row[0] for row in client.extended("SELECT * FROM unnest($1::text[])", ["{" + quoted + "}"]).check().texts] == texts


def test_nested_ones_are_json(client):
    assert rows(client.query("SELECT json_array(unnest) FROM unnest('[[1, 2],{\"a\":3},\"[4]\"]')")) == ["[[1, 2]]", '[{"a":3}]', '["[4]"]']


@pytest.mark.parametrize("sql, types", [
    ("SELECT * FROM unnest($1::int8[], ($2)::varchar[])", [1016, 1015]),
])
def test_parameters(client, sql, types):
    reply = client.ask(wire.parse(sql), wire.describe_statement(), wire.bind(["{1,2}", "{a,b}"]), wire.execute())
    assert list(reply.of("t")[0].types) == types
    assert rows(reply) == ["1 a", "2 b"]


def test_a_table_of_that_name(shared, client):
    shared.run("CREATE TABLE unnest (unnest TEXT)", "INSERT INTO unnest VALUES ('mine')")
    try:
        assert rows(client.query("SELECT unnest FROM unnest WHERE '1'::int = 1")) == ["mine"]
        assert rows(client.query("SELECT unnest.unnest FROM unnest AS unnest WHERE '1'::int = 1")) == ["mine"]
        assert rows(client.query("SELECT * FROM unnest('{1,2}'::int[])")) == ["1", "2"]
    finally:
        shared.run("DROP TABLE unnest")


def test_interrupted(client):
    client.query("SET statement_timeout = '100ms'").check()
    array = "'{%s}'::int[]" % ",".join(map(str, range(3_000)))
    endless = f"SELECT count(*) FROM unnest({array}) a, unnest({array}) b, unnest({array}, '{{2}}'::int[]) c(x, y)"
    assert client.query(endless).state == "57014"
    assert rows(client.query("SELECT * FROM unnest('{1}'::int[])")) == ["1"]


def test_asyncpg(shared, table):
    shared.run("DROP TABLE IF EXISTS u", """CREATE TABLE u (
        id INTEGER PRIMARY KEY, v TEXT, n NUMERIC, f REAL, b BOOLEAN, d DATE, at TIMESTAMP, k UUID)""")
    values = [
        [1, 2, 3], ["a", 'b"\\', None], [decimal.Decimal("1.25"), None, decimal.Decimal("3")], [0.1, 1e300, None], [True, False, None],
        [datetime.date(2024, 1, 2), None, None], [datetime.datetime(2024, 1, 2, 3, 4, 5, 600000), None, None], [uuid.UUID(int=5), None, None]]
    types = ["int8", "text", "numeric", "float8", "bool", "date", "timestamp", "uuid"]

    async def run():
        connection = await asyncpg.connect(
            host=str(shared.directory), database=shared.name, user="tester", server_settings={"result_typing": "declared"})
        arrays = ", ".join(f"${index + 1}::{name}[]" for index, name in enumerate(types))
        assert await connection.execute(f"INSERT INTO u SELECT * FROM unnest({arrays})", *values) == "INSERT 0 3"
        found = [tuple(row) for row in await connection.fetch("SELECT * FROM u ORDER BY id")]
        assert found == list(zip(*values))
        await connection.close()

    asyncio.run(run())
    shared.run("DROP TABLE u")


@pytest.mark.parametrize("factory", [psycopg.Cursor, psycopg.ClientCursor])
def test_psycopg(shared, table, factory):
    """As Django's bulk_create has it."""
    with connect(shared, cursor_factory=factory, autocommit=True) as connection:
        sql = "INSERT INTO t (id, v) SELECT * FROM UNNEST((%s)::bigint[], (%s)::varchar[]) RETURNING t.id"
        assert connection.execute(sql, [[7, 8, 9], ["x", "it's", None]]).fetchall() == [(7,), (8,), (9,)]
        assert connection.execute("SELECT v FROM t ORDER BY id").fetchall() == [("x",), ("it's",), (None,)]
