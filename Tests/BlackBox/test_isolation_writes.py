"""What two transactions that write may come to: G0, P4, G2-item, G2. hermitage.py has the whole table."""

import pytest

from hermitage import COMMITTED, every_level, every_snapshot, two_rows
from interleaving import interleave


@pytest.fixture
def db(shared):
    return two_rows(shared)


# G0, dirty write: two transactions' writes to two rows are ordered differently in each.


@every_level
def test_g0_dirty_write(db, level):
    interleave(db, f"""
        a                                                  | b
        BEGIN {level}                                      |
                                                           | BEGIN {level}
        UPDATE test SET value = 11 WHERE id = 1            |
                                                           | UPDATE test SET value = 12 WHERE id = 1 => waits
        UPDATE test SET value = 21 WHERE id = 2            |
        COMMIT => COMMIT [I]                               |
                                                           | ... => UPDATE 1 [T]
        SELECT value FROM test => 11, 21                   |
                                                           | UPDATE test SET value = 22 WHERE id = 2
                                                           | COMMIT => COMMIT [I]
        SELECT value FROM test => 12, 22                   |
    """)


# P4, lost update: both read, both write what they made of it, and one write is as if it had not been.


def test_p4_happens_at_read_committed(db):
    interleave(db, f"""
        a                                                  | b
        BEGIN {COMMITTED}                                  |
                                                           | BEGIN {COMMITTED}
        SELECT value FROM test WHERE id = 1 => 10          |
                                                           | SELECT value FROM test WHERE id = 1 => 10
        UPDATE test SET value = 11 WHERE id = 1            |
                                                           | UPDATE test SET value = 11 WHERE id = 1 => waits
        COMMIT                                             |
                                                           | ... => UPDATE 1
                                                           | COMMIT => COMMIT [I]
        SELECT value FROM test WHERE id = 1 => 11          |
    """)


@pytest.mark.parametrize("first", ["UPDATE test SET value = 0 WHERE id = 2", "DELETE FROM test WHERE id = 99"])
def test_p4_at_read_committed_when_the_write_comes_first(db, first):
    # From the first write on, even one that changes nothing, reads are of the newest state and it stays that.
    interleave(db, f"""
        a                                                  | b
        BEGIN {COMMITTED}                                  |
                                                           | BEGIN {COMMITTED}
        {first}                                            |
                                                           | {first} => waits
        SELECT value FROM test WHERE id = 1 => 10          |
        UPDATE test SET value = 11 WHERE id = 1            |
        COMMIT                                             |
                                                           | ...
                                                           | SELECT value FROM test WHERE id = 1 => 11
                                                           | UPDATE test SET value = 12 WHERE id = 1
                                                           | COMMIT => COMMIT [I]
        SELECT value FROM test WHERE id = 1 => 12          |
    """)


def test_p4_at_read_committed_when_one_statement_reads_and_writes(db):
    interleave(db, f"""
        a                                                  | b
        BEGIN {COMMITTED}                                  |
                                                           | BEGIN {COMMITTED}
        UPDATE test SET value = value + 1 WHERE id = 1     |
                                                           | UPDATE test SET value = value + 1 WHERE id = 1 => waits
        COMMIT                                             |
                                                           | ... => UPDATE 1
                                                           | COMMIT => COMMIT [I]
        SELECT value FROM test WHERE id = 1 => 12          |
    """)


@every_snapshot
def test_p4_lost_update(db, level):
    interleave(db, f"""
        a                                                  | b
        BEGIN {level}                                      |
                                                           | BEGIN {level}
        SELECT value FROM test WHERE id = 1 => 10          |
                                                           | SELECT value FROM test WHERE id = 1 => 10
        UPDATE test SET value = 11 WHERE id = 1            |
                                                           | UPDATE test SET value = 11 WHERE id = 1 => waits
        COMMIT                                             |
                                                           | ... => ERROR 40001 [E]
                                                           | ROLLBACK
        SELECT value FROM test WHERE id = 1 => 11          |
    """)


# G2-item and G2, write skew: each of two transactions writes what would have changed the other's read.


def test_g2_item_happens_at_read_committed(db):
    interleave(db, f"""
        a                                                  | b
        BEGIN {COMMITTED}                                  |
                                                           | BEGIN {COMMITTED}
        SELECT value FROM test => 10, 20                   |
                                                           | SELECT value FROM test => 10, 20
        UPDATE test SET value = 11 WHERE id = 1            |
                                                           | UPDATE test SET value = 21 WHERE id = 2 => waits
        COMMIT                                             |
                                                           | ... => UPDATE 1
                                                           | COMMIT => COMMIT [I]
        SELECT value FROM test => 11, 21                   |
    """)


@every_snapshot
def test_g2_item_write_skew(db, level):
    interleave(db, f"""
        a                                                  | b
        BEGIN {level}                                      |
                                                           | BEGIN {level}
        SELECT value FROM test => 10, 20                   |
                                                           | SELECT value FROM test => 10, 20
        UPDATE test SET value = 11 WHERE id = 1            |
                                                           | UPDATE test SET value = 21 WHERE id = 2 => waits
        COMMIT                                             |
                                                           | ... => ERROR 40001 [E]
                                                           | ROLLBACK
        SELECT value FROM test => 11, 20                   |
    """)


def test_g2_happens_at_read_committed(db):
    interleave(db, f"""
        a                                                  | b
        BEGIN {COMMITTED}                                  |
                                                           | BEGIN {COMMITTED}
        SELECT * FROM test WHERE value % 3 = 0 => none     |
                                                           | SELECT * FROM test WHERE value % 3 = 0 => none
        INSERT INTO test VALUES (3, 30)                    |
                                                           | INSERT INTO test VALUES (4, 42) => waits
        COMMIT                                             |
                                                           | ... => INSERT 0 1
                                                           | COMMIT => COMMIT [I]
        SELECT * FROM test WHERE value % 3 = 0 => 3/30, 4/42 |
    """)


@every_snapshot
def test_g2_write_skew_of_predicates(db, level):
    interleave(db, f"""
        a                                                  | b
        BEGIN {level}                                      |
                                                           | BEGIN {level}
        SELECT * FROM test WHERE value % 3 = 0 => none     |
                                                           | SELECT * FROM test WHERE value % 3 = 0 => none
        INSERT INTO test VALUES (3, 30)                    |
                                                           | INSERT INTO test VALUES (4, 42) => waits
        COMMIT                                             |
                                                           | ... => ERROR 40001 [E]
                                                           | ROLLBACK
        SELECT * FROM test WHERE value % 3 = 0 => 3/30     |
    """)


@every_snapshot
def test_g2_with_two_edges_of_reads(db, level):
    # Fekete's read-only anomaly: without c, a could come before b.
    interleave(db, f"""
        a                                       | b                                                | c
        BEGIN {level}                           |                                                  |
        SELECT value FROM test => 10, 20        |                                                  |
                                                | BEGIN {level}                                    |
                                                | UPDATE test SET value = value + 5 WHERE id = 2   |
                                                | COMMIT                                           |
                                                |                                                  | BEGIN {level}
                                                |                                                  | SELECT value FROM test => 10, 25
                                                |                                                  | COMMIT
        UPDATE test SET value = 0 WHERE id = 1 => ERROR 40001 [E] |                                |
        ROLLBACK                                |                                                  |
    """)


# IMMEDIATE holds the writer from BEGIN on: of two transactions the second does not even read before the first ends.


@pytest.mark.parametrize("kind", ["IMMEDIATE", "EXCLUSIVE"])
@pytest.mark.parametrize("read, a_writes, b_writes, before, between, after", [
    pytest.param("SELECT value FROM test WHERE id = 1", "UPDATE test SET value = 11 WHERE id = 1",
                 "UPDATE test SET value = 12 WHERE id = 1", "10", "11", "12", id="P4"),
    pytest.param("SELECT value FROM test", "UPDATE test SET value = value + 1",
                 "UPDATE test SET value = 22 WHERE id = 2", "10, 20", "11, 21", "11, 22", id="G2-item"),
    pytest.param("SELECT * FROM test WHERE value % 3 = 0", "INSERT INTO test VALUES (3, 30)",
                 "INSERT INTO test VALUES (4, 42)", "none", "3/30", "3/30, 4/42", id="G2"),
])
def test_immediate_prevents_all(db, kind, read, a_writes, b_writes, before, between, after):
    interleave(db, f"""
        a                       | b
        BEGIN {kind}            |
                                | BEGIN {kind} => waits
        {read} => {before}      |
        {a_writes}              |
        {read} => {between}     |
        COMMIT                  |
                                | ... => BEGIN [T]
                                | {read} => {between}
                                | {b_writes}
                                | COMMIT => COMMIT [I]
        {read} => {after}       |
    """)
