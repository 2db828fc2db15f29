"""Clients that send descriptors beside their bytes (SCM_RIGHTS), to a kernel that cannot be told to refuse them: before Linux 6.16.

Whoever drops the last descriptor of a socket with SO_LINGER waits for as long as its maker likes, here for an hour."""

import os
import shutil
import signal
import socket
import struct
import subprocess
from pathlib import Path

import pytest

import wire
from daemon import eventually

# As many as one message may have: SCM_MAX_FD of the kernel.
MOST_IN_A_MESSAGE = 253
# More than the daemon has threads.
SENDERS = 64


@pytest.fixture(scope="module")
def old_kernel(tmp_path_factory):
    """Libraries to preload: one that keeps SO_PASSRIGHTS from the daemon, and one that keeps io_uring from it."""
    compiler, directory = shutil.which("cc") or "/usr/bin/cc", tmp_path_factory.mktemp("libraries")
    for name in ("no_pass_rights", "no_io_uring"):
        source = Path(__file__).with_name(f"{name}.c")
        subprocess.run(
            [compiler, "-O2", "-Wall", "-Werror", "-fPIC", "-shared", "-o", directory / f"{name}.so", source], check=True)
    return directory


@pytest.fixture(params=[["no_pass_rights"], ["no_pass_rights", "no_io_uring"]], ids=["io_uring", "no_io_uring"])
def daemon(start_daemon, old_kernel, monkeypatch, request):
    with monkeypatch.context() as patch:
        patch.setenv("LD_PRELOAD", ":".join(str(old_kernel / f"{name}.so") for name in request.param))
        return start_daemon()


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


def send_and_drop(client, message, *sockets):
    """The daemon, or the kernel on its way there, is their only holder then."""
    socket.send_fds(client.socket, [message], [one.fileno() for one in sockets])
    for one in sockets:
        os.close(one.detach())


def refused(client):
    reply = client.reply()
    assert reply.closed and reply.state == "08P01", reply
    assert "descriptor" in reply.errors[-1]["M"], reply


def test_nobody_waits_for_what_they_send(daemon, lingering):
    bystander = daemon.client()
    bystander.query("CREATE TABLE t (x)").check()
    sockets = daemon.sockets
    senders = [daemon.client() for _ in range(SENDERS)]
    for sender in senders:
        send_and_drop(sender, wire.query("INSERT INTO t VALUES (1)"), lingering())
    for sender in senders:
        refused(sender)
    assert bystander.value("SELECT count(*) FROM t") == "0"
    bystander.query("INSERT INTO t VALUES (2)").check()
    eventually(lambda: daemon.sockets == sockets, "the end of what was sent")


def test_what_several_send_is_received_together(daemon, lingering):
    bystander = daemon.client()
    senders, others = [daemon.client() for _ in range(8)], [daemon.client() for _ in range(8)]
    sockets = [lingering() for _ in senders]
    os.kill(daemon.pid, signal.SIGSTOP)
    for sender, other, one in zip(senders, others, sockets):
        other.send(wire.query("SELECT 5"))
        send_and_drop(sender, wire.query("SELECT 6"), one)
    os.kill(daemon.pid, signal.SIGCONT)
    for other in others:
        assert other.reply().value == "5"
    for sender in senders:
        refused(sender)
    assert bystander.value("SELECT 7") == "7"


def test_the_holder_of_the_writer_sends_some(daemon, lingering):
    holder, other = daemon.client(), daemon.client()
    holder.query("CREATE TABLE t (x)").check()
    holder.query("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)").check()
    send_and_drop(holder, wire.query("COMMIT"), lingering())
    other.query("INSERT INTO t VALUES (2)").check()
    assert other.value("SELECT group_concat(x) FROM t") == "2"
    refused(holder)


def test_before_the_startup_message(daemon, lingering):
    early = [daemon.raw() for _ in range(SENDERS)]
    for client in early:
        send_and_drop(client, b"\0\0\0", lingering())
    assert daemon.value("SELECT 1") == "1"
    for client in early:
        assert client.rest() == b""


def test_as_many_as_a_message_may_have(daemon):
    client = daemon.client()
    sockets = daemon.sockets
    sent = [socket.socket(socket.AF_UNIX) for _ in range(MOST_IN_A_MESSAGE)]
    send_and_drop(client, wire.query("SELECT 1"), *sent)
    refused(client)
    eventually(lambda: daemon.sockets < sockets, "the end of what was sent")
    assert daemon.value("SELECT 1") == "1"
