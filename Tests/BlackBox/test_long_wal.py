"""A -wal that a transaction has made long which was rolled back: it is no longer than it may be, and a full disk has its room again."""

import contextlib
import sqlite3
from pathlib import Path

import pytest

import wire
from daemon import eventually
from files_fixtures import wal
from service import Stalls
from test_files_disks import mounted, stored

ROWS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})"
LARGE = f"INSERT INTO large {ROWS} SELECT randomblob(1000) FROM n"
LIMIT = 4_000_000


@pytest.fixture
def disk(tmp_path):
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=24m", "tmpfs") as directory:
        yield directory


# The row 1 is there already, and the last of 20,000.
LARGE_AND_WRONG = f"INSERT INTO t {ROWS} SELECT {{}} + 1 - i, zeroblob(1000) FROM n"


@pytest.mark.parametrize("synchronous", ["full", "pipelined", "normal"])
@pytest.mark.parametrize("large, state", [
    (f"BEGIN; {LARGE}; ROLLBACK", None), (LARGE_AND_WRONG, "23505"),
    (f"BEGIN; SAVEPOINT s; {LARGE}; ROLLBACK TO s; INSERT INTO t VALUES (0, ''); COMMIT", None)])
@pytest.mark.optimised("pipelined", "normal")
def test_it_is_cut(start_daemon, synchronous, large, state):
    daemon = start_daemon(options=["--synchronous", synchronous], config=f"wal_limit_bytes = {LIMIT}\n")
    daemon.run("CREATE TABLE t (x INTEGER PRIMARY KEY, y)", "CREATE TABLE large (z)", "INSERT INTO t VALUES (1, 'a')")
    with daemon.client() as client:
        assert client.query(large.format(20_000, 20_000)).state == state
        # What a savepoint has left behind a commit goes with the next checkpoint.
        for number in range(2, 400):
            client.query(f"INSERT INTO t VALUES ({number}, zeroblob(4000))").check()
    assert wal(daemon).stat().st_size < 2 * LIMIT
    daemon.kill()
    daemon.restart()
    assert daemon.value("SELECT count(*) FROM t WHERE x > 0") == "399" and daemon.value("PRAGMA integrity_check") == "ok"


@pytest.mark.parametrize("synchronous", ["full", "pipelined"])
def test_it_is_cut_behind_a_snapshot(start_daemon, synchronous):
    """
    reader            | writer
    BEGIN READ ONLY   |
                      | INSERT, and many that are rolled back
    SELECT            |
    """
    daemon = start_daemon(options=["--synchronous", synchronous], config=f"wal_limit_bytes = {LIMIT}\n")
    daemon.run("CREATE TABLE t (x)", "CREATE TABLE large (z)", "INSERT INTO t VALUES (1), (2)")
    with daemon.client() as reader, daemon.client() as writer:
        reader.query("BEGIN READ ONLY").check()
        assert reader.value("SELECT count(*) FROM t") == "2"
        writer.query("INSERT INTO t VALUES (3)").check()
        writer.query(f"BEGIN; {LARGE.format(20_000)}; ROLLBACK").check()
        assert wal(daemon).stat().st_size < 2 * LIMIT
        with daemon.client(database="walpool") as admin:
            assert dict(admin.query("SHOW WAL").check().texts)["file_bytes"] == str(wal(daemon).stat().st_size)
        assert reader.value("SELECT count(*) FROM t") == "2" and writer.value("SELECT count(*) FROM t") == "3"
        assert reader.value("SELECT count(*) FROM large") == "0"


@pytest.mark.parametrize("synchronous", ["full", "pipelined"])
@pytest.mark.parametrize("limit", [LIMIT, 64 << 20])
@pytest.mark.optimised("pipelined")
def test_a_full_disk_has_its_room_again(disk, start_daemon, synchronous, limit):
    """It is no matter of `wal_limit_bytes`: who had no room has none of the others'."""
    daemon = start_daemon(disk / "app.db", options=["--synchronous", synchronous], config=f"wal_limit_bytes = {limit}\n")
    client, other = daemon.client(), daemon.client()
    client.query("CREATE TABLE t (x INTEGER PRIMARY KEY, y); CREATE TABLE large (z)").check()
    for number in range(200):
        other.query(f"INSERT INTO t VALUES ({number}, zeroblob(3000))").check()
    assert client.query(LARGE.format(100_000)).state == "53100"
    for number in range(200, 1500):
        other.query(f"INSERT INTO t VALUES ({number}, zeroblob(3000))").check()
    with daemon.client(database="walpool") as admin:
        admin.query("CHECKPOINT").check()
    daemon.stop()
    daemon.restart()
    assert daemon.value("SELECT count(*) FROM t") == "1500" and daemon.value("PRAGMA integrity_check") == "ok"


def test_a_rollback_does_not_wait_for_the_disk(start_service, tmp_path):
    """
    writer                    | committer
                              | INSERT: its sync hangs
    BEGIN, a large INSERT     |
    ROLLBACK: it is answered  |
                              | is answered when the disk answers
    CHECKPOINT: it is cut
    """
    stalls = Stalls(tmp_path)
    daemon = start_service(stalls=stalls, options=["--synchronous", "pipelined"], config=f"wal_limit_bytes = {LIMIT}\n")
    daemon.run("CREATE TABLE t (x)", "CREATE TABLE large (z)")
    with daemon.client() as writer, daemon.client() as committer:
        stalls.arm("sync")
        committer.send(wire.query("INSERT INTO t VALUES (1)"))
        eventually(lambda: stalls.calls > 0, "the sync")
        for sql in "BEGIN", LARGE.format(20_000), "ROLLBACK":
            writer.query(sql).check()
        assert not committer.has_reply()
        stalls.release()
        committer.reply().check()
        with daemon.client(database="walpool") as admin:
            admin.query("CHECKPOINT").check()
        assert wal(daemon).stat().st_size < 2 * LIMIT
    assert daemon.value("SELECT count(*) FROM t") == "1"


def test_a_link_to_the_database(start_daemon, tmp_path):
    """Its -wal is called after the file."""
    (tmp_path / "real").mkdir()
    (tmp_path / "app.db").symlink_to(tmp_path / "real" / "app.db")
    daemon = start_daemon(tmp_path / "app.db")
    daemon.run("CREATE TABLE t (x)")
    with daemon.client(database="walpool") as admin:
        shown = dict(admin.query("SHOW WAL").check().texts)["file_bytes"]
    assert shown == str((tmp_path / "real" / "app.db-wal").stat().st_size) != "0"


def test_what_has_no_room_for_another_reason(start_daemon):
    """SQLite says of an AUTOINCREMENT at its end that the disk is full. The others' room is kept."""
    daemon = start_daemon()
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT)", "INSERT INTO t VALUES (9223372036854775807)", "CREATE TABLE u (x)")
    before = wal(daemon).stat().st_size
    with daemon.client() as client:
        for number in range(5):
            assert client.query("INSERT INTO t DEFAULT VALUES").state == "53100"
            # The next row would make it as long again.
            assert wal(daemon).stat().st_size >= before
            client.query(f"INSERT INTO u VALUES ({number})").check()


def test_a_checkpoint_that_has_no_room(disk, start_daemon):
    """A transaction was rolled back that did not meet the end of the disk. Other files have, since."""
    daemon = start_daemon(disk / "app.db")
    client = daemon.client()
    client.query("CREATE TABLE t (x INTEGER PRIMARY KEY, y); CREATE TABLE large (z)").check()
    client.query(f"BEGIN; {LARGE.format(14_000)}; ROLLBACK").check()
    client.query(f"INSERT INTO t {ROWS.format(500)} SELECT i, zeroblob(3000) FROM n").check()
    before = wal(daemon).stat().st_size
    assert before > 12_000_000
    free = 24 << 20
    with open(disk / "ballast", "wb") as ballast:
        try:
            while free > 0:
                free -= ballast.write(bytes(65_536))
                ballast.flush()
        except OSError:
            pass
    with daemon.client(database="walpool") as admin:
        admin.query("CHECKPOINT").check()
    assert wal(daemon).stat().st_size < before
    assert len(stored(client)) == 500


@pytest.mark.parametrize("synchronous", ["full", "pipelined"])
@pytest.mark.parametrize("fails", ["INSERT INTO t VALUES (1, 3)", "BEGIN; UPDATE t SET y = 5; ROLLBACK"])
def test_what_an_outsider_has_committed_by_another_index(start_daemon, synchronous, fails):
    """Its -shm was deleted: the lock that the daemon has keeps nobody from the -wal, and its index does not know what is there."""
    daemon = start_daemon(options=["--synchronous", synchronous], config=f"wal_limit_bytes = {LIMIT}\n")
    daemon.may_fail = True
    daemon.run("CREATE TABLE t (x PRIMARY KEY, y)", "INSERT INTO t VALUES (1, 2)", "CREATE TABLE o (x, y)")
    with daemon.client() as client:
        Path(f"{daemon.database}-shm").unlink()
        with contextlib.closing(sqlite3.connect(daemon.database, isolation_level=None)) as outsider:
            outsider.execute("PRAGMA wal_autocheckpoint = 0")
            outsider.execute(f"INSERT INTO o {ROWS.format(2_000)} SELECT i, zeroblob(3000) FROM n")
            length = wal(daemon).stat().st_size
            assert length > LIMIT
            client.query(fails)
            assert wal(daemon).stat().st_size == length
            assert outsider.execute("SELECT count(*) FROM o").fetchone() == (2_000,)
            assert outsider.execute("PRAGMA integrity_check").fetchone() == ("ok",)
