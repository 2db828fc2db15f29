"""A -wal that was deleted, and who is in the way when what was committed in it is to be saved."""

import os
import resource
import shutil
import sqlite3
from contextlib import closing

import pytest

import wire
from console import client_row, console
from daemon import eventually, yield_to_others
from files_fixtures import check_exit, check_not_acknowledged, committing, rows, wal  # noqa: F401 (fixtures)
from test_files_wal import all_rows, with_table_of_others  # noqa: F401 (fixtures)

# Minutes in one call of a function, during which SQLite asks nobody whether it shall go on.
ENDLESS = "SELECT replace(printf('%.60000000c', 'a'), printf('%.30000000c', 'a') || 'b', 'x') IS NULL"


@pytest.fixture(params=["full", "pipelined"])
def impatient(start_daemon, request):
    daemon = start_daemon(options=["--synchronous", request.param], config='gate_limit = "100ms"\nshutdown_timeout = "100ms"\n')
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    daemon.may_fail = True
    return daemon


def begin_endless_statement(daemon):
    endless = daemon.client()
    endless.send(wire.query(ENDLESS))
    with console(daemon) as admin:
        eventually(lambda: client_row(admin, endless)["state"] == "active", "the statement")
    yield_to_others(daemon.pid)


@pytest.fixture
def beside_an_endless_statement(impatient):
    begin_endless_statement(impatient)
    return impatient


@pytest.mark.optimised("full-stop", "pipelined-commit")
@pytest.mark.parametrize("how", ["commit", "stop"])
def test_a_statement_that_does_not_end(beside_an_endless_statement, how):
    """Nothing can be opened again beside it, and the daemon ends; what was committed is in a new -wal for the next start."""
    daemon = beside_an_endless_statement
    os.unlink(wal(daemon))
    if how == "commit":
        check_not_acknowledged([daemon.client().query("INSERT INTO t VALUES (2)")])
        check_exit(daemon)
    else:
        daemon.terminate()
        assert daemon.wait() == 0, daemon.errors
        assert "the -wal has what was committed" in daemon.errors
    assert rows(daemon.database)[0] == 1


# One of them, with a debug build: the statement keeps a processor for seconds.
WAYS = pytest.mark.parametrize("impatient, put, how", [
    ("full", os.replace, "commit"),
    pytest.param("pipelined", shutil.copyfile, "stop", marks=pytest.mark.optimised),
    pytest.param("full", os.replace, "stop", marks=pytest.mark.optimised),
    pytest.param("pipelined", shutil.copyfile, "commit", marks=pytest.mark.optimised)], indirect=["impatient"])


@WAYS
def test_a_backup_that_is_put_in_place_beside_a_statement_that_does_not_end(beside_an_endless_statement, tmp_path, put, how):
    """Nothing can be copied any more, but the -wal is not for the backup, and the next start would take it for that."""
    daemon = beside_an_endless_statement
    daemon.run("CREATE TABLE u (x)", *[f"INSERT INTO t VALUES ({number})" for number in range(2, 30)])
    backup = tmp_path / "backup.db"
    with closing(sqlite3.connect(backup)) as other:
        other.executescript("CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(300000));"
                            "CREATE TABLE t (x); INSERT INTO t VALUES (1000)")
    put(backup, daemon.database)
    if how == "commit":
        check_not_acknowledged([daemon.client().query("INSERT INTO t VALUES (30)")])
        check_exit(daemon)
    else:
        daemon.terminate()
        assert daemon.wait() == 74, daemon.errors
    assert rows(daemon.database) == [1000], daemon.errors


@WAYS
def test_the_wal_of_another_database_beside_a_statement_that_does_not_end(impatient, tmp_path, put, how):
    """The next start would take its frames for this database's. Where the daemon has its own open still, nothing is lost."""
    daemon = impatient
    daemon.stop()
    daemon.restart()
    daemon.run(*[f"INSERT INTO t VALUES ({number})" for number in range(2, 30)])
    begin_endless_statement(daemon)
    with closing(sqlite3.connect(tmp_path / "theirs.db", isolation_level=None)) as other:
        other.executescript("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)")
        for number in range(1000, 1200):
            other.execute("INSERT INTO t VALUES (?)", (number,))
        shutil.copyfile(tmp_path / "theirs.db-wal", tmp_path / "their-wal")
    put(tmp_path / "their-wal", wal(daemon))
    if how == "commit":
        check_not_acknowledged([daemon.client().query("INSERT INTO t VALUES (30)")])
        check_exit(daemon)
    else:
        daemon.terminate()
        assert daemon.wait() == (0 if put is os.replace else 74), daemon.errors
    found = rows(daemon.database)
    assert found[:29] == list(range(1, 30)) if put is os.replace else found == [1], daemon.errors
    assert max(found) < 1000 and (daemon.directory / "app.db-wal.lost").exists()


def test_an_outsider_whose_commit_is_the_first_in_a_new_wal(with_table_of_others):
    """It writes when the daemon looks, so there is nothing in its -wal yet. Its commit is waited for, and then both are put together."""
    daemon = with_table_of_others
    os.unlink(wal(daemon))
    with closing(sqlite3.connect(daemon.database, isolation_level=None)) as outsider:
        outsider.execute("BEGIN IMMEDIATE")
        outsider.execute("UPDATE u SET x = 'theirs' WHERE rowid = 2")
        daemon.terminate()
        eventually(lambda: "stopping" in daemon.errors, "the stop")
        # It waits for the write lock by now, or will.
        eventually(lambda: not daemon.socket_path.exists(), "the end of the sessions")
        outsider.execute("COMMIT")
    daemon.wait()
    t, u = all_rows(daemon.database)
    assert t[:24] == list(range(1, 25)) and u == ["ours", "theirs"], daemon.errors


@pytest.mark.parametrize("how", ["commit", "stop"])
def test_a_copy_into_the_database_that_fails_half_way(committing, how):
    """What was deleted is beside the database before it is copied, so the next copy begins again from there."""
    daemon = committing
    daemon.run("CREATE TABLE filler (x)", "INSERT INTO filler VALUES (zeroblob(400000))")
    daemon.stop()
    daemon.restart()
    daemon.run("UPDATE t SET x = x + 100", "CREATE TABLE u (x)", "INSERT INTO u VALUES (zeroblob(100000))")
    os.unlink(wal(daemon))
    # Pages of the file may be written, and one behind it.
    longest = daemon.database.stat().st_size + 4096
    resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (longest, longest))
    daemon.may_fail = True
    if how == "commit":
        check_not_acknowledged([daemon.client().query("INSERT INTO t VALUES (30)")])
        eventually(lambda: "opened again and is whole" in daemon.errors)
    daemon.terminate()
    daemon.wait()
    assert "what the deleted -wal held cannot be copied into the database yet" in daemon.errors
    assert set(range(101, 120)) <= set(rows(daemon.database)), daemon.errors
    with closing(sqlite3.connect(daemon.database)) as connection:
        assert connection.execute("SELECT length(x) FROM u").fetchall() == [(100000,)]
