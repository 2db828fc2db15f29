"""What takes files away under a daemon, and what is asked of it then."""

import os
import shutil
import sqlite3
import threading
from contextlib import closing, contextmanager, suppress

import pytest

import logs
import wire

# What a client is told of a commit of which the daemon cannot say whether it will last.
NOT_ACKNOWLEDGED = {"08007", "58030"}


def error_lines(daemon):
    return [line for line in logs.lines(daemon) if line.startswith(("error:", "critical:"))]


def check_exit(daemon):
    """It has ended by itself, with a status for the service manager and one line that says why and names the file."""
    assert daemon.wait() > 0, daemon.errors
    (line,) = [line for line in error_lines(daemon) if line.startswith("critical:")]
    assert str(daemon.database) in line, line
    daemon.check_errors()


def rows(path):
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return [row for row, in connection.execute("SELECT x FROM t ORDER BY x")]


# Files that are not what they were: https://www.sqlite.org/howtocorrupt.html, "Unlinking or renaming a database file
# while in use"


def replace(daemon):
    other = daemon.directory / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.executescript("CREATE TABLE t (x); INSERT INTO t VALUES (1000)")
    os.replace(other, daemon.database)


def rename(daemon):
    os.rename(daemon.database, daemon.directory / "moved.db")


def unlink(daemon):
    os.unlink(daemon.database)


def truncate(daemon):
    os.truncate(daemon.database, 4096)


def truncate_to_nothing(daemon):
    os.truncate(daemon.database, 0)


def wal(daemon):
    return daemon.database.with_name(daemon.database.name + "-wal")


# Of these it ends; a -wal that is gone is saved as long as it is open.
LOST = [replace, rename, unlink, truncate, truncate_to_nothing]


def unlink_wal(daemon):
    os.unlink(wal(daemon))


def rename_wal(daemon):
    os.rename(wal(daemon), daemon.directory / "moved-wal")


def replace_wal(daemon):
    copy = daemon.directory / "copy"
    shutil.copyfile(wal(daemon), copy)
    os.replace(copy, wal(daemon))


LOST_WAL = [unlink_wal, rename_wal, replace_wal]


@pytest.fixture(params=["full", "pipelined"])
def watched(start_daemon, request):
    """A daemon whose file is about to be taken away; the file is long enough to lose something."""
    daemon = start_daemon(options=["--synchronous", request.param])
    # Checkpointed by the stop, so that the file itself has all of it, and some more rows in the WAL.
    daemon.run("CREATE TABLE t (x)", "CREATE TABLE filler (x)", "INSERT INTO filler VALUES (zeroblob(100000))")
    daemon.stop()
    daemon.restart()
    daemon.run("INSERT INTO t VALUES (1)")
    daemon.may_fail = True
    return daemon


def write_while(event, daemon, how):
    """Something happens to the files between a client's last message and the one before. Returns all the replies to
    what was to be committed."""
    writer = daemon.client()
    if how == "single":
        event(daemon)
        return [writer.query("INSERT INTO t VALUES (2)")]
    writer.query("BEGIN; INSERT INTO t VALUES (2)").check()
    if how == "block":
        event(daemon)
        return [writer.query("COMMIT")]
    # Two that wait for a third and share a commit.
    others = [daemon.client() for _ in range(2)]
    for client in others:
        client.send(wire.query("INSERT INTO t VALUES (3)"))
    daemon.settle(*others)
    event(daemon)
    assert writer.query("ROLLBACK").tag == "ROLLBACK"
    return [client.reply() for client in others]


def check_not_acknowledged(replies):
    for reply in replies:
        assert not reply.tags, "it was acknowledged"
        # The second of these where a reader meets the empty file, before there is anything to commit.
        assert reply.closed or reply.error["C"] in {*NOT_ACKNOWLEDGED, "XX001"}, reply
        # No disk has failed: somebody did that to the file.
        assert not reply.errors or "disk" not in reply.error.get("H", ""), reply


def shm(daemon):
    return daemon.database.with_name(daemon.database.name + "-shm")


@pytest.fixture(params=["full", "pipelined", pytest.param("normal", marks=pytest.mark.optimised)])
def committing(start_daemon, request):
    """A daemon with commits in its -wal."""
    daemon = start_daemon(options=["--synchronous", request.param])
    daemon.run("CREATE TABLE t (x)", *[f"INSERT INTO t VALUES ({number})" for number in range(1, 20)])
    return daemon


@contextmanager
def committing_all_the_time(daemon):
    """A client inserts rows for as long as the daemon lets it."""
    client, stopping = daemon.client(), threading.Event()

    def commit():
        with suppress(OSError):  # The socket of a daemon that ends breaks.
            while not stopping.is_set() and not client.query("INSERT INTO t VALUES (zeroblob(3000))").closed:
                pass

    thread = threading.Thread(target=commit)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()
