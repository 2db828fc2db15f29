"""Messages whose bodies are malformed, or hold what is no text."""

import struct

import pytest

import wire
from wire_fixtures import ends_well, probe, table  # noqa: F401 (a fixture)

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


def test_data_of_a_refused_message_is_never_parsed(shared, table):
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


def test_nul_in_values(shared, table):
    client = shared.client()
    assert client.extended("SELECT $1", [b"a\0b"], types=[wire.TEXT]).state == "22021"
    assert client.extended("SELECT hex($1)", [b"a\0b"], types=[wire.BYTEA], formats=[1]).value == "610062"
    client.query("INSERT INTO t VALUES (1, CAST(x'610062' AS TEXT))").check()
    # Such a text can be stored; it cannot be a PostgreSQL text, and is not cut silently.
    assert client.query("SELECT v FROM t").check().rows == [[b"a\0b"]]
    assert client.value("SELECT hex(v) FROM t") == "610062"


def test_stored_text_that_is_not_utf8(shared, table):
    client = shared.client()
    client.query("INSERT INTO t VALUES (1, CAST(x'ff' AS TEXT))").check()
    assert client.query("SELECT v FROM t").check().rows == [[b"\xff"]]
    assert client.value("SELECT hex(v) FROM t") == "FF"
