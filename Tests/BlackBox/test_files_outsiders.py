"""Other processes with the same file: VACUUM, locks, writes without end."""

import os
import sqlite3
import threading
from contextlib import closing

import pytest

import wire
from daemon import eventually
from files_fixtures import rows


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


def test_an_outsider_is_named_where_the_database_is_a_link(start_daemon, outsider, tmp_path):
    """The locks are beside what it leads to."""
    path, link = tmp_path / "there.db", tmp_path / "app.db"
    other = outsider(path)
    other("CREATE TABLE t (x)")
    link.symlink_to(path)
    daemon = start_daemon(link)
    other("BEGIN IMMEDIATE")
    client = daemon.client()
    client.query("SET lock_timeout = '300ms'").check()
    assert client.query("INSERT INTO t VALUES (1)").error["C"] == "55P03"
    eventually(lambda: f"(process {os.getpid()})" in daemon.errors, "the outsider's name in the log")


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
