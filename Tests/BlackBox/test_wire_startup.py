"""How a session begins, or does not: versions, negotiation, encryption requests, errors, limits, cancel keys."""

import struct

import pytest

import wire
from daemon import eventually

V = wire.PROTOCOL_3_0
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


def refused(client):
    """What a refused client gets: one FATAL error, then the end."""
    reply = client.reply()
    assert reply.closed, reply
    assert reply.messages[-1].kind == "E", reply
    assert reply.messages[-1].fields["S"] == "FATAL", reply
    return reply.messages[-1].fields


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
    assert refused(client)["C"] in ("0A000", "08P01")


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


# Encryption requests


@pytest.mark.parametrize("codes", [[wire.SSL_REQUEST], [wire.GSSENC_REQUEST], [wire.GSSENC_REQUEST, wire.SSL_REQUEST],
                                   [wire.SSL_REQUEST, wire.GSSENC_REQUEST]])
def test_encryption_is_declined(shared, codes):
    client = shared.raw()
    for code in codes:
        client.send(wire.packet(code))
        assert client.receive_bytes(1) == b"N"
    reply = client.start(database=shared.name)
    assert reply.status == "I"


@pytest.mark.parametrize("codes", [[wire.SSL_REQUEST], [wire.GSSENC_REQUEST], [wire.SSL_REQUEST, wire.GSSENC_REQUEST]])
def test_encryption_is_declined_once_each(shared, codes):
    client = shared.raw()
    for code in codes:
        client.send(wire.packet(code))
        assert client.receive_bytes(1) == b"N"
    client.send(wire.packet(codes[0]))
    assert refused(client)["C"] == "08P01"


@pytest.mark.parametrize("code", [wire.SSL_REQUEST, wire.GSSENC_REQUEST])
def test_encryption_request_after_startup_is_refused(shared, code):
    client = shared.client()
    client.send(wire.packet(code))
    client.half_close()
    assert not client.rest().startswith(b"N")


@pytest.mark.parametrize("code", [wire.SSL_REQUEST, wire.GSSENC_REQUEST])
def test_startup_in_one_write_with_an_encryption_request(shared, code):
    # PostgreSQL refuses the bytes behind the request, older ones took them: either, but nothing between the two.
    client = shared.raw()
    client.send(wire.packet(code), wire.startup({"user": "tester", "database": shared.name}))
    assert client.receive_bytes(1) == b"N"
    reply = client.started()
    assert reply.closed or reply.status == "I"


@pytest.mark.parametrize("code", [wire.SSL_REQUEST, wire.GSSENC_REQUEST])
def test_encryption_request_with_a_body_is_refused(shared, code):
    client = shared.raw()
    client.send(wire.packet(code, b"body"))
    client.half_close()
    assert not client.rest().startswith(b"N")


# Startup errors


def test_unknown_database(shared):
    client = shared.raw()
    client.send(wire.startup({"user": "tester", "database": "nowhere"}))
    error = refused(client)
    assert error["C"] == "3D000"
    assert "nowhere" in error["M"]
    assert shared.name in error["H"], "the hint names the right one"


def test_database_defaults_to_the_user(shared):
    client = shared.raw()
    assert client.start(user=shared.name).status == "I"
    client = shared.raw()
    client.send(wire.startup({"user": "somebody"}))
    assert refused(client)["C"] == "3D000"


def test_name_option(start_daemon):
    daemon = start_daemon(options=["--name", "other"])
    assert daemon.raw().start(database="other").status == "I"
    client = daemon.raw()
    client.send(wire.startup({"user": "tester", "database": "app"}))
    error = refused(client)
    assert error["C"] == "3D000" and "other" in error["H"]


@pytest.mark.parametrize(
    "name",
    ["x" * 63, "x" * 64, "x" * 255, "x" * 9_000, "../app", "/etc/passwd", "app.db", "-app", "app/../app", "APP ", "a'b",
     'a"b', "app%00", "näme"],
)
def test_odd_database_names(shared, name):
    client = shared.raw()
    client.send(wire.startup({"user": "tester", "database": name}))
    assert refused(client)["C"] == "3D000"


@pytest.mark.parametrize("parameters", [{}, {"database": "app"}, {"user": "", "database": "app"}])
def test_no_user(shared, parameters):
    client = shared.raw()
    client.send(wire.startup(parameters))
    assert refused(client)["C"] == "28000"


def test_replication_is_refused(shared):
    client = shared.raw()
    client.send(wire.startup({"user": "tester", "database": shared.name, "replication": "true"}))
    assert refused(client)["C"] == "0A000"


@pytest.mark.parametrize("encoding", ["UTF8", "utf-8", "SQL_ASCII", "UNICODE"])
def test_client_encoding(shared, encoding):
    assert shared.raw().start(database=shared.name, client_encoding=encoding).status == "I"


def test_other_client_encodings_are_refused(shared):
    client = shared.raw()
    client.send(wire.startup({"user": "tester", "database": shared.name, "client_encoding": "LATIN1"}))
    assert refused(client)["C"] == "22023"


def test_options(shared):
    client = shared.client(options="-c statement_timeout=123 --lock-timeout=7s")
    assert client.value("SHOW statement_timeout") == "123ms"
    assert client.value("SHOW lock_timeout") == "7s"
    client.query("SET statement_timeout = '1min'").check()
    client.query("RESET statement_timeout").check()
    assert client.value("SHOW statement_timeout") == "123ms", "RESET goes back to what the session began with"


@pytest.mark.parametrize("options", ["-c", "-c x", "-Z", "-c statement_timeout=soon", "-c server_version=1"])
def test_wrong_options_are_refused(shared, options):
    client = shared.raw()
    client.send(wire.startup({"user": "tester", "database": shared.name, "options": options}))
    refused(client)


def test_startup_parameters_are_no_sql(shared):
    shared.run("CREATE TABLE IF NOT EXISTS victim (x)")
    evil = "x'; DROP TABLE victim; --"
    client = shared.raw()
    client.start(user=evil, database=shared.name, application_name=evil, search_path=evil)
    assert shared.value("SELECT count(*) FROM victim") == "0"


@pytest.mark.parametrize(
    "body",
    [
        b"",  # no terminator
        b"user\0tester\0",
        b"user\0tester",
        b"user",
        b"user\0tester\0\0behind",
        b"\0\0",
    ],
)
def test_malformed_startup(shared, body):
    client = shared.raw()
    client.send(wire.packet(V, body))
    assert refused(client)["C"] in ("08P01", "28000")


def test_startup_with_bytes_that_are_no_text(shared):
    for name, value in [(b"user", b"\xff\xfe"), (b"database", b"\xc3("), (b"\xff", b"x")]:
        client = shared.raw()
        client.send(wire.packet(V, wire.cstring(name) + wire.cstring(value) + b"user\0tester\0\0"))
        assert refused(client)["C"] in ("22021", "3D000")


@pytest.mark.parametrize("length", [-(1 << 31), -1, 0, 1, 3, 4, 7, 10_001, 1 << 30, (1 << 31) - 1])
def test_startup_lengths(shared, length):
    client = shared.raw()
    client.send(struct.pack("!ii", length, V))
    client.half_close()
    answer = client.rest()
    assert answer == b"" or answer.startswith(b"E"), answer


def test_longest_startup(shared):
    base = len(wire.startup({"user": "tester", "database": shared.name, "application_name": ""}))
    client = shared.raw()
    assert client.start(database=shared.name, application_name="x" * (10_000 - base)).status == "I"


# What is no PostgreSQL client at all


def test_every_first_byte(shared):
    for first in range(256):
        with shared.raw() as client:
            client.send(bytes([first]) + b"\0\0\x08" + b"Q" * 40)
            client.half_close()
            client.rest()


@pytest.mark.parametrize(
    "hello",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(507),
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\n" * 100,
        b"\xff" * 4096,
    ],
    ids=["TLS", "SSH", "newlines", "ones"],
)
def test_other_protocols(shared, hello):
    client = shared.raw()
    client.send(hello)
    answer = client.rest()  # the server ends this by itself
    assert answer.startswith(b"E") and b"FATAL" in answer


def test_password_before_startup(shared):
    for kind in "pQPBXS":
        client = shared.raw()
        client.send(wire.message(kind, b"secret\0"))
        client.half_close()
        answer = client.rest()
        assert answer == b"" or answer.startswith(b"E")


def test_ten_thousand_connections(shared):
    shared.check_alive()
    before = shared.sockets
    begun = wire.startup({"user": "tester", "database": shared.name})
    for number in range(10_000):
        with wire.Client(shared.socket_path) as client:
            if number % 4 == 1:
                client.send(begun[:9])
            elif number % 4 == 2:
                client.send(begun)
    eventually(lambda: shared.sockets <= before, "every socket closed")


# Limits


def test_too_many_sessions(start_daemon):
    daemon = start_daemon(options=["--max-sessions", "3"])
    clients = [daemon.client() for _ in range(3)]
    late = daemon.raw()
    late.send(wire.startup({"user": "tester", "database": daemon.name}))
    assert refused(late)["C"] == "53300"
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


# Cancel


def daemon_reads(client):
    eventually(lambda: client.unread_by_server() == 0, "reading")


def cancel_until_answered(client):
    """A cancel that comes before its statement began has no effect: so again, until there is an answer."""
    def answered():
        client.cancel()
        return client.has_reply()

    eventually(answered, "the end of the statement")


@pytest.mark.parametrize("version", [wire.PROTOCOL_3_0, wire.PROTOCOL_3_2])
def test_cancel(shared, version):
    client = shared.client(version)
    client.send(wire.query(ENDLESS))
    daemon_reads(client)
    cancel_until_answered(client)
    reply = client.reply()
    assert reply.error["C"] == "57014" and "user request" in reply.error["M"]
    assert reply.status == "I"
    assert client.value("SELECT 1") == "1"


@pytest.mark.parametrize("version", [wire.PROTOCOL_3_0, wire.PROTOCOL_3_2])
def test_wrong_cancel_keys_are_ignored(shared, version):
    client = shared.client(version)
    client.send(wire.query(ENDLESS))
    daemon_reads(client)
    key = client.key
    wrong = [bytes(len(key)), key[:-1] + bytes([key[-1] ^ 1]), key + b"\0", key + key, bytes(256)]
    if len(key) > 4:
        wrong += [key[:4], key[:-1]]
    for other in wrong:
        client.cancel(key=other)
    for process_id in [0, -1, client.process_id + 1, 0x7FFFFFFF, -(1 << 31)]:
        client.cancel(process_id=process_id)
    assert not client.has_reply()
    cancel_until_answered(client)
    assert client.reply().state == "57014"


@pytest.mark.parametrize("size", [0, 1, 3, 257, 5000])
def test_cancel_keys_of_impossible_length(shared, size):
    client = shared.client()
    with shared.raw() as other:
        other.send(wire.cancel_request(client.process_id, bytes(size)))
        other.half_close()
        other.rest()
    assert client.value("SELECT 1") == "1"


def test_keys_differ(shared):
    clients = [shared.client(wire.PROTOCOL_3_2) for _ in range(20)]
    assert len({client.key for client in clients}) == 20
    assert len({client.process_id for client in clients}) == 20


def test_late_cancel_is_harmless(shared):
    client = shared.client()
    for number in range(1, 101):
        assert client.value(f"SELECT {number}") == str(number)
        client.cancel()
        assert client.value(f"SELECT -{number}") == f"-{number}"


def test_cancel_never_hits_another_session(start_daemon):
    # Both sessions use the one reader in turn; the cancels race with the end of the first one's statement.
    daemon = start_daemon(options=["--readers", "1"])
    cancelled, other = daemon.client(), daemon.client()
    work = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 2000) SELECT count(*) FROM c"
    outcomes = set()
    for _ in range(300):
        cancelled.send(wire.query(work))
        with wire.Client(daemon.socket_path) as request:
            request.send(wire.cancel_request(cancelled.process_id, cancelled.key))
        other.send(wire.query(work))
        assert other.reply().value == "2000"
        reply = cancelled.reply()
        outcomes.add(reply.state)
        assert reply.state in (None, "57014"), reply
        if reply.state is None:
            assert reply.value == "2000"
    for client in (cancelled, other):
        assert client.value("SELECT 1") == "1"
