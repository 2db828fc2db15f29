"""What walpoold costs when nobody asks anything: memory and CPU with readers open and sessions idle."""

import contextlib
import os
import random
import time
from pathlib import Path

from support.data import ACCOUNTS_PER_SCALE

READERS, SESSIONS = 8, 100


def measure(server, scale, seconds=5):
    """Opens all readers by holding a snapshot on each, then lets every session rest. Measured twice: when
    the readers have answered some point queries, and when each has scanned a whole table, so that its page
    cache is full."""
    with contextlib.ExitStack() as stack:
        sessions = [stack.enter_context(server.connect()) for _ in range(SESSIONS)]
        at_once(sessions[:READERS], points(scale))
        fresh = rest(server.process.pid, seconds)
        at_once(sessions[:READERS], ["SELECT count(*), max(length(filler)) FROM pgbench_accounts"])
        warm = rest(server.process.pid, seconds)
        return {
            "sessions": SESSIONS,
            "connections_to_the_file": descriptors(server.process.pid, server.database_path),
            "after_point_queries": fresh,
            "after_scans": warm,
        }


def points(scale):
    accounts = random.Random(1).sample(range(1, scale * ACCOUNTS_PER_SCALE), 200)
    return [f"SELECT abalance FROM pgbench_accounts WHERE aid = {account}" for account in accounts]


def at_once(sessions, questions):
    """Asks everything in every session, in transactions that keep a reader each, so none can be shared."""
    for session in sessions:
        session.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        session.query(questions[0])
    for session in sessions:
        for question in questions[1:]:
            session.query(question)
    for session in sessions:
        session.query("COMMIT")


def rest(process, seconds):
    time.sleep(1)       # whatever is done after the last answer is done by now
    before = usage(process)
    time.sleep(seconds)
    after = usage(process)
    status = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
    return {
        "resident_mb": round(int(status["VmRSS"].split()[0]) / 1024, 1),
        "anonymous_mb": round(int(status["RssAnon"].split()[0]) / 1024, 1),
        "threads": int(status["Threads"]),
        "seconds": seconds,
        "cpu_ms": round((after["ns"] - before["ns"]) / 1e6, 3),
        "cpu_ticks": after["ticks"] - before["ticks"],
        "wakeups": after["wakeups"] - before["wakeups"],
    }


def usage(process):
    """CPU time of all threads, in nanoseconds and in the ticks other tools show, and how often they woke."""
    total = {"ns": 0, "ticks": 0, "wakeups": 0}
    total["ticks"] = sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]))
    for thread in Path(f"/proc/{process}/task").iterdir():
        on_cpu, _, runs = (thread / "schedstat").read_text().split()
        total["ns"] += int(on_cpu)
        total["wakeups"] += int(runs)
    return total


def descriptors(process, path):
    """Open descriptors of the database file: the writer's and one for each reader."""
    found = 0
    for link in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(OSError):
            found += os.readlink(link) == str(path)
    return found
