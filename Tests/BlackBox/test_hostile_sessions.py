"""What one session may take from all others: the writer, by not reading; memory, by what it names; places, by connecting."""

import fcntl
import os
import socket
import struct
import termios
import threading

import psycopg
import pytest

import wire
from daemon import cancel_until_answered, daemon_reads, eventually
from test_metrics import free_port
from wire_fixtures import ENDLESS

FLUSH_BYTES = 32 << 10      # SessionLimits.flushBytes


def unread(client):
    """What the kernel has for it."""
    return struct.unpack("i", fcntl.ioctl(client.socket, termios.FIONREAD, b"\0" * 4))[0]


def replies_of(total):
    """Messages without a Sync, with replies of so many bytes: nobody flushes before there are FLUSH_BYTES of them."""
    messages, left = [wire.parse("SELECT printf('%.*c', $1::int8, 'x')", name="n")], total - 5
    while left > 0:
        size = left if left < 4000 else min(3000, left - 1000)
        messages += [wire.bind([str(size - 30)], statement="n"), wire.execute()]
        left -= size
    return b"".join(messages)


def test_who_gets_the_writer_and_reads_nothing_does_not_keep_it(start_daemon):
    """
    |  holder            |  silent                                           |  other    |
    |--------------------|---------------------------------------------------|-----------|
    |  BEGIN IMMEDIATE   |  replies that it does not read; the daemon keeps  |           |
    |                    |  60 bytes less than it waits for a client with    |           |
    |                    |  INSERT: waits, and is noticed, which is more     |           |
    |                    |                                                   |  INSERT   |
    |  is ended, idle    |  has the writer, and reads nothing                |           |
    |                    |  ends by writer_idle_limit                        |  done     |
    """
    daemon = start_daemon(config='writer_idle_limit = "100ms"\n')
    daemon.run("CREATE TABLE t (v)")

    def silent():
        client = daemon.client(queue_notice="1ms")
        client.query("SET client_write_timeout = '10min'").check()
        client.query("BEGIN").check()
        return client

    first = silent()
    first.send(replies_of(1_000_000))
    daemon.settle(first)
    kernel_takes = unread(first)
    first.close()

    holder, second, other = daemon.client(), silent(), daemon.client()
    holder.query("BEGIN IMMEDIATE").check()
    insert = wire.parse("INSERT INTO t VALUES ('silent')") + wire.bind() + wire.execute()
    second.send(replies_of(kernel_takes + FLUSH_BYTES - 60) + insert)
    daemon.settle(second)
    other.send(wire.query("INSERT INTO t VALUES ('other')"))
    # The holder goes by writer_idle_limit, and so has the silent one to.
    assert other.reply().tag == "INSERT 0 1"
    assert daemon.run("SELECT v FROM t").texts == [("other",)]


def number_until_refused(client, message):
    """How many of these it takes, each a message made of its number, until there is no room for one more."""
    for number in range(300):
        reply = client.ask(message(number))
        if reply.state:
            assert reply.state == "54000", reply.error
            return number
    raise AssertionError("none was refused")


@pytest.mark.optimised
def test_parameters_of_named_statements_count(daemon):
    client = daemon.client()
    many = [20] * 65_535
    assert number_until_refused(client, lambda number: wire.parse("SELECT 1", name=f"s{number}", types=many)) > 50
    client.query("DEALLOCATE ALL").check()
    assert number_until_refused(client, lambda number: wire.parse("SELECT ?65535", name=f"s{number}")) > 30
    assert daemon.memory("VmHWM") < 600 << 20


def test_values_of_named_portals_count_though_they_are_nothing(daemon):
    client = daemon.client()
    client.ask(wire.parse("SELECT ?65535", name="s", types=[20] * 65_535)).check()
    client.query("BEGIN").check()
    nothing = [None] * 65_535
    assert number_until_refused(client, lambda number: wire.bind(nothing, portal=f"p{number}", statement="s")) > 20
    assert daemon.memory("VmHWM") < 600 << 20


@pytest.mark.optimised
@pytest.mark.parametrize("how", ["described", "begun"])
@pytest.mark.parametrize("sql, arguments", [("SELECT length($1)", "'" + "v" * 900_000 + "'"), ("SELECT ?65535", ",".join(["NULL"] * 65_535))],
                         ids=["a long one", "many"])
def test_arguments_of_execute_count_in_each_of_its_portals(daemon, how, sql, arguments):
    """They stand in the text once, and each portal has them, with a type for each."""
    client = daemon.client()
    client.query(f"PREPARE p AS {sql}").check()
    client.query("BEGIN").check()
    client.ask(wire.parse(f"EXECUTE p({arguments})", name="e")).check()

    def run(number):
        name = f"c{number}"
        return wire.bind(portal=name, statement="e") + (wire.describe_portal(name) if how == "described" else wire.execute(name, rows=1))

    assert 20 < number_until_refused(client, run) < 200
    assert daemon.memory("VmHWM") < 600 << 20


@pytest.mark.optimised
def test_a_query_of_too_many_statements(daemon):
    client = daemon.client()
    assert client.query("END;" * 2_000_001).state == "54000"
    assert client.query("SELECT 1;" * 3).check().texts == [("1",)] * 3
    assert daemon.memory("VmHWM") < 300 << 20


def test_execute_is_described_in_the_format_it_comes_in(daemon):
    with psycopg.connect(host=str(daemon.directory), dbname=daemon.name, user="any", autocommit=True) as connection:
        connection.execute("PREPARE p AS SELECT 5 AS id, 'five' AS name")
        for binary in [False, True]:
            assert connection.cursor(binary=binary).execute("EXECUTE p").fetchall() == [(5, "five")]


def test_connections_for_metrics_take_no_places(start_daemon):
    port = free_port()
    daemon = start_daemon(config=f'metrics_address = "127.0.0.1:{port}"\nmax_sessions = 3\n')
    taken = [socket.create_connection(("127.0.0.1", port)) for _ in range(120)]
    clients = [daemon.client() for _ in range(3)]
    assert [client.value("SELECT 1") for client in clients] == ["1"] * 3
    assert daemon.raw().start(database=daemon.name).state == "53300"
    for each in taken:
        each.close()

    def answers():
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return connection.recv(100).startswith(b"HTTP/1.1 200")

    eventually(answers, "metrics again")


@pytest.mark.optimised
def test_what_is_known_of_a_statement_is_counted(start_daemon):
    """Seventeen bytes of SQL with as many parameters as there may be are two mebibytes of knowledge."""
    daemon = start_daemon()
    with daemon.client() as client:
        client.query("SELECT 1").check()
        before = daemon.memory()
        for number in range(300):
            client.send(wire.parse(f"SELECT ?65535, {number}"), wire.sync())
            assert client.reply().state is None
        assert daemon.memory() - before < 250 << 20
        # Named ones are the session's.
        refused = None
        for number in range(200):
            client.send(wire.parse(f"SELECT ?65535, {number}", name=f"n{number}"), wire.sync())
            refused = client.reply().state
            if refused:
                break
        assert refused == "54000"
        assert daemon.memory() - before < 500 << 20
        client.query("DEALLOCATE ALL").check()
        assert client.value("SELECT 1") == "1"


@pytest.mark.optimised
def test_statements_that_grow_with_their_tables_are_counted(start_daemon):
    """What is known of a statement's columns is more once its table has more of them."""
    daemon = start_daemon()
    daemon.run("CREATE TABLE wide (a INTEGER)")
    with daemon.client() as client:
        for number in range(1000):
            client.send(wire.parse(f"SELECT * FROM wide /*{number}*/", name=f"n{number}"))
        client.send(wire.sync())
        client.reply().check()
        daemon.run("DROP TABLE wide", f"CREATE TABLE wide ({', '.join(f'column_of_some_length_{n} INTEGER' for n in range(1900))})")
        refused = []
        while "54000" not in refused:
            client.send(wire.bind(statement=f"n{len(refused)}"), wire.execute(), wire.sync())
            refused.append(client.reply().state)
        assert len(refused) > 1 and set(refused[:-1]) == {None}
        assert daemon.memory("VmHWM") < 400 << 20
        # What was refused is gone, and there is room again.
        client.send(wire.bind(statement=f"n{len(refused) - 1}"), wire.sync())
        assert client.reply().state == "26000"
        client.query("DEALLOCATE ALL").check()
        client.send(wire.parse("SELECT * FROM wide", name="n"), wire.sync())
        client.reply().check()


def test_a_byte_behind_a_large_message_keeps_no_memory(start_daemon):
    daemon = start_daemon()
    daemon.run("SELECT 1")
    before = daemon.memory()
    clients = [daemon.client() for _ in range(5)]
    large = wire.query("SELECT 1 --" + "x" * (40 << 20))
    for client in clients:
        client.send(large, b"S")
        assert client.reply().state == "54000"
    daemon.settle(*clients)
    assert daemon.memory() - before < 40 << 20
    for client in clients:
        client.send(b"\0\0\0\4")
        assert client.reply().status == "I"


def cancelled(client, reply):
    """Asks again and again, as somebody who presses Ctrl-C would who sees nothing come of it."""
    over = threading.Event()

    def ask():
        while not over.wait(0.002):
            client.cancel()

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        return reply()
    finally:
        over.set()
        asking.join()


def test_many_short_statements_are_cancelled(daemon):
    daemon.run("CREATE TABLE t (v)")
    with daemon.client() as client:
        client.send(wire.query("BEGIN;" + "".join(f"INSERT INTO t VALUES ({i});" for i in range(30_000)) + "COMMIT"))
        reply = cancelled(client, client.reply)
        # The message was being split still, and no statement of it has run, or some have.
        assert reply.state == "57014" and reply.status == ("E" if reply.of("C") else "I")
        client.query("ROLLBACK").check()
        assert client.value("SELECT count(*) FROM t") == "0"


def test_a_pipeline_of_short_statements_is_cancelled(daemon):
    daemon.run("CREATE TABLE t (v)")
    with daemon.client() as client:
        pipeline = wire.parse("INSERT INTO t VALUES (1)", name="i") + (wire.bind(statement="i") + wire.execute()) * 100_000 + wire.sync()
        sending = threading.Thread(target=client.send, args=[pipeline])
        sending.start()
        reply = cancelled(client, client.reply)
        sending.join()
        assert reply.state == "57014" and reply.status == "I"
        # It was for that pipeline.
        client.send(wire.bind(statement="i") + wire.execute(), wire.sync())
        assert client.reply().tag == "INSERT 0 1"
        assert client.value("SELECT count(*) FROM t") == "1"


def test_a_cancel_that_is_too_late_is_for_nothing_else(daemon):
    with daemon.client() as client:
        for _ in range(200):
            client.send(wire.query("SELECT 1"))
            client.cancel()
            assert client.reply().state in (None, "57014")
            assert client.value("SELECT 2") == "2"
        # They are not simply ignored.
        client.send(wire.query(ENDLESS))
        daemon_reads(client)
        cancel_until_answered(client)
        assert client.reply().state == "57014"


def test_a_client_that_reads_late_gets_its_reply_when_the_daemon_stops(start_daemon):
    """It may for as long as statements may run on (shutdown_timeout)."""
    # Not as long as Python takes to read 360,000 rows where others are at work.
    daemon = start_daemon(config='shutdown_timeout = "1min"\n')
    daemon.run("CREATE TABLE t (v)")
    series = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT i FROM n"
    reading, writing, idle, silent = [daemon.client() for _ in range(4)]
    reading.send(wire.query(series))
    writing.send(wire.query(f"BEGIN; INSERT INTO t VALUES (1); {series.replace('300000', '60000')}; COMMIT"))
    daemon.settle(reading, writing)
    daemon.terminate()
    assert idle.receive().fields["C"] == "57P01"
    reply = reading.reply()
    assert len(reply.rows) == 300_000 and reply.tag == "SELECT 300000" and reply.status == "I"
    assert reading.receive().fields["C"] == "57P01"
    reply = writing.reply()
    assert reply.tags[-1] == "COMMIT" and len(reply.rows) == 60_000
    assert writing.receive().fields["C"] == "57P01"
    daemon.stop()
    daemon.restart()
    assert daemon.value("SELECT count(*) FROM t") == "1"


def test_a_client_that_does_not_read_keeps_no_daemon_from_stopping(start_daemon):
    daemon = start_daemon(config='shutdown_timeout = "200ms"\n')
    with daemon.client() as client:
        client.send(wire.query("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"))
        daemon.settle(client)
        daemon.stop()


def test_nobody_sends_descriptors(daemon):
    """Whoever drops one may have to wait for it: a socket with SO_LINGER keeps its last holder for as long as its maker likes."""
    if tuple(int(part) for part in os.uname().release.split(".")[:2]) < (6, 16):
        pytest.skip("the kernel has no SO_PASSRIGHTS")
    early, client = daemon.raw(), daemon.client()
    for socket_ in (early.socket, client.socket):
        with pytest.raises(PermissionError):
            socket.send_fds(socket_, [wire.query("SELECT 1")], [0])
    assert client.value("SELECT 1") == "1"


@pytest.mark.optimised
def test_an_array_that_would_be_gigabytes(daemon):
    """An element of eight bytes is a numeric of 16,383 digits."""
    client, bystander = daemon.client(), daemon.client()
    elements = struct.pack("!iHHHH", 8, 0, 0, 0, 0x3FFF) * 100_000
    array = struct.pack("!iiIii", 1, 0, 1700, 100_000, 1) + elements
    before = daemon.memory("VmHWM")
    reply = client.ask(
        wire.parse("SELECT length($1)", types=[1231]), wire.bind([array], formats=[1]), wire.execute())
    assert reply.state == "22001"
    assert bystander.value("SELECT 1") == "1"
    assert daemon.memory("VmHWM") - before < 400 << 20
