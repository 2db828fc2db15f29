"""What a full disk, a quota and a limit of file sizes cost: the statement that meets them, and nothing else."""

import os
import resource
import sqlite3
import subprocess
from contextlib import ExitStack, closing

import pytest

import wire
from daemon import eventually
from lifecycle_fixtures import check_refusal, run
from logs import field, line
from test_pipelined import faulty, faulty_daemon  # noqa: F401: a fixture

ALWAYS = 1_000_000


@pytest.mark.parametrize("error", ["ENOSPC", "EDQUOT", "EFBIG"])
@pytest.mark.parametrize("how", ["single", "block", "large"])
def test_no_room(faulty, error, how):  # noqa: F811
    daemon, control = faulty
    with daemon.client() as client, daemon.client() as reader:
        assert reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t").texts == [("0",)]
        if how == "block":
            client.query("BEGIN; INSERT INTO t VALUES (1)").check()
        # More than the page cache holds, so that pages are written before the commit.
        statement = {
            "single": "INSERT INTO t VALUES (1)", "block": "COMMIT",
            "large": "CREATE TABLE large AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000) "
                     "SELECT zeroblob(4000) FROM n",
        }[how]
        control.arm("write", 1, error, ALWAYS)
        reply = client.query(statement)
        assert reply.state == "53100" and reply.status == "I" and not reply.tags
        control.disarm()
        assert client.query("INSERT INTO t VALUES (2)").tag == "INSERT 0 1"
        assert client.query("SELECT id FROM t").texts == [("2",)]
        assert reader.query("SELECT count(*) FROM t").texts == [("0",)], "its snapshot stays"
    assert "opened again" not in daemon.errors


def test_no_room_for_a_start(tmp_path):
    """SQLite says "disk I/O error", and no word of why."""
    small = tmp_path / "small"
    small.mkdir()
    if os.getuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", small], capture_output=True).returncode:
        pytest.skip("cannot mount a small file system")
    try:
        with closing(sqlite3.connect(small / "app.db")) as connection:
            connection.execute("CREATE TABLE t (x)")
        (small / "full").write_bytes(bytes(44 << 10))
        result = run(small / "app.db", "--socket-directory", tmp_path)
        check_refusal(result, "cannot open", "bytes left")
        (small / "full").unlink()
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_limit_of_file_sizes(start_daemon):
    """Its signal, SIGXFSZ, ends a process that does not ignore it."""
    daemon = start_daemon()
    daemon.run("CREATE TABLE t (x)")
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))
    with daemon.client() as client, daemon.client() as other:
        reply = client.query("INSERT INTO t VALUES (zeroblob(4000000))")
        assert reply.state == "53100" and not reply.tags
        assert "limit of file sizes" in reply.errors[0]["H"]
        assert other.query("INSERT INTO t VALUES (1)").tag == "INSERT 0 1"
        assert other.query("SELECT x FROM t").texts == [("1",)]


def test_a_checkpoint_that_fails(faulty):  # noqa: F811
    """CHECKPOINT says so, and not how the one before it went."""
    daemon, control = faulty
    with daemon.client() as client, daemon.client(database="walpool") as admin:
        assert admin.query("CHECKPOINT").tag == "CHECKPOINT"
        assert client.query("INSERT INTO t VALUES (1)").tag == "INSERT 0 1"
        control.arm("write", 1, "ENOSPC", ALWAYS)
        reply = admin.query("CHECKPOINT")
        assert reply.state == "53100" and not reply.tags
        control.disarm()
        assert admin.query("CHECKPOINT").tag == "CHECKPOINT"


def test_a_stop_whose_last_checkpoint_fails(tmp_path, monkeypatch):
    """The file is not whole by itself then, which whoever copies it next has to be told."""
    with faulty_daemon(tmp_path, monkeypatch, file="app.db") as (daemon, control):
        daemon.run("INSERT INTO t VALUES (1)")
        control.arm("write", 1, "ENOSPC", ALWAYS)
        daemon.terminate()
        # A stop that was asked for: with another status `Restart=on-failure` would undo the console's SHUTDOWN.
        assert daemon.wait() == 0
        control.disarm()
        told = line(daemon, "the last checkpoint failed")
        assert f"{daemon.database}-wal has what was committed, and the database is not whole without it" in told
        assert field(told, "error") == "database or disk is full" and field(told, "hint").startswith("keep the -wal beside it")
        assert daemon.database.with_name("app.db-wal").stat().st_size > 0
        # By itself it has no table.
        with closing(sqlite3.connect(f"file:{daemon.database}?immutable=1", uri=True)) as alone:
            assert alone.execute("SELECT count(*) FROM sqlite_schema").fetchall() == [(0,)]
        daemon.restart()
        assert daemon.value("SELECT id FROM t") == "1"


@pytest.mark.parametrize("synchronous", ["full", "pipelined"])
def test_all_of_a_failed_group_are_told(tmp_path, monkeypatch, synchronous):
    """
    A                 | so many that two threads would send their replies
    BEGIN IMMEDIATE   |
                      | INSERT, wait
    ROLLBACK          |
                      | the sync fails: the thread that made it tells everybody, and only then begins what may end the process
    """
    # However slow the machine is, they are one group, and wait for it.
    config = 'group_time_limit = "10s"\nwriter_idle_limit = "1min"\n'
    with faulty_daemon(tmp_path, monkeypatch, synchronous=synchronous, config=config) as (daemon, control), ExitStack() as stack:
        holder = stack.enter_context(daemon.client())
        clients = [stack.enter_context(daemon.client()) for _ in range(60)]
        assert holder.query("BEGIN IMMEDIATE").tag == "BEGIN"
        for number, client in enumerate(clients):
            client.send(wire.query(f"INSERT INTO t VALUES ({number})"))
        daemon.settle(*clients)
        control.arm("sync", 1, "EIO", ALWAYS)
        assert holder.query("ROLLBACK").tag == "ROLLBACK"
        for client in clients:
            reply = client.reply()
            assert reply.state == "08007" and reply.status == "I" and not reply.tags


def test_copy_in_batches_says_what_is_unknown(faulty):  # noqa: F811
    daemon, control = faulty
    with daemon.client() as client:
        client.send(wire.query("COPY t FROM STDIN (BATCH 1)"))
        assert client.receive().kind == "G"
        control.arm("sync", 3, "EIO", 1)
        client.send(wire.message("d", b"".join(b"%d\n" % number for number in range(1, 8))), wire.message("c"))
        reply = client.reply()
        assert reply.state == "08007" and not reply.tags
        assert "had committed 2 rows" in reply.error["D"] and "the 1 behind them were is unknown" in reply.error["D"]
        eventually(lambda: client.query("SELECT count(*) FROM t").texts in ([("2",)], [("3",)]), "two rows or three")


def test_rows_that_break_a_rule_are_no_damage(faulty):  # noqa: F811
    """A disk that fails once ends nobody's daemon for a row that a CHECK would turn away today."""
    daemon, control = faulty
    with daemon.client() as client:
        assert client.query("CREATE TABLE checked (x CHECK (x > 0), y NOT NULL)").tag == "CREATE TABLE"
        with closing(sqlite3.connect(daemon.database)) as outsider:
            outsider.execute("PRAGMA ignore_check_constraints = 1")
            outsider.execute("INSERT INTO checked VALUES (-1, 1)")
            outsider.commit()
        control.arm("sync", 1, "EIO", 1)
        assert client.query("INSERT INTO t VALUES (1)").state == "08007"
        eventually(lambda: "opened again and is whole" in daemon.errors or not daemon.is_running, "the recovery")
        assert client.query("SELECT x FROM checked").texts == [("-1",)]
    assert "which is no damage" in daemon.errors and "CHECK constraint failed in checked" in daemon.errors
