"""What the log says: slow statements with their plans, waits with who is waited for, and what it never says."""

import os
import re
import subprocess
import sys

import pytest

import wire
from copy_fixtures import copy_data, copy_done, copy_fail
from daemon import eventually
from logs import FAST_LIMIT, FORGERY, SCHEMA, SLOW, field, has_field, line, lines, milliseconds

@pytest.fixture
def serve(start_daemon):
    def start(config="", **keywords):
        daemon = start_daemon(config=config, **keywords)
        daemon.run(SCHEMA)
        return daemon

    return start


# Slow statements


def test_a_slow_statement_with_its_plan_and_a_hint(serve):
    daemon = serve('log_min_duration_statement = "20ms"\n')
    client = daemon.client(application_name="reports")
    client.query(SLOW).check()
    # That of the tables' definition may be as slow.
    found = line(daemon, "a statement was slow", "accounts a, accounts b")
    assert found.startswith("notice: ")
    assert field(found, "sql") == SLOW
    assert field(found, "plan") == "SCAN a; SCAN b"
    assert field(found, "hint") == (
        "scans all of accounts AS a (SCAN a): no index was used; scans all of accounts AS b (SCAN b): no index was used")
    assert field(found, "rows") == "1"
    assert field(found, "session") == str(client.process_id)
    assert field(found, "application") == "reports"
    assert field(found, "user") == "tester"
    assert field(found, "peer_pid") == str(os.getpid()) and field(found, "peer_uid") == str(os.getuid())
    assert milliseconds(found, "duration") >= 20
    assert milliseconds(found, "wait") + milliseconds(found, "run") == pytest.approx(milliseconds(found, "duration"), abs=0.01)


def test_sorts_and_automatic_indexes_are_named(serve):
    daemon = serve(FAST_LIMIT)
    sql = (
        "SELECT a.name FROM accounts a JOIN accounts b ON a.owner = b.owner, accounts c"
        " WHERE c.id < 200 ORDER BY a.name || b.name || c.name LIMIT 1")
    daemon.client().query(sql).check()
    hint = field(line(daemon, "ORDER BY"), "hint")
    assert re.search(r"builds an index on accounts AS [ab] \(owner\) for this one run", hint), hint
    assert "sorts its rows for ORDER BY" in hint


def test_what_has_no_plan_has_none_in_the_log(serve):
    daemon = serve("log_min_duration_statement = 0\n")
    daemon.client().query("INSERT INTO accounts (id) VALUES (4711)").check()
    assert not has_field(line(daemon, "VALUES (4711)"), "plan")


def test_what_is_quick_is_not_logged(serve):
    daemon = serve('log_min_duration_statement = "1h"\n')
    daemon.client().query(SLOW).check()
    daemon.stop()
    assert not lines(daemon, "was slow")


def test_off(serve):
    daemon = serve("log_min_duration_statement = -1\n")
    assert daemon.value("SHOW log_min_duration_statement") == "-1"
    daemon.client().query(SLOW).check()
    daemon.stop()
    assert not lines(daemon, "was slow")


def test_the_default_is_a_second(serve):
    daemon = serve()
    assert daemon.value("SHOW log_min_duration_statement") == "1s"


@pytest.mark.parametrize("protocol", ["simple", "extended", "described"])
def test_either_protocol_and_each_statement_for_itself(serve, protocol):
    # On any machine the one is above the limit, and the others far below it.
    slow = "SELECT pg_sleep(0.6)"
    daemon = serve('log_min_duration_statement = "500ms"\n')
    client = daemon.client()
    if protocol == "simple":
        client.query(f"SELECT 1; {slow}; SELECT 2").check()
    elif protocol == "extended":
        client.ask(wire.parse(slow), wire.bind(), wire.execute(), wire.parse("SELECT 2"), wire.bind(), wire.execute()).check()
    else:
        # The first row is looked for when the portal is described.
        client.extended(slow).check()
    assert field(line(daemon, "a statement was slow"), "sql") == slow
    daemon.stop()
    assert len(lines(daemon, "a statement was slow")) == 1


def test_writes(serve):
    daemon = serve("log_min_duration_statement = 0\n")
    daemon.client().query("UPDATE accounts SET owner = upper(owner) WHERE hex(randomblob(id)) <> name").check()
    found = line(daemon, "UPDATE accounts")
    assert field(found, "rows") == "1000"
    assert field(found, "hint") == "scans all of accounts (SCAN accounts): no index was used"


def test_what_a_statement_waited_is_told_apart(serve):
    daemon = serve('log_min_duration_statement = "100ms"\n')
    holder, waiter = daemon.client(), daemon.client()
    holder.query("BEGIN IMMEDIATE").check()
    waiter.send(wire.query("UPDATE accounts SET name = 'waited' WHERE id = 1"))
    daemon.settle(waiter)
    daemon.client().query("SELECT pg_sleep(0.8)").check()
    holder.query("COMMIT").check()
    waiter.reply().check()
    found = line(daemon, "a statement was slow", "waited")
    assert milliseconds(found, "wait") >= 800
    assert milliseconds(found, "wait") > milliseconds(found, "run")


def test_a_slow_client_is_not_a_slow_statement(serve):
    """What the client did not read, the statement did not take."""
    daemon = serve('log_min_duration_statement = "150ms"\n')
    client = daemon.client()
    client.send(wire.query("SELECT hex(zeroblob(100000)) FROM accounts LIMIT 300"))
    daemon.settle(client)
    # As long as that takes, which is more than the limit.
    daemon.client().query("SELECT pg_sleep(0.4)").check()
    line(daemon, "pg_sleep")
    client.reply().check()
    daemon.stop()
    slow = lines(daemon, "zeroblob(100000)")
    assert all(milliseconds(each, "unread") >= 100 for each in slow), slow


# Slow ones that do not end well

ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"


def test_one_that_is_stopped_by_its_timeout(serve):
    # Far more than the other statements take, on any machine.
    daemon = serve('log_min_duration_statement = "500ms"\n')
    client = daemon.client()
    client.query("SET statement_timeout = '600ms'").check()
    sql = "SELECT count(*) FROM accounts a, accounts b, accounts c WHERE a.owner || b.owner || c.owner = 'nobody'"
    assert client.query(sql).state == "57014"
    found = line(daemon, "a statement was slow")
    assert found.startswith("notice: ") and field(found, "sql") == sql and field(found, "sqlstate") == "57014"
    assert milliseconds(found, "duration") >= 600 and field(found, "rows") == "0"
    assert field(found, "plan") == "SCAN a; SCAN b; SCAN c"
    # The next one's time is its own.
    client.query("SELECT 1").check()
    daemon.stop()
    assert len(lines(daemon, "a statement was slow")) == 1


@pytest.mark.parametrize("protocol", ["simple", "extended"])
def test_one_that_is_cancelled(serve, protocol):
    # However soon the cancel comes.
    daemon = serve("log_min_duration_statement = 0\n")
    client = daemon.client()
    if protocol == "simple":
        client.send(wire.query(ENDLESS))
    else:
        # Parse and Bind can be cancelled as well, and then nothing has run.
        client.send(wire.parse(ENDLESS), wire.bind(), wire.flush())
        client.receive_until("2")
        client.send(wire.execute(), wire.sync())
    # One that comes before the statement began has no effect.
    eventually(lambda: client.cancel() or client.has_reply(), "the end of the statement")
    assert client.reply().state == "57014"
    found = line(daemon, "a statement was slow", "sqlstate=57014")
    assert field(found, "sql") == ENDLESS and field(found, "session") == str(client.process_id)


def test_one_whose_client_is_gone(serve):
    daemon = serve(FAST_LIMIT)
    client = daemon.client()
    client.send(wire.query(ENDLESS))
    eventually(lambda: client.unread_by_server() == 0, "reading")
    client.close()
    found = line(daemon, "a statement was slow", "count(*) FROM c")
    assert field(found, "sqlstate") == "08006" and field(found, "sql") == ENDLESS


def test_one_whose_client_is_gone_before_its_rows(serve):
    # The time in which its client does not read is not its own.
    daemon = serve("log_min_duration_statement = 0\n")
    client = daemon.client()
    client.send(wire.query("SELECT hex(zeroblob(100000)) FROM accounts"))
    daemon.settle(client)
    client.close()
    found = line(daemon, "a statement was slow", "zeroblob(100000)")
    assert field(found, "sqlstate") == "08006" and 0 < int(field(found, "rows")) < 1000


def test_one_that_fails_late(serve):
    daemon = serve(FAST_LIMIT)
    assert daemon.client().query(f"SELECT abs(-9223372036854775808 + ({SLOW}))").errors
    found = line(daemon, "a statement was slow", "abs(")
    assert has_field(found, "sqlstate")


def test_one_that_waited_in_vain(serve):
    daemon = serve('log_min_duration_statement = "100ms"\n')
    holder, waiter = daemon.client(), daemon.client()
    holder.query("BEGIN IMMEDIATE").check()
    waiter.query("SET lock_timeout = '150ms'").check()
    assert waiter.query("DELETE FROM accounts WHERE id = 2").state == "55P03"
    found = line(daemon, "a statement was slow", "DELETE")
    assert field(found, "sqlstate") == "55P03"
    assert milliseconds(found, "wait") >= 150 and milliseconds(found, "run") < 100


def test_one_that_the_daemons_end_ends(serve):
    daemon = serve(FAST_LIMIT + 'shutdown_timeout = "50ms"\n')
    client = daemon.client()
    client.send(wire.query(ENDLESS))
    eventually(lambda: client.unread_by_server() == 0, "reading")
    daemon.stop()
    assert field(line(daemon, "a statement was slow", "count(*) FROM c"), "sqlstate") == "57P01"


def test_a_copy_that_fails(serve):
    daemon = serve(FAST_LIMIT)
    client = daemon.client()
    client.send(wire.query("COPY accounts (id, name) FROM STDIN"), copy_data(b"9000\\tx\\n"))
    daemon.settle(client)
    daemon.client().query(SLOW).check()
    client.send(copy_fail("no more"))
    assert client.reply().state == "57014"
    assert field(line(daemon, "a statement was slow", "COPY accounts"), "sqlstate") == "57014"


def test_long_statements_are_cut(serve):
    daemon = serve(FAST_LIMIT)
    sql = SLOW + " /* " + "é" * 3000 + " */"
    daemon.client().query(sql).check()
    shown = field(line(daemon, "a statement was slow", "é"), "sql")
    assert shown.endswith("…") and sql.startswith(shown[:-1])
    assert 1990 <= len(shown.encode()) <= 2010


def test_one_user_cannot_flood_the_log(serve):
    daemon = serve("log_min_duration_statement = 0\n")
    client = daemon.client()
    client.send(*(wire.query(f"SELECT {n}") for n in range(2000)))
    for _ in range(2000):
        client.reply().check()
    daemon.stop()
    logged = len(lines(daemon, "a statement was slow"))
    assert 20 <= logged < 200
    # Every five seconds, should it take that long.
    left_out = sum(int(field(each, "lines")) for each in lines(daemon, "lines were left out") if "slow_statement" in each)
    # Those of the schema count, too.
    assert logged + left_out >= 2000
    assert field(lines(daemon, "lines were left out")[-1], "of_kind") == "slow_statement"


# Parameters


def secret_run(daemon):
    client = daemon.client()
    # To prepare it is no run of it, but may be slow, too.
    client.ask(wire.parse("SELECT count(*) FROM accounts a, accounts b WHERE a.name || b.name = $1 OR a.owner = $2"))
    client.ask(wire.bind(["hunter2", None]), wire.execute()).check()
    client.ask(wire.parse("SELECT $1::int8 + 1"), wire.bind(["not-a-number-hunter2"]), wire.execute())
    return line(daemon, "a statement was slow", "a.owner = $2", "rows=1")


def test_parameters_are_not_logged(serve):
    daemon = serve('log_min_duration_statement = "5ms"\nlog_client_errors = "all"\n')
    found = secret_run(daemon)
    assert not has_field(found, "parameters") and "a.owner = $2" in found
    failed = line(daemon, "22P02")
    assert field(failed, "error").endswith("(not logged: log_parameters is off)")
    daemon.stop()
    assert "hunter2" not in daemon.errors


def test_parameters_are_logged_when_asked_for(serve):
    daemon = serve('log_min_duration_statement = "5ms"\nlog_client_errors = "all"\nlog_parameters = true\nlog_parameter_max_length = 5\n')
    assert field(secret_run(daemon), "parameters") == "$1 = 'hunte…', $2 = NULL"
    failed = line(daemon, "22P02")
    assert field(failed, "parameters") == "$1 = 'not-a…'"


@pytest.mark.parametrize("sql, value", [
    ("SELECT date_trunc($1::text, now())", "hunter2"),
    ("SELECT date_part($1::text, now())", "hunter2"),
    ("SELECT current_setting($1::text)", "hunter2"),
    ("SELECT json_extract('{}', $1::text)", "hunter2"),
    ("SELECT * FROM texts WHERE texts MATCH $1::text", "a NOT hunter2:b"),
    ("SELECT * FROM texts WHERE texts MATCH $1::text", "hunter2:abc"),
    ("SELECT relname FROM pg_class WHERE oid = $1::regclass", "hunter2"),
])
def test_no_message_quotes_a_parameter(serve, sql, value):
    """SQLite's functions and virtual tables quote in their messages what they do not understand."""
    daemon = serve('log_client_errors = "all"\n')
    daemon.run("CREATE VIRTUAL TABLE texts USING fts5(x)")
    reply = daemon.client().ask(wire.parse(sql), wire.bind([value]), wire.execute())
    assert "hunter2" in reply.error["M"]
    failed = line(daemon, "a statement failed")
    assert field(failed, "sqlstate") == reply.state and field(failed, "sql") == sql
    assert field(failed, "error").endswith("(not logged: log_parameters is off)")
    daemon.stop()
    assert "hunter2" not in daemon.errors


def test_a_cursors_parameter_is_not_quoted(serve):
    daemon = serve('log_client_errors = "all"\n')
    client = daemon.client()
    client.query("BEGIN").check()
    client.ask(wire.parse("DECLARE c CURSOR FOR SELECT date_trunc($1::text, now())"), wire.bind(["hunter2"]), wire.execute()).check()
    assert "hunter2" in client.query("FETCH c").error["M"]
    line(daemon, "a statement failed")
    daemon.stop()
    assert "hunter2" not in daemon.errors


def test_what_copy_brings_is_not_quoted(serve):
    daemon = serve('log_client_errors = "all"\n')
    client = daemon.client()
    client.send(wire.query("COPY accounts (id) FROM STDIN"), copy_data(b"hunter2\n"), copy_done())
    assert "hunter2" in client.reply().error["M"]
    assert field(line(daemon, "a statement failed"), "error") == "invalid input syntax for type bigint: (not logged: log_parameters is off)"
    daemon.stop()
    assert "hunter2" not in daemon.errors


def test_what_names_only_columns_is_logged_whole(serve):
    daemon = serve('log_client_errors = "all"\n')
    client = daemon.client()
    sql = "INSERT INTO accounts (id) VALUES ($1)"
    assert client.ask(wire.parse(sql), wire.bind(["1"]), wire.execute()).state == "23505"
    assert field(line(daemon, "23505"), "error") == "UNIQUE constraint failed: accounts.id"
    # What stands in the statement's text is in the line anyway.
    assert client.query("SELECT date_trunc('nonsense', now())").errors
    assert "nonsense" in field(line(daemon, "date_trunc"), "error")


# Waiting for the writer


def test_a_lock_wait_names_the_holder_while_it_lasts(serve):
    daemon = serve('log_lock_waits_after = "50ms"\n')
    holder = daemon.client(application_name="importer", user="ines")
    holder.query("BEGIN").check()
    holder.query("UPDATE accounts SET name = 'held' WHERE id = 1").check()
    # It idles from when its thread is done with it, which is after its answer.
    daemon.settle()
    waiter = daemon.client(application_name="shop", user="wim")
    waiter.send(wire.query("DELETE FROM accounts WHERE id = 2"))
    found = line(daemon, "still waits for the writer")
    assert not waiter.has_reply()
    assert field(found, "session") == str(waiter.process_id)
    assert field(found, "user") == "wim" and field(found, "application") == "shop"
    assert field(found, "sql") == "DELETE FROM accounts WHERE id = 2"
    assert field(found, "place") == "1"
    assert milliseconds(found, "wait") >= 50
    assert field(found, "holder") == "transaction"
    assert field(found, "holder_session") == str(holder.process_id)
    assert field(found, "holder_user") == "ines" and field(found, "holder_application") == "importer"
    assert field(found, "holder_peer_pid") == str(os.getpid()) and field(found, "holder_peer_uid") == str(os.getuid())
    assert field(found, "holder_sql") == "UPDATE accounts SET name = 'held' WHERE id = 1"
    assert milliseconds(found, "holder_since") >= 50 and milliseconds(found, "holder_idle") >= 50
    holder.query("COMMIT").check()
    waiter.reply().check()
    ended = line(daemon, "has the writer it waited for")
    assert field(ended, "session") == str(waiter.process_id)
    assert milliseconds(ended, "wait") >= milliseconds(found, "wait")


def test_the_extended_protocol_waits_as_well(serve):
    daemon = serve('log_lock_waits_after = "50ms"\nqueue_notice = 0\n')
    holder, waiter = daemon.client(), daemon.client()
    holder.query("BEGIN IMMEDIATE").check()
    waiter.send(wire.parse("DELETE FROM accounts WHERE id = $1"), wire.bind(["2"]), wire.execute(), wire.sync())
    found = line(daemon, "still waits for the writer")
    assert field(found, "sql") == "DELETE FROM accounts WHERE id = $1"
    assert field(found, "holder_session") == str(holder.process_id) and not has_field(found, "holder_sql")
    holder.query("COMMIT").check()
    assert waiter.reply().check().tags == ["DELETE 1"]


def test_no_lock_waits(serve):
    daemon = serve('log_lock_waits = false\nlog_lock_waits_after = "1ms"\nqueue_notice = "50ms"\n')
    holder, waiter = daemon.client(), daemon.client()
    holder.query("BEGIN IMMEDIATE").check()
    waiter.send(wire.query("DELETE FROM accounts WHERE id = 2"))
    # The notice is later than the line would be.
    assert waiter.receive().kind == "N"
    holder.query("COMMIT").check()
    waiter.reply().check()
    daemon.stop()
    assert not lines(daemon, "waits for the writer")


def test_an_evicted_holder_is_named(serve):
    daemon = serve('writer_idle_limit = "50ms"\n')
    holder, waiter = daemon.client(application_name="dawdler"), daemon.client()
    holder.query("BEGIN IMMEDIATE").check()
    waiter.query("DELETE FROM accounts WHERE id = 2").check()
    found = line(daemon, "a session was ended")
    assert field(found, "application") == "dawdler" and field(found, "sqlstate") == "25P03"
    assert holder.reply().closed


# Errors, connections


def test_errors_of_clients_only_when_asked_for(serve):
    for wanted, count in [("severe", 0), ("all", 1), ("none", 0)]:
        daemon = serve(f'log_client_errors = "{wanted}"\n')
        assert daemon.client().query("SELECT nonsense").state == "42703"
        daemon.stop()
        assert len(lines(daemon, "42703")) == count, wanted
        for found in lines(daemon, "42703"):
            assert field(found, "sql") == "SELECT nonsense" and found.startswith("info: ")
        assert not lines(daemon, "57P01")


def test_a_flood_of_errors_is_cut_and_counted(serve):
    daemon = serve('log_client_errors = "all"\n')
    client = daemon.client()
    client.send(*(wire.query("SELECT nonsense") for _ in range(1000)))
    for _ in range(1000):
        assert client.reply().state == "42703"
    daemon.stop()
    logged = len(lines(daemon, "42703"))
    assert 20 <= logged < 200
    assert sum(int(field(each, "lines")) for each in lines(daemon, "lines were left out")) == 1000 - logged


def test_connections(serve):
    daemon = serve("log_connections = true\nlog_disconnections = true\n")
    with daemon.client(application_name="visitor") as client:
        found = line(daemon, "application=visitor")
        assert found.startswith("info: connected") and field(found, "session") == str(client.process_id)
        assert field(found, "database") == daemon.name
        client.send(wire.terminate())
    found = line(daemon, "application=visitor", count=2)
    assert found.startswith("info: disconnected") and milliseconds(found, "duration") > 0


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become another user")
def test_who_is_not_let_in_is_named(start_daemon):
    daemon = start_daemon(options=["--socket-mode", "0666"])
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import wire;"
        " client = wire.Client(sys.argv[2]); print(client.start(user='root', database='walpool').errors[0]['C'])")
    command = [sys.executable, "-c", script, os.path.dirname(os.path.abspath(wire.__file__)), str(daemon.socket_path)]
    # An interpreter that this user may start may be none of ours.
    command[0] = next((path for path in ("/usr/bin/python3", sys.executable) if os.access(path, os.X_OK)), sys.executable)
    result = subprocess.run(command, capture_output=True, text=True, user=65534, group=65534, extra_groups=[])
    if result.returncode != 0:
        pytest.skip(f"this user cannot run Python here: {result.stderr[-200:]}")
    assert result.stdout == "28000\n"
    found = line(daemon, "not let in")
    assert found.startswith("warning: ")
    assert field(found, "sqlstate") == "28000" and field(found, "user") == "root"
    assert field(found, "peer_uid") == "65534" and field(found, "rule") == "none"
    # Once is enough.
    assert len([each for each in daemon.errors.splitlines() if "65534" in each]) == 1


def test_connections_are_silent_by_default(serve):
    daemon = serve()
    daemon.client(application_name="visitor").close()
    daemon.stop()
    assert not lines(daemon, "visitor")


def test_settings_are_shown_and_cannot_be_set(serve):
    daemon = serve('log_parameters = true\nlog_lock_waits_after = "2s"\n')
    client = daemon.client()
    assert client.value("SHOW log_parameters") == "on"
    assert client.value("SHOW log_lock_waits_after") == "2s"
    assert client.value("SELECT current_setting('log_client_errors')") == "severe"
    assert ("log_parameters", "on") in {row[:2] for row in client.query("SHOW ALL").check().texts}
    for sql in ["SET log_parameters = off", "SET LOG_MIN_DURATION_STATEMENT = -1", "RESET log_parameters",
                "SELECT set_config('log_parameters', 'off', false)"]:
        assert client.query(sql).state == "55P02", sql
    assert client.value("SHOW log_parameters") == "on"


# Hostile text


def test_nothing_a_client_sends_is_taken_for_a_line_or_a_field(serve):
    daemon = serve(FAST_LIMIT + "log_connections = true\n")
    client = daemon.client(application_name=FORGERY[:60], user=FORGERY)
    sql = f"{SLOW} /* {FORGERY} */"
    client.query(sql).check()
    found = line(daemon, "a statement was slow", "forged")
    assert field(found, "sql") == re.sub(r"[\r\n\x1b\u202e\u2028]", " ", sql)
    assert field(found, "session") == str(client.process_id)
    daemon.stop()
    text = daemon.errors
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]", text)
    assert all(re.match(r"(debug|info|notice|warning|error|critical): ", each) for each in text.splitlines())
    assert not [each for each in text.splitlines() if each.startswith("error:")]
