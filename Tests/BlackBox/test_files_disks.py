"""Files on a disk that is full, fails, or can only be read."""

import os
import shutil
import sqlite3
import subprocess
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import wire
from daemon import binary, eventually
from files_fixtures import check_exit, error_lines, NOT_ACKNOWLEDGED
from identity import NOBODY
from lifecycle_fixtures import check_refusal, run


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
@pytest.mark.parametrize("free_pages", [4, 7, 13])
def test_a_commit_that_ends_in_zeros(small_disk, start_daemon, synchronous, free_pages):
    """What there is no room for is zeros, as what stands there already, or comes there as room ahead: its frames would be a commit to who
    makes the index anew."""
    daemon = start_daemon(small_disk / "app.db", options=["--synchronous", synchronous])
    client = daemon.client()
    client.query("CREATE TABLE t (x INTEGER PRIMARY KEY, y); INSERT INTO t VALUES (1, zeroblob(3000))").check()
    there = os.statvfs(small_disk)
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes((there.f_bavail - free_pages) * there.f_frsize))
    for refused in range(2, 1000):
        reply = client.query(f"INSERT INTO t VALUES ({refused}, zeroblob(3900))")
        if reply.errors:
            break
    assert reply.state == "53100"
    acknowledged = list(range(1, refused))
    daemon.kill()
    ballast.unlink()
    daemon.restart()
    with daemon.client() as another:
        assert stored(another) == acknowledged
        another.query("BEGIN; INSERT INTO t VALUES (1000, 'is never committed')").check()
        daemon.kill()
    daemon.restart()
    assert stored(daemon.client()) == acknowledged


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


@pytest.mark.parametrize("makes_room, how", [
    (True, "commit"), (True, "stop"), (False, "stop"), pytest.param(False, "commit", marks=pytest.mark.optimised)])
@pytest.mark.optimised("False-stop")
def test_a_wal_that_is_deleted_for_its_room(small_disk, start_daemon, makes_room, how):
    """Its room is not free before the daemon ends, and what is in it may have none in the database. Half of it would be damage."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1_400_000))
    daemon = start_daemon(small_disk / "app.db")
    daemon.may_fail = True
    client = daemon.client()
    client.query("CREATE TABLE t (x INTEGER PRIMARY KEY, y)").check()
    with daemon.client(database="walpool") as admin:
        admin.query("CHECKPOINT").check()
    acknowledged = fill(client, 0)
    os.unlink(small_disk / "app.db-wal")
    if how == "commit":
        client.send(wire.query("INSERT INTO t VALUES (10000, 1)"))
    else:
        daemon.terminate()
    eventually(lambda: "the disk has no room for what was committed in it" in daemon.errors, "the warning")
    if makes_room:
        ballast.unlink()
        if how == "commit":
            assert client.reply().state in ("08007", "58030")
            daemon.stop()
    daemon.wait()
    with closing(sqlite3.connect(small_disk / "app.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        there = [x for x, in connection.execute("SELECT x FROM t WHERE x < 10000 ORDER BY x")]
    assert there == (acknowledged if makes_room else []), daemon.errors


def test_a_checkpoint_on_a_full_disk(small_disk, start_daemon):
    """What it has copied of a -wal that has taken all the room is half a database, and what it has not is still in there."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1_700_000))

    def failed(count):
        return eventually(lambda: daemon.errors.count("error: checkpoint failed") >= count, f"checkpoint {count} failing")

    # None before the disk is full, so that there is more to copy than there is room for.
    daemon = start_daemon(small_disk / "app.db", config="checkpoint_frames = 1000000\n")
    client = daemon.client()
    client.query("CREATE TABLE t (x INTEGER PRIMARY KEY, y)").check()
    acknowledged = fill(client, 0)
    with daemon.client(database="walpool") as admin:
        assert admin.query("CHECKPOINT").state == "53100"
    failed(1)
    assert stored(client) == acknowledged
    daemon.kill()
    # One that is due by itself does not get further.
    daemon.config = "checkpoint_frames = 50\n"
    daemon.restart()
    client = daemon.client()
    assert stored(client) == acknowledged
    half = len(acknowledged) // 2
    assert client.query(f"DELETE FROM t WHERE x < {half}").state == "53100"
    failed(2)
    assert stored(client) == acknowledged
    assert client.value("PRAGMA integrity_check") == "ok"
    # Room again.
    ballast.unlink()
    with daemon.client(database="walpool") as admin:
        assert admin.query("CHECKPOINT").tag == "CHECKPOINT"
    assert client.query(f"DELETE FROM t WHERE x < {half}").tag == f"DELETE {half}"
    assert stored(client) == acknowledged[half:]
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
