"""How a session begins, or does not: versions, negotiation, parameters, errors, limits."""

import struct

import pytest

import wire
from daemon import cancel_until_answered, daemon_reads, eventually
from wire_fixtures import ENDLESS, refused

V = wire.PROTOCOL_3_0


def refusal(daemon, **parameters):
    """The error of a session that may not begin."""
    client = daemon.raw()
    client.send(wire.startup(parameters))
    return refused(client)


# Protocol versions


@pytest.mark.parametrize(
    "minor, options, negotiated",
    [
        (0, [], None),
        (1, [], None),
        (2, [], None),
        (0, ["_pq_.one"], (V, ["_pq_.one"])),
        (2, ["_pq_.one", "_pq_.two"], (V | 2, ["_pq_.one", "_pq_.two"])),
        (3, [], (V | 2, [])),
        (9999, ["_pq_.test_protocol_negotiation"], (V | 2, ["_pq_.test_protocol_negotiation"])),
        (65535, [], (V | 2, [])),
    ],
)
def test_version_is_negotiated(shared, minor, options, negotiated):
    client = shared.raw()
    reply = client.start(V | minor, database=shared.name, **{name: "x" for name in options})
    assert client.negotiation == negotiated
    if negotiated:
        assert reply.kinds.index("v") < reply.kinds.index("R"), "before authentication"
    assert reply.status == "I"
    if minor < 2:
        assert len(client.key) == 4, "libpq refuses a longer key on 3.0"
    else:
        assert 4 < len(client.key) <= 256
    assert client.value("SELECT 1") == "1"
    for name in options:
        assert client.query(f'SHOW "{name}"').state == "42704", "a protocol option is no setting"


@pytest.mark.parametrize("version", [0, 1 << 16, 2 << 16, 4 << 16, 0x7FFF0000, 0xFFFF0000 - (1 << 32)])
def test_another_major_version_is_refused(shared, version):
    client = shared.raw()
    client.send(wire.startup({"user": "tester", "database": shared.name}, version))
    assert refused(client)["C"] == "0A000"


def test_first_reply(shared):
    client = shared.raw()
    reply = client.start(database=shared.name, application_name="suite")
    assert reply.messages[0].kind == "R" and reply.messages[0].body == struct.pack("!i", 0)
    assert reply.kinds.strip("S").replace("S", "") == "RKZ"
    expected = {
        "server_encoding": "UTF8",
        "client_encoding": "UTF8",
        "DateStyle": "ISO, MDY",
        "IntervalStyle": "postgres",
        "integer_datetimes": "on",
        "standard_conforming_strings": "on",
        "application_name": "suite",
    }
    assert expected.items() <= client.parameters.items()
    for name in ("TimeZone", "session_authorization", "is_superuser", "in_hot_standby", "default_transaction_read_only"):
        assert name in client.parameters
    assert int(client.parameters["server_version"].split(".")[0]) >= 15
    assert "SQLite 3." in client.parameters["server_version"]


def test_changed_parameters_are_reported(shared):
    client = shared.client()
    assert "S" in client.query("SET application_name = 'other'").kinds
    assert client.parameters["application_name"] == "other"


# Startup errors


def test_unknown_database(shared):
    error = refusal(shared, user="tester", database="nowhere")
    assert error["C"] == "3D000"
    assert "nowhere" in error["M"]
    assert shared.name in error["H"], "the hint names the right one"


def test_database_defaults_to_the_user(shared):
    client = shared.raw()
    assert client.start(user=shared.name).status == "I"
    assert refusal(shared, user="somebody")["C"] == "3D000"


def test_name_option(start_daemon):
    daemon = start_daemon(options=["--name", "other"])
    assert daemon.raw().start(database="other").status == "I"
    error = refusal(daemon, user="tester", database="app")
    assert error["C"] == "3D000" and "other" in error["H"]


@pytest.mark.parametrize(
    "name",
    ["x" * 63, "x" * 64, "x" * 255, "x" * 9_000, "../app", "/etc/passwd", "app.db", "-app", "app/../app", "APP ", "a'b",
     'a"b', "app%00", "näme"],
)
def test_odd_database_names(shared, name):
    assert refusal(shared, user="tester", database=name)["C"] == "3D000"


@pytest.mark.parametrize("parameters", [{}, {"database": "app"}, {"user": "", "database": "app"}])
def test_no_user(shared, parameters):
    assert refusal(shared, **parameters)["C"] == "28000"


def test_replication_is_refused(shared):
    assert refusal(shared, user="tester", database=shared.name, replication="true")["C"] == "0A000"


@pytest.mark.parametrize("encoding", ["UTF8", "utf-8", "SQL_ASCII", "UNICODE"])
def test_client_encoding(shared, encoding):
    assert shared.raw().start(database=shared.name, client_encoding=encoding).status == "I"


def test_other_client_encodings_are_refused(shared):
    assert refusal(shared, user="tester", database=shared.name, client_encoding="LATIN1")["C"] == "22023"


def test_options(shared):
    client = shared.client(options="-c statement_timeout=123 --lock-timeout=7s")
    assert client.value("SHOW statement_timeout") == "123ms"
    assert client.value("SHOW lock_timeout") == "7s"
    client.query("SET statement_timeout = '1min'").check()
    client.query("RESET statement_timeout").check()
    assert client.value("SHOW statement_timeout") == "123ms", "RESET goes back to what the session began with"


WRONG_OPTIONS = {"-c": "42601", "-c x": "42601", "-Z": "42601", "-c statement_timeout=soon": "22023", "-c server_version=1": "55P02"}


@pytest.mark.parametrize("options", WRONG_OPTIONS)
def test_wrong_options_are_refused(shared, options):
    assert refusal(shared, user="tester", database=shared.name, options=options)["C"] == WRONG_OPTIONS[options]


def test_startup_parameters_are_no_sql(shared):
    shared.run("CREATE TABLE IF NOT EXISTS victim (x)")
    evil = "x'; DROP TABLE victim; --"
    client = shared.raw()
    assert client.start(user=evil, database=shared.name, application_name=evil, search_path=evil).status == "I"
    assert client.value("SHOW application_name") == evil
    assert shared.value("SELECT count(*) FROM victim") == "0"


def test_longest_startup(shared):
    base = len(wire.startup({"user": "tester", "database": shared.name, "application_name": ""}))
    client = shared.raw()
    assert client.start(database=shared.name, application_name="x" * (10_000 - base)).status == "I"


# Limits


def test_too_many_sessions(start_daemon):
    daemon = start_daemon(options=["--max-sessions", "3"])
    clients = [daemon.client() for _ in range(3)]
    assert refusal(daemon, user="tester", database=daemon.name)["C"] == "53300"
    for client in clients:
        assert client.value("SELECT 1") == "1"

    # A cancel needs no place.
    clients[0].send(wire.query(ENDLESS))
    daemon_reads(clients[0])
    cancel_until_answered(clients[0])
    assert clients[0].reply().state == "57014"

    # A place that becomes free is given again.
    clients[1].send(wire.terminate())
    assert clients[1].rest() == b""

    def gets_in():
        client = daemon.raw()
        reply = client.start(database=daemon.name)
        assert not reply.closed or reply.state == "53300"
        return not reply.closed

    eventually(gets_in, "a free place")
