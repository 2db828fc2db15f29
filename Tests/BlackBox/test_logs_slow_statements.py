"""Slow statements in the log: their plans, what made them slow, and that those which fail are there, too."""

import os
import re
import time

import pytest

import wire
from copy_fixtures import copy_data, copy_fail
from daemon import cancel_until_answered
from logs import FAST_LIMIT, SLOW, field, has_field, line, lines, milliseconds, serve  # noqa: F401 (a fixture)
from wire_fixtures import ENDLESS_ROWS, endless


def logged(daemon, client):
    """The lines of this session's slow statements, all of them: the daemon is stopped for that."""
    daemon.stop()
    return [each for each in lines(daemon, "a statement was slow") if field(each, "session") == str(client.process_id)]


def passed(began):
    """Milliseconds by our own clock. What the log says of parts of that time is in sum not more."""
    return (time.monotonic() - began) * 1000


def test_a_slow_statement_with_its_plan_and_a_hint(serve):
    daemon = serve(FAST_LIMIT)
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
    assert milliseconds(found, "duration") >= 1
    assert milliseconds(found, "wait") + milliseconds(found, "run") == pytest.approx(milliseconds(found, "duration"), abs=0.01)


@pytest.mark.parametrize("sql", ["SELECT count(*) FROM accounts a, accounts b WHERE a.id > '0'::int8", "(SELECT count(*) FROM accounts a, accounts b) UNION (SELECT 1)"])
def test_the_plan_is_of_what_sqlite_got(serve, sql):
    """Which is not what was sent, however it was."""
    daemon = serve(FAST_LIMIT)
    client = daemon.client()
    client.query(sql).check()
    client.extended(sql).check()
    found = logged(daemon, client)
    assert len(found) >= 2 and {field(each, "sql") for each in found} == {sql}
    # Of a pipeline the first that is slow is explained.
    [plan] = {field(each, "plan") for each in found if has_field(each, "plan")}
    assert "SCAN b" in plan


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
    slow = "SELECT pg_sleep(0.6)"
    daemon = serve('log_min_duration_statement = "500ms"\n')
    client = daemon.client()
    began = time.monotonic()
    if protocol == "simple":
        client.query(f"SELECT 1; {slow}; SELECT 2").check()
    elif protocol == "extended":
        client.ask(wire.parse(slow), wire.bind(), wire.execute(), wire.parse("SELECT 2"), wire.bind(), wire.execute()).check()
    else:
        # The first row is looked for when the portal is described.
        client.extended(slow).check()
    took = passed(began)
    found = logged(daemon, client)
    assert [field(each, "rows") for each in found if field(each, "sql") == slow] == ["1"]
    # On a machine that stands still others may be slow, too, but by their own time.
    durations = [milliseconds(each, "duration") for each in found]
    assert min(durations) >= 500 and sum(durations) <= took, found


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
    began = time.monotonic()
    waiter.send(wire.query("UPDATE accounts SET name = 'waited' WHERE id = 1"))
    daemon.settle(waiter)
    daemon.client().query("SELECT pg_sleep(0.8)").check()
    holder.query("COMMIT").check()
    waiter.reply().check()
    took = passed(began)
    found = line(daemon, "a statement was slow", "waited")
    assert milliseconds(found, "wait") >= 800
    assert milliseconds(found, "wait") + milliseconds(found, "run") <= took


def test_a_slow_client_is_not_a_slow_statement(serve):
    """What the client did not read, the statement did not take."""
    # So that it is in the log, however fast it was.
    daemon = serve("log_min_duration_statement = 0\n")
    client = daemon.client()
    began = time.monotonic()
    client.send(wire.query("SELECT hex(zeroblob(100000)) FROM accounts LIMIT 300"))
    daemon.settle(client)
    # As long as that takes.
    daemon.client().query("SELECT pg_sleep(0.4)").check()
    client.reply().check()
    took = passed(began)
    found = line(daemon, "a statement was slow", "zeroblob(100000)")
    assert milliseconds(found, "unread") >= 100
    assert milliseconds(found, "duration") + milliseconds(found, "unread") <= took, found


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


# Slow ones that do not end well


def test_one_that_is_stopped_by_its_timeout(serve):
    daemon = serve('log_min_duration_statement = "500ms"\n')
    client = daemon.client()
    client.query("SET statement_timeout = '600ms'").check()
    sql = "SELECT count(*) FROM accounts a, accounts b, accounts c WHERE a.owner || b.owner || c.owner = 'nobody'"
    assert client.query(sql).state == "57014"
    found = line(daemon, "a statement was slow", "accounts c")
    assert found.startswith("notice: ") and field(found, "sql") == sql and field(found, "sqlstate") == "57014"
    assert milliseconds(found, "duration") >= 600 and field(found, "rows") == "0"
    assert field(found, "plan") == "SCAN a; SCAN b; SCAN c"
    # The next one's time is its own.
    client.query("RESET statement_timeout").check()
    began = time.monotonic()
    client.query("SELECT 1").check()
    took = passed(began)
    assert all(milliseconds(each, "duration") <= took for each in logged(daemon, client) if field(each, "sql") == "SELECT 1")


@pytest.mark.parametrize("protocol", ["simple", "extended"])
def test_one_that_is_cancelled(serve, protocol):
    daemon = serve("log_min_duration_statement = 0\n")
    client = daemon.client()
    # What is cancelled before it runs is no slow statement, and only a row says that it does.
    client.send(*[wire.query(ENDLESS_ROWS)] if protocol == "simple" else [wire.parse(ENDLESS_ROWS), wire.bind(), wire.execute(), wire.sync()])
    client.receive_until("D")
    cancel_until_answered(client)
    assert client.reply().state == "57014"
    found = line(daemon, "a statement was slow", "sqlstate=57014")
    assert field(found, "sql") == ENDLESS_ROWS and field(found, "session") == str(client.process_id)


def test_one_whose_client_is_gone(serve):
    daemon = serve(FAST_LIMIT)
    client = daemon.client()
    endless(client)
    client.close()
    found = line(daemon, "a statement was slow", "count(*) FROM c")
    assert field(found, "sqlstate") == "08006" and field(found, "sql") == ENDLESS_ROWS


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
    began = time.monotonic()
    assert waiter.query("DELETE FROM accounts WHERE id = 2").state == "55P03"
    took = passed(began)
    found = line(daemon, "a statement was slow", "DELETE")
    assert field(found, "sqlstate") == "55P03"
    assert milliseconds(found, "wait") >= 150 and milliseconds(found, "wait") + milliseconds(found, "run") <= took


def test_one_that_the_daemons_end_ends(serve):
    daemon = serve(FAST_LIMIT + 'shutdown_timeout = "50ms"\n')
    endless(daemon.client())
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
