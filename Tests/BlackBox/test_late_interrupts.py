"""A statement that is stopped when it has already done everything.

SQLite asks the progress handler once more at the end of `sqlite3_step`, after the statement's last instruction, and
counts the instructions of all runs of a prepared statement together. So even a short one, such as BEGIN IMMEDIATE,
may come back as SQLITE_INTERRUPT although it has taken effect (vdbe_return in
https://www.sqlite.org/src/file/src/vdbe.c).
"""

import time

import pytest

import wire


def race(daemon, sql, after, attempts=1000):
    """Lets `sql` wait for the writer until its statement_timeout has passed, and gives it the writer in the moment
    before the timeout is noticed. Calls `after` with each reply. Some come out one way, some the other."""
    stopped = 0
    holder, late = daemon.client(), daemon.client()
    late.query("SET statement_timeout = 1").check()
    wait = 0.001
    for _ in range(attempts):
        holder.query("BEGIN IMMEDIATE").check()
        late.send(wire.query(sql))
        moment = time.perf_counter() + wait
        while time.perf_counter() < moment:
            pass
        holder.query("COMMIT").check()
        reply = late.reply()
        if reply.errors:
            stopped += 1
            assert (reply.state, reply.error["M"]) == ("57014", "canceling statement due to statement timeout"), reply.errors
        assert reply.status == ("T" if sql.startswith("BEGIN") and not reply.errors else "I"), reply
        # Finds that moment, and stays with it.
        wait += -0.00002 if reply.errors else 0.000004
        after(holder, late, reply)
    assert 0 < stopped < attempts


def test_a_begin_that_is_stopped_late_leaves_no_transaction(start_daemon):
    # BEGIN IMMEDIATE is so short that SQLite asks at its end about every two-hundredth time.
    race(start_daemon(), "BEGIN IMMEDIATE", lambda holder, late, reply: late.query("ROLLBACK").check(), attempts=1000)


@pytest.mark.parametrize("undo, sql", [
    ("DROP TABLE made", "CREATE TABLE made (n)"),
    pytest.param("DROP INDEX made", "CREATE INDEX made ON t (n)", marks=pytest.mark.optimised),
])
def test_what_is_stopped_late_is_not_done(start_daemon, undo, sql):
    daemon = start_daemon()
    daemon.run("CREATE TABLE t (n)")

    def check(holder, _, reply):
        exists = holder.value("SELECT count(*) FROM sqlite_schema WHERE name = 'made'") == "1"
        assert exists == (reply.state is None), f"{reply.errors}, and it was done"
        if exists:
            holder.query(undo).check()

    race(daemon, sql, check)


def test_an_insert_that_is_stopped_late_is_not_done(start_daemon):
    daemon = start_daemon()
    daemon.run("CREATE TABLE t (n)")
    inserted = 0

    def check(holder, _, reply):
        nonlocal inserted
        inserted += reply.state is None
        assert holder.value("SELECT count(*) FROM t") == str(inserted), f"{reply.errors}"

    race(daemon, "INSERT INTO t VALUES (1)", check)
