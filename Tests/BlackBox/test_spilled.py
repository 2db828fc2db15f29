"""Transactions that outgrow the page cache and are undone in part. Before 3.50.2 SQLite would commit frames without their checksums
then, and lose every commit behind them when the -wal is read anew (CCommitFrames/include/commit_frames.h)."""

import pytest

from groups_fixtures import Group

MODES = ["full", "pipelined", "normal"]
# A table of 1,600 KB, and a cache of 200.
ROWS = 800
FILL = f"INSERT INTO t SELECT value, 0, hex(zeroblob(900)) FROM generate_series(1, {ROWS})"
# Pages leave the cache, and some are changed again that have: those of the second half first.
SPILL = ["UPDATE t SET n = n + 1", f"UPDATE t SET n = n + 1 WHERE id > {ROWS // 2}", f"UPDATE t SET n = n + 1 WHERE id > {ROWS // 2}"]


@pytest.fixture(params=MODES)
def small(request, start_daemon):
    daemon = start_daemon(options=["--synchronous", request.param], config="cache_size_kib = 200\n")
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, b TEXT)", "CREATE TABLE kept (id INTEGER PRIMARY KEY)", FILL)
    return daemon


def survives(daemon, ids):
    """What was acknowledged, and what is acknowledged from now on, is there after kill -9, and nothing else."""
    for id in range(1000, 1005):
        daemon.run(f"INSERT INTO kept VALUES ({id})")
    expected = "|".join(str(id) for id in [*ids, *range(1000, 1005)])
    look = ("SELECT group_concat(id, '|') || ' ' || (SELECT coalesce(sum(n), 0) || ' ' || count(*) FROM t) "
            "FROM (SELECT id FROM kept ORDER BY id)")
    before = daemon.value(look)
    assert before.split(" ")[0] == expected
    daemon.kill()
    daemon.restart()
    assert daemon.value(look) == before
    assert daemon.value("PRAGMA integrity_check") == "ok"
    return before


@pytest.mark.parametrize("more", [[], ["UPDATE t SET n = n + 10 WHERE id < 10"], SPILL], ids=["nothing", "little", "much"])
@pytest.mark.optimised("pipelined")
def test_rollback_to(small, more):
    client = small.client()
    for sql in ["BEGIN", "SAVEPOINT a", *SPILL, "ROLLBACK TO a", *more, "INSERT INTO kept VALUES (1)", "COMMIT"]:
        client.query(sql).check()
    client.query("BEGIN; INSERT INTO kept VALUES (2); COMMIT").check()
    assert survives(small, [1, 2]).endswith(f" {({0: 0, 1: 90, 3: 2 * ROWS}[len(more)])} {ROWS}")


def test_rollback_to_after_frames_that_were_written_again(small):
    client = small.client()
    for sql in ["BEGIN", *SPILL, "SAVEPOINT a", *SPILL, "ROLLBACK TO a", "INSERT INTO kept VALUES (1)", "COMMIT"]:
        client.query(sql).check()
    assert survives(small, [1]).endswith(f" {2 * ROWS} {ROWS}")


def test_a_member_that_fails_at_its_end(small):
    group = Group(small)
    group.add("INSERT INTO kept VALUES (1)")
    group.add("; ".join([*SPILL, "INSERT INTO kept VALUES (1)"]))
    group.add("INSERT INTO kept VALUES (2)")
    group.add("INSERT INTO kept VALUES (3); INSERT INTO kept VALUES (4)")
    assert group.outcomes() == [
        "INSERT 0 1", f"UPDATE {ROWS}; UPDATE {ROWS // 2}; UPDATE {ROWS // 2}; ERROR 23505", "INSERT 0 1", "INSERT 0 1; INSERT 0 1"]
    assert survives(small, [1, 2, 3, 4]).endswith(f" 0 {ROWS}")


@pytest.mark.parametrize("alone", [True, False])
def test_a_statement_that_fails_at_its_end(small, alone):
    small.run("DELETE FROM t", "CREATE INDEX i ON t (b)")
    failing = (f"INSERT INTO t SELECT CASE value WHEN {20 * ROWS} THEN 1 ELSE value END, value, hex(randomblob(8)) "
               f"FROM generate_series(1, {20 * ROWS})")
    group = Group(small)
    if not alone:
        group.add("INSERT INTO kept VALUES (1)")
    group.add(failing)
    if not alone:
        group.add("INSERT INTO kept VALUES (2)")
    expected = ["INSERT 0 1", "ERROR 23505", "INSERT 0 1"]
    assert group.outcomes() == (expected[1:2] if alone else expected)
    assert survives(small, [] if alone else [1, 2]).endswith(" 0 0")
