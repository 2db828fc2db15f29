"""What is put into the place of the database, or of its -wal, while others have it open; and a -wal that is made shorter."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing, suppress

import pytest

import wire
from daemon import eventually
from files_fixtures import (  # noqa: F401 (fixtures)
    check_exit, check_not_acknowledged, committing, committing_all_the_time, replace, rows, wal, watched)
from service import Stalls


@pytest.fixture
def snapshot(tmp_path):
    """A backup that was taken as two files: the rows are in its -wal."""
    path = tmp_path / "snapshot.db"
    with closing(sqlite3.connect(tmp_path / "source.db", isolation_level=None)) as source:
        source.executescript("PRAGMA journal_mode = WAL; CREATE TABLE t (x); PRAGMA wal_checkpoint; INSERT INTO t VALUES (1000)")
        for name in ("", "-wal"):
            path.with_name(path.name + name).write_bytes((tmp_path / f"source.db{name}").read_bytes())
    return path


@pytest.mark.parametrize("aside", [True, False])
@pytest.mark.parametrize("ends", [True, False])
def test_a_backup_that_is_put_in_place_beside_a_reader(watched, aside, ends):
    """Its snapshot keeps the -wal from being emptied. The service manager starts the daemon again, and those frames are not the backup's."""
    with closing(sqlite3.connect(watched.database, isolation_level=None)) as outsider:
        outsider.execute("BEGIN")
        assert outsider.execute("SELECT x FROM t").fetchall() == [(1,)]
        watched.run(*[f"INSERT INTO t VALUES ({number})" for number in range(2, 30)])
        if aside:
            os.link(watched.database, watched.directory / "aside.db")
        replace(watched)
        if ends:
            watched.terminate()
        else:
            check_not_acknowledged([watched.client().query("INSERT INTO t VALUES (30)")])
        check_exit(watched)
        watched.restart()
        assert watched.value("SELECT x FROM t") == "1000"
        watched.run("INSERT INTO t VALUES (1001)")
        assert outsider.execute("SELECT x FROM t").fetchall() == [(1,)]
        outsider.execute("COMMIT")
        assert [x for x, in outsider.execute("SELECT x FROM t")][:29] == list(range(1, 30))
        outsider.execute("INSERT INTO t VALUES (31)")
    watched.run("INSERT INTO t VALUES (1002)")
    watched.terminate()
    assert watched.wait() == 0
    assert rows(watched.database) == [1000, 1001, 1002]
    lost = watched.directory / "app.db-wal.lost"
    assert str(lost) in watched.errors
    if aside:
        os.rename(lost, watched.directory / "aside.db-wal")
        assert set(range(1, 30)) | {31} <= set(rows(watched.directory / "aside.db"))


@pytest.mark.optimised("pipelined")
def test_a_file_that_comes_back_beside_a_reader(watched):
    """Nothing came in its place: it is not whole without its -wal."""
    aside = watched.directory / "aside.db"
    with closing(sqlite3.connect(watched.database, isolation_level=None)) as outsider:
        outsider.execute("BEGIN")
        assert outsider.execute("SELECT x FROM t").fetchall() == [(1,)]
        watched.run(*[f"INSERT INTO t VALUES ({number})" for number in range(2, 30)])
        os.rename(watched.database, aside)
        check_not_acknowledged([watched.client().query("INSERT INTO t VALUES (30)")])
        check_exit(watched)
    os.rename(aside, watched.database)
    watched.restart()
    assert watched.value("SELECT count(*) FROM t WHERE x < 30") == "29"


def test_a_file_that_is_written_over(committing):
    """`cp` empties it first. What was in the -wal is not for what is written there then."""
    committing.may_fail = True
    other = committing.directory / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.executescript("CREATE TABLE t (x); INSERT INTO t VALUES (1000)")
    with open(committing.database, "r+b") as file:
        file.truncate()
        client = committing.client()
        client.send(wire.query("INSERT INTO t VALUES (20)"))
        eventually(lambda: "the writer cannot go on" in committing.errors)
        file.write(other.read_bytes())
    check_exit(committing)
    assert rows(committing.database) == [1000]


@pytest.mark.parametrize("order", [["-wal", ""], ["", "-wal"]])
def test_a_backup_of_two_files(committing, snapshot, order):
    """In either order. Its -wal is not written into, although it stands beside the old database for a moment."""
    committing.may_fail = True
    client = committing.client()
    for name in order:
        os.replace(f"{snapshot}{name}", f"{committing.database}{name}")
        with suppress(OSError):  # The daemon may have ended.
            client.send(wire.query("INSERT INTO t VALUES (20)"))
    check_exit(committing)
    assert rows(committing.database) == [1000]


@pytest.mark.parametrize("lost", [["-wal"], ["-shm"], ["-wal", "-shm"]], ids="".join)
@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("pause", [0, 0.004])
def test_a_backup_of_two_files_by_a_shell(committing, snapshot, lost, ends, pause):
    """What is beside the old database is deleted first. The backup's -wal, which comes before its database, stays where it is put."""
    committing.may_fail = True
    database = committing.database
    end = f"kill -TERM {committing.pid};" if ends else ""
    with committing_all_the_time(committing):
        subprocess.run(f"rm {' '.join(f'{database}{name}' for name in lost)}; {end} sleep {pause};"
                       f"mv {snapshot}-wal {database}-wal; mv {snapshot} {database}", shell=True, check=True)
        committing.wait() if ends else check_exit(committing)
    assert rows(committing.database) == [1000]


@pytest.mark.parametrize("moment", ["rename -wal", "unlink -wal"])
@pytest.mark.parametrize("put", [os.replace, shutil.copyfile])
def test_a_wal_that_is_replaced_as_it_is_deleted(start_daemon, snapshot, tmp_path, monkeypatch, moment, put):
    """Between the daemon's look and its deleting, where nobody else can tell what the name stands for."""
    stalls = Stalls(tmp_path)
    with monkeypatch.context() as patch:
        for name, value in stalls.environment.items():
            patch.setenv(name, value)
        daemon = start_daemon()
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    stalls.arm(moment)
    daemon.terminate()
    eventually(lambda: stalls.calls, "the last file to delete")
    put(f"{snapshot}-wal", wal(daemon))
    put(snapshot, daemon.database)
    stalls.release()
    assert daemon.wait() == 0
    assert rows(daemon.database) == [1000]
    assert not [name for name in os.listdir(daemon.directory) if "-wal." in name]


def test_what_a_killed_daemon_has_left_aside(start_daemon):
    """It is killed while the -wal has the name that it has only to be deleted: what somebody has put there then is told of."""
    daemon = start_daemon(start=False)
    empty, theirs = (daemon.directory / f"app.db-wal.closing{number}" for number in ("", "2"))
    empty.write_bytes(b"")
    theirs.write_bytes(b"theirs")
    notes = daemon.directory / "app.db-wal.closing-notes.txt"
    notes.write_bytes(b"")
    daemon.start()
    eventually(lambda: str(theirs) in daemon.errors, "a line about it")
    assert theirs.read_bytes() == b"theirs" and not empty.exists() and notes.exists()
    daemon.may_fail = True


def test_a_name_that_leaves_no_room(start_daemon, tmp_path):
    """For the name that the -wal would have while it is deleted."""
    daemon = start_daemon(tmp_path / ("d" * 244 + ".db"))
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    daemon.stop()
    assert [name for name in os.listdir(tmp_path) if name.endswith(".db-wal")] == []
    assert rows(daemon.database) == [1]


@pytest.mark.optimised("pipelined", "normal")
def test_the_wal_of_another_database(committing, snapshot):
    """Alone: it is moved out of the way, as it is."""
    committing.may_fail = True
    theirs = snapshot.with_name(snapshot.name + "-wal")
    content = theirs.read_bytes()
    os.replace(theirs, wal(committing))
    check_not_acknowledged([committing.client().query("INSERT INTO t VALUES (20)")])
    eventually(lambda: "opened again and is whole" in committing.errors)
    committing.run("INSERT INTO t VALUES (21)")
    committing.stop()
    assert set(range(1, 20)) | {21} <= set(rows(committing.database))
    assert (committing.directory / "app.db-wal.lost").read_bytes() == content


@pytest.fixture(params=["full", "pipelined", pytest.param("normal", marks=pytest.mark.optimised)])
def growing(start_daemon, request, tmp_path):
    """A daemon that copies its -wal soon; the database has rows, and some more are in the -wal."""
    daemon = start_daemon(
        options=["--synchronous", request.param], config=f'checkpoint_frames = 50\nbackup_directory = "{tmp_path}"\n')
    daemon.run("CREATE TABLE filler (x)", "CREATE TABLE t (x)", *[f"INSERT INTO t VALUES ({number})" for number in range(1, 20)])
    daemon.stop()
    daemon.restart()
    daemon.run("INSERT INTO filler VALUES (zeroblob(30000))", *[f"INSERT INTO t VALUES ({number})" for number in range(20, 25)])
    return daemon


@pytest.fixture
def larger_wal(tmp_path):
    """Of another database, which has tables of the same names."""
    with closing(sqlite3.connect(tmp_path / "theirs.db", isolation_level=None)) as other:
        other.executescript("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE filler (x); CREATE TABLE t (x)")
        for number in range(1000, 1200):
            other.execute("INSERT INTO t VALUES (?)", (number,))
            other.execute("INSERT INTO filler VALUES (zeroblob(3000))")
        return shutil.copyfile(tmp_path / "theirs.db-wal", tmp_path / "larger-wal")


def write_over(path, other):
    """`cp` empties it first; it stays the same file."""
    file = os.stat(path).st_ino
    subprocess.run(["cp", other, path], check=True)
    assert os.stat(path).st_ino == file


@pytest.mark.optimised("pipelined-CHECKPOINT", "pipelined-VACUUM", "pipelined-BACKUP")
@pytest.mark.parametrize("then", ["stop", "CHECKPOINT", "VACUUM", "BACKUP TO 'made.db'", "commit"])
def test_a_larger_wal_that_is_written_over_it(growing, larger_wal, tmp_path, then):
    """Nothing of it may get into the database, neither by a checkpoint nor by the next start, or into a backup."""
    growing.may_fail = True
    client = growing.client()
    if then == "commit":
        client.query("BEGIN; INSERT INTO t VALUES (25)").check()
    write_over(wal(growing), larger_wal)
    if then == "stop":
        growing.terminate()
    elif then == "commit":
        check_not_acknowledged([client.query("COMMIT")])
    else:
        with growing.client(database="walpool") as admin:
            admin.query(then)
    check_exit(growing)
    assert "app.db-wal was written over by one of another database" in growing.errors
    assert not (tmp_path / "made.db").exists()
    assert rows(growing.database) == list(range(1, 20))
    if then == "stop":
        assert (growing.directory / "app.db-wal.lost").read_bytes() == larger_wal.read_bytes()
    growing.restart()
    assert growing.value("SELECT max(x) FROM t") == "19"


@pytest.mark.optimised("pipelined")
def test_a_wal_of_the_same_length_that_is_written_over_it(growing, larger_wal, tmp_path):
    """No commit notices that, but the next checkpoint does."""
    growing.may_fail = True
    same = tmp_path / "same-wal"
    same.write_bytes(larger_wal.read_bytes()[:wal(growing).stat().st_size])
    client = growing.client()
    client.query("BEGIN; INSERT INTO t VALUES (25)").check()
    write_over(wal(growing), same)
    client.query("COMMIT").check()
    with growing.client(database="walpool") as admin:
        admin.query("CHECKPOINT")
    check_exit(growing)
    assert rows(growing.database) == list(range(1, 20))


@pytest.mark.parametrize("then", ["stop", "commit"])
def test_a_wal_that_is_written_over_when_all_of_it_was_copied(growing, larger_wal, then):
    """Nothing is lost, and nobody has to end."""
    with growing.client(database="walpool") as admin:
        admin.query("CHECKPOINT").check()
    write_over(wal(growing), larger_wal)
    if then == "commit":
        growing.run("INSERT INTO t VALUES (25)")
    growing.stop()
    assert rows(growing.database) == list(range(1, 26 if then == "commit" else 25))


@pytest.mark.parametrize("then", ["stop", "CHECKPOINT"])
def test_an_older_state_of_the_wal_that_is_written_over_it(growing, tmp_path, then):
    """Its header is the same, and it is as long as the one in place, because room is made ahead. What it has not got is lost, and
    nothing is copied."""
    growing.may_fail = True
    shutil.copyfile(wal(growing), tmp_path / "older-wal")
    growing.run("INSERT INTO t VALUES (25)")
    write_over(wal(growing), tmp_path / "older-wal")
    before = growing.database.read_bytes()
    if then == "stop":
        growing.terminate()
    else:
        with growing.client(database="walpool") as admin:
            admin.query(then)
    check_exit(growing)
    assert "app.db-wal was truncated or written over" in growing.errors
    assert growing.database.read_bytes() == before
    assert rows(growing.database) == list(range(1, 25))


def backup_over(daemon, tmp_path, kind):
    """`cp backup.db app.db`, of a backup that is no shorter than the database. Returns its rows."""
    backup = tmp_path / "backup.db"
    if kind == "another":
        with closing(sqlite3.connect(backup)) as other:
            other.executescript("CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(300000));"
                                "CREATE TABLE t (x); INSERT INTO t VALUES (1000)")
        found = [1000]
    else:
        with daemon.client(database="walpool") as admin, closing(sqlite3.connect(daemon.database, isolation_level=None)) as outsider:
            def copy_all():
                admin.query("CHECKPOINT").check()
                _, frames, copied = outsider.execute("PRAGMA wal_checkpoint").fetchone()
                return frames == copied

            eventually(copy_all, "a complete checkpoint")
            shutil.copyfile(daemon.database, backup)
            found = rows(backup)
            if kind == "an older one":
                daemon.run("UPDATE t SET x = x + 100")
                eventually(copy_all, "a complete checkpoint")
                # Nothing tells them apart but the rows themselves.
                assert daemon.database.read_bytes()[:100] == backup.read_bytes()[:100]
    daemon.run("UPDATE t SET x = x + 100")
    write_over(daemon.database, backup)
    return found


@pytest.mark.optimised(
    "pipelined-CHECKPOINT", "pipelined-VACUUM", "pipelined-BACKUP", "CHECKPOINT-another", "VACUUM-another", "made.db'-another")
@pytest.mark.parametrize("kind", ["another", "an older one"])
@pytest.mark.parametrize("then", ["commit", "stop", "CHECKPOINT", "VACUUM", "BACKUP TO 'made.db'"])
def test_a_backup_that_is_written_over_the_database(growing, tmp_path, kind, then):
    """Nobody gets a mixture of the two, neither there nor in a backup, and what was in the -wal is not for it."""
    growing.may_fail = True
    found = backup_over(growing, tmp_path, kind)
    if then == "stop":
        growing.terminate()
    elif then == "commit":
        check_not_acknowledged([growing.client().query("INSERT INTO t VALUES (25)")])
    else:
        with growing.client(database="walpool") as admin:
            admin.query(then)
    check_exit(growing)
    assert "was written over while it was served" in growing.errors
    assert not (tmp_path / "made.db").exists()
    assert rows(growing.database) == found
    growing.restart()
    assert growing.value("SELECT max(x) FROM t") == str(max(found))


def test_a_copy_of_what_is_in_the_file_already(growing, tmp_path):
    """It changes nothing, whoever it was that wrote it there."""
    found = backup_over(growing, tmp_path, "the same")
    os.utime(growing.database)
    growing.run("INSERT INTO t VALUES (25)")
    growing.stop()
    assert rows(growing.database) == sorted([25, *(x + 100 for x in found)])


@pytest.mark.parametrize("then", ["commit", "stop"])
def test_a_backup_that_is_written_over_a_database_without_commits_since(growing, tmp_path, then):
    """The next commit begins the -wal anew, as after a checkpoint."""
    growing.may_fail = True
    growing.stop()
    growing.restart()
    backup = tmp_path / "backup.db"
    with closing(sqlite3.connect(backup)) as other:
        other.executescript("CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(300000)); CREATE TABLE t (x); INSERT INTO t VALUES (1000)")
    write_over(growing.database, backup)
    if then == "commit":
        check_not_acknowledged([growing.client().query("INSERT INTO t VALUES (25)")])
    else:
        growing.terminate()
    check_exit(growing)
    assert rows(growing.database) == [1000]


@pytest.mark.parametrize("order", [["", "-wal"], ["-wal", ""]])
def test_a_backup_of_two_files_that_is_written_over_both(growing, snapshot, order):
    """`cp` in either order: the backup's -wal stays where it was put."""
    growing.may_fail = True
    client = growing.client()
    for name in order:
        subprocess.run(["cp", f"{snapshot}{name}", f"{growing.database}{name}"], check=True)
        with suppress(OSError):  # The daemon may have ended.
            client.send(wire.query("INSERT INTO t VALUES (25)"))
    check_exit(growing)
    assert rows(growing.database) == [1000]


@pytest.mark.optimised("normal")
@pytest.mark.parametrize("how", ["emptied", "cut"])
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("mode", ["full", "pipelined", "normal"])
def test_a_wal_that_is_made_shorter(start_daemon, mode, large, how):
    """The next commit makes it as long again, with a hole in it. Nothing is acknowledged behind that, and nothing is copied out of it."""
    daemon = start_daemon(options=["--synchronous", mode], config="checkpoint_frames = 20\n")
    daemon.run("CREATE TABLE t (x)", "CREATE TABLE f (x)", "INSERT INTO f VALUES (zeroblob(20000))")
    daemon.stop()
    daemon.restart()
    daemon.may_fail = True
    with closing(sqlite3.connect(daemon.database, isolation_level=None)) as outsider:
        if large:
            # Nobody makes room ahead any more.
            outsider.execute("BEGIN")
            outsider.execute("SELECT count(*) FROM t").fetchall()
        daemon.run(*[f"INSERT INTO t VALUES ({number})" for number in range(1, 60 if large else 10)])
        client = daemon.client()
        assert client.value("SELECT max(x) FROM t")
        os.truncate(wal(daemon), 0 if how == "emptied" else 5 * 4120)
        check_not_acknowledged([client.query("INSERT INTO t VALUES (1000)")])
        check_exit(daemon)
    assert "-wal was truncated" in daemon.errors
    with closing(sqlite3.connect(daemon.database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT length(x) FROM f").fetchall() == [(20000,)]


def test_a_wal_that_is_made_shorter_before_the_end(committing):
    """Nobody has committed since."""
    committing.may_fail = True
    committing.stop()
    committing.restart()
    committing.run("INSERT INTO t VALUES (20)")
    os.truncate(wal(committing), 0)
    committing.terminate()
    check_exit(committing)
    assert rows(committing.database) == list(range(1, 20))


def test_a_wal_that_is_made_shorter_by_who_may(committing):
    """A checkpoint of another process, and its limit for the file."""
    console = committing.client(database="walpool")
    with closing(sqlite3.connect(committing.database, isolation_level=None)) as outsider:
        outsider.execute("PRAGMA journal_size_limit = 0")
        for number in range(20, 40, 2):
            committing.run(f"INSERT INTO t VALUES ({number})")
            console.query("PAUSE").check()
            mode = "TRUNCATE" if number % 4 else "RESTART"
            eventually(lambda: outsider.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()[0] == 0)
            outsider.execute(f"INSERT INTO t VALUES ({number + 1})")
            console.query("RESUME").check()
    committing.run("INSERT INTO t VALUES (40)")
    committing.stop()
    assert "the writer cannot go on" not in committing.errors
    assert rows(committing.database) == list(range(1, 41))
