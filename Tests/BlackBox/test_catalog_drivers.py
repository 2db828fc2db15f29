"""What drivers ask the catalogs by themselves."""

import asyncio

import asyncpg
import psycopg
import pytest
from psycopg.types import TypeInfo



@pytest.fixture
def connection(library):
    with psycopg.connect(host=str(library.directory), dbname=library.name, user="reader", autocommit=True) as connection:
        yield connection


def test_type_info(connection):
    text = TypeInfo.fetch(connection, "text")
    assert (text.oid, text.array_oid, text.regtype) == (25, 1009, "text")
    assert TypeInfo.fetch(connection, "character varying").oid == 1043
    assert TypeInfo.fetch(connection, "hstore") is None


def test_values_have_their_types(connection):
    row = connection.execute(
        "SELECT relname, c.oid, relhasindex, relkind, relnatts, NOT relhasindex, array['a', 'b c', NULL]::text[], indkey, conkey"
        " FROM pg_catalog.pg_class c LEFT JOIN pg_index i ON i.indrelid = c.oid AND indisprimary LEFT JOIN pg_constraint k"
        " ON k.conrelid = c.oid AND k.contype = 'p' WHERE relname = %s", ["tag"]).fetchone()
    assert row[0] == "tag" and isinstance(row[1], int) and row[2] is True and row[5] is False
    assert row[3] in ("r", b"r") and row[4] == 2
    assert row[6:] == (["a", "b c", None], "1 2", [1, 2])


def test_indexes(connection):
    """peewee counts an index's subscripts; Alembic compares what is printed of it."""
    ask = "SELECT ARRAY(SELECT k FROM generate_subscripts(indkey, 1) AS k ORDER BY k), indkey, indoption FROM pg_index i " \
        "JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname = 'book_title'"
    assert connection.execute(ask).fetchone() == ([0], "3", "0")
    assert connection.execute(ask.replace("book_title", "book_expr")).fetchone() == ([0, 1], "0 4", "0 3")


# Django's introspection.get_constraints(), with which inspectdb begins.
INDEXES_OF_DJANGO = """
    SELECT indexname, array_agg(attname ORDER BY arridx), indisunique, indisprimary, array_agg(ordering ORDER BY arridx), amname, exprdef,
        s2.attoptions
    FROM (SELECT c2.relname as indexname, idx.*, attr.attname, am.amname,
            CASE WHEN idx.indexprs IS NOT NULL THEN pg_get_indexdef(idx.indexrelid) END AS exprdef,
            CASE am.amname WHEN %s THEN CASE (option & 1) WHEN 1 THEN 'DESC' ELSE 'ASC' END END as ordering, c2.reloptions as attoptions
        FROM (SELECT * FROM pg_index i, unnest(i.indkey, i.indoption) WITH ORDINALITY koi(key, option, arridx)) idx
        LEFT JOIN pg_class c ON idx.indrelid = c.oid LEFT JOIN pg_class c2 ON idx.indexrelid = c2.oid
        LEFT JOIN pg_am am ON c2.relam = am.oid
        LEFT JOIN pg_attribute attr ON attr.attrelid = c.oid AND attr.attnum = idx.key
        WHERE c.relname = %s AND pg_catalog.pg_table_is_visible(c.oid)) s2
    GROUP BY indexname, indisunique, indisprimary, amname, exprdef, attoptions"""


def test_indexes_of_django(connection):
    indexes = {row[0]: row[1:] for row in connection.execute(INDEXES_OF_DJANGO, ["btree", "book"])}
    assert indexes["book_title"] == (["title"], False, False, ["ASC"], "btree", None, None)
    assert indexes["book_pkey"][:3] == (["id"], True, True)
    assert indexes["book_expr"][:4] == ([None, "price"], False, False, ["ASC", "DESC"])
    keys = connection.execute(INDEXES_OF_DJANGO, ["btree", "tag"]).fetchall()
    assert [row[1] for row in keys] == [["book_id", "word"]]


def test_functions_beside_the_tables_they_are_about(connection):
    ask = lambda sql: connection.execute(sql).fetchall()
    keys = "FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid AND r.relname = 'tag' CROSS JOIN LATERAL unnest(c.conkey)"
    assert ask(f"SELECT c.conname, k::int {keys} AS k WHERE c.contype = 'p' ORDER BY k DESC") == [("tag_key", 2), ("tag_key", 1)]
    assert ask(f"SELECT k.* {keys} WITH ORDINALITY k(n, place) WHERE c.contype = 'p' AND k.place = 2") == [(2, 2)]
    # Its state is 42703.
    with pytest.raises(psycopg.errors.UndefinedColumn, match="i.nosuch"):
        ask("SELECT * FROM pg_index i, unnest(i.nosuch) k")


def test_cursors(connection):
    """psycopg looks there before it closes one."""
    ask = "SELECT name, statement, is_binary, is_holdable FROM pg_cursors ORDER BY name"
    assert connection.execute(ask).fetchall() == []
    with connection.transaction():
        connection.execute("DECLARE c CURSOR FOR SELECT id FROM book")
        connection.execute("DECLARE \"007\" BINARY CURSOR WITH HOLD FOR SELECT 1")
        found = connection.execute(ask).fetchall()
        assert [row[:1] + row[2:] for row in found] == [("007", True, True), ("c", False, False)]
        assert "SELECT id FROM book" in found[1][1]
    assert [row[0] for row in connection.execute(ask)] == ["007"]
    connection.execute("CLOSE \"007\"")
    assert connection.execute(ask).fetchall() == []


# Columns that SQLite fills by itself.


def test_identity(start_daemon):
    daemon = start_daemon()
    daemon.run(
        "CREATE TABLE a (id INTEGER PRIMARY KEY, n INTEGER)", 'CREATE TABLE "B c" (n TEXT, "Key" INTEGER PRIMARY KEY AUTOINCREMENT)',
        "CREATE TABLE down (id INTEGER PRIMARY KEY DESC)", "CREATE TABLE bare (id INTEGER PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE two (a INTEGER, b INTEGER, PRIMARY KEY (a, b))", "CREATE TABLE wide (id BIGINT PRIMARY KEY)",
        "CREATE TABLE named (id INTEGER, CONSTRAINT k PRIMARY KEY (id))", "CREATE TABLE a_id_seq (n INTEGER)", "CREATE VIEW v AS SELECT * FROM a")
    with daemon.client() as client:
        identity = "SELECT c.relname, a.attname, a.attnotnull FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE attidentity = 'd' ORDER BY 1"
        assert client.query(identity).texts == [("B c", "Key", "t"), ("a", "id", "t"), ("named", "id", "t")]
        columns = "SELECT table_name, column_name, identity_generation FROM information_schema.columns WHERE is_identity = 'YES' ORDER BY 1"
        assert client.query(columns).texts == [("B c", "Key", "BY DEFAULT"), ("a", "id", "BY DEFAULT"), ("named", "id", "BY DEFAULT")]
        assert client.value("SELECT count(*) FROM information_schema.columns WHERE is_identity = 'NO' AND identity_start IS NULL") == "10"
        # SQLite lets a key that is no rowid be NULL.
        assert client.value("SELECT attnotnull FROM pg_attribute WHERE attrelid = 'down'::regclass AND attname = 'id'") == "f"
        name = lambda table, column: client.value(f"SELECT pg_get_serial_sequence('{table}', '{column}')")
        assert name("a", "id") == "main.a_id_seq1" and name('"B c"', "Key") == 'main."B c_Key_seq"'
        assert name("a", "n") is None and name("down", "id") is None and name("nosuch", "id") is None
        assert client.query(
            "SELECT s.seqtypid, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle FROM pg_sequence s WHERE s.seqrelid = "
            "pg_get_serial_sequence('named', 'id')::regclass::oid").check().texts == [("20", "1", "1", str(2**63 - 1), "1", "1", "f")]
        assert client.value("SELECT count(*) FROM pg_class WHERE relkind = 'S'") == "0"
        assert client.value("SELECT count(DISTINCT seqrelid) FROM pg_sequence WHERE seqrelid NOT IN (SELECT oid FROM pg_class)") == "3"


@pytest.mark.parametrize("name, quoted", [("order", '"order"'), ("book", "book"), ("Odd Name", '"Odd Name"'), ("group", '"group"')])
def test_names_that_need_quotes(connection, name, quoted):
    assert connection.execute("SELECT quote_ident(%s)", [name]).fetchone() == (quoted,)


@pytest.mark.parametrize("binary", [False, True])
def test_formats(connection, binary):
    cursor = connection.cursor(binary=binary)
    cursor.execute("SELECT attname, attnum, attnotnull, atttypid FROM pg_attribute WHERE attrelid = 'book'::regclass ORDER BY attnum LIMIT 2")
    assert cursor.fetchall() == [("id", 1, True, 20), ("author_id", 2, True, 20)]


def test_an_oid_is_the_same_after_a_restart(library, connection):
    ask = "SELECT oid FROM pg_class WHERE relname = 'book'"
    before = connection.execute(ask).fetchone()
    connection.close()
    library.stop()
    library.restart()
    with psycopg.connect(host=str(library.directory), dbname=library.name, user="reader") as again:
        assert again.execute(ask).fetchone() == before


# What pgjdbc's DatabaseMetaData asks.

PRIMARY_KEYS = """
    SELECT result.TABLE_NAME, result.COLUMN_NAME, result.KEY_SEQ, result.PK_NAME FROM (SELECT NULL AS TABLE_CAT,
    n.nspname AS TABLE_SCHEM, ct.relname AS TABLE_NAME, a.attname AS COLUMN_NAME,
    (information_schema._pg_expandarray(i.indkey)).n AS KEY_SEQ, ci.relname AS PK_NAME,
    information_schema._pg_expandarray(i.indkey) AS KEYS, a.attnum AS A_ATTNUM FROM pg_catalog.pg_class ct
    JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid) JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)
    JOIN pg_catalog.pg_index i ON ( a.attrelid = i.indrelid) JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid)
    WHERE true AND ct.relname = %s AND i.indisprimary ) result where result.A_ATTNUM = (result.KEYS).x
    ORDER BY result.table_name, result.pk_name, result.key_seq"""

BEST_ROW = """
    SELECT a.attname, a.atttypid FROM pg_catalog.pg_class ct JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid)
    JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid) JOIN (SELECT i.indexrelid, i.indrelid, i.indisprimary,
    information_schema._pg_expandarray(i.indkey) AS keys FROM pg_catalog.pg_index i) i
    ON (a.attnum = (i.keys).x AND a.attrelid = i.indrelid) WHERE true AND ct.relname = %s AND i.indisprimary
    ORDER BY a.attnum"""

INDEXES = """
    SELECT tmp.INDEX_NAME, tmp.ORDINAL_POSITION, tmp.NON_UNIQUE,
    trim(both '"' from pg_catalog.pg_get_indexdef(tmp.CI_OID, tmp.ORDINAL_POSITION, false)) AS COLUMN_NAME
    FROM (SELECT NOT i.indisunique AS NON_UNIQUE, ci.relname AS INDEX_NAME,
    (information_schema._pg_expandarray(i.indkey)).n AS ORDINAL_POSITION, ci.oid AS CI_OID
    FROM pg_catalog.pg_class ct JOIN pg_catalog.pg_index i ON (ct.oid = i.indrelid)
    JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid) WHERE true AND ct.relname = %s) AS tmp
    ORDER BY NON_UNIQUE, INDEX_NAME, ORDINAL_POSITION"""

IMPORTED_KEYS = """
    SELECT pkc.relname, pka.attname, fkc.relname, fka.attname, pos.n AS KEY_SEQ FROM pg_catalog.pg_class pkc,
    pg_catalog.pg_attribute pka, pg_catalog.pg_class fkc, pg_catalog.pg_attribute fka, pg_catalog.pg_constraint con,
    pg_catalog.generate_series(1, 32) pos(n), pg_catalog.pg_class pkic
    WHERE pkc.oid = pka.attrelid AND pka.attnum = con.confkey[pos.n] AND con.confrelid = pkc.oid AND fkc.oid = fka.attrelid
    AND fka.attnum = con.conkey[pos.n] AND con.conrelid = fkc.oid AND con.contype = 'f' AND pkic.relkind = 'i'
    AND pkic.oid = con.conindid AND fkc.relname = %s ORDER BY pkc.relname, KEY_SEQ"""


def test_metadata_of_pgjdbc(connection):
    ask = lambda sql, *values: connection.execute(sql, values).fetchall()
    assert ask(PRIMARY_KEYS, "book") == [("book", "id", 1, "book_pkey")]
    assert ask(PRIMARY_KEYS, "tag") == [("tag", "book_id", 1, "tag_key"), ("tag", "word", 2, "tag_key")]
    assert ask(BEST_ROW, "tag") == [("book_id", 20), ("word", 25)]
    assert [(row[0], row[1], row[3]) for row in ask(INDEXES, "tag") if row[0] == "tag_key"] == [
        ("tag_key", 1, "book_id"), ("tag_key", 2, "word")]
    assert ("author", "id", "book", "author_id") in [row[:4] for row in ask(IMPORTED_KEYS, "book")]
    assert ask("SELECT setting FROM pg_catalog.pg_settings WHERE name='max_index_keys'") == [("32",)]
    (words,) = ask("select string_agg(word, ',') from pg_catalog.pg_get_keywords() where word <> ALL ('{a,limit}')")[0]
    assert "vacuum" in words.split(",") and "limit" not in words.split(",")


def test_cursor_over_a_catalog_is_refused(connection):
    with connection.transaction(), pytest.raises(psycopg.errors.FeatureNotSupported):
        connection.execute("DECLARE c CURSOR FOR SELECT relname FROM pg_class")
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="PREPARE are not available"):
        connection.execute("PREPARE p AS SELECT relname FROM pg_class")


def test_asyncpg(library):
    async def run():
        connection = await asyncpg.connect(host=str(library.directory), database=library.name, user="reader")
        rows = await connection.fetch(
            "SELECT relname, oid, relhasindex, array_agg(relname::text) AS names FROM pg_class WHERE relname = $1 GROUP BY 1, 2, 3", "book")
        assert rows[0]["relname"] == "book" and rows[0]["relhasindex"] is True and rows[0]["names"] == ["book"]
        assert await connection.fetchval("SELECT count(*) FROM information_schema.tables WHERE table_schema = $1", "main") == 5
        await connection.close()

    asyncio.run(run())


def test_asyncpg_pool_resets(library):
    async def run():
        async with asyncpg.create_pool(host=str(library.directory), database=library.name, user="reader", min_size=1, max_size=1) as pool:
            async with pool.acquire() as connection:
                await connection.execute("SET application_name = 'changed'")
                assert connection.get_settings().application_name == "changed"
            async with pool.acquire() as connection:
                assert await connection.fetchval("SHOW application_name") == ""
                assert connection.get_settings().application_name == ""
                async with connection.transaction():
                    await connection.execute("CREATE TABLE reset_later (n INTEGER)")
            async with pool.acquire() as connection:
                assert await connection.fetchval("SELECT count(*) FROM reset_later") == 0
                await connection.execute("DROP TABLE reset_later")

    asyncio.run(run())


RESET = "SELECT pg_advisory_unlock_all();\nCLOSE ALL;\nUNLISTEN *;\nRESET ALL;"


def test_reset_as_one_and_as_four(library):
    with library.client() as client:
        fast = client.query(RESET)
        slow = client.query(RESET.replace("\n", " "))
        assert fast.tags == slow.tags == ["SELECT 1", "CLOSE CURSOR ALL", "UNLISTEN", "RESET"]
        assert fast.texts == slow.texts == [("",)]
        client.query("SET application_name = 'x'").check()
        assert [m.kind for m in client.query(RESET).messages].count("S") == 1
        assert client.value("SHOW application_name") == ""
        client.query("BEGIN").check()
        assert client.query(RESET).status == "T"


def test_names_that_many_tables_give(start_daemon):
    """SQLite lets each table have a constraint called pk, and a key called as a table."""
    daemon = start_daemon()
    daemon.run(
        "CREATE TABLE a (x TEXT, CONSTRAINT pk PRIMARY KEY (x))", "CREATE TABLE b (x TEXT, CONSTRAINT pk PRIMARY KEY (x))",
        "CREATE TABLE c (x TEXT, CONSTRAINT a PRIMARY KEY (x))")
    with daemon.client() as client:
        rows = client.query("SELECT relname, relkind FROM pg_class WHERE relnamespace = 2200 ORDER BY 1").texts
        assert rows == [("a", "r"), ("b", "r"), ("b_pk", "i"), ("c", "r"), ("c_a", "i"), ("pk", "i")]
        assert client.value("SELECT count(DISTINCT oid) = count(*) FROM pg_class") == "t"
