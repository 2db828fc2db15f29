"""Requests that one thread is told of together, and the first of them keeps it.

While the daemon is stopped several clients send something, so all of it is there when it goes on, and a thread that polls
alone takes all of it in one epoll_wait. The short sleeps let it poll alone again: no answer depends on them, but without them
each request would be taken by itself, and be answered too."""

import os
import signal
import time
from pathlib import Path

import pytest

import wire
from service import Stalls

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
# One step of SQLite's machine, in which no progress handler runs.
STEP = "SELECT instr(hex(zeroblob(200000)), hex(zeroblob(100000)) || '1')"


def send_together(daemon, first, others):
    """What these clients send, the daemon finds all at once: the first client's before the others'."""
    client, sql = first
    # For a while after anything that was not quick, each event is taken by itself.
    time.sleep(0.05)
    for quick in (client, *others):
        quick.query("SELECT 1").check()
    os.kill(daemon.pid, signal.SIGSTOP)
    while (Path("/proc") / str(daemon.pid) / "stat").read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.001)
    client.send(wire.query(sql))
    for other in others:
        other.send(wire.query("SELECT 1"))
    os.kill(daemon.pid, signal.SIGCONT)


def check_answers(others):
    for other in others:
        assert other.reply().check().value == "1"


@pytest.mark.parametrize("sql", [ENDLESS, STEP], ids=["announced", "stuck"])
@pytest.mark.parametrize("count", [1, 7, 40])
def test_a_long_statement_keeps_nobody_who_came_with_it(daemon, sql, count):
    first, *others = [daemon.client() for _ in range(count + 1)]
    send_together(daemon, (first, sql), others)
    check_answers(others)
    assert not first.has_reply(), "it was not long enough to show anything"
    first.close()
    daemon.check_alive()


def test_one_that_goes_and_one_that_comes_with_it(daemon):
    """Besides requests, a thread is told of ends and of new connections."""
    first, gone, other = [daemon.client() for _ in range(3)]
    for client in (first, gone, other):
        client.query("SELECT 1").check()
    time.sleep(0.05)
    os.kill(daemon.pid, signal.SIGSTOP)
    first.send(wire.query(ENDLESS))
    gone.socket.close()
    new = daemon.raw()
    new.send(wire.startup({"user": "u", "database": daemon.name}))
    other.send(wire.query("SELECT 1"))
    os.kill(daemon.pid, signal.SIGCONT)
    check_answers([other])
    assert new.reply().status == "I"
    daemon.check_alive()
    first.close()


def test_a_commit_that_waits_for_the_disk(start_service, tmp_path):
    stalls = Stalls(tmp_path)
    service = start_service(stalls=stalls)
    service.run("CREATE TABLE t (n INTEGER)")
    first, *others = [service.client() for _ in range(8)]
    stalls.arm("sync")
    send_together(service, (first, "INSERT INTO t VALUES (1)"), others)
    check_answers(others)
    assert not first.has_reply()
    stalls.release()
    assert first.reply().check().tag == "INSERT 0 1"
