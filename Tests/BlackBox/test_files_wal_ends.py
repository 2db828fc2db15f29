"""What happens when the -wal or the -shm under the daemon is lost before its end, or is not there at the start."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager

import pytest

from daemon import eventually
from files_fixtures import check_exit, check_not_acknowledged, rows, shm, wal, watched  # noqa: F401 (fixtures)
from lifecycle_fixtures import run


@pytest.mark.parametrize("lost", [["-wal"], ["-wal", "-shm"]])
def test_a_wal_that_is_lost_before_the_end(watched, lost):
    """Nobody has committed since."""
    watched.run(*[f"INSERT INTO t VALUES ({number})" for number in range(2, 30)])
    for name in lost:
        os.unlink(f"{watched.database}{name}")
    watched.terminate()
    watched.wait()
    assert set(range(1, 30)) <= set(rows(watched.database))


@pytest.mark.optimised("pipelined")
def test_a_wal_that_is_lost_before_the_end_beside_a_reader(watched):
    """The reader's snapshot keeps the rest of the -wal from being copied, and it is never looked for again: so there is another."""
    with closing(sqlite3.connect(watched.database, isolation_level=None)) as outsider:
        outsider.execute("BEGIN")
        outsider.execute("SELECT count(*) FROM t").fetchall()
        watched.run(*[f"INSERT INTO t VALUES ({number})" for number in range(2, 30)])
        os.unlink(wal(watched))
        watched.terminate()
        watched.wait()
        assert set(range(1, 30)) <= set(rows(watched.database))
    assert set(range(1, 30)) <= set(rows(watched.database))


@pytest.mark.optimised("pipelined")
def test_a_reader_that_comes_after_the_wal_was_lost(watched):
    """It has made another, which is empty, and its snapshot keeps the old one from being emptied."""
    watched.run(*[f"INSERT INTO t VALUES ({number})" for number in range(2, 30)])
    os.unlink(wal(watched))
    with reading_outside(watched, "SELECT count(*) FROM filler"):
        check_not_acknowledged([watched.client().query("INSERT INTO t VALUES (30)")])
        eventually(lambda: "opened again and is whole" in watched.errors)
        watched.run(*[f"INSERT INTO t VALUES ({number})" for number in range(31, 40)])
        watched.kill()
    assert set(range(1, 30)) | set(range(31, 40)) <= set(rows(watched.database))


@contextmanager
def reading_outside(daemon, query):
    """A process with a snapshot, which is killed at the end."""
    program = """if True:
        import sqlite3, sys
        connection = sqlite3.connect(sys.argv[1], isolation_level=None)
        connection.execute("BEGIN")
        print(connection.execute(sys.argv[2]).fetchall(), flush=True)
        sys.stdin.read()"""
    reader = subprocess.Popen([sys.executable, "-c", program, daemon.database, query], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert reader.stdout.readline()
        yield
    finally:
        reader.kill()
        reader.communicate()


@contextmanager
def another_history(watched):
    """Another process that has gone on in new files beside the database, as those with the daemon's commits were deleted."""
    watched.run("CREATE INDEX tx ON t (x)", *[f"INSERT INTO t VALUES ({number})" for number in range(2, 30)])
    os.unlink(wal(watched))
    os.unlink(shm(watched))
    with closing(sqlite3.connect(watched.database, isolation_level=None)) as outsider:
        outsider.execute("CREATE TABLE theirs (y)")
        outsider.execute("INSERT INTO theirs VALUES (zeroblob(20000))")
        yield outsider


def test_two_histories_are_not_mixed_at_the_end(watched):
    with another_history(watched) as outsider:
        watched.terminate()
        check_exit(watched)
        assert outsider.execute("SELECT length(y) FROM theirs").fetchall() == [(20000,)]
        assert outsider.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.parametrize("how", ["absolute", "relative"])
def test_a_start_by_a_link_without_the_file_of_a_wal(watched, how):
    watched.kill()
    link = watched.directory / "link.db"
    link.symlink_to(watched.database if how == "absolute" else watched.database.name)
    kept = watched.directory / "kept.db"
    os.rename(watched.database, kept)
    refused = run(str(link), "--socket-directory", str(watched.directory))
    assert refused.returncode != 0 and f"{watched.database}-wal holds commits" in refused.stderr, refused.stderr
    os.rename(kept, watched.database)
    watched.restart()
    assert watched.value("SELECT x FROM t") == "1"


@pytest.mark.parametrize("how", ["moved", "emptied"])
def test_a_start_without_the_file_of_a_wal(watched, how):
    """SQLite would delete the -wal, and with it what was acknowledged since the last checkpoint."""
    watched.kill()
    kept = watched.directory / "kept.db"
    shutil.copyfile(watched.database, kept)
    watched.database.unlink()
    if how == "emptied":
        watched.database.touch()
    refused = run(str(watched.database), "--socket-directory", str(watched.directory))
    assert refused.returncode != 0 and f"{watched.database}-wal holds commits" in refused.stderr, refused.stderr
    assert watched.database.exists() == (how == "emptied")
    os.replace(kept, watched.database)
    watched.restart()
    assert watched.value("SELECT x FROM t") == "1"


@pytest.mark.parametrize("what", ["CHECKPOINT", "VACUUM"])
def test_no_upkeep_of_lost_files(watched, what):
    """Another process has made a new -shm, and has committed by it."""
    watched.run(*[f"INSERT INTO t VALUES ({number})" for number in range(30)])
    os.unlink(shm(watched))
    with closing(sqlite3.connect(watched.database, isolation_level=None)) as outsider:
        outsider.execute("CREATE TABLE theirs (y)")
        outsider.execute("INSERT INTO theirs VALUES (zeroblob(20000))")
        with watched.client(database="walpool") as admin:
            admin.query(what)
        check_exit(watched)
        assert outsider.execute("SELECT length(y) FROM theirs").fetchall() == [(20000,)]
        assert outsider.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_two_histories_are_not_mixed(watched):
    """What the deleted -wal holds belongs to the file as it was, and another process has gone on from there."""
    with another_history(watched) as outsider:
        check_not_acknowledged([watched.client().query("INSERT INTO t VALUES (30)")])
        check_exit(watched)
        assert outsider.execute("SELECT length(y) FROM theirs").fetchall() == [(20000,)]
        assert outsider.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_an_outsider_that_keeps_both_deleted_files(start_daemon):
    daemon = start_daemon()
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    with closing(sqlite3.connect(daemon.database, isolation_level=None)) as outsider:
        assert outsider.execute("SELECT x FROM t").fetchall() == [(1,)]
        daemon.kill()
        os.unlink(wal(daemon))
        os.unlink(shm(daemon))
        refused = run(str(daemon.database), "--socket-directory", str(daemon.directory))
        assert refused.returncode != 0 and f"process {os.getpid()} has the database open" in refused.stderr
    daemon.restart()
    assert daemon.value("SELECT x FROM t") == "1"
