"""SET TRANSACTION: in blocks, savepoints, query strings and pipelines; and what AND CHAIN takes over."""

import pytest

import wire
from interleaving import interleave
from transactions import db  # noqa: F401 (fixtures)


@pytest.mark.parametrize("begin", [
    "BEGIN DEFERRED", "BEGIN DEFERRED; SET TRANSACTION READ WRITE", "BEGIN DEFERRED; SET transaction_read_only = off", "BEGIN DEFERRED; BEGIN",
    "BEGIN DEFERRED; SET TRANSACTION NOT DEFERRABLE", "BEGIN DEFERRED; COMMIT AND CHAIN", "BEGIN DEFERRED; ROLLBACK AND CHAIN",
    "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT 1; COMMIT AND CHAIN"])
def test_deferred_stays_so(db, begin):
    interleave(db, f"""
        a                                  | b
        {begin}                            |
        SELECT n FROM t WHERE id = 1 => 10 |
                                           | UPDATE t SET n = 11 WHERE id = 1
        SELECT n FROM t WHERE id = 1 => 10 |
        UPDATE t SET n = 12 WHERE id = 1 => ERROR 40001 [E]
        ROLLBACK
    """)


def test_a_level_after_begin_deferred(db):
    """It is asked for by name."""
    interleave(db, """
        a                                  | b
        BEGIN DEFERRED; SET TRANSACTION ISOLATION LEVEL READ COMMITTED |
        SELECT n FROM t WHERE id = 1 => 10 |
                                           | UPDATE t SET n = 11 WHERE id = 1
        SELECT n FROM t WHERE id = 1 => 11 |
        COMMIT
    """)


@pytest.mark.parametrize("set", ["SET TRANSACTION READ ONLY", "SET transaction_read_only = on", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY"])
def test_read_only_for_the_rest_of_a_query_string(db, set):
    with db.client() as client:
        reply = client.query(f"{set}; DELETE FROM t")
        assert (reply.state, reply.status) == ("25006", "I") and not reply.notices
        reply = client.query(f"{set}; SELECT count(*) FROM t; BEGIN; DELETE FROM t")
        assert (reply.state, reply.status) == ("25006", "E")
        client.query("ROLLBACK").check()
        # The next message knows nothing of it, nor what follows a COMMIT.
        assert client.query(f"{set}; COMMIT; DELETE FROM t WHERE id = 2").errors == []
        assert client.query("DELETE FROM t WHERE id = 1").check().tag == "DELETE 1"


def test_read_only_for_the_rest_of_a_pipeline(db):
    with db.client() as client:
        reply = client.ask(*run("SET TRANSACTION READ ONLY"), *run("DELETE FROM t"))
        assert reply.state == "25006" and reply.notices[0]["C"] == "25P01"
        assert client.ask(*run("DELETE FROM t WHERE id = 1")).check().tag == "DELETE 1"


def test_what_is_not_named_is_as_the_session_has_it(db):
    with db.client() as client:
        client.query("SET default_transaction_isolation = 'serializable'; SET default_transaction_read_only = on").check()
        reply = client.query("SET TRANSACTION READ WRITE; SHOW transaction_read_only; SHOW transaction_isolation; DELETE FROM t WHERE id = 1").check()
        assert reply.texts == [("off",), ("serializable",)] and reply.tags[-1] == "DELETE 1"
        client.query("SET TRANSACTION READ WRITE; BEGIN").check()
        assert (client.value("SHOW transaction_isolation"), client.value("SHOW transaction_read_only")) == ("serializable", "off")
        assert client.value("SELECT count(*) FROM t") == "1"
        db.run("INSERT INTO t VALUES (7, 70)")
        assert client.value("SELECT count(*) FROM t") == "1"
        client.query("COMMIT").check()
        assert client.query("SET TRANSACTION ISOLATION LEVEL READ COMMITTED; DELETE FROM t").state == "25006"
        assert client.query("DELETE FROM t").state == "25006"


def test_alone_it_says_that_it_does_nothing(db):
    with db.client() as client:
        assert client.query("SET TRANSACTION READ ONLY").check().notices[0]["C"] == "25P01"
        assert client.query("DELETE FROM t WHERE id = 1").check().tag == "DELETE 1"


def run(sql):
    return [wire.parse(sql), wire.bind([]), wire.execute()]


def test_one_snapshot_for_a_pipeline(db):
    with db.client() as client:
        client.send(*run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"), *run("SELECT n FROM t WHERE id = 1"), wire.flush())
        client.receive_until("D")
        db.run("UPDATE t SET n = 11 WHERE id = 1")
        client.send(*run("SELECT n FROM t WHERE id = 1"), wire.sync())
        assert client.reply().check().texts == [("10",)]
        assert client.query("SELECT n FROM t WHERE id = 1").value == "11"


def test_savepoints_take_the_mode_back(db):
    interleave(db, """
        a
        BEGIN; SAVEPOINT s; SET TRANSACTION READ ONLY
        INSERT INTO t VALUES (3, 30) => ERROR 25006 [E]
        ROLLBACK TO s
        INSERT INTO t VALUES (3, 30)
        SAVEPOINT r; SET TRANSACTION READ ONLY
        RELEASE r
        INSERT INTO t VALUES (4, 40)
        COMMIT => COMMIT [I]
    """)


@pytest.mark.parametrize("sql", [
    "BEGIN READ ONLY; SAVEPOINT s; SET TRANSACTION READ WRITE", "BEGIN; SAVEPOINT s; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    "BEGIN; SELECT id FROM t; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"])
def test_too_late(db, sql):
    with db.client() as client:
        reply = client.query(sql)
        assert (reply.state, reply.status) == ("25001", "E")
