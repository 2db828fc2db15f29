"""The weekly VACUUM, seen by clients: it runs from a stored stamp, beside readers, and writers are told."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

import wire
from daemon import REPOSITORY, eventually
from service import Stalls
from timeouts_fixtures import time_passes

sys.path.insert(0, str(REPOSITORY / "bench"))
from support import maintenance

# What is due is believed after a second.
CONFIG = 'vacuum_interval = "1s"\n'
BEGINS, DONE, SHRUNK = "VACUUM begins", "VACUUM is done", "the file has shrunk"
FILL = """
    CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT);
    CREATE INDEX t_v ON t (v);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
    INSERT INTO t SELECT i, i || hex(randomblob(450)) FROM n;
    DELETE FROM t WHERE id % 4 <> 0
"""


@pytest.fixture(scope="module")
def punched_file(tmp_path_factory):
    """Makes files with three quarters of their pages free, each once."""
    directory = tmp_path_factory.mktemp("punched")

    def made(rows):
        path = directory / f"{rows}.db"
        if not path.exists():
            with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
                connection.executescript(f"PRAGMA journal_mode = WAL; BEGIN; {FILL.format(rows=rows)}; COMMIT")
        return path

    return made


@pytest.fixture
def punched(start_daemon, punched_file):
    """Makes daemons on such a database; they are stopped, and the stamp is old."""

    def make(rows=8000, config=CONFIG, stamp=True, options=()):
        daemon = start_daemon(config=config, options=options, start=False)
        shutil.copyfile(punched_file(rows), daemon.database)
        if stamp:
            maintenance.write(daemon.database)
        return daemon

    return make


def says(daemon, line, count=1):
    eventually(lambda: daemon.errors.count(line) >= count or not daemon.is_running, line)
    assert daemon.errors.count(line) >= count, daemon.errors


def size(daemon):
    return daemon.database.stat().st_size


def test_first_sight_vacuums_nothing(punched):
    daemon = punched(config="", stamp=False)
    before = size(daemon)
    began = int(time.time())
    daemon.start()
    eventually(lambda: maintenance.read(daemon.database), "the stamp")
    record = maintenance.read(daemon.database)
    assert set(record) == {"base"}
    assert maintenance.utc(began) <= record["base"] <= maintenance.utc(time.time())
    daemon.stop()
    daemon.restart()
    daemon.stop()
    assert maintenance.read(daemon.database) == record
    assert size(daemon) == before and BEGINS not in daemon.errors


@pytest.mark.parametrize("text", [b"", b"walpool-maintenance 1\n", b"\xff\x00garbage" * 100, b"x" * 10000])
def test_garbage_is_a_first_sight(punched, text):
    daemon = punched(config="", stamp=False)
    maintenance.path(daemon.database).write_bytes(text)
    daemon.start()
    says(daemon, "the maintenance file cannot be read")
    eventually(lambda: maintenance.path(daemon.database).read_bytes() != text, "a new file")
    assert set(maintenance.read(daemon.database)) == {"base"}
    assert BEGINS not in daemon.errors


def test_shrinks_under_readers(punched):
    daemon = punched(rows=20000)
    before = size(daemon)
    daemon.start()
    stop = threading.Event()
    seen = []

    def read():
        with daemon.raw() as client:
            client.start(database=daemon.name)
            while not stop.is_set():
                seen.append(client.value("SELECT count(*) || ' ' || sum(id) FROM t"))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    says(daemon, SHRUNK)
    stop.set()
    for reader in readers:
        reader.join()
    assert size(daemon) < before / 2
    assert set(seen) == {f"5000 {sum(range(4, 20001, 4))}"}
    assert daemon.value("PRAGMA integrity_check") == "ok"
    record = maintenance.read(daemon.database)
    assert int(record["bytes_freed"]) == before - size(daemon)
    assert "attempts" not in record and "failed" not in record
    # Now there is nothing to free: it is not done again every second.
    says(daemon, "VACUUM is not worth it")
    assert daemon.errors.count(BEGINS) == 1


FULL_TEXT = """
    CREATE TABLE note ({key}title TEXT, body TEXT);
    CREATE VIRTUAL TABLE found USING fts5 (title, body, content = 'note');
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
    INSERT INTO note (rowid, title, body) SELECT i, 'title' || i, 'word' || i || hex(randomblob(500)) || ' only' || i FROM n;
    INSERT INTO found (rowid, title, body) SELECT rowid, title, body FROM note;
    INSERT INTO found (found, rowid, title, body) SELECT 'delete', rowid, title, body FROM note WHERE rowid <= 150;
    DELETE FROM note WHERE rowid <= 150
"""


@pytest.mark.parametrize("key", ["", "id INTEGER PRIMARY KEY, "])
def test_rowids_a_full_text_index_goes_by(start_daemon, key):
    """VACUUM would number the rows anew, and the index would find others: of itself the daemon does not."""
    daemon = start_daemon(config='vacuum_interval = "0"\n')
    daemon.run(FULL_TEXT.format(key=key))
    daemon.stop()
    daemon.config = CONFIG
    maintenance.write(daemon.database)
    daemon.start()
    says(daemon, "VACUUM is left out" if not key else SHRUNK)
    assert (BEGINS in daemon.errors) == bool(key)
    assert daemon.run("SELECT rowid, title FROM found WHERE found MATCH 'only180'").texts == [("180", "title180")]


@pytest.mark.parametrize("key, keeps", [("", True), ("id INTEGER PRIMARY KEY, ", False)])
def test_rowids_a_full_text_index_goes_by_through_a_view(start_daemon, key, keeps):
    """Views of views, too. (Of another table, which no view reads, VACUUM may number the rows anew.)"""
    daemon = start_daemon(config='vacuum_interval = "0"\n')
    views = ('CREATE VIEW inner_one AS SELECT rowid AS r, "title" AS t, body FROM "No""te" /* it\'s */; '
             "CREATE VIEW outer_one AS SELECT r, t AS title, body FROM inner_one; CREATE TABLE other (x); ")
    sql = FULL_TEXT.format(key=key).replace("CREATE VIRTUAL", views + "CREATE VIRTUAL")
    sql = sql.replace("content = 'note'", "content = 'outer_one', content_rowid = 'r'")
    for before in ("TABLE note", "INTO note", "FROM note"):
        sql = sql.replace(before, before.replace("note", '"no""te"'))
    daemon.run(sql)
    daemon.stop()
    daemon.config = CONFIG
    maintenance.write(daemon.database)
    daemon.start()
    says(daemon, "VACUUM is left out" if keeps else SHRUNK)
    assert (BEGINS in daemon.errors) != keeps
    assert daemon.run("SELECT rowid, title FROM found WHERE found MATCH 'only180'").texts == [("180", "title180")]


def test_a_definition_vacuum_would_leave_out(punched):
    daemon = punched()
    with sqlite3.connect(daemon.database) as connection:
        connection.execute("CREATE TABLE lower (x)")
        connection.execute("INSERT INTO lower VALUES (1)")
        connection.execute("PRAGMA writable_schema = 1")
        connection.execute("UPDATE sqlite_schema SET sql = 'create table lower (x)' WHERE name = 'lower'")
    connection.close()
    daemon.start()
    says(daemon, "it would leave out lower")
    assert daemon.value("SELECT x FROM lower") == "1"


def test_a_pinned_snapshot_stays(punched):
    daemon = punched()
    before = size(daemon)
    daemon.start()
    reader = daemon.client()
    reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ").check()
    rows = reader.query("SELECT * FROM t").rows
    says(daemon, DONE)
    daemon.run("DELETE FROM t WHERE id > 100")
    assert reader.query("SELECT * FROM t").rows == rows
    assert SHRUNK not in daemon.errors and size(daemon) == before
    reader.query("COMMIT").check()
    assert reader.value("SELECT count(*) FROM t") == "25"
    says(daemon, SHRUNK)
    assert size(daemon) < before / 2


def test_prepared_statements_survive(punched):
    daemon = punched()
    daemon.start()
    client = daemon.client()
    client.ask(wire.parse("SELECT id, v FROM t WHERE id = $1::int8", "read"),
               wire.parse("UPDATE t SET v = 'new' WHERE id = $1::int8 RETURNING id, v", "write"),
               wire.describe_statement("read"), wire.describe_statement("write")).check()

    def use(name, key):
        return client.ask(wire.bind([key], statement=name), wire.execute()).check().texts

    assert use("read", 4)[0][0] == "4" and use("write", 8) == [("8", "new")]
    says(daemon, DONE)
    assert use("read", 8) == [("8", "new")] and use("write", 12) == [("12", "new")]
    says(daemon, SHRUNK)
    assert use("read", 12) == [("12", "new")] and use("write", 16) == [("16", "new")]


# While it runs.

LARGE = 20_000


@pytest.fixture
def running(punched, tmp_path, monkeypatch):
    """A daemon in the middle of VACUUM, where it stays for longer than any test needs, or until the disk is as fast as it was: it
    writes some thousand times, and each takes a millisecond."""
    stalls = Stalls(tmp_path)
    daemon = punched(rows=LARGE)
    daemon.disk_is_fast_again = stalls.release
    stalls.arm("write", milliseconds=1)
    with monkeypatch.context() as patch:
        for name, value in stalls.environment.items():
            patch.setenv(name, value)
        daemon.start()
    says(daemon, BEGINS)
    eventually(lambda: copies(daemon), "the copy's file, open and without a name")
    yield daemon
    stalls.release()


def copies(daemon):
    """VACUUM's copies that the daemon has open. SQLite takes the name from such a file behind open(2), not within it: a kill in between
    leaves an empty file, and is none in the middle of VACUUM."""
    return [target for target in daemon.descriptors() if "etilqs" in target and target.endswith(" (deleted)")]


def test_writers_are_told(running):
    writer = running.client(queue_notice="1ms")
    writer.send(wire.query("INSERT INTO t (v) VALUES ('waited')"))
    notice = writer.receive().fields
    assert "waiting for the writer at place 1" in notice["M"]
    assert notice["D"] == "VACUUM has it."
    running.disk_is_fast_again()
    writer.reply().check()
    says(running, SHRUNK)
    assert running.value("SELECT count(*) FROM t") == str(LARGE // 4 + 1)


def test_lock_timeout_holds(running):
    writer = running.client(lock_timeout="1ms")
    assert writer.query("INSERT INTO t (v) VALUES ('not at all')").state == "55P03"
    # Readers do not wait, and the session goes on.
    assert writer.value("SELECT count(*) FROM t") == str(LARGE // 4)
    assert DONE not in running.errors
    running.disk_is_fast_again()
    says(running, DONE)
    writer.query("SET lock_timeout = 0").check()
    writer.query("INSERT INTO t (v) VALUES ('now')").check()


def test_shutdown_stops_it(running):
    writer = running.client()
    writer.send(wire.query("INSERT INTO t (v) VALUES ('late')"))
    before = size(running)
    running.stop()
    assert "VACUUM was stopped" in running.errors and DONE not in running.errors
    # Once VACUUM has given the writer back it may still have been this one's turn before it was told.
    reply = writer.reply()
    assert reply.state in (None, "57P01")
    rows = LARGE // 4 + (reply.state is None)
    assert size(running) == before
    # It is as if it had not been begun: due again at the next start.
    record = maintenance.read(running.database)
    assert set(record) == {"base"}
    running.restart()
    says(running, SHRUNK)
    assert size(running) < before / 2
    assert running.value("SELECT count(*) FROM t") == str(rows)
    assert running.value("PRAGMA integrity_check") == "ok"


def test_a_kill_backs_off(running):
    running.kill()
    record = maintenance.read(running.database)
    assert record["attempts"] == "1"
    # Nothing of the copy is left.
    assert not [name for name in os.listdir(running.directory) if "etilqs" in name]
    running.restart()
    assert running.value("PRAGMA integrity_check") == "ok"
    # Time for another one to begin, by the daemon's own clock.
    time_passes(running, 2000)
    assert running.errors.count(BEGINS) == 1
    assert maintenance.read(running.database) == record


def test_incremental(start_daemon):
    daemon = start_daemon(start=False)
    subprocess.run(["sqlite3", daemon.database, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; "
                    + FILL.format(rows=40000)], check=True, stdout=subprocess.DEVNULL)
    maintenance.write(daemon.database)
    daemon.config = CONFIG
    before = size(daemon)
    daemon.start()
    says(daemon, SHRUNK)
    assert size(daemon) < before / 2
    assert daemon.value("SELECT count(*) FROM t") == "10000"
    assert daemon.value("PRAGMA freelist_count") == "0"
    assert daemon.value("PRAGMA integrity_check") == "ok"


def test_outside_of_the_window(punched):
    # An hour that is not now, whatever the time zone's summer time does meanwhile.
    hour = (time.localtime().tm_hour + 12) % 24
    daemon = punched(config=CONFIG + f'vacuum_window = "daily {hour:02}:00-{hour:02}:30"\n')
    before = size(daemon)
    daemon.start()
    time_passes(daemon, 2000)
    assert BEGINS not in daemon.errors and size(daemon) == before


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 24 MB; needs the right to mount."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", tmp_path], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("may not mount")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


def test_no_room(small_disk, start_daemon, tmp_path_factory):
    # 15 MB, of which 10 are kept: two copies of those do not fit beside it.
    made = tmp_path_factory.mktemp("made") / "app.db"
    subprocess.run(["sqlite3", made, "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); "
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3900) "
                    "INSERT INTO t SELECT i, hex(randomblob(1900)) FROM n; DELETE FROM t WHERE id % 3 = 0"], check=True)
    daemon = start_daemon(shutil.copy(made, small_disk), start=False)
    maintenance.write(daemon.database)
    daemon.config = CONFIG
    daemon.start()
    says(daemon, "VACUUM failed and is tried again later")
    record = maintenance.read(daemon.database)
    assert record["reason"].startswith("no room: ") and record["attempts"] == "1" and "succeeded" not in record
    # One that an administrator asks for is not tried again, and is none of the attempts that are.
    daemon.client(database="walpool").query("VACUUM")
    says(daemon, "the VACUUM that was asked for failed")
    assert maintenance.read(daemon.database)["attempts"] == "1"
    daemon.check_alive()
    daemon.stop()


# Configuration


@pytest.mark.parametrize("line, word", [
    ("vacuum_interval = 999", "vacuum_interval must be 0"),
    ('vacuum_interval = "2 weeks"', "vacuum_interval"),
    ('vacuum_interval = "400d"', "vacuum_interval"),
    ("vacuum_interval = -1", "vacuum_interval"),
    ('vacuum_window = "Sunday"', "vacuum_window must be"),
    ('vacuum_window = "daily 03:00-03:00"', "vacuum_window must be"),
    ("vacuum_window = 3", "vacuum_window must be a string"),
    ("vacuum_min_free = 100", "vacuum_min_free must be between 0 and 99"),
    ("vacuum_min_free = -1", "vacuum_min_free must be between 0 and 99"),
    ('vacuum_analyze = "yes"', "vacuum_analyze must be true or false"),
])
def test_impossible_settings(start_daemon, line, word):
    daemon = start_daemon(config=line + "\n", start=False)
    ended = subprocess.run(daemon.command(), capture_output=True, text=True, timeout=wire.DEADLINE)
    assert ended.returncode == 78 and word in ended.stderr and len(ended.stderr.splitlines()) == 1, ended.stderr


@pytest.mark.parametrize("line", [
    'vacuum_interval = "30d"', "vacuum_interval = 0", 'vacuum_interval = "1s"', 'vacuum_window = "any"',
    'vacuum_window = "Sun 03:00-05:00"', 'vacuum_window = "Sat,Sun 23:00-01:00"', "vacuum_min_free = 0", "vacuum_analyze = true",
])
def test_possible_settings(start_daemon, line):
    start_daemon(config=line + "\n").check_alive()


def test_kills():
    """The long form is `make vacuum-test`."""
    done = subprocess.run([REPOSITORY / "bench" / "vacuum-kills", "--kills", "5", "--megabytes", "20"],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
