"""What PostgreSQL's drivers write into a statement's text by themselves, and SQLite cannot read."""

import asyncio
import datetime
import decimal

import asyncpg
import psycopg
import pytest

import wire
from spelling_fixtures import connection, db, psycopg2_connection, ZONE  # noqa: F401 (fixtures)
from types_fixtures import client  # noqa: F401 (a fixture)


@pytest.mark.parametrize(
    "sql, value",
    [
        # pgjdbc in simple mode.
        ("SELECT typeof(('5'::int4))", "integer"),
        ("SELECT 7-('-5'::int4)", "12"),
        ("SELECT 7-'-5'::int4", "12"),
        ("SELECT typeof(('1.5'::double precision))", "real"),
        ("SELECT typeof('5'::float8)", "real"),
        ("SELECT typeof(5::float8)", "real"),
        ("SELECT 12::int8", "12"),
        ("SELECT coalesce((NULL::numeric), 1)", "1"),
        ("SELECT '2024-01-02 03:04:05+02'::timestamp with time zone", "2024-01-02 01:04:05+00:00"),
        ("SELECT '2024-01-02 03:04:05+02'::timestamp without time zone", "2024-01-02 03:04:05"),
        ("SELECT '2024-01-02 +02'::date", "2024-01-02"),
        ("SELECT 't'::bool", "t"),
        ("SELECT E'a\\\\b\\nc'", "a\\b\nc"),
        ("SELECT 'x'::varchar(10) AS c", "x"),
        ("SELECT '5.25'::NUMERIC(10, 2) + 1::numeric( 4 , 1 )", "6.25"),
        ("SELECT '6f1e3a52-0000-4000-8000-00000000000a'::uuid::UUID", "6f1e3a52-0000-4000-8000-00000000000a"),
        ("SELECT typeof('7'::text::int8) || 'x'::text::varchar || 'y'::varchar::text", "integerxy"),
        ("SELECT '2024-05-06'::date::text || '[1]'::json::text", "2024-05-06[1]"),
        # Django, of a column beside LIKE.
        ("SELECT c.\"a b\"::text LIKE 'X%' FROM (SELECT 'xyz' AS \"a b\") AS c", "t"),
        ("SELECT upper(c.name::text) || id::varchar || c.id::character varying FROM (SELECT 'x' AS name, 7 AS id) AS c", "X77"),
        ("SELECT s.name FROM (SELECT c.name::text, 1 FROM (SELECT 'x' AS name) AS c) AS s", "x"),
        ("WITH s AS (SELECT name::text FROM (SELECT 'x' AS name)) SELECT name FROM s", "x"),
        ("SELECT typeof(id::text::varchar) FROM (SELECT 7 AS id)", "text"),
        # SQLAlchemy, of an offset without a limit.
        ("SELECT x FROM (SELECT 1 AS x UNION SELECT 2)\n LIMIT ALL OFFSET 1", "2"),
        ("SELECT count(*) FROM (SELECT 1 AS x UNION SELECT 2 limit  all)", "2"),
        ("SELECT max(x) FROM (SELECT 1 AS x UNION SELECT 2 ORDER BY x LIMIT ALL)", "2"),
        # The parentheses of a call are no others.
        ("SELECT julianday('2024-05-06'::date) - julianday('2024-05-01'::date)", "5.0"),
        ("SELECT 2 * length(('2024-05-06'::date)) + (length('2024-05-06'::date))", "30"),
        ("SELECT count(*) FROM s WHERE t <> ALL ('{1}'::text[])", "2"),
        ("SELECT count(*) FROM s WHERE id = ANY (ARRAY[id = ANY (SELECT 1), 7])", "1"),
        ("SELECT '2024-05-06'::date < '2024-05-07'::date", "t"),
        # Nothing is true of an array that is NULL, but for an empty one everything is.
        ("SELECT count(*) FROM s WHERE id <> ALL (NULL)", "0"),
        ("SELECT count(*) FROM s WHERE id <> ALL (NULL::int8[])", "0"),
        ("SELECT count(*) FROM s WHERE id <> ALL ((SELECT NULL))", "0"),
        ("SELECT count(*) FROM s WHERE id <> ALL ('{}'::int8[])", "3"),
        ("SELECT count(*) FROM s WHERE id <> ALL ('{1,2}'::int8[]) AND (id) <> ALL (ARRAY[1])", "1"),
        ("SELECT count(*) FROM s WHERE NOT id = ANY (NULL)", "0"),
        ("SELECT count(*) FROM s WHERE (id = ANY (NULL::int8[])) IS NULL", "3"),
        ("SELECT count(*) FROM s WHERE NOT id = ANY ('{}'::int8[])", "3"),
        # Lists without a type.
        ("SELECT count(*) FROM s WHERE t = ANY ('{a,\"b c\",z}')", "2"),
        ("SELECT count(*) FROM s WHERE id <> ALL (E'{1,3}')", "1"),
        ("SELECT count(*) FROM s WHERE t = ANY ('[\"a\"]')", "1"),
        ("SELECT x'61' = ANY ('{\"\\\\x61\",NULL}'::bytea[])", "t"),
        ("SELECT x'62' <> ALL (E'{\"\\\\\\\\x61\"}'::bytea[])", "t"),
        # Reals with all their digits.
        ("SELECT 0.1 + 0.2 = ANY (ARRAY[0.30000000000000004, 1])", "t"),
        ("SELECT 0.1 + 0.2 <> ALL (ARRAY[ 0.30000000000000004 ]::float8[] )", "f"),
        ("SELECT 9e999 = ANY (ARRAY['Infinity'::float])", "t"),
        ("SELECT x'61' = ANY (ARRAY['\\x61'::bytea])", "t"),
        ("SELECT count(*) FROM s WHERE id <> ALL (ARRAY[]::int8[])", "3"),
        ("SELECT count(*) FROM s WHERE id = ANY (ARRAY[1, 3]) AND t = ANY (ARRAY['a', 'b c'])", "1"),
        ("SELECT ARRAY[0.30000000000000004, -0.1, 1, '0.5', '1.5'::float8, 7::int8, 2 * 0.5]", '[0.30000000000000004,-0.1,1,"0.5",1.5,7,1.0]'),
        ("SELECT ARRAY[ARRAY[0.30000000000000004], 1e3]", "[[0.30000000000000004],1000.0]"),
        ("SELECT ARRAY['-Infinity'::float8]", "[-9e999]"),
        # Not what it looks like.
        ("SELECT 'a::int8'", "a::int8"),
        ("SELECT '''::int8'", "'::int8"),
        ("SELECT 1 -- '5'::int4", "1"),
        ('SELECT 1 AS "E\'x\'"', "1"),
        ("SELECT [t] FROM s WHERE id = 1", "a"),
        ("SELECT count(*) FROM s WHERE id = (SELECT max(id) FROM s) OR id = ANY (SELECT id FROM s)", "3"),
        ("SELECT count(*) FROM s WHERE (id, 1) = ANY (VALUES (1, 1))", "1"),
        ("SELECT count(*) FROM s WHERE (id = ANY (ARRAY[1, (2)]))", "2"),
    ],
)
def test_spellings(client, sql, value):
    for _ in range(2):
        assert client.query(sql).check().value == value
    assert client.extended(sql).check().value == value


def test_unequal_to_all_compares_as_equal_to_any_does(client):
    for array in [b"{1}", b"{9}"]:
        for place in ["$1", "$1::int8[]", "$1::text[]"]:
            equal = client.extended(f"SELECT count(*) FROM s WHERE t = ANY({place})", [array]).check().value
            unequal = client.extended(f"SELECT count(*) FROM s WHERE t <> ALL({place})", [array]).check().value
            assert int(equal) + int(unequal) == 3, (array, place)


@pytest.mark.parametrize("value, count", [(None, "0"), (b"{}", "3"), (b"{1,2}", "1"), (b"{3}", "2")])
@pytest.mark.parametrize("place", ["$1", "$1::int8[]"])
def test_unequal_to_all_of_a_parameter(client, place, value, count):
    assert client.extended(f"SELECT count(*) FROM s WHERE NOT id = ANY({place})", [value]).check().value == count
    assert client.extended(f"SELECT count(*) FROM s WHERE id <> ALL({place})", [value]).check().value == count


# To SQLite a date is a number up to its first dash: '2024-05-06' - 'P1D' is 2024.
@pytest.mark.parametrize(
    "sql, value", [
        ("SELECT datetime('now') - {}", datetime.timedelta(days=1)), ("SELECT {} + at FROM moments", datetime.timedelta(days=1)),
        ("DELETE FROM moments WHERE at > datetime('now') - ({})", datetime.timedelta(days=1)),
        ("SELECT {} - at FROM moments", datetime.datetime(2024, 1, 2)), ("SELECT at + {} FROM moments", datetime.date(2024, 1, 2)),
        ("SELECT {} - at FROM moments", datetime.datetime(2024, 1, 2, tzinfo=ZONE)), ("SELECT -{}", datetime.timedelta(days=1)),
        ("SELECT 2 * {}", datetime.timedelta(days=1))])
def test_nobody_calculates_with_dates(db, connection, sql, value):
    connection.execute("CREATE TABLE IF NOT EXISTS moments (at TIMESTAMP)")
    connection.execute("DELETE FROM moments")
    connection.execute("INSERT INTO moments VALUES (%s)", [datetime.datetime(2020, 1, 2)])
    for place in ["%s", "%t", "%b"]:
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="calculates with numbers"):
            connection.execute(sql.format(place), [value])
    with psycopg.ClientCursor(connection) as cursor, pytest.raises(psycopg.errors.FeatureNotSupported) as caught:
        cursor.execute(sql.format("%s"), [value])
    assert "datetime(x, '-1 day')" in caught.value.diag.message_hint
    assert connection.execute("SELECT count(*) FROM moments").fetchone() == (1,)
    # NULL is nobody's number.
    assert connection.execute("SELECT 1 - %s::interval", [None]).fetchone() == (None,)


@pytest.mark.parametrize(
    "sql", ["SELECT $1::NUMERIC(10, 2)", "SELECT $1::NUMERIC( 10 ,2 )", "WITH a AS (SELECT $1::NUMERIC(10, 2) AS n) SELECT n FROM a",
            "SELECT max($1::NUMERIC(10, 2), $1)", "SELECT value FROM json_each(json_array($1::numeric(10, 2)))"])
def test_modifiers_with_spaces(client, sql):
    reply = client.extended(sql, [b"5.25"])
    assert reply.check().value == "5.25"
    assert client.query(f"PREPARE p AS {sql}; EXECUTE p (5.25); DEALLOCATE p").check().texts == [("5.25",)]


def test_modifiers_with_spaces_and_binary_numbers(db):
    async def work():
        connection = await asyncpg.connect(host=str(db.directory), database=db.name, user="tester")
        await connection.execute("CREATE TABLE IF NOT EXISTS price (id INTEGER PRIMARY KEY, amount NUMERIC(10, 2))")
        insert = "INSERT INTO price (amount) VALUES ($1::NUMERIC(10, 2)) RETURNING typeof(amount) || ' ' || amount"
        assert await connection.fetchval(insert, decimal.Decimal("12.34")) == "real 12.34"
        assert await connection.fetchval(insert, decimal.Decimal("7")) == "integer 7"
        await connection.close()

    asyncio.run(work())


@pytest.mark.parametrize("sql, state", [
    ("SELECT $1::NUMERIC(10, x)", "42601"), ("SELECT $1::nothing(10, 2)", "42601"), ("SELECT $1::interval (10, 2)", "42601"),
    ("SELECT t::int8 FROM s", "42601"), ("SELECT 'x'::int8", "42601"), ("SELECT 'x'::date", "42601"), ("SELECT 'x'::nothing", "42601"),
    ("SELECT 't'::bool::text", "42601"), ("SELECT '1.50'::numeric::text", "42601"),
    ("SELECT E'\\x41'", "42601"), ("SELECT E'a\\'b'", "42601"), ("SELECT ARRAY[1, 2", "42601"),
    # No number that SQLite has.
    ("SELECT 'NaN'::float8", "22003"),
    # Of a type that nothing here calculates with.
    ("SELECT now() - (('1 day'::interval))", "0A000"), ("SELECT 1 + ('2024-05-06'::date)", "0A000"),
    ("SELECT (('2024-05-06'::date)) - 1", "0A000"), ("SELECT 1 + (SELECT '2024-01-02'::date)", "0A000"),
])
def test_what_is_not_understood_is_refused(client, sql, state):
    assert client.query(sql).state == state


@pytest.fixture
def dated(client):
    client.query("DROP TABLE IF EXISTS dated; CREATE TABLE dated (id INTEGER PRIMARY KEY, date DATE, at TIMESTAMP DEFAULT 'never', n DEFAULT 7)").check()
    client.query("INSERT INTO dated (date, at) VALUES (DATE '2024-01-02', TIMESTAMP '2024-01-02 03:04:05'), ('2024-01-03', '2024-01-03 03:04:05')").check()
    return client


@pytest.mark.parametrize(
    "sql, want",
    [
        ("SELECT id FROM dated WHERE date = DATE '2024-01-02'", [("1",)]),
        ("SELECT id FROM dated WHERE at > timestamp '2024-01-02 03:04:05' AND (date >= (date '2024-01-03'))", [("2",)]),
        ("SELECT DATE '2024-01-02', TIME '03:04:05'", [("2024-01-02", "03:04:05")]),
        ("SELECT id, DATE '2024-01-02' AS d FROM dated LIMIT 1", [("1", "2024-01-02")]),
        ("SELECT id FROM dated WHERE id = ANY (('{\"x\"}'))", []),
        ("SELECT id FROM dated WHERE date = ANY (('{\"2024-01-03\"}'))", [("2",)]),
    ],
)
def test_literals_behind_their_type(dated, sql, want):
    assert dated.query(sql).check().texts == want


def test_a_column_called_date(dated):
    """In a select list SQLite takes the string for the column's new name."""
    reply = dated.query("SELECT date '2024-05-06' FROM dated WHERE id = 1").check()
    assert reply.texts == [("2024-01-02",)] and reply.of("T")[0].columns[0].name == "2024-05-06"
    assert dated.query("SELECT id FROM dated WHERE date = DATE 'yesterday'").state == "42601"
    assert dated.query("SELECT id FROM dated WHERE date = DATE '2024-01-03' - 1").state == "0A000"


def test_default_as_a_value(dated):
    """As Drizzle and TypeORM write what was left out."""
    insert = "insert into dated (id, date, at, n) values (default, $1, default, $2) returning id, at, n"
    assert dated.extended(insert, ["2024-01-04", "1"], types=[0, 20]).check().texts == [("3", "never", "1")]
    rows = "INSERT INTO dated (id, date, n) VALUES (DEFAULT, '2024-01-05', DEFAULT), (DEFAULT, '2024-01-06', DEFAULT) RETURNING id, n"
    assert dated.query(rows).check().texts == [("4", "7"), ("5", "7")]
    assert dated.query("INSERT INTO dated (id) VALUES (DEFAULT) RETURNING id, date").check().texts == [("6", None)]
    assert dated.query("INSERT INTO dated(id) VALUES(DEFAULT)RETURNING id, date").check().texts == [("7", None)]
    assert dated.query("INSERT INTO dated(id) VALUES (DEFAULT) ON CONFLICT DO NOTHING").state == "0A000"
    for refused in ["INSERT INTO dated VALUES (DEFAULT, '2024-01-07', 'x', 1)", "INSERT INTO dated (n) VALUES (DEFAULT), (1)"]:
        reply = dated.query(refused)
        assert reply.state == "0A000" and reply.error["H"]
    # One with a comma too many ended the daemon.
    for names, values in [("id, n", ", DEFAULT"), ("id, n", "DEFAULT,"), ("id,", "DEFAULT, DEFAULT"), (", n", "DEFAULT, 1"), ("", "DEFAULT"),
                          ("id, n", "1, , DEFAULT"), (",", "DEFAULT,"), ("id, n,", "1, DEFAULT,")]:
        assert dated.query(f"INSERT INTO dated ({names}) VALUES ({values})").state == "42601", (names, values)


def test_explained_statements_are_spelt_as_those_that_run(client, connection, psycopg2_connection):
    """What runs can be explained, by drivers that write values into the text, too."""
    for sql in ["SELECT * FROM s WHERE t < '2024-01-02'::date", "SELECT * FROM s WHERE id = ANY (ARRAY[1, 2])", "SELECT E'a\\\\b'",
                "SELECT * FROM s WHERE id = ANY ($1)", "SELECT $1::timestamp with time zone", "SELECT CAST($1 AS boolean)",
                "INSERT INTO s (id, v) VALUES (DEFAULT, 'x'::text)", "SELECT DATE '2024-01-02', 1"]:
        for explain in ["EXPLAIN ", "explain query plan ", "EXPLAIN /* why */ QUERY -- not\n PLAN "]:
            if "$1" in sql:
                client.ask(wire.parse(explain + sql), wire.bind([None]), wire.execute()).check()
            else:
                client.query(explain + sql).check()
    for refused in ["EXPLAIN SELECT now() - at FROM s", "EXPLAIN SELECT CAST('x' AS date)", "EXPLAIN SELECT CAST(t AS date) FROM s"]:
        assert client.query(refused).state == "0A000"
    assert client.query("EXPLAIN EXPLAIN SELECT 1").state == "42601"
    assert client.query("EXPLAIN").state == "42601"
    for cursor in [psycopg2_connection.cursor(), psycopg.ClientCursor(connection)]:
        cursor.execute("EXPLAIN QUERY PLAN SELECT * FROM s WHERE t = ANY (%s) AND v < %s AND v <> %s",
                       [["a"], datetime.date(2024, 1, 2), b"\0"])
        assert any("SCAN" in str(row) for row in cursor.fetchall())


@pytest.mark.parametrize("cast", ['\'true\' AS "boolean"', '\'2024-01-02\' AS "date"', "'2024-01-02' AS [Date]", "CAST(t AS \"TEXT\") AS boolean",
                                  "?1 AS boolean", "'x' AS 'json'", "$1 AS bool[]", "$1 AS boolean[]", "1 AS bool []"])
def test_casts_to_quoted_types_are_casts(client, cast):
    assert client.ask(wire.parse(f"SELECT CAST({cast}) FROM s")).state == "0A000"


@pytest.mark.parametrize("literal", [
    "'32768'::int2", "'2147483648'::int4", "'1e39'::float4", "'12:00:00+01:02:03'::timetz", "'soon'::time with time zone", "'{'::jsonb"])
def test_literals_that_are_none_of_their_type(client, literal):
    """As a parameter of that type they are refused, too."""
    assert client.query(f"SELECT {literal}").state == "42601"


def test_definitions_stay_as_they_were_written(client):
    client.query("DROP TABLE IF EXISTS sd").check()
    assert client.query("CREATE TABLE sd (a TEXT CHECK (a <> 'x'::text))").state == "42601"
