"""Btrfs, which gives a new block to whatever is written, a page of the mapped -shm among it."""

import contextlib
import fcntl
import os
import signal
import sqlite3
import struct
import subprocess
import sys

import pytest

from daemon import Daemon, eventually
from lifecycle_fixtures import check_refusal, run

# A file that is written in place, on a full disk: what the -shm is to be.
PROBE = """
import ctypes, fcntl, mmap, os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.ioctl(file, 0x40086602, ctypes.c_long(0x00800000))
os.write(file, bytes(4096))
os.sync()
page = mmap.mmap(file, 4096)
with open(sys.argv[2], "wb", buffering=0) as fill:
    try:
        while fill.write(bytes(1 << 20)): pass
    except OSError: pass
os.sync()
page[0] = 1
os.sync()
page[0] = 2
"""


@pytest.fixture
def copying(tmp_path):
    """A small file system of that kind, if one can be made and mounted here."""
    image, place = tmp_path / "image", tmp_path / "mounted"
    place.mkdir()
    with open(image, "wb") as file:
        file.truncate(400 << 20)
    if subprocess.run(["mkfs.btrfs", "--quiet", image], capture_output=True).returncode:
        pytest.skip("no Btrfs")
    if os.getuid() != 0 or subprocess.run(["mount", "-o", "loop", image, place], capture_output=True).returncode:
        pytest.skip("cannot mount it")
    yield place
    subprocess.run(["umount", place], check=True)


def is_written_in_place(path):
    """FS_NOCOW_FL of ioctl_iflags(2)."""
    flags = bytearray(8)
    with open(path, "rb") as file:
        fcntl.ioctl(file, 0x80086601, flags)
    return bool(struct.unpack("@l", flags)[0] & 0x00800000)


def fill(place):
    for chunk in [1 << 20, 1 << 12, 1 << 12]:
        with open(place / "fill", "ab", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(chunk)):
                pass
        # What was kept for that is given back.
        os.sync()


@pytest.fixture
def daemon(copying):
    daemon = Daemon(copying / "app.db", start=False)
    yield daemon
    daemon.close()


def test_a_full_disk(copying, daemon):
    probe = subprocess.run([sys.executable, "-c", PROBE, copying / "probe", copying / "fill"])
    for name in ["probe", "fill"]:
        (copying / name).unlink()
    if probe.returncode == -signal.SIGBUS:
        pytest.skip("this kernel copies what is mapped in any case")
    daemon.start()
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t SELECT hex(randomblob(200)) FROM generate_series(1, 2000)")
    fill(copying)
    states = []
    for _ in range(20):
        # Each of its own, which a reader is opened for.
        client, reader = daemon.client(), daemon.client()
        states.append(client.query("INSERT INTO t VALUES (randomblob(20000))").state)
        assert reader.value("SELECT count(*) FROM t") == str(2000 + states.count(None))
        # What was written is on the disk, and the next change of a page would be one to another block.
        os.sync()
    assert states[-1] == "53100", states
    (copying / "fill").unlink()
    os.sync()
    assert client.query("INSERT INTO t VALUES (1)").tag == "INSERT 0 1"
    assert reader.value("PRAGMA integrity_check") == "ok"
    daemon.stop()
    daemon.restart()
    assert daemon.value("SELECT count(*) FROM t") == str(2000 + states.count(None) + 1)


@pytest.mark.parametrize("before", ["none", "empty", "delete", "wal"])
def test_the_index_of_whatever_it_is_started_with(daemon, before):
    if before == "empty":
        daemon.database.touch()
    elif before != "none":
        with contextlib.closing(sqlite3.connect(daemon.database)) as connection:
            connection.execute(f"PRAGMA journal_mode = {before}")
            connection.execute("CREATE TABLE t (x)")
    assert not daemon.database.with_name("app.db-shm").exists()
    daemon.start()
    assert daemon.value("SELECT count(*) FROM sqlite_schema") == str(int(before in ["delete", "wal"]))
    assert is_written_in_place(daemon.database.with_name("app.db-shm"))


def test_the_index_in_the_place_of_one_that_was_deleted(daemon):
    index = daemon.database.with_name("app.db-shm")
    daemon.start()
    daemon.run("CREATE TABLE t (x)")
    index.unlink()

    def is_there_anew():
        with daemon.client() as client:
            client.query("INSERT INTO t VALUES (1)")
        return index.exists()

    eventually(is_there_anew, "the files are opened anew")
    assert is_written_in_place(index)
    assert int(daemon.value("SELECT count(*) FROM t")) > 0


def test_what_is_no_file_is_not_looked_into(copying):
    os.mkfifo(copying / "app.db")
    check_refusal(run(copying / "app.db", "--socket-directory", copying), "is not a file")
    assert not (copying / "app.db-shm").exists()


def test_an_index_that_somebody_else_has_made(copying, daemon, monkeypatch):
    """It is copied, and nothing can be done about it but to say so."""
    made = "import os, signal, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); " \
           "c.execute('PRAGMA journal_mode = WAL'); c.execute('CREATE TABLE t (x)'); os.kill(os.getpid(), signal.SIGKILL)"
    subprocess.run([sys.executable, "-c", made, daemon.database])
    assert daemon.database.with_name("app.db-shm").exists()
    # A debug build's runtime looks for its own words for half a minute.
    monkeypatch.setenv("SWIFT_BACKTRACE", "enable=no")
    daemon.start()
    daemon.may_fail = True
    daemon.run("INSERT INTO t VALUES (1)")
    fill(copying)
    for _ in range(20):
        if not daemon.is_running:
            break
        with contextlib.suppress(OSError, AssertionError), daemon.client() as client:
            client.query("INSERT INTO t VALUES (randomblob(20000))")
        os.sync()
    daemon.wait_for_signal(signal.SIGBUS)
    assert f"critical: a page of {daemon.database}-shm cannot be touched, or one of the program, which ends the daemon (SIGBUS)" in daemon.errors
    (copying / "fill").unlink()
    os.sync()
    with contextlib.closing(sqlite3.connect(daemon.database)) as connection:
        assert connection.execute("SELECT x FROM t WHERE x = 1").fetchall() == [(1,)]
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
