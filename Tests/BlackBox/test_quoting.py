"""Values that drivers have quoted by PostgreSQL's rules, in texts that SQLite would cut elsewhere."""

import io
import json

import psycopg
import pytest

import wire
from spelling_fixtures import connection, db, psycopg2_connection  # noqa: F401 (fixtures)


@pytest.mark.parametrize("sql", ["SELECT ARRAY[)] x", "SELECT 1 = ANY(ARRAY[)]) x", "SELECT ARRAY[ARRAY[))", "SELECT ARRAY[(] x"])
def test_parentheses_that_cross_brackets(db, sql):
    """Ended the daemon."""
    with db.client() as client:
        assert client.query(sql).state == "42601"
        assert client.ask(wire.parse(sql)).state == "42601"
        assert client.value("SELECT 1") == "1"
        client.send(wire.terminate())


BRACKETS = ["a]", "b']", "];", "x] FROM s; DROP TABLE sv; --", "] - date(x)", "] FROM pg_class WHERE '", "a)]", "\\]'", "ARRAY['", "/*]*/"]


def test_lists_of_texts_with_brackets(db, psycopg2_connection, connection):
    """To SQLite's tokenizer `['a]` is a name: values were read as SQL, and statements behind them dropped without a word."""
    db.run("DROP TABLE IF EXISTS sv", "CREATE TABLE sv (array TEXT, x TEXT)")
    for cursor in [psycopg2_connection.cursor(), psycopg.ClientCursor(connection)]:
        for text in BRACKETS:
            db.run("DELETE FROM sv", "INSERT INTO sv (array) VALUES ('column')")
            cursor.execute("INSERT INTO sv (x) VALUES (%s); UPDATE sv SET x = 'found' WHERE x = ANY(%s); INSERT INTO sv (x) VALUES ('behind')",
                           [text, [text, "b"]])
            cursor.execute("SELECT x FROM sv WHERE x IS NOT NULL ORDER BY rowid")
            assert cursor.fetchall() == [("found",), ("behind",)], text
            cursor.execute("BEGIN; DELETE FROM sv WHERE x = ANY(%s); COMMIT", [["found", text]])
            cursor.execute("SELECT count(*) FROM sv")
            assert cursor.fetchone() == (2,), text
            if hasattr(cursor, "copy_expert"):
                cursor.execute("SELECT %s FROM sv", [[text]])
                assert [json.loads(row[0]) for row in cursor.fetchall()] == [[text]] * 2
                copied = io.StringIO()
                cursor.copy_expert(cursor.mogrify("COPY (SELECT count(*) FROM sv WHERE 'b' = ANY(%s)) TO STDOUT", [[text, "b"]]).decode(), copied)
                assert copied.getvalue() == "2\n"


@pytest.mark.parametrize("sql", [
    "SELECT ARRAY['x] FROM sv; DROP TABLE sv; --']", "SELECT array\n[ 'x] FROM sv; DROP TABLE sv; --']", "SELECT ARRAY /* */ ['x] FROM sv; DROP TABLE sv; --']",
    "SELECT array['x] FROM sv; DROP TABLE sv; --'] FROM sv"])
def test_what_is_quoted_is_no_statement(db, sql):
    db.run("DROP TABLE IF EXISTS sv", "CREATE TABLE sv (array TEXT)")
    with db.client() as client:
        assert json.loads(client.query(sql).check().texts[0][0] if "] FROM sv" not in sql[-9:] else '["x] FROM sv; DROP TABLE sv; --"]') == [
            "x] FROM sv; DROP TABLE sv; --"]
        assert client.value("SELECT count(*) FROM sv") == "0"
        client.send(wire.terminate())


@pytest.mark.parametrize("sql", [
    "SELECT x['y] FROM sv; DROP TABLE sv; --'] FROM sv", "SELECT x[ E'y] FROM sv; DROP TABLE sv; --'] FROM sv", "SELECT x['y'] FROM sv",
    "SELECT ARRAY[['x] FROM sv; DROP TABLE sv; --']]", "UPDATE sv SET x['y] = 1; DROP TABLE sv; --'] = 2",
    "SELECT x[1:'y] FROM sv --'] FROM sv", "SELECT x[lower('y] FROM sv --')] FROM sv", "SELECT x[/**/'y] FROM sv --'] FROM sv",
    "CREATE TABLE made AS SELECT ARRAY['x] FROM sv --']", "CREATE VIEW made AS SELECT ARRAY['x] FROM sv; DROP TABLE sv; --']",
    "SELECT 1 -- the id\r, '\n; DROP TABLE sv; --'", "SELECT 1 /* a /* b */ , '*/ , ' FROM sv --'", "SELECT x[\"y] FROM sv --\"] FROM sv",
    "SELECT 1 -- the id\r, \"\n; DROP TABLE sv; --\"", "SELECT 1 /* a /* b */ , 2 AS \"*/ , x FROM sv --\"",
    "DELETE FROM sv -- the first\rWHERE x = 1", "-- x\rDELETE FROM sv", "SELECT E'a'\n'\\'; DROP TABLE sv; --'", "SELECT 'a'\n'b'", "SELECT x'00' -- c\r\n '\\'", "SELECT E'a' -- c\n-- d\n\t'\\'; DROP TABLE sv; --'",
    "SELECT x[1] FROM sv", "SELECT sv.x[1:2] FROM sv", "SELECT (x)[1] FROM sv", "SELECT \"x\"[-1] FROM sv", "SELECT json_array(1, 2)[1]",
    "SELECT ARRAY['x] FROM sv --'], E'\\x41'", "SELECT E'\\'' || ' FROM sv --'", "CREATE VIEW made AS SELECT E'\\'' || ' FROM sv --'", "SELECT " + "ARRAY[" * 7 + "'x] FROM sv --'" + "]" * 7])
def test_subscripts_and_brackets_in_brackets_are_refused(db, sql):
    db.run("DROP TABLE IF EXISTS sv", "CREATE TABLE sv (x TEXT)")
    with db.client() as client:
        for reply in [client.query(sql), client.ask(wire.parse(sql))]:
            assert reply.state == "42601"
        assert client.query("SELECT [x], [x] AS [y z], x [1] FROM [sv]").check().texts == []
        assert client.query("SELECT 'a' AS\n'b', 'c' 'd' -- e\n, 'f' /* \n */").check().texts == [("a", "c", "f")]
        client.send(wire.terminate())


def test_a_text_that_sqlite_cuts_elsewhere_is_refused(db):
    """Nothing behind the end that SQLite finds is dropped without a word."""
    db.run("DROP TABLE IF EXISTS sv", "CREATE TABLE sv (x TEXT)")
    sql = "CREATE TRIGGER nv AFTER INSERT ON sv BEGIN SELECT 1; END; DROP TABLE sv"
    with db.client() as client:
        for reply in [client.query(sql.replace("; DROP", "DROP")), client.ask(wire.parse(sql))]:
            assert reply.state == "42601"
        assert client.value("SELECT count(*) FROM sv") == "0"
        assert client.value("SELECT count(*) FROM sqlite_schema WHERE name = 'nv'") == "0"
        client.send(wire.terminate())


@pytest.mark.parametrize("sql, want", [
    ("SELECT id FROM s WHERE id < 9 ORDER BY id LIMIT'1'::int8", [("1",)]), ("SELECT id FROM s WHERE'0'::bool", []),
    ("SELECT count(*) FROM s WHERE'1'::int8=1 AND'2'::int8=2", [("3",)]), ("SELECT count(*)FROM s WHERE id='1'::int8OR id=2", None)])
def test_literals_beside_words(db, sql, want):
    """`LIMIT1` would be another name for the table."""
    with db.client() as client:
        reply = client.query(sql)
        assert reply.texts == want if want is not None else reply.state == "42704" or reply.state == "42601"
        assert client.ask(wire.parse("SELECT 1 WHERE CAST($1 AS boolean)AND true"), wire.bind(["t"]), wire.execute()).check().texts == [("1",)]
        assert client.ask(wire.parse("SELECT 1 WHERE $1::numeric(10, 2)AND true"), wire.bind(["1"]), wire.execute()).check().texts == [("1",)]
        client.send(wire.terminate())


@pytest.mark.parametrize("sql, place", [
    ("SELECT nmae, '2024-01-02'::date FROM s", "nmae"), ("SELECT '2024-01-02'::date, nmae FROM s", None),
    ("/* a; b */ SELECT nmae -- c; d\n FROM s", "nmae"), ("SELECT id = ANY('{1,2}'::int8[]), nmae FROM s", None), ("INSERT INTO s (id, v) VALUES (DEFAULT, nmae)", None), ("SELECT 'é', nmae FROM s", "nmae")])
def test_the_position_of_an_error_is_one_in_what_was_sent(db, sql, place):
    with db.client() as client:
        for error in [client.query(sql).error, client.ask(wire.parse(sql)).error]:
            assert error["C"] == "42703" and error.get("P") == (None if place is None else str(sql.index(place) + 1))
        client.send(wire.terminate())
