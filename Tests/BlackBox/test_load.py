"""walpool-load against the real daemon, and on a SQLite file without one: what it does, and that it counts it."""

import json
import re
import signal
import socket
import sqlite3
import struct
import subprocess
import time

import pytest

from load_fixtures import (  # noqa: F401 (fixtures)
    aimed_at, answered, check_balances, database, direct, in_process, load, query, SCALE, server, WORKLOADS)


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
        load.run("tpcb", "--messages", sent, "--protocol", protocol, status=2)
        assert "--messages query" in load.errors
        return
    if sent == "query" and protocol != "simple":
        load.run("tpcb", "--messages", sent, "--protocol", protocol, status=2)
        assert f"--protocol {protocol} means nothing with this workload: what its classes send is simple" in load.errors
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
    result = load.run(workload, *options, seconds=0.1, warm_up=0)
    for one in result["classes"]:
        assert one["errors"] == 0, result["complaints"]
    # On a slow machine none of them may have ended in so short a time.
    assert answered(result) > 0


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


def test_shape(load):
    options = ["--messages", "pipeline", "--protocol", "extended", "--retries", 3]
    result = load.run("select", "--set", f"scale={SCALE}", "--seed", 7, "--threads", 2, *options)
    assert (result["format"], result["workload"], result["target"], result["seed"]) == (3, "select", "server", 7)
    assert result["warm_up_seconds"] == 0.1 and result["threads"] == 2 and result["seconds"] == pytest.approx(0.3)
    assert result["client_cpu_seconds"] > 0
    assert result["options"] == {"protocol": "extended", "retries": 3} and result["variables"] == {"scale": SCALE}
    assert result["first_in_sequence"] > 0
    one = result["classes"][0]
    assert (one["protocol"], one["messages"], one["isolation"], one["think_ms"]) == ("extended", "pipeline", None, 0)
    assert set(one["latency_us"]) == {"mean", "p50", "p90", "p95", "p99", "p999", "p9999", "max"}
    figures = [one["latency_us"][name] for name in ("p50", "p90", "p95", "p99", "p999", "p9999", "max")]
    assert figures == sorted(figures)
    assert {"second", "transactions", "p99_us", "max_us"} == set(one["series"][0])
    assert one["loop"] == "closed" and one["rate_per_s"] is None and one["unfinished_us"] >= 0


@pytest.mark.parametrize("workload, sent", [("select", "prepared"), ("tpcb-message", "simple"), ("churn", "extended")])
def test_what_is_sent_by_itself(load, workload, sent):
    """A query string is a simple query, and a connection for each transaction has nothing prepared: the JSON says what was sent."""
    result = load.run(workload, "--set", f"scale={SCALE}")
    assert result["options"]["protocol"] == sent and [one["protocol"] for one in result["classes"]] == [sent]


def test_a_thousand_sessions(load, server):
    result = load.run("idle", "--set", f"scale={SCALE}", "--clients", "readers=2,idlers=1000")
    readers, idlers = result["classes"]
    assert (readers["protocol"], idlers["protocol"], idlers["messages"]) == ("prepared", None, None)
    assert readers["transactions"] > 0 and idlers["clients"] == 1000 and idlers["idle"] is True
    assert readers["errors"] == idlers["errors"] == 0


# Without a daemon


@pytest.mark.parametrize("begin", ["immediate", "deferred"])
def test_direct(direct, query, begin):
    result = direct.run("insert", "--clients", 4, "--begin", begin)
    one = result["classes"][0]
    assert result["options"] == {"synchronous": "full", "begin": begin, "busy_timeout_ms": 5000}
    assert (one["protocol"], one["messages"], one["isolation"]) == (None, None, None)
    assert result["target"] == "direct" and result["threads"] == 4 and len(one["per_client"]) == 4
    assert one["transactions"] > 0 and result["client_cpu_seconds"] > 0
    assert query("SELECT count(*) FROM bench_insert") == [(answered(result),)]


def test_direct_transactions(direct, query):
    result = direct.run("tpcb", "--clients", 4, "--set", f"scale={SCALE}", "--synchronous", "normal")
    assert result["classes"][0]["errors"] == 0, result["complaints"]
    assert query("SELECT count(*) FROM pgbench_history") == [(answered(result),)]
    check_balances(query)


def test_parameters_in_any_order(direct, in_process, query):
    """`$2` is the second value wherever it stands, as to a server, though SQLite numbers names in the order in which it meets them."""
    workload = direct.write("""
        [[class]]
        name = "writers"
        [[class.transaction]]
        statements = [ { sql = "INSERT INTO bench_insert (value, client) VALUES ($2, $1)", parameters = ["7", "9"] } ]
        """)
    for target in (direct, in_process):
        assert target.run(workload)["classes"][0]["errors"] == 0
        assert query("SELECT DISTINCT client, value FROM bench_insert") == [(7, "9")], target.target


def test_direct_is_locked_out(direct, database):
    """Another process has the write lock: SQLITE_BUSY, as often as the timeout is over."""
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    one = direct.run("insert", "--clients", 2, "--busy-timeout", 50, status=1)["classes"][0]
    other.execute("ROLLBACK")
    other.close()
    assert "not one transaction succeeded: SQLITE_BUSY: database is locked" in direct.errors
    assert one["transactions"] == 0 and one["errors"] >= 2
    assert one["error_states"] == {"SQLITE_BUSY": one["errors"]}


def test_direct_ctrl_c(direct, query):
    process = direct.start("insert", "--clients", 4, "--seconds", 60, "--warm-up", 0, "--progress", 0.2)
    assert "transactions/s" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    result = json.loads(output)
    assert result["seconds"] < 60 and query("SELECT count(*) FROM bench_insert") == [(answered(result),)]


def test_a_direct_client_says_nothing_that_nobody_reads(direct):
    """Its parent reads how far it is only with --progress. A pair of sockets holds a few hundred such messages, and a client that had
    sent them waited there to the end of the run: half of the transactions of a run of five minutes were missing."""
    ours, its = socket.socketpair()
    with ours:
        with its:
            process = direct.start("insert", "--seconds", 1.5, "--warm-up", 0, "--child", "0:0:0", stdin=its)
        ready = ours.recv(5, socket.MSG_WAITALL)
        assert ready == b"\0" * 5
        ours.sendall(struct.pack("=q", time.clock_gettime_ns(time.CLOCK_MONOTONIC)))
        said = b"".join(iter(lambda: ours.recv(1 << 16), b""))
    assert process.wait(60) == 0
    kinds = []
    while said:
        kind, length = struct.unpack_from("=BI", said)
        kinds.append(kind)
        said = said[5 + length:]
    # The tally, and no word before it.
    assert kinds == [3]


def test_in_process(in_process, query):
    result = in_process.run("tpcb", "--clients", 4, "--set", f"scale={SCALE}")
    assert result["target"] == "in-process" and result["classes"][0]["transactions"] > 0
    assert query("SELECT count(*) FROM pgbench_history") == [(answered(result),)]
    check_balances(query)
