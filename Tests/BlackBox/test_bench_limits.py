"""bench/limits: what walpoold is compared with has to be what it says it is."""

import os
import subprocess
import sys
import threading

import psycopg
import pytest

import wire
from daemon import REPOSITORY, eventually

sys.path.insert(0, str(REPOSITORY / "bench"))

from support.limits import Canned, SyncDelay


@pytest.fixture(scope="module")
def canned(tmp_path_factory):
    server = Canned(tmp_path_factory.mktemp("canned"), threads=2)
    server.start()
    yield server
    assert server.stop() is None, server.log()


@pytest.fixture
def client(canned):
    with wire.Client(canned.directory / f".s.PGSQL.{canned.port}") as client:
        assert client.start(database="any").status == "I"
        yield client


@pytest.fixture(scope="module")
def delay(tmp_path_factory):
    return SyncDelay(tmp_path_factory.mktemp("delay"), 100)


def test_psql_gets_the_canned_row(canned):
    done = subprocess.run(["psql", "-X", "-At", "-h", canned.directory, "-p", str(canned.port), "-U", "any", "-c",
                           "SELECT 1; UPDATE t SET a = ';'", "any"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "42\nUPDATE 1\n"), done.stderr


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_gets_the_canned_row(canned, binary):
    with psycopg.connect(f"host={canned.directory} port={canned.port} user=any dbname=any") as connection:
        for _ in range(8):      # psycopg prepares it after some
            assert connection.execute("SELECT %s::int4", [7], prepare=None, binary=binary).fetchall() == [(42,)]
        assert connection.info.transaction_status.name == "INTRANS"
        connection.commit()
        assert connection.info.transaction_status.name == "IDLE"
        with connection.pipeline():
            cursors = [connection.execute("SELECT %s", [n]) for n in range(500)]
        assert [cursor.fetchall() for cursor in cursors] == [[(42,)]] * 500


def test_pgbench_runs_prepared_and_pipelined(canned):
    for script in (["-S"], ["-f", REPOSITORY / "bench/workloads/tpcb-pipeline.sql", "-D", "scale=1"]):
        command = ["pgbench", "-n", "-h", canned.directory, "-p", canned.port, "-U", "any", "-M", "prepared",
                   "-c", 8, "-j", 2, "-t", 50, *script, "any"]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        assert done.returncode == 0 and "actually processed: 400/400" in done.stdout, done.stdout + done.stderr


def test_messages_in_pieces_and_beside_another_connection(canned, client):
    messages = wire.parse("SELECT $1, $2", "s") + wire.describe_statement("s") + wire.bind(["1", "2"], statement="s")
    messages += wire.execute() + wire.sync()
    for byte in messages:
        client.send(bytes([byte]))
    reply = client.reply()
    assert reply.kinds == "1tT2DCZ" and reply.value == "42"
    assert reply.of("t")[0].types == [wire.INT4] * 2
    with wire.Client(client.path) as other:
        assert other.start(database="any").status == "I"
        assert other.value("SELECT 1") == "42"
    assert client.query("BEGIN").status == "T" and client.query("COMMIT").status == "I"


def test_a_client_that_does_not_read_gets_every_answer_later(client):
    """More answers than the socket has room for."""
    count = 100_000
    client.send(wire.parse("SELECT 1"), wire.sync())
    assert client.reply().kinds == "1Z"
    sender = threading.Thread(target=client.send, args=((wire.bind() + wire.execute()) * count, wire.sync()))
    sender.start()
    unread = [0]

    def rests():
        unread.append(client.unread_by_server())
        return unread[-1] > 0 and unread[-1] == unread[-2]

    eventually(rests, "a server that has stopped reading")
    reply = client.reply()
    sender.join()
    assert reply.kinds == "2DC" * count + "Z"


def test_nonsense_ends_only_its_own_session(canned, client):
    with wire.Client(client.path) as other:
        other.start(database="any")
        for nonsense in (wire.message("F", b"\0"), wire.message("B", b"\0")):
            with wire.Client(client.path) as third:
                third.start(database="any")
                third.send(nonsense)
                reply = third.reply()
                assert reply.closed and reply.state == "08P01"
        assert other.value("SELECT 1") == client.value("SELECT 1") == "42"


def test_the_delay_is_felt_by_walpoold(delay, start_daemon, monkeypatch):
    """Counted, not timed: a sync that is counted is one that then waits."""
    with monkeypatch.context() as environment:
        for name, value in delay.environment.items():
            environment.setenv(name, value)
        daemon = start_daemon()
    daemon.run("CREATE TABLE t (n INTEGER)")
    before = delay.syncs
    daemon.run(*["INSERT INTO t VALUES (1)"] * 20)
    assert delay.syncs >= before + 20


def test_the_delay_is_felt_by_a_process_that_opens_the_file(delay, tmp_path):
    script = ("import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
              "c.execute('PRAGMA journal_mode = WAL'); c.execute('PRAGMA synchronous = FULL');"
              "c.execute('CREATE TABLE t (n)'); [c.execute('INSERT INTO t VALUES (1)') for _ in range(20)]")
    before = delay.syncs
    subprocess.run([sys.executable, "-c", script, tmp_path / "a.db"], env={**os.environ, **delay.environment}, check=True)
    assert delay.syncs >= before + 20


def test_a_delay_without_a_number_is_refused(delay):
    environment = {**os.environ, **delay.environment, "WALPOOL_SYNC_DELAY_US": "2ms"}
    done = subprocess.run(["true"], env=environment, capture_output=True, text=True)
    assert done.returncode == 126 and "number of microseconds" in done.stderr
