"""Requests that one thread is told of together, and the first of them keeps it.

While the daemon is stopped several clients send something, so all of it is there when it goes on, and a thread that polls
alone takes all of it in one epoll_wait. So each test waits until one polls alone again (`until_few_poll`): with more of them each
request would be taken by itself, be answered too, and show nothing."""

import ctypes
import contextlib
import os
import signal
import time
from pathlib import Path

import pytest

import wire
from daemon import eventually, halt
from service import Stalls, compiled

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
# One step of SQLite's machine, in which no progress handler runs.
STEP = "SELECT instr(hex(zeroblob(120000)), hex(zeroblob(60000)) || '1')"


@pytest.fixture(params=[True, pytest.param(False, marks=pytest.mark.optimised)], ids=["io_uring", "no_io_uring"])
def daemon(start_daemon, monkeypatch, request):
    """With io_uring, if the machine has it, and without."""
    with monkeypatch.context() as patch:
        if not request.param:
            patch.setenv("LD_PRELOAD", str(compiled.library(Path(__file__).with_name("no_io_uring.c"))))
        daemon = start_daemon()
    daemon.may_use_io_uring = request.param
    return daemon


def machine_has_io_uring():
    """With what the daemon asks of it: io_uring_setup(2) with SINGLE_ISSUER and DEFER_TASKRUN."""
    parameters = (ctypes.c_uint32 * 30)()
    parameters[2] = 1 << 12 | 1 << 13
    descriptor = ctypes.CDLL(None).syscall(425, 8, parameters)
    if descriptor >= 0:
        os.close(descriptor)
    return descriptor >= 0


def uses_io_uring(daemon):
    found = []
    for path in (Path("/proc") / str(daemon.pid) / "fd").iterdir():
        with contextlib.suppress(FileNotFoundError):    # closed since it was listed
            found.append(os.readlink(path))
    return any("io_uring" in each for each in found)


def until_few_poll(daemon, *clients, sql="SELECT 1"):
    """Sends quick statements until no more threads poll than while every event is a quick one: half of the cores, and so one alone on
    the machines where it takes several events at once. For a while after anything that was not quick there are more."""
    def few_poll():
        for client in clients:
            client.query(sql).check()
        return 0 < daemon.polling_threads() <= max(1, os.cpu_count() // 2)

    eventually(few_poll, "a thread that polls alone")


def send_together(daemon, first, others):
    """What these clients send, the daemon finds all at once: the first client's before the others'."""
    client, sql = first
    until_few_poll(daemon, client, *others)
    halt(daemon.pid)
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


@pytest.mark.parametrize("sql", [ENDLESS, STEP], ids=["announced", "stuck"])
@pytest.mark.parametrize("count", [1, 7, 14])
def test_a_long_statement_keeps_no_reply_of_those_before_it(daemon, sql, count):
    """Replies of requests that came together leave together, but not later than a long statement among them."""
    *others, last = [daemon.client() for _ in range(count + 1)]
    until_few_poll(daemon, *others, last)
    halt(daemon.pid)
    for other in others:
        other.send(wire.query("SELECT 1"))
    last.send(wire.query(sql))
    os.kill(daemon.pid, signal.SIGCONT)
    check_answers(others)
    assert not last.has_reply(), "it was not long enough to show anything"
    last.close()
    daemon.check_alive()


def test_replies_that_leave_together_are_each_clients_own(daemon):
    """Short and long ones, errors, transactions, and clients that are gone or do not read."""
    clients = [daemon.client() for _ in range(12)]
    gone, slow = daemon.client(), daemon.client()
    for number in range(30):
        halt(daemon.pid)
        for index, client in enumerate(clients):
            if index % 4 == 0:
                client.send(wire.query(f"SELECT {index}"), wire.query(f"SELECT {number}"))
            elif index % 4 == 1:
                client.send(wire.query(f"SELECT printf('%{100 * index * number + 1}d', {index})"))
            elif index % 4 == 2:
                client.send(wire.query("nonsense"))
            else:
                client.send(wire.query(f"BEGIN; SELECT {index + number}; ROLLBACK"))
        if number == 3:
            gone.send(wire.query("SELECT 1"))
            gone.socket.close()
        if number == 4:
            slow.send(wire.query("SELECT printf('%3000d', 7)") * 1000)
        os.kill(daemon.pid, signal.SIGCONT)
        for index, client in enumerate(clients):
            reply = client.reply()
            if index % 4 == 0:
                assert reply.check().value == str(index) and client.reply().check().value == str(number)
            elif index % 4 == 1:
                assert reply.check().value.strip() == str(index) and len(reply.value) == 100 * index * number + 1
            elif index % 4 == 2:
                assert reply.state == "42601" and reply.status == "I"
            else:
                assert reply.check().value == str(index + number) and reply.status == "I"
    for _ in range(1000):
        assert slow.reply().check().value.strip() == "7"
    daemon.check_alive()


def test_members_of_a_group_are_answered_together(daemon):
    holder, *members = [daemon.client() for _ in range(20)]
    holder.query("CREATE TABLE t (n INTEGER PRIMARY KEY)").check()
    for number in range(3):
        assert holder.query("BEGIN IMMEDIATE").status == "T"
        for index, member in enumerate(members):
            member.send(wire.query(f"INSERT INTO t VALUES ({index}) RETURNING n + {number * 100}"))
        # Else they may come one by one behind the holder, and no two are answered together.
        daemon.settle(*members)
        holder.send(wire.query("DELETE FROM t; COMMIT"))
        assert holder.reply().status == "I"
        for index, member in enumerate(members):
            reply = member.reply()
            assert reply.check().value == str(index + number * 100) and reply.tag == "INSERT 0 1"
    daemon.check_alive()
    # Else one of the two ways would not have been tried.
    assert uses_io_uring(daemon) == (daemon.may_use_io_uring and machine_has_io_uring())


def test_who_waits_for_what_a_client_leaves_that_goes_before_its_reply(start_daemon):
    """
    gone                            step                              waiting
    has one of two readers          has the other one
    SELECT: its reply is kept for
                                    a statement of some hundred us
                                                                      SELECT: waits for a reader
    goes: its reply cannot be sent,
    its reader is free
                                                                      has it, whether or not anything else happens
    """
    daemon = start_daemon(options=["--readers", "2"])
    for number in range(24):
        gone, step, waiting = [daemon.client() for _ in range(3)]
        for holder in (gone, step):
            assert holder.query("BEGIN READ ONLY").status == "T" and holder.query("SELECT 1").status == "T"
        until_few_poll(daemon, waiting, sql="SHOW statement_timeout")
        halt(daemon.pid)
        gone.send(wire.query("SELECT 1"))
        step.send(wire.query("SELECT instr(hex(zeroblob(60000)), hex(zeroblob(20000)) || '1')"))
        waiting.send(wire.query("SELECT 7"))
        os.kill(daemon.pid, signal.SIGCONT)
        time.sleep(number % 8 * 0.0002)
        gone.socket.close()
        assert waiting.reply().check().value == "7"
        step.close()
        waiting.close()


@pytest.mark.parametrize("quick", [wire.sync(), wire.query("SHOW ALL")], ids=["quick", "not_so_quick"])
def test_who_waits_for_what_a_client_leaves_that_goes_before_its_thread_gives_the_rest_away(start_daemon, quick):
    """
    gone                            waiting                           others
    has the only reader
                                    SELECT: waits for a reader
                                                                      commit: more than one thread polls,
                                                                      and none keeps for long what it was told of
    SELECT; goes
                                                                      messages that come with that SELECT. Its thread,
                                                                      when it has been at some of these for a while,
                                                                      gives the others away, and sends before that: to
                                                                      nobody, so the reader is free
                                    has it, whether or not anything
                                    else happens

    Here something does happen: the others' messages may wake that thread again. What sees it forget a turn is the assertion of a
    debug build, whose end ends this test.
    """
    daemon = start_daemon(options=["--readers", "1"])
    committing, *others = [daemon.client() for _ in range(25)]
    committing.query("CREATE TABLE t (n INTEGER)").check()
    for _ in range(40):
        gone, waiting = daemon.client(), daemon.client()
        assert gone.query("BEGIN READ ONLY").status == "T" and gone.query("SELECT 1").status == "T"
        waiting.send(wire.query("SELECT 7"))
        daemon.settle(waiting)
        committing.query("INSERT INTO t VALUES (1)").check()
        halt(daemon.pid)
        gone.send(wire.query("SELECT 1"))
        gone.socket.close()
        for other in others:
            other.send(quick)
        os.kill(daemon.pid, signal.SIGCONT)
        assert waiting.reply().check().value == "7"
        for other in others:
            assert other.reply().status == "I"
        waiting.close()
    daemon.check_alive()


def test_one_that_goes_and_one_that_comes_with_it(daemon):
    """Besides requests, a thread is told of ends and of new connections."""
    first, gone, other = [daemon.client() for _ in range(3)]
    until_few_poll(daemon, first, gone, other)
    halt(daemon.pid)
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
