"""Transactions, drawn: see interleaving.py for how to read the drawings."""

import pytest

import wire
from interleaving import interleave, outcome

SCHEMA = """
    DROP TABLE IF EXISTS child; DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS u;
    CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER);
    INSERT INTO t VALUES (1, 10), (2, 20);
    CREATE TABLE u (id INTEGER PRIMARY KEY, n INTEGER UNIQUE);
    CREATE TABLE child (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t DEFERRABLE INITIALLY DEFERRED);
"""


@pytest.fixture
def db(shared):
    shared.run(SCHEMA)
    return shared


@pytest.fixture
def one_reader(start_daemon):
    daemon = start_daemon(options=["--readers", "1"])
    daemon.run(SCHEMA)
    return daemon


# READ COMMITTED


def test_read_committed_sees_every_commit(db):
    interleave(db, """
        a                                          | b
        BEGIN => BEGIN [T]                         |
        SELECT n FROM t => 10, 20 [T]              |
                                                   | UPDATE t SET n = 11 WHERE id = 1 => UPDATE 1
        SELECT n FROM t => 11, 20 [T]              |
                                                   | BEGIN; DELETE FROM t WHERE id = 2
        SELECT n FROM t => 11, 20                  |
                                                   | COMMIT => COMMIT [I]
        SELECT n FROM t => 11                      |
        COMMIT => COMMIT [I]                       |
    """)


def test_read_committed_pins_nothing(one_reader):
    # There is one reader only, and a transaction that has read does not keep it; nor does it keep the writer.
    interleave(one_reader, """
        a                                          | b
        BEGIN                                      |
        SELECT count(*) FROM t => 2 [T]            |
                                                   | BEGIN
                                                   | SELECT count(*) FROM t => 2
                                                   | INSERT INTO t VALUES (3, 30) => INSERT 0 1
        SELECT count(*) FROM t => 2                |
                                                   | COMMIT
        SELECT count(*) FROM t => 3                |
        INSERT INTO t VALUES (4, 40) => INSERT 0 1 |
        COMMIT                                     |
    """)


def test_read_committed_after_its_first_write(db):
    # From there on it runs on the writer: it sees its own changes, and nobody else can write.
    interleave(db, """
        a                                          | b
        BEGIN                                      |
        SELECT n FROM t WHERE id = 1 => 10         |
                                                   | UPDATE t SET n = 11 WHERE id = 1
        UPDATE t SET n = n + 1 WHERE id = 1 => UPDATE 1 |
        SELECT n FROM t WHERE id = 1 => 12         |
                                                   | SELECT n FROM t WHERE id = 1 => 11
                                                   | UPDATE t SET n = n * 2 WHERE id = 1 => waits
        COMMIT                                     |
                                                   | ... => UPDATE 1
        SELECT n FROM t WHERE id = 1 => 24         |
    """)


def test_rollback(db):
    interleave(db, """
        a                                          | b
        BEGIN; UPDATE t SET n = 0                  |
                                                   | UPDATE t SET n = n + 1 WHERE id = 1 => waits
        ROLLBACK => ROLLBACK [I]                   |
                                                   | ... => UPDATE 1
        SELECT n FROM t => 11, 20                  |
    """)


def test_reads_are_linearizable(db):
    # What is acknowledged is seen by every read that starts afterwards, whichever reader runs it.
    writer, readers = db.client(), [db.client() for _ in range(4)]
    for number in range(1, 200):
        writer.query(f"UPDATE t SET n = {number} WHERE id = 1").check()
        for reader in readers:
            reader.send(wire.query("SELECT n FROM t WHERE id = 1"))
        assert [reader.reply().value for reader in readers] == [str(number)] * 4


def test_outsiders_commits_are_seen(db, outsider):
    other = outsider(db.database)
    client = db.client()
    for number in range(50):
        other("UPDATE t SET n = ? WHERE id = 1", (number,))
        assert client.value("SELECT n FROM t WHERE id = 1") == str(number)
    assert client.query("UPDATE t SET n = -1 WHERE id = 1").tag == "UPDATE 1"
    assert other("SELECT n FROM t WHERE id = 1") == [(-1,)]


# Snapshots


@pytest.mark.parametrize("level", ["ISOLATION LEVEL REPEATABLE READ", "ISOLATION LEVEL SERIALIZABLE", "DEFERRED"])
def test_pinned_snapshot(db, level):
    interleave(db, f"""
        a                                          | b
        BEGIN {level} => BEGIN [T]                 |
        SELECT n FROM t => 10, 20                  |
                                                   | UPDATE t SET n = 11 WHERE id = 1 => UPDATE 1
                                                   | CREATE TABLE IF NOT EXISTS later (x)
        SELECT n FROM t => 10, 20 [T]              |
        COMMIT => COMMIT [I]                       |
        SELECT n FROM t => 11, 20                  |
    """)


@pytest.mark.parametrize("level", ["ISOLATION LEVEL REPEATABLE READ", "ISOLATION LEVEL SERIALIZABLE", "DEFERRED"])
def test_promotion_when_nothing_has_changed(db, level):
    interleave(db, f"""
        a                                          | b
        BEGIN {level}                              |
        SELECT n FROM t => 10, 20                  |
        UPDATE t SET n = 11 WHERE id = 1 => UPDATE 1 [T] |
        SELECT n FROM t => 11, 20                  |
                                                   | SELECT n FROM t => 10, 20
                                                   | UPDATE t SET n = n + 100 WHERE id = 1 => waits
        COMMIT => COMMIT [I]                       |
                                                   | ... => UPDATE 1
        SELECT n FROM t => 111, 20                 |
    """)


@pytest.mark.parametrize("level", ["ISOLATION LEVEL REPEATABLE READ", "ISOLATION LEVEL SERIALIZABLE", "DEFERRED"])
def test_promotion_when_something_has_changed(db, level):
    interleave(db, f"""
        a                                          | b
        BEGIN {level}                              |
        SELECT n FROM t => 10, 20                  |
                                                   | UPDATE t SET n = 11 WHERE id = 1
        UPDATE t SET n = 12 WHERE id = 1 => ERROR 40001 [E] |
        SELECT n FROM t => ERROR 25P02 [E]         |
                                                   | UPDATE t SET n = 13 WHERE id = 1 => UPDATE 1
        ROLLBACK => ROLLBACK [I]                   |
        BEGIN {level}; SELECT n FROM t => BEGIN; 13, 20 |
        UPDATE t SET n = 14 WHERE id = 1 => UPDATE 1 |
        COMMIT                                     |
    """)


@pytest.mark.parametrize("end, then", [("COMMIT", "ERROR 40001 [E]"), ("ROLLBACK", "UPDATE 1 [T]")])
def test_promotion_behind_a_writer(db, end, then):
    interleave(db, f"""
        a                                          | b
                                                   | BEGIN IMMEDIATE; UPDATE t SET n = 11 WHERE id = 1
        BEGIN ISOLATION LEVEL REPEATABLE READ      |
        SELECT n FROM t => 10, 20                  |
        UPDATE t SET n = n + 5 WHERE id = 1 => waits |
                                                   | {end}
        ... => {then}                              |
        ROLLBACK                                   |
    """)


def test_two_snapshots_want_to_write(db):
    interleave(db, """
        a                                          | b
        BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT n FROM t |
                                                   | BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT n FROM t
        UPDATE t SET n = 11 WHERE id = 1 => UPDATE 1 |
                                                   | UPDATE t SET n = 12 WHERE id = 2 => waits
        COMMIT                                     |
                                                   | ... => ERROR 40001 [E]
                                                   | ROLLBACK
    """)


def test_promotion_after_an_outsiders_commit(db, outsider):
    other = outsider(db.database)
    client = db.client()
    client.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT n FROM t").check()
    other("UPDATE t SET n = 99 WHERE id = 2")
    assert client.query("SELECT n FROM t WHERE id = 2").value == "20"
    assert client.query("UPDATE t SET n = 1").state == "40001"
    client.query("ROLLBACK").check()


def test_a_snapshot_keeps_its_reader(one_reader):
    interleave(one_reader, """
        a                                          | b                               | c
        BEGIN ISOLATION LEVEL REPEATABLE READ      |                                 |
        SELECT count(*) FROM t => 2                |                                 |
                                                   | SELECT count(*) FROM t => waits |
                                                   |                                 | INSERT INTO t VALUES (3, 30) => INSERT 0 1
        SELECT count(*) FROM t => 2                |                                 |
        COMMIT                                     |                                 |
                                                   | ... => 3                        |
    """)


def test_snapshots_survive_checkpoints(start_daemon):
    daemon = start_daemon(config="checkpoint_frames = 20\n")
    daemon.run(SCHEMA)
    old, writer = daemon.client(), daemon.client()

    def log_size():
        return daemon.database.with_name("app.db-wal").stat().st_size

    old.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT n FROM t").check()
    for number in range(300):
        writer.query(f"UPDATE t SET n = {number} WHERE id = 1; INSERT INTO u (n) VALUES ({number})").check()
        if number % 50 == 0:
            assert old.query("SELECT n FROM t").texts == [("10",), ("20",)]
    old.query("COMMIT").check()
    # With nobody in its way the log begins anew instead of growing on.
    size = log_size()
    for number in range(200):
        writer.query(f"UPDATE t SET n = {number} WHERE id = 2; INSERT INTO u (n) VALUES ({number} + 1000)").check()
        assert old.value("SELECT n FROM t WHERE id = 2") == str(number)
        daemon.settle()
    assert log_size() < size + (256 << 10)
    assert old.query("SELECT n FROM t").texts == [("299",), ("199",)]
    assert daemon.value("PRAGMA integrity_check") == "ok"


# READ ONLY


@pytest.mark.parametrize(
    "begin", ["BEGIN READ ONLY", "START TRANSACTION READ ONLY", "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
              "BEGIN; SET TRANSACTION READ ONLY", "SET default_transaction_read_only = on; BEGIN"])
def test_read_only(db, begin):
    for write in ["INSERT INTO t VALUES (3, 30)", "UPDATE t SET n = 0", "DELETE FROM t", "CREATE TABLE x (y)", "DROP TABLE u"]:
        client = db.client()
        client.query(begin).check()
        assert client.query("SELECT n FROM t").texts == [("10",), ("20",)]
        reply = client.query(write)
        assert reply.state == "25006" and reply.status == "E", write
        assert client.query("SELECT 1").state == "25P02"
        assert client.query("COMMIT").tag == "ROLLBACK"
        client.close()
    assert db.value("SELECT count(*) FROM t") == "2"


def test_read_only_by_default(db):
    client = db.client(options="-c default_transaction_read_only=on")
    reply = client.query("INSERT INTO t VALUES (3, 30)")
    assert reply.state == "25006" and reply.status == "I"
    assert client.query("BEGIN READ WRITE; INSERT INTO t VALUES (3, 30)").tags == ["BEGIN", "INSERT 0 1"]
    assert client.query("COMMIT").tag == "COMMIT"


def test_read_only_immediate_is_refused(db):
    client = db.client()
    assert client.query("BEGIN IMMEDIATE READ ONLY").state == "25006"
    assert client.query("INSERT INTO t VALUES (3, 30)").tag == "INSERT 0 1"


# IMMEDIATE and the queue


@pytest.mark.parametrize("kind", ["IMMEDIATE", "EXCLUSIVE", "IMMEDIATE TRANSACTION"])
def test_immediate_takes_the_writer_at_once(db, kind):
    interleave(db, f"""
        a                                          | b                                     | c
        BEGIN {kind} => BEGIN [T]                  |                                       |
                                                   | INSERT INTO t VALUES (3, 30) => waits |
                                                   |                                       | SELECT count(*) FROM t => 2
                                                   |                                       | BEGIN IMMEDIATE => waits
        COMMIT                                     |                                       |
                                                   | ... => INSERT 0 1                     |
                                                   |                                       | ... => BEGIN [T]
                                                   |                                       | ROLLBACK
    """)


def test_plain_begin_does_not(db):
    interleave(db, """
        a                                          | b
        BEGIN                                      |
                                                   | BEGIN IMMEDIATE => BEGIN [T]
        SELECT count(*) FROM t => 2                |
        INSERT INTO t VALUES (3, 30) => waits      |
                                                   | COMMIT
        ... => INSERT 0 1 [T]                      |
        COMMIT                                     |
    """)


def test_first_come_first_served(db):
    db.run("DROP TABLE IF EXISTS log", "CREATE TABLE log (seq INTEGER PRIMARY KEY AUTOINCREMENT, who INTEGER)")
    holder = db.client()
    holder.query("BEGIN IMMEDIATE").check()
    clients = [db.client() for _ in range(12)]
    for number, client in enumerate(clients):
        # Members of groups, alone and in transactions that arrive whole or in part.
        sql = f"INSERT INTO log (who) VALUES ({number})"
        if number % 3 == 1:
            sql = f"BEGIN; {sql}; COMMIT"
        elif number % 3 == 2:
            sql = f"BEGIN IMMEDIATE; {sql}"
        client.send(wire.query(sql))
        db.settle(client)
    holder.query("COMMIT").check()
    for number, client in enumerate(clients):
        client.reply().check()
        if number % 3 == 2:
            client.query("COMMIT").check()
    assert [int(row[0]) for row in db.run("SELECT who FROM log ORDER BY seq").texts] == list(range(12))


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
    assert reply.state in ("25P01", "3B001") and reply.status == "I"


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
    assert reply.state == "08P01" or reply.texts  # the unnamed statement is the INSERT again
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
