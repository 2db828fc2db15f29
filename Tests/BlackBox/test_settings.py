"""SET, SHOW and RESET: values, scopes, defaults, and what cannot be set."""

import pytest

import wire

from groups_fixtures import Group


@pytest.mark.parametrize("sql", [
    "SELECT current_setting('no.such', true)", "SELECT current_setting('no.such', 't')", "SELECT current_setting('no.such', 'on') WHERE true",
    "SELECT current_setting($1, true)", "SELECT current_setting($1, 't')",
])
def test_a_setting_that_may_be_missing_is_null(shared, sql):
    with shared.client() as client:
        parameters = ["no.such"] if "$1" in sql else []
        assert client.ask(wire.parse(sql), wire.bind(parameters), wire.execute()).check().value is None


@pytest.mark.parametrize("asked, column", [
    ("timezone", "TimeZone"), ("DATESTYLE", "DateStyle"), ("intervalstyle", "IntervalStyle"), ("work_mem", "work_mem"),
])
def test_show_names_its_column_as_the_setting_is_spelled(shared, asked, column):
    with shared.client() as client:
        described = client.ask(wire.parse(f"SHOW {asked}"), wire.describe_statement(), wire.bind(), wire.execute())
        for reply in (client.query(f"SHOW {asked}"), described):
            assert [each.name for each in reply.check().of("T")[0].columns] == [column]


@pytest.mark.parametrize(
    "name", ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "transaction_timeout"])
def test_values(shared, name):
    client = shared.client()
    assert client.value(f"SHOW {name}") == "0"
    for value, shown in [("250", "250ms"), ("'1500ms'", "1500ms"), ("'2s'", "2s"), ("2000", "2s"), ("'1.5s'", "1500ms"),
                         ("'1 min'", "1min"), ("'90s'", "90s"), ("'2h'", "2h"), ("'1d'", "1d"), ("0", "0"),
                         # 0 is no limit, which is not what a short one is.
                         ("'1us'", "1ms"), ("'0.4ms'", "1ms"), ("'0us'", "0"),
                         ("2147483647", "2147483647ms"), ("DEFAULT", "0")]:
        assert client.query(f"SET {name} = {value}").tag == "SET"
        assert client.value(f"SHOW {name}") == shown, value
    for value in ["-1", "'soon'", "'5 parsecs'", "2147483648", "''", "'9e99'", "'NaN'"]:
        assert client.query(f"SET {name} TO {value}").state == "22023", value
    client.query(f"SET {name} TO '5s'").check()
    assert client.query(f"RESET {name}").tag == "RESET"
    assert client.value(f"SHOW {name}") == "0"


def test_scopes(shared):
    client = shared.client()

    def shown():
        return client.value("SHOW lock_timeout")

    client.query("SET lock_timeout = '1s'").check()
    client.query("BEGIN; SET lock_timeout = '2s'; SET LOCAL lock_timeout = '3s'").check()
    assert shown() == "3s"
    client.query("COMMIT").check()
    assert shown() == "2s"
    client.query("BEGIN; SET lock_timeout = '4s'; ROLLBACK").check()
    assert shown() == "2s", "ROLLBACK undoes a SET"
    client.query("BEGIN; SET LOCAL lock_timeout = '5s'; ROLLBACK").check()
    assert shown() == "2s"
    client.query("SET SESSION lock_timeout = '6s'; RESET ALL").check()
    assert shown() == "0"
    assert shared.client().value("SHOW lock_timeout") == "0", "a session's own"


def test_other_settings(shared):
    client = shared.client()
    assert client.query("SET nonsense = 1").state == "42704"
    assert client.query("SHOW nonsense").state == "42704"
    assert "synchronous of" in client.query("SET synchronous_commit = off").error["H"]
    assert client.query("RESET nonsense").state == "42704"
    assert client.query("SET server_version = '1'").state == "55P02"
    client.query("SET my.own = 'value'").check()
    assert client.value("SHOW my.own") == "value"
    client.query("SET extra_float_digits = 3; SET application_name = 'x'; SET datestyle TO ISO; SET TIME ZONE 'UTC'").check()
    client.query("SET x.y=z").check()
    everything = client.query("SHOW ALL").check().texts
    assert {"x.y", "work_mem", "server_version", "transaction_isolation", "statement_timeout"} < {row[0] for row in everything}
    assert len(everything) == len({row[0] for row in everything})
    for name, value, _ in everything:
        assert client.value(f"SHOW {name}") == value, name
    client.query("SET client_encoding TO 'UTF8'; SET NAMES 'utf8'").check()
    assert client.query("SET client_encoding TO 'LATIN1'").state == "22023"


@pytest.mark.parametrize("given, shown", [("utc", "UTC"), ("Utc", "UTC"), ("gmt", "GMT"), ("Europe/Berlin", "Europe/Berlin")])
def test_a_time_zone_has_the_name_that_drivers_look_up(shared, given, shown):
    with shared.client() as client:
        reply = client.query(f"SET TIME ZONE '{given}'").check()
        assert [each.body for each in reply.of("S")] == [f"TimeZone\0{shown}\0".encode()]
        assert client.value("SHOW timezone") == shown


def test_settings_that_would_be_relied_on(shared):
    """What is accepted means nothing, and so it cannot be what keeps a session short or triggers quiet."""
    client = shared.client()
    client.query("SET idle_session_timeout = 0; SET session_replication_role = origin; SET work_mem = '1GB'").check()
    for setting in ["idle_session_timeout = '300ms'", "session_replication_role = replica"]:
        reply = client.query(f"SET {setting}")
        assert reply.state == "0A000" and reply.error["H"], reply
        reply = shared.raw().start(database=shared.name, options=f"-c {setting.replace(' ', '')}".replace("'", ""))
        assert reply.state == "0A000", reply
    assert client.query("SHOW idle_session_timeout").value == "0"


def test_configured_defaults(start_daemon):
    daemon = start_daemon(config="""
        statement_timeout = "7s"
        lock_timeout = 1234
        default_transaction_isolation = "repeatable read"
    """)
    client = daemon.client()
    assert client.value("SHOW statement_timeout") == "7s"
    assert client.value("SHOW lock_timeout") == "1234ms"
    assert client.value("SHOW default_transaction_isolation") == "repeatable read"
    client.query("SET statement_timeout = 0; RESET statement_timeout").check()
    assert client.value("SHOW statement_timeout") == "7s"


def test_transaction_isolation_is_shown(shared):
    client = shared.client()
    client.query("BEGIN ISOLATION LEVEL SERIALIZABLE").check()
    assert client.value("SHOW transaction_isolation") == "serializable"
    client.query("ROLLBACK").check()
    assert client.value("SHOW TRANSACTION ISOLATION LEVEL") == "read committed"
    client.query("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ").check()
    client.query("BEGIN").check()
    assert client.value("SHOW transaction_isolation") == "repeatable read"
    client.query("ROLLBACK; BEGIN; SET TRANSACTION ISOLATION LEVEL READ COMMITTED").check()
    assert client.value("SHOW transaction_isolation") == "read committed"


def test_set_config_with_parameters(shared):
    """How Django sets its time zone, and others who a request is for: in the middle of a statement, or with types that they leave out."""
    with shared.client() as client:
        for sql, values, shown in [
            ("SELECT set_config('app.user', $1, false)", ["ann"], "ann"), ("SELECT set_config($1, $2, $3)", ["app.user", "bob", "f"], "bob"),
            ("SELECT set_config($1::text, $2::text, $3::bool)", ["app.user", "cy", "false"], "cy"),
            ("SELECT set_config('app.user', current_setting('app.user') || $1, false) AS x WHERE 1 = 1", ["d"], "cyd"),
            ("SELECT set_config('app.user', NULL, false)", [], ""),
        ]:
            assert client.extended(sql, values).check().texts == [(shown,)], sql
            assert client.value("SHOW app.user") == shown
        reply = client.extended("SELECT set_config('TimeZone', $1, false)", ["UTC"]).check()
        assert reply.texts == [("UTC",)]
        client.query("BEGIN").check()
        client.extended("SELECT set_config('lock_timeout', $1, true)", ["3s"]).check()
        assert client.value("SHOW lock_timeout") == "3s"
        client.query("COMMIT").check()
        assert client.value("SHOW lock_timeout") == "0"
        for sql, value, state in [("'nosuch'", "1", "42704"), ("'statement_timeout'", "soon", "22023"), ("'server_version'", "16", "55P02"),
                                  ("'transaction_isolation'", "serializable", "0A000"), ("'Transaction_Isolation'", "serializable", "0A000"),
                                  ("'role'", "postgres", "42501"), ("'Session_Authorization'", "postgres", "42501")]:
            reply = client.extended(f"SELECT set_config({sql}, $1, false)", [value])
            assert reply.state == state, reply.errors
            assert client.query("SELECT 1").value == "1"


def test_set_config_as_a_group_member_that_runs_again(shared):
    """Its settings go back with it."""
    shared.run("DROP TABLE IF EXISTS s", "CREATE TABLE s (id INTEGER PRIMARY KEY, v TEXT)")
    group = Group(shared)
    member = group.add("INSERT INTO s VALUES (1, set_config('app.n', coalesce(current_setting('app.n', true), '') || 'x', false)) RETURNING v")
    group.add("INSERT OR ROLLBACK INTO s VALUES (1, 'again')")
    assert group.outcomes() == ["x", "ERROR 23505"]
    assert member.value("SHOW app.n") == "x"


def test_set_config_for_many_rows(shared):
    """The client hears of it once, when the statement is over; and a truth is one however it is spelt."""
    with shared.client() as client:
        reply = client.query("SELECT count(set_config('application_name', 'n' || value, false)), count(set_config('app.x', '1', true)) "
                             "FROM generate_series(1, 1000)").check()
        assert [each.body for each in reply.messages if each.kind == "S"] == [b"application_name\0n1000\0"]
        assert not reply.of("N") and client.query("SHOW app.x").state == "42704"
        for spelt, stays in [("'on'", "0"), ("'true'", "0"), ("1", "0"), ("'no'", "3s"), ("0", "3s"), ("'off'", "3s")]:
            client.query(f"BEGIN; SELECT set_config('lock_timeout', '3s', {spelt}), 1; COMMIT").check()
            assert client.value("SHOW lock_timeout") == stays, spelt
            client.query("RESET lock_timeout").check()
        assert client.query("SELECT set_config('app.x', '1', 'perhaps'), 1").state == "22P02"
        client.query("SET app.x = 'old'").check()
        assert client.query("SELECT set_config('app.x', 'new', true), 1").rows[0][0] == b"new"
        assert client.value("SHOW app.x") == "old"


@pytest.mark.parametrize("name", ["role", "ROLE", "session_authorization"])
def test_nobody_becomes_another_user(shared, name):
    """There are no others: who asks for one is told, however they ask."""
    for user, state in [("postgres", "42501"), ("tester", None), ("none", None)]:
        reply = shared.raw().start(user="tester", database=shared.name, **{name: user})
        assert reply.state == state, (user, reply.errors)
        reply = shared.raw().start(user="tester", database=shared.name, options=f"-c {name}={user}")
        assert reply.state == state, (user, reply.errors)
    with shared.client(user="tester") as client:
        for sql in [f"SET {name} = 'postgres'", f"SELECT set_config('{name}', 'postgres', false)"]:
            assert client.query(sql).state == "42501"
        client.query(f"SET {name} = 'tester'").check()


def test_resets_tell_of_what_has_changed(shared):
    """"ParameterStatus messages will be generated whenever the active value changes for any of the parameters"
    (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-ASYNC), and for no others."""
    with shared.client() as client:
        for reset in ("RESET ALL", "DISCARD ALL", "BEGIN; RESET ALL; COMMIT"):
            assert not client.query(reset).check().of("S")
            client.query("SET application_name = 'other'").check()
            assert [each.body for each in client.query(reset).check().of("S")] == [b"application_name\0\0"]
            assert client.value("SHOW application_name") == ""


def test_settings_that_differ_in_composition_only(shared):
    """What a rollback takes back, the client hears of."""
    composed, apart = "\u00e9", "e\u0301"
    with shared.client() as client:
        client.query(f"SET application_name = '{composed}'").check()
        reply = client.query(f"BEGIN; SET application_name = '{apart}'; ROLLBACK").check()
        told = [each.body.decode() for each in reply.of("S")]
        assert told == [f"application_name\0{name}\0" for name in (apart, composed)]
        reply = client.query("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY").check()
        assert [each.body for each in reply.of("S")] == [b"default_transaction_read_only\0on\0"]


@pytest.mark.parametrize("name, value", [("transaction_isolation", "repeatable read"), ("transaction_read_only", "on"), ("session_authorization", None)])
def test_current_setting_knows_what_show_knows(shared, name, value):
    with shared.client() as client:
        client.query("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY").check()
        shown = client.value(f"SHOW {name}")
        assert value in (None, shown)
        assert client.value(f"SELECT current_setting('{name}')") == shown
        assert client.extended("SELECT current_setting($1) || ''", [name]).check().texts == [(shown,)]
        client.query("COMMIT").check()
