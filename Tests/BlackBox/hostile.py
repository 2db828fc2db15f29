"""A daemon with little memory to give, and somebody who works beside those who want more."""

import os

import pytest

from daemon import Daemon

MEBIBYTE = 1 << 20
STATEMENT_LIMIT, TOTAL_LIMIT = 96 * MEBIBYTE, 192 * MEBIBYTE
READERS = 4
# What SQLite gives back stays with the thread's arena of malloc for a while, so each thread may keep a statement's limit: as many threads
# as PollerCensus.threads says. Beside it: the debug build, buffers of the wire, stacks.
RESIDENT_LIMIT = STATEMENT_LIMIT * (max(READERS + 3, os.cpu_count() + 1) + 2) + 320 * MEBIBYTE
CONFIG = f"""
statement_memory_limit_bytes = {STATEMENT_LIMIT}
sqlite_memory_limit_bytes = {TOTAL_LIMIT}
readers = {READERS}
"""


@pytest.fixture(scope="module")
def served():
    daemon = Daemon(config=CONFIG)
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)", "INSERT INTO t VALUES (1, 'x')",
               "CREATE TABLE log (n INTEGER)", "CREATE TABLE parent (id INTEGER PRIMARY KEY)",
               "CREATE VIRTUAL TABLE f USING fts5(a, b)", "CREATE VIRTUAL TABLE f4 USING fts4(a)",
               "INSERT INTO f SELECT 'some words ' || value, 'more' FROM json_each('[1,2,3,4,5,6,7,8,9]')",
               "INSERT INTO f4 SELECT a FROM f")
    yield daemon
    daemon.close()


@pytest.fixture
def bystander(served):
    """Somebody else, who reads and writes while the others do what they do, and after it."""
    client = served.client()

    def works():
        count = int(client.value("SELECT count(*) FROM log"))
        for step in range(5):
            assert client.query("SELECT v FROM t WHERE id = 1").value == "x"
            assert client.query(f"INSERT INTO log VALUES ({step})").tag == "INSERT 0 1"
        assert int(client.value("SELECT count(*) FROM log")) == count + 5

    works()
    yield works
    works()
    client.close()
    served.check_alive()


ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"
