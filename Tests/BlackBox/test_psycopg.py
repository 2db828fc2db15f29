"""psycopg 3, used the way people use it."""

import datetime
import decimal
import threading
import uuid

import psycopg
import pytest
from psycopg import errors
from psycopg.rows import dict_row, scalar_row

from daemon import eventually

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


def connect(daemon, **keywords):
    return psycopg.connect(host=str(daemon.directory), dbname=daemon.name, user="tester", **keywords)


@pytest.fixture
def opened(shared):
    """Opens connections that are closed at the end."""
    connections = []

    def open_connection(daemon=shared, **keywords):
        connections.append(connect(daemon, **keywords))
        return connections[-1]

    yield open_connection
    for connection in connections:
        connection.close()


@pytest.fixture
def db(shared):
    shared.run("""
        DROP TABLE IF EXISTS child; DROP TABLE IF EXISTS t;
        CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT NOT NULL DEFAULT '', n INTEGER UNIQUE CHECK (n > 0));
        CREATE TABLE child (t INTEGER REFERENCES t);
    """)
    return shared


@pytest.fixture
def conn(opened, db):
    return opened()


@pytest.fixture
def auto(opened, db):
    return opened(autocommit=True)


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


# Server-side cursors


@pytest.fixture
def hundred(auto):
    with auto.cursor() as cursor:
        cursor.executemany("INSERT INTO t (id, v) VALUES (%s, %s)", [(i, f"v{i}") for i in range(1, 101)])


def test_named_cursor(conn, hundred):
    with conn.cursor("mine") as cursor:
        cursor.execute("SELECT id, v FROM t WHERE id > %s ORDER BY id", [10])
        assert cursor.description[0].name == "id"
        assert cursor.fetchone() == (11, "v11")
        assert [row[0] for row in cursor.fetchmany(5)] == [12, 13, 14, 15, 16]
        assert len(cursor.fetchall()) == 84
        assert cursor.fetchone() is None
    conn.commit()


def test_named_cursor_iterates(conn, hundred):
    cursor = conn.cursor("mine")
    cursor.itersize = 7
    cursor.execute("SELECT id FROM t ORDER BY id")
    assert [row[0] for row in cursor] == list(range(1, 101))
    cursor.close()
    conn.commit()


def test_two_named_cursors(conn, hundred):
    one, two = conn.cursor("one"), conn.cursor("two")
    one.execute("SELECT id FROM t ORDER BY id")
    two.execute("SELECT id FROM t ORDER BY id DESC")
    pairs = [(one.fetchone()[0], two.fetchone()[0]) for _ in range(100)]
    assert pairs == [(n, 101 - n) for n in range(1, 101)]
    one.close(), two.close()


def test_named_cursor_skips(conn, hundred):
    with conn.cursor("mine") as cursor:
        cursor.execute("SELECT id FROM t ORDER BY id")
        cursor.scroll(10)
        assert cursor.fetchone() == (11,)
        cursor.scroll(5)
        assert cursor.fetchone() == (17,)


def test_named_binary_cursor(conn, hundred):
    with conn.cursor("mine", binary=True) as cursor:
        cursor.execute("SELECT id, v FROM t ORDER BY id")
        assert cursor.fetchmany(2) == [(1, "v1"), (2, "v2")]


def test_named_cursor_beside_writes(conn, auto, hundred):
    with conn.cursor("mine") as cursor:
        cursor.execute("SELECT id FROM t ORDER BY id")
        assert cursor.fetchone() == (1,)
        auto.execute("DELETE FROM t WHERE id = 2")
        conn.execute("UPDATE t SET v = 'x' WHERE id = 3")
        assert [row[0] for row in cursor.fetchmany(2)] == [2, 3], "a cursor sees what was there when it was opened"
    conn.commit()


# Pipelines


def test_pipeline(conn, auto):
    with conn.pipeline():
        cursors = [conn.execute("INSERT INTO t (id, v) VALUES (%s, %s) RETURNING id", [i, "x"]) for i in range(200)]
        total = conn.execute("SELECT count(*) FROM t")
    assert [cursor.fetchone() for cursor in cursors] == [(i,) for i in range(200)]
    assert total.fetchone() == (200,)
    assert auto.execute("SELECT count(*) FROM t").fetchone() == (0,)
    conn.commit()
    assert auto.execute("SELECT count(*) FROM t").fetchone() == (200,)


def test_pipeline_with_an_error(auto):
    with pytest.raises(errors.UniqueViolation):
        with auto.pipeline() as pipeline:
            auto.execute("INSERT INTO t (id) VALUES (1)")
            pipeline.sync()
            auto.execute("INSERT INTO t (id) VALUES (2)")
            auto.execute("INSERT INTO t (id) VALUES (1)")
            auto.execute("INSERT INTO t (id) VALUES (3)")
            pipeline.sync()
    assert auto.execute("SELECT id FROM t").fetchall() == [(1,)], "what is between two syncs is one transaction"


def test_pipeline_error_is_the_statements(auto):
    with auto.pipeline() as pipeline:
        good = auto.execute("SELECT 1")
        pipeline.sync()
        with pytest.raises(errors.UndefinedTable):
            auto.execute("SELECT * FROM nowhere").fetchone()
        assert good.fetchone() == (1,)
        pipeline.sync()
        assert auto.execute("SELECT 2").fetchone() == (2,)


def test_transactions_in_a_pipeline(auto):
    with auto.pipeline():
        with auto.transaction():
            auto.execute("INSERT INTO t (id) VALUES (1)")
            auto.execute("INSERT INTO t (id) VALUES (2)")
        with auto.transaction():
            auto.execute("INSERT INTO t (id) VALUES (3)")
    assert auto.execute("SELECT count(*) FROM t").fetchone() == (3,)


# Errors as exceptions


@pytest.mark.parametrize(
    "sql, exception, table, column",
    [
        ("INSERT INTO t (id) VALUES (1)", errors.UniqueViolation, "t", "id"),
        ("INSERT INTO t (n) VALUES (10)", errors.UniqueViolation, "t", "n"),
        ("INSERT INTO t (v) VALUES (NULL)", errors.NotNullViolation, "t", "v"),
        ("INSERT INTO t (n) VALUES (-1)", errors.CheckViolation, None, None),
        ("INSERT INTO child VALUES (4711)", errors.ForeignKeyViolation, None, None),
        ("DELETE FROM t WHERE id = 1", errors.ForeignKeyViolation, None, None),
        ("SELEC 1", errors.SyntaxError, None, None),
        ("SELECT nope", errors.UndefinedColumn, None, None),
        ("SELECT * FROM nowhere", errors.UndefinedTable, None, None),
        ("SELECT nope()", errors.UndefinedFunction, None, None),
        ("CREATE TABLE t (x)", errors.DuplicateTable, None, None),
        ("CREATE TABLE x (a, a)", errors.DuplicateColumn, None, None),
        ("SELECT id FROM t AS a, t AS b", errors.AmbiguousColumn, None, None),
        ("ATTACH 'x' AS y", errors.InsufficientPrivilege, None, None),
        ("INSERT INTO t (id) VALUES ('text')", errors.DatatypeMismatch, None, None),
        ("SELECT abs(-9223372036854775808)", errors.NumericValueOutOfRange, None, None),
    ],
)
def test_exceptions(auto, sql, exception, table, column):
    auto.execute("INSERT INTO t (id, v, n) VALUES (1, 'x', 10)")
    auto.execute("INSERT INTO child VALUES (1)")
    with pytest.raises(exception) as caught:
        auto.execute(sql)
    diagnostics = caught.value.diag
    assert diagnostics.severity == "ERROR" and diagnostics.message_primary
    if table:
        assert (diagnostics.table_name, diagnostics.column_name) == (table, column)
    assert auto.execute("SELECT 1").fetchone() == (1,)


def test_strict_tables(auto):
    auto.execute("DROP TABLE IF EXISTS strict_t")
    auto.execute("CREATE TABLE strict_t (i INTEGER, t TEXT) STRICT")
    with pytest.raises(errors.DatatypeMismatch):
        auto.execute("INSERT INTO strict_t VALUES ('abc', 'x')")


def test_raise(auto):
    auto.execute("CREATE TRIGGER IF NOT EXISTS refuse BEFORE INSERT ON child BEGIN SELECT RAISE(ABORT, 'not today'); END")
    try:
        with pytest.raises(errors.RaiseException, match="not today"):
            auto.execute("INSERT INTO child VALUES (1)")
    finally:
        auto.execute("DROP TRIGGER refuse")


def test_notices(auto):
    notices = []
    auto.add_notice_handler(lambda diagnostics: notices.append(diagnostics.sqlstate))
    auto.execute("COMMIT")
    assert notices == ["25P01"]


# Sessions share connections and do not notice


def test_last_insert_rowid_and_changes(opened, db):
    a, b = opened(autocommit=True), opened(autocommit=True)

    def facts(connection):
        return connection.execute("SELECT last_insert_rowid(), changes(), total_changes()").fetchone()

    assert facts(a) == facts(b) == (0, 0, 0)
    a.execute("INSERT INTO t (id) VALUES (10), (11)")
    b.execute("INSERT INTO t (id) VALUES (20)")
    assert facts(a) == (11, 2, 2)
    assert facts(b) == (20, 1, 1)
    b.execute("UPDATE t SET v = 'x'")
    assert facts(a) == (11, 2, 2)
    assert facts(b) == (20, 3, 4)
    a.execute("DELETE FROM t WHERE id = 99")
    assert facts(a) == (11, 0, 2)
    b.execute("INSERT INTO t (id) VALUES (30)")
    # Used in a writing statement, too.
    a.execute("INSERT INTO t (id) VALUES (last_insert_rowid() + 100)")
    assert facts(a) == (111, 1, 3)
    a.execute("INSERT INTO child VALUES (last_insert_rowid())")
    assert a.execute("SELECT t FROM child").fetchone() == (111,)
    assert facts(b) == (30, 1, 5)


def test_last_insert_rowid_in_transactions(opened, db):
    a, b = opened(), opened(autocommit=True)
    b.execute("INSERT INTO t (id) VALUES (20)")
    a.execute("INSERT INTO t (id) VALUES (10)")
    assert a.execute("SELECT last_insert_rowid(), changes()").fetchone() == (10, 1)
    a.execute("INSERT INTO child VALUES (last_insert_rowid())")
    a.commit()
    assert a.execute("SELECT t FROM child").fetchone() == (10,)
    assert b.execute("SELECT last_insert_rowid()").fetchone() == (20,)


# Cancel


def cancel_until(connection, thread):
    """One cancel may come before its statement began; so again, until the statement has ended."""
    def has_ended():
        connection.cancel()
        thread.join(0.01)
        return not thread.is_alive()

    eventually(has_ended, "the end of the statement")


def in_thread(work):
    caught = []

    def run():
        try:
            work()
        except psycopg.Error as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, caught


def test_cancel_of_a_running_statement(auto):
    thread, caught = in_thread(lambda: auto.execute(ENDLESS))
    cancel_until(auto, thread)
    assert isinstance(caught[0], errors.QueryCanceled)
    assert auto.execute("SELECT 1").fetchone() == (1,)


def test_cancel_safe(auto):
    thread, caught = in_thread(lambda: auto.execute(ENDLESS))

    def has_ended():
        auto.cancel_safe()
        thread.join(0.01)
        return not thread.is_alive()

    eventually(has_ended, "the end of the statement")
    assert isinstance(caught[0], errors.QueryCanceled)


def test_cancel_in_a_transaction(conn, auto):
    conn.execute("INSERT INTO t (v) VALUES ('lost')")
    thread, caught = in_thread(lambda: conn.execute(ENDLESS))
    cancel_until(conn, thread)
    assert isinstance(caught[0], errors.QueryCanceled)
    assert conn.info.transaction_status == psycopg.pq.TransactionStatus.INERROR
    conn.rollback()
    assert auto.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_cancel_of_a_queued_writer(opened, db):
    holder, waiter = opened(), opened(autocommit=True)
    holder.execute("INSERT INTO t (v) VALUES ('kept')")
    thread, caught = in_thread(lambda: waiter.execute("INSERT INTO t (v) VALUES ('cancelled')"))
    cancel_until(waiter, thread)
    assert isinstance(caught[0], errors.QueryCanceled)
    holder.commit()
    assert waiter.execute("SELECT v FROM t").fetchall() == [("kept",)]


def test_cancel_of_one_who_waits_for_a_reader(start_daemon):
    daemon = start_daemon(options=["--readers", "1"])
    with connect(daemon) as holder, connect(daemon, autocommit=True) as waiter:
        holder.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        holder.execute("SELECT 1")
        thread, caught = in_thread(lambda: waiter.execute("SELECT 2"))
        cancel_until(waiter, thread)
        assert isinstance(caught[0], errors.QueryCanceled)
        holder.commit()
        assert waiter.execute("SELECT 3").fetchone() == (3,)


# Clients in numbers


def test_threads(shared, db):
    """Every thread has a connection of its own, reads and writes; nothing is lost."""
    rounds, failures = 40, []

    def work(number):
        try:
            with connect(shared, autocommit=number % 2 == 0) as connection:
                for turn in range(rounds):
                    connection.execute("INSERT INTO t (v) VALUES (%s)", [f"{number}/{turn}"])
                    count = connection.execute("SELECT count(*) FROM t WHERE v LIKE %s", [f"{number}/%"]).fetchone()[0]
                    assert count == turn + 1
                    connection.commit()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=[n]) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert shared.value("SELECT count(*) FROM t") == str(12 * rounds)


def test_async(shared, db):
    import asyncio

    async def work(number):
        connection = await psycopg.AsyncConnection.connect(
            host=str(shared.directory), dbname=shared.name, user="tester", autocommit=True)
        async with connection:
            for turn in range(20):
                await connection.execute("INSERT INTO t (v) VALUES (%s)", [f"{number}/{turn}"])
            cursor = await connection.execute("SELECT count(*) FROM t WHERE v LIKE %s", [f"{number}/%"])
            return (await cursor.fetchone())[0]

    async def everybody():
        return await asyncio.gather(*[work(n) for n in range(20)])

    assert asyncio.run(everybody()) == [20] * 20
