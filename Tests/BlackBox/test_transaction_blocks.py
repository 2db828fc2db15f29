"""Savepoints, and what fails, begins and ends a block; drawn: see interleaving.py."""

import pytest

import wire
from interleaving import interleave, outcome
from transactions import db  # noqa: F401 (fixtures)


# Savepoints


def test_savepoints(db):
    interleave(db, """
        a
        BEGIN
        INSERT INTO t VALUES (3, 30)
        SAVEPOINT one => SAVEPOINT [T]
        INSERT INTO t VALUES (4, 40)
        SAVEPOINT two
        INSERT INTO t VALUES (5, 50)
        ROLLBACK TO two => ROLLBACK [T]
        SELECT id FROM t => 1, 2, 3, 4
        INSERT INTO t VALUES (6, 60)
        RELEASE one => RELEASE [T]
        ROLLBACK TO SAVEPOINT one => ERROR 3B001 [E]
        COMMIT => ROLLBACK [I]
        SELECT id FROM t => 1, 2
        BEGIN; SAVEPOINT "a b"; INSERT INTO t VALUES (3, 30); ROLLBACK TO "a b"; INSERT INTO t VALUES (4, 40); RELEASE SAVEPOINT "a b"; COMMIT
        SELECT id FROM t => 1, 2, 4
    """)


def test_savepoint_before_the_first_write(db):
    # The writer is not held yet when the savepoint is made.
    interleave(db, """
        a                                          | b
        BEGIN                                      |
        SAVEPOINT one                              |
        SAVEPOINT two                              |
                                                   | INSERT INTO t VALUES (3, 30) => INSERT 0 1
        INSERT INTO t VALUES (4, 40) => INSERT 0 1 |
        SELECT id FROM t => 1, 2, 3, 4             |
        ROLLBACK TO one => ROLLBACK [T]            |
        SELECT id FROM t => 1, 2, 3                |
        ROLLBACK TO two => ERROR 3B001 [E]         |
        ROLLBACK TO one                            |
        INSERT INTO t VALUES (5, 50)               |
        COMMIT => COMMIT [I]                       |
                                                   | SELECT id FROM t => 1, 2, 3, 5
    """)


def test_released_before_the_first_write(db):
    interleave(db, """
        a
        BEGIN; SAVEPOINT one; RELEASE one; SAVEPOINT two
        INSERT INTO t VALUES (3, 30)
        ROLLBACK TO one => ERROR 3B001 [E]
        ROLLBACK TO two => ROLLBACK [T]
        COMMIT => COMMIT [I]
        SELECT id FROM t => 1, 2
    """)


def test_same_name_twice(db):
    interleave(db, """
        a
        BEGIN; SAVEPOINT s; INSERT INTO t VALUES (3, 30); SAVEPOINT s; INSERT INTO t VALUES (4, 40)
        ROLLBACK TO s
        SELECT id FROM t => 1, 2, 3
        RELEASE s
        ROLLBACK TO s
        SELECT id FROM t => 1, 2
        COMMIT
    """)


def test_savepoint_saves_a_failed_transaction(db):
    interleave(db, """
        a                                          | b
        BEGIN; INSERT INTO t VALUES (3, 30)        |
        SAVEPOINT s                                |
        INSERT INTO t VALUES (1, 0) => ERROR 23505 [E] |
        SELECT 1 => ERROR 25P02 [E]                |
        SAVEPOINT other => ERROR 25P02 [E]         |
                                                   | INSERT INTO t VALUES (4, 40) => waits
        ROLLBACK TO s => ROLLBACK [T]              |
        SELECT id FROM t => 1, 2, 3                |
        COMMIT => COMMIT [I]                       |
                                                   | ... => INSERT 0 1
        SELECT id FROM t => 1, 2, 3, 4             |
    """)


def test_savepoint_in_a_snapshot(db):
    interleave(db, """
        a                                          | b
        BEGIN ISOLATION LEVEL REPEATABLE READ; SAVEPOINT s; SELECT n FROM t |
        SELECT nope => ERROR 42703 [E]             |
        ROLLBACK TO s => ROLLBACK [T]              |
                                                   | UPDATE t SET n = 0
        SELECT n FROM t => 10, 20                  |
        UPDATE t SET n = 1 => ERROR 40001 [E]      |
        ROLLBACK                                   |
    """)


@pytest.mark.parametrize("sql", ["SAVEPOINT s", "RELEASE s", "ROLLBACK TO s"])
def test_savepoint_outside_a_transaction(db, sql):
    client = db.client()
    reply = client.query(sql)
    assert reply.state == "25P01" and reply.status == "I"


# Status


def test_error_fails_the_transaction(db):
    interleave(db, """
        a                                          | b
        BEGIN; INSERT INTO t VALUES (3, 30)        |
        INSERT INTO t VALUES (1, 0) => ERROR 23505 [E] |
        INSERT INTO t VALUES (4, 40) => ERROR 25P02 [E] |
        SET statement_timeout = 5 => ERROR 25P02 [E] |
        BEGIN => ERROR 25P02 [E]                   |
                                                   | INSERT INTO t VALUES (5, 50) => INSERT 0 1
        COMMIT => ROLLBACK [I]                     |
        SELECT id FROM t => 1, 2, 5                |
    """)


def test_error_in_the_same_message_as_begin(db):
    interleave(db, """
        a
        BEGIN; SELECT nope => BEGIN; ERROR 42703 [E]
        ROLLBACK => ROLLBACK [I]
        BEGIN; INSERT INTO t VALUES (3, 30); INSERT INTO t VALUES (1, 0) => BEGIN; INSERT 0 1; ERROR 23505 [E]
        SELECT 1 => ERROR 25P02 [E]
        COMMIT => ROLLBACK [I]
        SELECT id FROM t => 1, 2
    """)


def test_failed_transaction_in_extended_queries(db):
    client = db.client()
    client.query("BEGIN; SELECT nope")
    assert client.ask(wire.parse("SELECT 1")).state == "25P02"
    assert client.ask(wire.parse("SELECT 1")).status == "E"
    reply = client.ask(wire.parse("ROLLBACK"), wire.bind(), wire.execute())
    assert reply.tag == "ROLLBACK" and reply.status == "I"


def test_warnings(db):
    client = db.client()
    reply = client.query("COMMIT")
    assert reply.tag == "COMMIT" and reply.notices[0]["C"] == "25P01" and reply.status == "I"
    reply = client.query("ROLLBACK")
    assert reply.tag == "ROLLBACK" and reply.notices[0]["C"] == "25P01"
    client.query("BEGIN").check()
    reply = client.query("BEGIN")
    assert reply.tag == "BEGIN" and reply.notices[0]["C"] == "25001" and reply.status == "T"
    assert client.query("END").tag == "COMMIT"


def test_a_begin_inside_a_block_sets_its_modes(db):
    """psycopg begins a block by itself; what its user asks for in a BEGIN then is warned of, and done."""
    client = db.client()
    client.query("BEGIN").check()
    reply = client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").check()
    assert reply.notices[0]["C"] == "25001"
    assert (client.value("SHOW transaction_isolation"), client.value("SHOW transaction_read_only")) == ("repeatable read", "on")
    assert client.query("INSERT INTO t VALUES (3, 30)").state == "25006"
    client.query("ROLLBACK; BEGIN READ ONLY; BEGIN READ WRITE; INSERT INTO t VALUES (3, 30); ROLLBACK").check()
    # One that says nothing changes nothing.
    client.query("BEGIN DEFERRED; SELECT id FROM t; BEGIN").check()
    db.run("INSERT INTO t VALUES (4, 40)")
    assert client.value("SELECT count(*) FROM t") == "2"
    client.query("ROLLBACK").check()


@pytest.mark.parametrize("begin, query, late", [
    ("BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT id FROM t", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"),
    ("BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT id FROM t", "BEGIN ISOLATION LEVEL READ COMMITTED"),
    ("BEGIN", "DELETE FROM t", "SET transaction_isolation = 'serializable'"), ("BEGIN READ ONLY", "SELECT id FROM t", "SET TRANSACTION READ WRITE")])
def test_a_snapshot_is_not_given_up_by_another_level(db, begin, query, late):
    client = db.client()
    client.query(begin).check()
    client.query(query).check()
    client.query("SET TRANSACTION READ ONLY").check()
    reply = client.query(late)
    assert reply.state == "25001" and reply.status == "E"
    client.query("ROLLBACK").check()


@pytest.mark.parametrize(
    "begin, tag",
    [("BEGIN", "BEGIN"), ("BEGIN WORK", "BEGIN"), ("begin transaction", "BEGIN"), ("START TRANSACTION", "START TRANSACTION"),
     ("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", "BEGIN"), ("BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE", "BEGIN"),
     ("START TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "START TRANSACTION")])
@pytest.mark.parametrize(
    "end, end_tag", [("COMMIT", "COMMIT"), ("END", "COMMIT"), ("COMMIT WORK", "COMMIT"), ("END TRANSACTION", "COMMIT"),
                     ("ROLLBACK", "ROLLBACK"), ("ABORT", "ROLLBACK"), ("ROLLBACK TRANSACTION", "ROLLBACK")])
def test_spellings(db, begin, tag, end, end_tag):
    client = db.client()
    reply = client.query(begin)
    assert reply.tag == tag and reply.status == "T"
    reply = client.query(end)
    assert reply.tag == end_tag and reply.status == "I"


def test_chain(db):
    interleave(db, """
        a
        BEGIN; INSERT INTO t VALUES (3, 30)
        COMMIT AND CHAIN => COMMIT [T]
        INSERT INTO t VALUES (4, 40)
        ROLLBACK AND CHAIN => ROLLBACK [T]
        COMMIT AND NO CHAIN => COMMIT [I]
        SELECT id FROM t => 1, 2, 3
    """)


def test_ddl_is_transactional(db):
    interleave(db, """
        a                                          | b
        BEGIN; CREATE TABLE fresh (x); INSERT INTO fresh VALUES (1) |
        SELECT x FROM fresh => 1                   |
                                                   | SELECT x FROM fresh => ERROR 42P01
        ROLLBACK                                   |
        SELECT x FROM fresh => ERROR 42P01         |
        BEGIN; CREATE TABLE fresh (x); DROP TABLE u; COMMIT |
                                                   | SELECT count(*) FROM fresh => 0
                                                   | SELECT * FROM u => ERROR 42P01
                                                   | DROP TABLE fresh
    """)


@pytest.mark.parametrize("sql", ["PREPARE TRANSACTION 'x'", "COMMIT PREPARED 'x'"])
def test_two_phase_commit_is_not_supported(db, sql):
    assert db.client().query(sql).state == "0A000"


# Implicit transactions


def test_several_statements_are_one_transaction(db):
    client = db.client()
    for sql, state in [
        ("INSERT INTO t VALUES (3, 30); INSERT INTO t VALUES (1, 0)", "23505"),
        ("INSERT INTO t VALUES (4, 40); SELECT nope; INSERT INTO t VALUES (5, 50)", "42703"),
        ("INSERT INTO t VALUES (6, 60); SELEC 1", "42601"),
    ]:
        reply = client.query(sql)
        assert reply.state == state and reply.status == "I"
        assert client.value("SELECT count(*) FROM t") == "2", sql
    assert outcome(client.query("INSERT INTO t VALUES (3, 30); SELECT count(*) FROM t; UPDATE t SET n = 0")) == (
        "INSERT 0 1; 3; UPDATE 3")
    assert client.value("SELECT count(*) FROM t WHERE n = 0") == "3"


def test_several_statements_around_a_transaction(db):
    interleave(db, """
        a
        BEGIN; INSERT INTO t VALUES (3, 30); COMMIT; INSERT INTO t VALUES (1, 0) => BEGIN; INSERT 0 1; COMMIT; ERROR 23505 [I]
        SELECT id FROM t => 1, 2, 3
        INSERT INTO t VALUES (4, 40); BEGIN; INSERT INTO t VALUES (5, 50) => INSERT 0 1; BEGIN; INSERT 0 1 [T]
        ROLLBACK
        SELECT id FROM t => 1, 2, 3
        BEGIN; INSERT INTO t VALUES (6, 60); ROLLBACK; INSERT INTO t VALUES (7, 70)
        SELECT id FROM t => 1, 2, 3, 7
        BEGIN
        INSERT INTO t VALUES (8, 80); COMMIT; SELECT nope => INSERT 0 1; COMMIT; ERROR 42703 [I]
        SELECT id FROM t => 1, 2, 3, 7, 8
    """)


def insert(id, n=0):
    return wire.parse("INSERT INTO t VALUES ($1::int8, $2::int8)") + wire.bind([id, n]) + wire.execute()


def test_pipeline_is_one_transaction(db):
    client = db.client()
    client.send(insert(3), insert(1), insert(4), wire.sync(), insert(5), insert(6), wire.sync())
    first, second = client.reply(), client.reply()
    assert first.kinds == "12C12EZ" and first.state == "23505"
    assert second.kinds == "12C12CZ"
    assert client.query("SELECT id FROM t").texts == [("1",), ("2",), ("5",), ("6",)]


def test_pipeline_with_flushes_is_one_transaction(db):
    client, other = db.client(), db.client()
    client.send(insert(3), wire.flush())
    assert [client.receive().kind for _ in range(3)] == ["1", "2", "C"]
    other.send(wire.query("INSERT INTO t VALUES (9, 0)"))
    db.settle(other)
    assert not other.has_reply(), "an unfinished pipeline holds the writer"
    client.send(insert(1), wire.sync())
    assert client.reply().kinds == "12EZ"
    assert other.reply().tag == "INSERT 0 1"
    assert client.query("SELECT id FROM t").texts == [("1",), ("2",), ("9",)]


def test_pipeline_reads_its_own_writes(db):
    client = db.client()
    reply = client.ask(
        insert(3), wire.parse("SELECT count(*) FROM t"), wire.bind(), wire.execute(), insert(4), wire.bind(), wire.execute())
    # The unnamed statement is the INSERT again, which has parameters, and all of the pipeline is undone.
    assert reply.kinds == "12C12DC12CEZ" and reply.texts == [("3",)] and reply.state == "08P01" and reply.status == "I"
    assert client.value("SELECT count(*) FROM t") == "2"
    reply = client.ask(insert(3), wire.parse("SELECT count(*) FROM t"), wire.bind(), wire.execute(), insert(4))
    assert reply.kinds == "12C12DC12CZ" and reply.texts == [("3",)]
    assert client.value("SELECT count(*) FROM t") == "4"


def test_transaction_statements_in_a_pipeline(db):
    def run(sql):
        return wire.parse(sql) + wire.bind() + wire.execute()

    client = db.client()
    reply = client.ask(run("BEGIN"), insert(3), run("COMMIT"), run("BEGIN"), insert(4), run("ROLLBACK"))
    assert reply.tags == ["BEGIN", "INSERT 0 1", "COMMIT", "BEGIN", "INSERT 0 1", "ROLLBACK"]
    assert client.query("SELECT id FROM t").texts == [("1",), ("2",), ("3",)]
    reply = client.ask(run("BEGIN"), insert(5), insert(1))
    assert reply.state == "23505" and reply.status == "E"
    assert client.query("COMMIT").tag == "ROLLBACK"
    client.send(run("BEGIN"), insert(6), run("COMMIT"), insert(7), insert(1), wire.sync())
    assert client.reply().state == "23505"
    assert client.query("SELECT id FROM t").texts == [("1",), ("2",), ("3",), ("6",)]


# Deferred foreign keys


def test_deferred_foreign_key_at_commit(db):
    interleave(db, """
        a                                          | b
        BEGIN; INSERT INTO child VALUES (1, 99)    |
        INSERT INTO t VALUES (3, 30)               |
        COMMIT => ERROR 23503 [I]                  |
                                                   | INSERT INTO t VALUES (4, 40) => INSERT 0 1
        SELECT id FROM t => 1, 2, 4                |
        BEGIN; INSERT INTO child VALUES (1, 99); INSERT INTO t VALUES (99, 0) |
        COMMIT => COMMIT [I]                       |
        INSERT INTO child VALUES (2, 77) => ERROR 23503 [I] |
        INSERT INTO child VALUES (2, 77); INSERT INTO t VALUES (77, 0) => INSERT 0 1; INSERT 0 1 |
        SELECT id FROM child => 1, 2               |
    """)


def test_immediate_foreign_key(db):
    client = db.client()
    db.run("DROP TABLE IF EXISTS strict_child", "CREATE TABLE strict_child (t INTEGER REFERENCES t)")
    assert client.query("INSERT INTO strict_child VALUES (99)").state == "23503"
    assert client.query("INSERT INTO strict_child VALUES (1)").tag == "INSERT 0 1"
    assert client.query("DELETE FROM t WHERE id = 1").state == "23503"
    db.run("DROP TABLE strict_child")


# What ends a transaction on SQLite's own account


@pytest.mark.parametrize("sql", ["INSERT OR ROLLBACK INTO t VALUES (1, 0)", "INSERT INTO forbidden VALUES (1)"])
def test_rollback_by_sqlite(db, sql):
    db.run("CREATE TABLE IF NOT EXISTS forbidden (x)", "DROP TRIGGER IF EXISTS no",
           "CREATE TRIGGER no BEFORE INSERT ON forbidden BEGIN SELECT RAISE(ROLLBACK, 'no entry'); END")
    state = "23505" if "OR" in sql else "P0001"
    interleave(db, f"""
        a                                          | b
        BEGIN; INSERT INTO t VALUES (3, 30)        |
        SAVEPOINT s                                |
        {sql} => ERROR {state} [E]                 |
        SELECT 1 => ERROR 25P02 [E]                |
        ROLLBACK TO s => ERROR 3B001 [E]           |
                                                   | INSERT INTO t VALUES (4, 40) => INSERT 0 1
        COMMIT => ROLLBACK [I]                     |
        SELECT id FROM t => 1, 2, 4                |
    """)
