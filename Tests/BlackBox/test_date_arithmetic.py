"""What PostgreSQL calculates with dates and SQLite would answer wrongly: refused; what SQLite's programs write on purpose: not."""

import datetime
import uuid

import psycopg
import psycopg2
import psycopg2.extras
import pytest

REFUSED = [
    "now() - at < '-30 days'::interval", "'30 days'::interval < now() - at", "NOT (now() - at > '30 days'::interval)",
    "at - at < '1 day'::interval", "(at - at) >= ('1 day'::interval)", "at - at BETWEEN '1 day'::interval AND '2 days'::interval",
    "day > current_date + 30", "NOT day < current_date - 30", "at > current_date + 1", "day < date('now') - 7", "day < now() - 7",
    "at > (datetime('now')) - 1", "at > 1 + time('now')", "at > current_timestamp - 1", "day - date(at) > 3", "at > -(now() - 1)",
    "CAST(at AS date) < '2000-01-01'", "CAST(at AS timestamp) = at", "CAST(coalesce(at, day) AS TIMESTAMP(3) WITH TIME ZONE) > at",
    "CAST('1 day' AS interval) < at", "CAST(id AS uuid) = id",
]
# To SQLite's CAST each of these is a number, too.
OTHER_CASTS = [
    "CAST('true' AS boolean)", "NOT CAST('f' AS bool)", "CAST('{}' AS jsonb) = at", "CAST(at AS json) = at", "CAST('\\x61' AS bytea) = 'a'",
    "CAST('t' AS regclass) > 0",
]

TAKEN = [
    "at < date('now', '-30 days')", "julianday(now()) - julianday(at) >= 0", "unixepoch(at) - unixepoch(at) = 0",
    "strftime('%s', 'now') - strftime('%s', at) >= 0", "strftime('%Y', date('now')) - strftime('%Y', day) >= 0",
    "CAST(strftime('%s', at) AS INTEGER) + 1 > 0", "epoch - 30 < 100", "epoch - seconds = 0", "epoch > unixepoch('now') - 86400 * 365 * 99",
    "date(at, '+' || (3 - 1) || ' days') > day", "length(date(at)) - 10 = 0", "at < now() AND -1 < 0", "date = 3 - 1 OR date - 1 > 0",
    "CAST(NULL AS date) IS NULL", "CAST(1 AS boolean)", "NOT CAST(id - id AS bool)", "CAST(epoch AS NUMERIC) - 1 > 0", "at IN (now(), -1) OR 1 - 0", "d.date - 1 < 3",
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
