"""What happens to the files under the daemon: replaced, removed, truncated, beside an outsider, on a disk that is full
or read-only."""

import os
import shutil
import sqlite3
import subprocess
import tempfile
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import wire
from daemon import binary, eventually
from identity import NOBODY
from test_lifecycle import check_refusal, run

# What a client is told of a commit of which the daemon cannot say whether it will last.
NOT_ACKNOWLEDGED = {"08007", "58030"}


def error_lines(daemon):
    return [line for line in daemon.errors.splitlines() if line.startswith(("error:", "critical:"))]


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


def ways_to_lose_the_file():
    for event in LOST:
        for how in ["single", "block", "group"]:
            yield pytest.param(event, how, id=f"{event.__name__}-{how}")


@pytest.mark.parametrize("event, how", list(ways_to_lose_the_file()))
def test_no_commit_is_acknowledged_on_a_lost_file(watched, event, how):
    check_not_acknowledged(write_while(event, watched, how))
    check_exit(watched)


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


def shm(daemon):
    return daemon.database.with_name(daemon.database.name + "-shm")


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


@pytest.fixture(params=["full", "pipelined", "normal"])
def committing(start_daemon, request):
    """A daemon with commits in its -wal."""
    daemon = start_daemon(options=["--synchronous", request.param])
    daemon.run("CREATE TABLE t (x)", *[f"INSERT INTO t VALUES ({number})" for number in range(1, 20)])
    return daemon


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


def test_an_index_and_a_database_that_are_lost_one_after_the_other(committing):
    """The old -wal's frames are not the new file's."""
    committing.may_fail = True
    other = committing.directory / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.executescript("CREATE TABLE filler (x); CREATE TABLE t (x); INSERT INTO t VALUES (1000)")
    ends = []

    def commit():
        with committing.client() as client:
            while not ends and not client.query("INSERT INTO t VALUES (zeroblob(3000))").closed:
                pass

    thread = threading.Thread(target=commit)
    thread.start()
    try:
        subprocess.run(f"rm {shm(committing)}; mv {other} {committing.database}", shell=True, check=True)
        check_exit(committing)
    finally:
        ends.append(True)
        thread.join()
    assert rows(committing.database) == [1000]


@pytest.mark.parametrize("lost", [["-wal"], ["-wal", "-shm"]])
def test_a_wal_that_is_lost_before_the_end(watched, lost):
    """Nobody has committed since."""
    watched.run(*[f"INSERT INTO t VALUES ({number})" for number in range(2, 30)])
    for name in lost:
        os.unlink(f"{watched.database}{name}")
    watched.terminate()
    watched.wait()
    assert set(range(1, 30)) <= set(rows(watched.database))


def test_a_wal_that_is_lost_before_the_end_beside_a_reader(watched):
    """The reader's snapshot keeps the rest of the -wal from being copied, and it is never looked for again: so it is waited for."""
    with closing(sqlite3.connect(watched.database, isolation_level=None)) as outsider:
        outsider.execute("BEGIN")
        outsider.execute("SELECT count(*) FROM t").fetchall()
        watched.run(*[f"INSERT INTO t VALUES ({number})" for number in range(2, 30)])
        os.unlink(wal(watched))
        watched.terminate()
        check_exit(watched)
    assert "all that was committed" in watched.errors


def test_two_histories_are_not_mixed_at_the_end(watched):
    watched.run("CREATE INDEX tx ON t (x)", *[f"INSERT INTO t VALUES ({number})" for number in range(2, 30)])
    os.unlink(wal(watched))
    os.unlink(shm(watched))
    with closing(sqlite3.connect(watched.database, isolation_level=None)) as outsider:
        outsider.execute("CREATE TABLE theirs (y)")
        outsider.execute("INSERT INTO theirs VALUES (zeroblob(20000))")
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
    watched.run("CREATE INDEX tx ON t (x)", *[f"INSERT INTO t VALUES ({number})" for number in range(2, 30)])
    os.unlink(wal(watched))
    os.unlink(shm(watched))
    with closing(sqlite3.connect(watched.database, isolation_level=None)) as outsider:
        outsider.execute("CREATE TABLE theirs (y)")
        outsider.execute("INSERT INTO theirs VALUES (zeroblob(20000))")
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


# Outsiders


@pytest.mark.parametrize("mode", ["full", "pipelined"])
@pytest.mark.parametrize("is_paused, checkpoint", [(True, "passive"), (True, "truncate"), (True, "restart"), (False, "passive")])
def test_a_file_that_an_outsider_has_vacuumed(start_daemon, mode, is_paused, checkpoint):
    """It is shorter by a checkpoint, as it may be: no commit is told that it is unknown."""
    daemon = start_daemon(options=["--synchronous", mode])
    daemon.run("CREATE TABLE t (x)", "CREATE TABLE filler (x)", "INSERT INTO filler VALUES (zeroblob(1000000))")
    daemon.stop()
    daemon.restart()
    console = daemon.client(database="walpool")
    with daemon.client() as client, closing(sqlite3.connect(daemon.database, isolation_level=None, timeout=5)) as outsider:
        for turn in range(3):
            client.query(f"INSERT INTO t VALUES ({turn})").check()
            if is_paused:
                console.query("PAUSE").check()
            outsider.execute("DELETE FROM filler" if turn == 0 else "INSERT INTO filler VALUES (1)")
            outsider.execute("VACUUM")
            if not is_paused:
                # The writer's snapshot ends, and the readers' are of after the VACUUM.
                eventually(lambda: client.query("SELECT count(*) FROM t").value == str(turn + 1)
                           and len({*outsider.execute(f"PRAGMA wal_checkpoint({checkpoint})").fetchone()[1:]}) == 1)
            else:
                outsider.execute(f"PRAGMA wal_checkpoint({checkpoint})")
                console.query("RESUME").check()
        client.query("INSERT INTO t VALUES (3)").check()
    assert daemon.database.stat().st_size < 100_000
    assert "opened again" not in daemon.errors
    daemon.stop()
    assert rows(daemon.database) == [0, 1, 2, 3]


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_the_start_waits_a_moment_for_an_outsider(start_daemon, journal):
    daemon = start_daemon()
    daemon.run("CREATE TABLE t (x)")
    daemon.stop()
    outsider = sqlite3.connect(daemon.database, isolation_level=None, check_same_thread=False)
    with closing(outsider):
        assert outsider.execute(f"PRAGMA journal_mode = {journal}").fetchone() == (journal,)
        outsider.execute("PRAGMA locking_mode = EXCLUSIVE")
        outsider.execute("BEGIN EXCLUSIVE")
        outsider.execute("INSERT INTO t VALUES (1)")

        def leave():
            outsider.execute("COMMIT")
            outsider.close()

        leaving = threading.Timer(0.3, leave)
        leaving.start()
        daemon.restart()
        leaving.join()
    assert daemon.value("SELECT x FROM t") == "1"


@pytest.mark.parametrize("lock", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_an_outsider_that_keeps_the_lock_is_named(daemon, outsider, lock):
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    other = outsider(daemon.database)
    other(lock)
    waiting, hasty, reader = (daemon.client() for _ in range(3))
    waiting.send(wire.query("INSERT INTO t VALUES (2)"))
    hasty.query("SET lock_timeout = '300ms'").check()
    reply = hasty.query("INSERT INTO t VALUES (3)")
    assert reply.error["C"] == "55P03" and reply.status == "I"
    eventually(lambda: f"(process {os.getpid()})" in daemon.errors, "the outsider's name in the log")
    assert reader.value("SELECT count(*) FROM t") == "1", "reads go on"
    assert not waiting.has_reply()
    other("INSERT INTO t VALUES (4)")
    other("COMMIT")
    assert waiting.reply().tag == "INSERT 0 1"
    assert daemon.run("SELECT x FROM t ORDER BY x").texts == [("1",), ("2",), ("4",)]


def test_an_outsider_that_writes_all_the_time(start_daemon):
    # No checkpoint while two processes write: SQLite before 3.51.3 may corrupt the file then
    # (https://www.sqlite.org/wal.html#walresetbug), and that is not what is tested here.
    daemon = start_daemon(config="checkpoint_frames = 10000000\n")
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, writer INTEGER, n INTEGER)")
    enough, writers, stop = 50, 4, threading.Event()
    written, failures = {}, []

    def write_outside():
        with closing(sqlite3.connect(daemon.database, isolation_level=None, timeout=30)) as connection:
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            for n in range(1_000_000):
                if stop.is_set():
                    return
                connection.execute("INSERT INTO t (writer, n) VALUES (0, ?)", (n,))
                written[0] = n + 1

    def write_inside(writer):
        with wire.Client(daemon.socket_path) as client:
            client.start(database=daemon.name)
            for n in range(1_000_000):
                if stop.is_set():
                    return
                reply = client.query(f"INSERT INTO t (writer, n) VALUES ({writer}, {n})")
                if reply.closed or reply.errors:
                    failures.append(reply)
                    return
                written[writer] = n + 1

    threads = [threading.Thread(target=write_outside)]
    threads += [threading.Thread(target=write_inside, args=(writer,)) for writer in range(1, writers + 1)]
    for thread in threads:
        thread.start()
    try:
        eventually(lambda: failures or all(written.get(writer, 0) >= enough for writer in range(writers + 1)),
                   "everybody's progress")
        assert daemon.value("SELECT count(*) > 0 FROM t") == "t", "reads go on"
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures
    counted = daemon.run("SELECT writer, count(*), max(n) + 1 FROM t GROUP BY writer").texts
    assert counted == [(str(writer), str(n), str(n)) for writer, n in sorted(written.items())], "no row is lost"
    assert daemon.value("PRAGMA integrity_check") == "ok"


# Disks


@contextmanager
def mounted(directory, *arguments):
    """A file system of the test's own; the test is skipped where none can be mounted."""
    directory.mkdir()
    command = ["mount", *arguments, str(directory)]
    done = subprocess.run(command, capture_output=True, text=True) if os.getuid() == 0 else None
    if done is None or done.returncode != 0:
        pytest.skip(f"{' '.join(command)}: {done.stderr.strip() if done else 'needs root'}")
    try:
        yield directory
    finally:
        # The daemon still has files open on it: it goes when they are closed.
        subprocess.run(["umount", "--lazy", str(directory)], check=True)


@pytest.fixture
def small_disk(tmp_path):
    with mounted(tmp_path / "small", "-t", "tmpfs", "-o", "size=3m", "tmpfs") as directory:
        yield directory


def fill(client, first):
    """Inserts until the disk is full. Returns the rows that were acknowledged."""
    for n in range(first, 10_000):
        reply = client.query(f"INSERT INTO t VALUES ({n}, zeroblob(20000))")
        if reply.errors:
            assert reply.error["C"] == "53100" and reply.status == "I", reply
            return list(range(first, n))
    raise AssertionError("the disk is never full")


def stored(client):
    return [int(x) for x, in client.query("SELECT x FROM t ORDER BY x").check().texts]


@pytest.mark.parametrize("synchronous", ["full", "pipelined"])
def test_a_full_disk(small_disk, start_daemon, synchronous):
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1_000_000))
    daemon = start_daemon(small_disk / "app.db", options=["--synchronous", synchronous])
    client, other = daemon.client(), daemon.client()
    client.query("CREATE TABLE t (x INTEGER PRIMARY KEY, y)").check()
    acknowledged = fill(client, 0)
    assert stored(client) == stored(other) == acknowledged, "reads go on, and have what was acknowledged"
    # A block is rolled back as a whole, and a group's members are told one by one.
    client.query("BEGIN").check()
    while not (reply := client.query("INSERT INTO t VALUES ((SELECT max(x) + 1 FROM t), zeroblob(20000))")).errors:
        pass
    assert reply.error["C"] == "53100" and reply.status == "E"
    assert client.query("SELECT 1").error["C"] == "25P02"
    assert client.query("COMMIT").tag == "ROLLBACK"
    assert stored(client) == acknowledged
    client.query("BEGIN IMMEDIATE").check()
    waiting = [daemon.client() for _ in range(4)]
    for number, session in enumerate(waiting):
        session.send(wire.query(f"INSERT INTO t VALUES ({20_000 + number}, zeroblob(300000))"))
    daemon.settle(*waiting)
    client.query("ROLLBACK").check()
    for session in waiting:
        assert session.reply().error["C"] == "53100"
    assert stored(other) == acknowledged
    # Room again, and the same sessions go on.
    ballast.unlink()
    for number, session in enumerate([client, other, *waiting], start=30_000):
        assert session.query(f"INSERT INTO t VALUES ({number}, zeroblob(20000))").tag == "INSERT 0 1"
        acknowledged.append(number)
    assert stored(client) == acknowledged
    assert daemon.value("PRAGMA integrity_check") == "ok"
    assert not error_lines(daemon), "a full disk is told to the client, not to the log"


@pytest.mark.parametrize("synchronous", ["full", "pipelined"])
def test_a_full_disk_keeps_nobody_out(small_disk, start_daemon, outsider, synchronous):
    """More than the page cache holds is written before the commit, and SQLite keeps the error for as long as it keeps a snapshot:
    it must not keep the write lock with them."""
    daemon = start_daemon(small_disk / "app.db", options=["--synchronous", synchronous])
    client = daemon.client()
    client.query("CREATE TABLE t (x INTEGER PRIMARY KEY, y)").check()
    client.query("INSERT INTO t VALUES (1, 'kept')").check()
    other = outsider(daemon.database)
    other("PRAGMA busy_timeout = 0")
    endless = "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n) INSERT INTO t SELECT i, zeroblob(3000) FROM n"
    for sql in "INSERT INTO t VALUES (2, zeroblob(4000000))", endless:
        assert client.query(sql).error["C"] == "53100"
        other("BEGIN IMMEDIATE")
        other("ROLLBACK")
    client.query("INSERT INTO t VALUES (2, 'more')").check()
    assert stored(client) == [1, 2]


def test_a_checkpoint_on_a_full_disk(small_disk, start_daemon):
    daemon = start_daemon(small_disk / "app.db", config="checkpoint_frames = 50\n")
    client = daemon.client()
    client.query("CREATE TABLE t (x INTEGER PRIMARY KEY, y)").check()
    acknowledged = fill(client, 0)
    half = len(acknowledged) // 2
    assert stored(client) == acknowledged
    daemon.kill()
    daemon.restart()
    client = daemon.client()
    assert stored(client) == acknowledged
    reply = client.query(f"DELETE FROM t WHERE x < {half}")
    assert reply.errors == [] or reply.error["C"] == "53100"
    if not reply.errors:
        acknowledged = acknowledged[half:]
    assert stored(client) == acknowledged
    assert client.value("PRAGMA integrity_check") == "ok"


@pytest.fixture
def failing_disk(tmp_path):
    """A disk whose file system can be told to become read-only, as the kernel makes it after an error."""
    image = tmp_path / "image"
    with open(image, "wb") as file:
        file.truncate(16 << 20)
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("mkfs.ext4 is not installed")
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    with mounted(tmp_path / "failing", "-o", "loop,errors=remount-ro", str(image)) as directory:
        device = os.path.basename(subprocess.run(
            ["findmnt", "-n", "-o", "SOURCE", directory], capture_output=True, text=True, check=True).stdout.strip())
        trigger = f"/sys/fs/ext4/{device}/trigger_fs_error"
        if not os.path.exists(trigger):
            pytest.skip(f"{trigger} is not there")

        def fail():
            # "errors=remount-ro: Remount the filesystem read-only on an error", ext4(5); a plain `mount -o remount,ro`
            # is refused while files are open for writing.
            with open(trigger, "w") as file:
                file.write("1")

        directory.chmod(0o755)
        yield directory, fail


@pytest.mark.parametrize("how", ["single", "block"])
def test_a_disk_that_becomes_read_only(start_daemon, failing_disk, how):
    directory, fail = failing_disk
    daemon = start_daemon(directory / "app.db")
    daemon.may_fail = True
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    client = daemon.client()
    if how == "single":
        fail()
        reply = client.query("INSERT INTO t VALUES (2)")
    else:
        client.query("BEGIN; INSERT INTO t VALUES (2)").check()
        fail()
        reply = client.query("COMMIT")
    assert not reply.tags and reply.error["C"] in NOT_ACKNOWLEDGED, reply
    check_exit(daemon)


def test_a_file_that_can_only_be_read(failing_disk, tmp_path):
    directory, fail = failing_disk
    path = directory / "app.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
    fail()
    check_refusal(run(path, "--socket-directory", tmp_path), str(path), "written")


@pytest.mark.parametrize("closed", ["app.db", "app.db-wal", "app.db-shm", ""])
def test_what_cannot_be_written_is_named(closed):
    """The file, or what lies beside it: SQLite says of each that the database is readonly."""
    with tempfile.TemporaryDirectory(prefix="walpool-") as place:
        program, data = Path(place, "walpoold"), Path(place, "data")
        shutil.copy(binary(), program)
        data.mkdir()
        with closing(sqlite3.connect(data / "app.db")) as connection:
            connection.executescript("PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
            if closed:
                # As a process leaves them that was killed.
                for name in ("app.db-wal", "app.db-shm"):
                    shutil.copy(data / name, data / f"{name}.kept")
        for kept in data.glob("*.kept"):
            kept.rename(kept.with_suffix(""))
        for path in (Path(place), data, *data.iterdir()):
            path.chmod(0o777)
        (data / closed).chmod(0o555)
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        result = subprocess.run(
            [program, data / "app.db", "--socket-directory", place], capture_output=True, text=True, timeout=60, **user)
        check_refusal(result, f"{data / closed if closed else f'the directory {data}'} cannot be written by this process")
