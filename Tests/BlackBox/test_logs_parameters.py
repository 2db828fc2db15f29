"""No parameter is in the log, nor in what it says of an error, unless it is asked for."""

import pytest

import wire
from copy_fixtures import copy_data, copy_done, copy_fail
from logs import field, has_field, line, serve  # noqa: F401 (a fixture)


def secret_run(daemon):
    client = daemon.client()
    # To prepare it is no run of it, but may be slow, too.
    client.ask(wire.parse("SELECT count(*) FROM accounts a, accounts b WHERE a.name || b.name = $1 OR a.owner = $2"))
    client.ask(wire.bind(["hunter2", None]), wire.execute()).check()
    client.ask(wire.parse("SELECT $1::int8 + 1"), wire.bind(["not-a-number-hunter2"]), wire.execute())
    return line(daemon, "a statement was slow", "a.owner = $2", "rows=1")


def test_parameters_are_not_logged(serve):
    daemon = serve('log_min_duration_statement = 0\nlog_client_errors = "all"\n')
    found = secret_run(daemon)
    assert not has_field(found, "parameters") and "a.owner = $2" in found
    failed = line(daemon, "a statement failed", "22P02")
    assert field(failed, "error").endswith("(not logged: log_parameters is off)")
    daemon.stop()
    assert "hunter2" not in daemon.errors


def test_parameters_are_logged_when_asked_for(serve):
    daemon = serve('log_min_duration_statement = 0\nlog_client_errors = "all"\nlog_parameters = true\nlog_parameter_max_length = 5\n')
    assert field(secret_run(daemon), "parameters") == "$1 = 'hunte…', $2 = NULL"
    failed = line(daemon, "a statement failed", "22P02")
    assert field(failed, "parameters") == "$1 = 'not-a…'"


@pytest.mark.parametrize("sql, value", [
    ("SELECT date_trunc($1::text, now())", "hunter2"),
    ("SELECT date_part($1::text, now())", "hunter2"),
    ("SELECT current_setting($1::text)", "hunter2"),
    ("SELECT set_config($1::text, 'x', false)", "hunter2"),
    ("SELECT set_config('statement_timeout', $1::text, false)", "hunter2"),
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


def test_why_a_client_ends_copy_is_not_quoted(serve):
    """psycopg sends the text of its exception, which may quote a row."""
    daemon = serve('log_client_errors = "all"\n')
    client = daemon.client()
    client.send(wire.query("COPY accounts (id) FROM STDIN"), copy_fail("error from Python: ValueError - hunter2"))
    assert "hunter2" in client.reply().error["M"]
    assert field(line(daemon, "a statement failed"), "error") == "(not logged: log_parameters is off)"
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
