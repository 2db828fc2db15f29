"""Sockets that are there already when a daemon starts: a living daemon's, a dead one's, somebody else's, and what is none."""

import os
import pathlib
import shutil
import socket
import sqlite3
import stat
import subprocess
import tempfile
from contextlib import closing

import pytest

from daemon import binary, eventually
from identity import NOBODY
from lifecycle_fixtures import check_refusal, run
from wire import DEADLINE


def test_live_socket_is_refused(daemon):
    result = run(daemon.directory / "other.db", "--socket-directory", daemon.directory)
    check_refusal(result, str(daemon.socket_path))
    assert daemon.value("SELECT 1") == "1"


@pytest.mark.parametrize("what", ["socket", "file", "metrics"])
def test_a_start_that_fails_has_not_touched_the_database(daemon, what):
    """A file with a rollback journal stays one, which other programs may rely on, and where there was none there is none."""
    directory = daemon.directory / "other"
    directory.mkdir()
    path, config = directory / "app.db", directory / "walpoold.toml"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")
    before = path.read_bytes()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        arguments = ["--socket-directory", daemon.directory]
        if what == "file":
            (directory / ".s.PGSQL.5432").touch()
            arguments = ["--socket-directory", directory]
        elif what == "metrics":
            config.write_text(f'metrics_address = "127.0.0.1:{other.getsockname()[1]}"\n')
            arguments = ["--socket-directory", directory, "--config", config]
        names = sorted(directory.iterdir())
        for database in [path, directory / "new.db"]:
            refusal = {"socket": "another server is listening", "file": "is not a socket", "metrics": "cannot listen on 127.0.0.1"}
            check_refusal(run(database, *arguments), refusal[what])
    assert path.read_bytes() == before
    assert sorted(directory.iterdir()) == names


def test_two_ports(start_daemon):
    one = start_daemon()
    two = start_daemon(options=["--socket-directory", str(one.directory), "--port", "5433"], start=False)
    two.port, own = 5433, two.directory
    two.directory = one.directory
    try:
        two.start()
        assert (one.value("SELECT 1"), two.value("SELECT 2")) == ("1", "2")
        two.stop()
        assert one.value("SELECT 1") == "1"
    finally:
        two.directory = own


def test_stale_socket_is_replaced(daemon):
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    daemon.kill()
    assert daemon.socket_path.exists()
    daemon.restart()
    assert daemon.value("SELECT x FROM t") == "1"


def test_socket_of_somebody_else_that_is_stale(start_daemon):
    daemon = start_daemon(start=False)
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(daemon.socket_path))
    dead.close()
    daemon.start()
    assert daemon.value("SELECT 1") == "1"


def test_a_stop_leaves_anothers_socket(start_daemon):
    """Somebody has removed the socket's file, and another daemon has put its own there."""
    one = start_daemon()
    one.socket_path.unlink()
    two = start_daemon(options=["--socket-directory", str(one.directory)], start=False)
    own, two.directory = two.directory, one.directory
    try:
        two.start()
        one.stop()
        assert two.value("SELECT 1") == "1"
        two.stop()
        assert not one.socket_path.exists()
    finally:
        two.directory = own


def test_the_start_leaves_nothing_beside_the_socket(daemon):
    assert [path.name for path in daemon.directory.iterdir() if path.name.startswith(".s.")] == [".s.PGSQL.5432"]


def test_file_in_the_sockets_place_is_left_alone(tmp_path):
    path = tmp_path / ".s.PGSQL.5432"
    path.write_text("precious")
    check_refusal(run(tmp_path / "app.db", "--socket-directory", tmp_path), str(path))
    assert path.read_text() == "precious"


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become another user")
@pytest.mark.parametrize("listens", [False, True], ids=["nobody listens", "somebody listens"])
def test_a_socket_that_keeps_its_owner_out(listens):
    """With a `socket_mode` without the owner's write bit nobody but root may connect to find out whether it is a dead one."""
    with tempfile.TemporaryDirectory() as name, socket.socket(socket.AF_UNIX) as left:
        directory = pathlib.Path(name)
        program, path = directory / "walpoold", directory / ".s.PGSQL.5432"
        shutil.copy(binary(), program)
        left.bind(str(path))
        path.chmod(0o060)
        for each in [directory, path]:
            os.chown(each, NOBODY, NOBODY)
        if listens:
            left.listen()
        else:
            left.close()
        command = [program, directory / "app.db", "--socket-directory", directory, "--socket-mode", "0060"]
        started = subprocess.Popen(command, user=NOBODY, group=NOBODY, extra_groups=[], stderr=subprocess.PIPE, text=True, cwd=directory)
        try:
            eventually(lambda: started.poll() is not None or not listens and connects(path), "a start or its refusal")
        finally:
            started.terminate()
            errors = started.communicate(timeout=DEADLINE)[1]
        assert started.returncode == (1 if listens else 0), errors
        if listens:
            assert "another server is listening" in errors and stat.S_IMODE(path.stat().st_mode) == 0o060


def connects(path):
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0
