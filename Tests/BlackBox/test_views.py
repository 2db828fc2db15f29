"""Views that INSTEAD OF triggers write: command tags count their rows, as in PostgreSQL, though SQLite's changes() does not."""

import psycopg
import pytest

import wire

SCHEMA = [
    "CREATE TABLE vt (id INTEGER PRIMARY KEY, b TEXT)", "CREATE TABLE log (line TEXT)",
    "CREATE VIEW vi AS SELECT id, b FROM vt",
    # Two statements a row, a trigger of their own, and a second one of the view.
    "CREATE TRIGGER vi_insert INSTEAD OF INSERT ON vi BEGIN INSERT INTO vt VALUES (new.id, new.b); INSERT INTO log VALUES ('i'); END",
    "CREATE TRIGGER vi_again INSTEAD OF INSERT ON vi BEGIN INSERT INTO log VALUES ('again'); END",
    "CREATE TRIGGER vi_update INSTEAD OF UPDATE ON vi BEGIN UPDATE vt SET b = new.b WHERE id = old.id; END",
    "CREATE TRIGGER vi_delete INSTEAD OF DELETE ON vi WHEN old.id < 100 BEGIN DELETE FROM vt WHERE id = old.id; END",
    "CREATE TRIGGER vt_insert AFTER INSERT ON vt BEGIN INSERT INTO log VALUES ('t'), ('t'); END",
    # Refuses what is negative, without an error.
    "CREATE TRIGGER vt_ignore BEFORE INSERT ON vt WHEN new.id < 0 BEGIN SELECT RAISE(IGNORE); END",
]


@pytest.fixture
def client(shared):
    shared.run("DROP VIEW IF EXISTS vi", "DROP TABLE IF EXISTS vt", "DROP TABLE IF EXISTS log", *SCHEMA)
    with shared.client() as client:
        yield client


@pytest.mark.parametrize("sql, tag", [
    ("INSERT INTO vi VALUES (1, 'x'), (2, 'y'), (3, 'z')", "INSERT 0 3"),
    ("INSERT INTO vi VALUES (4, 'x') RETURNING id", "INSERT 0 1"),
    ("-- TRIGGER vi_insert\nINSERT INTO vt VALUES (5, 'x'), (6, 'y')", "INSERT 0 2"),
    ("INSERT INTO vt VALUES (-1, 'x')", "INSERT 0 0"),
    ("UPDATE vi SET b = 'c' WHERE id > 100", "UPDATE 0"),
])
def test_tags(client, sql, tag):
    assert client.query(sql).check().tag == tag
    assert client.query("SELECT 1 WHERE false").check().tag == "SELECT 0"


@pytest.mark.parametrize("statement, tag", [("UPDATE vi SET b = 'c'", "UPDATE 3"), ("DELETE FROM vi WHERE id > 1", "DELETE 2")])
def test_tags_of_changes(client, statement, tag):
    client.query("INSERT INTO vi VALUES (1, 'x'), (2, 'y'), (3, 'z')").check()
    assert client.ask(wire.parse(statement), wire.bind(), wire.execute()).check().tag == tag
    # To SQL they are what they are to SQLite.
    assert client.value("SELECT changes()") == "0"


def test_beside_a_cursor(client):
    """The writer has another statement under way, and SQLite spells what it tells of triggers differently."""
    client.query("INSERT INTO vi VALUES (1, 'x'), (2, 'y'), (3, 'z')").check()
    client.query("BEGIN; UPDATE vt SET b = 'q'; DECLARE c CURSOR FOR SELECT * FROM vt; FETCH c").check()
    assert client.query("UPDATE vi SET b = 'c'").check().tag == "UPDATE 3"
    client.query("COMMIT").check()


def test_what_a_driver_reads(client, shared):
    with psycopg.connect(host=str(shared.directory), dbname=shared.name, user="tester") as connection:
        assert connection.execute("INSERT INTO vi VALUES (%s, %s), (2, 'y')", [1, "x"]).rowcount == 2
        assert connection.execute("UPDATE vi SET b = %s WHERE id = %s", ["z", 2]).rowcount == 1
        cursor = connection.execute("DELETE FROM vi RETURNING b")
        assert (cursor.rowcount, cursor.fetchall()) == (2, [("x",), ("z",)])


@pytest.mark.parametrize("others", [
    ["CREATE TABLE zy (a)"], ["CREATE TABLE zy (a)", "DROP TABLE zy"], ["CREATE TRIGGER vt_update AFTER UPDATE ON vt BEGIN INSERT INTO log VALUES ('u'); END"],
])
def test_behind_another_schema(shared, client, others):
    """Where SQLite prepares a statement again by itself it does not tell of the triggers of that run."""
    client.query("INSERT INTO vi VALUES (1, 'x'), (2, 'y'), (3, 'z')").check()
    client.ask(wire.parse("UPDATE vi SET b = 'p'", name="again"), wire.bind(statement="again"), wire.execute()).check()
    assert client.query("UPDATE vi SET b = 'c'").check().tag == "UPDATE 3"
    shared.run("DROP TABLE IF EXISTS zy", *others)
    assert client.query("UPDATE vi SET b = 'c'").check().tag == "UPDATE 3"
    shared.run("CREATE TABLE IF NOT EXISTS zz (a)", "DROP TABLE zz")
    assert client.ask(wire.bind(statement="again"), wire.execute()).check().tag == "UPDATE 3"
    client.query("BEGIN; CREATE TABLE zz (a)").check()
    assert client.query("UPDATE vi SET b = 'd'").check().tag == "UPDATE 3"
    client.query("ROLLBACK").check()
    assert client.query("UPDATE vi SET b = 'd'").check().tag == "UPDATE 3"


def test_of_two_clients(shared, client):
    """Their statements come one after the other on one connection, and may share commits."""
    with shared.client() as other:
        for number in range(1, 4):
            for each in (client, other):
                each.send(wire.query(f"INSERT INTO vi VALUES ({number if each is client else number + 10}, 'x')"))
            assert [each.reply().check().tag for each in (client, other)] == ["INSERT 0 1"] * 2
