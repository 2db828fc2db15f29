"""Cancel requests: they end the statement of the session whose key they have, and nothing else."""

import pytest

import wire
from daemon import cancel_until_answered, daemon_reads
from timeouts_fixtures import time_passes
from wire_fixtures import ENDLESS, refused


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
    # What one of them had ended would have been answered by now.
    time_passes(shared, 300)
    assert not client.has_reply()
    cancel_until_answered(client)
    assert client.reply().state == "57014"


@pytest.mark.parametrize("size", [0, 1, 3, 257, 5000])
def test_cancel_keys_of_impossible_length(shared, size):
    client = shared.client()
    client.send(wire.query(ENDLESS))
    daemon_reads(client)
    # The true key's beginning, as far as there is one.
    with shared.raw() as other:
        other.send(wire.cancel_request(client.process_id, client.key[:size].ljust(size, b"\0")))
        assert refused(other)["C"] == "08P01"
    # As in test_wrong_cancel_keys_are_ignored.
    time_passes(shared, 300)
    assert not client.has_reply()
    cancel_until_answered(client)
    assert client.reply().state == "57014"


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
    for _ in range(300):
        cancelled.send(wire.query(work))
        with wire.Client(daemon.socket_path) as request:
            request.send(wire.cancel_request(cancelled.process_id, cancelled.key))
        other.send(wire.query(work))
        assert other.reply().value == "2000"
        reply = cancelled.reply()
        assert reply.state in (None, "57014"), reply
        if reply.state is None:
            assert reply.value == "2000"
    # How many of these came in time is chance; to this one it cannot be too late.
    cancelled.send(wire.query(ENDLESS))
    daemon_reads(cancelled)
    other.send(wire.query(work))
    cancel_until_answered(cancelled)
    assert cancelled.reply().state == "57014"
    assert other.reply().value == "2000"
    for client in (cancelled, other):
        assert client.value("SELECT 1") == "1"
