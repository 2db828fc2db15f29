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


# The third row's is an error.
THIRD_FAILS = "SELECT x, abs(-9223372036854775807 - (x = 3)) FROM (SELECT 1 AS x UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4)"


def test_the_row_behind_those_that_were_asked_for_may_fail(client):
    """That is no matter of those before it, and is told to who asks for it."""
    client.query("BEGIN").check()
    reply = client.ask(wire.parse(THIRD_FAILS), wire.bind(portal="p"), wire.execute("p", 2)).check()
    assert column(reply) == ["1", "2"] and reply.messages[-2].kind == "s"
    assert client.ask(wire.execute("p", 1)).state == "22003"
    client.query("ROLLBACK").check()
    client.query(f"BEGIN; DECLARE c CURSOR FOR {THIRD_FAILS}").check()
    assert column(client.query("FETCH 1 FROM c").check()) == ["1"]
    assert client.query("MOVE 1 FROM c").check().tag == "MOVE 1"
    assert client.query("FETCH 1 FROM c").state == "22003"
    client.query("ROLLBACK").check()


@pytest.mark.parametrize("ask", ["FETCH 1", "MOVE 1", "FETCH FORWARD 1", "MOVE FORWARD 1"])
def test_the_row_behind_kept_rows_may_fail(client, table, ask):
    """A write has had the cursor's rows kept, and its error."""
    client.query(f"BEGIN; INSERT INTO t VALUES (1, 'a'); DECLARE c CURSOR FOR {THIRD_FAILS}").check()
    assert column(client.query("FETCH 1 FROM c").check()) == ["1"]
    client.query("INSERT INTO t VALUES (2, 'b')").check()
    assert client.query(f"{ask} FROM c").check().tag.endswith(" 1")
    assert client.query(f"{ask} FROM c").state == "22003"


def test_who_got_all_rows_keeps_no_reader(start_daemon):
    """asyncpg's fetchval() asks for one row. In a block that has none of a snapshot's promises its reader is everybody's again."""
    daemon = start_daemon(config="readers = 1\n")
    daemon.run("CREATE TABLE t (id)", "INSERT INTO t VALUES (1)")
    client, other = daemon.client(), daemon.client()
    client.query("BEGIN").check()
    for ask in [lambda: client.ask(wire.parse("SELECT id FROM t"), wire.bind(), wire.execute("", 1)),
                lambda: client.query("DECLARE c CURSOR FOR SELECT id FROM t; FETCH 1 FROM c"),
                lambda: client.query(f"CLOSE c; DECLARE c CURSOR FOR {THIRD_FAILS} LIMIT 3; FETCH 2 FROM c")]:
        ask().check()
        assert other.value("SELECT count(*) FROM t") == "1"
    assert "snapshot" not in daemon.errors
    assert client.query("FETCH 1 FROM c").state == "22003"


@pytest.mark.parametrize("passed", ["FETCH 2 FROM c", "MOVE 2 FROM c"])
@pytest.mark.parametrize("rest", ["FETCH ALL FROM c", "FETCH 5 FROM c"])
def test_what_is_kept_of_a_cursor_begins_behind_what_was_fetched(client, four, passed, rest):
    """A write has its other rows kept, in the transaction's own run and in one before its first write."""
    client.query("BEGIN; DECLARE c CURSOR FOR SELECT id FROM t ORDER BY id").check()
    assert client.query(passed).check().tag.endswith(" 2")
    client.query("INSERT INTO t VALUES (7, 'n')").check()
    assert column(client.query(rest).check()) == ["3", "4"]
    client.query("DECLARE d CURSOR FOR SELECT id FROM t ORDER BY id").check()
    assert column(client.query("FETCH 5 FROM d").check()) == ["1", "2", "3", "4", "7"]
    client.query("DELETE FROM t").check()
    assert client.query("FETCH 1 FROM d").check().tag == "FETCH 0"
    client.query("ROLLBACK").check()


def test_a_reply_waits_for_sync_or_flush(shared, four):
    """psycopg's pipelines take what has come for all that will: fetchall() behind two queries was of the first, or of the second."""
    client = shared.client()
    client.send(wire.parse("SELECT 1"), wire.bind(), wire.execute())
    shared.settle(client)
    assert not client.has_reply()
    client.send(wire.flush())
    assert [message.kind for message in client.receive_until("C")] == ["1", "2", "D", "C"]
    client.send(wire.bind(), wire.execute())
    shared.settle(client)
    assert not client.has_reply()
    # An error comes at once.
    client.send(wire.parse("SELECT nonsense"))
    assert [message.kind for message in client.receive_until("E")] == ["2", "D", "C", "E"]
    assert client.ask().status == "I"
