"""DROP TABLE of what rows of other tables reference: SQLite deletes the table's rows first, and the foreign keys do the rest."""

import psycopg
import pytest

import wire


@pytest.fixture
def db(shared):
    shared.run("""
        DROP TABLE IF EXISTS note; DROP TABLE IF EXISTS child; DROP TABLE IF EXISTS "Parent";
        CREATE TABLE "Parent" (id INTEGER PRIMARY KEY, up REFERENCES parent ON DELETE CASCADE);
        CREATE TABLE child (id INTEGER PRIMARY KEY, p REFERENCES parent ON DELETE CASCADE);
        CREATE TABLE note (p INTEGER DEFAULT 1 REFERENCES parent ON DELETE SET NULL);
        INSERT INTO parent VALUES (1, NULL), (2, 1);
        INSERT INTO child VALUES (10, 1), (20, 2);
        INSERT INTO note VALUES (2);
    """)
    return shared


def untouched(client):
    return client.query("SELECT p FROM child ORDER BY id; SELECT p FROM note; SELECT count(*) FROM parent").texts == [
        ("1",), ("2",), ("2",), ("2",)]


NAMES = [
    "DROP TABLE parent", "drop table PARENT;", 'DROP TABLE "parent"', "DROP TABLE [Parent]", "DROP TABLE `parent`", "DROP TABLE 'parent'",
    "DROP TABLE main.parent", 'DROP TABLE IF EXISTS "main"."pArEnT"', "/* a */ DROP -- b\n TABLE/**/parent -- c",
    "; ;DROP TABLE parent;",
]


@pytest.mark.parametrize("sql", NAMES)
@pytest.mark.parametrize("way", [wire.Client.query, wire.Client.extended])
def test_refused(db, way, sql):
    client = db.client()
    reply = way(client, sql)
    assert reply.state == "2BP01" and not reply.tags and reply.status == "I", reply
    fields = reply.error
    assert 'cannot drop table "Parent"' in fields["M"]
    assert fields["D"].splitlines() == ['Rows of table "child" reference it with ON DELETE CASCADE.',
                                        'Rows of table "note" reference it with ON DELETE SET NULL.']
    assert '"child", "note"' in fields["H"] and "foreign_keys = false" in fields["H"]
    assert untouched(client)


def test_in_a_transaction(db):
    client = db.client()
    client.query("BEGIN; INSERT INTO note VALUES (1); SAVEPOINT s").check()
    reply = client.query("DROP TABLE parent")
    assert reply.state == "2BP01" and reply.status == "E"
    assert client.query("ROLLBACK TO s; DELETE FROM note WHERE p = 1; COMMIT").tags == ["ROLLBACK", "DELETE 1", "COMMIT"]
    assert untouched(client)
    # What it sees are its own transaction's rows.
    assert client.query("BEGIN; DELETE FROM child; DROP TABLE parent").state == "2BP01"
    client.query("ROLLBACK").check()
    client.query("BEGIN; DELETE FROM child; DELETE FROM note; DROP TABLE parent; ROLLBACK").check()
    assert untouched(client)


def test_in_a_string_of_statements(db):
    client = db.client()
    reply = client.query("DELETE FROM child; DROP TABLE parent; DELETE FROM note")
    assert reply.state == "2BP01" and reply.tags == ["DELETE 2"]
    assert untouched(client)
    assert client.query("DROP TABLE note; DROP TABLE child; DROP TABLE parent").tags == ["DROP TABLE"] * 3


def test_prepared_once_and_executed_when_there_are_rows(db):
    """What was prepared before there was such a table, or such rows, says nothing of what is there now."""
    client = db.client()
    drop = wire.bind(statement="drop"), wire.execute()
    db.run("DROP TABLE child; DROP TABLE note; DROP TABLE parent")
    client.ask(wire.parse("DROP TABLE IF EXISTS parent", name="drop"), *drop).check()
    db.run("CREATE TABLE parent (id INTEGER PRIMARY KEY)")
    client.ask(*drop).check()
    db.run("CREATE TABLE parent (id INTEGER PRIMARY KEY)", "CREATE TABLE child (p REFERENCES parent ON DELETE CASCADE)",
           "INSERT INTO parent VALUES (1)", "INSERT INTO child VALUES (1)")
    for _ in range(2):
        reply = client.ask(*drop)
        assert reply.state == "2BP01", reply
    assert db.value("SELECT count(*) FROM child") == "1"
    db.run("UPDATE child SET p = NULL")
    client.ask(*drop).check()
    assert db.value("SELECT count(*) FROM child") == "1"
    reply = client.ask(*drop)
    assert not reply.errors and reply.tag == "DROP TABLE"
    db.run("DROP TABLE child")


def test_a_virtual_table_s_name_taken_over(db):
    """Dropped by the same text, which SQLite's own cache has for the virtual table."""
    client = db.client()
    client.query("CREATE VIRTUAL TABLE taken USING fts5(a)").check()
    client.query("DROP TABLE taken").check()
    client.query("CREATE TABLE taken (id INTEGER PRIMARY KEY); INSERT INTO taken VALUES (1)").check()
    client.query("CREATE TABLE taker (t REFERENCES taken ON DELETE CASCADE); INSERT INTO taker VALUES (1)").check()
    assert client.query("DROP TABLE taken").state == "2BP01"
    client.query("DROP TABLE taker; DROP TABLE taken").check()


@pytest.mark.parametrize("sql", [
    "DROP TABLE child", "DROP TABLE note", "DROP TABLE IF EXISTS absent", "EXPLAIN DROP TABLE parent",
    "EXPLAIN QUERY PLAN DROP TABLE parent",
])
def test_not_refused(db, sql):
    client = db.client()
    client.query(f"BEGIN; {sql}; ROLLBACK").check()
    client.query(sql).check()
    assert client.value("SELECT count(*) FROM parent") == "2"


def test_children_without_references(db):
    db.run("UPDATE child SET p = NULL", "DELETE FROM note", "DROP TABLE parent")
    assert db.value("SELECT count(*) FROM child") == "2"


def test_a_member_of_a_group(db):
    """It alone gets the error."""
    holder, dropper, other = (db.client() for _ in range(3))
    holder.query("BEGIN IMMEDIATE").check()
    for client, sql in (dropper, "DROP TABLE parent"), (other, "INSERT INTO child VALUES (30, 1)"):
        client.send(wire.query(sql))
        db.settle(client)
    holder.query("COMMIT").check()
    assert dropper.reply().state == "2BP01"
    assert other.reply().tag == "INSERT 0 1"
    assert db.value("SELECT count(*) FROM child") == "3"


def test_a_driver(db):
    with psycopg.connect(host=str(db.directory), dbname=db.name, user="tester") as connection:
        with pytest.raises(psycopg.errors.DependentObjectsStillExist):
            connection.execute("DROP TABLE parent")
        connection.rollback()
    assert untouched(db.client())


# SQLite's way of changing a table: https://www.sqlite.org/lang_altertable.html, "Making Other Kinds Of Table Schema Changes"
ANEW = ["BEGIN", "CREATE TABLE anew (id INTEGER PRIMARY KEY, up, more)", "INSERT INTO anew (id, up) SELECT id, up FROM parent",
        "DROP TABLE parent", "ALTER TABLE anew RENAME TO parent", "COMMIT"]


def test_a_table_that_is_made_anew(db, start_daemon):
    client = db.client()
    refused = client.query("PRAGMA foreign_keys = OFF")
    assert refused.state == "42501" and "foreign_keys = false" in refused.error["H"]
    assert [client.query(sql).errors == [] for sql in ANEW] == [True, True, True, False, False, True]
    assert untouched(client)
    # With the configuration that the hints name nothing is lost.
    daemon = start_daemon(config="foreign_keys = false\n")
    daemon.run("CREATE TABLE parent (id INTEGER PRIMARY KEY, up)", "CREATE TABLE child (p REFERENCES parent ON DELETE CASCADE)",
               "INSERT INTO parent VALUES (1, 2)", "INSERT INTO child VALUES (1)", *ANEW)
    assert daemon.run("SELECT p FROM child").texts == [("1",)]


def test_a_virtual_table_and_what_references_its_contents(shared):
    with shared.client() as client:
        client.query("""
            CREATE VIRTUAL TABLE words USING fts5(a); INSERT INTO words (rowid, a) VALUES (1, 'x');
            CREATE TABLE mine (x INTEGER REFERENCES words_content (id) ON DELETE CASCADE, note); INSERT INTO mine VALUES (1, 'mine');
        """).check()
        reply = client.query("DROP TABLE words")
        assert reply.state == "2BP01" and '"mine"' in reply.error["D"]
        assert client.value("SELECT note FROM mine") == "mine"
        client.query("DROP TABLE mine; DROP TABLE words").check()
