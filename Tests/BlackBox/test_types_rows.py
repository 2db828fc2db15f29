"""What is made of a row that is written says nothing of the parameters in it: a generated column, a partial index, RETURNING, DO UPDATE.

And rows that a statement keeps by itself: a UNION's, and those of an index that SQLite makes for a join.
"""

import datetime

import psycopg
import pytest

import wire

DATE = datetime.date(2024, 1, 2)

# The tables, the statement, its parameters without a type, and what column b is then.
WRITES = {
    "stored": ("CREATE TABLE x (id INTEGER PRIMARY KEY, b BOOLEAN, g INT AS (coalesce(b, 0)) STORED)",
               "INSERT INTO x (id, b) VALUES ($1, $2)", ["1", "true"], "integer 1"),
    "a text": ("CREATE TABLE x (id INTEGER PRIMARY KEY, b BOOLEAN, g TEXT AS (b))",
               "INSERT INTO x (id, b) VALUES ($1, $2)", ["1", "t"], "integer 1"),
    "of two": ("CREATE TABLE x (id INTEGER PRIMARY KEY, b BOOLEAN, i INT, g TEXT AS (ifnull(b, i)) STORED)",
               "INSERT INTO x (id, b, i) VALUES ($1, $2, $3)", ["1", "false", "7"], "integer 0"),
    "updated": ("CREATE TABLE x (id INTEGER PRIMARY KEY, b BOOLEAN, g TEXT AS (b)); INSERT INTO x (id) VALUES (1)",
                "UPDATE x SET b = $1 WHERE id = $2", ["true", "1"], "integer 1"),
    "partial": ("CREATE TABLE x (id INTEGER PRIMARY KEY, b BOOLEAN, i INT); CREATE INDEX ix ON x (id) WHERE b = i",
                "INSERT INTO x (id, b) VALUES ($1, $2)", ["1", "true"], "integer 1"),
    "partial, updated": ("CREATE TABLE x (id INTEGER PRIMARY KEY, b BOOLEAN, i INT); CREATE INDEX ix ON x (b = i); INSERT INTO x (id) VALUES (1)",
                         "UPDATE x SET b = $1", ["true"], "integer 1"),
    "do update": ("CREATE TABLE x (id INTEGER PRIMARY KEY, b BOOLEAN, i INT, g TEXT AS (b)); INSERT INTO x (id) VALUES (1)",
                  "INSERT INTO x (id, b) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET b = excluded.b WHERE excluded.b IS NOT x.i",
                  ["1", "true"], "integer 1"),
    "returned": ("CREATE TABLE x (id INTEGER PRIMARY KEY, b BOOLEAN, i INT); INSERT INTO x (id) VALUES (1)",
                 "UPDATE x SET b = $1 WHERE id = $2 RETURNING b = i, b = (SELECT max(i) FROM x)", ["true", "1"], "integer 1"),
    "inserted and returned": ("CREATE TABLE x (id INTEGER PRIMARY KEY, b BOOLEAN, i INT)",
                              "INSERT INTO x (id, b) VALUES ($1, $2) RETURNING b = i", ["1", "true"], "integer 1"),
    "a number": ("CREATE TABLE x (id INTEGER PRIMARY KEY, b INTEGER, g TEXT AS (b))",
                 "INSERT INTO x (id, b) VALUES ($1, $2)", ["1", "5"], "integer 5"),
    "a uuid": ("CREATE TABLE x (id INTEGER PRIMARY KEY, b UUID, g TEXT AS (b))",
               "INSERT INTO x (id, b) VALUES ($1, $2::uuid)", ["1", "12345678123412341234123456789012"],
               "text 12345678-1234-1234-1234-123456789012"),
    "strict": ("CREATE TABLE x (id INTEGER PRIMARY KEY, b INTEGER, g TEXT AS (b)) STRICT",
               "INSERT INTO x (id, b) VALUES ($1, $2)", ["1", "5"], "integer 5"),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes(shared, name):
    ddl, sql, values, stored = WRITES[name]
    shared.run("DROP TABLE IF EXISTS x", *ddl.split("; "))
    with shared.client() as client:
        client.ask(wire.parse(sql), wire.bind(values), wire.execute()).check()
        assert client.query("SELECT typeof(b) || ' ' || CAST(b AS TEXT) FROM x").value == stored


@pytest.mark.parametrize("made", ["late BOOLEAN AS (done > due)", "late BOOLEAN AS (done > due) STORED", "late TEXT AS (due)", ""])
def test_values_that_the_client_has_typed(shared, made):
    """A date is stored as one by INSERT and by UPDATE."""
    shared.run("DROP TABLE IF EXISTS x", f"CREATE TABLE x (id INTEGER PRIMARY KEY, due DATE, done TIMESTAMP{', ' + made if made else ''})")
    if not made:
        shared.run("CREATE INDEX ix ON x (id) WHERE done > due")
    with psycopg.connect(host=str(shared.directory), dbname=shared.name, user="tester", autocommit=True) as connection:
        connection.execute("INSERT INTO x (id, due, done) VALUES (1, %s, %s)", [DATE, datetime.datetime(2024, 1, 3, 4)])
        connection.execute("INSERT INTO x (id) VALUES (2)")
        connection.execute("UPDATE x SET due = %s, done = %s WHERE id = 2", [DATE, datetime.datetime(2024, 1, 3, 4)])
        assert connection.execute("SELECT CAST(due AS TEXT), CAST(done AS TEXT) FROM x").fetchall() == [("2024-01-02", "2024-01-03 04:00:00")] * 2


def test_where_it_meets_two_columns_it_is_still_one_value(shared):
    shared.run("DROP TABLE IF EXISTS x", "CREATE TABLE x (id INTEGER PRIMARY KEY, b BOOLEAN, i INT)", "INSERT INTO x VALUES (1, 0, 1)")
    with shared.client() as client:
        reply = client.ask(wire.parse("UPDATE x SET b = $1 WHERE i = $1"), wire.describe_statement(), wire.bind(["1"]), wire.execute()).check()
        assert reply.of("t")[0].types == [wire.TEXT] and reply.tag == "UPDATE 1"
        assert client.query("SELECT typeof(b) FROM x").value == "integer"


UNIONS = {
    "SELECT count(*) FROM (SELECT i FROM e UNION SELECT $1)": "3",
    "WITH q AS (SELECT i FROM e UNION SELECT $1) SELECT count(*) FROM q": "3",
    "SELECT group_concat(p.t) FROM p JOIN (SELECT i AS id FROM e WHERE i < 3 UNION SELECT $1) q ON q.id = p.u": "one,three",
    "SELECT count(*) FROM (SELECT i FROM e UNION ALL SELECT $1)": "4",
    "SELECT count(*) FROM (SELECT $1 UNION SELECT i FROM e)": "3",
    "SELECT count(*) FROM p WHERE u IN (SELECT i FROM e UNION SELECT $1)": "2",
}


@pytest.mark.parametrize("sql", UNIONS)
def test_a_row_of_a_union_is_there_once(shared, sql):
    shared.run("DROP TABLE IF EXISTS e; DROP TABLE IF EXISTS p; CREATE TABLE e (i INT); CREATE TABLE p (u INT, t TEXT)",
               "INSERT INTO e VALUES (1), (2), (3); INSERT INTO p VALUES (1, 'one'), (3, 'three'), (5, 'five')")
    with shared.client() as client:
        assert client.ask(wire.parse(sql), wire.bind(["3"]), wire.execute()).check().value == UNIONS[sql]
        client.query(f"PREPARE p AS {sql}").check()
        assert client.query("EXECUTE p('3')").value == UNIONS[sql]
        client.query("DEALLOCATE p").check()


@pytest.mark.parametrize("condition", ["l.author = coalesce($1, u.id)", "l.author = CASE WHEN u.id > 0 THEN $1 END", "l.author = (SELECT $1)"])
@pytest.mark.parametrize("value, want", [("3", 3), ("4", 0)])
def test_an_index_that_sqlite_makes_for_a_view(shared, condition, value, want):
    """What max() gives has no affinity, so nothing makes a number of a text that is compared with it."""
    shared.run("DROP VIEW IF EXISTS latest; DROP TABLE IF EXISTS msg; DROP TABLE IF EXISTS users",
               "CREATE TABLE msg (chan INT, author INT); CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)",
               "CREATE VIEW latest AS SELECT chan, max(author) AS author FROM msg GROUP BY chan",
               "INSERT INTO msg VALUES (1, 2), (1, 3), (2, 1); INSERT INTO users VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    with shared.client() as client:
        def run(sql):
            return client.ask(wire.parse(sql), wire.bind([value]), wire.execute()).check()

        exists = f"EXISTS (SELECT 1 FROM latest l WHERE {condition})"
        assert run(f"SELECT count(*) FROM users u WHERE {exists}").value == str(want)
        assert run(f"DELETE FROM users AS u WHERE NOT {exists}").tag == f"DELETE {3 - want}"


@pytest.mark.parametrize("sql", ["INSERT INTO v (id, b, ts, i) VALUES (1, $1, $2, $3)", "UPDATE v SET b = $1, ts = $2, i = $3 WHERE id = 1"])
def test_a_view_that_triggers_write(shared, sql):
    shared.run("DROP VIEW IF EXISTS v; DROP TABLE IF EXISTS w",
               "CREATE TABLE w (id INTEGER PRIMARY KEY, b BOOLEAN, ts TIMESTAMP, i INT)", "CREATE VIEW v AS SELECT id, b, ts, i FROM w",
               "CREATE TRIGGER vi INSTEAD OF INSERT ON v BEGIN REPLACE INTO w VALUES (NEW.id, NEW.b, NEW.ts, NEW.i); END",
               "CREATE TRIGGER vu INSTEAD OF UPDATE ON v BEGIN UPDATE w SET b = NEW.b, ts = NEW.ts, i = NEW.i WHERE id = NEW.id; END",
               "INSERT INTO w (id) VALUES (1)")
    with shared.client() as client:
        client.ask(wire.parse(sql), wire.bind(["f", "2024-01-02 03:04:05", "7"]), wire.execute()).check()
        assert client.query("SELECT typeof(b), b, ts, typeof(i) FROM w").check().texts == [("integer", "f", "2024-01-02 03:04:05", "integer")]
    with psycopg.connect(host=str(shared.directory), dbname=shared.name, user="tester", autocommit=True) as connection:
        connection.execute(sql.replace("$1", "%s").replace("$2", "%s").replace("$3", "%s"), [True, DATE, 8])
        assert connection.execute("SELECT typeof(b), CAST(ts AS TEXT), i FROM w").fetchone() == ("integer", "2024-01-02 00:00:00", 8)


def test_many_rows_of_which_the_first_has_a_parameter_twice(shared):
    shared.run("DROP TABLE IF EXISTS x", "CREATE TABLE x (b BOOLEAN, s TEXT)")
    rows = ["($1, $1)", *(f"(${2 * number}, ${2 * number + 1})" for number in range(1, 100))]
    with shared.client() as client:
        client.ask(wire.parse(f"INSERT INTO x (b, s) VALUES {', '.join(rows)}"), wire.bind(["t"] * 199), wire.execute()).check()
        assert client.query("SELECT typeof(b), count(*) FROM x WHERE rowid > 1 GROUP BY 1").check().texts == [("integer", "99")]
