"""Stopping in order, whatever sessions do then, and being killed."""

import signal
import threading

import pytest

import wire
from console import console, show
from daemon import daemon_reads, eventually
from interleaving import outcome
from wire_fixtures import ENDLESS, endless


# Stopping


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_signals(daemon, outsider, signal_number):
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    client = daemon.client()
    daemon.process.send_signal(signal_number)
    reply = client.reply()
    assert reply.closed
    assert reply.error["S"] == "FATAL" and reply.error["C"] == "57P01"
    assert daemon.wait() == 0
    assert not daemon.socket_path.exists(), "the socket is removed"
    assert not list(daemon.directory.glob("app.db-*[lm]")), "all is in the file itself, and neither -wal nor -shm is left"
    assert outsider(daemon.database)("SELECT x FROM t") == [(1,)]


def test_restart(daemon):
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    for number in range(2, 5):
        daemon.stop()
        daemon.restart()
        daemon.run(f"INSERT INTO t VALUES ({number})")
    assert daemon.value("SELECT count(*) FROM t") == "4"


def test_stop_ends_every_kind_of_session(daemon, outsider):
    daemon.run("CREATE TABLE t (x)")
    stored = []
    idle, reading, writing, queued, half = (daemon.client() for _ in range(5))
    fresh = daemon.raw()
    reading.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM t").check()
    writing.query("BEGIN; INSERT INTO t VALUES ('lost')").check()
    queued.send(wire.query("INSERT INTO t VALUES ('queued')"))
    half.send(wire.query("SELECT 1")[:7])
    daemon.settle(queued, half)
    daemon.terminate()
    for client in [idle, reading, writing, queued, half]:
        reply = client.reply()
        if client is queued and reply.tags:
            # Its turn came when the one before it was ended.
            stored, reply = [("queued",)], client.reply()
        assert reply.closed and reply.error["C"] == "57P01", reply
    assert fresh.reply().closed
    assert daemon.wait() == 0
    assert outsider(daemon.database)("SELECT * FROM t") == stored


def test_running_statements_may_finish(daemon, outsider):
    daemon.run("CREATE TABLE t (x)")
    client = daemon.client()
    # Long enough that it still runs when the signal comes, on most machines, and short enough to end within the limit.
    count = 1_000_000
    client.send(wire.query(
        f"INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < {count}) SELECT x FROM c"))
    with console(daemon) as admin:
        eventually(lambda: show(admin, "WRITER") or client.has_reply(), "its beginning")
    daemon.terminate()
    assert client.reply().tags == [f"INSERT 0 {count}"]
    assert daemon.wait() == 0
    assert outsider(daemon.database)("SELECT count(*) FROM t") == [(count,)]


def test_a_reply_that_waits_for_its_sync_keeps_nobody(start_daemon):
    # Longer than a client of these tests waits for an answer.
    daemon = start_daemon(config='shutdown_timeout = "10min"\n')
    clients = [daemon.client() for _ in range(3)]
    clients[1].query("BEGIN; CREATE TABLE t (x)").check()
    for client in clients:
        client.send(wire.parse("SELECT 1"), wire.bind(), wire.execute())
    daemon.settle(*clients)
    daemon.terminate()
    for client in clients:
        reply = client.reply()
        assert reply.closed and [message.kind for message in reply.messages] == ["1", "2", "D", "C", "E"]
        assert reply.error["C"] == "57P01"
    assert daemon.wait() == 0


def test_endless_statements_are_ended(start_daemon):
    daemon = start_daemon(config='shutdown_timeout = "300ms"\n')
    daemon.run("CREATE TABLE t (x)")
    reading, writing, stalled = daemon.client(), daemon.client(), daemon.client()
    reading.send(wire.query(ENDLESS))
    writing.send(wire.query(f"INSERT INTO t {ENDLESS}"))
    stalled.send(wire.query(ENDLESS.replace("count(*)", "x")))
    daemon_reads(reading, writing, stalled)
    daemon.terminate()
    assert daemon.wait() == 0
    for client in (reading, writing):
        assert client.reply().error["C"] == "57P01"


def test_stop_behind_an_outsider(start_daemon, outsider):
    daemon = start_daemon(config='shutdown_timeout = "300ms"\n')
    daemon.run("CREATE TABLE t (x)")
    other = outsider(daemon.database)
    other("BEGIN IMMEDIATE")
    client = daemon.client()
    client.send(wire.query("INSERT INTO t VALUES (1)"))
    daemon_reads(client)
    daemon.terminate()
    assert daemon.wait() == 0
    assert client.reply().error["C"] == "57P01"
    other("COMMIT")
    assert other("SELECT count(*) FROM t") == [(0,)]


def test_second_signal(start_daemon):
    daemon = start_daemon(config='shutdown_timeout = "500ms"\n')
    endless(daemon.client())
    daemon.terminate()
    daemon.terminate()
    assert daemon.wait() == 0


def test_a_second_signal_ends_the_wait_for_statements(start_daemon):
    daemon = start_daemon(config='shutdown_timeout = "1h"\n')
    client = daemon.client()
    endless(client)
    daemon.terminate()
    eventually(lambda: "stopping" in daemon.errors, "the beginning of the stop")
    while client.has_reply():
        assert client.receive().kind == "D"
    daemon.terminate()
    assert daemon.wait() == 0
    assert client.reply().error["C"] == "57P01"


@pytest.mark.parametrize("signal_number", [signal.SIGUSR1, signal.SIGUSR2])
def test_signals_of_pgbouncer(daemon, signal_number):
    """For it they are PAUSE and RESUME."""
    daemon.process.send_signal(signal_number)
    eventually(lambda: "the console has PAUSE and RESUME" in daemon.errors, "a word about it")
    daemon.check_alive()


# Being killed


def test_killed_in_a_transaction(daemon):
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    client = daemon.client()
    client.query("BEGIN; INSERT INTO t VALUES (2)").check()
    daemon.kill()
    assert client.reply().closed
    daemon.restart()
    assert daemon.value("SELECT count(*) FROM t") == "1"
    assert daemon.value("PRAGMA integrity_check") == "ok"


def test_killed_under_load(start_daemon):
    """Everything acknowledged is there afterwards, and nothing is there in part."""
    daemon = start_daemon(config="checkpoint_frames = 50\n")
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, pair INTEGER, half INTEGER)", "CREATE INDEX t_pair ON t (pair)")
    acknowledged, sent, failures = set(), set(), []
    lock = threading.Lock()

    def work(cycle, number):
        client = wire.Client(daemon.socket_path)
        try:
            client.start(database=daemon.name)
            for turn in range(100_000):
                pair = (cycle * 100 + number) * 100_000 + turn
                rows = [f"INSERT INTO t (pair, half) VALUES ({pair}, {half})" for half in (1, 2)]
                match number % 4:
                    case 0:
                        sqls = ["; ".join(rows)]
                    case 1:
                        sqls = ["BEGIN", *rows, "COMMIT"]
                    case 2:
                        sqls = [f"INSERT INTO t (pair, half) VALUES ({pair}, 1), ({pair}, 2)"]
                    case 3:
                        sqls = ["BEGIN; " + "; ".join(rows) + "; COMMIT"]
                with lock:
                    sent.add(pair)
                for sql in sqls:
                    reply = client.query(sql)
                    if reply.closed:
                        return
                    if reply.errors:
                        failures.append(outcome(reply))
                        return
                with lock:
                    acknowledged.add(pair)
        except (wire.ConnectionClosed, ConnectionError):
            pass
        finally:
            client.close()

    for cycle in range(3):
        before = len(acknowledged)
        threads = [threading.Thread(target=work, args=(cycle, number)) for number in range(8)]
        for thread in threads:
            thread.start()
        eventually(lambda: len(acknowledged) >= before + 300 or failures, "300 transactions")
        daemon.kill()
        for thread in threads:
            thread.join()
        assert not failures
        daemon.restart()
        assert daemon.value("PRAGMA integrity_check") == "ok"
        stored = daemon.run("SELECT pair, count(*), sum(half) FROM t GROUP BY pair").texts
        assert all(row[1:] == ("2", "3") for row in stored), "pairs are whole"
        pairs = {int(row[0]) for row in stored}
        assert acknowledged <= pairs <= sent
