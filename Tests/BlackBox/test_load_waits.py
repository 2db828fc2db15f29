"""What walpool-load measures of waiting: of who could not be started, did not finish, or reads slowly."""

import base64
import json
import os
import signal
import struct
import time
import zlib

import pytest

from daemon import eventually, halt
from load_fixtures import aimed_at, answered, database, load, query, SCALE, server  # noqa: F401 (fixtures)


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
    everything_due(one)
    # The oldest of them was due in the first half second.
    assert one["unfinished_us"] >= 500_000 and one["latency_us"]["max"] >= one["unfinished_us"]


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


def everything_due(one):
    """Of an open loop: each that was due is accounted for, and has a latency."""
    assert one["due"] == one["transactions"] + one["late_transactions"] + one["not_started"] + one["errors"]
    latencies = decode(one["histogram"])
    assert sum(count for _, count in latencies) == one["due"]
    assert sum(second["transactions"] for second in one["series"]) == one["transactions"]
    return latencies


def test_a_stall_is_not_omitted(start_daemon, database, aimed_at, query):
    """The daemon stands still for a second of four: what was meant to start then was slow."""
    # Four clients commit a thousand times a second on no disk that is slow, and who is not asked is not slow.
    server = start_daemon(database, options=["--synchronous", "normal"])
    load = aimed_at("--host", server.directory, "--database", server.name)
    process = load.start("insert", "--rate", 1000, "--clients", 4, "--seconds", 4, "--warm-up", 0)
    # Connected is not begun: a stall before the first transaction is no part of the run.
    eventually(lambda: query("SELECT count(*) > 0 FROM bench_insert") == [(1,)], "the first row")
    halt(server.pid)
    stopped = time.time()
    time.sleep(1)
    went_on = time.time()
    os.kill(server.pid, signal.SIGCONT)
    result = json.loads(process.communicate(timeout=60)[0])
    one = result["classes"][0]
    latencies = everything_due(one)
    slow = sum(count for value, count in latencies if value >= 100_000)
    # One was meant to start in each millisecond of the stall that was in the run, and those of all but its last tenth of a second,
    # a hundredth more for the histogram's steps, were slow, whether they ended in the run or not.
    end = min(went_on, result["started_at"] + result["seconds"])
    meant = max(0, int((end - 0.11 - stopped) * 1000) - 1)
    assert meant > 0, "the run was over before the stall"
    assert slow >= meant, (slow, meant, one["latency_us"])


def test_a_stall_in_the_warm_up_stays_there(start_daemon, database, aimed_at, query):
    """What it has left behind is done in the measured time, and is no part of it: neither is there more than was due."""
    server = start_daemon(database, options=["--synchronous", "normal"])
    load = aimed_at("--host", server.directory, "--database", server.name)
    process = load.start("insert", "--rate", 500, "--clients", 4, "--seconds", 1, "--warm-up", 2, "--progress", 0.1)
    eventually(lambda: query("SELECT count(*) > 0 FROM bench_insert") == [(1,)], "the first row")
    halt(server.pid)
    # Until the measured time has begun.
    while "warm-up" in process.stderr.readline():
        pass
    os.kill(server.pid, signal.SIGCONT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    result = json.loads(output)
    one = result["classes"][0]
    assert one["due"] == 500
    everything_due(one)
    assert query("SELECT count(*) FROM bench_insert") == [(answered(result),)]


@pytest.mark.optimised
def test_a_server_that_hangs_to_the_end_and_beyond(start_daemon, database, aimed_at, query):
    """It owes each client an answer when the generator gives up: that is an error, and what was due is not forgotten."""
    server = start_daemon(database, options=["--synchronous", "normal"])
    load = aimed_at("--host", server.directory, "--database", server.name)
    process = load.start("insert", "--rate", 1000, "--clients", 4, "--seconds", 2, "--warm-up", 0)
    eventually(lambda: query("SELECT count(*) > 0 FROM bench_insert") == [(1,)], "the first row")
    halt(server.pid)
    stopped = time.time()
    output, errors = process.communicate(timeout=60)
    os.kill(server.pid, signal.SIGCONT)
    assert process.returncode == 1 and "4 clients had no answer 10 s after the end" in errors
    result = json.loads(output)
    one = result["classes"][0]
    assert one["errors"] == 4 and one["error_states"] == {"not answered": 4}
    assert result["complaints"] == ["not answered when the run was given up"]
    latencies = everything_due(one)
    # From before the end until ten seconds after it.
    assert one["latency_us"]["max"] >= 10_000_000 + one["unfinished_us"] > 10_000_000
    meant = int((result["started_at"] + result["seconds"] - 0.11 - stopped) * 1000) - 1
    assert meant > 0, "the run was over before the stall"
    assert sum(count for value, count in latencies if value >= 100_000) >= meant


def test_a_stall_that_ends_with_an_error_is_not_omitted(load):
    """Each waits, and then fails: what was due is in the percentiles with the time until it did, and the errors are told beside them."""
    workload = load.write("""
        [[class]]
        name = "failing"
        clients = 4
        rate = 20
        [[class.transaction]]
        statements = [
            { sql = "BEGIN" }, { sql = "SELECT 1" }, { hold_ms = 100 },
            { sql = "INSERT INTO pgbench_branches (bid) VALUES (1)" }, { sql = "COMMIT" },
        ]
        [[class]]
        name = "readers"
        [[class.transaction]]
        statements = [ { sql = "SELECT 1" } ]
        """)
    one = load.run(workload, seconds=1, warm_up=0)["classes"][0]
    assert one["due"] == 20 and one["transactions"] == 0 and one["errors"] > 0
    latencies = everything_due(one)
    # A hundredth less for the histogram's steps. Who was not started waited for the end, and the last not as long.
    slow = sum(count for value, count in latencies if value >= 99_000)
    assert slow >= one["errors"] and one["latency_us"]["p50"] >= 99_000


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
    # It may have begun late, but in the run, whose end is when it is planned.
    assert 0 < one["unfinished_us"] <= 1_500_000 and one["latency_us"]["max"] >= 2_500_000


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
    assert one["transactions"] == 0 and one["unfinished_us"] > 0


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
