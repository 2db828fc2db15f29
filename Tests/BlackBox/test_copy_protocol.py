"""COPY byte by byte: what is sent when, what ends it, and what is refused."""

import struct

import pytest

import wire
from copy_fixtures import begin, client, copied, copy_data, copy_done, copy_fail, db, error_of, rows

# The messages

def test_copy_in_response(client):
    assert begin(client).body == struct.pack("!bhhh", 0, 2, 0, 0)
    client.send(copy_data("1\ta\n2\tb\n"), copy_done())
    reply = client.reply()
    assert reply.kinds == "CZ" and reply.tag == "COPY 2" and reply.status == "I"
    assert begin(client, "COPY t (v) FROM STDIN (FORMAT binary)").body == struct.pack("!bhh", 1, 1, 1)


def test_copy_out_messages(db, client):
    db.run("INSERT INTO t VALUES (1, 'a'), (2, NULL), (3, 'x\ty')")
    reply = client.query("COPY t TO STDOUT")
    assert reply.kinds == "HdddcCZ" and reply.tag == "COPY 3"
    assert reply.messages[0].body == struct.pack("!bhhh", 0, 2, 0, 0)
    assert [m.body for m in reply.of("d")] == [b"1\ta\n", b"2\t\\N\n", b"3\tx\\ty\n"]


def test_binary_out_shares_the_header_with_the_first_row(db, client):
    header = b"PGCOPY\n\xff\r\n\0" + bytes(8)
    reply = client.query("COPY t TO STDOUT (FORMAT binary)")
    assert [m.body for m in reply.of("d")] == [header + b"\xff\xff"]
    db.run("INSERT INTO t VALUES (1, 'a'), (2, NULL)")
    reply = client.query("COPY t TO STDOUT WITH BINARY")
    assert [m.body for m in reply.of("d")] == [
        header + struct.pack("!hiqi", 2, 8, 1, 1) + b"a", struct.pack("!hiqi", 2, 8, 2, -1), b"\xff\xff"]


def test_extended_protocol(db, client):
    client.send(wire.parse("COPY t FROM STDIN"), wire.bind(), wire.describe_portal(), wire.execute())
    client.send(wire.flush())
    assert [m.kind for m in client.receive_until("G")] == ["1", "2", "n", "G"]
    # Drivers may send Sync after every Execute, without looking what it is: "the backend will ignore Flush and Sync".
    client.send(wire.sync(), copy_data("1\ta\n"), wire.flush(), copy_data("2\tb\n"), copy_done(), wire.sync())
    reply = client.reply()
    assert reply.kinds == "CZ" and reply.tag == "COPY 2"
    reply = client.ask(wire.parse("COPY t TO STDOUT"), wire.bind(), wire.execute())
    assert reply.kinds == "12HddcCZ"
    assert rows(db) == [("1", "a"), ("2", "b")]


def test_statements_around_it(db, client):
    client.send(wire.query("INSERT INTO t VALUES (9, 'before'); COPY t FROM STDIN; SELECT count(*) FROM t"))
    client.receive_until("G")
    client.send(copy_data("1\ta\n"))
    db.settle(client)
    client.send(copy_data("2\tb\n"), copy_done())
    reply = client.reply()
    assert reply.tags == ["COPY 2", "SELECT 1"] and reply.texts == [("3",)]


def test_two_copies_in_one_message(db, client):
    client.send(wire.query("COPY t FROM STDIN; COPY t TO STDOUT; COPY t FROM STDIN"))
    client.send(copy_data("1\ta\n"), copy_done(), copy_data("2\tb\n"), copy_done())
    reply = client.reply()
    assert reply.kinds == "GCHdcCGCZ" and reply.tags == ["COPY 1"] * 3
    assert rows(db) == [("1", "a"), ("2", "b")]


def test_a_byte_at_a_time(db, client):
    begin(client)
    for byte in b"10\tv\\tw\r\n11\t\\N\r\n":
        client.send(copy_data(bytes([byte])))
    client.send(copy_data(b""), copy_done())
    assert client.reply().tag == "COPY 2"
    assert rows(db) == [("10", "v\tw"), ("11", None)]


def test_messages_in_pieces(db, client):
    whole = wire.query("COPY t FROM STDIN") + copy_data("1\ta\n") + copy_data("2\tb") + copy_done()
    for position in range(len(whole)):
        client.send(whole[position : position + 1])
    assert client.reply().tag == "COPY 2"


def test_nothing_copied(db, client):
    assert copied(client, "COPY t FROM STDIN").tag == "COPY 0"
    assert copied(client, "COPY t FROM STDIN", "\\.\n").tag == "COPY 0"
    assert copied(client, "COPY t FROM STDIN (HEADER, FORMAT csv)", "id,v\n").tag == "COPY 0"


# What ends it

def test_copy_fail_rolls_back(db, client):
    begin(client)
    client.send(copy_data("1\ta\n"), copy_fail("out of paper"))
    reply = client.reply()
    assert reply.kinds == "EZ" and reply.state == "57014" and reply.status == "I"
    assert reply.error["M"] == "COPY from stdin failed: out of paper"
    assert rows(db) == []
    assert client.value("SELECT 1") == "1"


def test_copy_fail_in_the_extended_protocol(db, client):
    client.send(wire.parse("COPY t FROM STDIN"), wire.bind(), wire.execute(), wire.flush())
    client.receive_until("G")
    client.send(copy_data("1\ta\n"), copy_fail(), wire.sync())
    reply = client.reply()
    assert reply.kinds == "EZ" and reply.state == "57014"
    assert client.value("SELECT count(*) FROM t") == "0"


@pytest.mark.parametrize("message", [
    wire.query("SELECT 1"), wire.parse("SELECT 1"), wire.bind(), wire.execute(), wire.describe_portal(),
    wire.close_portal(), wire.message("F", b"\0")], ids="QPBEDCF")
def test_another_message_aborts(db, client, message):
    begin(client)
    client.send(copy_data("1\ta\n"), message)
    reply = client.reply()
    assert reply.kinds == "EZ" and reply.state == "08P01"
    assert "during COPY from stdin" in reply.error["M"]
    assert client.value("SELECT count(*) FROM t") == "0"


def test_another_message_aborts_in_the_extended_protocol(db, client):
    client.send(wire.parse("COPY t FROM STDIN"), wire.bind(), wire.execute(), wire.flush())
    client.receive_until("G")
    client.send(copy_data("1\ta\n"), wire.parse("SELECT 1"), wire.bind(), wire.execute(), wire.sync())
    reply = client.reply()
    assert reply.kinds == "EZ" and reply.state == "08P01"
    assert client.value("SELECT count(*) FROM t") == "0"


def test_data_after_an_error_is_dropped(db, client):
    begin(client)
    client.send(copy_data("x\ta\n" + "2\tb\n" * 50_000))
    client.send(copy_data("3\tc\n"), copy_done())
    reply = client.reply()
    assert reply.kinds == "EZ" and reply.state == "22P02"
    assert client.query("SELECT count(*) FROM t").texts == [("0",)]


def test_data_after_an_error_in_the_extended_protocol(db, client):
    client.send(wire.parse("COPY t FROM STDIN"), wire.bind(), wire.execute(), wire.flush())
    client.receive_until("G")
    client.send(copy_data("x\ta\n" + "2\tb\n" * 50_000), copy_data("3\tc\n"), copy_done(), wire.sync())
    reply = client.reply()
    assert reply.kinds == "EZ" and reply.state == "22P02"
    assert client.query("SELECT count(*) FROM t").texts == [("0",)]


def test_an_error_before_the_data(db, client):
    client.send(wire.parse("COPY missing FROM STDIN"), wire.bind(), wire.execute(), wire.sync())
    client.send(copy_data("1\ta\n"), copy_done(), wire.sync())
    first, second = client.reply(), client.reply()
    assert first.kinds == "12EZ" and first.state == "42P01"
    assert second.kinds == "Z"
    assert client.value("SELECT 1") == "1"


def test_terminate_and_vanishing(db, client):
    begin(client)
    client.send(copy_data("1\ta\n" * 1), wire.terminate())
    assert client.rest() == b""
    other = db.client()
    begin(other)
    other.send(copy_data("1\ta\n" * 1))
    other.close()
    third = db.client()
    begin(third, "BEGIN; INSERT INTO t VALUES (5, ''); COPY t FROM STDIN")
    third.send(copy_data("1\ta\n"))
    db.settle(third)
    third.close()
    # The next one gets the writer, so the one that vanished has lost it.
    db.run("INSERT INTO t VALUES (7, '')")
    assert rows(db) == [("7", "")]


# Errors name line and column

@pytest.mark.parametrize("data, state, context", [
    ("1\ta\nx\tb\n", "22P02", 'COPY t, line 2, column id: "x"'),
    ("1\ta\n99999999999999999999\tb\n", "22003", 'COPY t, line 2, column id: "99999999999999999999"'),
    ("1\ta\n2\n", "22P04", "COPY t, line 2"),
    ("1\ta\tb\n", "22P04", "COPY t, line 1"),
    (b"1\ta\xff\n", "22021", "COPY t, line 1, column v"),
    (b"1\ta\0\n", "22021", "COPY t, line 1"),
    ("1\ta\\0\n", "22021", "COPY t, line 1, column v"),
    ("1\ta\n1\tb\n", "23505", "COPY t, line 2"),
    ("1\ta\r\n2\tb\n", "22P04", "COPY t, line 2"),
    ("1\ta\n2\tb\r\n", "22P04", "COPY t, line 2"),
    ("1\ta\n\\.x\n", "22P04", "COPY t, line 2"),
    ("1\ta\\.\n", "22P04", "COPY t, line 1"),
])
def test_errors_in_text(db, client, data, state, context):
    error = error_of(client, data)
    assert (error["C"], error["W"]) == (state, context)
    assert rows(db) == []


@pytest.mark.parametrize("data, context", [
    ('1,a\n"2\n3",b\n', 'COPY t, line 3, column id: "2\n3"'),
    ('1,"a\n', "COPY t, line 2"),
    ('1,a\n2,"b\n\n"\nx,c\n', 'COPY t, line 5, column id: "x"'),
    ("1,a\n\n", 'COPY t, line 2'),
])
def test_errors_in_csv(db, client, data, context):
    assert error_of(client, data, "COPY t FROM STDIN CSV")["W"] == context
    assert rows(db) == []


def test_constraints_and_foreign_keys(db, client):
    db.run("DROP TABLE IF EXISTS child",
           "CREATE TABLE child (n INTEGER NOT NULL CHECK (n < 10) REFERENCES t DEFERRABLE INITIALLY DEFERRED)")
    assert error_of(client, "1\n\\N\n", "COPY child FROM STDIN")["C"] == "23502"
    error = error_of(client, "1\n12\n", "COPY child FROM STDIN")
    assert error["C"] == "23514" and error["W"] == "COPY child, line 2"
    reply = copied(client, "COPY child FROM STDIN", "7\n")
    assert reply.kinds == "GEZ" and reply.state == "23503"
    assert db.value("SELECT count(*) FROM child") == "0"
    db.run("DROP TABLE child")


def test_binary_negatives(db, client):
    header = b"PGCOPY\n\xff\r\n\0" + bytes(8)
    row = struct.pack("!hiqi", 2, 8, 1, 1) + b"a"
    for data, message in [
        (b"PGCOPX\n", "COPY file signature not recognized"),
        (b"PGCOPY\n\xff\r\n\0\0\0", "invalid COPY file header (missing flags)"),
        (b"PGCOPY\n\xff\r\n\0\0\1\0\0\0\0\0\0", "invalid COPY file header (WITH OIDS)"),
        (b"PGCOPY\n\xff\r\n\0\1\0\0\0\0\0\0\0", "unrecognized critical flags in COPY file header"),
        (b"PGCOPY\n\xff\r\n\0\0\0\0\0\xff\xff\xff\xff", "invalid COPY file header (missing length)"),
        (b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\x09abc", "invalid COPY file header (wrong length)"),
        (header + struct.pack("!h", 3), "row field count is 3, expected 2"),
        (header + struct.pack("!hi", 2, -5) + bytes(8), "invalid field size"),
        (header + struct.pack("!hi", 2, 0x7FFFFFFF), "invalid field size"),
        (header + row[:-1], "unexpected EOF in COPY data"),
        (header + b"\0", "unexpected EOF in COPY data"),
        (header + row + b"\xff\xffmore", "received copy data after EOF marker"),
        (header + struct.pack("!hi3si", 2, 3, b"abc", -1), "incorrect binary data format"),
        (header + struct.pack("!hiqi", 2, 8, 1, 2) + b"a\0", 'invalid byte sequence for encoding "UTF8": 0x00 in COPY'),
    ]:
        error = error_of(client, data, "COPY t FROM STDIN (FORMAT binary)")
        assert error["M"] == message, data
    assert rows(db) == []
    # Any number of bytes in the header's extension, and no trailer.
    longer = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\x03abc" + row
    for position in range(len(longer)):
        begin(client, "COPY t FROM STDIN (FORMAT binary)")
        client.send(copy_data(longer[:position]), copy_data(longer[position:]), copy_done())
        assert client.reply().tag == "COPY 1"
        db.run("DELETE FROM t")


# What it is allowed to say

@pytest.mark.parametrize("sql, state", [
    ("COPY t FROM '/etc/passwd'", "42501"),
    ("COPY t TO '/tmp/x'", "42501"),
    ("COPY t FROM PROGRAM 'id'", "42501"),
    ("COPY missing FROM STDIN", "42P01"),
    ("COPY missing TO STDOUT", "42P01"),
    ("COPY t (nope) FROM STDIN", "42703"),
    ("COPY t (id, id) FROM STDIN", "42701"),
    ("COPY other.t FROM STDIN", "3F000"),
    ("COPY sqlite_schema FROM STDIN", "42501"),
    ("COPY (SELECT 1) FROM STDIN", "42601"),
    ("COPY (DROP TABLE t) TO STDOUT", "42601"),
    ("COPY (INSERT INTO t VALUES (1, '')) TO STDOUT", "0A000"),
    ("COPY (SELECT $1) TO STDOUT", "42P02"),
    ("COPY t FROM STDIN WHERE id > 1", "0A000"),
    ("COPY t FROM STDIN (FORMAT xml)", "22023"),
    ("COPY t FROM STDIN (FORMAT csv, FORMAT csv)", "42601"),
    ("COPY t FROM STDIN (NONSENSE)", "42601"),
    ("COPY t FROM STDIN (ENCODING 'latin1')", "0A000"),
    ("COPY t FROM STDIN (DELIMITER 'ab')", "0A000"),
    ("COPY t FROM STDIN (DELIMITER 'a')", "22023"),
    ("COPY t FROM STDIN (DELIMITER E'\\n')", "22023"),
    ("COPY t FROM STDIN (QUOTE '''')", "0A000"),
    ("COPY t FROM STDIN (FORMAT csv, DELIMITER '\"')", "22023"),
    ("COPY t FROM STDIN (FORMAT binary, HEADER)", "0A000"),
    ("COPY t FROM STDIN (FORMAT binary, NULL '')", "42601"),
    ("COPY t FROM STDIN (FORMAT csv, FORCE_QUOTE *)", "0A000"),
    ("COPY t FROM STDIN (FORMAT csv, FORCE_NULL (nope))", "42P10"),
    ("COPY t TO STDOUT (HEADER match)", "0A000"),
    ("COPY t TO STDOUT (BATCH 5)", "0A000"),
    ("COPY t FROM STDIN (BATCH 0)", "22023"),
    ("BEGIN; COPY t FROM STDIN (BATCH 5)", "25001"),
    ("INSERT INTO t VALUES (77, ''); COPY t FROM STDIN (BATCH 5)", "25001"),
    ("BEGIN READ ONLY; COPY t FROM STDIN", "25006"),
    ("COPY t FROM", "42601"),
    ("COPY t FROM STDIN WITH", "42601"),
    ("COPY t FROM STDIN (", "42601"),
])
def test_refused(db, client, sql, state):
    reply = client.query(sql)
    assert reply.state == state and not reply.of("G") and not reply.of("H"), reply
    client.query("ROLLBACK")
    assert rows(db) == []


def test_read_only_by_default(db, client):
    client.query("SET default_transaction_read_only = on").check()
    assert client.query("COPY t FROM STDIN").state == "25006"
    assert client.query("COPY t TO STDOUT").tag == "COPY 0"
