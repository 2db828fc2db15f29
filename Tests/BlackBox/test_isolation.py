"""The isolation anomalies of Martin Kleppmann's Hermitage (https://github.com/ept/hermitage), drawn.

The names are Adya's and Bailis's; the interleavings are Hermitage's, with what Walpool answers.

|                | READ COMMITTED                      | REPEATABLE READ, SERIALIZABLE, DEFERRED | IMMEDIATE |
|----------------|-------------------------------------|-----------------------------------------|-----------|
| G0             | prevented                           | prevented                               | prevented |
| G1a, G1b, G1c  | prevented                           | prevented                               | prevented |
| OTV            | prevented                           | prevented                               | prevented |
| PMP            | happens before the first write only | prevented                               | prevented |
| P4             | happens if read before the write    | prevented: 40001                        | prevented |
| G-single       | happens before the first write only | prevented                               | prevented |
| G2-item, G2    | happens if read before the write    | prevented: 40001                        | prevented |

Why: one transaction writes at a time, from its first write to its end, and a snapshot may become a writer only while
it is the newest state. So a snapshot level is serializable whatever its name. PostgreSQL's REPEATABLE READ lets G2
through; the standard allows more isolation than was asked for:
https://www.postgresql.org/docs/current/transaction-iso.html.
A snapshot begins with the transaction's first read, as PostgreSQL's does with its first statement.
"""

import pytest

from interleaving import interleave

COMMITTED = "ISOLATION LEVEL READ COMMITTED"
SNAPSHOTS = ["ISOLATION LEVEL REPEATABLE READ", "ISOLATION LEVEL SERIALIZABLE", "DEFERRED"]

every_level = pytest.mark.parametrize("level", [COMMITTED, *SNAPSHOTS])
every_snapshot = pytest.mark.parametrize("level", SNAPSHOTS)


@pytest.fixture
def db(shared):
    shared.run("DROP TABLE IF EXISTS test", "CREATE TABLE test (id INTEGER PRIMARY KEY, value INTEGER)",
               "INSERT INTO test VALUES (1, 10), (2, 20)")
    return shared


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


# G1a, aborted read: what is rolled back was seen by somebody.


@every_level
def test_g1a_aborted_read(db, level):
    interleave(db, f"""
        a                                                  | b
        BEGIN {level}                                      |
                                                           | BEGIN {level}
        UPDATE test SET value = 101 WHERE id = 1           |
                                                           | SELECT value FROM test => 10, 20
        ROLLBACK                                           |
                                                           | SELECT value FROM test => 10, 20
                                                           | COMMIT
    """)


@pytest.mark.parametrize("end", [
    "INSERT INTO test VALUES (2, 0) => ERROR 23505 [E]", "closes"])
@every_level
def test_g1a_aborted_by_an_error_or_a_dead_client(db, level, end):
    interleave(db, f"""
        a                                                  | b
        BEGIN {level}                                      |
                                                           | BEGIN {level}
        UPDATE test SET value = 101 WHERE id = 1           |
                                                           | SELECT value FROM test => 10, 20
        {end}                                              |
                                                           | SELECT value FROM test => 10, 20
                                                           | UPDATE test SET value = value + 1 => UPDATE 2
                                                           | COMMIT
                                                           | SELECT value FROM test => 11, 21
    """)


# G1b, intermediate read: a state between two writes of one transaction was seen by another.


def test_g1b_intermediate_read_at_read_committed(db):
    interleave(db, f"""
        a                                                  | b
        BEGIN {COMMITTED}                                  |
                                                           | BEGIN {COMMITTED}
        UPDATE test SET value = 101 WHERE id = 1           |
                                                           | SELECT value FROM test => 10, 20
        UPDATE test SET value = 11 WHERE id = 1            |
                                                           | SELECT value FROM test => 10, 20
        COMMIT                                             |
                                                           | SELECT value FROM test => 11, 20
                                                           | COMMIT
    """)


@every_snapshot
def test_g1b_intermediate_read(db, level):
    interleave(db, f"""
        a                                                  | b
        BEGIN {level}                                      |
                                                           | BEGIN {level}
        UPDATE test SET value = 101 WHERE id = 1           |
                                                           | SELECT value FROM test => 10, 20
        UPDATE test SET value = 11 WHERE id = 1            |
        COMMIT                                             |
                                                           | SELECT value FROM test => 10, 20
                                                           | COMMIT
    """)


# G1c, circular information flow: each of two transactions sees the other's write.


@every_level
def test_g1c_circular_information_flow(db, level):
    interleave(db, f"""
        a                                                  | b
        BEGIN {level}                                      |
                                                           | BEGIN {level}
        UPDATE test SET value = 11 WHERE id = 1            |
                                                           | UPDATE test SET value = 22 WHERE id = 2 => waits
        SELECT value FROM test WHERE id = 2 => 20          |
        COMMIT                                             |
                                                           | ... => UPDATE 1
                                                           | SELECT value FROM test WHERE id = 1 => 11
                                                           | COMMIT
    """)


# OTV, observed transaction vanishes: of a transaction that was seen, a part is not seen any more.


def test_otv_at_read_committed(db):
    interleave(db, f"""
        a                                       | b                                                | c
        BEGIN {COMMITTED}                       |                                                  |
                                                | BEGIN {COMMITTED}                                |
                                                |                                                  | BEGIN {COMMITTED}
        UPDATE test SET value = 11 WHERE id = 1 |                                                  |
        UPDATE test SET value = 19 WHERE id = 2 |                                                  |
                                                | UPDATE test SET value = 12 WHERE id = 1 => waits |
        COMMIT                                  |                                                  |
                                                | ... => UPDATE 1                                  |
                                                |                                                  | SELECT value FROM test => 11, 19
                                                | UPDATE test SET value = 18 WHERE id = 2          |
                                                |                                                  | SELECT value FROM test => 11, 19
                                                | COMMIT                                           |
                                                |                                                  | SELECT value FROM test WHERE id = 2 => 18
                                                |                                                  | SELECT value FROM test WHERE id = 1 => 12
                                                |                                                  | COMMIT
    """)


@every_snapshot
def test_otv(db, level):
    interleave(db, f"""
        a                                       | b                                                | c
        BEGIN {level}                           |                                                  |
                                                | BEGIN {level}                                    |
                                                |                                                  | BEGIN {level}
        UPDATE test SET value = 11 WHERE id = 1 |                                                  |
        UPDATE test SET value = 19 WHERE id = 2 |                                                  |
                                                | UPDATE test SET value = 12 WHERE id = 1 => waits |
        COMMIT                                  |                                                  |
                                                | ... => UPDATE 1                                  |
                                                |                                                  | SELECT value FROM test WHERE id = 1 => 11
                                                | UPDATE test SET value = 18 WHERE id = 2          |
                                                |                                                  | SELECT value FROM test WHERE id = 2 => 19
                                                | COMMIT                                           |
                                                |                                                  | SELECT value FROM test => 11, 19
                                                |                                                  | COMMIT
    """)


# PMP, predicate-many-preceders: one predicate read sees a commit the one before did not.


def test_pmp_happens_at_read_committed(db):
    interleave(db, f"""
        a                                                  | b
        BEGIN {COMMITTED}                                  |
                                                           | BEGIN {COMMITTED}
        SELECT * FROM test WHERE value = 30 => none        |
                                                           | INSERT INTO test VALUES (3, 30)
                                                           | COMMIT
        SELECT * FROM test WHERE value % 3 = 0 => 3/30     |
        COMMIT                                             |
    """)


def test_pmp_at_read_committed_after_the_first_write(db):
    # The writer is this transaction's, so nobody can commit between its reads.
    interleave(db, f"""
        a                                                  | b
        BEGIN {COMMITTED}                                  |
        UPDATE test SET value = 11 WHERE id = 1            |
        SELECT * FROM test WHERE value = 30 => none        |
                                                           | INSERT INTO test VALUES (3, 30) => waits
        SELECT * FROM test WHERE value % 3 = 0 => none     |
        COMMIT                                             |
                                                           | ... => INSERT 0 1
    """)


@every_snapshot
def test_pmp(db, level):
    interleave(db, f"""
        a                                                  | b
        BEGIN {level}                                      |
                                                           | BEGIN {level}
        SELECT * FROM test WHERE value = 30 => none        |
                                                           | INSERT INTO test VALUES (3, 30)
                                                           | COMMIT
        SELECT * FROM test WHERE value % 3 = 0 => none     |
        COMMIT                                             |
    """)


def test_pmp_of_a_write_at_read_committed(db):
    # PostgreSQL deletes nothing here, since it waits for the row and then finds that it no longer fits. Here the
    # whole statement waits, and sees what the other has committed.
    interleave(db, f"""
        a                                                  | b
        BEGIN {COMMITTED}                                  |
                                                           | BEGIN {COMMITTED}
        UPDATE test SET value = value + 10                 |
                                                           | SELECT * FROM test WHERE value = 20 => 2/20
                                                           | DELETE FROM test WHERE value = 20 => waits
        COMMIT                                             |
                                                           | ... => DELETE 1
                                                           | SELECT * FROM test => 2/30
                                                           | COMMIT
    """)


@every_snapshot
def test_pmp_of_a_write(db, level):
    interleave(db, f"""
        a                                                  | b
        BEGIN {level}                                      |
                                                           | BEGIN {level}
        UPDATE test SET value = value + 10                 |
                                                           | SELECT * FROM test WHERE value = 20 => 2/20
                                                           | DELETE FROM test WHERE value = 20 => waits
        COMMIT                                             |
                                                           | ... => ERROR 40001 [E]
                                                           | ROLLBACK
        SELECT * FROM test => 1/20, 2/30                   |
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


# G-single, read skew: a transaction sees one row before and one after another transaction.


def test_g_single_happens_at_read_committed(db):
    interleave(db, f"""
        a                                                  | b
        BEGIN {COMMITTED}                                  |
                                                           | BEGIN {COMMITTED}
        SELECT value FROM test WHERE id = 1 => 10          |
                                                           | SELECT value FROM test => 10, 20
                                                           | UPDATE test SET value = 12 WHERE id = 1
                                                           | UPDATE test SET value = 18 WHERE id = 2
                                                           | COMMIT
        SELECT value FROM test WHERE id = 2 => 18          |
        COMMIT                                             |
    """)


@every_snapshot
def test_g_single_read_skew(db, level):
    interleave(db, f"""
        a                                                  | b
        BEGIN {level}                                      |
                                                           | BEGIN {level}
        SELECT value FROM test WHERE id = 1 => 10          |
                                                           | SELECT value FROM test => 10, 20
                                                           | UPDATE test SET value = 12 WHERE id = 1
                                                           | UPDATE test SET value = 18 WHERE id = 2
                                                           | COMMIT
        SELECT value FROM test WHERE id = 2 => 20          |
        COMMIT                                             |
    """)


@every_snapshot
def test_g_single_with_predicates(db, level):
    interleave(db, f"""
        a                                                  | b
        BEGIN {level}                                      |
                                                           | BEGIN {level}
        SELECT value FROM test WHERE value % 5 = 0 => 10, 20 |
                                                           | UPDATE test SET value = 12 WHERE value = 10
                                                           | COMMIT
        SELECT value FROM test WHERE value % 3 = 0 => none |
        COMMIT                                             |
    """)


def test_g_single_of_a_write_at_read_committed(db):
    # The predicate is met on the newest state, as in PostgreSQL: nothing has the value 20 any more.
    interleave(db, f"""
        a                                                  | b
        BEGIN {COMMITTED}                                  |
        SELECT value FROM test WHERE id = 1 => 10          |
                                                           | UPDATE test SET value = value - 2
        DELETE FROM test WHERE value = 20 => DELETE 0      |
        COMMIT                                             |
        SELECT value FROM test => 8, 18                    |
    """)


@every_snapshot
def test_g_single_of_a_write(db, level):
    interleave(db, f"""
        a                                                  | b
        BEGIN {level}                                      |
        SELECT value FROM test WHERE id = 1 => 10          |
                                                           | UPDATE test SET value = value - 2
        DELETE FROM test WHERE value = 20 => ERROR 40001 [E] |
        ROLLBACK                                           |
        SELECT value FROM test => 8, 18                    |
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
