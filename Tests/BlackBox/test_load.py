"""walpool-load against the real daemon, and on a SQLite file without one."""

import base64
import json
import os
import re
import select
import signal
import socket
import sqlite3
import struct
import subprocess
import time
import zlib
from pathlib import Path

import pytest

from console import console, show
from daemon import REPOSITORY, Daemon, eventually

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

    def command(self, workload, *options):
        path = WORKLOADS / f"{workload}.toml" if isinstance(workload, str) else workload
        return [str(part) for part in (binary(), path, *self.target, "--json", "-", "--quiet", *options)]

    def run(self, workload, *options, seconds=0.3, warm_up=0.1, status=0):
        command = self.command(workload, "--seconds", seconds, "--warm-up", warm_up, *options)
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.errors = done.stderr
        assert done.returncode == status, done.stderr
        return json.loads(done.stdout) if status == 0 else None

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
def load(server, tmp_path):
    return Load(tmp_path, "--host", server.directory, "--database", server.name)


@pytest.fixture
def direct(database, tmp_path):
    return Load(tmp_path, "--direct", database)


@pytest.fixture
def in_process(database, tmp_path):
    return Load(tmp_path, "--in-process", database)


def answered(result):
    """How many transactions were done, the warm-up and the end included."""
    return sum(
        each["transactions"] + each["warm_up_transactions"] + each["late_transactions"] for each in result["classes"])


def check_balances(query):
    """TPC-B: the money of accounts, tellers, branches and the history is the same."""
    sums = [query(f"SELECT coalesce(sum({column}), 0) FROM pgbench_{table}")[0][0] for table, column in (
        ("tellers", "tbalance"), ("branches", "bbalance"), ("history", "delta"))]
    assert sums[0] == sums[1] == sums[2], sums


def test_every_row_is_there(load, query):
    result = load.run("insert")
    one = result["classes"][0]
    assert one["transactions"] > 0 and one["errors"] == 0 and result["complaints"] == []
    assert query("SELECT count(*) FROM bench_insert") == [(answered(result),)]
    assert one["transactions"] == sum(one["per_client"]) == sum(second["transactions"] for second in one["series"])
    assert (one["fewest"], one["most"]) == (min(one["per_client"]), max(one["per_client"]))
    # Each client has said who it is.
    assert query("SELECT count(DISTINCT client) FROM bench_insert") == [(8,)]


@pytest.mark.parametrize("sent", ["separate", "pipeline", "query"])
@pytest.mark.parametrize("protocol", ["prepared", "extended", "simple"])
def test_balances(load, query, sent, protocol):
    if (sent, protocol) == ("pipeline", "simple"):
        load.run("tpcb", "--messages", sent, "--protocol", protocol, status=1)
        assert "--messages query" in load.errors
        return
    options = ["--messages", sent, "--protocol", protocol, "--set", f"scale={SCALE}", "--clients", 4]
    result = load.run("tpcb", *options)
    one = result["classes"][0]
    assert one["transactions"] > 0 and one["errors"] == 0, result["complaints"]
    assert one["statements"] == 7 * one["transactions"]
    assert query("SELECT count(*) FROM pgbench_history") == [(answered(result),)]
    check_balances(query)


@pytest.mark.parametrize("workload", sorted(path.stem for path in WORKLOADS.glob("*.toml")))
def test_every_workload(load, workload):
    """Each of them runs without an error; what takes long has only begun."""
    text = (WORKLOADS / f"{workload}.toml").read_text()
    options = []
    if re.search(r"^scale =", text, re.M):
        options += ["--set", f"scale={SCALE}"]
    if re.search(r"^records =", text, re.M):
        options += ["--set", "records=1000"]
    result = load.run(workload, *options, seconds=0.3, warm_up=0)
    for one in result["classes"]:
        assert one["errors"] == 0, result["complaints"]
    assert sum(one["transactions"] for one in result["classes"]) > 0


@pytest.mark.parametrize("script", sorted(path.stem for path in WORKLOADS.glob("*.sql")))
def test_every_pgbench_script(server, script):
    mode = "simple" if script.endswith("message") else "prepared"
    options = ["-C"] if script == "churn" else []
    command = ["pgbench", "-n", *options, "-h", server.directory, "-U", "tester", "-M", mode, "-c", 4, "-j", 2, "-t", 20,
               "-D", f"scale={SCALE}", "-D", "records=1000", "-f", WORKLOADS / f"{script}.sql", server.name]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "actually processed: 80/80" in done.stdout, done.stderr
    assert "number of failed transactions: 0" in done.stdout


def test_a_failing_statement_is_counted_and_rolled_back(load, query):
    workload = load.write("""
        [[class]]
        name = "colliding"
        clients = 2
        [[class.transaction]]
        statements = [
            { sql = "BEGIN" },
            { sql = "INSERT INTO bench_insert (client, value) VALUES (1, 'x')" },
            { sql = "INSERT INTO pgbench_branches (bid) VALUES (1)" },
            { sql = "COMMIT" },
        ]
        [[class.transaction]]
        statements = [ { sql = "SELECT count(*) FROM pgbench_branches" } ]
        """)
    result = load.run(workload)
    one = result["classes"][0]
    assert one["transactions"] > 0 and one["errors"] > 0
    assert one["error_states"] == {"23505": one["errors"]}
    assert len(result["complaints"]) == 1 and "pgbench_branches" in result["complaints"][0]
    assert query("SELECT count(*) FROM bench_insert") == [(0,)]


def test_serialization_failures_are_retried(load, query):
    workload = load.write("""
        [[class]]
        name = "counters"
        clients = 4
        isolation = "repeatable read"
        [[class.transaction]]
        statements = [
            { sql = "BEGIN" },
            { sql = "SELECT tbalance FROM pgbench_tellers WHERE tid = 1" },
            { sql = "UPDATE pgbench_tellers SET tbalance = tbalance + 1 WHERE tid = 1" },
            { sql = "COMMIT" },
        ]
        """)
    result = load.run(workload, "--retries", 1000)
    one = result["classes"][0]
    assert one["retries"] > 0 and one["error_states"]["40001"] == one["retries"] + one["errors"]
    assert query("SELECT tbalance FROM pgbench_tellers WHERE tid = 1") == [(answered(result),)]


def test_open_loop(load):
    def all_were_started():
        result = load.run("select", "--set", f"scale={SCALE}", "--rate", 200, seconds=1, warm_up=0)
        one = result["classes"][0]
        assert one["loop"] == "open" and one["rate_per_s"] == 200
        # So many were meant to start, however fast the server is.
        assert one["due"] == 200 and one["transactions"] + one["late_transactions"] + one["not_started"] == 200
        # The last may be late: at the end of the second a machine with other work may not have come to more of them.
        return one["not_started"] <= 8

    eventually(all_were_started, "a run in which the machine has time for the last ones")


def test_a_stall_is_not_omitted(start_daemon, database, tmp_path, query):
    """The daemon stands still for a second of four: what was meant to start then was slow."""
    # Four clients commit a thousand times a second on no disk that is slow, and who is not asked is not slow.
    server = start_daemon(database, options=["--synchronous", "normal"])
    load = Load(tmp_path, "--host", server.directory, "--database", server.name)
    process = subprocess.Popen(
        load.command("insert", "--rate", 1000, "--clients", 4, "--seconds", 4, "--warm-up", 0),
        stdout=subprocess.PIPE, text=True)
    # Connected is not begun: a stall before the first transaction is no part of the run.
    eventually(lambda: query("SELECT count(*) > 0 FROM bench_insert") == [(1,)], "the first row")
    os.kill(server.pid, signal.SIGSTOP)
    eventually(lambda: Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T", "a daemon that is stopped")
    stopped = time.time()
    time.sleep(1)
    went_on = time.time()
    os.kill(server.pid, signal.SIGCONT)
    result = json.loads(process.communicate(timeout=60)[0])
    one = result["classes"][0]
    latencies = decode(one["histogram"])
    slow = sum(count for value, count in latencies if value >= 100_000)
    # One was meant to start in each millisecond of the stall that was in the run, and those of all but its last tenth of a second,
    # a hundredth more for the histogram's steps, were slow, if they ended in the run.
    end = min(went_on, result["started_at"] + result["seconds"])
    meant = max(0, int((end - 0.11 - stopped) * 1000) - 1)
    unmeasured = one["late_transactions"] + one["not_started"]
    assert meant > 0, "the run was over before the stall"
    assert slow + unmeasured >= meant, (slow, unmeasured, meant, one["latency_us"])


def decode(text):
    """The histogram's latencies in microseconds, with how often each was counted."""
    compressed = base64.b64decode(text)
    cookie, length = struct.unpack_from(">II", compressed)
    assert cookie == 0x1C849314 and length == len(compressed) - 8
    raw = zlib.decompress(compressed[8:])
    cookie, length, offset, digits, lowest, highest, ratio = struct.unpack_from(">IIIIQQd", raw)
    assert (cookie, offset, digits, lowest, ratio) == (0x1C849313, 0, 3, 1, 1.0) and length == len(raw) - 40
    counts, index, position = [], 0, 40
    while position < len(raw):
        number = shift = 0
        while True:
            byte = raw[position]
            position += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        number = number >> 1 ^ -(number & 1)
        if number < 0:
            index -= number
            continue
        if number:
            bucket = max(0, (index >> 10) - 1)
            counts.append((index - (bucket << 10) << bucket, number))
        index += 1
    return counts


def test_the_histogram_can_be_read(load, tmp_path):
    log = tmp_path / "select.hdr"
    result = load.run("select", "--hdr-log", log, "--set", f"scale={SCALE}")
    one = result["classes"][0]
    latencies = decode(one["histogram"])
    assert sum(count for _, count in latencies) == one["transactions"]
    half = one["transactions"] / 2
    below = sum(count for value, count in latencies if value <= one["latency_us"]["p50"])
    assert below >= half
    lines = [line for line in log.read_text().splitlines() if not line.startswith(("#", '"'))]
    tag, start, length, highest, histogram = lines[0].split(",")
    assert (tag, start) == ("Tag=readers", "0.000") and float(length) <= 1
    assert sum(count for line in lines for _, count in decode(line.split(",")[4])) == one["transactions"]


def test_shape(load):
    result = load.run("select", "--set", f"scale={SCALE}", "--seed", 7, "--threads", 2)
    assert (result["format"], result["workload"], result["target"], result["seed"]) == (1, "select", "server", 7)
    assert result["warm_up_seconds"] == 0.1 and result["threads"] == 2 and result["seconds"] == pytest.approx(0.3)
    assert result["client_cpu_seconds"] >= 0
    one = result["classes"][0]
    assert set(one["latency_us"]) == {"mean", "p50", "p90", "p95", "p99", "p999", "p9999", "max"}
    figures = [one["latency_us"][name] for name in ("p50", "p90", "p95", "p99", "p999", "p9999", "max")]
    assert figures == sorted(figures)
    assert {"second", "transactions", "p99_us", "max_us"} == set(one["series"][0])
    assert one["loop"] == "closed" and one["rate_per_s"] is None and one["unfinished_us"] >= 0


def test_a_held_transaction_is_unfinished(load):
    """Who waits for longer than the run is seen."""
    workload = load.write("""
        [[class]]
        name = "holder"
        clients = 1
        [[class.transaction]]
        statements = [ { sql = "BEGIN" }, { sql = "SELECT 1" }, { hold_ms = 2500 }, { sql = "COMMIT" } ]
        """)
    one = load.run(workload, seconds=1.5, warm_up=0)["classes"][0]
    assert one["transactions"] == 0 and one["late_transactions"] == 1
    # It may have begun late.
    assert 500_000 <= one["unfinished_us"] <= 1_600_000 and one["latency_us"]["max"] >= 2_500_000


def test_a_thousand_sessions(load, server):
    result = load.run("idle", "--set", f"scale={SCALE}", "--clients", "readers=2,idlers=1000")
    readers, idlers = result["classes"]
    assert readers["transactions"] > 0 and idlers["clients"] == 1000 and idlers["idle"] is True
    assert readers["errors"] == idlers["errors"] == 0


def test_a_slow_reader_is_slow(load):
    workload = load.write("""
        [[class]]
        name = "slow"
        clients = 1
        read_bytes_per_s = 100000
        [[class.transaction]]
        statements = [ { sql = "SELECT aid, filler FROM pgbench_accounts" } ]
        """)
    one = load.run(workload, seconds=1.5, warm_up=0)["classes"][0]
    # 200 kB take two seconds. It may have begun late.
    assert one["transactions"] == 0 and one["unfinished_us"] >= 400_000


def test_a_reader_slower_than_the_servers_greeting(load):
    """What it leaves behind at each read is read later, before the run and in it."""
    workload = load.write("""
        [[class]]
        name = "slow"
        clients = 2
        read_bytes_per_s = 2000
        [[class.transaction]]
        statements = [ { sql = "SELECT 1" } ]
        """)
    one = load.run(workload, seconds=1, warm_up=0)["classes"][0]
    assert one["transactions"] > 0 and one["errors"] == 0


def until_it_works(process):
    """Reads its lines up to the first one that tells of transactions: a tenth of a second may pass without any."""
    while int(re.match(r"walpool-load: \w+ \d+ s, (\d+) transactions/s$", process.stderr.readline())[1]) == 0:
        pass


def test_ctrl_c(load, query):
    process = subprocess.Popen(
        load.command("insert", "--seconds", 60, "--warm-up", 0, "--progress", 0.1),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until_it_works(process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    result = json.loads(output)
    assert 0 < result["seconds"] < 60 and result["classes"][0]["transactions"] > 0
    assert query("SELECT count(*) FROM bench_insert") == [(answered(result),)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_while_it_connects(tmp_path, number):
    """Nothing has been measured yet, and the server may never take its clients: it ends at once."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / ".s.PGSQL.5432"))
        listener.listen(1)
        load = Load(tmp_path, "--host", tmp_path, "--database", "x")
        # A shell starts what runs in the background with SIGINT ignored, and so may have started the tests.
        process = subprocess.Popen(
            load.command("insert", "--clients", 20), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        assert select.select([listener], [], [], 30)[0], "nobody connects"
        process.send_signal(number)
        process.communicate(timeout=30)
        assert process.returncode == -number


def test_what_cannot_be_written_is_told_before_the_run(load, tmp_path):
    command = load.command("insert", "--seconds", 600, "--hdr-log", "/nowhere/x.hdr")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "cannot write /nowhere/x.hdr: No such file or directory" in done.stderr


@pytest.mark.parametrize("json_target, table_target", [("-", "/dev/full"), ("/dev/full", None), ("result.json", "/dev/full")])
def test_a_full_disk_loses_nothing_else(load, tmp_path, json_target, table_target):
    """Each output is tried, whatever becomes of the others, and the status says that one of them is not there."""
    path = json_target if json_target.startswith(("-", "/")) else tmp_path / json_target
    log = tmp_path / "select.hdr"
    command = [*load.command("select", "--seconds", 0.2, "--warm-up", 0), "--json", path, "--hdr-log", log]
    command.remove("--quiet")
    output = open(table_target, "w") if table_target else subprocess.PIPE
    done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1 and "No space left on device" in done.stderr, done.stderr
    assert "Tag=readers" in log.read_text()
    if json_target == "result.json":
        assert json.loads(path.read_text())["classes"][0]["transactions"] > 0
    else:
        assert "p99.9 ms" in (done.stderr if json_target == "-" else done.stdout)


@pytest.mark.parametrize("begin", ["immediate", "deferred"])
def test_direct(direct, query, begin):
    result = direct.run("insert", "--clients", 4, "--begin", begin)
    one = result["classes"][0]
    assert result["target"] == "direct" and result["threads"] == 4 and len(one["per_client"]) == 4
    assert one["transactions"] > 0 and result["client_cpu_seconds"] > 0
    assert query("SELECT count(*) FROM bench_insert") == [(answered(result),)]


def test_direct_transactions(direct, query):
    result = direct.run("tpcb", "--clients", 4, "--set", f"scale={SCALE}", "--synchronous", "normal")
    assert result["classes"][0]["errors"] == 0, result["complaints"]
    assert query("SELECT count(*) FROM pgbench_history") == [(answered(result),)]
    check_balances(query)


def test_direct_is_locked_out(direct, database):
    """Another process has the write lock: SQLITE_BUSY, as often as the timeout is over."""
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    one = direct.run("insert", "--clients", 2, "--busy-timeout", 50)["classes"][0]
    other.execute("ROLLBACK")
    other.close()
    assert one["transactions"] == 0 and one["errors"] >= 2
    assert one["error_states"] == {"SQLITE_BUSY": one["errors"]}


def test_direct_ctrl_c(direct, query):
    process = subprocess.Popen(
        direct.command("insert", "--clients", 4, "--seconds", 60, "--warm-up", 0, "--progress", 0.2),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "transactions/s" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    result = json.loads(output)
    assert result["seconds"] < 60 and query("SELECT count(*) FROM bench_insert") == [(answered(result),)]


def test_in_process(in_process, query):
    result = in_process.run("tpcb", "--clients", 4, "--set", f"scale={SCALE}")
    assert result["target"] == "in-process" and result["classes"][0]["transactions"] > 0
    assert query("SELECT count(*) FROM pgbench_history") == [(answered(result),)]
    check_balances(query)


@pytest.mark.parametrize("options, status, message", [
    (["--host", "/nowhere", "--database", "x"], 1, "cannot connect to /nowhere/.s.PGSQL.5432: No such file or directory"),
    (["--host", "/nowhere"], 2, "--host needs --database"),
    ([], 2, "name one target: --host, --direct or --in-process"),
    (["--direct", "/nowhere/x.db"], 1, "cannot open /nowhere/x.db: unable to open database file"),
    (["--direct", "x", "--set", "skale=1"], 2, 'there is no variable "skale"'),
    (["--direct", "x", "--clients", "writers=1"], 2, "the classes are readers"),
    (["--direct", "x", "--rate", "1e-10"], 2, '--rate: "1e-10" is not 0, or a number from 0.001 to 1000000000'),
    (["--direct", "x", "--rate", "1e300"], 2, '--rate: "1e300" is not'),
    (["--direct", "x", "--rate", "nan"], 2, '--rate: "nan" is not'),
    (["--direct", "x", "--progress", "inf"], 2, "--progress is a number from 0 to 1000000"),
    (["--direct", "x", "--progress", "nan"], 2, "--progress is a number from"),
    (["--direct", "x", "--progress", "1e300"], 2, "--progress is a number from"),
    (["--direct", "x", "--messages", "bulk"], 2, "--messages bulk: one of separate, pipeline, query"),
])
def test_refusals(tmp_path, options, status, message):
    load = Load(tmp_path, *options)
    load.run("select", status=status)
    assert message in load.errors and load.errors.startswith("walpool-load: ")
    assert load.errors.count("\n") == 1


def test_nobody_there_for_clients_that_connect_each_time(tmp_path):
    """They try again and again; a run in which none of them got through did not take place."""
    load = Load(tmp_path, "--host", "/nowhere", "--database", "x")
    load.run("churn", "--set", f"scale={SCALE}", status=1)
    assert "08001: cannot connect to /nowhere/.s.PGSQL.5432: No such file or directory" in load.errors


def test_what_is_wrong_in_a_file(tmp_path):
    load = Load(tmp_path, "--direct", "x")
    path = load.write('[[class]]\nname = "a"\nclients = 1\nrates = 2\n')
    load.run(path, status=2)
    assert load.errors.startswith(f'walpool-load: {path}: line 4: unknown key "rates" in [[class]]')


def test_a_statement_that_cannot_be_prepared(load):
    path = load.write('[[class]]\nname = "a"\n[[class.transaction]]\nstatements = [ { sql = "SELECT * FROM missing" } ]\n')
    load.run(path, status=1)
    assert "42P01" in load.errors and "missing" in load.errors


def test_a_server_that_goes(load, server):
    """The figures so far are told, and the status says that the run broke."""
    server.may_fail = True
    process = subprocess.Popen(
        load.command("select", "--set", f"scale={SCALE}", "--seconds", 600, "--warm-up", 0, "--progress", 0.1),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until_it_works(process)
    server.kill()
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and "the server has closed every connection" in errors
    result = json.loads(output)
    one = result["classes"][0]
    assert one["transactions"] > 0 and one["errors"] == 8
    # With nobody left there is nothing to measure; the time without clients is in no figure.
    assert result["seconds"] < 600


def test_clients_lost_while_they_wait(load, server):
    """Who has nothing under way when its connection ends is lost like the others."""
    workload = load.write("""
        [[class]]
        name = "paced"
        clients = 2
        think_ms = 1000000
        [[class.transaction]]
        statements = [ { sql = "SELECT 1" } ]
        [[class]]
        name = "idlers"
        clients = 3
        idle = true
        """)
    process = subprocess.Popen(
        load.command(workload, "--seconds", 600, "--warm-up", 300, "--progress", 0.1),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "transactions/s" in process.stderr.readline()
    with console(server) as admin:
        sessions = [row["id"] for row in show(admin, "CLIENTS") if row["application_name"] == "walpool-load"]
        assert len(sessions) == 5
        for session in sessions:
            admin.execute(f"KILL {session}")
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and "the server has closed every connection" in errors
    classes = json.loads(output)["classes"]
    assert [one["error_states"] for one in classes] == [{"57P01": 2}, {"57P01": 3}]


def test_an_open_loop_tells_what_it_did_not_start(load):
    """Four transactions take place in a second of twenty: the others are not forgotten."""
    workload = load.write("""
        [[class]]
        name = "holders"
        clients = 2
        rate = 20
        [[class.transaction]]
        statements = [ { sql = "BEGIN" }, { sql = "SELECT 1" }, { hold_ms = 500 }, { sql = "COMMIT" } ]
        """)
    one = load.run(workload, seconds=1, warm_up=0)["classes"][0]
    assert one["due"] == 20 and one["not_started"] >= 14
    assert one["transactions"] + one["late_transactions"] + one["not_started"] == 20
    # The oldest of them was due in the first half second.
    assert one["unfinished_us"] >= 500_000 and one["latency_us"]["max"] >= one["unfinished_us"]
