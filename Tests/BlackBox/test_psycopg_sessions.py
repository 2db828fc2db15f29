"""Errors, cancels and many sessions through psycopg 3."""

import threading

import psycopg
import pytest
from psycopg import errors

from daemon import eventually
from psycopg_fixtures import auto, conn, connect, db, ENDLESS, opened  # noqa: F401 (fixtures)


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


def test_changes_of_a_statement_that_never_ran(opened, db):
    """A value that cannot be bound: what SQLite counts on the connection is another session's."""
    a, b = opened(autocommit=True), opened(autocommit=True)
    a.execute("INSERT INTO t (id) VALUES (1), (2), (3)")
    b.execute("INSERT INTO t (id) VALUES (4), (5)")
    for sql in ["INSERT INTO t (id) VALUES (%s::int8)", "UPDATE t SET v = 'y' WHERE id = %s::int8", "DELETE FROM t WHERE id = %s::int8"]:
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            a.execute(sql, ["x"])
        assert a.execute("SELECT last_insert_rowid(), changes(), total_changes()").fetchone() == (3, 0, 3)


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
