"""What PostgreSQL calculates with dates and SQLite would answer wrongly: refused; what SQLite's programs write on purpose: not."""

import datetime
import uuid

import psycopg
import psycopg2
import psycopg2.extras
import pytest

import wire

REFUSED = [
    "now() - at < '-30 days'::interval", "'30 days'::interval < now() - at", "NOT (now() - at > '30 days'::interval)",
    "at - at < '1 day'::interval", "(at - at) >= ('1 day'::interval)", "at - at BETWEEN '1 day'::interval AND '2 days'::interval",
    "day > current_date + 30", "NOT day < current_date - 30", "at > current_date + 1", "day < date('now') - 7", "day < now() - 7",
    "at > (datetime('now')) - 1", "at > 1 + time('now')", "at > current_timestamp - 1", "day - date(at) > 3", "at > -(now() - 1)",
    "CAST(at AS date) < '2000-01-01'", "CAST(at AS timestamp) = at", "CAST(coalesce(at, day) AS TIMESTAMP(3) WITH TIME ZONE) > at",
    "CAST('1 day' AS interval) < at",
]
# To SQLite's CAST each of these is a number, too.
OTHER_CASTS = [
    "CAST('maybe' AS boolean)", "CAST('{' AS jsonb) = at", "CAST(at AS json) = at", "CAST('\\x6' AS bytea) = 'a'",
    "CAST('t' AS regclass) > 0", "CAST(id AS uuid) = id", "CAST(('true') AS boolean)", "NOT CAST('fal' || 'se' AS boolean)", "CAST(CAST('true' AS text) AS bool)", "CAST(at AS boolean)",
    "CAST(CASE WHEN id THEN 'true' ELSE 'f' END AS boolean)", "CAST(CASE WHEN id = 1 THEN 1 ELSE at END AS boolean)",
    "CAST('10.0.0.1' AS inet) = at", "CAST('{1,2}' AS int[]) = at", "CAST('{1,2}' AS integer ARRAY) = at", "CAST('{1}' AS _int8) = at",
    "CAST('{1}' AS double precision[]) = at", "CAST('{1}' AS numeric(10, 2)[]) = at", "CAST('a' AS name) = at", "CAST('d' AS regtype) = 0",
    "CAST('<a/>' AS xml) = at", "CAST('a=>1' AS hstore) = at", "CAST('$10' AS money) = at", "CAST('(1,2)' AS point) = at", "CAST('[1,2)' AS int4range) = at",
    "CAST('a' AS tsvector) = at", "CAST('10' AS cidr) = at",
]

TAKEN = [
    "at < date('now', '-30 days')", "julianday(now()) - julianday(at) >= 0", "unixepoch(at) - unixepoch(at) = 0",
    "strftime('%s', 'now') - strftime('%s', at) >= 0", "strftime('%Y', date('now')) - strftime('%Y', day) >= 0",
    "CAST(strftime('%s', at) AS INTEGER) + 1 > 0", "epoch - 30 < 100", "epoch - seconds = 0", "epoch > unixepoch('now') - 86400 * 365 * 99",
    "date(at, '+' || (3 - 1) || ' days') > day", "length(date(at)) - 10 = 0", "at < now() AND -1 < 0", "date = 3 - 1 OR date - 1 > 0",
    "CAST(NULL AS date) IS NULL", "CAST('true' AS boolean)", "NOT CAST('f' AS bool)", "CAST('{}' AS jsonb) = '{}'", "CAST('\\x61' AS bytea) = x'61'",
    "at > CAST('2000-01-01' AS timestamp) AND day > CAST('2000-01-01'::date AS date)", "CAST(1 AS boolean)", "NOT CAST(id - id AS bool)", "CAST(epoch AS NUMERIC) - 1 > 0",
    "CAST(CASE WHEN id = 1 THEN 1 ELSE 0 END AS boolean)", "CAST((CASE id WHEN 1 THEN id = 1 ELSE CASE WHEN id THEN 0 ELSE 1 END END) AS bool)",
    "CAST(EXISTS (SELECT 1) AS boolean)", "NOT CAST(NULL AS boolean) IS NOT NULL", "CAST(NULL AS inet) IS NULL", "CAST(at AS varchar(20)) = at",
    "CAST('{a}' AS text[]) = '{a}'", "CAST(n AS double precision) > 0", "CAST(id AS oid) = id", "CAST(n AS decimal(10, 2)) > 0",
    "CAST(id AS unsigned big int) = id", "CAST(n AS character varying(5)) = '1.5'", "(SELECT id AS name) = 1", "CAST(id AS INT) + (SELECT 0 AS point) = 1", "at IN (now(), -1) OR 1 - 0", "d.date - 1 < 3",
    "current_date || '-' || 3 > ''", "'now() - 1' <> ''", "CASE WHEN at < current_date THEN 1 ELSE 1 END - 1 = 0",
    "at < '2999-01-01'::date", "day >= '2000-01-01'::date AND day < date('now', '+1 day')", "json_extract(at, '$') IS NULL OR 1 - 1 = 0",
]


@pytest.fixture
def db(shared):
    shared.run("DROP TABLE IF EXISTS d; CREATE TABLE d (id INTEGER PRIMARY KEY, at DATETIME, day DATE, epoch DATETIME, seconds TIMESTAMP, date, n REAL, dur INTERVAL)")
    shared.run("INSERT INTO d VALUES (1, datetime('now'), date('now'), 1700000000, 1700000000, 2, 1.5, NULL)")
    return shared


@pytest.fixture
def connection(db):
    with psycopg.connect(host=str(db.directory), dbname=db.name, user="tester", autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize("condition", REFUSED)
def test_refused(db, connection, condition):
    with pytest.raises(psycopg.errors.FeatureNotSupported) as caught:
        connection.execute(f"DELETE FROM d WHERE {condition}", prepare=True)
    assert "date" in caught.value.diag.message_hint
    assert db.client().query(f"DELETE FROM d WHERE {condition}").state == "0A000"
    assert connection.execute("SELECT count(*) FROM d").fetchone() == (1,)


@pytest.mark.parametrize("condition", OTHER_CASTS)
def test_other_types(db, condition):
    refused = db.client().query(f"DELETE FROM d WHERE {condition}")
    assert refused.state == "0A000" and "makes a number" in refused.error["M"] and refused.error["H"]


@pytest.mark.parametrize("condition", [c for c in TAKEN if "json" not in c])
def test_taken(db, connection, condition):
    if "unixepoch" in condition and connection.execute("SELECT sqlite_version() < '3.38'").fetchone() == (1,):
        pytest.skip("unixepoch() is of SQLite 3.38")
    connection.execute(f"SELECT count(*) FROM d WHERE {condition}")
    assert db.client().query(f"SELECT count(*) FROM d WHERE {condition}").check()


@pytest.mark.parametrize("value", [
    datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2), datetime.time(1), datetime.timedelta(days=1), uuid.UUID(int=5)], ids=str)
@pytest.mark.parametrize("sql", [
    "DELETE FROM d WHERE id < {}", "DELETE FROM d WHERE NOT n > {}", "UPDATE d SET n = {}", "INSERT INTO d (id) VALUES ({})",
    "INSERT INTO d (n) SELECT {} WHERE 1", "DELETE FROM d WHERE id IN (7, {})"])
def test_columns_of_numbers(connection, sql, value):
    for place in ["%s", "%t", "%b"]:
        with pytest.raises(psycopg.errors.DatatypeMismatch):
            connection.execute(sql.format(place), [value])
    assert connection.execute("SELECT count(*) FROM d WHERE n = 1.5").fetchone() == (1,)


def test_columns_that_only_sqlite_calls_numbers(connection):
    for value in [datetime.timedelta(days=1), None]:
        connection.execute("UPDATE d SET dur = %s, n = %s::interval", [value, None])
        assert connection.execute("SELECT count(*) FROM d WHERE dur = %s", [value]).fetchone() == (0 if value is None else 1,)
    connection.execute("UPDATE d SET epoch = %s, seconds = %s", [datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2)])
    connection.execute("UPDATE d SET date = %s", [datetime.date(2024, 1, 2)])
    assert connection.execute("SELECT date FROM d WHERE date = %s", [datetime.date(2024, 1, 2)]).fetchone() == ("2024-01-02",)


@pytest.mark.parametrize("place", ["%s", "%t", "%b"])
def test_parameters_that_are_cast_to_boolean(connection, place):
    for value, truth in [("true", 1), ("f", 0), (True, 1), (False, 0), (None, None), (0, 0), (1, 1)]:
        assert connection.execute(f"SELECT CAST({place} AS boolean), {place}::boolean", [value, value]).fetchone() == (truth, truth), value
    for sql in ["SELECT CAST({} AS boolean)", "SELECT 1 WHERE CAST({} AS BOOL)"]:
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            connection.execute(sql.format(place), ["perhaps"])


def test_cast_to_boolean_is_told(db):
    with db.client() as client:
        reply = client.ask(wire.parse("SELECT CAST( $1 AS boolean ), $1"), wire.describe_statement()).check()
        assert reply.of("t")[0].types == [wire.BOOL]
        # What pgjdbc's setString() says of its values.
        reply = client.extended("SELECT CAST\n($1 AS boolean), $1::bool || ''", ["true"], types=[wire.VARCHAR])
        assert reply.texts == [("t", "1")]
        client.send(wire.terminate())
