"""Files that are lost under a daemon in a container, beside a process outside of it."""

import os
import sqlite3
import subprocess
from contextlib import closing

import pytest

from files_fixtures import check_exit, check_not_acknowledged, rows, shm, wal

CONTAINER = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]


@pytest.fixture
def contained(start_daemon):
    """The daemon is in a PID namespace of its own: /proc/locks shows it nobody outside of that."""
    if os.getuid() != 0 or subprocess.run([*CONTAINER, "true"], capture_output=True).returncode != 0:
        pytest.skip("PID namespaces need root, and a container that lets it")
    daemon = start_daemon(start=False)
    command = daemon.command
    daemon.command = lambda: [*CONTAINER, *command()]
    daemon.start()
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    daemon.may_fail = True
    yield daemon
    # unshare passes no signal on.
    with daemon.client(database="walpool") as admin:
        admin.query("SHUTDOWN")
    assert daemon.wait() == 0


def check_start_is_refused(daemon, words):
    refused = subprocess.run(daemon.command(), capture_output=True, text=True, timeout=60)
    assert refused.returncode != 0 and f"a process of another PID namespace {words}" in refused.stderr, refused.stderr


def test_an_outsider_that_keeps_a_deleted_wal(contained):
    """What it commits there is in no other -wal, and the index says to everybody that it is in theirs."""
    with closing(sqlite3.connect(contained.database, isolation_level=None)) as outsider:
        assert outsider.execute("SELECT x FROM t").fetchall() == [(1,)]
        os.unlink(wal(contained))
        check_not_acknowledged([contained.client().query("INSERT INTO t VALUES (2)")])
        check_exit(contained)
        assert "a process of another PID namespace has" in contained.errors
        outsider.execute("INSERT INTO t VALUES (3)")
        check_start_is_refused(contained, "has the database open, but its -wal or its -shm was deleted")
        outsider.execute("INSERT INTO t VALUES (4)")
    contained.restart()
    contained.run("INSERT INTO t VALUES (5)")
    assert {1, 3, 4, 5} <= set(rows(contained.database))


def test_an_outsider_that_keeps_a_deleted_index(contained):
    """The daemon's locks would be others than the outsider's."""
    with closing(sqlite3.connect(contained.database, isolation_level=None)) as outsider:
        assert outsider.execute("SELECT x FROM t").fetchall() == [(1,)]
        os.unlink(shm(contained))
        check_not_acknowledged([contained.client().query("INSERT INTO t VALUES (2)")])
        check_exit(contained)
        check_start_is_refused(contained, "has the database open, but its -wal or its -shm was deleted")
        outsider.execute("INSERT INTO t VALUES (3)")
    contained.restart()
    assert contained.value("SELECT count(*) FROM t WHERE x IN (1, 3)") == "2"
