"""Transactions, drawn: see interleaving.py for how to read the drawings."""

import pytest

import wire
from interleaving import interleave
from transactions import db, one_reader, SCHEMA  # noqa: F401 (fixtures)


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
    for number in range(100):
        writer.query(f"UPDATE t SET n = {number} WHERE id = 2; INSERT INTO u (n) VALUES ({number} + 1000)").check()
        assert old.value("SELECT n FROM t WHERE id = 2") == str(number)
        if number % 4 == 0:
            daemon.settle()
    assert log_size() < size + (128 << 10)
    assert old.query("SELECT n FROM t").texts == [("299",), ("99",)]
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
