"""Results larger than anybody's buffers, clients that do not read them, and clients that vanish."""

import contextlib
import resource
import time

import pytest

import wire
from daemon import eventually
from service import Service

# 200 MB: far beyond what sockets and buffers take. In long rows, which Python reads in a few seconds on any machine.
HUGE = ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000)"
        " SELECT x, printf('%02000d', x) FROM c")
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, printf('%0100d', x) FROM c"
BUSY = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
# Nothing but the end of the client's connection may free what it holds.
PATIENT = 'writer_idle_limit = "1h"\nclient_write_timeout = "1h"\n'


def start_reading(client, sql):
    """Sends a query and reads the first row: from then on the statement runs and the socket fills."""
    client.send(wire.query(sql))
    assert client.receive().kind == "T"
    assert client.receive().kind == "D"


@pytest.fixture
def patient(start_daemon):
    daemon = start_daemon(config=PATIENT)
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    return daemon


# Clients that do not read


def test_a_client_that_does_not_read(patient):
    reader = patient.client()
    patient.check_alive()
    before = patient.memory()
    start_reading(reader, HUGE)
    patient.settle()
    assert patient.memory() - before < 32 << 20
    # Others read and write.
    with patient.client() as other:
        for number in range(1, 51):
            assert other.query(f"INSERT INTO t VALUES ({number}, 'x')").tag == "INSERT 0 1"
            assert other.value("SELECT count(*) FROM t") == str(number)
    # And what the reader gets in the end is whole and in order.
    expected = 2
    while (message := reader.receive()).kind == "D":
        assert int(message.values[0]) == expected == int(message.values[1])
        expected += 1
    assert message.tag == "SELECT 100000"
    assert reader.receive().status == "I"
    assert patient.memory("VmHWM") - before < 64 << 20


@pytest.mark.parametrize("statement", ["SHOW a.b", "SELECT current_setting('a.b')", "SHOW ALL", "SELECT x FROM wide"])
def test_a_query_of_many_short_statements_with_long_answers(patient, statement):
    patient.run("CREATE TABLE wide (x TEXT)", "INSERT INTO wide VALUES (hex(zeroblob(30000)))")
    reader = patient.client()
    reader.query(f"SET a.b = '{'x' * 60_000}'").check()
    before = patient.memory()
    count = 5_000
    reader.send(wire.query(f"{statement};" * count))
    # It has begun, and the socket is full.
    assert reader.receive().kind == "T"
    patient.settle()
    patient.check_alive()
    assert patient.memory("VmHWM") - before < 32 << 20
    ends = 0
    while (message := reader.receive()).kind != "Z":
        assert message.kind in "TDC"
        ends += message.kind == "C"
    assert ends == count and message.status == "I"


def test_more_clients_that_do_not_read_than_readers(start_daemon):
    daemon = start_daemon(options=["--readers", "2"], config=PATIENT)
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    readers = [daemon.client() for _ in range(6)]
    for reader in readers:
        reader.send(wire.query(ENDLESS))
    daemon.settle(*readers)
    # All readers are taken; writing needs none, and what is sent is received.
    writer = daemon.client()
    for number in range(50):
        assert writer.query(f"INSERT INTO t VALUES ({number}, 'x')").tag == "INSERT 0 1"
    # A cancel ends the stalled ones, and those that wait for a reader.
    for reader in readers:
        reader.cancel()
    for reader in readers:
        while reader.receive().kind != "E":
            pass
        assert reader.receive().status == "I"
    assert writer.value("SELECT count(*) FROM t") == "50"


def test_client_write_timeout_frees_the_reader(start_daemon):
    daemon = start_daemon(options=["--readers", "1"])
    stalled = daemon.client()
    stalled.query("SET client_write_timeout = '200ms'").check()
    start_reading(stalled, ENDLESS)
    daemon.settle()
    assert daemon.value("SELECT 1") == "1", "it waits for the reader and gets it"
    # The stalled session is gone; what was under way can still be read.
    stalled.rest()
    # What the next test does not find.
    eventually(lambda: "did not take its reply" in daemon.errors, "the line")


def test_client_write_timeout_is_not_for_who_reads_slowly(start_daemon):
    """The kernel tells of room in a Unix socket when three quarters of its 208 kB are free. This client reads a third in that time."""
    daemon = start_daemon()
    slow = daemon.client()
    slow.query("SET client_write_timeout = '1s'").check()
    start_reading(slow, ENDLESS)
    daemon.settle()
    socket = slow.socket
    taken, end = 0, time.monotonic() + 2.5
    while time.monotonic() < end:
        taken += len(socket.recv(3500))
        time.sleep(0.05)
    assert taken > 0 and daemon.value("SELECT 1") == "1"
    assert len(socket.recv(1 << 20)) > 0 and "did not take its reply" not in daemon.errors


def test_stalled_result_in_a_transaction_of_the_writer(patient):
    # A holder of the writer never waits for its client: the result is buffered.
    patient.run("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000)"
                " INSERT INTO t SELECT x, printf('%0100d', x) FROM c")
    slow = patient.client()
    slow.send(wire.query("UPDATE t SET v = v || 'x' RETURNING id, v"))
    assert slow.receive().kind == "T"
    other = patient.client()
    assert other.query("INSERT INTO t VALUES (0, 'after')").tag == "INSERT 0 1"
    count = 0
    while (message := slow.receive()).kind == "D":
        count += 1
    assert count == 100_000 and message.tag == "UPDATE 100000"
    assert slow.receive().status == "I"


def test_a_socket_that_takes_nothing_is_not_tried_for_each_row(tmp_path):
    trace = tmp_path / "trace"
    # --daemonize: the process that is started is the daemon.
    prefix = ["strace", "--daemonize", "--follow-forks", "--quiet=attach", "--signal=none", "--string-limit=0", "--trace=sendto",
              f"--output={trace}"]
    with contextlib.closing(Service(prefix=prefix)) as service:
        service.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
        slow, other = service.raw(), service.raw()
        for client in (slow, other):
            client.start(database=service.name).check()
        # From a statement that runs, from a cursor's rows that are kept, and by COPY: 2 MB each.
        rows = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x <= 20000)"
        slow.query(f"INSERT INTO t {rows} SELECT x, printf('%0100d', x) FROM c").check()
        slow.query("BEGIN; DELETE FROM t WHERE id = 2; DECLARE c CURSOR FOR SELECT * FROM t").check()
        slow.send(wire.query(
            "UPDATE t SET v = v || 'x' WHERE id = 1; SELECT * FROM t; FETCH ALL FROM c; COPY t TO STDOUT; COMMIT"))
        eventually(lambda: other.value("SELECT length(v) FROM t WHERE id = 1") == "101", "COMMIT")
        slow.close()
        other.close()
    eventually(lambda: "+++ exited with 0 +++" in trace.read_text().splitlines()[-1], "the end of the trace")
    assert 100 < trace.read_text().count("EAGAIN") < 500


def test_result_of_the_writer_has_a_limit(patient):
    patient.run("INSERT INTO t VALUES (1, 'x')")
    client = patient.client()
    reply = client.query(
        "WITH RECURSIVE c(x) AS (SELECT 2 UNION ALL SELECT x + 1 FROM c WHERE x < 400)"
        " INSERT INTO t SELECT x, hex(zeroblob(500000)) FROM c RETURNING v")
    assert reply.state == "54000", reply.errors
    assert client.value("SELECT count(*) FROM t") == "1", "it is undone"
    assert client.query("INSERT INTO t VALUES (2, 'y')").tag == "INSERT 0 1"


def test_cancel_reaches_a_statement_that_waits_for_its_client(patient):
    client = patient.client()
    start_reading(client, ENDLESS)
    patient.settle()
    client.cancel()
    while (message := client.receive()).kind == "D":
        pass
    assert message.kind == "E" and message.state == "57014"
    assert client.receive().status == "I"
    assert client.value("SELECT 1") == "1"


def test_statement_timeout_reaches_it_too(patient):
    client = patient.client()
    client.query("SET statement_timeout = '300ms'").check()
    start_reading(client, ENDLESS)
    patient.settle()
    while (message := client.receive()).kind == "D":
        pass
    assert message.kind == "E" and message.state == "57014"
    assert client.receive().status == "I"


def test_pipeline_of_results_that_are_not_read(patient):
    import threading

    client = patient.client()
    before = patient.memory()
    count = 300
    work = b"".join(wire.parse("SELECT hex(zeroblob(100000))") + wire.bind() + wire.execute() for _ in range(count))
    sender = threading.Thread(target=client.send, args=(work, wire.sync()))
    sender.start()
    eventually(client.has_reply, "the first result")
    patient.settle()
    assert patient.memory() - before < 32 << 20
    patient.check_alive()
    reply = client.reply()
    sender.join()
    assert reply.kinds == "12DC" * count + "Z"
    assert all(len(row[0]) == 200_000 for row in reply.rows)


def test_rows_arrive_before_the_statement_ends(patient):
    client = patient.client()
    start_reading(client, ENDLESS)
    for _ in range(100_000):
        assert client.receive().kind == "D"
    client.cancel()
    while client.receive().kind != "E":
        pass
    assert client.receive().status == "I"


# Clients that vanish


def vanish(client):
    client.close()


@pytest.mark.parametrize("begin", ["BEGIN IMMEDIATE", "BEGIN; INSERT INTO t VALUES (1, 'lost')"])
def test_client_killed_in_a_transaction(patient, begin):
    victim, other = patient.client(), patient.client()
    victim.query(begin).check()
    victim.query("INSERT INTO t VALUES (2, 'lost')").check()
    other.send(wire.query("INSERT INTO t VALUES (3, 'kept')"))
    patient.settle(other)
    assert not other.has_reply()
    vanish(victim)
    assert other.reply().tag == "INSERT 0 1"
    assert other.query("SELECT id, v FROM t").texts == [("3", "kept")]


def test_client_killed_in_a_pipeline(patient):
    victim, other = patient.client(), patient.client()
    victim.send(wire.parse("INSERT INTO t VALUES (1, 'lost')"), wire.bind(), wire.execute(), wire.flush())
    assert [victim.receive().kind for _ in range(3)] == ["1", "2", "C"]
    other.send(wire.query("INSERT INTO t VALUES (3, 'kept')"))
    patient.settle(other)
    vanish(victim)
    assert other.reply().tag == "INSERT 0 1"
    assert other.query("SELECT id, v FROM t").texts == [("3", "kept")], "without Sync nothing was committed"


def test_client_killed_while_it_is_queued(patient):
    holder, victim, other = patient.client(), patient.client(), patient.client()
    holder.query("BEGIN IMMEDIATE").check()
    victim.send(wire.query("BEGIN IMMEDIATE; INSERT INTO t VALUES (1, 'lost')"))
    patient.settle(victim)
    other.send(wire.query("INSERT INTO t VALUES (3, 'kept')"))
    patient.settle(other)
    vanish(victim)
    patient.settle()
    holder.query("COMMIT").check()
    assert other.reply().tag == "INSERT 0 1"
    assert other.query("SELECT id, v FROM t").texts == [("3", "kept")]


def test_client_killed_with_a_pinned_reader(start_daemon):
    daemon = start_daemon(options=["--readers", "1"], config=PATIENT)
    victim, other = daemon.client(), daemon.client()
    victim.query("BEGIN ISOLATION LEVEL REPEATABLE READ").check()
    victim.query("SELECT 1").check()
    other.send(wire.query("SELECT 2"))
    daemon.settle(other)
    vanish(victim)
    assert other.reply().value == "2"


def test_client_killed_while_it_waits_for_a_reader(start_daemon):
    daemon = start_daemon(options=["--readers", "1"], config=PATIENT)
    holder, victim, other = daemon.client(), daemon.client(), daemon.client()
    holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ").check()
    holder.query("SELECT 1").check()
    victim.send(wire.query("SELECT 2"))
    daemon.settle(victim)
    other.send(wire.query("SELECT 3"))
    daemon.settle(other)
    vanish(victim)
    daemon.settle()
    holder.query("COMMIT").check()
    assert other.reply().value == "3"


def test_client_killed_while_its_result_is_stalled(start_daemon):
    daemon = start_daemon(options=["--readers", "1"], config=PATIENT)
    victim, other = daemon.client(), daemon.client()
    start_reading(victim, ENDLESS)
    daemon.settle()
    other.send(wire.query("SELECT 2"))
    daemon.settle(other)
    vanish(victim)
    assert other.reply().value == "2"


@pytest.mark.parametrize("sql", [BUSY, f"INSERT INTO t SELECT x, 'lost' FROM ({BUSY.replace('count(*)', 'x')})"])
def test_client_killed_while_its_statement_runs(start_daemon, sql):
    # Nobody wants the result any more, and the reader or the writer is wanted.
    daemon = start_daemon(options=["--readers", "1"], config=PATIENT)
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    victim, other = daemon.client(), daemon.client()
    victim.send(wire.query(sql))
    eventually(lambda: victim.unread_by_server() == 0, "reading")
    vanish(victim)
    if sql == BUSY:
        assert other.value("SELECT 2") == "2"
    else:
        assert other.query("INSERT INTO t VALUES (3, 'kept')").tag == "INSERT 0 1"
        assert other.query("SELECT id, v FROM t").texts == [("3", "kept")]


def test_many_clients_killed_at_once(patient):
    patient.check_alive()
    before = patient.sockets
    victims = [patient.client() for _ in range(100)]
    for number, victim in enumerate(victims):
        match number % 4:
            case 0:
                victim.send(wire.query("BEGIN; SELECT 1"))
            case 1:
                victim.send(wire.query("BEGIN IMMEDIATE; INSERT INTO t (v) VALUES ('lost')"))
            case 2:
                victim.send(wire.query(HUGE))
            case 3:
                victim.send(wire.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t"))
    for victim in victims:
        vanish(victim)
    try:
        eventually(lambda: patient.sockets <= before, "every socket closed")
    except AssertionError as error:
        # Seen once in thousands, and not why: who is left says more than that somebody is.
        with patient.client(database="walpool") as admin:
            raise AssertionError([admin.query(f"SHOW {what}").texts for what in ("CLIENTS", "WRITER")]) from error
    assert patient.value("SELECT count(*) FROM t") == "0"


# Events: sockets are edge-triggered, so each of these would hang if an edge were lost


@pytest.mark.parametrize("gap", [False, True])
def test_the_end_of_input_together_with_the_last_bytes(shared, gap):
    """The answer still comes, and then the end, although the end of the client's input was no event of its own."""
    for _ in range(50):
        client = shared.client()
        client.send(wire.query("SELECT 1"))
        if gap:
            shared.settle(client)
        client.half_close()
        assert b"SELECT 1" in client.rest()


def test_the_end_of_input_while_its_statement_waits(shared):
    """The event comes while the session is parked: it is noted, and looked at when the statement has been answered."""
    shared.run("CREATE TABLE IF NOT EXISTS ended (x)")
    with shared.client() as holder:
        holder.query("BEGIN IMMEDIATE")
        waiter = shared.client()
        waiter.send(wire.query("INSERT INTO ended VALUES (1)"))
        shared.settle(waiter)
        waiter.send(wire.query("SELECT count(*) FROM ended"))
        waiter.half_close()
        shared.settle()
        holder.query("ROLLBACK")
        answers = waiter.rest()
    assert b"INSERT 0 1" in answers and b"SELECT 1" in answers


@pytest.mark.parametrize("size", [4095, 4096, 8192, 16384, 65536, 1 << 20])
def test_input_as_large_as_the_buffer(shared, size):
    """A message that fills what was free for it exactly, give or take a byte, and one after it."""
    for length in range(size - 2, size + 3):
        with shared.client() as client:
            # Type and length take five bytes, the zero at the end one.
            text = "SELECT 1 --" + "x" * (length - 6 - len("SELECT 1 --"))
            assert len(wire.query(text)) == length
            client.send(wire.query(text), wire.query("SELECT 2"))
            assert client.reply().value == "1"
            assert client.reply().value == "2"


def test_no_memory_for_a_row(start_daemon):
    """It is not said to be too large."""
    daemon = start_daemon()
    # The first of its threads serves before the last has started.
    eventually(lambda: " readers" in daemon.errors, "the end of the start")
    with daemon.client() as client:
        client.query("SELECT 1").check()
        taken = daemon.memory("VmSize")
        details = set()
        # 120 MB are SQLite's, 240 the row's, as text; what threads take besides, for a stack or an arena of their own, nobody knows.
        for megabytes in range(150, 650, 50):
            resource.prlimit(daemon.pid, resource.RLIMIT_AS, (taken + (megabytes << 20), resource.RLIM_INFINITY))
            reply = client.query("SELECT zeroblob(60000000), zeroblob(60000000)")
            if reply.errors:
                assert reply.state == "53200" and not reply.rows
                details.add(reply.error["D"])
            if "There was none for a row of the result." in details:
                break
        assert "There was none for a row of the result." in details
        assert client.value("SELECT 2") == "2"
