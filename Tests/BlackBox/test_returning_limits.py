"""What RETURNING gives is fetched in parts: the statement is at its end by then, so what is wrong with it is told at once."""

import pytest

import wire

SCHEMA = [
    "CREATE TABLE parent (id INTEGER PRIMARY KEY)",
    "CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent)",
    "CREATE TABLE note (id INTEGER PRIMARY KEY, body)",
    "CREATE VIRTUAL TABLE words USING fts5(body)",
    "CREATE TABLE filled (id INTEGER PRIMARY KEY, body)",
    "CREATE TRIGGER fill AFTER INSERT ON filled BEGIN INSERT INTO words (body) VALUES (new.body); END",
]
WORDS = "INSERT INTO words (body) VALUES ('a'), ('b') RETURNING body"
FILLED = "INSERT INTO filled (body) VALUES ('a'), ('b') RETURNING id"
ORPHANS = "INSERT INTO child VALUES (1, 99), (2, 99) RETURNING id"


@pytest.fixture
def db(start_daemon):
    # FTS5 writes its tables for the first time since the start, or since a change of the schema: so the daemon is a new one each time.
    daemon = start_daemon(config="trusted_schema = true\n")
    daemon.run(*SCHEMA)
    return daemon


@pytest.fixture
def client(db):
    with db.client() as client:
        yield client


def limited(sql, rows, name=""):
    return [wire.parse(sql), wire.bind(portal=name), wire.execute(name, rows)]


def read(client, how):
    messages = {"nothing": [], "close": [wire.close_portal("p")], "execute": [wire.execute("p", 1)]}
    return client.ask(*messages[how]) if how in messages else client.query(how)


def words(db):
    with db.client() as client:
        return client.value("SELECT count(*) FROM words")


@pytest.mark.parametrize("sql", [WORDS, FILLED])
def test_a_full_text_index(db, client, sql):
    reply = client.ask(*limited(sql, 1)).check()
    assert reply.kinds == "12DsZ"
    assert words(db) == "2"
    assert client.query("SELECT count(*) FROM words WHERE words MATCH 'b'").texts == [("1",)]


@pytest.mark.parametrize("sql", [WORDS, FILLED])
@pytest.mark.parametrize("then", ["close", "nothing", "execute", "MOVE 0 FROM p"])
def test_a_full_text_index_in_a_block(db, client, sql, then):
    """SQLite rolled the whole transaction back, and what came behind was committed statement by statement."""
    client.query("BEGIN; INSERT INTO note VALUES (1, 'before')").check()
    client.ask(*limited(sql, 1, "p")).check()
    read(client, then).check()
    assert client.query("INSERT INTO note VALUES (2, 'behind')").check().status == "T"
    client.query("COMMIT").check()
    assert words(db) == "2"
    assert client.value("SELECT count(*) FROM note") == "2"


@pytest.mark.parametrize("sql", [WORDS, FILLED])
def test_a_row_that_cannot_be_sent_behind_a_savepoint(db, client, sql):
    client.query("BEGIN; INSERT INTO note VALUES (1, 'before'); SAVEPOINT s").check()
    # Announced as text, it is a blob.
    failing = sql.replace(" RETURNING ", " RETURNING max('a', x'00'), ")
    reply = client.ask(wire.parse(failing), wire.describe_statement(), wire.bind(), wire.execute())
    assert reply.state == "42804"
    assert client.query("ROLLBACK TO s").check().status == "T"
    client.query("COMMIT").check()
    assert client.value("SELECT count(*) FROM note") == "1"
    assert words(db) == "0"


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_a_foreign_key(client, rows):
    """SQLite looks at it when the statement ends."""
    reply = client.ask(*limited(ORPHANS, rows))
    assert reply.state == "23503" and reply.status == "I"
    assert client.value("SELECT count(*) FROM child") == "0"


@pytest.mark.parametrize("how", ["execute", "FETCH 1 FROM p", "FETCH 0 FROM p", "MOVE 1 FROM p"])
def test_a_foreign_key_in_a_block(client, how):
    client.query("BEGIN; INSERT INTO note VALUES (1, 'before'); SAVEPOINT s").check()
    client.ask(wire.parse(ORPHANS), wire.bind(portal="p")).check()
    assert read(client, how).state == "23503"
    client.query("ROLLBACK TO s; INSERT INTO note VALUES (2, 'behind'); COMMIT").check()
    assert client.value("SELECT count(*) FROM child") == "0"
    assert client.value("SELECT count(*) FROM note") == "2"


def test_a_foreign_key_beside_others(db):
    """In a group that shares its commit."""
    with db.client() as first, db.client() as second:
        first.query("BEGIN IMMEDIATE").check()
        second.send(*limited(ORPHANS, 1), wire.sync())
        first.query("INSERT INTO note VALUES (1, 'first')").check()
        first.query("COMMIT").check()
        assert second.reply().state == "23503"
        assert first.value("SELECT (SELECT count(*) FROM child) || (SELECT count(*) FROM note)") == "01"


def test_the_other_rows_are_there(client):
    client.query("BEGIN").check()
    sql = "INSERT INTO note SELECT value, 'x' FROM generate_series(1, 1000) RETURNING id"
    seen = client.ask(*limited(sql, 300, "p")).check().texts
    client.query("DELETE FROM note").check()
    seen += client.query("FETCH 300 FROM p").check().texts
    client.query("SAVEPOINT s; ROLLBACK TO s; RELEASE s").check()
    reply = client.ask(wire.execute("p")).check()
    assert [int(row[0]) for row in seen + reply.texts] == list(range(1, 1001))
    assert reply.tag == "INSERT 0 1000"
    client.query("COMMIT").check()


def test_more_than_is_kept(client):
    sql = "INSERT INTO note SELECT value, 'x' FROM generate_series(1, 10) RETURNING zeroblob(10000000)"
    reply = client.ask(*limited(sql, 1))
    assert reply.state == "54000" and "RETURNING" in reply.errors[-1]["D"] + reply.errors[-1]["H"]
    assert client.value("SELECT count(*) FROM note") == "0"
