"""Portals, cursors and prepared statements, message by message."""

import struct

import pytest

import wire
from wire_fixtures import client, column, NUMBERS, numbers, table  # noqa: F401 (fixtures)


# Portals and row limits


def test_portal_suspended(client):
    client.query("BEGIN").check()
    reply = client.ask(wire.parse(numbers(5)), wire.bind(portal="p"), wire.execute("p", 2))
    assert reply.kinds == "12DDsZ" and reply.status == "T"
    reply = client.ask(wire.execute("p", 2))
    assert reply.kinds == "DDsZ" and column(reply) == ["3", "4"]
    reply = client.ask(wire.execute("p", 2))
    assert reply.kinds == "DCZ" and column(reply) == ["5"] and reply.tag == "SELECT 1"
    reply = client.ask(wire.execute("p", 2))
    assert reply.kinds == "CZ" and reply.tag == "SELECT 0"
    client.query("COMMIT").check()


def test_exactly_as_many_rows_as_asked_for(client):
    client.query("BEGIN").check()
    reply = client.ask(wire.parse(numbers(2)), wire.bind(portal="p"), wire.execute("p", 2), wire.execute("p", 2))
    # PostgreSQL does not look whether there are more; who looks says so at once.
    assert (reply.kinds, reply.tags) in [("12DDsCZ", ["SELECT 0"]), ("12DDCCZ", ["SELECT 2", "SELECT 0"])]


@pytest.mark.parametrize("rows", [0, -1, 6, 0x7FFFFFFF, -(1 << 31)])
def test_all_rows(client, rows):
    reply = client.ask(wire.parse(numbers(5)), wire.bind(), wire.execute(rows=rows))
    assert reply.kinds == "12DDDDDCZ" and reply.tag == "SELECT 5"


def test_several_open_portals(client):
    client.query("BEGIN").check()
    client.ask(wire.parse(NUMBERS.format("$1::int8 AND x >= 0"), name="s")).check()
    sizes = {"a": 10, "b": 7, "c": 25}
    for name, size in sizes.items():
        client.ask(wire.bind([size], portal=name, statement="s")).check()
    seen = {name: [] for name in sizes}
    open_portals = set(sizes)
    step = 0
    while open_portals:
        for name in sorted(open_portals):
            step += 1
            reply = client.ask(wire.execute(name, step % 4 + 1)).check()
            seen[name] += [int(x) for x in column(reply)]
            if reply.kinds.endswith("CZ"):
                open_portals.remove(name)
    assert seen == {name: list(range(1, size + 1)) for name, size in sizes.items()}
    client.query("COMMIT").check()


def test_portals_of_one_pipeline(client):
    reply = client.ask(
        wire.parse(numbers(3), name="s1"), wire.parse(numbers(4), name="s2"), wire.bind(portal="a", statement="s1"),
        wire.bind(portal="b", statement="s2"), wire.execute("a", 1), wire.execute("b", 2), wire.execute("a"),
        wire.execute("b"))
    assert reply.kinds == "1122DsDDsDDCDDCZ"
    assert column(reply) == ["1", "1", "2", "2", "3", "3", "4"]


def test_portal_ends_at_sync_outside_a_transaction(client):
    client.ask(wire.parse(numbers(5)), wire.bind(portal="p"), wire.execute("p", 2)).check()
    assert client.ask(wire.execute("p", 2)).state == "34000"


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_portal_ends_with_its_transaction(client, end):
    client.query("BEGIN").check()
    client.ask(wire.parse(numbers(5)), wire.bind(portal="p"), wire.execute("p", 2)).check()
    client.query(end).check()
    assert client.ask(wire.execute("p", 2)).state == "34000"


@pytest.mark.parametrize("asked", [wire.execute("p", 2), wire.describe_portal("p")])
def test_portal_of_a_failed_block(client, asked):
    """Its block says why it does not run, as PostgreSQL's does."""
    client.query("BEGIN").check()
    client.ask(wire.parse(numbers(5)), wire.bind(portal="p"), wire.execute("p", 2)).check()
    assert client.query("SELECT 1 FROM nowhere").state == "42P01"
    assert client.ask(asked).state == "25P02"
    client.query("ROLLBACK").check()
    assert client.ask(asked).state == "34000"


def test_closed_portal(client):
    client.query("BEGIN").check()
    reply = client.ask(
        wire.parse(numbers(5)), wire.bind(portal="p"), wire.execute("p", 2), wire.close_portal("p"), wire.execute("p", 2))
    assert reply.kinds == "12DDs3EZ" and reply.state == "34000"


def test_suspended_portal_sees_its_own_snapshot(shared, client, table):
    shared.run("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    client.query("BEGIN").check()
    client.ask(wire.parse("SELECT id, v FROM t ORDER BY id"), wire.bind(portal="p"), wire.execute("p", 1)).check()
    shared.run("DELETE FROM t WHERE id = 2")
    assert client.ask(wire.execute("p")).texts == [("2", "b"), ("3", "c")]
    assert client.query("SELECT id FROM t ORDER BY id").texts == [("1",), ("3",)], "READ COMMITTED"
    client.query("COMMIT").check()


def test_own_writes_under_an_open_portal(client, table):
    client.query("BEGIN; INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')").check()
    client.ask(wire.parse("SELECT id FROM t ORDER BY id"), wire.bind(portal="p"), wire.execute("p", 1)).check()
    client.query("INSERT INTO t VALUES (4, 'd')").check()
    assert column(client.ask(wire.execute("p", 2)).check()) == ["2", "3"]
    assert client.query("COMMIT").tag == "COMMIT"
    assert client.value("SELECT count(*) FROM t") == "4"


def test_suspended_returning_has_written_all(client, table):
    client.query("BEGIN").check()
    reply = client.ask(
        wire.parse("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c') RETURNING id"), wire.bind(portal="p"),
        wire.execute("p", 1))
    assert reply.kinds == "12DsZ"
    assert client.query("COMMIT").tag == "COMMIT"
    assert client.value("SELECT count(*) FROM t") == "3"


@pytest.mark.parametrize("sql", [
    "INSERT INTO t (id) VALUES (77)", "SHOW lock_timeout", "SELECT version()", "BEGIN", "", "COPY t TO STDOUT",
    "DECLARE d CURSOR FOR SELECT 1"])
@pytest.mark.parametrize("describes", [False, True])
def test_only_a_query_of_sqlite_is_a_cursor(client, table, sql, describes):
    client.query("BEGIN").check()
    client.ask(wire.parse(sql), wire.bind(portal="p")).check()
    messages = [wire.parse("FETCH 1 FROM p"), wire.bind(), wire.execute(), wire.sync()]
    if describes:
        messages.insert(2, wire.describe_portal())
    client.send(*messages)
    reply = client.reply()
    assert reply.kinds == ("12nEZ" if describes else "12EZ") and reply.state == "0A000", reply.errors
    assert client.query("ROLLBACK").tag == "ROLLBACK"
    assert client.value("SELECT count(*) FROM t") == "0"


def test_cursor_is_a_portal(client):
    client.query("BEGIN").check()
    assert client.query(f"DECLARE c CURSOR FOR {numbers(5)}").tag == "DECLARE CURSOR"
    assert column(client.query("FETCH 2 FROM c")) == ["1", "2"]
    reply = client.ask(wire.describe_portal("c"), wire.execute("c", 1))
    assert reply.kinds == "TDsZ" and column(reply) == ["3"]
    reply = client.query("FETCH ALL FROM c")
    assert column(reply) == ["4", "5"] and reply.tag == "FETCH 2"
    assert client.query("FETCH 1 FROM c").tag == "FETCH 0"
    assert client.query("CLOSE c").tag == "CLOSE CURSOR"
    assert client.query("FETCH 1 FROM c").state == "34000"


def test_fetch_by_an_extended_query(client):
    client.query(f"BEGIN; DECLARE c CURSOR FOR SELECT CAST(x AS INTEGER) AS x FROM ({numbers(3)})").check()
    for formats, first in [([1], struct.pack("!q", 1)), ([0], b"2"), ([], b"3")]:
        reply = client.ask(
            wire.parse("FETCH 1 FROM c"), wire.describe_statement(), wire.bind(result_formats=formats), wire.describe_portal(),
            wire.execute())
        assert reply.kinds == "1tT2TDCZ"
        assert reply.of("T")[1].columns[0].type == wire.INT8
        assert reply.of("T")[1].columns[0].format == (formats or [0])[0]
        assert reply.rows == [[first]]


@pytest.mark.parametrize("told", [True, False], ids=["described", "only fetched"])
def test_what_a_cursor_was_told_to_be(client, told):
    """Who has sent a Describe reads every FETCH by its answer, as psycopg does; who has not reads each by its own."""
    client.query("BEGIN; DECLARE c CURSOR FOR SELECT value FROM json_each('[1, 2.5]')").check()
    if told:
        reply = client.ask(wire.describe_portal("c")).check()
        assert reply.of("T")[0].columns[0].type == wire.INT8
    assert client.query("FETCH 1 FROM c").texts == [("1",)]
    reply = client.query("FETCH 1 FROM c")
    assert reply.of("T")[0].columns[0].type == (wire.INT8 if told else wire.FLOAT8)
    assert (reply.state, reply.texts) == (("42804", []) if told else (None, [("2.5",)]))
    client.query("ROLLBACK").check()


@pytest.mark.parametrize("end", ["FOR READ ONLY", "for\nread only ;", "WHERE value < 9 FOR READ /* as libpqxx does */ ONLY"])
def test_a_cursor_for_read_only(client, end):
    client.query(f"BEGIN; DECLARE c NO SCROLL CURSOR FOR SELECT value FROM json_each('[1, 2]') {end}").check()
    assert client.query("FETCH ALL FROM c; ROLLBACK").check().texts == [("1",), ("2",)]


def test_cursor_with_parameters(client):
    client.query("BEGIN").check()
    reply = client.ask(
        wire.parse("DECLARE c CURSOR FOR SELECT $1, $2, $3", types=[wire.INT2, wire.BYTEA, wire.UNKNOWN]),
        wire.bind([b"\0\7", b"\0\xff", b"x"], formats=[1]), wire.describe_portal(), wire.execute())
    assert reply.kinds == "12nCZ" and reply.tag == "DECLARE CURSOR"
    assert client.query("FETCH c").texts == [("7", "\\x00ff", "x")]


def test_declare_needs_a_transaction(client):
    assert client.query("DECLARE c CURSOR FOR SELECT 1").state == "25P01"


# Statements that are no SQL of SQLite's


def test_prepare_and_execute(client):
    assert client.query("PREPARE p (int8, text) AS SELECT $1, $2").tag == "PREPARE"
    assert client.query("EXECUTE p (7, 'x')").texts == [("7", "x")]
    assert client.ask(wire.bind([8, "y"], statement="p"), wire.execute()).texts == [("8", "y")]
    assert client.query("PREPARE p AS SELECT 1").state == "42P05"
    assert client.query("DEALLOCATE p").tag == "DEALLOCATE"
    assert client.query("EXECUTE p (7, 'x')").state == "26000"


@pytest.mark.parametrize(
    "sql", ["SELECT version()", "SELECT current_schema()", "SELECT current_database()", "SELECT pg_backend_pid()",
            "SELECT pg_is_in_recovery()", "SELECT current_user", "SHOW transaction isolation level",
            "SHOW server_version", "SELECT set_config('application_name', 'x', false)",
            "SELECT current_setting('server_version')"],
)
def test_what_drivers_ask_unasked(client, sql):
    assert client.query(sql).value
    assert client.extended(sql).value


def test_facts_of_the_session(shared, client):
    assert client.value("SELECT current_database()") == shared.name
    assert client.value("SELECT pg_backend_pid()") == str(client.process_id)
    assert client.value("SELECT current_user") == "tester"
    assert client.value("SHOW transaction_isolation") == "read committed"


def test_several_facts_of_the_session(shared, client):
    """DBeaver asks for two when it connects."""
    sql = "SELECT current_schema() AS s, session_user, pg_catalog.current_database() AS \"Base\", current_role, pg_backend_pid();"
    reply = client.query(sql)
    assert [c.name for c in reply.of("T")[0].columns] == ["s", "session_user", "Base", "current_role", "pg_backend_pid"]
    assert reply.texts == [("main", "tester", shared.name, "tester", str(client.process_id))] and reply.tag == "SELECT 1"
    reply = client.ask(wire.parse(sql), wire.describe_statement(), wire.bind(result_formats=[0, 0, 0, 0, 1]), wire.describe_portal(), wire.execute())
    assert [[c.type for c in told.columns] for told in reply.of("T")] == [[wire.TEXT] * 4 + [wire.INT4]] * 2
    assert reply.rows == [[b"main", b"tester", shared.name.encode(), b"tester", struct.pack("!i", client.process_id)]]
    assert client.query("SELECT user, upper(session_user)").error["H"].endswith("_user().")


def test_reset_script_of_a_pool(client):
    reply = client.query("SELECT pg_advisory_unlock_all(); CLOSE ALL; UNLISTEN *; RESET ALL;")
    assert reply.tags == ["SELECT 1", "CLOSE CURSOR ALL", "UNLISTEN", "RESET"]


def test_discard_all(client):
    client.ask(wire.parse("SELECT 1", name="s")).check()
    client.query("SET statement_timeout = 1000").check()
    assert client.query("DISCARD ALL").tag == "DISCARD ALL"
    assert client.value("SHOW statement_timeout") == "0"
    assert client.ask(wire.bind(statement="s")).state == "26000"
    client.query("BEGIN").check()
    assert client.query("DISCARD ALL").state == "25001"


@pytest.mark.parametrize("sql", ["DISCARD ALL; SELECT 1", "SELECT 1; DISCARD ALL", "SELECT 1; BEGIN; DISCARD ALL"])
def test_discard_all_beside_others(client, sql):
    """A message of several statements is a transaction: PostgreSQL refuses it there as in a block."""
    client.query("SET statement_timeout = 1000").check()
    assert client.query(sql).state == "25001"
    client.query("ROLLBACK")
    assert client.value("SHOW statement_timeout") == "1s"


@pytest.mark.parametrize("sql", ["DISCARD ALL;", ";DISCARD ALL; "])
def test_discard_all_beside_nothing(client, sql):
    client.query("SET statement_timeout = 1000").check()
    assert client.query(sql).tag == "DISCARD ALL"
    assert client.value("SHOW statement_timeout") == "0"


def test_unknown_catalogs(client):
    for sql in ["SELECT * FROM pg_catalog.pg_stat_replication", "SELECT * FROM pg_catalog.pg_locks",
                "SELECT * FROM information_schema.role_table_grants"]:
        assert client.query(sql).state == "42P01", sql


def test_function_call_is_refused(client):
    client.send(wire.message("F", struct.pack("!ihhih", 1, 0, 0, -1, 0)[:-4] + struct.pack("!h", 0)))
    reply = client.reply()
    assert reply.kinds == "EZ" and reply.state in ("0A000", "08P01")


def test_terminate(client):
    client.send(wire.query("SELECT 1"), wire.terminate(), wire.query("SELECT 2"))
    reply = client.reply()
    assert reply.value == "1"
    assert client.rest() == b""


def test_a_cursor_outlives_a_savepoint_that_was_released(client):
    client.query("BEGIN; SAVEPOINT s").check()
    client.query("DECLARE c CURSOR FOR SELECT value FROM json_each('[1, 2, 3]')").check()
    assert client.query("FETCH 1 FROM c").texts == [("1",)]
    client.query("RELEASE s; SAVEPOINT t").check()
    assert client.query("SELECT nothing").status == "E"
    client.query("ROLLBACK TO t").check()
    assert client.query("FETCH 1 FROM c").texts == [("2",)]
    # One that was opened behind the savepoint that is undone does not.
    client.query("DECLARE d CURSOR FOR SELECT 1; ROLLBACK TO t").check()
    assert client.query("FETCH 1 FROM d").state == "34000"
    client.query("ROLLBACK").check()


def test_a_cursor_that_failed_in_the_middle_of_a_fetch_cannot_be_run_again(client):
    """It has sent rows that it would count again, and told its columns, too."""
    client.query("DROP TABLE IF EXISTS mixed; CREATE TABLE mixed (id INTEGER PRIMARY KEY, v INTEGER)").check()
    client.query("INSERT INTO mixed VALUES (1, 1), (2, 'two'), (3, 3)").check()
    client.query("BEGIN; DECLARE c CURSOR FOR SELECT v FROM mixed ORDER BY id; SAVEPOINT s").check()
    reply = client.query("FETCH 3 FROM c")
    assert reply.state == "42804" and reply.texts == [("1",)]
    client.query("ROLLBACK TO s").check()
    assert client.query("FETCH 1 FROM c").state == "55000"
    client.query("ROLLBACK TO s").check()
    client.send(wire.parse("SELECT v FROM mixed ORDER BY id"), wire.bind(portal="p"), wire.execute(portal="p", rows=1), wire.sync())
    assert client.reply().texts == [("1",)]
    client.query("ROLLBACK").check()
