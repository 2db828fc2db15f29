"""asyncpg: prepares everything, describes statements before it has values, and wants binary results."""

import asyncio
import time

import asyncpg
import pytest

import wire
from console import console, show


@pytest.fixture
def db(shared):
    shared.run("DROP TABLE IF EXISTS t", "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, r REAL, b BLOB, f BOOLEAN)")
    return shared


def arguments(daemon):
    return {"host": str(daemon.directory), "database": daemon.name, "user": "tester"}


def with_connection(daemon, work):
    """Runs `work(connection)` to its end."""
    async def run():
        connection = await asyncpg.connect(**arguments(daemon))
        try:
            return await work(connection)
        finally:
            await connection.close()

    return asyncio.run(run())


def test_connect(db):
    async def work(connection):
        assert connection.get_server_version().major >= 15
        assert await connection.fetchval("SELECT 1") == 1
        assert await connection.fetch("SELECT 1 AS a, 'x' AS b, 1.5 AS c, x'00ff' AS d") == [(1, "x", 1.5, b"\0\xff")]

    with_connection(db, work)


def test_prepare(db):
    async def work(connection):
        statement = await connection.prepare("SELECT $1::int8 AS n, $2::text AS t, $3::float8 AS f, $4::bytea AS b")
        assert [p.name for p in statement.get_parameters()] == ["int8", "text", "float8", "bytea"]
        for row in [(1, "a", 0.5, b"\0"), (-(2**63), "é", 1e300, b""), (None, None, None, None)]:
            got = await statement.fetchrow(*row)
            # What an expression's column is announced as was said before there were values.
            assert [None if v is None else type(want)(v) if not isinstance(want, bytes) else v
                    for v, want in zip(got, row)] == list(row)

    with_connection(db, work)


def test_types_of_columns(db):
    async def work(connection):
        await connection.execute("INSERT INTO t VALUES (1, 'x', 1.5, x'00ff', 1), (2, NULL, NULL, NULL, NULL)")
        statement = await connection.prepare("SELECT * FROM t ORDER BY id")
        assert [(a.name, a.type.name) for a in statement.get_attributes()] == [
            ("id", "int8"), ("v", "text"), ("r", "float8"), ("b", "bytea"), ("f", "bool")]
        assert await statement.fetch() == [(1, "x", 1.5, b"\0\xff", True), (2, None, None, None, None)]

    with_connection(db, work)


def test_insert(db):
    async def work(connection):
        result = await connection.execute(
            "INSERT INTO t VALUES ($1::int8, $2::text, $3::float8, $4::bytea, $5::bool)", 1, "é", 2.5, b"\1", False)
        assert result == "INSERT 0 1"
        assert await connection.fetchrow("SELECT * FROM t") == (1, "é", 2.5, b"\1", False)
        assert await connection.fetchval("INSERT INTO t (v) VALUES ($1::text) RETURNING id", "x") == 2
        assert await connection.execute("DELETE FROM t WHERE id = $1::int8", 2) == "DELETE 1"

    with_connection(db, work)


def test_execute_many(db):
    async def work(connection):
        await connection.executemany(
            "INSERT INTO t (id, v) VALUES ($1::int8, $2::text)", [(i, f"row {i}") for i in range(1000)])
        assert await connection.fetchval("SELECT count(*) FROM t") == 1000
        with pytest.raises(asyncpg.UniqueViolationError):
            await connection.executemany("INSERT INTO t (id) VALUES ($1::int8)", [(2000,), (1,)])
        assert await connection.fetchval("SELECT count(*) FROM t") == 1000, "all or nothing"

    with_connection(db, work)


def test_transactions(db):
    async def work(connection):
        async with connection.transaction():
            await connection.execute("INSERT INTO t (id) VALUES (1)")
            with pytest.raises(asyncpg.UniqueViolationError):
                async with connection.transaction():
                    await connection.execute("INSERT INTO t (id) VALUES (2)")
                    await connection.execute("INSERT INTO t (id) VALUES (1)")
        with pytest.raises(ZeroDivisionError):
            async with connection.transaction(isolation="serializable"):
                await connection.execute("INSERT INTO t (id) VALUES (3)")
                1 / 0
        async with connection.transaction(isolation="repeatable_read", readonly=True, deferrable=False):
            assert await connection.fetch("SELECT id FROM t") == [(1,)]
            with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
                await connection.execute("INSERT INTO t (id) VALUES (4)")

    with_connection(db, work)


def test_cursor(db):
    async def work(connection):
        await connection.executemany("INSERT INTO t (id) VALUES ($1::int8)", [(i,) for i in range(1, 101)])
        async with connection.transaction():
            seen = [row["id"] async for row in connection.cursor("SELECT id FROM t ORDER BY id", prefetch=7)]
            assert seen == list(range(1, 101))
            cursor = await connection.cursor("SELECT id FROM t WHERE id > $1::int8 ORDER BY id", 50)
            assert await cursor.fetchrow() == (51,)
            assert await cursor.fetch(3) == [(52,), (53,), (54,)]
            other = await connection.cursor("SELECT id FROM t ORDER BY id DESC")
            assert await other.fetch(2) == [(100,), (99,)]
            assert await cursor.fetchrow() == (55,)
            await cursor.forward(4)
            assert await cursor.fetchrow() == (60,)

    with_connection(db, work)


def test_errors(db):
    async def work(connection):
        with pytest.raises(asyncpg.UndefinedTableError):
            await connection.fetch("SELECT * FROM nowhere")
        with pytest.raises(asyncpg.PostgresSyntaxError):
            await connection.fetch("SELEC 1")
        with pytest.raises(asyncpg.NotNullViolationError):
            await connection.execute("CREATE TABLE IF NOT EXISTS nn (x NOT NULL)")
            await connection.execute("INSERT INTO nn VALUES (NULL)")
        assert await connection.fetchval("SELECT 1") == 1

    with_connection(db, work)


def test_changed_columns(db):
    async def work(connection):
        await connection.execute("INSERT INTO t (id, v) VALUES (1, 'x')")
        assert len(await connection.fetchrow("SELECT * FROM t")) == 5
        db.run("ALTER TABLE t ADD COLUMN more TEXT DEFAULT 'm'")
        # asyncpg prepares again by itself when it is told 0A000.
        assert (await connection.fetchrow("SELECT * FROM t"))["more"] == "m"

    with_connection(db, work)


def test_timeout_and_cancel(db):
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"

    async def until_active(connection):
        pid, end = connection.get_server_pid(), time.monotonic() + wire.DEADLINE
        with console(db) as admin:
            while not any(row["id"] == pid and row["state"] == "active" for row in show(admin, "CLIENTS")):
                assert time.monotonic() < end, "the statement did not begin"
                # The loop has to go on, or it would never be sent.
                await asyncio.sleep(0.002)

    async def work(connection):
        # It ends what no cancel did, behind the limits below: those wait for the end of the statement before, too.
        await connection.execute("SET statement_timeout = '20s'")
        # A cancel that overtakes its statement would have no effect.
        task = asyncio.create_task(connection.fetch(endless, timeout=3))
        await until_active(connection)
        with pytest.raises(asyncio.TimeoutError):
            await task
        assert await connection.fetchval("SELECT 1", timeout=10) == 1
        task = asyncio.create_task(connection.fetch(endless))
        await until_active(connection)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await connection.fetchval("SELECT 2", timeout=10) == 2

    with_connection(db, work)


def test_pool(db):
    async def run():
        async with asyncpg.create_pool(min_size=2, max_size=5, **arguments(db)) as pool:
            async def work(number):
                async with pool.acquire() as connection:
                    async with connection.transaction():
                        await connection.execute("INSERT INTO t (v) VALUES ($1::text)", str(number))
                    return await connection.fetchval("SELECT count(*) FROM t WHERE v = $1::text", str(number))

            assert await asyncio.gather(*[work(n) for n in range(200)]) == [1] * 200
            # What one user of a connection has set, the next does not meet.
            async with pool.acquire() as connection:
                await connection.execute("SET statement_timeout = '7s'")
            for _ in range(5):
                async with pool.acquire() as connection:
                    assert await connection.fetchval("SHOW statement_timeout") == "0"

    asyncio.run(run())
    assert db.value("SELECT count(*) FROM t") == "200"
