"""What columns are called that the statement gives no name: as PostgreSQL has it, so that `row.count` is there."""

import asyncio

import asyncpg
import psycopg
import psycopg.rows
import pytest

import wire


@pytest.fixture
def db(shared):
    shared.run("DROP VIEW IF EXISTS totals", "DROP TABLE IF EXISTS named",
               'CREATE TABLE named (id INTEGER PRIMARY KEY, "Name" TEXT, at TIMESTAMP)', "INSERT INTO named VALUES (1, 'a', '2024-01-02')",
               "CREATE VIEW totals AS SELECT count(*) AS Total, max(id) FROM named")
    return shared


def columns(reply):
    return [each.name for message in reply.check().messages if message.kind == "T" for each in message.columns]


@pytest.mark.parametrize("sql, names", [
    ('SELECT count(*), Max(id), id, "Name", ID AS other FROM named', ["count", "max", "id", "Name", "other"]),
    ("SELECT CASE WHEN CASE WHEN 1 THEN id ISNULL END THEN 1 ELSE \"Name\" END, max(id) filter, max(id) over, max(id) by FROM named WHERE '1'::int8 = 1", ["Name", "filter", "over", "by"]),
    ("SELECT EXISTS (SELECT 1), CASE WHEN 1 THEN 2 END, coalesce(NULL, 1), CURRENT_DATE", ["exists", "case", "coalesce", "current_date"]),
    ("SELECT id::text, CAST(id AS text), (SELECT max(id) FROM named), (SELECT id AS n FROM named) FROM named", ["id", "id", "max", "n"]),
    ("SELECT max(id) FROM named UNION SELECT 2", ["max"]),
    ("INSERT INTO named (id) VALUES (2) RETURNING id, abs(id)", ["id", "abs"]),
    # SQLite's say more than ?column?, and than a type's name.
    ("SELECT 1, id + 1, 'x', CAST(1 AS text) FROM named", ["1", "id + 1", "'x'", "CAST(1 AS text)"]),
    # And as they were sent.
    ("SELECT extract(year FROM at) + 1, id LIKE '2024-01-02'::date, '1'::int8, \"Name\"::text || 'x' FROM named",
     ["extract(year FROM at) + 1", "id LIKE '2024-01-02'::date", "'1'::int8", "\"Name\"::text || 'x'"]),
    ("(SELECT id, id, count(*) FROM named) UNION (SELECT 1, 2, 3)", ["id", "id", "count"]),
    ("WITH c AS (SELECT 1 AS x) (SELECT count(*) FROM c) UNION (SELECT 2)", ["count"]),
    ("(WITH c AS (SELECT 1 AS x) SELECT count(*) FROM c) UNION (SELECT 2)", ["count"]),
    # Of a view, or a subquery, they are part of what it is.
    ("SELECT * FROM totals", ["Total", "max(id)"]), ("SELECT Total, \"max(id)\" FROM totals", ["Total", "max(id)"]),
    # The catalogs' questions, too.
    ("SELECT EXISTS (SELECT 1 FROM information_schema.tables WHERE table_name = 'named')", ["exists"]),
    ("SELECT count(*), max(relname) FROM pg_class", ["count", "max"]), ("EXPLAIN QUERY PLAN SELECT count(*)", ["id", "parent", "notused", "detail"]),
])
def test_names(db, sql, names):
    with db.client() as client:
        client.query("BEGIN").check()
        assert columns(client.query(sql)) == names
        client.query("ROLLBACK; BEGIN").check()
        assert columns(client.ask(wire.parse(sql), wire.describe_statement())) == names
        assert columns(client.ask(wire.bind(), wire.describe_portal(), wire.execute())) == names


def test_names_of_cursors_and_copies(db):
    with db.client() as client:
        client.query("BEGIN; DECLARE c CURSOR FOR SELECT count(*) FROM named").check()
        assert columns(client.query("FETCH c")) == ["count"]
        client.query("COMMIT; PREPARE p AS SELECT max(id) FROM named").check()
        assert columns(client.query("EXECUTE p")) == ["max"]
        reply = client.query("COPY (SELECT count(*), max(id) FROM named) TO STDOUT WITH (FORMAT csv, HEADER)")
        assert b"".join(message.body for message in reply.check().messages if message.kind == "d") == b"count,max\n1,1\n"


def test_a_statement_that_is_kept_over_a_change_of_the_schema(db):
    """Its columns are the same as before, so nobody is told of stale ones."""
    with db.client() as client, db.client() as other:
        client.ask(wire.parse("SELECT count(*), id FROM named", "kept"), wire.describe_statement("kept")).check()
        other.query("CREATE TABLE another (x)").check()
        try:
            assert client.ask(wire.bind(statement="kept"), wire.execute()).check().texts == [("1", "1")]
        finally:
            other.query("DROP TABLE another").check()


def test_rows_by_name(db):
    with psycopg.connect(host=str(db.directory), dbname=db.name, user="tester", row_factory=psycopg.rows.dict_row) as connection:
        assert connection.execute("SELECT count(*), max(id) FROM named WHERE id = %s", (1,)).fetchone() == {"count": 1, "max": 1}

    async def run():
        connection = await asyncpg.connect(host=str(db.directory), database=db.name, user="tester")
        try:
            return await connection.fetchrow("SELECT count(*) FROM named")
        finally:
            await connection.close()

    assert asyncio.run(run())["count"] == 1
