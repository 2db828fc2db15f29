"""What only PostgreSQL has is an error that says what to write instead."""

import pytest


@pytest.fixture
def db(shared):
    shared.run("DROP TABLE IF EXISTS hinted; CREATE TABLE hinted (id INTEGER PRIMARY KEY, name TEXT, at TEXT)")
    return shared


HINTS = [
    ("SELECT * FROM hinted FOR UPDATE SKIP", "BEGIN IMMEDIATE"),
    ("SELECT * FROM hinted WHERE id = 1 for share wait", "BEGIN IMMEDIATE"),
    ("SELECT * FROM hinted h FOR NO KEY UPDATE nosuch", "BEGIN IMMEDIATE"),
    ("LOCK TABLE hinted", "BEGIN IMMEDIATE"),
    ("SELECT * FROM hinted WHERE name ILIKE 'a%'", "LIKE ignores the case"),
    ("TRUNCATE hinted", "DELETE FROM"),
    ("TRUNCATE TABLE hinted", "DELETE FROM"),
    ("CREATE EXTENSION pgcrypto", "no extensions"),
    ("CREATE EXTENSION IF NOT EXISTS pgcrypto", "no extensions"),
    ("CREATE SCHEMA app", "main"),
    ("CREATE SEQUENCE s", "INTEGER PRIMARY KEY"),
    ("CREATE USER alice", "[[access]]"),
    ("CREATE ROLE alice", "[[access]]"),
    ("GRANT SELECT ON hinted TO alice", "[[access]]"),
    ("CREATE DATABASE other", "another walpoold"),
    ("CREATE MATERIALIZED VIEW m AS SELECT 1", "CREATE VIEW"),
    ("CREATE INDEX CONCURRENTLY i ON hinted (name)", "Leave CONCURRENTLY out"),
    ("CREATE UNIQUE INDEX concurrently i ON hinted (name)", "Leave CONCURRENTLY out"),
    ("EXPLAIN ANALYZE SELECT * FROM hinted", "EXPLAIN QUERY PLAN"),
    ("SELECT now() - INTERVAL '1 day'", "datetime(x, '-1 day')"),
    ("SELECT * FROM hinted WHERE at > now() - interval '1 day'", "datetime(x, '-1 day')"),
    ("SELECT EXTRACT(timezone FROM at) FROM hinted", "date_part('year', x)"),
    ("SELECT pg_terminate_backend(1)", "KILL"),
    ("SELECT pg_cancel_backend(id) FROM hinted", "KILL"),
    ("SELECT date_trunc('decade', '2024-01-02')", "quarter"), ("SELECT date_part('year', '03:04:05')", "a time's hour"),
    ("SELECT pg_advisory_lock(1)", "BEGIN IMMEDIATE"), ("SELECT pg_try_advisory_xact_lock(1, 2)", "BEGIN IMMEDIATE"),
    ("SELECT pg_advisory_unlock(1) FROM hinted", "BEGIN IMMEDIATE"),
    ("SELECT id, unnest('{1}'::bigint[]) FROM hinted", "is a table here"),
    ("SELECT * FROM UNNEST(('{1}'::text[])::bigint[])", "is a table here"),
    ("SELECT Unnest(name) FROM hinted", "is a table here"),
    ("CREATE TABLE frame (index BIGINT, v TEXT)", "double quotes"), ("SELECT index FROM hinted", "double quotes"),
    ("SELECT h.transaction FROM hinted h", "double quotes"), ("CREATE INDEX i ON hinted (add)", "double quotes"),
]


@pytest.mark.parametrize("sql, words", HINTS)
def test_what_to_write_instead(db, sql, words):
    with db.client() as client:
        for reply in [client.query(sql), client.extended(sql)]:
            assert words in reply.error.get("H", ""), reply.errors
        assert client.value("SELECT count(*) FROM hinted") == "0"


@pytest.mark.parametrize("sql", ["SELEC 1", "SELECT 1 FROM", "CREATE NONSENSE x", "SELECT * FROM hinted WHERE ( id", "EXPLAIN NONSENSE"])
def test_a_mistake_is_only_a_mistake(db, sql):
    reply = db.client().query(sql)
    assert reply.state == "42601" and "H" not in reply.error, reply.errors


def test_what_is_there_by_another_name_is_no_hint(db):
    """now() is a function here; one whose name only begins so has nothing to do with it."""
    client = db.client()
    assert client.value("SELECT length(now())") in ("26", "19")
    reply = client.query("SELECT nowhere()")
    assert reply.state == "42883" and "H" not in reply.error, reply.errors


def test_a_unit_that_is_none(db):
    client = db.client()
    for function in ["date_trunc", "date_part"]:
        assert client.query(f"SELECT {function}('fortnight', '2024-01-02')").state == "22023"
