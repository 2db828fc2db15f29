"""walpool-load, and a database with the tables of its workloads."""

import json
import os
import re
import sqlite3
import subprocess
from pathlib import Path

import pytest

from daemon import REPOSITORY

WORKLOADS = REPOSITORY / "bench" / "workloads"
SCALE, ACCOUNTS = 1, 2000

# pgbench's tables, with fewer accounts: the workloads take their number from `scale` times 100,000, and a key that is not
# there is as good as one that is.
SCHEMA = f"""
    CREATE TABLE pgbench_branches (bid INTEGER PRIMARY KEY, bbalance INTEGER, filler TEXT);
    CREATE TABLE pgbench_tellers (tid INTEGER PRIMARY KEY, bid INTEGER, tbalance INTEGER, filler TEXT);
    CREATE TABLE pgbench_accounts (aid INTEGER PRIMARY KEY, bid INTEGER, abalance INTEGER, filler TEXT);
    CREATE TABLE pgbench_history (tid INTEGER, bid INTEGER, aid INTEGER, delta INTEGER, mtime TIMESTAMP, filler TEXT);
    CREATE TABLE bench_insert (id INTEGER PRIMARY KEY, client INTEGER, value TEXT);
    CREATE TABLE usertable (ycsb_key TEXT PRIMARY KEY, {", ".join(f"field{n} TEXT" for n in range(10))});
    INSERT INTO pgbench_branches VALUES (1, 0, NULL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10)
        INSERT INTO pgbench_tellers SELECT i, 1, 0, NULL FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ACCOUNTS})
        INSERT INTO pgbench_accounts SELECT i, 1, 0, printf('%84s', '') FROM n;
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
        INSERT INTO usertable SELECT printf('user%012d', i), {", ".join(["printf('%100s', '')"] * 10)} FROM n;
"""


def binary():
    """WALPOOL_LOAD, or the newest build."""
    if named := os.environ.get("WALPOOL_LOAD"):
        return Path(named).resolve()
    builds = [REPOSITORY / ".build" / kind / "walpool-load" for kind in ("release", "debug")]
    built = [path for path in builds if path.exists()]
    assert built, "no walpool-load in .build: `make load` builds it, or name one in WALPOOL_LOAD"
    return max(built, key=lambda path: path.stat().st_mtime)


class Load:
    """Runs the generator, and knows what it said."""

    def __init__(self, directory, *target):
        self.directory = directory
        self.target = target
        self.errors = ""
        self.started = []

    def command(self, workload, *options):
        path = WORKLOADS / f"{workload}.toml" if isinstance(workload, str) else workload
        return [str(part) for part in (binary(), path, *self.target, "--json", "-", "--quiet", *options)]

    def run(self, workload, *options, seconds=0.3, warm_up=0.1, status=0):
        command = self.command(workload, "--seconds", seconds, "--warm-up", warm_up, *options)
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.errors = done.stderr
        assert done.returncode == status, done.stderr
        return json.loads(done.stdout) if done.stdout else None

    def start(self, workload, *options, **keywords):
        """A run that something happens to; what is left of it when the test is over is ended."""
        self.started.append(subprocess.Popen(
            self.command(workload, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **keywords))
        return self.started[-1]

    def close(self):
        for process in self.started:
            with process:
                process.kill()

    def write(self, text):
        """A workload file of the test's own."""
        path = self.directory / "workload.toml"
        path.write_text(text)
        return path


def make_database(path):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(SCHEMA)
    connection.close()


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "bench.db"
    make_database(path)
    return path


@pytest.fixture
def query(database):
    """Asks the file itself."""

    def query(sql):
        connection = sqlite3.connect(database, timeout=30)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    return query


@pytest.fixture
def server(start_daemon, database):
    return start_daemon(database, options=["--max-sessions", "1100"])


@pytest.fixture
def aimed_at(tmp_path):
    """Makes generators for a target, whose runs are ended with the test."""
    made = []

    def aim(*target):
        made.append(Load(tmp_path, *target))
        return made[-1]

    yield aim
    for load in made:
        load.close()


@pytest.fixture
def load(server, aimed_at):
    return aimed_at("--host", server.directory, "--database", server.name)


@pytest.fixture
def direct(database, aimed_at):
    return aimed_at("--direct", database)


@pytest.fixture
def in_process(database, aimed_at):
    return aimed_at("--in-process", database)


def answered(result):
    """How many transactions were done, the warm-up and the end included."""
    return sum(
        each["transactions"] + each["warm_up_transactions"] + each["late_transactions"] for each in result["classes"])


def check_balances(query):
    """TPC-B: the money of accounts, tellers, branches and the history is the same."""
    sums = [query(f"SELECT coalesce(sum({column}), 0) FROM pgbench_{table}")[0][0] for table, column in (
        ("tellers", "tbalance"), ("branches", "bbalance"), ("history", "delta"))]
    assert sums[0] == sums[1] == sums[2], sums


def until_it_works(process):
    """Reads its lines up to the first one that tells of transactions: a tenth of a second may pass without any."""
    while int(re.match(r"walpool-load: [\w-]+ \d+\.\d s, (\d+) transactions/s$", process.stderr.readline())[1]) == 0:
        pass
