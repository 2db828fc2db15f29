"""BACKUP: made beside writers, never in their way, never over a file, and good for a restore."""

import contextlib
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import threading
import time
from pathlib import Path

import pytest

import wire
from daemon import eventually
from metrics import values
from service import compiled

FILL = """INSERT INTO t (v) WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {})
SELECT printf('%0{}d', n) FROM c"""
TABLE = "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT UNIQUE)"


@pytest.fixture
def backups(tmp_path):
    directory = tmp_path / "backups"
    directory.mkdir()
    return directory


@pytest.fixture
def served(start_daemon, backups):
    """A daemon that may make backups, with a small table."""
    daemon = start_daemon(config=f'backup_directory = "{backups}"\n')
    daemon.run(TABLE, FILL.format(1000, 100))
    return daemon


def console(daemon):
    return daemon.client(database="walpool")


def rows(path, sql="SELECT * FROM t ORDER BY id"):
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def last(admin):
    reply = admin.query("SHOW BACKUPS").check()
    names = [column.name for column in reply.of("T")[0].columns]
    return dict(zip(names, reply.texts[-1]))


def test_a_backup(served, backups):
    admin = console(served)
    reply = admin.query("BACKUP TO 'copy.db'").check()
    assert reply.tag == "BACKUP" and reply.status == "I"
    assert str(backups / "copy.db") in reply.notices[-1]["M"]
    assert os.listdir(backups) == ["copy.db"]
    assert rows(backups / "copy.db") == rows(served.database)
    assert rows(backups / "copy.db", "PRAGMA integrity_check") == [("ok",)]
    assert rows(backups / "copy.db", "PRAGMA journal_mode") == [("delete",)]
    told = last(admin)
    assert (told["name"], told["state"], told["error"]) == ("copy.db", "done", None)
    assert told["pages"] == told["pages_copied"] and int(told["bytes"]) == (backups / "copy.db").stat().st_size
    assert admin.extended("BACKUP TO 'again.db'").check().kinds == "12nCZ"
    eventually(lambda: "backup made" in served.errors, "the line")


def test_rows_that_break_a_rule(served, backups):
    """The copy is as good as the database, and its maker is told."""
    served.run("CREATE TABLE checked (x CHECK (x > 0))")
    with sqlite3.connect(served.database) as outsider:
        outsider.execute("PRAGMA ignore_check_constraints = 1")
        outsider.execute("INSERT INTO checked VALUES (-1)")
    outsider.close()
    reply = console(served).query("BACKUP TO 'copy.db'").check()
    assert "CHECK constraint failed in checked" in reply.notices[-1]["H"]
    assert rows(backups / "copy.db", "SELECT x FROM checked") == [(-1,)]


def test_a_schema_with_a_collation_of_the_application(served, backups):
    """The daemon has not got it, so not everything can be checked, and the copy is kept."""
    with sqlite3.connect(served.database) as outsider:
        outsider.create_collation("mine", lambda a, b: (a > b) - (a < b))
        outsider.execute("CREATE TABLE sorted (x COLLATE mine UNIQUE)")
        outsider.executemany("INSERT INTO sorted VALUES (?)", [("a",), ("b",)])
    outsider.close()
    reply = console(served).query("BACKUP TO 'copy.db'").check()
    assert "Not all of it could be checked: sorted: no such collation sequence: mine" in reply.notices[-1]["H"]
    assert rows(backups / "copy.db") == rows(served.database)


def test_psql(served, backups):
    result = subprocess.run(
        ["psql", "-X", "-h", str(served.directory), "walpool", "-c", "BACKUP TO 'copy.db'"], capture_output=True, text=True,
        timeout=60)
    assert result.returncode == 0 and result.stdout == "BACKUP\n", result
    assert "checked and on the disk" in result.stderr


def test_its_progress_is_told(served, backups):
    served.run(FILL.format(20_000, 1000))
    reply = console(served).query("BACKUP TO 'copy.db'").check()
    said = [notice["M"] for notice in reply.notices]
    assert len(said) > 3 and all("pages copied" in line for line in said[:-1]), said


def test_refusals(served, backups):
    admin = console(served)
    for name in ["", "../x", "/etc/x", ".x", "a/b", "x.db-wal"]:
        reply = admin.query(f"BACKUP TO '{name}'")
        assert reply.state == "42602" and "H" in reply.error and reply.status == "I", name
    (backups / "there").write_text("precious")
    assert admin.query("BACKUP TO 'there'").state == "58P02"
    assert (backups / "there").read_text() == "precious"
    backups.rename(backups.parent / "elsewhere")
    assert admin.query("BACKUP TO 'x'").state == "58P01"
    assert last(admin)["state"] == "failed" and "No such file" in last(admin)["error"]
    assert os.listdir(backups.parent / "elsewhere") == ["there"]


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_what_would_be_taken_for_a_part_of_it(served, backups, ending):
    """SQLite would play what an older file of the name has left into the new one."""
    (backups / f"monday.db{ending}").write_bytes(b"of an older monday.db")
    reply = console(served).query("BACKUP TO 'monday.db'")
    assert reply.errors and f"monday.db{ending}" in str(reply.error), reply.errors
    assert os.listdir(backups) == [f"monday.db{ending}"]


def backup_metrics(daemon):
    found = values(daemon)
    counts = {result: found["walpool_backups_total", ("result", result)] for result in ("succeeded", "failed")}
    return counts | {name: found[f"walpool_backup_{name}",] for name in (
        "running", "last_success_timestamp_seconds", "last_duration_seconds", "last_size_bytes")}


def test_metrics_say_when_the_last_one_was_made(served, backups):
    none = {"succeeded": 0, "failed": 0, "running": 0, "last_success_timestamp_seconds": 0, "last_duration_seconds": 0,
            "last_size_bytes": 0}
    assert backup_metrics(served) == none
    admin = console(served)
    before = int(time.time())
    admin.query("BACKUP TO 'copy.db'").check()
    first = backup_metrics(served)
    assert before <= first["last_success_timestamp_seconds"] <= time.time()
    assert first["last_size_bytes"] == (backups / "copy.db").stat().st_size
    assert (first["succeeded"], first["failed"], first["running"]) == (1, 0, 0)
    # One that fails is no news of the last that did not.
    assert admin.query("BACKUP TO 'copy.db'").state == "58P02"
    assert backup_metrics(served) == first | {"failed": 1}


def test_not_configured(daemon):
    reply = console(daemon).query("BACKUP TO 'x'")
    assert reply.state == "55000" and "backup_directory" in reply.error["H"]


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become another user")
def test_a_directory_that_cannot_be_written(start_daemon, backups):
    daemon = start_daemon(config='backup_directory = "/var/lib"\n', start=False)
    os.chown(daemon.directory, 65534, 65534)
    command = daemon.command
    daemon.command = lambda: ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command()]
    daemon.start()
    assert console(daemon).query("BACKUP TO 'walpool-test'").state == "42501"


def test_a_directory_that_is_missing_is_told_before_the_night(start_daemon, tmp_path):
    """It keeps nobody out, so the daemon starts; who made the mistake hears of it while he looks."""
    daemon = start_daemon(config=f'backup_directory = "{tmp_path}/nowhere"\n')
    warning = f"backup_directory: {tmp_path}/nowhere: No such file or directory"
    eventually(lambda: f"warning: {warning}" in daemon.errors, "the warning")
    with console(daemon) as admin:
        assert any(warning in notice["M"] for notice in admin.query("RELOAD").check().notices)
    (tmp_path / "nowhere").mkdir()
    with console(daemon) as admin:
        assert [notice["M"] for notice in admin.query("RELOAD").check().notices] == ["nothing has changed"]


def test_no_room(start_daemon, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    if os.getuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "none", small], capture_output=True).returncode:
        pytest.skip("cannot mount a small file system")
    try:
        daemon = start_daemon(config=f'backup_directory = "{small}"\n')
        daemon.run(TABLE, FILL.format(1000, 1000))
        reply = console(daemon).query("BACKUP TO 'copy.db'")
        assert reply.state == "53100" and "needs" in reply.error["M"]
        assert os.listdir(small) == []
    finally:
        subprocess.run(["umount", small], check=True)


# Disks of other machines and of other systems


@pytest.fixture
def disk(request, monkeypatch):
    """The daemons of the test make their backups on such a disk."""
    monkeypatch.setenv("LD_PRELOAD", str(compiled.library(Path(__file__).with_name("other_disks.c"))))
    monkeypatch.setenv("OTHER_DISK", request.param)
    return request.param


@pytest.mark.parametrize("disk", ["", "n", "l", "lr", "nlr"], indirect=True)
def test_on_other_disks(disk, served, backups):
    for name in ("one.db", "two.db"):
        console(served).query(f"BACKUP TO '{name}'").check()
        assert rows(backups / name) == rows(served.database)
    assert sorted(os.listdir(backups)) == ["one.db", "two.db"]


@pytest.mark.parametrize("disk", ["t", "tl", "tlr"], indirect=True)
def test_a_file_that_comes_in_the_last_moment_is_not_replaced(disk, served, backups):
    assert console(served).query("BACKUP TO 'copy.db'").state == "58P02"
    assert os.listdir(backups) == ["copy.db"]
    assert (backups / "copy.db").read_text() == "somebody's"


@pytest.mark.parametrize("disk", ["", "lr"], indirect=True)
def test_a_symbolic_link_that_leads_nowhere_is_not_replaced(disk, served, backups):
    """What it leads to may be on a disk that is away."""
    (backups / "copy.db").symlink_to("/nowhere/copy.db")
    assert console(served).query("BACKUP TO 'copy.db'").state == "58P02"
    assert os.listdir(backups) == ["copy.db"] and os.readlink(backups / "copy.db") == "/nowhere/copy.db"


@pytest.mark.parametrize("disk", ["", "n"], indirect=True)
def test_a_start_beside_one_at_work_removes_nothing(disk, large, backups):
    """And behind its end by kill -9 all of it."""
    under_way(large)
    has_begun(backups)
    large.process.send_signal(signal.SIGSTOP)
    try:
        left = os.listdir(backups)
        other = large.another()
        assert set(left) <= set(os.listdir(backups))
        assert console(other).query("BACKUP TO 'copy.db'").state == "55006"
        other.stop()
    finally:
        large.kill()
    assert ".copy.db.walpool-backup" in os.listdir(backups)
    large.restart()
    assert os.listdir(backups) == []


def test_private_as_the_database(served, backups):
    served.database.chmod(0o600)
    console(served).query("BACKUP TO 'copy.db'").check()
    assert stat.S_IMODE((backups / "copy.db").stat().st_mode) == 0o600


def test_beside_writers(served, backups):
    """Writers commit throughout, and the copy is one moment between two of their transactions."""
    served.run("CREATE TABLE account (id INTEGER PRIMARY KEY, n INTEGER)", "INSERT INTO account VALUES (1, 500), (2, 500)",
               FILL.format(20_000, 1000))
    is_over = threading.Event()
    committed = []

    def write():
        with served.client() as client:
            while not is_over.is_set():
                sql = "BEGIN; UPDATE account SET n = n - 1 WHERE id = 1; UPDATE account SET n = n + 1 WHERE id = 2; COMMIT"
                committed.append(client.query(sql).check())

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        admin = console(served)
        for number in range(3):
            before = len(committed)
            admin.query(f"BACKUP TO '{number}.db'").check()
            eventually(lambda: len(committed) > before, "a commit")
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    copies = [rows(backups / f"{number}.db", "SELECT n FROM account ORDER BY id") for number in range(3)]
    for (one,), (two,) in copies:
        assert one + two == 1000
    # Each is of a later moment than the one before it.
    assert [two for _, (two,) in copies] == sorted(two for _, (two,) in copies)


@pytest.fixture(scope="module")
def large_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "app.db"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(
            "PRAGMA journal_mode = WAL; BEGIN; CREATE TABLE r (a BLOB, b BLOB);"
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 150000) "
            "INSERT INTO r SELECT randomblob(100), randomblob(100) FROM c;"
            "CREATE INDEX ra ON r (a); CREATE INDEX rb ON r (b); COMMIT")
    return path


@pytest.fixture
def large(start_daemon, backups, large_file):
    """One whose backup takes a while: its check has an index of many random entries to compare."""
    daemon = start_daemon(config=f'backup_directory = "{backups}"\nshutdown_timeout = "100ms"\n', start=False)
    # One of another database, which makes its backups into the same directory.
    daemon.another = lambda: start_daemon(config=daemon.config)
    shutil.copyfile(large_file, daemon.database)
    daemon.start()
    return daemon


def under_way(daemon):
    """A client whose backup is being made."""
    admin, watcher = console(daemon), console(daemon)
    admin.send(wire.query("BACKUP TO 'copy.db'"))
    eventually(lambda: [r for r in watcher.query("SHOW BACKUPS").texts if r[1] in ("copying", "checking")], "the backup")
    return admin, watcher


def has_begun(backups):
    """It is said to be made before its file is there."""
    eventually(lambda: ".copy.db.walpool-backup" in os.listdir(backups), "the backup's file")


def test_a_writer_does_not_wait_for_its_end(large):
    with large.client() as writer:
        _, watcher = under_way(large)
        assert writer.query("INSERT INTO r VALUES (x'00', x'00')").tag == "INSERT 0 1"
    assert last(watcher)["state"] in ("copying", "checking")


# Ending early


def test_cancelled(large, backups):
    admin, watcher = under_way(large)
    assert watcher.query("BACKUP TO 'other.db'").state == "55006"
    admin.cancel()
    assert admin.reply().state == "57014"
    assert os.listdir(backups) == []
    assert last(watcher)["state"] == "failed"
    eventually(lambda: 'error="it was canceled"' in large.errors, "the reason in words")
    assert admin.query("SHOW VERSION").check()


def test_timeout(large, backups):
    admin = console(large)
    admin.query("SET statement_timeout = 20").check()
    assert admin.query("BACKUP TO 'copy.db'").state == "57014"
    assert os.listdir(backups) == []


def test_its_client_goes(large, backups):
    admin, watcher = under_way(large)
    admin.close()
    eventually(lambda: last(watcher)["state"] == "failed", "the end")
    eventually(lambda: os.listdir(backups) == [], "nothing left")


def test_a_stop(large, backups):
    admin, watcher = under_way(large)
    large.stop()
    assert admin.reply().state == "57P01"
    assert os.listdir(backups) == []


def test_a_kill_leaves_what_the_next_start_removes(large, backups):
    under_way(large)
    has_begun(backups)
    large.kill()
    large.restart()
    assert os.listdir(backups) == []
    eventually(lambda: "removed an unfinished backup" in large.errors, "the line")


# Restoring, as docs/administration.md says


def test_restore(served, backups):
    console(served).query("BACKUP TO 'copy.db'").check()
    before = rows(served.database)
    served.run("DELETE FROM t WHERE id % 2 = 0", "UPDATE t SET v = 'changed' || id", "DROP TABLE IF EXISTS other")
    assert rows(served.database) != before
    served.stop()
    for ending in ["-wal", "-shm", "-maintenance"]:
        path = served.database.with_name(served.database.name + ending)
        path.unlink(missing_ok=True)
    shutil.copy(backups / "copy.db", served.database)
    served.restart()
    reply = served.run("SELECT id, v FROM t ORDER BY id")
    assert [(int(id), v) for id, v in reply.texts] == before
    assert served.value("PRAGMA integrity_check") == "ok"
    served.run("INSERT INTO t (v) VALUES ('goes on')")
    assert rows(served.database, "PRAGMA journal_mode") == [("wal",)]


@pytest.mark.parametrize("sample", ["chinook", "northwind"])
def test_samples(start_daemon, samples, backups, tmp_path, sample):
    path = shutil.copy(samples[sample], tmp_path)
    daemon = start_daemon(path, config=f'backup_directory = "{backups}"\n')
    console(daemon).query("BACKUP TO 'copy.db'").check()

    def dump(database):
        return subprocess.run(["sqlite3", database, ".dump"], capture_output=True, check=True).stdout

    assert dump(backups / "copy.db") == dump(samples[sample])
