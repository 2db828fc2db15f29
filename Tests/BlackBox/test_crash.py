"""bench/crash in its short form, without pgbench, and what a killed process has left."""

import os
import re
import subprocess

import pytest

import wire
from daemon import REPOSITORY, binary, eventually
from service import Stalls


def test_crash():
    command = [REPOSITORY / "bench/crash", "--kills", "4", "--longest", "0.5", "--scale", "1",
               "--writers", "12", "--witnesses", "12", "--readers", "0", "--scans", "0"]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "WALPOOLD": str(binary())}, timeout=80)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^[1-9][\d,]* acknowledged transactions of witnesses$", done.stdout, re.M), done.stdout


@pytest.mark.parametrize("mode", ["full", "pipelined"])
def test_what_a_killed_commit_left_is_on_the_disk_before_it_is_read(start_daemon, tmp_path, monkeypatch, mode):
    """
    committer                               | who looks
    INSERT: its frames are written, its     |
    sync hangs, and the daemon is killed    |
                                            | sees the row, which a power failure does not take back
    """
    stalls = Stalls(tmp_path)
    for name, value in stalls.environment.items():
        monkeypatch.setenv(name, value)
    daemon = start_daemon(options=["--synchronous", mode])
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    with daemon.client() as committer:
        stalls.arm("sync")
        committer.send(wire.query("INSERT INTO t VALUES (2)"))
        eventually(lambda: stalls.calls > 0, "the sync")
        daemon.kill()
    # They are only counted.
    stalls.arm("sync", milliseconds=0.001)
    daemon.restart()
    before = stalls.calls
    assert daemon.client().query("SELECT x FROM t ORDER BY x").texts == [("1",), ("2",)]
    assert before >= 1 and stalls.calls == before
    stalls.release()


@pytest.mark.parametrize("mode", ["full", "normal"])
@pytest.mark.parametrize("between", [[], ["CHECKPOINT"], ["PAUSE", "CHECKPOINT", "RESUME"]])
def test_what_an_outsider_has_copied_is_on_the_disk_before_it_is_written_over(start_daemon, outsider, tmp_path, monkeypatch, mode, between):
    """With `synchronous = OFF` a checkpoint says that frames are in the database which the disk has not got, and the next commit begins the
    -wal anew. A checkpoint of the daemon's has nothing to copy then, and SQLite syncs nothing."""
    stalls = Stalls(tmp_path)
    for name, value in stalls.environment.items():
        monkeypatch.setenv(name, value)
    daemon = start_daemon(options=["--synchronous", mode])
    daemon.run("CREATE TABLE t (x)")
    client, admin, other = daemon.client(), daemon.client(database="walpool"), outsider(daemon.database)
    other("PRAGMA synchronous = OFF")

    def syncs_of_an_insert(*commands):
        stalls.arm("sync", milliseconds=0.001)
        for command in commands:
            admin.query(command).check()
        client.query("INSERT INTO t VALUES (1)").check()
        return stalls.calls

    usual = min(syncs_of_an_insert() for _ in range(5))
    assert usual == (mode == "full")
    # Readers keep no snapshot behind that.
    admin.query("PAUSE").check()
    admin.query("RESUME").check()
    busy, frames, copied = other("PRAGMA wal_checkpoint(PASSIVE)")[0]
    assert (busy, copied) == (0, frames) and frames > 0
    # The -wal's header is the other one. A checkpoint syncs by itself.
    assert syncs_of_an_insert(*between) >= usual + 2
    assert min(syncs_of_an_insert() for _ in range(3)) == usual
