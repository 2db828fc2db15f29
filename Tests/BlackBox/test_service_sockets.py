"""Whose the socket is: the service manager's, kept by it, or the daemon's own; and that a restart loses nobody."""

import os
import signal
import socket
import subprocess
import sys

import pytest

import wire
from daemon import binary, eventually
from service import ask, kept_socket, listening_socket


def activate(directory, *arguments):
    """systemd-socket-activate, which becomes the daemon with the first connection."""
    return subprocess.Popen(
        ["systemd-socket-activate", *arguments, binary(), directory / "app.db", "--socket-directory", directory],
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def ended(process):
    try:
        errors = process.communicate(timeout=wire.DEADLINE)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, errors


def test_activated_by_the_first_connection(tmp_path):
    paths = [tmp_path / ".s.PGSQL.5432", tmp_path / "second" / ".s.PGSQL.5433"]
    paths[1].parent.mkdir()
    process = activate(tmp_path, *(f"--listen={path}" for path in paths))
    try:
        eventually(lambda: all(path.exists() for path in paths), "the sockets")
        # All of them are served, whatever the configuration calls the daemon's own.
        assert [ask(path, "SELECT 40 + 2") for path in paths * 2] == ["42"] * 4
    finally:
        process.send_signal(signal.SIGTERM)
        status, errors = ended(process)
    assert status == 0, errors
    assert all(str(path) in errors for path in paths)
    # They are the service manager's to remove.
    assert all(path.exists() for path in paths)


@pytest.mark.parametrize("kind", ["datagram", "seqpacket", "TCP"])
def test_a_wrong_kind_of_socket_is_said(tmp_path, kind):
    path = tmp_path / ".s.PGSQL.5432"
    if kind == "TCP":
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = activate(tmp_path, f"--listen=127.0.0.1:{port}", "--fdname=unit.socket")
        connect = lambda: socket.create_connection(("127.0.0.1", port)).close()
    else:
        process = activate(tmp_path, f"--listen={path}", f"--{kind}", "--fdname=unit.socket")

        def connect():
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM if kind == "datagram" else socket.SOCK_SEQPACKET) as s:
                s.connect(str(path))
                s.send(b"hello")

    def reaches_it():
        try:
            connect()
            return True
        except OSError:
            return False

    try:
        eventually(reaches_it, "a socket")
    finally:
        status, errors = ended(process)
    assert status == 1
    assert errors.splitlines()[-1] == (
        'walpoold: descriptor 3 ("unit.socket") from the service manager is not a listening Unix stream socket: '
        "its socket unit needs ListenStream= with a path")


def test_a_socket_that_nobody_listens_on_is_said(start_service, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as bound:
        bound.bind(str(tmp_path / "bound"))
        service = start_service(sockets=[(bound.fileno(), "walpoold.socket")], start=False)
        service.may_fail = True
        service.start(wait=False)
        assert service.wait() == 1
        assert "not a listening Unix stream socket" in service.notify.wait_for_status("cannot start")["STATUS"]


def test_keys_of_the_socket_beside_a_socket_unit_are_said_not_to_be_applied(start_service, tmp_path):
    path = tmp_path / ".s.PGSQL.5432"

    def shown(topic, key, column):
        with wire.Client(path) as client:
            client.start(database="walpool", user="root").check()
            reply = client.query(f"SHOW {topic}").check()
            names = [column.name for column in reply.of("T")[0].columns]
            rows = [dict(zip(names, row)) for row in reply.texts]
            return next(row[column] for row in rows if key is None or row["key"] == key)

    with listening_socket(path) as listener:
        path.chmod(0o660)
        service = start_service(
            sockets=[(listener.fileno(), "walpoold.socket")], config='port = 6000\nsocket_mode = "0600"\n')
        directory = f'socket_directory = "{service.directory}", is "{tmp_path}"'
        for given in (directory, "port = 6000, is 5432", 'socket_mode = "0600", is "0660"'):
            line = f"warning: configuration: {given}: not applied to {path}"
            eventually(lambda: line in service.errors, f"the line on {given}")
        assert shown("CONFIG", "port", "value") == "5432" and shown("CONFIG", "socket_mode", "value") == "0660"
        assert shown("CLIENTS", None, "port") == "5432"


def test_clients_that_connect_while_it_is_away_lose_nothing(start_service, tmp_path):
    """A socket unit's socket outlives the daemon, and so does what waits in it."""
    path = tmp_path / ".s.PGSQL.5432"
    with listening_socket(path) as listener:
        service = start_service(sockets=[(listener.fileno(), "walpoold.socket")])
        with wire.Client(path) as client:
            client.start(database="app").check()
            client.query("CREATE TABLE t (n INTEGER)").check()
        for generation in range(3):
            service.stop()
            clients = [wire.Client(path) for _ in range(20)]
            for number, client in enumerate(clients):
                client.send(
                    wire.startup({"user": "tester", "database": "app"}),
                    wire.query(f"INSERT INTO t VALUES ({generation * 100 + number})"))
            service.start()
            for client in clients:
                client.started().check()
                assert client.reply().check().tag == "INSERT 0 1"
                client.close()
        assert ask(path, "SELECT count(*) || ' ' || count(DISTINCT n) FROM t") == "60 60"
        assert not any("FDSTORE" in m for m in service.notify.received), "a socket unit keeps its own"


def test_restarts_under_load_lose_nothing_acknowledged(start_service, tmp_path):
    """Connections come and go all the time. None is refused; what is told to have been written is there."""
    path = tmp_path / ".s.PGSQL.5432"
    with listening_socket(path) as listener:
        service = start_service(sockets=[(listener.fileno(), "walpoold.socket")])
        with wire.Client(path) as client:
            client.start(database="app").check()
            client.query("CREATE TABLE t (n INTEGER PRIMARY KEY)").check()
        load = subprocess.Popen(
            [sys.executable, "-c", LOAD, str(path)], cwd=os.path.dirname(__file__), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        try:
            acknowledged = []
            for _ in range(4):
                # Each life of the daemon has some of it.
                acknowledged += [load.stdout.readline() for _ in range(50)]
                service.stop()
                service.start()
        finally:
            rest, _ = load.communicate("", timeout=wire.DEADLINE)
        assert load.returncode == 0
        numbers = {int(line) for line in acknowledged + rest.splitlines()}
        with wire.Client(path) as client:
            client.start(database="app").check()
            present = {int(n) for n, in client.query("SELECT n FROM t").check().texts}
        assert len(numbers) > 200 and numbers <= present


# Connects, inserts a number, prints it when that was acknowledged, disconnects, until its input ends. Who was
# accepted may be told that the daemon stops (57P01, 57P03, or the end of the connection); that there is nobody must not
# happen.
LOAD = """
import select, sys, wire
n = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    n += 1
    with wire.Client(sys.argv[1]) as client:
        try:
            reply = client.start(database="app")
            if not reply.closed and not reply.errors:
                reply = client.query(f"INSERT INTO t VALUES ({n})")
        except (BrokenPipeError, ConnectionResetError):
            continue
        assert all(error["C"] in ("57P01", "57P03") for error in reply.errors), reply
        if not reply.closed and not reply.errors:
            print(n, flush=True)
"""


def test_without_a_socket_unit_the_service_manager_keeps_the_socket(start_service):
    service = start_service()
    service.run("CREATE TABLE t (n INTEGER)")
    inode = service.socket_path.stat().st_ino
    service.given = [kept_socket(service)]
    for generation in range(2):
        service.stop()
        assert service.socket_path.stat().st_ino == inode
        waiting = wire.Client(service.socket_path)
        waiting.send(
            wire.startup({"user": "tester", "database": "app"}), wire.query(f"INSERT INTO t VALUES ({generation})"))
        service.notify.drain()
        service.start()
        # What is kept already is not given a second time.
        assert not any("FDSTORE" in m for m in service.notify.received[-3:])
        waiting.started().check()
        waiting.reply().check()
        waiting.close()
    assert service.value("SELECT count(*) FROM t") == "2"
    assert service.socket_path.stat().st_ino == inode


def test_a_kept_socket_of_another_place_is_given_up(start_service):
    """The port was changed in the configuration."""
    service = start_service()
    service.given = [kept_socket(service)]
    service.stop()
    service.options += ["--port", "5433"]
    service.port = 5433
    service.notify.drain()
    service.start(wait=False)
    _, before = service.notify.wait_for(lambda m: m.get("READY") == "1", "READY=1")
    assert [next(iter(m)) for m in before] == ["FDSTOREREMOVE", "FDSTORE"]
    assert all(m["FDNAME"] == "walpoold-listener" for m in before)
    assert service.value("SELECT 1") == "1"


def test_a_kept_socket_whose_file_is_gone_is_given_up(start_service):
    service = start_service()
    service.given = [kept_socket(service)]
    service.stop()
    service.socket_path.unlink()
    service.start()
    assert any(m.get("FDSTOREREMOVE") == "1" for m in service.notify.received)
    assert service.value("SELECT 1") == "1"


def test_a_socket_unit_comes_before_a_kept_socket(start_service, tmp_path):
    service = start_service()
    kept = kept_socket(service)
    service.stop()
    path = tmp_path / ".s.PGSQL.5432"
    with listening_socket(path) as listener:
        service.given = [kept, (listener.fileno(), "walpoold.socket")]
        service.start()
        assert any(m.get("FDSTOREREMOVE") == "1" for m in service.notify.received)
        assert ask(path, "SELECT 1") == "1"
