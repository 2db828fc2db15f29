"""Parameters for what programs do not show the columns of: virtual tables, and views that triggers write."""

import pytest

import wire
from types_fixtures import client, parameter_types  # noqa: F401 (fixtures)

SCHEMA = """
    DROP VIEW IF EXISTS iv; DROP TABLE IF EXISTS it; DROP TABLE IF EXISTS ft; DROP TABLE IF EXISTS rt;
    CREATE TABLE it (id INTEGER PRIMARY KEY, n INTEGER, t TEXT, kind);
    CREATE VIEW iv AS SELECT id, n, t, n + 1 AS more FROM it;
    CREATE TRIGGER iv_insert INSTEAD OF INSERT ON iv WHEN new.n > 5 BEGIN
        INSERT INTO it (id, n, t, kind) VALUES (new.id, new.n, new.t, typeof(new.n) || ' ' || typeof(new.t)); END;
    CREATE TRIGGER iv_update INSTEAD OF UPDATE ON iv BEGIN UPDATE it SET n = new.n, kind = typeof(new.n) WHERE id = old.id; END;
    CREATE VIRTUAL TABLE ft USING fts5(title, body);
    CREATE VIRTUAL TABLE rt USING rtree(id, low, high);
    INSERT INTO ft VALUES ('10', 'ten'), ('b', 'two words');
"""


@pytest.fixture
def db(shared):
    shared.run(SCHEMA)
    return shared


@pytest.mark.parametrize(
    "sql, types",
    [
        ("INSERT INTO iv (id, n, t) VALUES ($1, $2, $3)", [20, 20, 25]),
        ("INSERT INTO main.\"iv\" VALUES ($1, $2, $3, 1)", [20, 20, 25]),
        ("UPDATE iv SET n = $1 WHERE t = $2", [20, 25]),
        ("INSERT INTO ft (body, title) VALUES ($1, $2)", [25, 25]),
        ("SELECT rowid FROM ft WHERE title = $1", [25]),
        ("SELECT rowid FROM ft WHERE ft MATCH $1 AND ft.title <> $2", [25, 25]),
        ("UPDATE ft SET title = $1 WHERE rowid = $2", [25, 20]),
        ("INSERT INTO rt VALUES ($1, $2, $3)", [20, 701, 701]),
        ("SELECT id FROM rt WHERE low >= $1", [701]),
    ],
)
def test_announced(client, sql, types):
    assert parameter_types(client, sql) == types


def test_names_beyond_ascii(client, db):
    db.run('DROP VIEW IF EXISTS "Éa"', 'CREATE VIEW "Éa" AS SELECT id AS "É", t AS "é" FROM it',
           'CREATE TRIGGER ea INSTEAD OF INSERT ON "Éa" BEGIN INSERT INTO it (id, t) VALUES (new."É", new."é"); END')
    try:
        assert parameter_types(client, 'INSERT INTO "ÉA" ("é", "É") VALUES ($1, $2)') == [25, 20]
    finally:
        db.run('DROP VIEW "Éa"')


@pytest.mark.parametrize("sql", ["INSERT INTO iv (id, more) VALUES (1, $1)", "SELECT id FROM it, ft WHERE it.kind = $1"])
def test_undecided(client, sql):
    assert client.ask(wire.parse(sql), wire.describe_statement()).state == "42P18"


def test_what_a_trigger_sees_is_what_the_column_says(client):
    """No affinity converts the values of an INSTEAD OF trigger, and '7' > 5 is true of every text."""
    client.extended("INSERT INTO iv (id, n, t) VALUES ($1, $2, $3)", ["1", "7", "8"]).check()
    assert client.query("SELECT n, t, kind FROM it").check().texts == [("7", "8", "integer text")]
    client.extended("INSERT INTO iv (id, n, t) VALUES ($1, $2, $3)", ["2", "3", "8"]).check()
    assert client.value("SELECT count(*) FROM it") == "1"
    assert client.extended("INSERT INTO iv (id, n) VALUES (3, $1)", ["x"]).state == "22P02"


def test_full_text(client):
    assert client.extended("SELECT body FROM ft WHERE title = $1", ["10"]).check().value == "ten"
    assert client.extended("SELECT title FROM ft WHERE ft MATCH $1", ["words"]).check().value == "b"


def test_lastval(client):
    client.query("INSERT INTO it (id) VALUES (77)").check()
    assert client.value("SELECT LASTVAL()") == "77"


def test_lastval_before_there_was_one(db):
    with db.client() as client:
        assert client.query("SELECT lastval()").error["C"] == "55000"
        assert client.value("SELECT last_insert_rowid()") == "0"
        error = client.query("SELECT currval('it_id_seq')").error
        assert error["C"] == "42883" and "lastval()" in error["H"]


def test_a_plan_needs_no_types(client):
    """ActiveRecord's relation.explain: what it has prepared, with its values."""
    for explain in ("EXPLAIN", "EXPLAIN QUERY PLAN"):
        assert client.extended(f"{explain} SELECT * FROM it WHERE id = $1 LIMIT $2", ["1", "2"]).check().rows
