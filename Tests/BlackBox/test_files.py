"""What happens when the file under the daemon is replaced, removed, truncated or restored."""

import os
import sqlite3
from contextlib import closing

import pytest

from daemon import eventually
from files_fixtures import (  # noqa: F401 (fixtures)
    check_exit, check_not_acknowledged, error_lines, LOST, rename, replace, rows, truncate, truncate_to_nothing, unlink, wal, watched, write_while)


def ways_to_lose_the_file():
    for event in LOST:
        for how in ["single", "block", "group"]:
            yield pytest.param(event, how, id=f"{event.__name__}-{how}")


@pytest.mark.parametrize("event, how", list(ways_to_lose_the_file()))
def test_no_commit_is_acknowledged_on_a_lost_file(watched, event, how):
    check_not_acknowledged(write_while(event, watched, how))
    check_exit(watched)


@pytest.mark.optimised("pipelined")
@pytest.mark.parametrize("event", [replace, rename, unlink, truncate_to_nothing])
def test_a_lost_file_is_noticed_by_who_only_reads(watched, event):
    """
    a reader          | what is in the file's place | another reader
    its snapshot      |                             |
                      | comes there                 |
                      |                             | is opened, but not on that
    """
    first, second = watched.client(), watched.client()
    assert first.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT x FROM t").texts == [("1",)]
    event(watched)
    reply = second.query("SELECT x FROM t")
    assert not reply.rows and (reply.closed or reply.error["C"] == "58030"), reply
    check_exit(watched)


def test_a_directory_that_cannot_be_looked_at(watched):
    """Nobody can tell whether the files were lost. They were not: what is committed goes into those that are open."""
    # By a link to itself, since no directory is closed to root.
    directory = watched.directory
    moved = directory.with_name(directory.name + "-moved")
    client = watched.client()
    os.rename(directory, moved)
    try:
        os.symlink(directory, directory)
        client.query("INSERT INTO t VALUES (2)").check()
        client.query("BEGIN; INSERT INTO t VALUES (3)").check()
        assert client.query("COMMIT").check().tag == "COMMIT"
    finally:
        directory.unlink(missing_ok=True)
        os.rename(moved, directory)
    watched.run("INSERT INTO t VALUES (4)")
    watched.may_fail = False
    watched.stop()
    assert rows(watched.database) == [1, 2, 3, 4]


def test_a_backup_is_of_the_file_that_is_served(start_daemon, tmp_path):
    daemon = start_daemon(config=f'backup_directory = "{tmp_path}"\n')
    daemon.run("CREATE TABLE t (x)")
    daemon.may_fail = True
    replace(daemon)
    with daemon.client(database="walpool") as admin:
        reply = admin.query("BACKUP TO 'copy.db'")
    assert reply.closed or reply.error["C"] == "58030"
    assert not (tmp_path / "copy.db").exists()


def test_a_symbolic_link_that_is_switched(start_daemon, tmp_path):
    """The daemon stays with the file it was started on, with all of its connections."""
    daemon = start_daemon(config=f'backup_directory = "{tmp_path}"\n', start=False)
    for version in ["one", "two"]:
        directory = daemon.directory / version
        directory.mkdir()
        with closing(sqlite3.connect(directory / "app.db")) as connection:
            connection.executescript(f"PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES ('{version}')")
    link = daemon.directory / "current"
    link.symlink_to("one")
    daemon.database = link / "app.db"
    daemon.start()
    reader, writer = daemon.client(), daemon.client()
    assert reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT x FROM t").texts == [("one",)]
    (daemon.directory / "new").symlink_to("two")
    os.rename(daemon.directory / "new", link)
    assert writer.query("SELECT x FROM t").texts == [("one",)], "a reader that is opened now"
    assert writer.query("INSERT INTO t VALUES ('written')").tag == "INSERT 0 1"
    assert writer.query("SELECT x FROM t").texts == [("one",), ("written",)]
    with daemon.client(database="walpool") as admin:
        admin.query("BACKUP TO 'copy.db'").check()
    assert rows(tmp_path / "copy.db") == ["one", "written"]
    reader.close()
    writer.close()
    daemon.stop()
    assert rows(daemon.directory / "one/app.db") == ["one", "written"]
    assert rows(daemon.directory / "two/app.db") == ["two"]


def test_a_page_that_is_gone_from_under_the_map(watched):
    """What a reader has mapped and cannot read is a signal, SIGBUS: it must become an error, and no zeros."""
    reader, other = watched.client(), watched.client()
    assert reader.value("SELECT sum(length(x)) FROM filler") == "100000"
    assert other.query("BEGIN; SELECT hex(x) FROM filler").texts[-1:] == [("00" * 100_000,)]
    truncate(watched)
    # Who opens the file anew, in the place of a reader that could not read, finds it too short.
    for client, states in (reader, ["58030"]), (other, ["58030", "XX001"]), (reader, ["58030", "XX001"]):
        reply = client.query("SELECT hex(x) FROM filler")
        assert reply.error["C"] in states and not reply.tags, reply
        assert watched.is_running
    # Whoever writes finds out why.
    check_not_acknowledged([watched.client().query("INSERT INTO t VALUES (2)")])
    check_exit(watched)


@pytest.mark.parametrize("mode", ["full", "pipelined"])
def test_a_truncated_file_is_found_after_a_crash_too(start_daemon, mode):
    """An index that was made anew looks like one in the middle of a checkpoint."""
    daemon = start_daemon(options=["--synchronous", mode])
    daemon.run("CREATE TABLE t (x)", "CREATE TABLE filler (x)", "INSERT INTO filler VALUES (zeroblob(100000))")
    daemon.stop()
    daemon.restart()
    daemon.run("INSERT INTO t VALUES (1)")
    daemon.kill()
    daemon.restart()
    daemon.may_fail = True
    daemon.run("INSERT INTO t VALUES (2)")
    truncate(daemon)
    check_not_acknowledged([daemon.client().query("INSERT INTO t VALUES (3)")])
    check_exit(daemon)


def test_a_moved_file_keeps_what_was_acknowledged(watched):
    check_not_acknowledged(write_while(rename, watched, "single"))
    check_exit(watched)
    moved = watched.directory / "moved.db"
    if wal(watched).exists():
        os.rename(wal(watched), f"{moved}-wal")
    assert rows(moved)[0] == 1


def test_a_restored_database_of_another_encoding(start_daemon):
    """SQLite's connections keep the encoding of the schema they have read first: they are opened anew."""
    daemon = start_daemon(options=["--readers", "1"])
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES ('old')")
    client = daemon.client()
    assert client.value("SELECT x FROM t") == "old"
    with closing(sqlite3.connect(daemon.directory / "source.db")) as source, closing(sqlite3.connect(daemon.database)) as served:
        source.executescript("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (x); INSERT INTO t VALUES ('néw')")
        source.backup(served)
    refused = []

    def is_served():
        reply = client.query("SELECT  x FROM t")
        refused.extend(error["C"] for error in reply.errors)
        return reply.texts == [("néw",)]

    eventually(is_served, "the new database")
    assert set(refused) == {"58030"}
    client.query("INSERT INTO t VALUES ('ö')").check()
    assert client.query("SELECT x FROM t ORDER BY x").texts == [("néw",), ("ö",)]
    assert any("text encoding" in line for line in error_lines(daemon))
    daemon.may_fail = True


def test_the_old_wal_is_not_mixed_into_a_new_file(watched):
    # The frames left in the -wal are the old file's: https://www.sqlite.org/howtocorrupt.html, "Mispairing database
    # files and hot journals".
    check_not_acknowledged(write_while(replace, watched, "single"))
    check_exit(watched)
    assert rows(watched.database) == [1000]
