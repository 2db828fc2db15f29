"""Input that no driver sends. After each: a clear error or a closed connection, and everybody else unaffected."""

import random
import struct

import pytest

import wire
from daemon import eventually
from wire_fixtures import check_answer, ends_well, table  # noqa: F401 (a fixture)

ROWS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 5) SELECT x FROM c"
FUNCTION_CALL = wire.message("F", struct.pack("!ihhh", 1, 0, 0, 0))

# One valid message of every type that a client may send.
MESSAGES = {
    "Query": wire.query("SELECT 1"),
    "Parse": wire.parse("SELECT 1", name="other"),
    "Bind": wire.bind(),
    "Describe statement": wire.describe_statement(),
    "Describe portal": wire.describe_portal(),
    "Execute": wire.execute(),
    "Close statement": wire.close_statement(),
    "Close portal": wire.close_portal(),
    "Flush": wire.flush(),
    "Sync": wire.sync(),
    "FunctionCall": FUNCTION_CALL,
    "CopyData": wire.message("d", b"1\tx\n"),
    "CopyDone": wire.message("c"),
    "CopyFail": wire.message("f", b"no\0"),
    "Password": wire.message("p", b"secret\0"),
    "Terminate": wire.terminate(),
    "Startup": wire.startup({"user": "tester", "database": "app"}),
    "SSLRequest": wire.packet(wire.SSL_REQUEST),
    "CancelRequest": wire.cancel_request(1, b"1234"),
    "a server's": wire.message("Z", b"I"),
    "type 0": b"\0\0\0\0\4",
    "type 255": b"\xff\0\0\0\4",
}


# Those that begin with a type byte, as all do but the startup's.
TYPED = [name for name in MESSAGES if name not in ("Startup", "SSLRequest", "CancelRequest")]


def idle(client):
    pass


def transaction(client):
    client.query("BEGIN").check()


def writing(client):
    client.query("BEGIN IMMEDIATE").check()


def failed(client):
    assert client.query("BEGIN; SELECT nope").status == "E"


def skipping(client):
    client.send(wire.parse("SELECT nope"), wire.flush())
    assert client.receive().kind == "E"


def parsed(client):
    client.send(wire.parse("SELECT 1"), wire.flush())
    assert client.receive().kind == "1"


def bound(client):
    client.send(wire.parse(ROWS), wire.bind(), wire.flush())
    assert [client.receive().kind, client.receive().kind] == ["1", "2"]


def suspended(client):
    client.send(wire.parse(ROWS), wire.bind(), wire.execute(rows=1), wire.flush())
    assert [client.receive().kind for _ in range(4)] == ["1", "2", "D", "s"]


STATES = [idle, transaction, writing, failed, skipping, parsed, bound, suspended]


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_any_message_in_any_state(shared, state, name):
    client = shared.client()
    state(client)
    client.send(MESSAGES[name])
    ends_well(client, may_end_silently=name == "Terminate")


@pytest.mark.parametrize("name", TYPED)
def test_any_message_before_startup(shared, name):
    client = shared.raw()
    client.send(MESSAGES[name])
    client.half_close()
    # What is shorter than a startup packet may still become one.
    assert [m.fields["S"] for m in check_answer(client.rest())] in ([], ["FATAL"])


def test_every_message_type(shared):
    for kind in range(256):
        client = shared.client()
        client.send(bytes([kind]), struct.pack("!i", 4))
        ends_well(client, may_end_silently=kind == ord("X"))
        client.close()


# Lengths


@pytest.mark.parametrize("length", [-(1 << 31), -(1 << 31) + 3, -5, -4, -1, 0, 1, 2, 3, (1 << 31) - 1, (1 << 31) - 5, 1 << 30])
def test_impossible_lengths(shared, length):
    for kind in "QPBDECHSFdcfpX":
        client = shared.client()
        client.send(kind.encode(), struct.pack("!i", length))
        reply = client.reply()
        assert reply.closed, (kind, reply)
        assert reply.error["S"] == "FATAL" and reply.error["C"] == "08P01", kind


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("change", [-4, -1, 1, 4, 100])
def test_slightly_wrong_lengths(shared, name, change):
    original = MESSAGES[name]
    (length,) = struct.unpack_from("!i", original, 1)
    client = shared.client()
    client.send(original[:1], struct.pack("!i", length + change), original[5:])
    # What follows may now be read as another message, or be the end of this one.
    try:
        client.send(wire.sync(), wire.query("SELECT 1"))
    except (BrokenPipeError, ConnectionResetError):
        pass
    client.half_close()
    check_answer(client.rest())


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_cut_anywhere(shared, name):
    shared.check_alive()
    before = shared.sockets
    for cut in range(1, len(MESSAGES[name])):
        with shared.client() as client:
            client.send(MESSAGES[name][:cut])
            if cut % 2:
                client.half_close()
                check_answer(client.rest())
    eventually(lambda: shared.sockets <= before, "every socket closed")


@pytest.mark.parametrize("version", [wire.PROTOCOL_3_0, wire.PROTOCOL_3_2])
def test_startup_cut_anywhere(shared, version):
    shared.check_alive()
    before = shared.sockets
    whole = wire.startup({"user": "tester", "database": shared.name, "options": "-c a.b=c"}, version)
    for cut in range(1, len(whole)):
        with shared.raw() as client:
            client.send(whole[:cut])
            if cut % 2:
                client.half_close()
                assert client.rest() == b"", "nothing is said of what is no packet yet"
    eventually(lambda: shared.sockets <= before, "every socket closed")


# Mutations

CORPUS = [
    wire.parse("INSERT INTO t VALUES ($1, $2)", name="i", types=[wire.INT8, wire.TEXT]),
    wire.bind([1, "x"], portal="p", statement="i", formats=[0, 0], result_formats=[1]),
    wire.describe_statement("i"),
    wire.describe_portal("p"),
    wire.execute("p", 3),
    wire.sync(),
    wire.query("SELECT 1; BEGIN; SAVEPOINT a; ROLLBACK TO a; COMMIT"),
    wire.parse(ROWS),
    wire.bind(result_formats=[1]),
    wire.execute(rows=2),
    wire.close_portal("p"),
    wire.close_statement("i"),
    wire.flush(),
    FUNCTION_CALL,
    wire.message("d", b"copy"),
    wire.sync(),
]


@pytest.mark.parametrize("seed", range(8))
def test_mutated_sessions(shared, table, seed):
    shared.check_alive()
    before = shared.sockets
    randomness = random.Random(seed)
    for _ in range(150):
        messages = CORPUS.copy()
        if randomness.random() < 0.5:
            randomness.shuffle(messages)
        data = bytearray(b"".join(messages))
        for _ in range(randomness.choice([1, 1, 2, 5, 20])):
            position = randomness.randrange(len(data))
            match randomness.randrange(4):
                case 0:
                    data[position] = randomness.randrange(256)
                case 1:
                    data[position] ^= 1 << randomness.randrange(8)
                case 2:
                    del data[position : position + randomness.randrange(1, 9)]
                case 3:
                    data[position:position] = randomness.choice([b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff", b"Q", b"S"])
        with shared.client() as client:
            try:
                client.send(bytes(data))
            except (BrokenPipeError, ConnectionResetError):
                pass
            client.half_close()
            check_answer(client.rest())
    eventually(lambda: shared.sockets <= before, "every socket closed")


@pytest.mark.parametrize("seed", range(2))
def test_mutated_startups(shared, seed):
    randomness = random.Random(seed)
    whole = wire.startup({"user": "tester", "database": shared.name, "options": "-c a.b=c", "_pq_.x": "1"})
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(randomness.choice([1, 2, 4])):
            data[randomness.randrange(len(data))] = randomness.randrange(256)
        with shared.raw() as client:
            client.send(bytes(data))
            client.half_close()
            check_answer(client.rest())
