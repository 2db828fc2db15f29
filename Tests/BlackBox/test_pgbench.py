"""pgbench with its own scripts: no failed transaction, and no money lost."""

import re
import shutil
import sqlite3
import subprocess

import pytest

# pgbench takes the scale from the number of branches and expects so many accounts.
BRANCHES, ACCOUNTS, TELLERS = 1, 100_000, 10

# What `pgbench -i` would make, as SQLite takes it.
SCHEMA = f"""
    CREATE TABLE pgbench_branches (bid INTEGER PRIMARY KEY, bbalance INTEGER, filler CHAR(88));
    CREATE TABLE pgbench_tellers (tid INTEGER PRIMARY KEY, bid INTEGER, tbalance INTEGER, filler CHAR(84));
    CREATE TABLE pgbench_accounts (aid INTEGER PRIMARY KEY, bid INTEGER, abalance INTEGER, filler CHAR(84));
    CREATE TABLE pgbench_history (tid INTEGER, bid INTEGER, aid INTEGER, delta INTEGER, mtime TIMESTAMP, filler CHAR(22));
    CREATE TABLE numbers (client INTEGER, n INTEGER);
    WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < {BRANCHES})
        INSERT INTO pgbench_branches SELECT x, 0, '' FROM c;
    WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < {TELLERS})
        INSERT INTO pgbench_tellers SELECT x, 1, 0, '' FROM c;
    WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < {ACCOUNTS})
        INSERT INTO pgbench_accounts SELECT x, 1, 0, printf('%84s', '') FROM c;
"""
SCRIPTS = {
    "insert": "INSERT INTO numbers VALUES (:client_id, 1);\n",
    "transaction": """
        \\set aid random(1, 100000)
        BEGIN;
        SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
        INSERT INTO numbers VALUES (:client_id, 1);
        END;
    """,
    "account": """
        \\set aid random(1, 100000)
        SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
    """,
}


@pytest.fixture(scope="module")
def bank_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("bank") / "bank.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(SCHEMA)
    connection.close()
    return path


@pytest.fixture
def bank(start_daemon, bank_file, tmp_path):
    return start_daemon(shutil.copy(bank_file, tmp_path))


def pgbench(daemon, *arguments, clients=8, transactions=60):
    """Runs it and returns how many transactions there were; a failed one is a failure."""
    command = ["pgbench", "-n", "-h", str(daemon.directory), "-U", "tester", "-c", str(clients), "-j", "2",
               "-t", str(transactions), *arguments, daemon.name]
    result = subprocess.run(command, capture_output=True, text=True, timeout=80)
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    assert re.search(r"number of failed transactions: (\d+)", result.stdout)[1] == "0", result.stdout
    done, wanted = map(int, re.search(r"actually processed: (\d+)/(\d+)", result.stdout).groups())
    assert done == wanted == clients * transactions
    return done


def check_sums(daemon, transactions):
    delta = daemon.value("SELECT coalesce(sum(delta), 0) FROM pgbench_history")
    assert daemon.value("SELECT count(*) FROM pgbench_history") == str(transactions)
    for table, column in [("accounts", "abalance"), ("tellers", "tbalance"), ("branches", "bbalance")]:
        assert daemon.value(f"SELECT sum({column}) FROM pgbench_{table}") == delta
    assert daemon.value("PRAGMA integrity_check") == "ok"


@pytest.mark.parametrize("mode", ["simple", "extended", "prepared"])
def test_tpcb_like(bank, mode):
    check_sums(bank, pgbench(bank, "-M", mode, "-b", "tpcb-like"))


@pytest.mark.parametrize("mode", ["simple", "extended", "prepared"])
def test_simple_update(bank, mode):
    # -N leaves tellers and branches alone.
    done = pgbench(bank, "-M", mode, "-b", "simple-update")
    assert bank.value("SELECT count(*) FROM pgbench_history") == str(done)
    assert bank.value("SELECT sum(abalance) FROM pgbench_accounts") == bank.value("SELECT sum(delta) FROM pgbench_history")


@pytest.mark.parametrize("mode", ["simple", "extended", "prepared"])
def test_select_only(bank, mode):
    pgbench(bank, "-M", mode, "-b", "select-only", transactions=400)


@pytest.mark.parametrize("mode", ["simple", "extended", "prepared"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts(bank, tmp_path, mode, script):
    path = tmp_path / "script.sql"
    path.write_text(SCRIPTS[script])
    done = pgbench(bank, "-M", mode, "-f", str(path), clients=16)
    if script != "account":
        assert bank.run("SELECT count(*), count(DISTINCT client) FROM numbers").texts == [(str(done), "16")]


def test_everything_at_once(bank, tmp_path):
    """Writers, readers and whole-table scans together, as separate pgbench processes."""
    scan, insert = tmp_path / "scan.sql", tmp_path / "insert.sql"
    scan.write_text("SELECT sum(abalance), count(*) FROM pgbench_accounts;\n")
    insert.write_text(SCRIPTS["insert"])
    base = ["pgbench", "-n", "-h", str(bank.directory), "-U", "tester", "-j", "1", "-M", "prepared"]
    jobs = [
        (["-c", "8", "-t", "60", "-b", "tpcb-like"], 8 * 60), (["-c", "32", "-t", "60", "-f", str(insert)], 32 * 60),
        (["-c", "8", "-t", "500", "-b", "select-only"], 8 * 500), (["-c", "2", "-t", "50", "-f", str(scan)], 2 * 50),
    ]
    running = [subprocess.Popen([*base, *job, bank.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
               for job, _ in jobs]
    for process, (_, transactions) in zip(running, jobs):
        output, errors = process.communicate(timeout=80)
        assert process.returncode == 0, errors
        assert f"actually processed: {transactions}/{transactions}" in output
    check_sums(bank, 480)
    counts = [int(row[0]) for row in bank.run("SELECT count(*) FROM numbers GROUP BY client").texts]
    assert counts == [60] * 32


def test_new_connection_for_each_transaction(bank):
    pgbench(bank, "-C", "-b", "select-only", clients=4, transactions=100)
