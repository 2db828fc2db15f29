"""What result columns are announced as: before there is a row, with binary values, and by result_typing."""

import asyncio
import datetime
import decimal
import subprocess
import uuid

import asyncpg
import psycopg
import pytest

import wire
from types_fixtures import client, result_types  # noqa: F401 (fixtures)

BOOL, BYTEA, INT8, TEXT, FLOAT8 = 16, 17, 20, 25, 701

SCHEMA = """
    DROP VIEW IF EXISTS v; DROP TABLE IF EXISTS r; DROP TABLE IF EXISTS dated;
    CREATE TABLE r (id INTEGER PRIMARY KEY, n INTEGER, r REAL, t TEXT, b BLOB, f BOOLEAN, d NUMERIC, day DATE);
    INSERT INTO r VALUES (1, 10, 1.5, 'a', x'00', 1, 1.25, '2024-02-29'), (2, 20, 2.5, 'b', x'01', 0, 3, '2024-03-01');
    CREATE VIEW v AS SELECT t AS name, count(*) AS c, sum(n) AS s FROM r GROUP BY t;
    CREATE TABLE dated (id INTEGER PRIMARY KEY, day DATE, at TIMESTAMP, zoned TIMESTAMPTZ, clock TIME, d DECIMAL(10, 2),
                        u UUID, j JSON, jb JSONB);
    INSERT INTO dated VALUES
        (1, '2024-02-29', '2024-02-29 12:30:15.5', '2024-02-29T12:30:15+02:00', '23:59:59.999', 12.5,
         '6f1e3a52-0000-4000-8000-00000000000a', '{"a": [1, null]}', '[true]'),
        (2, '1999-12-31 00:00:00', '1999-12-31', '1999-12-31 23:00:00', '00:00', -1000000,
         '6F1E3A5200004000800000000000000B', '7', '"x"'),
        (3, '0001-01-01', '9999-12-31 23:59:59.999999', '0001-01-01 00:00:00Z', '12:00:00', '0.0001',
         x'6f1e3a5200004000800000000000000c', 'null', '{}'),
        (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
"""


@pytest.fixture
def db(shared):
    shared.run(SCHEMA)
    return shared


EXPRESSIONS = [
    ("count(*)", INT8), ("count(n)", INT8), ("sum(n)", INT8), ("sum(r)", FLOAT8), ("total(n)", FLOAT8), ("avg(n)", FLOAT8),
    ("max(n)", INT8), ("min(r)", FLOAT8), ("max(t)", TEXT), ("max(day)", TEXT), ("min(b)", BYTEA), ("group_concat(t)", TEXT),
    ("sum(n) + 1", INT8), ("sum(n) * 1.5", FLOAT8), ("sum(f)", INT8), ("count(*) > 1", BOOL), ("max(d)", FLOAT8),
]

ROW_EXPRESSIONS = [
    ("n + 1", INT8), ("n * r", FLOAT8), ("n / 2", INT8), ("n % 3", INT8), ("-n", INT8), ("n & 1", INT8), ("~n", INT8),
    ("t || n", TEXT), ("n > 1", BOOL), ("t IS NULL", BOOL), ("n IN (1, 2)", BOOL), ("t LIKE 'a%'", BOOL),
    ("CAST(n AS TEXT)", TEXT), ("CAST(t AS INTEGER)", INT8), ("CAST(n AS REAL)", FLOAT8), ("CAST(t AS BLOB)", BYTEA),
    ("CASE WHEN n > 10 THEN 'x' ELSE t END", TEXT), ("CASE n WHEN 1 THEN 2 ELSE r END", FLOAT8), ("coalesce(n, 0)", INT8),
    ("ifnull(t, 'none')", TEXT), ("coalesce(NULL, r)", FLOAT8), ("nullif(n, 10)", INT8), ("abs(n)", INT8), ("round(r)", FLOAT8),
    ("length(t)", INT8), ("upper(t)", TEXT), ("date(day)", TEXT), ("hex(b)", TEXT), ("(SELECT max(n) FROM r)", INT8),
    ("EXISTS (SELECT 1)", BOOL), ("row_number() OVER (ORDER BY n)", INT8), ("rank() OVER (ORDER BY t)", INT8),
    ("sum(n) OVER (ORDER BY id)", INT8), ("lag(t) OVER (ORDER BY id)", TEXT), ("first_value(r) OVER (ORDER BY id)", FLOAT8),
    ("avg(r) OVER ()", FLOAT8), ("1", INT8), ("1.5", FLOAT8), ("'x'", TEXT), ("x'00'", BYTEA), ("NULL", TEXT),
    ("max(n, 0)", INT8), ("min(n, id)", INT8), ("greatest(n, 15)", INT8), ("least(n, id, 5)", INT8), ("max(n - 1, 0)", INT8),
    ("max(r, 0.0)", FLOAT8), ("min(n, r)", FLOAT8), ("max(t, 'b')", TEXT), ("max(day, '2024-01-01')", TEXT), ("max(n, t)", TEXT),
    ("max(n, min(id, 5)) + 1", INT8), ("coalesce(max(n, id), 0)", INT8), ("max(b, x'00')", BYTEA), ("\"max\"(n, 0)", TEXT),
    ("rowid", INT8), ("iif(n > 1, n, 0)", INT8), ("f AND n", BOOL), ("strftime('%Y', day)", TEXT), ("-r", FLOAT8),
    ("-9223372036854775808", INT8), ("- 9223372036854775808", INT8), ("9223372036854775808", FLOAT8),
]


@pytest.mark.parametrize("expression, oid", EXPRESSIONS + ROW_EXPRESSIONS)
def test_described_before_there_is_a_row(client, expression, oid):
    sql = f"SELECT {expression} FROM r"
    assert result_types(client, sql) == [oid]
    # What was announced is what comes, in both formats.
    for format in [0, 1]:
        reply = client.ask(wire.parse(sql, name="s"), wire.describe_statement("s"),
                           wire.bind(statement="s", result_formats=[format]), wire.execute(), wire.close_statement("s"))
        assert reply.check().rows


def test_through_views_and_subqueries(client):
    assert result_types(client, "SELECT name, c, s, s + 1 FROM v") == [TEXT, INT8, INT8, INT8]
    assert result_types(client, "SELECT a, b FROM (SELECT n + 1 AS a, t || 'x' AS b FROM r ORDER BY n LIMIT 5)") == [INT8, TEXT]
    assert result_types(client, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 5) SELECT x FROM c") == [INT8]
    assert result_types(client, "SELECT n FROM r UNION ALL SELECT count(*) FROM r") == [INT8]
    assert result_types(client, "SELECT count(*), t FROM r GROUP BY t ORDER BY 1 DESC") == [INT8, TEXT]
    assert result_types(client, "VALUES (1, 'a', 1.5)") == [INT8, TEXT, FLOAT8]


def test_returning(client):
    for sql in ["INSERT INTO r (n, t, r) VALUES (1, 'x', 2.5) RETURNING id, n + 1, t || 'y', f, r * 2",
                "UPDATE r SET n = n + 1 RETURNING id, n + 1, t || 'y', f, r * 2",
                "DELETE FROM r RETURNING id, n + 1, t || 'y', f, r * 2"]:
        assert result_types(client, sql) == [INT8, INT8, TEXT, BOOL, FLOAT8], sql
        reply = client.ask(wire.parse(sql), wire.describe_statement(), wire.bind(result_formats=[1]), wire.execute()).check()
        assert len(reply.rows[0][1]) == 8


def test_returning_of_parameters(client):
    sql = "INSERT INTO r (n, r, t) VALUES ($1, $2, $3) RETURNING n + 1, r * 2, t || 'y', n, r"
    reply = client.ask(wire.parse(sql), wire.describe_statement(), wire.bind(["1", "2.5", "x"]), wire.execute()).check()
    assert [c.type for c in reply.of("T")[0].columns] == [INT8, FLOAT8, TEXT, INT8, FLOAT8]
    assert reply.texts == [("2", "5.0", "xy", "1", "2.5")]


@pytest.mark.parametrize("expression, oid", [
    ("$1::int4 + $2::int4", INT8), ("$1::INTEGER / $2::INTEGER", INT8), ("$1::int8 % $2", INT8), ("abs($1::int8)", INT8),
    ("nullif($1::int8, 0)", INT8), ("-$1::int8", INT8), ("max($1::int8, $2::int8)", INT8), ("max(n, $1::int8)", INT8),
    ("coalesce($1::int8 * 2, n)", INT8), ("sum($1::int8)", INT8), ("max($1::int8)", INT8),
    ("$1::float8 + $2::int4", FLOAT8), ("$1::int4 * 1.5", FLOAT8), ("$1 + $2", FLOAT8), ("$1::numeric + 1::int8", FLOAT8),
    ("$1::int8 + r", FLOAT8), ("$1::float8 + 1", FLOAT8), ("n + $1", INT8), ("$1 + 1", INT8), ("abs($1)", FLOAT8), ("nullif($1::text, '')", TEXT), ("max(t, $1::int8)", TEXT),
    ("least($1::INTEGER, b)", TEXT), ("coalesce(b, $1)", BYTEA), ("coalesce(n, $1)", INT8), ("coalesce(n, $1::float8)", FLOAT8),
])
def test_calculated_of_parameters(client, expression, oid):
    assert result_types(client, f"SELECT {expression} FROM r") == [oid]


def test_calculated_of_parameters_by_the_clients_types(client):
    def types(sql, given):
        return [c.type for c in client.ask(wire.parse(sql, types=given), wire.describe_statement()).check().of("T")[0].columns]

    for sql in ["SELECT $1 + $2 FROM r", "SELECT $1::int8 + $2::int8 FROM r"]:
        assert types(sql, [wire.INT4, wire.INT8]) == [INT8]
        assert types(sql, [wire.INT4, 701]) == [FLOAT8]
        reply = client.ask(wire.parse(sql, types=[wire.INT4, 701]), wire.describe_statement(), wire.bind(["1", "2.5"]), wire.execute()).check()
        assert {row[0] for row in reply.texts} == {"3.5"}
    given = [wire.INT4, 701, BOOL]
    assert [types("SELECT coalesce(n, $1) FROM r", [type]) for type in given] == [[INT8], [FLOAT8], [INT8]]
    counting = "WITH RECURSIVE c(n) AS (SELECT $1::INTEGER UNION ALL SELECT n + $2::INTEGER FROM c WHERE n < 5) SELECT n FROM c"
    reply = client.ask(wire.parse(counting), wire.describe_statement(), wire.bind(["1", "2"]), wire.execute()).check()
    assert [c.type for c in reply.of("T")[0].columns] == [INT8]
    assert reply.texts == [("1",), ("3",), ("5",)]


@pytest.mark.parametrize("sql, given", [
    ("SELECT $1 + $2::int2", "2"), ("SELECT n + $1 FROM r WHERE id = $2", "1"), ("SELECT coalesce($1 * 2, $2::int8)", "2")])
def test_what_is_told_as_an_integer_is_one_where_the_result_is(client, sql, given):
    """1.5 would be right for SQLite, and what is made of it no bigint. PostgreSQL refuses it."""
    reply = client.ask(wire.parse(sql), wire.describe_statement(), wire.bind(["1.5", given]), wire.execute())
    assert [c.type for c in reply.of("T")[0].columns] == [INT8]
    assert (reply.state, reply.texts) == ("22P02", [])
    assert client.ask(wire.parse(sql), wire.describe_statement(), wire.bind(["1", given]), wire.execute()).check().texts
    # What nobody was told of is what its first row says.
    reply = client.ask(wire.parse(sql), wire.bind(["1.5", given]), wire.describe_portal(), wire.execute()).check()
    assert [c.type for c in reply.of("T")[0].columns] == [FLOAT8]


@pytest.mark.parametrize("format", [0, 1])
def test_more_than_a_bigint_holds(client, format):
    most = "9223372036854775807"
    for sql, values in [("SELECT $1::int8 * $2::int8", [most, "2"]), ("SELECT n - $1::int8 FROM r WHERE id = 1", ["-" + most]),
                        ("SELECT -$1::int8 - $2::int8", [most, "2"])]:
        reply = client.ask(wire.parse(sql), wire.describe_statement(), wire.bind(values, result_formats=[format]), wire.execute())
        assert (reply.state, reply.error["M"]) == ("22003", "bigint out of range"), sql
    assert client.value(f"SELECT {most} * 2 > {most}") == "t"
    # That is in a row that can be mended, and not what was calculated.
    client.query("UPDATE r SET n = 1e30 WHERE id = 1").check()
    reply = client.extended("SELECT n FROM r", result_formats=[format])
    assert reply.state == "42804" and '"n" of table "r"' in reply.error["M"]


def test_asyncpg(db):
    async def work():
        connection = await asyncpg.connect(host=str(db.directory), database=db.name, user="tester")
        row = await connection.fetchrow(
            "SELECT count(*), sum(n), sum(r), avg(n), max(t), max(n) + 1, sum(n) / 4.0, count(*) FILTER (WHERE n > $1) FROM r", 15)
        assert tuple(row) == (2, 30, 4.0, 15.0, "b", 21, 7.5, 1)
        assert await connection.fetchval("SELECT sum(n) FROM r WHERE id < 0") is None
        assert tuple(await connection.fetchrow("INSERT INTO r (n, f, day) VALUES ($1, $2, $3) RETURNING id, n * 2, f, day",
                                               5, True, "2024-01-01")) == (3, 10, True, "2024-01-01")
        await connection.execute("SET result_typing = declared")
        id = uuid.UUID(int=77)
        moment = datetime.datetime(2024, 2, 29, 1, 2, 3, 456000)
        await connection.execute("INSERT INTO dated (id, day, at, d, u, j) VALUES (9, $1, $2, $3, $4, $5)",
                                 datetime.date(2024, 2, 29), moment, decimal.Decimal("1.25"), id, '{"a": 1}')
        got = await connection.fetchrow("SELECT day, at, d, u, j FROM dated WHERE day = $1 AND id = 9", datetime.date(2024, 2, 29))
        assert tuple(got) == (datetime.date(2024, 2, 29), moment, decimal.Decimal("1.25"), id, '{"a": 1}')
        await connection.close()

    asyncio.run(work())
    assert db.run("SELECT day, at, typeof(d), u FROM dated WHERE id = 9").texts == [
        ("2024-02-29", "2024-02-29 01:02:03.456000", "real", str(uuid.UUID(int=77)))]


# What is true or false


TRUTHS = ["n > 15", "NOT n", "n IS NULL", "n BETWEEN 1 AND 20 AND t IS NOT NULL", "EXISTS (SELECT 1 FROM r WHERE n = 0)", "n IN (10, 20)",
          "(n = 10)", "coalesce(n > 15, false)", "true", "CASE WHEN n > 15 THEN true WHEN n IS NULL THEN NULL ELSE t LIKE 'a%' END",
          "iif(n > 15, 1 = 1, false)", "max(n > 15, n < 5)", "t GLOB 'a*' COLLATE nocase", "'t'::boolean",
          # Of columns declared BOOLEAN.
          "coalesce(f, false)", "ifnull(f, n > 15)", "CASE WHEN n > 15 THEN f ELSE false END", "CASE WHEN n > 15 THEN NOT f ELSE f END",
          "coalesce((SELECT f FROM r WHERE id < 0), t LIKE 'a%')", "coalesce((SELECT max(f) FROM r), true)", "iif(n > 15, f, NULL)",
          "coalesce(f, EXISTS (SELECT 1), n IN (1, 2), n IS NULL)", "nullif(f, true)", "nullif(f, n > 15)", "nullif(n > 15, NULL)"]


@pytest.mark.parametrize("truth", TRUTHS)
def test_truths(client, db, truth):
    """In every protocol, wherever it stands in the list, and of what is written, too."""
    integer = [row[0] for row in client.query(f"SELECT ({truth}) + 0 FROM r ORDER BY id").check().texts]
    want = [{"1": "t", "0": "f", None: None}[value] for value in integer]
    for sql, at in [(f"SELECT {truth} FROM r ORDER BY id", 0), (f"SELECT *, {truth} AS x FROM r ORDER BY id", 8), (f"SELECT {truth} x, r.* FROM r ORDER BY id", 0),
                    (f"WITH c AS (SELECT 1) SELECT {truth} FROM r ORDER BY id", 0), (f"UPDATE r SET f = f RETURNING {truth}, *", 0)]:
        assert client.query(sql).check().of("T")[0].columns[at].type == BOOL
        assert [row[at] for row in client.query(sql).texts] == want, sql
        assert result_types(client, sql)[at] == BOOL
        reply = client.ask(wire.parse(sql), wire.bind(result_formats=[1] * len(result_types(client, sql))), wire.describe_portal(), wire.execute()).check()
        assert reply.of("T")[0].columns[at].type == BOOL
        assert [row[at] for row in reply.rows] == [{"t": b"\1", "f": b"\0", None: None}[value] for value in want]
    sql = f"SELECT {truth} AS x FROM r ORDER BY id"
    assert client.query(f"SET result_typing = text; {sql}").check().texts == [(value,) for value in integer]
    client.query("SET result_typing = stored; BEGIN").check()
    assert client.query(f"DECLARE c CURSOR FOR {sql}; FETCH ALL c; COMMIT").check().texts == [(value,) for value in want]
    client.send(wire.query(f"COPY ({sql}) TO STDOUT"))
    assert [each.body.decode() for each in client.receive_until("Z") if each.kind == "d"] == [f"{value or chr(92) + 'N'}\n" for value in integer]
    with psycopg.connect(host=str(db.directory), dbname=db.name, user="tester") as connection:
        for binary in [False, True]:
            assert connection.cursor(binary=binary).execute(sql).fetchall() == [({"t": True, "f": False, None: None}[value],) for value in want]


@pytest.mark.parametrize("integer", ["(n > 15) | 2", "(n > 15) + 1", "coalesce(n > 15, 2)", "~(n > 15)", "n IN (10) + 1", "n NOTNULL COLLATE nocase + 1",
                                     "sum(n > 15)", "CASE WHEN n THEN true ELSE 2 END", "-(n > 15)", "iif(n > 15, true, n)",
                                     "coalesce(f, 0)", "coalesce(f, n)", "CASE WHEN n > 15 THEN f ELSE 0 END", "coalesce(f, false) + 0", "max(f)",
                                     "coalesce(n, false)", "coalesce((SELECT 1), false)", "coalesce(id, f, false)",
                                     "nullif(f, 0)", "nullif(n, f)", "nullif(n, true)"])
def test_what_is_made_of_truths_are_integers(client, integer):
    sql = f"SELECT {integer} FROM r"
    assert result_types(client, sql) == [INT8]
    assert client.query(sql).check().of("T")[0].columns[0].type == INT8


def test_a_truth_that_is_given_back(client, db):
    with psycopg.connect(host=str(db.directory), dbname=db.name, user="tester") as connection:
        for binary in [False, True]:
            assert connection.cursor(binary=binary).execute("SELECT %s, %s::boolean, %s", [True, "f", 7]).fetchone() == (True, False, 7)
            rows = connection.cursor(binary=binary).execute("SELECT %s, n FROM r ORDER BY id LIMIT 2", [True]).fetchall()
            assert [row[0] for row in rows] == [True, True]
        with connection.cursor("named") as cursor:
            assert cursor.execute("SELECT %s, n > 15 FROM r WHERE n = 20", [False]).fetchall() == [(False, True)]

    async def work():
        connection = await asyncpg.connect(host=str(db.directory), database=db.name, user="tester")
        assert await connection.fetchval("SELECT $1::bool", True) is True
        assert await connection.fetchval("SELECT EXISTS (SELECT 1 FROM r WHERE n = $1)", 20) is True
        assert await connection.fetchval("SELECT n = $1 FROM r WHERE id = 1", 20) is False
        await connection.close()

    asyncio.run(work())
    client.query("PREPARE p (boolean) AS SELECT $1, n FROM r ORDER BY id LIMIT 1").check()
    for formats, want in [([], b"t"), ([1, 1], b"\1")]:
        reply = client.ask(wire.parse("EXECUTE p(true)"), wire.describe_statement(), wire.bind(result_formats=formats), wire.execute()).check()
        assert reply.of("T")[0].columns[0].type == BOOL
        assert reply.rows[0][0] == want
        reply = client.ask(wire.parse("EXECUTE p('f')"), wire.bind(result_formats=formats), wire.describe_portal(), wire.execute()).check()
        assert reply.of("T")[0].columns[0].type == BOOL
        assert reply.rows[0][0] in (b"f", b"\0")


# Table and column


def test_table_and_column_numbers(client, db):
    def numbers(sql):
        return [(c.table, c.attribute) for c in client.ask(wire.parse(sql), wire.describe_statement()).check().of("T")[0].columns]

    found = numbers("SELECT id, t, n + 1, day FROM r")
    table = found[0][0]
    assert 16384 <= table < 2**31
    assert found == [(table, 1), (table, 4), (0, 0), (table, 8)]
    assert numbers("SELECT T, id AS other FROM R AS x") == [(table, 4), (table, 1)]
    other = numbers("SELECT day FROM dated")[0][0]
    assert other not in (table, 0)
    db.run("DROP TABLE r", "CREATE TABLE r (t TEXT, id INTEGER PRIMARY KEY)")
    assert numbers("SELECT id, t FROM r") == [(table, 2), (table, 1)], "the table's number depends on its name alone"


# As declared

DECLARED = [1082, 1114, 1184, 1083, 1700, 2950, 114, 3802]


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_declared_types(db, binary):
    utc = datetime.timezone.utc
    with psycopg.connect(host=str(db.directory), dbname=db.name, user="tester", autocommit=True) as connection:
        cursor = connection.cursor(binary=binary).execute("SELECT * FROM dated ORDER BY id LIMIT 2")
        assert [c.type_code for c in cursor.description] == [INT8] + [TEXT] * 8
        connection.execute("SET result_typing = declared")
        cursor = connection.cursor(binary=binary).execute("SELECT * FROM dated ORDER BY id")
        assert [c.type_code for c in cursor.description] == [INT8] + DECLARED
        assert [str(id)[-2:] for (_, _, _, _, _, _, id, _, _) in cursor.fetchmany(3)] == ["0a", "0b", "0c"]
        assert cursor.fetchone() == (4, None, None, None, None, None, None, None, None)
        rows = connection.cursor(binary=binary).execute("SELECT day, at, zoned, clock, d, j, jb FROM dated ORDER BY id").fetchall()
    assert rows[0] == (
        datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30, 15, 500000),
        datetime.datetime(2024, 2, 29, 10, 30, 15, tzinfo=utc), datetime.time(23, 59, 59, 999000), decimal.Decimal("12.5"),
        {"a": [1, None]}, [True])
    assert rows[1] == (datetime.date(1999, 12, 31), datetime.datetime(1999, 12, 31),
                       datetime.datetime(1999, 12, 31, 23, tzinfo=utc), datetime.time(0), decimal.Decimal(-1000000), 7, "x")
    assert rows[2] == (datetime.date(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999999),
                       datetime.datetime(1, 1, 1, tzinfo=utc), datetime.time(12), decimal.Decimal("0.0001"), None, {})


@pytest.mark.parametrize("format", [0, 1])
@pytest.mark.parametrize(
    "column, value",
    [("day", "'2024-02-30'"), ("day", "20240229"), ("day", "'2024-02-29 01:00'"), ("at", "1709210000"), ("at", "'now'"),
     ("at", "2460370.5"), ("zoned", "'2024-02-29 25:00'"), ("clock", "'noon'"), ("d", "'12,5'"), ("d", "x'31'"), ("u", "'no uuid'"),
     ("u", "x'00'"), ("j", "x'7b7d'"),
     ("j", "'not json'"), ("j", "''"), ("j", "'{a,b}'")],
)
def test_a_value_that_is_no_such_thing(client, column, value, format):
    client.query(f"INSERT INTO dated (id, {column}) VALUES (77, {value})").check()
    client.query("SET result_typing = declared").check()
    reply = client.extended(f"SELECT {column}, id FROM dated ORDER BY id", result_formats=[format])
    assert reply.state == "42804"
    assert f'"{column}"' in reply.error["M"] and '"dated"' in reply.error["M"] and "rowid 77" in reply.error["D"]
    assert reply.error["t"] == "dated" and reply.error["c"] == column
    # As stored it is text, unless it is bytes.
    client.query("SET result_typing = stored").check()
    reply = client.extended(f"SELECT {column} FROM dated WHERE id = 77", result_formats=[format])
    if value.startswith("x'"):
        assert reply.state == "42804" and "holds a BLOB value that is no text" in reply.error["M"]
    else:
        assert reply.check().texts == [(value.strip("'"),)]


@pytest.mark.parametrize("format", [0, 1])
@pytest.mark.parametrize("zone", ["Z", "+00:00", " +00", "+02:00"])
def test_a_time_zone_in_a_column_without_one(client, zone, format):
    """Django's writes it, and would read another moment than it wrote."""
    client.query(f"INSERT INTO dated (id, at, zoned) VALUES (77, '2024-07-01 12:00:00{zone}', '2024-07-01 12:00:00{zone}')").check()
    client.query("SET result_typing = declared").check()
    reply = client.extended("SELECT at FROM dated WHERE id = 77", result_formats=[format])
    assert reply.state == "42804" and "TIMESTAMP WITH TIME ZONE" in reply.error["H"] and "CAST(at AS TEXT)" in reply.error["H"]
    assert client.extended("SELECT zoned FROM dated WHERE id = 77", result_formats=[format]).check().rows
    assert client.value("SELECT CAST(at AS TEXT) FROM dated WHERE id = 77") == f"2024-07-01 12:00:00{zone}"


@pytest.mark.parametrize("run", [dict(), dict(prepare=True), dict(binary=True)], ids=["simple", "extended", "binary"])
def test_what_comes_from_declared_columns_only(db, run):
    utc = datetime.timezone.utc
    with psycopg.connect(host=str(db.directory), dbname=db.name, user="tester", autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS keeps; CREATE TABLE keeps (id INTEGER PRIMARY KEY, at DATETIME, zoned TIMESTAMP WITH TIME ZONE, day DATE, d NUMERIC(10, 2), u UUID)")
        connection.execute("INSERT INTO keeps VALUES (1, '2024-01-02 03:04:05', '2024-01-02 03:04:05+00:00', '2024-01-02', 1.5, "
                           f"'{uuid.UUID(int=7)}'), (2, '2024-01-03 03:04:05', '2024-01-03 03:04:05+00:00', NULL, 2, NULL)")
        connection.execute("SET result_typing = declared")
        at, at2, day = datetime.datetime(2024, 1, 2, 3, 4, 5), datetime.datetime(2024, 1, 3, 3, 4, 5), datetime.date(2024, 1, 2)
        for sql, value in [
            ("SELECT max(at), min(at) FROM keeps", (at2, at)), ("SELECT max(zoned) FROM keeps", (at2.replace(tzinfo=utc),)),
            ("SELECT coalesce(day, NULL, day) FROM keeps WHERE id = 1", (day,)), ("SELECT CASE WHEN id = 1 THEN day END FROM keeps ORDER BY id", (day,)),
            ("SELECT iif(id = 2, NULL, u) FROM keeps ORDER BY id", (uuid.UUID(int=7),)), ("SELECT max(d), nullif(min(d), 9) FROM keeps", (decimal.Decimal(2), decimal.Decimal("1.5"))),
            ("SELECT id, max(at) FROM keeps GROUP BY id ORDER BY id", (1, at)), ("SELECT lag(at) OVER (ORDER BY id) FROM keeps ORDER BY id DESC", (at,)),
            ("SELECT (SELECT max(at) FROM keeps)", (at2,)), ("SELECT max(m) FROM (SELECT max(at) AS m FROM keeps GROUP BY id)", (at2,)),
            ("SELECT max(day) FROM keeps WHERE id > 5", (None,)),
            ("SELECT date_trunc('month', at) FROM keeps GROUP BY 1", (datetime.datetime(2024, 1, 1),)), ("SELECT date_trunc($1, max(zoned)) AS m FROM keeps".replace("$1", "'day'"), (datetime.datetime(2024, 1, 3, tzinfo=utc),)),
            ("SELECT DISTINCT date_trunc('year', day) FROM keeps WHERE day IS NOT NULL ORDER BY 1", (datetime.datetime(2024, 1, 1, tzinfo=utc),)), ("SELECT m FROM (SELECT date_trunc('hour', at) AS m FROM keeps) ORDER BY m", (datetime.datetime(2024, 1, 2, 3),)),
            ("SELECT date_trunc('day', day) FROM keeps WHERE id = 2", (None,)), ("SELECT date(max(at)), date(day) FROM keeps WHERE id = 1", (day, day)), ("SELECT d FROM (SELECT date(at) AS d FROM keeps) ORDER BY d", (day,)),
            # Not from such columns alone.
            ("SELECT coalesce(day, at) FROM keeps WHERE id = 1", ("2024-01-02",)), ("SELECT coalesce(at, 'never') FROM keeps WHERE id = 1", ("2024-01-02 03:04:05",)),
            ("SELECT max(date(at)) FROM keeps", ("2024-01-03",)), ("SELECT datetime(max(at)) FROM keeps", ("2024-01-03 03:04:05",)), ("SELECT date_trunc('month', '2024-01-02') FROM keeps", ("2024-01-01 00:00:00",)),
            ("SELECT date_trunc('month', at) || '' FROM keeps", ("2024-01-01 00:00:00",)), ("SELECT sum(d), max(d) + 1 FROM keeps", (3.5, 3)),
            ("SELECT CASE id WHEN 1 THEN id ELSE d END FROM keeps WHERE id = 1", (1,)),
        ]:
            got = connection.cursor(binary=run.get("binary", False)).execute(sql, prepare=run.get("prepare")).fetchone()
            assert got == value and [type(v) for v in got] == [type(v) for v in value], sql
        connection.execute("UPDATE keeps SET at = 7 WHERE id = 1")
        with pytest.raises(psycopg.errors.DatatypeMismatch, match=r"max\(at\)"):
            connection.cursor(binary=run.get("binary", False)).execute("SELECT max(at) FROM keeps WHERE id = 1", prepare=run.get("prepare"))
        connection.execute("SET result_typing = stored")
        assert connection.execute("SELECT max(at) FROM keeps").fetchone() == ("2024-01-03 03:04:05",)


@pytest.mark.parametrize("run", [dict(), dict(prepare=True), dict(binary=True)], ids=["simple", "extended", "binary"])
def test_the_time_of_now_as_declared(db, run):
    with psycopg.connect(host=str(db.directory), dbname=db.name, user="tester", autocommit=True) as connection:
        connection.execute("SET result_typing = declared")
        before = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
        cursor = connection.cursor(binary=run.get("binary", False))
        sql = "SELECT now(), CURRENT_TIMESTAMP, statement_timestamp() AS s, CURRENT_DATE, date(now())"
        *moments, day, day2 = cursor.execute(sql, prepare=run.get("prepare")).fetchone()
        after = datetime.datetime.now(datetime.timezone.utc)
        assert all(before <= moment <= after for moment in moments)
        assert before.date() <= day <= day2 <= after.date()
        moment, = cursor.execute("UPDATE r SET n = n WHERE id = 1 RETURNING now()").fetchone()
        assert before <= moment
        connection.execute("SET result_typing = stored")
        assert [type(value) for value in connection.execute(sql).fetchone()] == [str] * 5


def test_result_typing_setting(client):
    assert client.value("SHOW result_typing") == "stored"
    assert client.query("SET result_typing = other").state == "22023"
    client.query("SET result_typing = text").check()
    assert result_types(client, "SELECT id, n, f, day, count(*) OVER () FROM r") == [TEXT] * 5


def test_psql_with_declared_types(db):
    answer = subprocess.run(
        ["psql", "-X", "-A", "-t", "-h", db.directory, "-U", "tester", "-d", db.name, "-c", "SET result_typing = declared",
         "-c", "SELECT day, at, zoned, clock, d, u FROM dated WHERE id = 1"], stdout=subprocess.PIPE, check=True, text=True)
    assert answer.stdout.splitlines()[1] == (
        "2024-02-29|2024-02-29 12:30:15.500000|2024-02-29 10:30:15+00|23:59:59.999000|12.5|6f1e3a52-0000-4000-8000-00000000000a")


def test_a_number_in_a_json_column_keeps_its_digits(shared):
    shared.run("DROP TABLE IF EXISTS jn; CREATE TABLE jn (j JSON, jb JSONB)",
               "INSERT INTO jn VALUES (0.30000000000000004, 1e-7), (3, 9007199254740993)")
    with shared.client(result_typing="declared") as client:
        assert client.query("SELECT * FROM jn").texts == [("0.30000000000000004", "1e-07"), ("3", "9007199254740993")]
        reply = client.extended("SELECT jb FROM jn", result_formats=[1])
        assert reply.rows == [[b"\x011e-07"], [b"\x019007199254740993"]]
        client.send(wire.terminate())


@pytest.mark.parametrize("sql, types, rows", [
    ("SELECT n FROM r UNION ALL SELECT r FROM r ORDER BY 1", [FLOAT8], ["1.5", "2.5", "10", "20"]),
    ("SELECT r FROM r UNION ALL SELECT n FROM r ORDER BY 1", [FLOAT8], ["1.5", "2.5", "10", "20"]),
    ("SELECT n FROM r UNION ALL SELECT id FROM r ORDER BY 1", [INT8], ["1", "2", "10", "20"]),
    ("SELECT f FROM r UNION SELECT f FROM r ORDER BY 1", [BOOL], ["f", "t"]),
    ("SELECT t FROM r WHERE id = 1 UNION ALL SELECT n FROM r WHERE id = 1", [TEXT], ["a", "10"]),
    ("SELECT day FROM r WHERE id = 1 UNION ALL SELECT t FROM r WHERE id = 1", [TEXT], ["2024-02-29", "a"]),
    ("SELECT x FROM (SELECT n AS x FROM r UNION ALL SELECT r FROM r) ORDER BY 1", [FLOAT8], ["1.5", "2.5", "10", "20"]),
    ("SELECT 1 UNION ALL SELECT 2.5", [FLOAT8], ["1", "2.5"]),
    ("SELECT n IN (1, 10) * 0.5 FROM r ORDER BY 1", [FLOAT8], ["0.0", "0.5"]),
    ("SELECT n ISNULL || 'x' FROM r", [TEXT], ["0x", "0x"]), ("SELECT n NOT NULL || 'x' FROM r", [TEXT], ["1x", "1x"]),
    ("SELECT 1.5 + NOT n FROM r", [FLOAT8], ["1.5", "1.5"]), ("SELECT n IS NOT NULL FROM r", [BOOL], ["t", "t"]),
    ("SELECT CAST(5 AS '')", [FLOAT8], ["5"]), ("SELECT 6/*;", [INT8], ["6"]),
])
def test_several_selects_and_operators_behind_others(db, client, sql, types, rows):
    assert result_types(client, sql) == types
    for reply in [client.extended(sql), client.query(sql)]:
        assert [row[0] for row in reply.check().texts] == rows


@pytest.mark.parametrize("column, value, type", [("y", b"a", wire.BYTEA), ("flag", b"t", wire.BOOL)])
@pytest.mark.parametrize("sql", ["SELECT $1 AS o FROM bytes WHERE {} = $1", "INSERT INTO bytes ({}) VALUES ($1) RETURNING $1 AS o",
                                 "SELECT $1 AS o FROM bytes WHERE {} IN ($1, $2)"])
def test_a_parameter_that_comes_back_is_what_it_was_announced_as(db, sql, column, value, type):
    """No text could be made of bytes, and 1 is no truth."""
    with db.client() as client:
        client.query("BEGIN; CREATE TABLE bytes (y BLOB, flag BOOLEAN); INSERT INTO bytes VALUES (x'61', 1)").check()
        sent = client.ask(wire.parse(sql.format(column)), wire.describe_statement()).check()
        told = next(message.types for message in sent.messages if message.kind == "t")
        assert set(told) == {type}
        assert [each.type for message in sent.messages if message.kind == "T" for each in message.columns] == [type]
        reply = client.ask(wire.bind([value] * len(told)), wire.execute())
        assert reply.check().value == ("\\x61" if column == "y" else "t")
        reply = client.ask(wire.parse("SELECT $1 AS o, " + column + " = $1 FROM bytes"), wire.bind([None]), wire.describe_portal(), wire.execute()).check()
        assert reply.of("T")[0].columns[0].type == type
