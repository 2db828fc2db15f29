"""What a transaction may see of others: G1a, G1b, G1c, OTV, PMP, G-single. hermitage.py has the whole table."""

import pytest

from hermitage import COMMITTED, every_level, every_snapshot, two_rows
from interleaving import interleave


@pytest.fixture
def db(shared):
    return two_rows(shared)


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
