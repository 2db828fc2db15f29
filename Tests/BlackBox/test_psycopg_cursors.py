"""Server-side cursors and pipelines of psycopg 3."""

import pytest
from psycopg import errors

from psycopg_fixtures import auto, conn, db, opened  # noqa: F401 (fixtures)


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


def test_named_cursor_whose_types_change(conn):
    """An error of the server's, and none in psycopg, which was told int8."""
    with conn.cursor("mine") as cursor:
        cursor.itersize = 1
        cursor.execute("SELECT value FROM json_each('[1, 2.5]')")
        with pytest.raises(errors.DatatypeMismatch):
            list(cursor)
    conn.rollback()


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
