"""What happens beside a load: an outsider that locks the file, VACUUM in the middle."""

import contextlib
import sqlite3
import threading
import time

from pgwire import ConnectionLost, ServerError

OUTSIDER_LOCKS_SECONDS, OUTSIDER_EVERY_SECONDS = 0.2, 1.0
LONGEST = 60        # seconds that VACUUM may take


@contextlib.contextmanager
def beside(cell, system, notes):
    """Writes into `notes` what it did."""
    act = {"starve-outsider": outsider, "starve-vacuum": vacuum}.get(cell.workload)
    if act is None:
        yield
        return
    over = threading.Event()
    middle = cell.warm_up() + cell.seconds / 2
    thread = threading.Thread(target=act, args=(system, over, middle, notes), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(LONGEST)


def omitted(cell, system, notes):
    """What should have happened beside the load and did not, or None: without it the figure is one of something else. (An outsider that
    gets no lock beside those who open the file themselves is what is to be seen there.)"""
    if cell.workload == "starve-vacuum" and notes.get("vacuum") != "done":
        return f"VACUUM {notes.get('vacuum', 'did not end')}"
    if cell.workload == "starve-outsider" and not hasattr(system, "path") and not notes.get("outsider_locks"):
        return "the outsider never had the lock"
    return None


def outsider(system, over, _, notes):
    """Has the write lock for 200 ms of each second, as a backup script or a cron job might. It is a connection of this
    process, which is another than the daemon and the load's."""
    notes.update(outsider_locks=0, outsider_gave_up=0)
    with contextlib.closing(sqlite3.connect(file_of(system), timeout=5, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        while not over.wait(OUTSIDER_EVERY_SECONDS - OUTSIDER_LOCKS_SECONDS):
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                notes["outsider_gave_up"] += 1
                continue
            over.wait(OUTSIDER_LOCKS_SECONDS)
            connection.execute("ROLLBACK")
            notes["outsider_locks"] += 1


def vacuum(system, over, middle, notes):
    """As each system does it every now and then: the daemon's own job, PostgreSQL's VACUUM of the tables in use (not FULL, which
    no routine needs), a connection of this process to the file that says VACUUM."""
    if over.wait(middle):
        return
    began = time.monotonic()
    try:
        if hasattr(system, "path"):
            with contextlib.closing(sqlite3.connect(system.path, timeout=LONGEST, isolation_level=None)) as connection:
                connection.execute("VACUUM")
        elif system.server.name == "walpool":
            vacuum_by_daemon(system.server)
        else:
            with system.server.connect(timeout=LONGEST) as connection:
                connection.query("VACUUM pgbench_accounts, bench_insert")
    except (sqlite3.Error, ConnectionLost, ServerError, TimeoutError) as error:
        notes["vacuum"] = f"failed: {error}"
    else:
        notes["vacuum"] = "done"
    notes["vacuum_seconds"] = round(time.monotonic() - began, 2)


def vacuum_by_daemon(server):
    """Asks in the console, and waits for the line in the log."""
    seen = server.log_path.stat().st_size
    with server.connect("walpool", timeout=LONGEST) as console:
        console.query("VACUUM")
    deadline = time.monotonic() + LONGEST
    while b"VACUUM is done" not in server.log_path.read_bytes()[seen:]:
        if time.monotonic() > deadline:
            raise TimeoutError("no VACUUM in the log")
        time.sleep(0.02)


def file_of(system):
    return system.path if hasattr(system, "path") else system.server.database_path
