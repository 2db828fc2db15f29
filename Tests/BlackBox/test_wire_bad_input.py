"""Input that no driver sends. After each: a clear error or a closed connection, and everybody else unaffected."""

import random
import struct

import pytest

import wire
from daemon import eventually

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


@pytest.fixture(autouse=True)
def table(shared):
    shared.run("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, v TEXT)", "DELETE FROM t")


def probe(client):
    """Sends what ends every state, and a SELECT; returns what came before its row, and whether it came."""
    try:
        client.send(wire.sync(), wire.query("ROLLBACK"), wire.query("SELECT 'probe'"))
    except (BrokenPipeError, ConnectionResetError):
        pass
    before = []
    while True:
        reply = client.reply()
        if reply.texts == [("probe",)]:
            return before, True
        before += reply.messages
        if reply.closed:
            return before, False


def ends_well(client, may_end_silently=False):
    before, is_usable = probe(client)
    if is_usable:
        return
    if before and before[-1].kind == "E":
        assert before[-1].fields["S"] == "FATAL"
        assert before[-1].fields["C"] == "08P01"
    else:
        assert may_end_silently, before


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
    answer = client.rest()
    assert answer == b"" or (answer.startswith(b"E") and b"FATAL" in answer)


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
    client.rest()


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_cut_anywhere(shared, name):
    shared.check_alive()
    before = shared.sockets
    for cut in range(1, len(MESSAGES[name])):
        with shared.client() as client:
            client.send(MESSAGES[name][:cut])
            if cut % 2:
                client.half_close()
                client.rest()
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
                client.rest()
    eventually(lambda: shared.sockets <= before, "every socket closed")


# Bodies

S = struct.pack
MALFORMED = {
    "Query without end": wire.message("Q", b"SELECT 1"),
    "Query empty body": wire.message("Q"),
    "Query with two ends": wire.message("Q", b"SELECT 1\0SELECT 2\0"),
    "Query with NUL inside": wire.message("Q", b"SELECT '\0'\0"),
    "Parse empty body": wire.message("P"),
    "Parse without query": wire.message("P", b"name\0"),
    "Parse without types": wire.message("P", b"\0SELECT 1\0"),
    "Parse with missing types": wire.message("P", b"\0SELECT 1\0" + S("!h", 2) + S("!i", 23)),
    "Parse with -1 types": wire.message("P", b"\0SELECT 1\0" + S("!h", -1)),
    "Parse with 32767 types": wire.message("P", b"\0SELECT 1\0" + S("!h", 32767)),
    "Parse with bytes behind": wire.message("P", b"\0SELECT 1\0" + S("!h", 0) + b"behind"),
    "Bind empty body": wire.message("B"),
    "Bind names only": wire.message("B", b"\0\0"),
    "Bind with -1 formats": wire.message("B", b"\0\0" + S("!h", -1)),
    "Bind with 32767 formats": wire.message("B", b"\0\0" + S("!h", 32767)),
    "Bind with missing formats": wire.message("B", b"\0\0" + S("!hh", 2, 0)),
    "Bind with -1 parameters": wire.message("B", b"\0\0" + S("!hh", 0, -1)),
    "Bind with missing parameters": wire.message("B", b"\0\0" + S("!hh", 0, 3)),
    "Bind without result formats": wire.message("B", b"\0\0" + S("!hh", 0, 0)),
    "Bind with -1 result formats": wire.message("B", b"\0\0" + S("!hhh", 0, 0, -1)),
    "Bind with missing result formats": wire.message("B", b"\0\0" + S("!hhh", 0, 0, 9)),
    "Bind with bytes behind": wire.message("B", b"\0\0" + S("!hhh", 0, 0, 0) + b"behind"),
    "Describe empty body": wire.message("D"),
    "Describe without name": wire.message("D", b"S"),
    "Describe of another kind": wire.message("D", b"X\0"),
    "Describe without end": wire.message("D", b"Sname"),
    "Describe with bytes behind": wire.message("D", b"S\0behind"),
    "Execute empty body": wire.message("E"),
    "Execute without count": wire.message("E", b"\0"),
    "Execute with half a count": wire.message("E", b"\0\0\0"),
    "Execute with bytes behind": wire.message("E", b"\0" + S("!i", 0) + b"behind"),
    "Close empty body": wire.message("C"),
    "Close of another kind": wire.message("C", b"X\0"),
    "Close without end": wire.message("C", b"Pname"),
    "Sync with a body": wire.message("S", b"body"),
    "Flush with a body": wire.message("H", b"body"),
    "FunctionCall empty body": wire.message("F"),
    "FunctionCall with -1 arguments": wire.message("F", S("!ihh", 1, 0, -1)),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_bodies(shared, name):
    client = shared.client()
    client.send(MALFORMED[name])
    before, is_usable = probe(client)
    errors = [m for m in before if m.kind == "E"]
    assert errors, (name, before)
    assert errors[0].fields["C"] in ("08P01", "22021", "0A000", "26000"), errors[0].fields


@pytest.mark.parametrize("size", [-2, -5, -(1 << 31), (1 << 31) - 1, 5, 6, 1 << 24])
@pytest.mark.parametrize("format", [0, 1])
def test_parameter_lengths(shared, size, format):
    client = shared.client()
    body = b"\0\0" + S("!hhh", 1, format, 1) + S("!i", size) + b"abcd" + S("!h", 0)
    client.send(wire.parse("SELECT $1", types=[wire.TEXT]), wire.message("B", body), wire.execute())
    before, is_usable = probe(client)
    # 22021 where the length takes in the NUL bytes behind the value.
    assert [m.fields["C"] for m in before if m.kind == "E"][0] in ("08P01", "22021")


def test_data_of_a_refused_message_is_never_parsed(shared):
    # CVE-2015-0244: after an error inside a message its rest was taken for messages.
    smuggled = wire.query("INSERT INTO t VALUES (666, 'smuggled')") * 1000
    padding = smuggled * (8_000_000 // len(smuggled))
    for body in [
        b"\0\0" + S("!hhh", 1, 0, 1) + S("!i", -7) + padding,
        b"\0\0" + S("!hhh", 1, 0, 2) + S("!i", 4) + b"abcd" + S("!i", len(padding) * 2) + padding,
        b"nowhere\0nothing\0" + S("!hhh", 0, 0, 1) + S("!i", len(padding)) + padding + S("!h", 0),
    ]:
        client = shared.client()
        client.send(wire.parse("SELECT $1", types=[wire.TEXT]))
        try:
            client.send(wire.message("B", body))
        except (BrokenPipeError, ConnectionResetError):
            pass
        ends_well(client)
    assert shared.value("SELECT count(*) FROM t") == "0"


# Text


@pytest.mark.parametrize(
    "text", [b"\xff", b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80", b"ok\xe2\x82"],
    ids=lambda text: text.hex(),
)
def test_text_that_is_not_utf8(shared, text):
    client = shared.client()
    assert client.query(b"SELECT '" + text + b"'").state == "22021"
    assert client.ask(wire.parse(b"SELECT '" + text + b"'")).state == "22021"
    assert client.extended("SELECT $1", [text], types=[wire.TEXT]).state == "22021"
    assert client.extended("SELECT $1", [text], types=[wire.TEXT], formats=[1]).state == "22021"
    assert client.extended("SELECT length($1)", [text], types=[wire.BYTEA], formats=[1]).value == str(len(text))
    # Names are at least not confused with each other, and never break the session.
    client.ask(wire.parse("SELECT 1", name=text))
    client.ask(wire.bind(portal=text))
    client.ask(wire.describe_statement(text), wire.close_statement(text), wire.execute(text))
    assert client.value("SELECT 1") == "1"


def test_nul_in_values(shared):
    client = shared.client()
    assert client.extended("SELECT $1", [b"a\0b"], types=[wire.TEXT]).state == "22021"
    assert client.extended("SELECT hex($1)", [b"a\0b"], types=[wire.BYTEA], formats=[1]).value == "610062"
    client.query("INSERT INTO t VALUES (1, CAST(x'610062' AS TEXT))").check()
    # Such a text can be stored; it cannot be a PostgreSQL text, and must not be cut silently.
    reply = client.query("SELECT v FROM t")
    assert reply.state is not None or reply.rows == [[b"a\0b"]]
    assert client.value("SELECT hex(v) FROM t") == "610062"


def test_stored_text_that_is_not_utf8(shared):
    client = shared.client()
    client.query("INSERT INTO t VALUES (1, CAST(x'ff' AS TEXT))").check()
    reply = client.query("SELECT v FROM t")
    assert reply.state is not None or reply.rows == [[b"\xff"]]
    assert client.value("SELECT hex(v) FROM t") == "FF"


# Sizes


def test_promised_gigabytes_cost_nothing(shared):
    shared.check_alive()
    before = shared.memory()
    clients = []
    for kind, promised in [("Q", 1 << 30), ("P", (1 << 30) - 5), ("B", 1 << 30), ("d", 1 << 30)]:
        client = shared.client()
        client.send(kind.encode(), struct.pack("!i", promised))
        reply = client.reply()
        assert reply.closed and reply.error["C"] == "08P01"
    # What is allowed and does not come takes no more than what came.
    for kind in "QPB" * 20:
        client = shared.client()
        client.send(kind.encode(), struct.pack("!i", 64 << 20), b"x" * 1000)
        clients.append(client)
    shared.settle(*clients)
    assert shared.memory() - before < 64 << 20
    shared.check_alive()
    for client in clients:
        client.close()


def test_a_large_message_gives_its_memory_back(shared):
    shared.check_alive()
    client = shared.client()
    text = "x" * (32 << 20)
    for _ in range(3):
        assert client.extended("SELECT length($1)", [text], types=[wire.TEXT]).value == str(32 << 20)
    clients = [shared.client() for _ in range(8)]
    for each in clients:
        assert each.extended("SELECT length($1)", [text], types=[wire.TEXT]).value == str(32 << 20)
    # Eight sessions that each once had a large message do not keep eight of them.
    eventually(lambda: shared.memory() < 200 << 20, "memory given back")


def test_too_large_messages(shared):
    client = shared.client()
    try:
        client.send(wire.query("SELECT '" + "x" * (100 << 20) + "'"))
    except (BrokenPipeError, ConnectionResetError):
        pass
    reply = client.reply()
    assert reply.closed
    if reply.messages:  # a reset may have swallowed it
        assert reply.error["S"] == "FATAL"


def test_too_long_statement(shared):
    client = shared.client()
    reply = client.query("SELECT '" + "x" * (2 << 20) + "'")
    assert reply.state in ("54000", "22001", "54001"), reply.errors
    assert client.value("SELECT 1") == "1"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT zeroblob(1000000000)",
        "SELECT randomblob(2000000000)",
        "SELECT printf('%.*c', 1000000000, 'x')",
        "SELECT replace(hex(zeroblob(30000000)), '0', 'xxxxxxxx')",
        "SELECT group_concat(hex(zeroblob(1000000)), '') FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1"
        " FROM c WHERE x < 1000) SELECT x FROM c)",
        "SELECT " + "(" * 3000 + "1" + ")" * 3000,
        "SELECT " + "+".join(["1"] * 5000),
        "SELECT " + " UNION ALL SELECT ".join(["1"] * 2000),
        "SELECT " + ", ".join(["1"] * 5000),
        "SELECT 'a' LIKE '" + "%a" * 40_000 + "'",
        "SELECT abs(-9223372036854775808)",
        "SELECT sum(9223372036854775807) FROM (SELECT 1 UNION ALL SELECT 2)",
        "SELECT json('{')",
        "SELECT json_extract('" + "[" * 5000 + "', '$')",
        "SELECT strftime('%Y', 9e999), substr('x', -9223372036854775808, 9223372036854775807)",
        "SELECT " + "-" * 5000 + "1",
        "SELECT CAST('" + "9" * 5000 + "' AS INTEGER)",
        "WITH " + ", ".join(f"c{n} AS (SELECT {n})" for n in range(500)) + " SELECT * FROM c499",
        "SELECT * FROM " + ", ".join(["(SELECT 1)"] * 100),
        "CREATE TABLE deep (x CHECK (" + "(" * 900 + "x" + ")" * 900 + "))",
    ],
    ids=range(20),
)
def test_hostile_sql(shared, sql):
    client = shared.client()
    reply = client.query(sql)
    assert not reply.closed
    assert shared.memory("VmHWM") < 1 << 30
    client.query("DROP TABLE IF EXISTS deep").check()
    assert client.value("SELECT 1") == "1"


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
def test_mutated_sessions(shared, seed):
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
            client.rest()
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
            client.rest()
