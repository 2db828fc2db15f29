"""Limits of time. What is tested is which error ends a wait, never when."""

import pytest

import wire
from daemon import eventually
from timeouts_fixtures import db, ENDLESS, ENDLESS_WRITE, time_passes  # noqa: F401 (fixtures)


# statement_timeout


def test_statement_timeout_of_a_read(db):
    client = db.client()
    client.query("SET statement_timeout = '100ms'").check()
    reply = client.query(ENDLESS)
    assert reply.error["C"] == "57014" and "statement timeout" in reply.error["M"]
    assert reply.status == "I"
    reply = client.extended(ENDLESS)
    assert reply.state == "57014" and reply.status == "I"
    client.query("RESET statement_timeout").check()
    assert client.value("SELECT 1") == "1"


def test_statement_timeout_of_a_write(db):
    client = db.client()
    client.query("SET statement_timeout = '100ms'").check()
    reply = client.query(f"INSERT INTO t VALUES (1, 'x'); {ENDLESS_WRITE}")
    assert reply.state == "57014" and reply.status == "I"
    client.query("RESET statement_timeout").check()
    assert client.value("SELECT count(*) FROM t") == "0"
    assert client.query("INSERT INTO t VALUES (1, 'x')").tag == "INSERT 0 1"


@pytest.mark.parametrize("begin", ["BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ", "BEGIN IMMEDIATE"])
@pytest.mark.parametrize("sql", [ENDLESS, ENDLESS_WRITE])
def test_statement_timeout_in_a_transaction(db, begin, sql):
    client = db.client()
    client.query(f"SET statement_timeout = '100ms'; {begin}").check()
    reply = client.query(sql)
    assert reply.state == "57014" and reply.status == "E"
    assert client.query("SELECT 1").state == "25P02"
    assert client.query("ROLLBACK").status == "I"
    assert db.client().query("INSERT INTO t VALUES (1, 'x')").tag == "INSERT 0 1"


def test_statement_timeout_in_the_queues(db, start_daemon):
    holder, waiter = db.client(), db.client()
    holder.query("BEGIN IMMEDIATE").check()
    waiter.query("SET statement_timeout = '100ms'").check()
    assert waiter.query("INSERT INTO t VALUES (1, 'x')").state == "57014"
    assert waiter.query("BEGIN IMMEDIATE").state == "57014"
    holder.query("COMMIT").check()
    waiter.query("RESET statement_timeout").check()
    assert waiter.query("INSERT INTO t VALUES (1, 'x')").tag == "INSERT 0 1"

    daemon = start_daemon(options=["--readers", "1"])
    holder, waiter = daemon.client(), daemon.client()
    holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1").check()
    waiter.query("SET statement_timeout = '100ms'").check()
    assert waiter.query("SELECT 1").state == "57014"
    holder.query("COMMIT").check()
    waiter.query("RESET statement_timeout").check()
    assert waiter.value("SELECT 1") == "1"


def test_statement_timeout_is_per_statement(db):
    client = db.client()
    client.query("SET statement_timeout = '1s'").check()
    for _ in range(50):
        client.query("SELECT 1; SELECT 2").check()
    time_passes(db, 1100)
    assert client.value("SELECT 1") == "1", "time between statements does not count"


# lock_timeout


def test_lock_timeout_behind_a_holder(db):
    holder, waiter = db.client(), db.client()
    holder.query("BEGIN IMMEDIATE").check()
    waiter.query("SET lock_timeout = '100ms'").check()
    reply = waiter.query("INSERT INTO t VALUES (1, 'x')")
    assert reply.error["C"] == "55P03" and reply.status == "I" and reply.error["H"]
    assert waiter.query("BEGIN IMMEDIATE").state == "55P03"
    assert waiter.extended("DELETE FROM t").state == "55P03"
    waiter.query("BEGIN").check()
    reply = waiter.query("INSERT INTO t VALUES (1, 'x')")
    assert reply.state == "55P03" and reply.status == "E"
    waiter.query("ROLLBACK").check()
    assert waiter.value("SELECT count(*) FROM t") == "0", "reading needs no lock"
    holder.query("COMMIT").check()
    waiter.query("RESET lock_timeout").check()
    assert waiter.query("INSERT INTO t VALUES (1, 'x')").tag == "INSERT 0 1"


def test_lock_timeout_leaves_the_others_in_the_queue(db):
    holder = db.client()
    holder.query("BEGIN IMMEDIATE").check()
    patient = [db.client() for _ in range(4)]
    patient[0].send(wire.query("INSERT INTO t VALUES (1, 'x')"))
    patient[1].send(wire.query("INSERT INTO t VALUES (2, 'x')"))
    db.settle(*patient)
    impatient = db.client()
    impatient.query("SET lock_timeout = '100ms'").check()
    impatient.send(wire.query("INSERT INTO t VALUES (3, 'x')"))
    patient[2].send(wire.query("INSERT INTO t VALUES (4, 'x')"))
    assert impatient.reply().state == "55P03"
    patient[3].send(wire.query("INSERT INTO t VALUES (5, 'x')"))
    db.settle(*patient)
    holder.query("COMMIT").check()
    for client in patient:
        assert client.reply().tag == "INSERT 0 1"
    assert db.run("SELECT id FROM t").texts == [("1",), ("2",), ("4",), ("5",)]


# Limits of transactions


@pytest.mark.parametrize("begin", ["BEGIN", "BEGIN; SELECT 1", "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1",
                                   "BEGIN IMMEDIATE", "BEGIN; INSERT INTO t VALUES (1, 'lost')"])
def test_idle_in_transaction(db, begin):
    client = db.client()
    client.query("SET idle_in_transaction_session_timeout = '100ms'").check()
    client.query(begin).check()
    reply = client.reply()
    assert reply.closed
    assert reply.error["S"] == "FATAL" and reply.error["C"] == "25P03"
    other = db.client()
    assert other.query("INSERT INTO t VALUES (1, 'kept')").tag == "INSERT 0 1"


def test_idle_in_a_failed_transaction(db):
    client = db.client()
    client.query("SET idle_in_transaction_session_timeout = '100ms'").check()
    assert client.query("BEGIN; SELECT nope").status == "E"
    assert client.reply().state == "25P03"


def test_idle_without_a_transaction_is_no_offence(db):
    client = db.client()
    client.query("SET idle_in_transaction_session_timeout = '50ms'").check()
    time_passes(db, 300)
    assert client.value("SELECT 1") == "1"


def test_waiting_is_not_idling(db):
    holder, waiter = db.client(), db.client()
    holder.query("BEGIN IMMEDIATE").check()
    waiter.query("SET idle_in_transaction_session_timeout = '100ms'").check()
    # In one go: between the two it would idle, however shortly.
    waiter.send(wire.query("BEGIN"), wire.query("INSERT INTO t VALUES (1, 'x')"))
    waiter.reply().check()
    db.settle(waiter)
    time_passes(db, 400)
    assert not waiter.has_reply()
    holder.query("COMMIT").check()
    assert waiter.receive_until("Z")[0].kind == "C"


@pytest.mark.parametrize("begin", ["BEGIN", "BEGIN; INSERT INTO t VALUES (1, 'lost')",
                                   "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1"])
def test_transaction_timeout_of_an_idle_one(db, begin):
    client = db.client()
    client.query("SET transaction_timeout = '150ms'").check()
    reply = client.query(begin)
    if not reply.closed:  # as it is on a machine that takes so long to begin it
        reply = client.reply()
    assert reply.closed
    assert reply.error["S"] == "FATAL" and reply.error["C"] == "25P04"
    assert db.client().query("INSERT INTO t VALUES (1, 'kept')").tag == "INSERT 0 1"


@pytest.mark.parametrize("sql", [ENDLESS, ENDLESS_WRITE])
def test_transaction_timeout_of_a_running_one(db, sql):
    client = db.client()
    client.query("SET transaction_timeout = '150ms'").check()
    # In one go, so that it is never idle when the time is over.
    client.send(wire.query("BEGIN"), wire.query(sql))
    client.reply().check()
    reply = client.reply()
    assert reply.closed and reply.error["C"] == "25P04"
    assert db.client().query("INSERT INTO t VALUES (1, 'kept')").tag == "INSERT 0 1"


def test_transaction_timeout_of_a_waiting_one(db):
    holder, waiter = db.client(), db.client()
    holder.query("BEGIN IMMEDIATE").check()
    waiter.query("SET transaction_timeout = '150ms'").check()
    waiter.send(wire.query("BEGIN"), wire.query("INSERT INTO t VALUES (1, 'x')"))
    waiter.reply().check()
    reply = waiter.reply()
    assert reply.closed and reply.error["C"] == "25P04"
    holder.query("COMMIT").check()


def test_transaction_timeout_of_a_busy_one(db):
    # Never idle, never long: and still too long in sum.
    client = db.client()
    client.query("SET transaction_timeout = '200ms'").check()
    client.query("BEGIN").check()

    def is_ended():
        try:
            client.send(wire.query("SELECT 1"))
        except BrokenPipeError:
            pass
        reply = client.reply()
        assert not reply.closed or reply.state == "25P04"
        return reply.closed

    eventually(is_ended, "the end")


# Holders that idle


@pytest.fixture
def patient_for(start_daemon):
    """A daemon in which a holder may idle for so long while somebody waits."""
    def start(limit):
        daemon = start_daemon(config=f'writer_idle_limit = "{limit}"\n')
        daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
        return daemon

    return start


def test_idle_holder_is_ended_when_somebody_waits(patient_for):
    daemon = patient_for("200ms")
    holder, waiter = daemon.client(), daemon.client()
    holder.query("BEGIN; INSERT INTO t VALUES (1, 'lost')").check()
    assert waiter.query("INSERT INTO t VALUES (1, 'kept')").tag == "INSERT 0 1"
    reply = holder.reply()
    assert reply.closed and reply.error["S"] == "FATAL" and reply.error["C"] == "25P03"


def test_idle_holder_is_ended_for_those_who_cannot_wait_so_long(patient_for):
    daemon = patient_for("500ms")
    waiter = daemon.client()
    waiter.query("SET lock_timeout = '150ms'").check()

    def states_until_it_writes():
        holder, states = daemon.client(), []
        holder.query("BEGIN; INSERT INTO t (v) VALUES ('lost')").check()

        def has_written():
            states.append(waiter.query("INSERT INTO t (v) VALUES ('kept')").state)
            return states[-1] is None

        eventually(has_written, "the holder's end")
        reply = holder.reply()
        assert reply.closed and reply.error["C"] == "25P03"
        return states

    # On a machine that stood still the holder may have idled for long enough before anybody waited.
    states = eventually(lambda: states_until_it_writes()[:-1], "a wait in vain")
    assert set(states) == {"55P03"}
    assert daemon.value("SELECT count(*) FROM t WHERE v = 'lost'") == "0"


def test_idle_holder_is_left_alone_when_nobody_waits(patient_for):
    daemon = patient_for("100ms")
    holder = daemon.client()
    holder.query("BEGIN; INSERT INTO t VALUES (1, 'kept')").check()
    time_passes(daemon, 500)
    assert daemon.value("SELECT count(*) FROM t") == "0"
    assert holder.query("COMMIT").tag == "COMMIT"


def test_busy_holder_is_left_alone(patient_for):
    daemon = patient_for("300ms")
    holder, waiter = daemon.client(), daemon.client()
    holder.query("BEGIN; INSERT INTO t VALUES (1, 'kept')").check()
    # One statement that takes longer than the limit is work, not idling: it ends by its own timeout. What is behind it has come
    # before, so that this client, however slow, is never idle.
    holder.send(wire.query("SAVEPOINT s; SET LOCAL statement_timeout = '900ms'"), wire.query(ENDLESS), wire.query("ROLLBACK"))
    waiter.send(wire.query("INSERT INTO t VALUES (2, 'waited')"))
    holder.reply().check()
    reply = holder.reply()
    assert not reply.closed and reply.state == "57014"
    assert holder.reply().tag == "ROLLBACK"
    assert waiter.reply().tag == "INSERT 0 1"
