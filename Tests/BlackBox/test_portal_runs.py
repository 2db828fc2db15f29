"""What a portal has done it does not do again, and its rows come as many at a time as the client asks for."""

import struct

import pytest

import wire
from wire_fixtures import client, column, table  # noqa: F401 (fixtures)


@pytest.fixture
def four(shared, table):
    shared.run("INSERT INTO t VALUES (1, 'i'), (2, 'i'), (3, 'i'), (4, 'i')")


def test_executing_a_call_stops_where_the_client_says(client, four):
    client.query("PREPARE ins AS INSERT INTO t(id, v) SELECT max(id) + 1, 'e' FROM t RETURNING id").check()
    reply = client.ask(wire.parse("EXECUTE ins"), wire.bind(), wire.execute("", 1), wire.execute("", 1)).check()
    assert column(reply) == ["5"]
    assert client.value("SELECT count(*) FROM t") == "5"


def test_executing_a_call_of_a_select_again_goes_on(client, four):
    client.query("PREPARE sel (int8) AS SELECT id FROM t WHERE id > $1 ORDER BY id").check()
    reply = client.ask(
        wire.parse("EXECUTE sel (1)"), wire.bind(result_formats=[1]), wire.describe_portal(), wire.execute("", 1),
        wire.execute(), wire.execute()).check()
    assert reply.rows == [[struct.pack("!q", n)] for n in (2, 3, 4)]
    assert reply.tags == ["SELECT 2", "SELECT 0"]


@pytest.mark.parametrize(
    "sql", ["INSERT INTO t VALUES (9, 'n')", "DELETE FROM t WHERE id = 1", "CREATE TABLE IF NOT EXISTS u (x)",
            "SET application_name = 'x'", "PREPARE again AS SELECT 1", "EXECUTE put"])
def test_what_gives_no_rows_does_not_run_twice(client, four, sql):
    client.query("DEALLOCATE ALL; PREPARE put AS INSERT INTO t VALUES (77, 'p')").check()
    client.query("BEGIN").check()
    reply = client.ask(wire.parse(sql), wire.bind(portal="p"), wire.execute("p"), wire.execute("p"))
    assert reply.state == "55000" and len(reply.tags) == 1
    assert reply.error["M"] == 'portal "p" cannot be run'
    client.query("ROLLBACK; DEALLOCATE ALL").check()


def test_begin_does_not_run_twice(client):
    reply = client.ask(wire.parse("BEGIN"), wire.bind(portal="b"), wire.execute("b"), wire.execute("b"))
    assert reply.state == "55000" and reply.status == "E"
    client.query("ROLLBACK").check()


@pytest.mark.parametrize(
    "sql, tag", [("SHOW server_version", "SHOW"), ("SELECT version()", "SELECT 0"), ("FETCH 1 FROM c", "FETCH 0"),
                 ("SELECT 1", "SELECT 0"), ("SELECT oid FROM pg_catalog.pg_class LIMIT 1", "SELECT 0"),
                 ("INSERT INTO t VALUES (9, 'n') RETURNING id", "INSERT 0 0")])
def test_what_gave_its_rows_has_no_more(client, four, sql, tag):
    client.query("BEGIN; DECLARE c CURSOR FOR SELECT id FROM t").check()
    reply = client.ask(wire.parse(sql), wire.bind(portal="p"), wire.execute("p"), wire.execute("p")).check()
    assert len(reply.rows) == 1 and reply.tags[1] == tag
    client.query("ROLLBACK").check()
