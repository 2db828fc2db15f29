"""Clients that send descriptors beside their bytes (SCM_RIGHTS), to a kernel that cannot be told to refuse them: before Linux 6.16.

Whoever drops the last descriptor of a socket with SO_LINGER waits for as long as its maker likes, here for an hour."""

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import wire
from daemon import eventually
from service import compiled, listening_socket

# As many as one message may have: SCM_MAX_FD of the kernel.
MOST_IN_A_MESSAGE = 253
# More than the daemon has threads.
SENDERS = 64


def old_kernel(*names):
    """Libraries to preload: `no_pass_rights` keeps SO_PASSRIGHTS from the daemon, and `no_io_uring` keeps io_uring from it."""
    return ":".join(str(compiled.library(Path(__file__).with_name(f"{name}.c"))) for name in names)


@pytest.fixture(params=[["no_pass_rights"], ["no_pass_rights", "no_io_uring"]], ids=["io_uring", "no_io_uring"])
def daemon(start_daemon, monkeypatch, request):
    with monkeypatch.context() as patch:
        patch.setenv("LD_PRELOAD", old_kernel(*request.param))
        return start_daemon()


@contextlib.contextmanager
def stopped(daemon):
    """It reads nothing of what is sent meanwhile."""
    tasks = Path(f"/proc/{daemon.pid}/task")

    def is_stopped():
        return all((task / "stat").read_text().rpartition(")")[2].split()[0] == "T" for task in tasks.iterdir())

    if is_stopped():
        yield
        return
    os.kill(daemon.pid, signal.SIGSTOP)
    # The signal is on its way when kill(2) returns.
    eventually(is_stopped)
    try:
        yield
    finally:
        os.kill(daemon.pid, signal.SIGCONT)


@pytest.fixture
def lingering():
    """Makes sockets whose last holder waits: they have bytes to send that nobody reads."""
    opened = []
    listener = socket.create_server(("127.0.0.1", 0))
    opened.append(listener)

    def make():
        near = socket.create_connection(listener.getsockname())
        opened.append(listener.accept()[0])
        near.setblocking(False)
        try:
            while True:
                near.send(b"x" * 65536)
        except BlockingIOError:
            pass
        near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
        return near

    yield make
    for one in opened:
        one.close()


def let_go(one):
    """Whoever turns out to be the last holder waits: a thread that nobody waits for."""
    closing = threading.Thread(target=os.close, args=(one.detach(),), daemon=True)
    closing.start()
    closing.join(1)


def send_and_drop(daemon, client, message, *sockets):
    """The kernel, on their way to the daemon, is their only holder then."""
    with stopped(daemon):
        try:
            socket.send_fds(client.socket, [message], [one.fileno() for one in sockets])
        except OSError:
            # It stays ours, and we do not wait either.
            for one in sockets:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
            raise
        for one in sockets:
            let_go(one)


def refused(client):
    reply = client.reply()
    assert reply.closed and reply.state == "08P01", reply
    assert "descriptor" in reply.errors[-1]["M"], reply


def all_are_refused(daemon, lingering, message):
    """Many send a socket each, and others are served meanwhile and afterwards."""
    bystander = daemon.client()
    # The connection by which the daemon was found to accept any may be among them.
    sockets = daemon.sockets
    senders = [daemon.client() for _ in range(SENDERS)]
    for sender in senders:
        send_and_drop(daemon, sender, message, lingering())
    for sender in senders:
        refused(sender)
    assert bystander.value("SELECT 7") == "7"
    eventually(lambda: daemon.sockets <= sockets, "the end of what was sent")


def test_nobody_waits_for_what_they_send(daemon, lingering):
    daemon.run("CREATE TABLE t (x)")
    all_are_refused(daemon, lingering, wire.query("INSERT INTO t VALUES (1)"))
    assert daemon.value("SELECT count(*) FROM t") == "0"
    daemon.run("INSERT INTO t VALUES (2)")


def test_what_several_send_is_received_together(daemon, lingering):
    bystander = daemon.client()
    senders, others = [daemon.client() for _ in range(8)], [daemon.client() for _ in range(8)]
    sockets = [lingering() for _ in senders]
    with stopped(daemon):
        for sender, other, one in zip(senders, others, sockets):
            other.send(wire.query("SELECT 5"))
            send_and_drop(daemon, sender, wire.query("SELECT 6"), one)
    for other in others:
        assert other.reply().value == "5"
    for sender in senders:
        refused(sender)
    assert bystander.value("SELECT 7") == "7"


def test_what_comes_together_after_a_rest(daemon, lingering):
    """Nobody watched the thread that received it."""
    for _ in range(8):
        sender, other, one = daemon.client(), daemon.client(), lingering()
        daemon.settle()
        with stopped(daemon):
            other.send(wire.query("SELECT 5"))
            send_and_drop(daemon, sender, wire.query("SELECT 6"), one)
        assert other.reply().value == "5"
        refused(sender)


def test_with_a_signal_that_was_blocked(start_daemon, monkeypatch, lingering):
    """By whoever has started the daemon: the one that ends the wait."""
    with monkeypatch.context() as patch:
        patch.setenv("LD_PRELOAD", old_kernel("no_pass_rights"))
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGURG])
        try:
            daemon = start_daemon()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    all_are_refused(daemon, lingering, wire.query("SELECT 6"))


def test_the_holder_of_the_writer_sends_some(daemon, lingering):
    holder, other = daemon.client(), daemon.client()
    holder.query("CREATE TABLE t (x)").check()
    holder.query("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)").check()
    send_and_drop(daemon, holder, wire.query("COMMIT"), lingering())
    other.query("INSERT INTO t VALUES (2)").check()
    assert other.value("SELECT group_concat(x) FROM t") == "2"
    refused(holder)


def test_before_the_startup_message(daemon, lingering):
    early = [daemon.raw() for _ in range(SENDERS)]
    for client in early:
        send_and_drop(daemon, client, b"\0\0\0", lingering())
    assert daemon.value("SELECT 1") == "1"
    for client in early:
        assert client.rest() == b""


def test_as_many_as_a_message_may_have(daemon):
    client = daemon.client()
    sockets = daemon.sockets
    sent = [socket.socket(socket.AF_UNIX) for _ in range(MOST_IN_A_MESSAGE)]
    send_and_drop(daemon, client, wire.query("SELECT 1"), *sent)
    refused(client)
    eventually(lambda: daemon.sockets < sockets, "the end of what was sent")
    assert daemon.value("SELECT 1") == "1"


# What nobody receives


def junk(client):
    """More than is read at a time, so that what comes behind it stays in the socket."""
    client.send(b"x" * 20_000)


def leave_unread(daemon, client, lingering):
    junk(client)
    send_and_drop(daemon, client, b"yz", lingering())


def test_behind_a_cancel(daemon, lingering):
    clients = [daemon.raw() for _ in range(SENDERS)]
    with stopped(daemon):
        for client in clients:
            client.send(wire.cancel_request(1, b"1234"))
            leave_unread(daemon, client, lingering)
    assert daemon.value("SELECT 1") == "1"


def test_behind_a_terminate(daemon, lingering):
    clients = [daemon.client() for _ in range(SENDERS)]
    with stopped(daemon):
        for client in clients:
            client.send(wire.terminate())
            leave_unread(daemon, client, lingering)
    assert daemon.value("SELECT 1") == "1"
    daemon.stop()


def test_behind_a_statement_that_is_long(daemon, lingering):
    """The thread has said that it will be long, and closes the socket afterwards."""
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT count(*) FROM n"
    clients = [daemon.client() for _ in range(8)]
    with stopped(daemon):
        for client in clients:
            client.send(wire.query(rows), wire.terminate())
            leave_unread(daemon, client, lingering)
    assert daemon.value("SELECT 1") == "1"


def nobody_is_kept(daemon):
    """By a socket, without anything that would make anybody look: only what the kernel's functions say that threads sleep in."""
    def kept():
        return [where for task in Path(f"/proc/{daemon.pid}/task").iterdir()
                if (where := (task / "wchan").read_text()) in ("wait_woken", "sk_stream_wait_close")]

    daemon.settle()
    # The kernel tells.
    assert daemon.polling_threads() >= 1
    eventually(lambda: not kept(), "the end of the session")


def test_behind_a_statement_that_is_long_and_the_only_one(daemon, lingering):
    """Nothing else happens meanwhile, so nobody looked any more when it was done."""
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000) SELECT count(*) FROM n"
    client = daemon.client()
    with stopped(daemon):
        client.send(wire.query(rows), wire.terminate())
        leave_unread(daemon, client, lingering)
    assert client.reply().value == "2000000"
    nobody_is_kept(daemon)
    daemon.stop()


def test_behind_a_command_of_the_console(daemon, lingering):
    """It has a thread of its own, which nobody watches."""
    client = daemon.client(database="walpool")
    with stopped(daemon):
        client.send(wire.query("CHECKPOINT"), wire.terminate())
        leave_unread(daemon, client, lingering)
    assert client.reply().tag == "CHECKPOINT"
    nobody_is_kept(daemon)
    daemon.stop()


def test_of_a_session_that_is_killed(daemon, lingering):
    """It waits for its client to read, so what it was sent lies in its socket."""
    with daemon.client(database="walpool") as console:
        for _ in range(4):
            victim = daemon.client()
            victim.send(wire.query("SELECT hex(zeroblob(20000000))"))
            eventually(lambda: victim.socket.recv(1, socket.MSG_PEEK), "the result")
            send_and_drop(daemon, victim, wire.query("SELECT 1"), lingering())
            assert console.query(f"KILL {victim.process_id}").tag == "KILL"
    assert daemon.value("SELECT 1") == "1"


def holding(lingering, pair):
    """One end of the pair, in which a socket lies."""
    near, far = pair
    socket.send_fds(far, [b"x"], [(inner := lingering()).fileno()])
    let_go(inner)
    far.close()
    return near


def test_in_a_socket_that_is_sent(daemon, lingering):
    """Whoever closes it drops what lies in it."""
    clients, sockets = [daemon.client() for _ in range(SENDERS)], daemon.sockets
    for client in clients:
        send_and_drop(daemon, client, wire.query("SELECT 1"), holding(lingering, socket.socketpair()))
    for client in clients:
        refused(client)
    assert daemon.value("SELECT 1") == "1"
    eventually(lambda: daemon.sockets <= sockets - SENDERS, "the end of what was sent")


def test_from_who_gets_no_place(start_daemon, monkeypatch, lingering):
    with monkeypatch.context() as patch:
        patch.setenv("LD_PRELOAD", old_kernel("no_pass_rights"))
        daemon = start_daemon(config="max_sessions = 1\n")
    early = [daemon.raw() for _ in range(200)]
    for client in early:
        try:
            send_and_drop(daemon, client, b"\0\0\0", lingering())
        except OSError:
            pass
    for client in early:
        client.close()
    assert eventually(lambda: daemon.client().value("SELECT 1")) == "1"


def test_in_the_backlog_at_a_stop(daemon, lingering):
    with stopped(daemon):
        for _ in range(32):
            send_and_drop(daemon, daemon.raw(), b"\0\0\0", lingering())
        daemon.terminate()
    assert daemon.wait() == 0


@pytest.mark.parametrize("readers", [1, 4])
def test_from_who_connected_before_the_daemon_was_there(start_service, lingering, tmp_path, readers):
    """To the service manager's socket, on any kernel: nobody has refused what they have sent."""
    listener = listening_socket(tmp_path / ".s.PGSQL.5432")
    senders = []
    for _ in range(SENDERS * readers):
        senders.append(wire.Client(tmp_path / ".s.PGSQL.5432"))
        sent = lingering()
        socket.send_fds(senders[-1].socket, [b"\0\0\0"], [sent.fileno()])
        let_go(sent)
    service = start_service(sockets=[(listener.fileno(), "walpool.socket")], config=f"readers = {readers}\n")
    bystander = wire.Client(tmp_path / ".s.PGSQL.5432")
    bystander.start(database="app")
    assert bystander.value("SELECT 7") == "7"
    for sender in senders:
        assert sender.reply().closed
    assert bystander.value("SELECT 8") == "8"
    bystander.close()
    service.terminate()
    assert service.wait() == 0


def test_with_an_urgent_byte(daemon, lingering):
    """It would be passed over, and dropped with what came beside it."""
    clients = [daemon.client() for _ in range(SENDERS)]
    for client in clients:
        one = lingering()
        with stopped(daemon):
            client.socket.sendmsg(
                [b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", one.fileno()))], socket.MSG_OOB)
            let_go(one)
        # The session may have ended by now.
        with contextlib.suppress(OSError):
            client.send(wire.query("SELECT 1"))
    assert daemon.value("SELECT 1") == "1"


def test_behind_an_empty_packet(daemon, lingering):
    clients, sockets = [daemon.client() for _ in range(SENDERS)], daemon.sockets
    for client in clients:
        pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        pair[1].send(b"")
        send_and_drop(daemon, client, wire.query("SELECT 1"), holding(lingering, pair))
    for client in clients:
        refused(client)
    eventually(lambda: daemon.sockets <= sockets - SENDERS, "the end of what was sent")


# What is no socket


@pytest.mark.parametrize("suffix", ["", "-shm", "-wal"])
def test_files_of_the_database(daemon, suffix):
    """
    holder            | an outsider           | a client
    BEGIN IMMEDIATE   | BEGIN IMMEDIATE: busy |
                      |                       | sends a descriptor of the file
                      | BEGIN IMMEDIATE: busy |
    COMMIT            |                       |

    "if a process closes any file descriptor referring to a file, then all of the process's locks on that file are released": fcntl(2).
    """
    with daemon.client() as holder, daemon.client() as client:
        holder.query("CREATE TABLE t (x)").check()
        holder.query("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)").check()
        descriptor = os.open(f"{daemon.database}{suffix}", os.O_RDONLY)
        socket.send_fds(client.socket, [wire.query("SELECT 1")], [descriptor])
        refused(client)
        # In a process of its own, for the same reason.
        outsider = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
        tried = subprocess.run([sys.executable, "-c", outsider, daemon.database], capture_output=True, text=True)
        assert "database is locked" in tried.stderr, tried
        assert holder.query("COMMIT").tag == "COMMIT"
        os.close(descriptor)
        assert daemon.value("SELECT count(*) FROM t") == "1"
