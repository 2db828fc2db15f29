"""`like_escape`: what escapes in LIKE's patterns, for those who search as Django and Rails do."""

import psycopg
import pytest

import wire

ROWS = [(1, "50% off"), (2, "my_file"), (3, "myXfile"), (4, "c:\\dir"), (5, "50 off")]


@pytest.fixture
def db(shared):
    shared.run("DROP TABLE IF EXISTS f", "CREATE TABLE f (id INTEGER PRIMARY KEY, t TEXT, p TEXT)")
    with shared.client() as client:
        for id, text in ROWS:
            client.extended("INSERT INTO f VALUES ($1, $2, '50\\%')", [str(id), text]).check()
    return shared


@pytest.fixture
def client(db):
    with db.client(options="-c like_escape=backslash") as client:
        yield client


def ids(reply):
    return [int(row[0]) for row in reply.check().texts]


# As PostgreSQL 15 answers them.
PATTERNS = [
    ("t LIKE '%50\\%%'", [1]), ("t LIKE 'my\\_%'", [2]), ("t LIKE 'my_%'", [2, 3]), ("t LIKE '%\\\\%'", [4]), ("t NOT LIKE '%\\%%'", [2, 3, 4, 5]),
    ("t LIKE p || '%'", [1]), ("t LIKE p||'%' AND id < 5 OR t LIKE 'MY\\_FILE'", [1, 2]), ("(t LIKE ('my\\_' || 'file'))", [2]),
    ("t LIKE CASE WHEN id > 0 THEN 'my\\_file' ELSE CASE WHEN 1 THEN 'x' END END", [2]), ("t LIKE CASE 1 WHEN 1 THEN 'my!_' END || '%' ESCAPE '!'", [2]),
    (" AND ".join(["t LIKE CASE WHEN 1 THEN 'my\\_%' END"] * 300), [2]), ("t LIKE 'm' || CASE WHEN t LIKE CASE WHEN 1 THEN 'my\\_%' END THEN 'y\\_%' END", [2]),
    ("t LIKE (CASE WHEN id LIKE '%\\_' THEN 'x' ELSE 'my\\_file' END)", [2]), ("upper(t::text) LIKE upper('my\\_f%'::text)", [2]), ("t LIKE 'my\\_%' COLLATE nocase", [2]),
    ("t LIKE 'my!_%' ESCAPE '!'", [2]), ("t LIKE 'my\\_%' ESCAPE '!'", []), ("t LIKE (SELECT 'my\\_%')", [2]),
    # One in another's pattern.
    ("t LIKE (SELECT max(t) FROM f WHERE t LIKE ('my\\_' || (SELECT 'file' WHERE 'a_b' LIKE 'a\\_%' AND 'a_b' LIKE 'a%')))", [2, 3]),
    ("t LIKE 'my' || (CASE WHEN 'a' LIKE 'a' THEN '\\_' END) || 'file' AND 'a' NOT LIKE 'b'", [2]),
    ("id IN (SELECT id FROM f WHERE t LIKE 'my\\_%')", [2]), ("(t LIKE 'my\\_%') = (1 = 1)", [2]),
]


@pytest.mark.parametrize("condition, found", PATTERNS)
def test_patterns(db, client, condition, found):
    sql = f"SELECT id FROM f WHERE {condition} ORDER BY id"
    assert ids(client.query(sql)) == found
    assert ids(client.extended(sql)) == found
    # And of parameters, which are texts as before.
    client.query("BEGIN; DECLARE c CURSOR FOR " + sql).check()
    assert ids(client.query("FETCH ALL FROM c")) == found
    client.query("COMMIT; PREPARE like_it AS " + sql).check()
    assert ids(client.query("EXECUTE like_it")) == found
    client.query("DEALLOCATE like_it").check()


@pytest.mark.parametrize("sql, value, found", [("t LIKE $1", "my\\_%", [2]), ("t LIKE '%' || $1", "\\_file", [2]), ("t NOT LIKE $1::text", "%\\%%", [2, 3, 4, 5])])
def test_patterns_that_are_parameters(client, sql, value, found):
    sql = f"SELECT id FROM f WHERE {sql} ORDER BY id"
    reply = client.ask(wire.parse(sql), wire.describe_statement()).check()
    assert next(message.types for message in reply.messages if message.kind == "t") == [wire.TEXT]
    assert ids(client.ask(wire.bind([value.encode()]), wire.execute())) == found


def test_it_is_sqlites_by_default_and_can_be_changed(db):
    sql = "SELECT id FROM f WHERE t LIKE 'my\\_%'"
    with db.client() as client:
        assert client.value("SHOW like_escape") == "none"
        assert ids(client.query(sql)) == []
        client.query("SET like_escape = backslash").check()
        assert ids(client.query(sql)) == [2]
        assert ids(client.query("SET like_escape = none; " + sql)) == []
        assert ids(client.query("SET like_escape = backslash; " + sql)) == [2]
        assert client.query("SET like_escape = '!'").state == "22023"
    # Nobody else's texts are touched.
    with db.client() as client:
        assert ids(client.query(sql)) == []


def test_what_is_not_understood_is_refused(client):
    for pattern, hint in {"NOT 'x'": "parentheses", "EXISTS (SELECT 1)": "parentheses", "'x' < 3": "ESCAPE", "'x' COLLATE nocase >= 1": "ESCAPE"}.items():
        error = client.query(f"SELECT id FROM f WHERE t LIKE {pattern}").error
        assert error["C"] == "0A000" and hint in error["H"] and error["P"] == "26"
    # What the hints say is understood.
    for pattern in ["(NOT 'x')", "(EXISTS (SELECT 1))", "'x' ESCAPE '\\' < 3"]:
        client.query(f"SELECT id FROM f WHERE t LIKE {pattern}").check()


def test_a_refusal_of_another_text_has_no_place(client):
    for sql in ["SELECT extract(year FROM '2024-01-01'), t LIKE NOT 'a' FROM f", "(SELECT 1 ORDER BY 1) UNION (SELECT t LIKE NOT 'a' FROM f)"]:
        error = client.query(sql).error
        assert error["C"] == "0A000" and "P" not in error


def test_columns_called_as_words_of_sqlites(client):
    for name in ["offset", "replace", "window", "ignore", "filter", "over", "match", "glob", "regexp", "by", "like"]:
        for condition in ["{} LIKE 'a\\_c'", "NOT ({} NOT LIKE 'a\\_c')", "'a_c' LIKE {} || '\\_c'", "1 = 1 AND t.{} LIKE 'a\\_c'", "NOT {} NOT LIKE 'a\\_c'"]:
            value = "a" if "||" in condition else "a_c"
            sql = "SELECT " + condition.format(name) + f" FROM (SELECT '{value}' AS {name}) AS t"
            assert client.query(sql).check().texts == [("t",)], sql
        assert client.query(f"SELECT NOT {name} LIKE 'a\\_c' FROM (SELECT 'a_c' AS {name})").check().texts == [("f",)]
        for clause in ["ORDER BY {} LIKE 'a\\_c'", "GROUP BY {} LIKE 'a\\_c'"]:
            sql = f"SELECT {name} FROM (SELECT 'a_c' AS {name} UNION ALL SELECT 'abc') " + clause.format(name)
            assert client.query(sql).check().texts == [("abc",), ("a_c",)], sql


def test_an_altered_table_has_what_was_written(db, client):
    client.query("BEGIN; ALTER TABLE f ADD COLUMN z TEXT CHECK (z LIKE 'a\\_%')").check()
    assert "ESCAPE" not in client.value("SELECT sql FROM sqlite_schema WHERE name = 'f'")
    client.query("ROLLBACK").check()


@pytest.mark.parametrize("sql", [
    "SELECT t LIKE t'name' FROM f", "SELECT t LIKE 'a\\_b' FILTER FROM f", "SELECT t LIKE upper('my\\_%') filter FROM f", "SELECT t LIKE upper('my\\_%') over FROM f", "SELECT 'x' LIKE max(t) OVER w FROM f WINDOW w AS (ORDER BY id)", "SELECT * FROM f like WHERE id = 1",
    "SELECT count(*) OVER like FROM f WINDOW like AS (ORDER BY id)", "WITH like AS (SELECT 1 AS a) SELECT a FROM like",
    "WITH RECURSIVE like(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM like WHERE a < 3) SELECT count(*) FROM like", "WITH like(a) AS MATERIALIZED (SELECT 1) SELECT a FROM like", "SELECT like('a', 'a')", "SELECT 1 AS like", "SELECT \"like\" FROM (SELECT 1 AS \"like\")", "SELECT 'x LIKE y'", "SELECT t GLOB '*' FROM f"])
def test_other_words_of_the_name(client, sql):
    client.query(sql).check()


def test_definitions_and_writes(db, client):
    client.query("BEGIN; CREATE VIEW files AS SELECT id FROM f WHERE t LIKE 'my\\_%'").check()
    assert ids(client.query("SELECT id FROM files")) == []
    assert client.query("UPDATE f SET p = 'x' WHERE t LIKE 'my\\_%'").check().tag == "UPDATE 1"
    assert client.query("DELETE FROM f WHERE t LIKE 'my\\_%' RETURNING id").check().texts == [("2",)]
    client.query("ROLLBACK").check()


def test_an_index_serves_as_before(db, client):
    client.query("BEGIN; CREATE INDEX f_t ON f (t COLLATE NOCASE)").check()
    for pattern in ["my%", "my\\_%"]:
        assert "f_t" in client.query(f"EXPLAIN QUERY PLAN SELECT id FROM f WHERE t LIKE '{pattern}'").check().texts[0][3]
    client.query("ROLLBACK").check()


def test_a_pattern_that_needs_no_escape_is_that_of_a_partial_index(db, client):
    client.query("BEGIN; CREATE UNIQUE INDEX f_u ON f (t) WHERE t LIKE 'my%'").check()
    assert client.query("INSERT INTO f VALUES (9, 'my_file', 'p') ON CONFLICT (t) WHERE t LIKE 'my%' DO NOTHING").check().tag == "INSERT 0 0"
    assert "f_u" in str(client.query("EXPLAIN QUERY PLAN SELECT p FROM f INDEXED BY f_u WHERE t LIKE 'my%'").check().texts)
    client.query("ROLLBACK").check()


def test_what_is_explained_is_what_would_run(db, client):
    """A partial index of SQLite's pattern is none of PostgreSQL's."""
    client.query("CREATE INDEX f_p ON f (p) WHERE t LIKE 'my\\_%'").check()
    sql = "SELECT p FROM f INDEXED BY f_p WHERE t LIKE 'my\\_%'"
    with db.client() as other:
        other.query(sql).check()
    for explain in ["", "EXPLAIN QUERY PLAN ", "EXPLAIN "]:
        assert client.query(explain + sql).error["M"] == "no query solution"
    # A definition is nobody's to run.
    client.query("EXPLAIN CREATE VIEW v AS SELECT t LIKE NOT 'x' FROM f").check()


def test_psycopg(db):
    with psycopg.connect(host=str(db.directory), dbname=db.name, user="tester", options="-c like_escape=backslash") as connection:
        for cursor in (connection.cursor(), psycopg.ClientCursor(connection)):
            assert cursor.execute("SELECT id FROM f WHERE t LIKE %s", ("%50\\%%",)).fetchall() == [(1,)]


@pytest.mark.parametrize("sql", [
    "SELECT t LIKE (" + "t LIKE (" * 40_000 + "'x'" + ")" * 40_001 + " FROM f", "SELECT " + " OR ".join(["t LIKE 'x'"] * 50_000) + " FROM f",
    "SELECT t LIKE " + "CASE WHEN t LIKE " * 20_000 + "'x'" + " THEN 1 END" * 20_000 + " FROM f", "SELECT t LIKE " + "'x' || " * 60_000 + "'x' FROM f",
    "SELECT t LIKE " + "-" * 100_000 + "1 FROM f", "SELECT t LIKE", "SELECT t LIKE (", "LIKE", "SELECT t NOT LIKE 'x' ESCAPE", "SELECT 1 NOT", "SELECT (t LIKE 'x'"])
def test_long_and_broken_texts(client, sql):
    """None takes time of its square, or the daemon with it."""
    # What SQLite cannot read either is a syntax error.
    assert client.query(sql).state in ("54001", "54000", "42601", "0A000")
    assert client.value("SELECT 1") == "1"
