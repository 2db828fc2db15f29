"""What went wrong in other servers. `CVES` is complete: an item without a test is a failure."""

import os
import struct

import pytest

import wire
from hostile import ENDLESS, MEBIBYTE, bystander, served  # the latter two are fixtures
from identity import client_as


def refused(reply):
    return reply.closed and reply.errors and reply.errors[0]["S"] == "FATAL"


def encryption_requests_alternate(daemon):
    client = daemon.raw()
    for code in [wire.SSL_REQUEST, wire.GSSENC_REQUEST]:
        client.send(wire.packet(code))
        assert client.receive_bytes(1) == b"N"
    try:
        client.send(*[wire.packet(wire.SSL_REQUEST), wire.packet(wire.GSSENC_REQUEST)] * 5000)
    except OSError:
        pass
    # No further N.
    assert refused(client.reply())


def encryption_after_the_startup(daemon):
    for code in [wire.SSL_REQUEST, wire.GSSENC_REQUEST]:
        client = daemon.client()
        client.send(wire.packet(code))
        assert refused(client.reply())


def bytes_behind_an_encryption_request(daemon):
    # Answered N, the rest is the cleartext startup it is; never SQL.
    client = daemon.raw()
    client.send(wire.packet(wire.SSL_REQUEST), wire.query("DROP TABLE t"))
    assert client.receive_bytes(1) == b"N"
    assert refused(client.reply())


def password_lengths(daemon):
    for length in [0, 1, 3, 5, 6, -1, 0x7FFFFFFF, -0x80000000]:
        for before in [b"", wire.startup({"user": "x", "database": daemon.name})]:
            client = daemon.raw()
            client.send(before, b"p" + struct.pack("!i", length) + b"x\0")
            client.half_close()
            client.rest()


def every_error_has_its_fields(daemon):
    client = daemon.client()
    for reply in [client.query("x"), client.query("SELECT nothing"), client.ask(wire.bind(statement="none")),
                  client.query("ROLLBACK TO x"), daemon.raw().start(database="none"), daemon.raw().start(version=2 << 16)]:
        for fields in reply.errors:
            assert {"S", "V", "C", "M"} <= fields.keys() and len(fields["C"]) == 5
        assert reply.errors


def console_commands_need_an_admin(daemon):
    """In test_access_reader.py for every role; here: the database's session knows no command of the console."""
    client = daemon.client()
    for sql in ["CHECKPOINT", "SHUTDOWN", "KILL 1", "RELOAD", "PAUSE", "SHOW CLIENTS", "BACKUP TO 'x'"]:
        assert client.query(sql).state in ("42601", "42704", "42000"), sql


def startup_parameters_are_no_sql(daemon):
    for name in ["search_path", "application_name", "TimeZone", "a.b"]:
        client = daemon.raw()
        reply = client.start(database=daemon.name, **{name: "x'; DROP TABLE t; --"})
        assert not reply.errors and client.query("SELECT count(*) FROM t").value == "1"
    assert refused(daemon.raw().start(database=daemon.name, options="-cx=1"))


def no_password_is_ever_asked(daemon):
    reply = daemon.raw().start(database=daemon.name)
    assert reply.of("R")[0].body == struct.pack("!i", 0) and len(reply.of("R")) == 1
    client = daemon.client()
    client.send(wire.message("p", b"expired\0"))
    assert refused(client.reply())


def an_unknown_user_is_nobody(daemon):
    if os.getuid():
        pytest.skip("needs to become another user")
    os.chmod(daemon.socket_path, 0o666)
    try:
        for name in ["root", "tester", "walpool", "pgbouncer", ""]:
            for database in [daemon.name, "walpool", "none"]:
                reply = client_as(daemon, 70_001).start(user=name, database=database)
                assert refused(reply) and reply.state in ("28000", "08P01")
    finally:
        os.chmod(daemon.socket_path, 0o660)


def long_and_odd_names(daemon):
    for name in ["", "x", "x" * 63, "x" * 64, "x" * 255, "x" * 4900, "x" * 9_900, "../../etc/passwd", "/etc/passwd", "-h", "..",
                 "%s%n", "a\nb", "ü"]:
        reply = daemon.raw().start(database=name, user="x")
        assert refused(reply) and reply.state == "3D000", name
        # Without a database the user's name stands for it.
        reply = daemon.raw().start(user=name)
        assert refused(reply) and reply.state == ("3D000" if name else "28000"), name
        # To the database that is there any name will do.
        reply = daemon.raw().start(user=name, database=daemon.name)
        assert reply.state == (None if name else "28000"), name
    client = daemon.raw()
    client.send(wire.packet(wire.PROTOCOL_3_0, b"user\0\xff\xfe\0database\0\xff\0\0"))
    client.half_close()
    reply = client.reply()
    assert refused(reply) and reply.state == "22021"
    assert not list(daemon.directory.parent.glob("passwd*"))


def messages_before_the_startup(daemon):
    for first in range(256):
        client = daemon.raw()
        client.send(bytes([first]) + struct.pack("!i", 4))
        client.half_close()
        client.rest()


def pipelines_out_of_order(daemon):
    client = daemon.client()
    for _ in range(200):
        reply = client.ask(wire.parse("SELECT 1", name="a"), wire.close_statement("a"), wire.bind(statement="a"),
                           wire.execute(), wire.close_portal("none"), wire.describe_portal())
        assert reply.state == "26000" and reply.status == "I"
        reply = client.ask(wire.execute("none"), wire.parse("x"), wire.bind(), wire.flush())
        assert reply.state == "34000"
    assert client.value("SELECT 1") == "1"


def an_error_in_half_a_message(daemon):
    # What follows inside the message looks like messages, and is none.
    inner = wire.query("DROP TABLE t") * 2000
    client = daemon.client()
    body = wire.bind([inner], statement="none")
    client.send(body[:1000])
    daemon.settle(client)
    client.send(body[1000:], wire.sync())
    reply = client.reply()
    assert reply.state == "26000" and reply.status == "I"
    assert client.value("SELECT count(*) FROM t") == "1"


def promised_lengths_allocate_nothing(daemon):
    # What is allocated and never touched is data and not resident.
    resident, data = daemon.memory(), daemon.memory("VmData")
    clients = [daemon.raw() for _ in range(100)]
    for client in clients:
        client.send(b"GET / HTTP/1.1\r\nHost: x\r\n")
        client.half_close()
        client.rest()
    clients = [daemon.client() for _ in range(50)]
    for client in clients:
        client.send(b"Q" + struct.pack("!i", 70_000_000) + b"SELECT")
    daemon.settle(*clients)
    assert daemon.memory() - resident < 64 * MEBIBYTE and daemon.memory("VmData") - data < 1024 * MEBIBYTE
    for client in clients:
        client.close()


def negative_lengths(daemon):
    for size in [-2, -1000, -0x80000000]:
        client = daemon.client()
        client.send(wire.parse("SELECT $1"), wire.message("B", b"\0\0" + struct.pack("!HHi", 0, 1, size) + b"\0\0"), wire.sync())
        reply = client.reply()
        assert reply.state == "08P01", reply.errors


def lengths_that_would_wrap(daemon):
    """Rows of more than a gigabyte are refused while they are made: the memory limit is far below. How a length that does not
    fit is refused by itself is in OutputBufferTests.swift."""
    reply = daemon.client().query("SELECT " + ", ".join(["zeroblob(60000000)"] * 100))
    assert reply.state == "53200" and not reply.rows


def keys_are_compared_whole(daemon):
    """That it takes the same time is in the code (`hasCancelKey`); here: no part of a key will do."""
    client = daemon.client(version=3 << 16 | 2)
    assert len(client.key) == 32
    client.query("SET statement_timeout = '2s'").check()
    client.send(wire.query(ENDLESS))
    for key in [client.key[:4], client.key[:31], client.key + b"x", bytes(32), client.key[:-1] + bytes([client.key[-1] ^ 1])]:
        client.cancel(key)
    assert "timeout" in client.reply().error["M"]


def refusals_are_alike(daemon):
    """A user that a rule rejects and one that no rule knows are told the same (test_access.py), and before authentication
    nobody learns which databases there are."""
    if os.getuid():
        pytest.skip("needs to become another user")
    os.chmod(daemon.socket_path, 0o666)
    try:
        replies = [client_as(daemon, 70_001).start(user="x", database=name) for name in (daemon.name, "none", "walpool")]
        assert len({tuple(sorted(reply.errors[0].items())) for reply in replies}) == 1
    finally:
        os.chmod(daemon.socket_path, 0o660)


def text_that_is_no_utf8(daemon):
    client = daemon.client()
    for text in [b"SELECT '\xff'", b"SELECT '\xc0\xa7; DROP TABLE t; --'", b"SELECT '\xe2\x28\xa1'", b"SELECT '\xed\xa0\x80'",
                 b"SELECT '\xf4\x90\x80\x80'", b"SELECT '\xc2"]:
        assert client.query(text).state == "22021"
        assert client.ask(wire.parse(text)).state == "22021"
        assert client.ask(wire.parse("SELECT 1", name=b"\xff")).state == "22021"
        assert client.ask(wire.parse("SELECT $1", types=[wire.TEXT]), wire.bind([text[8:]]), wire.execute()).state == "22021"
    assert client.value("SELECT count(*) FROM t") == "1"


def errors_before_the_startup_say_little(daemon):
    """It is clients that trusted such errors; ours have one message, with nothing of the server's but what it was sent."""
    for hello in [b"\0\0\0\x08\0\0\0\0", b"\0\0\0\x09\0\x03\0\0\0", wire.packet(2 << 16)]:
        client = daemon.raw()
        client.send(hello)
        client.half_close()
        rest = client.rest()
        assert len(rest) < 500 and str(daemon.directory).encode() not in rest


CVES = {
    "CVE-2026-6479": encryption_requests_alternate,
    "CVE-2026-14681": encryption_after_the_startup,
    "CVE-2021-23214, CVE-2021-3935": bytes_behind_an_encryption_request,
    "CVE-2026-6664": password_lengths,
    "CVE-2026-6666": every_error_has_its_fields,
    "CVE-2026-6667": console_commands_need_an_admin,
    "CVE-2025-12819": startup_parameters_are_no_sql,
    "CVE-2025-2291": no_password_is_ever_asked,
    "CVE-2015-6817": an_unknown_user_is_nobody,
    "CVE-2012-4575, CVE-2013-1899": long_and_odd_names,
    "CVE-2015-4054": messages_before_the_startup,
    "PgBouncer's bad packets": pipelines_out_of_order,
    "CVE-2015-0244": an_error_in_half_a_message,
    "pggat issue 11": promised_lengths_allocate_nothing,
    "CVE-2026-4427": negative_lengths,
    "CVE-2024-27304": lengths_that_would_wrap,
    "CVE-2026-6478": keys_are_compared_whole,
    "CVE-2026-14672": refusals_are_alike,
    "CVE-2025-1094, CVE-2025-4207, CVE-2026-2006": text_that_is_no_utf8,
    "CVE-2024-10977": errors_before_the_startup_say_little,
}


@pytest.mark.parametrize("name", CVES)
def test_what_went_wrong_elsewhere(served, bystander, name):
    CVES[name](served)
