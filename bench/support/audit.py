"""What every crash is followed by: the file is whole, and holds what the witnesses were told, for the daemon as for
a SQLite that has nothing to do with it."""

import contextlib
import sqlite3

from support.witness import TABLES, judge


def keys_by_daemon(server):
    """The keys in each table, and what integrity_check says."""
    with server.connect(timeout=300) as connection:
        keys = [{int(key) for key, in connection.query(f"SELECT key FROM {table}")[0].rows} for table in TABLES]
        return keys, connection.value("PRAGMA integrity_check")


def keys_by_another_process(path):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)) as outside:
        keys = [{key for key, in outside.execute(f"SELECT key FROM {table}")} for table in TABLES]
        return keys, outside.execute("PRAGMA integrity_check").fetchone()[0]


def check_daemon(server, ledgers):
    return _check(ledgers, *keys_by_daemon(server))


def check_file(path, ledgers):
    return [f"{problem} (read by another process)" for problem in _check(ledgers, *keys_by_another_process(path))]


def _check(ledgers, keys, checked):
    problems = judge(ledgers, *keys)
    if checked != "ok":
        problems.append(f"integrity_check: {checked}")
    return problems
