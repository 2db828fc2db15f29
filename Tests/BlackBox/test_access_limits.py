"""What a rule leaves those whom it lets in: sessions, ceilings of their timeouts, time at the writer."""

import os

import pytest

import wire
from access import ALICE, BOB, refused, started
from daemon import eventually
from identity import session_as
from logs import field, line, lines
from timeouts_fixtures import time_passes

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="needs to become other users")


def test_sessions_of_a_rule(serve):
    daemon = serve(f'[[access]]\nuid = [{ALICE}, {BOB}]\nrole = "writer"\nmax_sessions = 3\n[[access]]\nuser = "all"\nrole = "admin"\n')
    sessions = [session_as(daemon, user) for user in (ALICE, BOB, ALICE)]
    for database in ["app", "walpool"]:
        error = refused(started(daemon, BOB, database=database), "53300")
        assert "max_sessions is 3" in error["H"]
    line(daemon, "a session ended with an error", count=2)
    for told in lines(daemon, "a session ended with an error"):
        assert field(told, "sqlstate") == "53300" and field(told, "rule") == f"uid {ALICE}, {BOB}"
    # Others are not concerned, and those that are in are well.
    daemon.client().query("SELECT 1").check()
    for session in sessions:
        session.query("SELECT 1").check()
    # One that was refused for another reason counts no longer.
    sessions.pop().close()
    eventually(lambda: started(daemon, ALICE, database="other").state == "3D000", "a place")
    eventually(lambda: not started(daemon, BOB).errors, "a place")
    refused(started(daemon, BOB), "53300")


def test_a_limit_that_comes_with_a_reload_counts_who_is_there(serve):
    rules = f'[[access]]\nuid = {ALICE}\nrole = "writer"\n%s[[access]]\nuser = "all"\nrole = "admin"\n'
    daemon = serve(rules % "")
    sessions = [session_as(daemon, ALICE) for _ in range(3)]
    (daemon.directory / "walpoold.toml").write_text(rules % "max_sessions = 3\n")
    daemon.client(database="walpool").query("RELOAD").check()
    refused(started(daemon, ALICE), "53300")
    sessions.pop().close()
    eventually(lambda: not started(daemon, ALICE).errors, "a place")


CEILINGS = f"""
statement_timeout = "9s"
[[access]]
uid = {ALICE}
role = "writer"
statement_timeout = "300ms"
transaction_timeout = "1h"
idle_in_transaction_session_timeout = "2h"
client_write_timeout = "10s"
[[access]]
user = "root"
role = "admin"
"""


def test_ceilings(serve):
    daemon = serve(CEILINGS)
    assert daemon.client().value("SHOW statement_timeout") == "9s"
    client = session_as(daemon, ALICE)
    ceilings = {"statement_timeout": "300ms", "transaction_timeout": "1h", "idle_in_transaction_session_timeout": "2h",
                "client_write_timeout": "10s"}
    for name, ceiling in ceilings.items():
        assert client.value(f"SHOW {name}") == ceiling
        for longer in ["0", "3h", "7201s", "2147483647"]:
            for sql in [f"SET {name} = '{longer}'", f"SELECT set_config('{name}', '{longer}', false)",
                        f"BEGIN; SET LOCAL {name} = '{longer}'", f"SET SESSION {name} TO '{longer}'"]:
                error = client.query(sql).error
                assert error["C"] == "22023" and ceiling in error["M"]
                client.query("ROLLBACK").check()
                assert client.value(f"SHOW {name}") == ceiling
        client.query(f"SET {name} = '7ms'").check()
        assert client.value(f"SHOW {name}") == "7ms"
        client.query(f"RESET {name}").check()
        assert client.value(f"SHOW {name}") == ceiling
        refused(started(daemon, ALICE, options=f"-c{name}=0"), "22023")
        refused(started(daemon, ALICE, **{name: "5h"}), "22023")
        assert session_as(daemon, ALICE, options=f"-c{name}=5ms").value(f"SHOW {name}") == "5ms"
    for everything in ["RESET ALL", "DISCARD ALL"]:
        client.query("SET statement_timeout = 5; SET client_write_timeout = 5").check()
        client.query(everything).check()
        for name, ceiling in ceilings.items():
            assert client.value(f"SHOW {name}") == ceiling
    # The failed SET of a block leaves the settings as they were, and so does its ROLLBACK.
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"
    # It cannot be told to lift the limit.
    timeout = client.query(endless).error
    assert timeout["C"] == "57014" and "= 0" not in timeout["H"] and "up to what its access rule allows" in timeout["H"]
    client.query("BEGIN; SET statement_timeout = '20ms'").check()
    client.query("ROLLBACK").check()
    assert client.value("SHOW statement_timeout") == "300ms"
    assert client.query(endless).state == "57014"


WRITER_TIME = f"""
writer_idle_limit = 0
[[access]]
uid = {ALICE}
role = "writer"
writer_time_limit = "400ms"
[[access]]
user = "root"
role = "admin"
"""
ENDLESS_WRITE = ("INSERT INTO t SELECT n FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "
                 "SELECT n FROM c WHERE n < 0)")


@pytest.fixture
def timed(serve):
    daemon = serve(WRITER_TIME)
    daemon.run("CREATE TABLE t (n)")
    return daemon


def check_released(daemon):
    """Others write, and nothing of the session's is there."""
    assert daemon.client().query("INSERT INTO t VALUES (0)").tag == "INSERT 0 1"
    assert daemon.value("SELECT count(*) FROM t") == "1"


@pytest.mark.parametrize("begin", ["BEGIN; INSERT INTO t VALUES (1)", "BEGIN IMMEDIATE", "BEGIN; SAVEPOINT a; INSERT INTO t VALUES (1)"])
def test_writer_time_of_an_idle_one(timed, begin):
    client = session_as(timed, ALICE)
    client.query(begin).check()
    # Nobody waits, and still.
    reply = client.reply()
    assert reply.closed and reply.error["S"] == "FATAL" and reply.error["C"] == "25P04"
    assert "writer_time_limit" in reply.error["H"]
    check_released(timed)


def test_writer_time_of_a_pipeline_without_its_end(timed):
    client = session_as(timed, ALICE)
    client.send(wire.parse("INSERT INTO t VALUES (1)"), wire.bind(), wire.execute(), wire.flush())
    reply = client.reply()
    assert reply.closed and reply.error["S"] == "FATAL" and reply.error["C"] == "25P04"
    check_released(timed)


def test_writer_time_of_a_long_statement(timed):
    client = session_as(timed, ALICE)
    for sql in [ENDLESS_WRITE, f"SELECT 1; {ENDLESS_WRITE}"]:
        # Without a block the statement fails, and the session goes on.
        error = client.query(sql).error
        assert error["S"] == "ERROR" and error["C"] == "57014" and "writer" in error["M"]
        assert client.query("SELECT 1").value == "1"
    client.query("BEGIN; SAVEPOINT a").check()
    reply = client.query(ENDLESS_WRITE)
    assert reply.closed and reply.error["S"] == "FATAL" and reply.error["C"] == "25P04"
    check_released(timed)


def test_writer_time_of_a_copy(timed):
    """Without a block it is a statement that fails, also where it waits for its client's data."""
    client = session_as(timed, ALICE)
    # More than is read before the writer is taken.
    client.send(wire.query("COPY t FROM STDIN"), *[wire.message("d", b"7\n" * 500_000)] * 5)
    reply = client.reply()
    assert not reply.closed and reply.error["S"] == "ERROR" and reply.error["C"] == "57014" and "writer" in reply.error["M"]
    assert client.query("SELECT 1").value == "1"
    check_released(timed)


def test_writer_time_of_many_short_statements(timed):
    client = session_as(timed, ALICE)
    client.query("BEGIN; INSERT INTO t VALUES (1)").check()

    def is_ended():
        try:
            client.send(*[wire.query("SELECT 1")] * 50)
            replies = [client.reply() for _ in range(50)]
        except OSError:
            return True
        return replies[-1].closed

    eventually(is_ended, "the end")
    check_released(timed)


@pytest.mark.parametrize("sql, tag", [
    ("INSERT INTO t VALUES (0)", "INSERT 0 1"), ("BEGIN; INSERT INTO t VALUES (0)", "INSERT 0 1"), ("BEGIN IMMEDIATE", "BEGIN")])
def test_writer_time_is_not_the_time_of_waiting_for_another_process(timed, outsider, sql, tag):
    other, client = outsider(timed.database), session_as(timed, ALICE)
    other("BEGIN IMMEDIATE")
    client.send(wire.query(sql))
    time_passes(timed, 600)
    assert not client.has_reply()
    other("ROLLBACK")
    assert client.reply().check().tags[-1] == tag


def test_writer_time_is_not_the_time_of_waiting(timed):
    holder, client = timed.client(), session_as(timed, ALICE)
    holder.query("BEGIN IMMEDIATE").check()
    client.send(wire.query("INSERT INTO t VALUES (0)"))
    timed.settle(client)
    with timed.client() as other:
        other.query("SET statement_timeout = '600ms'").check()
        assert other.query("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c").state == "57014"
    holder.query("COMMIT").check()
    assert client.reply().tag == "INSERT 0 1"


def test_writer_time_hurts_nobody_in_the_same_group(timed):
    holder, slow, others = timed.client(), session_as(timed, ALICE), [timed.client() for _ in range(4)]
    holder.query("BEGIN IMMEDIATE").check()
    slow.send(wire.query(ENDLESS_WRITE))
    timed.settle(slow)
    for number, other in enumerate(others):
        other.send(wire.query(f"INSERT INTO t VALUES ({number})"))
    timed.settle(*others)
    holder.query("COMMIT").check()
    assert slow.reply().state == "57014"
    for other in others:
        assert other.reply().tag == "INSERT 0 1"
    assert timed.value("SELECT count(*) FROM t") == "4"
