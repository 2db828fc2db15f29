"""Clients that want encryption, malformed startups, and what is no PostgreSQL client at all."""

import struct

import pytest

import wire
from daemon import eventually
from wire_fixtures import refused


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
    assert refused(client)["C"] == "08P01"


@pytest.mark.parametrize("code", [wire.SSL_REQUEST, wire.GSSENC_REQUEST])
def test_startup_in_one_write_with_an_encryption_request(shared, code):
    # PostgreSQL refuses the bytes behind the request, older ones took them. Nothing is ever encrypted here: they are as good as later ones.
    client = shared.raw()
    client.send(wire.packet(code), wire.startup({"user": "tester", "database": shared.name}))
    assert client.receive_bytes(1) == b"N"
    assert client.started().status == "I"


@pytest.mark.parametrize("code", [wire.SSL_REQUEST, wire.GSSENC_REQUEST])
def test_encryption_request_with_a_body_is_refused(shared, code):
    client = shared.raw()
    client.send(wire.packet(code, b"body"))
    assert refused(client)["C"] == "08P01"


# Malformed startups


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
    client.send(wire.packet(wire.PROTOCOL_3_0, body))
    assert refused(client)["C"] == "08P01"


def test_startup_with_bytes_that_are_no_text(shared):
    for name, value in [(b"user", b"\xff\xfe"), (b"database", b"\xc3("), (b"\xff", b"x")]:
        client = shared.raw()
        client.send(wire.packet(wire.PROTOCOL_3_0, wire.cstring(name) + wire.cstring(value) + b"user\0tester\0\0"))
        assert refused(client)["C"] == "22021"


@pytest.mark.parametrize("length", [-(1 << 31), -1, 0, 1, 3, 4, 7, 10_001, 1 << 30, (1 << 31) - 1])
def test_startup_lengths(shared, length):
    client = shared.raw()
    client.send(struct.pack("!ii", length, wire.PROTOCOL_3_0))
    assert refused(client)["C"] == "08P01"


# What is no PostgreSQL client at all


def test_every_first_byte(shared):
    for first in range(256):
        with shared.raw() as client:
            client.send(bytes([first]) + b"\0\0\x08" + b"Q" * 40)
            # With 0 it is a packet's length, and its version none of ours.
            assert refused(client)["C"] == ("08P01" if first else "0A000")


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
    assert refused(client)["C"] == "08P01"  # the server ends this by itself


def test_password_before_startup(shared):
    for kind in "pQPBXS":
        client = shared.raw()
        client.send(wire.message(kind, b"secret\0"))
        assert refused(client)["C"] == "08P01"


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
