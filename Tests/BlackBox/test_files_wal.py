"""What happens when the -wal or the -shm under the daemon is lost, at any moment."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from daemon import eventually
from files_fixtures import (  # noqa: F401 (fixtures)
    check_exit, check_not_acknowledged, committing, committing_all_the_time, LOST_WAL, rows, shm, wal, watched, write_while)
from lifecycle_fixtures import run


@pytest.mark.parametrize("event", LOST_WAL, ids=lambda event: event.__name__)
@pytest.mark.parametrize("how", ["single", "block", "group"])
def test_a_lost_wal_is_saved(watched, event, how):
    reader = watched.client()
    assert reader.value("SELECT x FROM t") == "1"
    check_not_acknowledged(write_while(event, watched, how))
    # The commits of before are there, for those who were here then, too, and it goes on.
    assert int(reader.value("SELECT min(x) FROM t")) == 1
    watched.run("INSERT INTO t VALUES (4)")
    assert reader.value("SELECT max(x) FROM t") == "4"
    eventually(lambda: "-wal was deleted" in watched.errors, "the line")
    watched.may_fail = False
    watched.stop()
    assert {1, 4} <= set(rows(watched.database))


@pytest.mark.parametrize("how", ["single", "block", "group"])
def test_a_lost_index_is_made_anew(watched, how):
    """The locks are in the -shm: whoever opens the database next would make another, with locks of its own."""
    check_not_acknowledged(write_while(lambda daemon: os.unlink(shm(daemon)), watched, how))
    watched.run("INSERT INTO t VALUES (4)")
    assert shm(watched).exists()
    with closing(sqlite3.connect(watched.database, isolation_level=None)) as outsider:
        outsider.execute("INSERT INTO t VALUES (5)")
        assert watched.value("SELECT max(x) FROM t") == "5"
    watched.stop()
    assert {1, 4, 5} <= set(rows(watched.database))


def test_an_index_that_another_process_has_made_anew(watched):
    os.unlink(shm(watched))
    with closing(sqlite3.connect(watched.database, isolation_level=None)) as outsider:
        assert outsider.execute("SELECT x FROM t").fetchall() == [(1,)]
        check_not_acknowledged([watched.client().query("INSERT INTO t VALUES (2)")])
        check_exit(watched)
        assert "-shm" in watched.errors
    assert 1 in rows(watched.database)


@pytest.mark.optimised("pipelined")
def test_an_outsider_that_keeps_a_deleted_index(watched):
    """It and whoever makes a new one would have no locks in common: nobody does, until it has gone."""
    outsider = sqlite3.connect(watched.database, isolation_level=None)
    assert outsider.execute("SELECT x FROM t").fetchall() == [(1,)]
    with closing(outsider):
        os.unlink(shm(watched))
        check_not_acknowledged([watched.client().query("INSERT INTO t VALUES (2)")])
        check_exit(watched)
        outsider.execute("INSERT INTO t VALUES (5)")
        refused = run(str(watched.database), "--socket-directory", str(watched.directory))
        assert refused.returncode != 0 and f"process {os.getpid()} has the database open" in refused.stderr
        outsider.execute("INSERT INTO t VALUES (6)")
    watched.restart()
    assert {"1", "5", "6"} <= {value for value, in watched.client().query("SELECT x FROM t").texts}


def commit_outside(daemon, statement="UPDATE u SET x = 'theirs' WHERE rowid = 2"):
    """One commit of another process, which finds its way by the -shm; where it opens the database it makes a -wal."""
    with closing(sqlite3.connect(daemon.database, isolation_level=None)) as outsider:
        outsider.execute(statement)


def all_rows(path):
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return [[x for x, in connection.execute(f"SELECT x FROM {table} ORDER BY rowid")] for table in ("t", "u")]


@pytest.fixture
def with_table_of_others(committing):
    """It has rows in the file and in the -wal, and tables that the -wal has nothing of."""
    committing.run("CREATE TABLE u (x)", "INSERT INTO u VALUES ('ours'), ('ours')", "CREATE TABLE v (x)", "INSERT INTO v VALUES ('ours')")
    committing.stop()
    committing.restart()
    committing.run(*[f"INSERT INTO t VALUES ({number})" for number in range(20, 25)])
    return committing


@pytest.mark.parametrize("then", ["stop", "write", "CHECKPOINT"])
@pytest.mark.parametrize("commits", [1, 3])
def test_a_commit_into_another_wal(with_table_of_others, then, commits):
    """The -shm is there still and says where the next frame is: what the daemon has committed is in one file, and what the other
    process has in another. Both are found again, and nothing is copied out of a file where it is not."""
    daemon = with_table_of_others
    os.unlink(wal(daemon))
    for _ in range(commits):
        commit_outside(daemon)
    if then == "write":
        check_not_acknowledged([daemon.client().query("INSERT INTO t VALUES (25)")])
        eventually(lambda: "opened again and is whole" in daemon.errors)
        assert daemon.run("SELECT x FROM u ORDER BY rowid").texts == [("ours",), ("theirs",)]
    if then == "CHECKPOINT":
        with daemon.client(database="walpool") as admin:
            admin.query("CHECKPOINT")
        eventually(lambda: "opened again and is whole" in daemon.errors)
    daemon.may_fail = then != "stop"
    daemon.stop()
    t, u = all_rows(daemon.database)
    assert t[:24] == list(range(1, 25)) and u == ["ours", "theirs"], daemon.errors
    assert "-wal was deleted" in daemon.errors


def test_a_commit_into_another_wal_that_begins_anew(with_table_of_others):
    """All that the daemon has committed was copied, so the other process writes its frame in the first place."""
    daemon = with_table_of_others
    with daemon.client(database="walpool") as admin:
        admin.query("CHECKPOINT").check()
    os.unlink(wal(daemon))
    commit_outside(daemon)
    check_not_acknowledged([daemon.client().query("INSERT INTO t VALUES (25)")])
    eventually(lambda: "opened again and is whole" in daemon.errors)
    daemon.may_fail = True
    daemon.stop()
    t, u = all_rows(daemon.database)
    assert t[:24] == list(range(1, 25)) and u == ["ours", "theirs"]


def test_a_commit_into_a_wal_that_is_lost_too(with_table_of_others):
    """Nobody has it any more. What the daemon has committed before is kept, and the log says what is not."""
    daemon = with_table_of_others
    daemon.may_fail = True
    for table in ("u", "v"):
        os.unlink(wal(daemon))
        commit_outside(daemon, f"UPDATE {table} SET x = 'theirs'")
    daemon.terminate()
    check_exit(daemon)
    assert "is in no -wal that is left and lost" in daemon.errors
    assert all_rows(daemon.database) == [list(range(1, 25)), ["ours", "ours"]]
    daemon.restart()
    assert daemon.value("SELECT max(x) FROM t") == "24"


def test_an_older_wal_in_the_place_of_the_newer(with_table_of_others):
    """Its frames would come to life beside a file that has what was committed behind them."""
    daemon = with_table_of_others
    copy = daemon.directory / "copy"
    shutil.copyfile(wal(daemon), copy)
    daemon.run("CREATE INDEX tx ON t (x)", *[f"INSERT INTO t VALUES ({number})" for number in range(25, 500)])
    os.replace(copy, wal(daemon))
    check_not_acknowledged([daemon.client().query("INSERT INTO t VALUES (500)")])
    eventually(lambda: "opened again and is whole" in daemon.errors)
    daemon.may_fail = True
    daemon.kill()
    assert all_rows(daemon.database)[0][:499] == list(range(1, 500))


def move_aside(path):
    os.rename(path, path.with_name("aside"))


@pytest.mark.optimised("pipelined")
@pytest.mark.parametrize("lose", [os.unlink, move_aside])
@pytest.mark.parametrize("noticed", ["by a commit", "at the end", "at the start"])
def test_an_outsider_that_keeps_a_lost_wal(watched, noticed, lose):
    """What it commits there nobody else can read, and its index says that it is in the -wal: nobody else goes on until it has gone."""
    outsider = sqlite3.connect(watched.database, isolation_level=None)
    with closing(outsider):
        watched.run(*[f"INSERT INTO t VALUES ({number})" for number in range(2, 30)])
        assert outsider.execute("SELECT max(x) FROM t").fetchone() == (29,)
        if noticed == "at the start":
            watched.stop()
        lose(wal(watched))
        if noticed == "by a commit":
            check_not_acknowledged([watched.client().query("INSERT INTO t VALUES (30)")])
            check_exit(watched)
        elif noticed == "at the end":
            watched.terminate()
            watched.wait()
        outsider.execute("INSERT INTO t VALUES (31)")
        refused = run(str(watched.database), "--socket-directory", str(watched.directory))
        holder = f"(process {os.getpid()}) has {watched.database} open by a -wal that was deleted"
        assert refused.returncode != 0 and holder in refused.stderr
        outsider.execute("INSERT INTO t VALUES (32)")
    watched.restart()
    watched.run("INSERT INTO t VALUES (33)")
    watched.may_fail = False
    watched.stop()
    assert set(range(1, 30)) | {31, 32, 33} <= set(rows(watched.database))


# As ProtectProc=invisible does, which the service has.
HIDING = 'mount --make-rprivate / && mount -t proc -o hidepid=invisible proc /proc && exec "$@"'


@pytest.fixture
def without_other_processes(start_daemon):
    """The daemon is another user's, and is shown nobody else's processes."""
    hide = ["unshare", "--mount", "sh", "-c", HIDING, "sh"]
    if os.getuid() != 0 or subprocess.run([*hide, "true"], capture_output=True).returncode != 0:
        pytest.skip("mount namespaces need root, and a container that lets it")
    daemon = start_daemon(start=False)
    os.chown(daemon.directory, 65534, 65534)
    command = daemon.command
    daemon.command = lambda: [*hide, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command()]
    daemon.start()
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    return daemon


def check_start_is_refused(daemon):
    refused = subprocess.run(daemon.command(), capture_output=True, text=True, timeout=60)
    holder = f"(process {os.getpid()}) has {daemon.database} open by a -wal that was deleted"
    assert refused.returncode != 0 and holder in refused.stderr
    return holder


@pytest.mark.parametrize("noticed", ["by a commit", "at the start"])
def test_an_outsider_whose_files_are_not_shown_keeps_a_deleted_wal(without_other_processes, noticed):
    """Only its locks tell of it, and that there is no -wal in its place."""
    daemon = without_other_processes
    with closing(sqlite3.connect(daemon.database, isolation_level=None)) as outsider:
        assert outsider.execute("SELECT x FROM t").fetchall() == [(1,)]
        if noticed == "at the start":
            daemon.stop()
        os.unlink(wal(daemon))
        if noticed == "by a commit":
            daemon.may_fail = True
            check_not_acknowledged([daemon.client().query("INSERT INTO t VALUES (2)")])
            check_exit(daemon)
        holder = check_start_is_refused(daemon)
        if noticed == "by a commit":
            assert holder in daemon.errors
    # One that has closed it is in nobody's way.
    daemon.restart()
    assert daemon.value("SELECT min(x) FROM t") == "1"


def test_an_outsider_whose_files_are_not_shown_writes_into_a_deleted_wal(without_other_processes):
    """It has all that was committed, and commits behind that: there must be no other -wal, or the next start would go on in it."""
    daemon = without_other_processes
    with closing(sqlite3.connect(daemon.database, isolation_level=None)) as outsider:
        outsider.execute("BEGIN IMMEDIATE")
        outsider.execute("INSERT INTO t VALUES (2)")
        os.unlink(wal(daemon))
        daemon.may_fail = True
        daemon.terminate()
        check_exit(daemon)
        outsider.execute("COMMIT")
        check_start_is_refused(daemon)
        outsider.execute("INSERT INTO t VALUES (3)")
    daemon.restart()
    daemon.run("INSERT INTO t VALUES (4)")
    daemon.may_fail = False
    daemon.stop()
    assert rows(daemon.database) == [1, 2, 3, 4]


def test_a_process_that_may_only_read_the_index(start_daemon):
    """It does without one where nobody had the database open, and has no lock there; so it looks like one with a -shm that was deleted."""
    if os.getuid() != 0:
        pytest.skip("another user's process needs root")
    daemon = start_daemon()
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    daemon.kill()
    daemon.directory.chmod(0o755)
    for path in (daemon.database, wal(daemon), shm(daemon)):
        path.chmod(0o644)
    program = """import sqlite3, sys
print(sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True).execute("SELECT x FROM t").fetchall(), flush=True)
sys.stdin.read()"""
    reader = subprocess.Popen(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-c", program, daemon.database],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with reader:
        assert reader.stdout.readline() == "[(1,)]\n"
        refused = subprocess.run(daemon.command(), capture_output=True, text=True, timeout=60)
        assert refused.returncode != 0
        assert f"process {reader.pid} has the database open, but not the -shm that is there" in refused.stderr
        assert "may only read" in refused.stderr
        reader.stdin.close()
    daemon.restart()
    assert daemon.value("SELECT x FROM t") == "1"


@pytest.mark.parametrize("stays", [True, False])
def test_a_wal_and_an_index_that_are_both_lost(watched, stays):
    for number in range(2, 20):
        watched.run(f"INSERT INTO t VALUES ({number})")
    os.unlink(wal(watched))
    os.unlink(shm(watched))
    with closing(sqlite3.connect(watched.database, isolation_level=None)) as outsider:
        outsider.execute("SELECT count(*) FROM filler").fetchall()
        if not stays:
            outsider.close()
        check_not_acknowledged([watched.client().query("INSERT INTO t VALUES (20)")])
        # It goes on, or has ended: what was acknowledged is in the file.
        eventually(lambda: not watched.is_running or "opened again and is whole" in watched.errors)
        watched.kill()
    assert set(range(1, 20)) <= set(rows(watched.database))


def test_nothing_rests_on_the_wal_of_a_lost_index(committing):
    """Who deletes the -shm deletes the -wal next, and nobody may have it open by then."""
    os.unlink(shm(committing))
    check_not_acknowledged([committing.client().query("INSERT INTO t VALUES (20)")])
    eventually(lambda: "opened again and is whole" in committing.errors)
    committing.kill()
    os.unlink(wal(committing))
    os.unlink(shm(committing))
    committing.may_fail = True
    assert set(range(1, 20)) <= set(rows(committing.database))


@pytest.mark.optimised("normal")
def test_an_index_that_comes_back_over_its_successor(committing):
    """Nobody uses it, and it is not the daemon's any more, which ends. Who put it there may delete the -wal next."""
    committing.may_fail = True
    aside = committing.directory / "aside"
    os.rename(shm(committing), aside)
    check_not_acknowledged([committing.client().query("INSERT INTO t VALUES (20)")])
    eventually(lambda: "opened again and is whole" in committing.errors)
    committing.run("INSERT INTO t VALUES (21)")
    os.rename(aside, shm(committing))
    check_not_acknowledged([committing.client().query("INSERT INTO t VALUES (22)")])
    check_exit(committing)
    os.unlink(wal(committing))
    os.unlink(shm(committing))
    assert {*range(1, 20), 21} <= set(rows(committing.database))


def test_an_index_and_a_wal_that_are_lost_one_after_the_other(committing):
    """A shell's two processes, under a client that commits all the time: wherever the second of them meets the daemon."""
    committing.may_fail = True
    acknowledged, ends = set(range(1, 20)), []

    def commit():
        number = 20
        with committing.client() as client:
            while not ends:
                if not client.query(f"INSERT INTO t VALUES ({number})").errors:
                    acknowledged.add(number)
                number += 1

    thread = threading.Thread(target=commit)
    thread.start()
    try:
        for _ in range(5):
            subprocess.run(f"rm {shm(committing)}; rm {wal(committing)}", shell=True)
            count = len(acknowledged)
            eventually(lambda: len(acknowledged) > count or not thread.is_alive(), "another commit")
    finally:
        ends.append(True)
        thread.join()
    committing.stop()
    assert acknowledged <= set(rows(committing.database)), committing.errors


@pytest.mark.parametrize("lost, ends", [("-shm", False), ("-wal", False), ("-wal", True)])
@pytest.mark.parametrize("pause", [0, 0.003, 0.008])
def test_a_database_that_is_replaced_after_a_file_beside_it(committing, lost, ends, pause):
    """The old -wal's frames are not the new file's, wherever the second command of a shell meets the daemon: what restores a backup
    deletes what stands beside the database first."""
    committing.may_fail = True
    other = committing.directory / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.executescript("CREATE TABLE filler (x); CREATE TABLE t (x); INSERT INTO t VALUES (1000)")
    end = f"kill -TERM {committing.pid};" if ends else ""
    with committing_all_the_time(committing):
        subprocess.run(f"rm {committing.database}{lost}; {end} sleep {pause}; mv {other} {committing.database}", shell=True, check=True)
        committing.wait() if ends else check_exit(committing)
    assert rows(committing.database) == [1000]
