"""COPY among others: transactions, waiting for the writer, stopping, batches, memory."""

import pytest

import wire
from copy_fixtures import begin, client, copied, copy_data, copy_done, copy_fail, db, rows
from daemon import eventually
from interleaving import interleave
from timeouts_fixtures import time_passes

PIECE = 1 << 16

# Transactions

def test_in_a_block(db, client):
    client.query("BEGIN").check()
    begin(client)
    client.send(copy_data("1\ta\n"), copy_done())
    assert client.reply().status == "T"
    assert rows(db) == []
    client.query("SAVEPOINT s").check()
    begin(client)
    client.send(copy_data("2\tb\n1\tc\n"), copy_done())
    reply = client.reply()
    assert reply.state == "23505" and reply.status == "E"
    assert client.query("COPY t FROM STDIN").state == "25P02"
    client.query("ROLLBACK TO s").check()
    assert client.query("COPY t TO STDOUT").of("d")[0].body == b"1\ta\n"
    client.query("COMMIT").check()
    assert rows(db) == [("1", "a")]


def test_reads_its_own_schema(db, client):
    client.query("BEGIN; CREATE TABLE fresh (a INTEGER, b BLOB)").check()
    assert copied(client, "COPY fresh FROM STDIN", "5\t\\\\x00ff\n").tag == "COPY 1"
    assert [m.body for m in client.query("COPY fresh TO STDOUT").of("d")] == [b"5\t\\\\x00ff\n"]
    client.query("ROLLBACK").check()
    assert client.query("COPY fresh FROM STDIN").state == "42P01"


def test_a_changed_schema_is_seen(db, client):
    assert copied(client, "COPY t FROM STDIN", "1\ta\n").tag == "COPY 1"
    db.run("ALTER TABLE t ADD COLUMN extra BOOLEAN")
    assert copied(client, "COPY t FROM STDIN", "2\tb\tyes\n").tag == "COPY 1"
    assert [m.body for m in client.query("COPY t TO STDOUT").of("d")] == [b"1\ta\t\\N\n", b"2\tb\tt\n"]


def test_others_write_while_the_client_dawdles(db):
    """Below the limit of what is kept, the writer is not taken before the end."""
    a, b = db.client(), db.client()
    begin(a)
    a.send(copy_data("1\ta\n"))
    db.settle(a)
    assert b.query("INSERT INTO t VALUES (5, 'b')").tag == "INSERT 0 1"
    a.send(copy_data("5\tagain\n"), copy_done())
    assert a.reply().state == "23505"
    assert rows(db) == [("5", "b")]


def test_waits_for_its_turn(db):
    a, b = db.client(), db.client()
    b.query("BEGIN; INSERT INTO t VALUES (9, 'b')").check()
    begin(a)
    a.send(copy_data("1\ta\n"), copy_done())
    db.settle(a)
    assert not a.has_reply()
    b.query("COMMIT").check()
    assert a.reply().tag == "COPY 1"


@pytest.mark.parametrize("extended", [False, True])
def test_lock_timeout(db, extended):
    a, b = db.client(), db.client()
    b.query("BEGIN; INSERT INTO t VALUES (9, 'b')").check()
    a.query("SET lock_timeout = '20ms'").check()
    if extended:
        a.send(wire.parse("COPY t FROM STDIN"), wire.bind(), wire.execute(), copy_data("1\ta\n"), copy_done(), wire.sync())
    else:
        a.send(wire.query("COPY t FROM STDIN"), copy_data("1\ta\n"), copy_done())
    reply = a.reply()
    assert reply.state == "55P03" and reply.kinds == ("12GEZ" if extended else "GEZ")
    assert a.value("SELECT 1") == "1"
    b.query("ROLLBACK").check()


@pytest.mark.parametrize("in_block", [False, True])
def test_lock_timeout_is_no_limit_of_what_it_takes(db, in_block):
    a = db.client()
    a.query("SET lock_timeout = '100ms'").check()
    if in_block:
        a.query("BEGIN; SELECT count(*) FROM t").check()
    begin(a)
    a.send(copy_data("1\ta\n"))
    time_passes(db, 300)
    a.send(copy_done())
    assert a.reply().tag == "COPY 1"


def test_lock_timeout_begins_with_the_wait(db):
    a, b = db.client(), db.client()
    a.query("SET lock_timeout = '2s'").check()
    begin(a)
    b.query("BEGIN; INSERT INTO t VALUES (9, 'b')").check()
    time_passes(db, 2100)
    a.send(copy_data("1\ta\n"), copy_done())
    db.settle(a)
    assert not a.has_reply()
    b.query("COMMIT").check()
    assert a.reply().tag == "COPY 1"


def test_a_holder_that_dawdles_is_evicted(start_daemon):
    daemon = start_daemon(config='writer_idle_limit = "100ms"\n')
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    a, b = daemon.client(), daemon.client()
    begin(a, "BEGIN; INSERT INTO t VALUES (1, 'a'); COPY t FROM STDIN")
    a.send(copy_data("2\ta\n"))
    daemon.settle(a)
    assert b.query("INSERT INTO t VALUES (2, 'b')").tag == "INSERT 0 1"
    reply = a.reply()
    assert reply.closed and reply.state == "25P03"
    assert rows(daemon) == [("2", "b")]


def test_streams_once_it_has_the_writer(start_daemon):
    """More than is kept: the writer is taken in the middle, and whoever waits gets it by eviction."""
    daemon = start_daemon(config='writer_idle_limit = "100ms"\n')
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    a, b = daemon.client(), daemon.client()
    begin(a)
    a.send(copy_data("".join(f"{i}\t{'x' * 100}\n" for i in range(60_000))))
    daemon.settle(a)
    assert b.query("INSERT INTO t VALUES (0, 'b')").tag == "INSERT 0 1"
    assert a.reply().state == "25P03"
    assert rows(daemon) == [("0", "b")]


# Stopping

@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("block", [False, True])
def test_cancel_while_it_waits_for_data(db, client, extended, block):
    if block:
        client.query("BEGIN; INSERT INTO t VALUES (8, '')").check()
    if extended:
        client.send(wire.parse("COPY t FROM STDIN"), wire.bind(), wire.execute(), wire.flush())
        client.receive_until("G")
    else:
        begin(client)
    client.send(copy_data("1\ta\n"))
    db.settle(client)
    client.cancel()
    if extended:
        assert client.receive_until("E")[-1].state == "57014"
        client.send(copy_data("2\tb\n"), copy_fail(), wire.sync())
        assert client.reply().kinds == "Z"
    else:
        reply = client.reply()
        assert reply.kinds == "EZ" and reply.state == "57014" and reply.status == ("E" if block else "I")
        client.send(copy_data("2\tb\n"), copy_done())
    client.query("ROLLBACK").check()
    assert client.value("SELECT count(*) FROM t") == "0"


def test_statement_timeout_while_it_waits_for_data(db, client):
    client.query("SET statement_timeout = '30ms'").check()
    begin(client)
    reply = client.reply()
    assert reply.kinds == "EZ" and reply.state == "57014"
    assert client.value("SELECT 1") == "1"


def test_cancel_races(db, client):
    """Cancels at any moment: each COPY ends in one of two ways, and the session stays in step."""
    for turn in range(60):
        begin(client)
        client.send(copy_data(f"{turn}\ta\n"))
        with wire.Client(db.socket_path) as request:
            request.send(wire.cancel_request(client.process_id, client.key))
            if turn % 2:
                # It has been dealt with, and the COPY still waits for data.
                request.rest()
            client.send(copy_data(f"{turn + 1000}\tb\n"), copy_done())
            reply = client.reply()
            # Not for what is asked next.
            request.rest()
        ends = [("EZ", "57014")] if turn % 2 else [("EZ", "57014"), ("CZ", None)]
        assert (reply.kinds, reply.state) in ends, reply
        assert client.value("SELECT count(*) % 2 FROM t") == "0"


def test_shutdown(start_daemon):
    daemon = start_daemon()
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    clients = [daemon.client() for _ in range(3)]
    for number, client in enumerate(clients):
        begin(client, "COPY t FROM STDIN" if number else "BEGIN; INSERT INTO t VALUES (5, ''); COPY t FROM STDIN")
        client.send(copy_data(f"{number}\ta\n"))
    daemon.settle(*clients)
    daemon.stop()
    for client in clients:
        assert client.reply().state == "57P01"
    daemon.restart()
    assert rows(daemon) == []


# BATCH

def test_batches_commit_as_they_go(db, client):
    begin(client, "COPY t FROM STDIN (BATCH 2)")
    client.send(copy_data("".join(f"{i}\ta\n" for i in range(1, 6)) + "x\tb\n7\tc\n"), copy_done())
    error = client.reply().error
    assert error["C"] == "22P02" and error["W"] == 'COPY t, line 6, column id: "x"'
    assert "had committed 4 rows" in error["D"]
    assert [row[0] for row in rows(db)] == ["1", "2", "3", "4"]
    assert copied(client, "COPY t FROM STDIN (BATCH 3)", "".join(f"{i}\ta\n" for i in range(11, 21))).tag == "COPY 10"
    assert db.value("SELECT count(*) FROM t") == "14"


def test_batches_hold_nothing_between_them(db):
    a, b = db.client(), db.client()
    begin(a, "COPY t FROM STDIN (BATCH 1000)")
    a.send(copy_data("".join(f"{i}\t{'x' * 50}\n" for i in range(1, 5_001))))
    eventually(lambda: b.value("SELECT count(*) FROM t") == "5000", "five batches")
    assert b.query("INSERT INTO t VALUES (0, 'b')").tag == "INSERT 0 1"
    a.send(copy_data("0\tagain\n"), copy_done())
    error = a.reply().error
    assert error["C"] == "23505" and "had committed 5000 rows" in error["D"]


# Memory, and results larger than any buffer

@pytest.mark.parametrize("options", ["", "CSV DELIMITER E'\\t'", "(HEADER)"])
def test_a_row_of_millions_of_fields(start_daemon, options):
    daemon = start_daemon()
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    client = daemon.client()
    before = daemon.memory("VmHWM")
    client.send(wire.query(f"COPY t FROM STDIN {options}"))
    assert client.receive().kind == "G"
    # Eight million fields, and no end of the row.
    for _ in range(8):
        client.send(copy_data(b"\t" * (1 << 20)))
    client.send(copy_done())
    reply = client.reply()
    assert reply.state == "22P04" and reply.error["M"] == "extra data after last expected column"
    assert daemon.memory("VmHWM") - before < 64 << 20
    assert client.value("SELECT 1") == "1"


@pytest.mark.optimised
def test_large_copies_take_little_memory(start_daemon):
    daemon = start_daemon()
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    daemon.run("INSERT INTO t VALUES (0, '')")
    client = daemon.client()
    before = daemon.memory("VmHWM")
    begin(client)
    size = 0
    for block in range(100):
        data = "".join(f"{block * 10_000 + i + 1}\t{'x' * 40}\n" for i in range(10_000)).encode()
        size += len(data)
        for position in range(0, len(data), PIECE):
            client.send(copy_data(data[position : position + PIECE]))
    client.send(copy_done())
    assert client.reply().tag == "COPY 1000000"
    grown = daemon.memory("VmHWM") - before
    assert grown < 24 << 20 < size, f"{grown >> 20} MB for {size >> 20} MB"
    client.send(wire.query("COPY t TO STDOUT"))
    daemon.settle(client)
    # It stands still, because nobody reads.
    assert daemon.memory("VmHWM") - before < 24 << 20
    received = 0
    while (message := client.receive()).kind != "Z":
        received += message.kind == "d"
    assert received == 1_000_001


def test_a_quote_that_is_never_closed(db, client):
    """However it is cut, a row is not read from its start for each piece of it."""
    begin(client, "COPY t FROM STDIN CSV")
    client.send(copy_data('1,"'))
    for _ in range(512):
        client.send(copy_data("x" * (32 << 10)))
    client.send(copy_data('"\n'), copy_done())
    assert client.reply().tag == "COPY 1"
    assert client.value("SELECT length(v) FROM t") == str(512 * (32 << 10))


def test_interleaved_with_other_writers(db):
    interleave(db, """
        a                                        | b
        BEGIN                                    |
        INSERT INTO t VALUES (1, 'a')            |
                                                 | INSERT INTO t VALUES (2, 'b') => waits
        COPY t TO STDOUT => COPY 1               |
        COPY (SELECT count(*) FROM t) TO STDOUT => COPY 1 [T] |
        COMMIT                                   |
                                                 | ... => INSERT 0 1
        BEGIN ISOLATION LEVEL REPEATABLE READ    |
        COPY t TO STDOUT => COPY 2               |
                                                 | INSERT INTO t VALUES (3, 'c') => INSERT 0 1
        COPY t TO STDOUT => COPY 2               |
        COMMIT                                   |
        COPY t TO STDOUT => COPY 3               |
    """)


def test_a_slow_copy_is_logged_under_its_own_text(start_daemon):
    daemon = start_daemon(config='log_min_duration_statement = "1ms"\n')
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    client = daemon.client()
    client.send(wire.parse("COPY t FROM STDIN"), wire.bind(), wire.execute())
    client.send(copy_data("".join(f"{i}\tx\n" for i in range(20_000))), copy_done(), wire.sync())
    assert client.reply().tag == "COPY 20000"
    eventually(lambda: "COPY t FROM STDIN" in daemon.errors, "a line of the log")
