"""psycopg 3, used the way people use it."""

import datetime
import ipaddress
import decimal
import uuid

import psycopg
import pytest
from psycopg import errors
from psycopg.rows import dict_row, scalar_row

from psycopg_fixtures import auto, conn, connect, db, ENDLESS, opened  # noqa: F401 (fixtures)


# Transactions


def test_default_transaction(conn, auto):
    conn.execute("INSERT INTO t (v) VALUES (%s)", ["x"])
    assert conn.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
    assert auto.execute("SELECT count(*) FROM t").fetchone() == (0,)
    conn.commit()
    assert auto.execute("SELECT v FROM t").fetchall() == [("x",)]
    conn.execute("DELETE FROM t")
    conn.rollback()
    assert auto.execute("SELECT count(*) FROM t").fetchone() == (1,)


def test_many_that_have_only_read(opened, db):
    """Each has an open transaction around its SELECT, and none of them holds anything."""
    readers = [opened() for _ in range(20)]
    writer = opened()
    for reader in readers:
        assert reader.execute("SELECT count(*) FROM t").fetchone() == (0,)
    writer.execute("INSERT INTO t (v) VALUES ('x')")
    writer.commit()
    for reader in readers:
        assert reader.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        assert reader.execute("SELECT count(*) FROM t").fetchone() == (1,)


def test_context_manager(shared, db):
    with connect(shared) as conn:
        conn.execute("INSERT INTO t (v) VALUES ('kept')")
    with pytest.raises(ZeroDivisionError):
        with connect(shared) as conn:
            conn.execute("INSERT INTO t (v) VALUES ('lost')")
            1 / 0
    assert shared.run("SELECT v FROM t").texts == [("kept",)]


def test_failed_transaction(conn):
    with pytest.raises(errors.UndefinedTable):
        conn.execute("SELECT * FROM nowhere")
    assert conn.info.transaction_status == psycopg.pq.TransactionStatus.INERROR
    with pytest.raises(errors.InFailedSqlTransaction):
        conn.execute("SELECT 1")
    conn.rollback()
    assert conn.execute("SELECT 1").fetchone() == (1,)


def test_nested_transactions(conn, auto):
    with conn.transaction():
        conn.execute("INSERT INTO t (id) VALUES (1)")
        with pytest.raises(errors.UniqueViolation):
            with conn.transaction():
                conn.execute("INSERT INTO t (id) VALUES (2)")
                conn.execute("INSERT INTO t (id) VALUES (1)")
        with conn.transaction() as inner:
            conn.execute("INSERT INTO t (id) VALUES (3)")
            raise psycopg.Rollback(inner)
        with conn.transaction(savepoint_name="named"):
            conn.execute("INSERT INTO t (id) VALUES (4)")
    assert auto.execute("SELECT id FROM t ORDER BY id").fetchall() == [(1,), (4,)]


@pytest.mark.parametrize("level", list(psycopg.IsolationLevel))
def test_isolation_levels(conn, auto, level):
    conn.isolation_level = level
    assert conn.execute("SELECT count(*) FROM t").fetchone() == (0,)
    auto.execute("INSERT INTO t (v) VALUES ('x')")
    is_pinned = level in (psycopg.IsolationLevel.REPEATABLE_READ, psycopg.IsolationLevel.SERIALIZABLE)
    assert conn.execute("SELECT count(*) FROM t").fetchone() == (0 if is_pinned else 1,)
    if is_pinned:
        with pytest.raises(errors.SerializationFailure):
            conn.execute("INSERT INTO t (v) VALUES ('y')")
    conn.rollback()


def test_read_only_and_deferrable(conn):
    conn.read_only = True
    conn.deferrable = True
    assert conn.execute("SELECT count(*) FROM t").fetchone() == (0,)
    with pytest.raises(errors.ReadOnlySqlTransaction):
        conn.execute("INSERT INTO t (v) VALUES ('x')")
    conn.rollback()
    # SQLAlchemy asks, for asyncpg and pg8000. Nothing waits for it here.
    assert conn.execute("SHOW transaction_deferrable").fetchone() == ("off",)


# Values


VALUES = [0, 1, -1, 32767, 32768, 2**31 - 1, 2**31, -(2**63), 2**63 - 1, 0.0, 0.1, -1.5e300, 5e-324, float("inf"), "",
          "text", "quote ' and \" and \\ and %", "ünïcödé \U0001f600", "line\nbreak", b"", b"\x00\xff" * 10, None]


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_through_untyped_columns(opened, db, value, binary):
    # psycopg sends strings without a type, and a column without one does not say what they are.
    auto = opened(autocommit=True, options="-c untyped_parameters=text")
    auto.execute("CREATE TABLE IF NOT EXISTS anything (x)")
    auto.execute("DELETE FROM anything")
    auto.execute("INSERT INTO anything VALUES (%s)", [value])
    with auto.cursor(binary=binary) as cursor:
        (got,) = cursor.execute("SELECT x FROM anything").fetchone()
    assert got == value and type(got) is type(value)


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
@pytest.mark.parametrize("parameter", ["%s", "%t", "%b"])
def test_values_through_typed_columns(opened, db, parameter, binary):
    auto = opened(autocommit=True)
    auto.execute("DROP TABLE IF EXISTS typed")
    auto.execute("CREATE TABLE typed (i INTEGER, r REAL, b BOOLEAN, t TEXT, x BLOB)")
    rows = [(1, 1.5, True, "a", b"\x00"), (-(2**62), -0.0, False, "é", b"bytes"), (None, None, None, None, None)]
    with auto.cursor(binary=binary) as cursor:
        for row in rows:
            cursor.execute(f"INSERT INTO typed VALUES ({', '.join([parameter] * 5)})", row)
        assert cursor.execute("SELECT * FROM typed ORDER BY rowid").fetchall() == rows
        assert cursor.execute("SELECT group_concat(typeof(i) || typeof(r) || typeof(b) || typeof(t) || typeof(x)) FROM typed"
                              " WHERE i IS NOT NULL").fetchone() == ("integerrealintegertextblob,integerrealintegertextblob",)


def test_decimals(auto):
    auto.execute("DROP TABLE IF EXISTS money")
    auto.execute("CREATE TABLE money (id INTEGER PRIMARY KEY, amount NUMERIC(10, 2))")
    for id, amount in enumerate(["0.99", "12345678.90", "-0.01", "100"]):
        auto.execute("INSERT INTO money VALUES (%s, %s)", [id, decimal.Decimal(amount)])
    values = [decimal.Decimal(str(row[0])) for row in auto.execute("SELECT amount FROM money ORDER BY id")]
    assert values == [decimal.Decimal(x) for x in ["0.99", "12345678.9", "-0.01", "100"]]
    assert auto.execute("SELECT count(*) FROM money WHERE amount = %s", [decimal.Decimal("0.99")]).fetchone() == (1,)
    assert auto.execute("SELECT count(*) FROM money WHERE amount > %s", [decimal.Decimal("1")]).fetchone() == (2,)


def test_dates_and_others_as_text(auto):
    auto.execute("CREATE TABLE IF NOT EXISTS events (d DATE, ts TIMESTAMP, u TEXT)")
    auto.execute("DELETE FROM events")
    day, moment, id = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30, 15), uuid.UUID(int=7)
    auto.execute("INSERT INTO events VALUES (%t, %t, %t)", [day, moment, id])
    got = auto.execute("SELECT d, ts, u, date(ts), typeof(d) FROM events").fetchone()
    assert datetime.date.fromisoformat(got[0]) == day
    assert datetime.datetime.fromisoformat(got[1]) == moment
    assert uuid.UUID(got[2]) == id and got[3:] == ("2024-02-29", "text")
    assert auto.execute("SELECT count(*) FROM events WHERE d = %t", [day]).fetchone() == (1,)
    assert auto.execute("SELECT count(*) FROM events WHERE ts > %t", [moment - datetime.timedelta(1)]).fetchone() == (1,)


def test_comparisons(auto):
    """What a parameter means does not depend on how it is sent."""
    with auto.cursor() as cursor:
        cursor.executemany("INSERT INTO t (id, v, n) VALUES (%s, %s, %s)", [(i, str(i), i * 10) for i in range(1, 11)])
    for sql, parameters, expected in [
        ("SELECT id FROM t WHERE n = %s", [50], [5]),
        ("SELECT id FROM t WHERE n = %s", ["50"], [5]),
        ("SELECT id FROM t WHERE v = %s", ["7"], [7]),
        ("SELECT id FROM t WHERE v = %s", [7], [7]),
        ("SELECT id FROM t WHERE n + 0 = %s", [50], [5]),
        ("SELECT id FROM t WHERE n + 0 = %s", ["50"], [5]),
        ("SELECT id FROM t WHERE id IN (%s, %s) ORDER BY id", [1, "2"], [1, 2]),
        ("SELECT id FROM t WHERE v LIKE %s ORDER BY id", ["1%"], [1, 10]),
        ("SELECT id FROM t WHERE n > %s AND n < %s", [25.5, 34.5], [3]),
        ("SELECT id FROM t ORDER BY id LIMIT %s OFFSET %s", [2, 3], [4, 5]),
        ("SELECT max(id) FROM t HAVING count(*) > %s", [9], [10]),
        ("SELECT id FROM t WHERE (n = %s) = %s", [50, True], [5]),
        ("SELECT id FROM t WHERE coalesce(%s::text, v) = v ORDER BY id LIMIT 1", [None], [1]),
    ]:
        assert auto.cursor(row_factory=scalar_row).execute(sql, parameters).fetchall() == expected, (sql, parameters)


def test_row_description(auto):
    cursor = auto.execute("SELECT id, v, 1.5 AS r, x'00' AS b FROM t")
    assert [c.name for c in cursor.description] == ["id", "v", "r", "b"]
    assert [c.type_code for c in cursor.description] == [20, 25, 701, 17]
    auto.execute("INSERT INTO t (id, v) VALUES (1, 'x')")
    assert auto.cursor(row_factory=dict_row).execute("SELECT id, v FROM t").fetchone() == {"id": 1, "v": "x"}


def test_large_result(auto):
    cursor = auto.execute("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000) SELECT x FROM c")
    assert sum(row[0] for row in cursor) == 5000050000


def test_streaming(auto):
    """Row by row, from a result that has no end."""
    with auto.cursor() as cursor:
        rows = cursor.stream(ENDLESS.replace("count(*)", "x"))
        assert [next(rows)[0] for _ in range(5)] == [1, 2, 3, 4, 5]
        auto.cancel()
        with pytest.raises(errors.QueryCanceled):
            for _ in rows:
                pass


# Statements


def test_rowcount(auto):
    cursor = auto.execute("INSERT INTO t (v) VALUES ('a'), ('b'), ('c')")
    assert cursor.rowcount == 3 and cursor.statusmessage == "INSERT 0 3"
    assert auto.execute("UPDATE t SET v = 'x' WHERE id > 1").rowcount == 2
    assert auto.execute("DELETE FROM t WHERE id = 99").rowcount == 0
    assert auto.execute("SELECT * FROM t").rowcount == 3


def test_returning(auto):
    cursor = auto.execute("INSERT INTO t (v, n) VALUES (%s, %s), (%s, %s) RETURNING id, v", ["a", 1, "b", 2])
    assert cursor.fetchall() == [(1, "a"), (2, "b")]
    assert auto.execute("UPDATE t SET n = n * 10 RETURNING n").fetchall() == [(10,), (20,)]
    assert auto.execute("DELETE FROM t WHERE id = %s RETURNING *", [1]).fetchall() == [(1, "a", 10)]


def test_executemany(conn, auto):
    with conn.cursor() as cursor:
        cursor.executemany("INSERT INTO t (id, v) VALUES (%s, %s)", [(i, f"row {i}") for i in range(1000)])
        assert cursor.rowcount == 1000
        cursor.executemany("UPDATE t SET v = %s WHERE id = %s RETURNING id", [("x", 1), ("y", 2)], returning=True)
        got = [cursor.fetchone()]
        while cursor.nextset():
            got.append(cursor.fetchone())
        assert got == [(1,), (2,)]
    conn.commit()
    assert auto.execute("SELECT count(*) FROM t").fetchone() == (1000,)


def test_executemany_is_atomic(conn, auto):
    with pytest.raises(errors.UniqueViolation):
        with conn.cursor() as cursor:
            cursor.executemany("INSERT INTO t (id) VALUES (%s)", [(1,), (2,), (1,)])
    conn.rollback()
    assert auto.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_prepared_statements(auto):
    for number in range(20):
        auto.execute("INSERT INTO t (id, v) VALUES (%s, %s)", [number, "x"], prepare=True)
    for number in range(20):  # prepared by itself after some rounds
        assert auto.execute("SELECT v FROM t WHERE id = %s", [number]).fetchone() == ("x",)


def test_many_prepared_statements(opened, db):
    auto = opened(autocommit=True)
    auto.prepare_threshold, auto.prepared_max = 0, 5
    for number in range(50):
        assert auto.execute(f"SELECT %s::int8 + {number}", [1]).fetchone() == (1 + number,)


def test_ddl_between_prepared_statements(opened, db):
    auto, other = opened(autocommit=True), opened(autocommit=True)
    auto.prepare_threshold = 0
    auto.execute("INSERT INTO t (v) VALUES (%s)", ["a"])
    assert auto.execute("SELECT * FROM t WHERE id = %s", [1]).fetchone() == (1, "a", None)
    other.execute("ALTER TABLE t ADD COLUMN more TEXT DEFAULT 'm'")
    with pytest.raises(errors.FeatureNotSupported, match="cached plan must not change result type"):
        auto.execute("SELECT * FROM t WHERE id = %s", [1])
    auto.execute("DEALLOCATE ALL")
    auto.prepare_threshold = None
    assert auto.execute("SELECT * FROM t WHERE id = %s", [1]).fetchone() == (1, "a", None, "m")


def test_several_statements(auto):
    cursor = auto.execute("SELECT 1; SELECT 2, 'b'; INSERT INTO t (v) VALUES ('x')")
    assert cursor.fetchone() == (1,)
    assert cursor.nextset() and cursor.fetchone() == (2, "b")
    assert cursor.nextset() and cursor.statusmessage == "INSERT 0 1"


@pytest.mark.parametrize("value, text", [
    (ipaddress.ip_address("10.0.0.1"), "10.0.0.1"), (ipaddress.ip_address("2001:db8::1"), "2001:db8::1"), (ipaddress.ip_interface("10.1.2.3/24"), "10.1.2.3/24"),
    (ipaddress.ip_interface("10.1.2.3/32"), "10.1.2.3"), (ipaddress.ip_network("10.0.0.0/8"), "10.0.0.0/8"), (ipaddress.ip_network("1.2.3.4/32"), "1.2.3.4/32"),
    (ipaddress.ip_network("2001:db8::/32"), "2001:db8::/32")])
def test_network_addresses(opened, value, text):
    """psycopg sends them in binary, unless it is told otherwise."""
    connection = opened(autocommit=True)
    connection.execute("DROP TABLE IF EXISTS hosts")
    connection.execute("CREATE TABLE hosts (ip inet)")
    for place in ["%s", "%b", "%t"]:
        connection.execute(f"INSERT INTO hosts VALUES ({place})", (value,))
        assert connection.execute(f"SELECT DISTINCT ip FROM hosts WHERE ip = {place}", (value,)).fetchone() == (text,)
    assert connection.execute("SELECT count(*) FROM hosts WHERE ip = %s", (text,)).fetchone() == (3,)
