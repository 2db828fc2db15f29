"""No connection is used by two threads: what ran on a reader has ended when the reader is somebody else's.

SQLite's connections are open without mutexes: two threads in one end the daemon sooner or later.
"""

import threading

import pytest

import wire

# So many values make a statement too large for the cache, so that it ends with its run; and that takes a while.
VALUES = ",".join(map(str, range(1, 20_001)))
QUERY = f"SELECT a, b FROM t WHERE a IN ({VALUES})"

# Each with what goes before it in a message of its own, and comes behind.
ENDS = {
    # As Django's iterator() does outside of a transaction.
    "held at once": [f"DECLARE h NO SCROLL CURSOR WITH HOLD FOR {QUERY}", "FETCH 100 FROM h", "CLOSE h"],
    "held by a commit": [f"BEGIN; DECLARE h CURSOR WITH HOLD FOR {QUERY}", "FETCH 1 FROM h", "COMMIT", "CLOSE h"],
    "passed over": [f"BEGIN; DECLARE h CURSOR FOR {QUERY}", "MOVE ALL IN h", "COMMIT"],
    "read to the end": [f"BEGIN; DECLARE h CURSOR FOR {QUERY}", "FETCH ALL FROM h", "COMMIT"],
    "closed before": [f"BEGIN; DECLARE h CURSOR FOR {QUERY}", "FETCH 1 FROM h", "CLOSE h", "COMMIT"],
    "failed": [f"BEGIN; DECLARE h CURSOR FOR SELECT a / 1, abs(a - 9223372036854775807 - 1 - a * (a < 150)) FROM t WHERE a IN ({VALUES})",
               "FETCH 1 FROM h", "ROLLBACK"],
    "explained": [f"EXPLAIN QUERY PLAN {QUERY}"],
}


@pytest.fixture
def served(start_daemon):
    daemon = start_daemon(config="readers = 2\n")
    daemon.run("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)", "INSERT INTO t SELECT value, 'x' || value FROM generate_series(1, 200)")
    return daemon


@pytest.mark.parametrize("end", ENDS)
def test_beside_others(served, end):
    is_over = threading.Event()
    counts, failures = [0] * 4, []

    def read(number):
        try:
            with served.client() as client:
                while not is_over.is_set():
                    assert client.query(f"SELECT b FROM t WHERE a = {counts[number] % 200 + 1} AND {counts[number]} = {counts[number]}").check().texts
                    counts[number] += 1
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=read, args=[number]) for number in range(len(counts))]
    for thread in threads:
        thread.start()
    try:
        with served.client() as client:
            for _ in range(25):
                for sql in ENDS[end]:
                    reply = client.query(sql)
                    assert not reply.closed and (not reply.errors or end == "failed"), reply
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert not failures and all(counts) and served.is_running
