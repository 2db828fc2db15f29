"""Query strings of several statements."""

import pytest

from wire_fixtures import client, table  # noqa: F401 (fixtures)


@pytest.fixture
def four(shared, table):
    shared.run("INSERT INTO t VALUES (1, 'i'), (2, 'i'), (3, 'i'), (4, 'i')")


@pytest.mark.parametrize(
    "sql", ["INSERT INTO t VALUES (9, 'a'); COMMIT; SELEC 1", "BEGIN; INSERT INTO t VALUES (9, 'a'); COMMIT; BEGIN; SELEC 1"])
def test_a_misspelled_verb_at_the_end_keeps_all_from_running(client, four, sql):
    reply = client.query(sql)
    assert reply.kinds == "EZ" and reply.state == "42601" and reply.status == "I"
    assert reply.error["P"] == str(sql.index("SELEC") + 1)
    assert client.value("SELECT count(*) FROM t") == "4"


@pytest.mark.parametrize(
    "sql", ["SELECT 1; -- SELEC\nSELECT 2", "SELECT 1; /* SELEC */; SELECT 'SELEC;'", "VALUES (1); WITH x AS (SELECT 2) SELECT * FROM x",
            "EXPLAIN QUERY PLAN SELECT 1; SELECT 2", "; ; SELECT 1;; SELECT 2;"])
def test_what_begins_with_a_verb(client, sql):
    assert len(client.query(sql).check().tags) == 2


def test_in_a_failed_block(client):
    assert client.query("BEGIN; SELECT nope").status == "E"
    assert client.query("ROLLBACK; SELEC 1").state == "42601"
    assert client.query("SELECT 1").state == "25P02"
    client.query("ROLLBACK").check()


@pytest.mark.parametrize("sql", [
    "PREPARE x AS SELECT nosuch FROM t", "COPY (SELECT nosuch FROM t) TO STDOUT", "BEGIN; DECLARE c CURSOR FOR\nSELECT nosuch FROM t",
    "SELECT 1; PREPARE é AS SELECT 'é', nosuch FROM t", "PREPARE y AS SELECT 1::nosuch"])
def test_positions_in_a_query_inside_of_another_statement(daemon, sql):
    """psql marks them, with FETCH_COUNT in a DECLARE that it has written itself."""
    daemon.run("CREATE TABLE t (x)")
    with daemon.client() as client:
        error = client.query(sql).error
        assert sql[int(error["P"]) - 1:].lstrip(":").startswith("nosuch"), error
