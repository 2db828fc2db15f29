"""Limits of time, and how they are set. What is tested is which error ends a wait, never when."""

import pytest

import wire
from daemon import eventually

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
ENDLESS_WRITE = "INSERT INTO t " + ENDLESS.replace("count(*)", "x, 'x'") + " WHERE x < 0"


@pytest.fixture
def db(shared):
    shared.run("DROP TABLE IF EXISTS t", "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    return shared


def time_passes(daemon, milliseconds):
    """Returns when the daemon's own clock says that so much time has passed for a session that idled."""
    clock = daemon.client()
    clock.query(f"SET idle_in_transaction_session_timeout = {milliseconds}").check()
    clock.query("BEGIN").check()
    assert clock.reply().state == "25P03"


# SET, SHOW, RESET


@pytest.mark.parametrize(
    "name", ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "transaction_timeout"])
def test_values(db, name):
    client = db.client()
    assert client.value(f"SHOW {name}") == "0"
    for value, shown in [("250", "250ms"), ("'1500ms'", "1500ms"), ("'2s'", "2s"), ("2000", "2s"), ("'1.5s'", "1500ms"),
                         ("'1 min'", "1min"), ("'90s'", "90s"), ("'2h'", "2h"), ("'1d'", "1d"), ("0", "0"),
                         ("2147483647", "2147483647ms"), ("DEFAULT", "0")]:
        assert client.query(f"SET {name} = {value}").tag == "SET"
        assert client.value(f"SHOW {name}") == shown, value
    for value in ["-1", "'soon'", "'5 parsecs'", "2147483648", "''", "'9e99'", "'NaN'"]:
        assert client.query(f"SET {name} TO {value}").state == "22023", value
    client.query(f"SET {name} TO '5s'").check()
    assert client.query(f"RESET {name}").tag == "RESET"
    assert client.value(f"SHOW {name}") == "0"


def test_scopes(db):
    client = db.client()

    def shown():
        return client.value("SHOW lock_timeout")

    client.query("SET lock_timeout = '1s'").check()
    client.query("BEGIN; SET lock_timeout = '2s'; SET LOCAL lock_timeout = '3s'").check()
    assert shown() == "3s"
    client.query("COMMIT").check()
    assert shown() == "2s"
    client.query("BEGIN; SET lock_timeout = '4s'; ROLLBACK").check()
    assert shown() == "2s", "ROLLBACK undoes a SET"
    client.query("BEGIN; SET LOCAL lock_timeout = '5s'; ROLLBACK").check()
    assert shown() == "2s"
    client.query("SET SESSION lock_timeout = '6s'; RESET ALL").check()
    assert shown() == "0"
    assert db.client().value("SHOW lock_timeout") == "0", "a session's own"


def test_other_settings(db):
    client = db.client()
    assert client.query("SET nonsense = 1").state == "42704"
    assert client.query("SHOW nonsense").state == "42704"
    assert "synchronous of" in client.query("SET synchronous_commit = off").error["H"]
    assert client.query("RESET nonsense").state == "42704"
    assert client.query("SET server_version = '1'").state == "55P02"
    client.query("SET my.own = 'value'").check()
    assert client.value("SHOW my.own") == "value"
    client.query("SET extra_float_digits = 3; SET application_name = 'x'; SET datestyle TO ISO; SET TIME ZONE 'UTC'").check()
    client.query("SET x.y=z").check()
    everything = client.query("SHOW ALL").check().texts
    assert {"x.y", "work_mem", "server_version", "transaction_isolation", "statement_timeout"} < {row[0] for row in everything}
    assert len(everything) == len({row[0] for row in everything})
    for name, value, _ in everything:
        assert client.value(f"SHOW {name}") == value, name
    client.query("SET client_encoding TO 'UTF8'; SET NAMES 'utf8'").check()
    assert client.query("SET client_encoding TO 'LATIN1'").state == "22023"


def test_settings_that_would_be_relied_on(db):
    """What is accepted means nothing, and so it cannot be what keeps a session short or triggers quiet."""
    client = db.client()
    client.query("SET idle_session_timeout = 0; SET session_replication_role = origin; SET work_mem = '1GB'").check()
    for setting in ["idle_session_timeout = '300ms'", "session_replication_role = replica"]:
        reply = client.query(f"SET {setting}")
        assert reply.state == "0A000" and reply.error["H"], reply
        reply = db.raw().start(database=db.name, options=f"-c {setting.replace(' ', '')}".replace("'", ""))
        assert reply.state == "0A000", reply
    assert client.query("SHOW idle_session_timeout").value == "0"


def test_configured_defaults(start_daemon):
    daemon = start_daemon(config="""
        statement_timeout = "7s"
        lock_timeout = 1234
        default_transaction_isolation = "repeatable read"
    """)
    client = daemon.client()
    assert client.value("SHOW statement_timeout") == "7s"
    assert client.value("SHOW lock_timeout") == "1234ms"
    assert client.value("SHOW default_transaction_isolation") == "repeatable read"
    client.query("SET statement_timeout = 0; RESET statement_timeout").check()
    assert client.value("SHOW statement_timeout") == "7s"


def test_transaction_isolation_is_shown(db):
    client = db.client()
    client.query("BEGIN ISOLATION LEVEL SERIALIZABLE").check()
    assert client.value("SHOW transaction_isolation") == "serializable"
    client.query("ROLLBACK").check()
    assert client.value("SHOW TRANSACTION ISOLATION LEVEL") == "read committed"
    client.query("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ").check()
    client.query("BEGIN").check()
    assert client.value("SHOW transaction_isolation") == "repeatable read"
    client.query("ROLLBACK; BEGIN; SET TRANSACTION ISOLATION LEVEL READ COMMITTED").check()
    assert client.value("SHOW transaction_isolation") == "read committed"


# statement_timeout


def test_statement_timeout_of_a_read(db):
    client = db.client()
    client.query("SET statement_timeout = '100ms'").check()
    reply = client.query(ENDLESS)
    assert reply.error["C"] == "57014" and "statement timeout" in reply.error["M"]
    assert reply.status == "I"
    assert client.value("SELECT 1") == "1"
    reply = client.extended(ENDLESS)
    assert reply.state == "57014" and reply.status == "I"


def test_statement_timeout_of_a_write(db):
    client = db.client()
    client.query("SET statement_timeout = '100ms'").check()
    reply = client.query(f"INSERT INTO t VALUES (1, 'x'); {ENDLESS_WRITE}")
    assert reply.state == "57014" and reply.status == "I"
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
    assert waiter.query("INSERT INTO t VALUES (1, 'x')").tag == "INSERT 0 1"

    daemon = start_daemon(options=["--readers", "1"])
    holder, waiter = daemon.client(), daemon.client()
    holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1").check()
    waiter.query("SET statement_timeout = '100ms'").check()
    assert waiter.query("SELECT 1").state == "57014"
    holder.query("COMMIT").check()
    assert waiter.value("SELECT 1") == "1"


def test_statement_timeout_is_per_statement(db):
    client = db.client()
    client.query("SET statement_timeout = '2s'").check()
    for _ in range(50):
        client.query("SELECT 1; SELECT 2").check()
    time_passes(db, 2100)
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
    waiter.query("BEGIN").check()
    waiter.send(wire.query("INSERT INTO t VALUES (1, 'x')"))
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
    client.query(begin).check()
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


def test_idle_holder_is_ended_when_somebody_waits(start_daemon):
    daemon = start_daemon(config='writer_idle_limit = "200ms"\n')
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    holder, waiter = daemon.client(), daemon.client()
    holder.query("BEGIN; INSERT INTO t VALUES (1, 'lost')").check()
    assert waiter.query("INSERT INTO t VALUES (1, 'kept')").tag == "INSERT 0 1"
    reply = holder.reply()
    assert reply.closed and reply.error["S"] == "FATAL" and reply.error["C"] == "25P03"


def test_idle_holder_is_ended_for_those_who_cannot_wait_so_long(start_daemon):
    daemon = start_daemon(config='writer_idle_limit = "500ms"\n')
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    holder, waiter = daemon.client(), daemon.client()
    holder.query("BEGIN; INSERT INTO t VALUES (1, 'lost')").check()
    waiter.query("SET lock_timeout = '150ms'").check()
    states = []

    def has_written():
        states.append(waiter.query("INSERT INTO t VALUES (1, 'kept')").state)
        return states[-1] is None

    eventually(has_written, "the holder's end")
    assert set(states[:-1]) == {"55P03"}
    reply = holder.reply()
    assert reply.closed and reply.error["C"] == "25P03"


def test_idle_holder_is_left_alone_when_nobody_waits(start_daemon):
    daemon = start_daemon(config='writer_idle_limit = "100ms"\n')
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    holder = daemon.client()
    holder.query("BEGIN; INSERT INTO t VALUES (1, 'kept')").check()
    time_passes(daemon, 500)
    assert daemon.value("SELECT count(*) FROM t") == "0"
    assert holder.query("COMMIT").tag == "COMMIT"


def test_busy_holder_is_left_alone(start_daemon):
    daemon = start_daemon(config='writer_idle_limit = "300ms"\n')
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
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


# Another process


@pytest.mark.parametrize("lock", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_busy_outsider(db, outsider, lock):
    other = outsider(db.database)
    client = db.client()
    other(lock)
    client.query("SET lock_timeout = '200ms'").check()
    reply = client.query("INSERT INTO t VALUES (1, 'x')")
    assert reply.error["C"] == "55P03" and reply.status == "I"
    client.query("BEGIN").check()
    reply = client.query("INSERT INTO t VALUES (1, 'x')")
    assert reply.state == "55P03" and reply.status == "E"
    client.query("ROLLBACK").check()
    assert client.value("SELECT count(*) FROM t") == "0", "nothing half-done, and reading goes on"
    client.query("SET lock_timeout = 0").check()
    client.send(wire.query("INSERT INTO t VALUES (1, 'x')"))
    eventually(lambda: client.unread_by_server() == 0, "reading")
    assert not client.has_reply()
    other("INSERT INTO t VALUES (2, 'outside')")
    other("COMMIT")
    assert client.reply().tag == "INSERT 0 1"
    assert db.run("SELECT id, v FROM t").texts == [("1", "x"), ("2", "outside")]


def test_cancel_behind_an_outsider(db, outsider):
    other = outsider(db.database)
    client = db.client()
    other("BEGIN IMMEDIATE")
    client.send(wire.query("INSERT INTO t VALUES (1, 'x')"))

    def answered():
        client.cancel()
        return client.has_reply()

    eventually(answered, "the cancel")
    assert client.reply().state == "57014"
    other("COMMIT")
    assert client.query("INSERT INTO t VALUES (1, 'x')").tag == "INSERT 0 1"


def group_behind_an_outsider(db, settings):
    """A group that has been granted the writer together and waits for another process, which has the lock."""
    first = db.client()
    first.query("SET lock_timeout = '200ms'").check()
    clients = [db.client() for _ in settings]
    for client, setting in zip(clients, settings):
        if setting:
            client.query(f"SET {setting}").check()
    # The first is a group of its own. While it waits the others gather; they become a group when it gives up.
    first.send(wire.query("INSERT INTO t VALUES (99, 'x')"))
    for number, client in enumerate(clients):
        client.send(wire.query(f"INSERT INTO t VALUES ({number}, 'x')"))
    for client in clients:
        eventually(lambda: client.unread_by_server() == 0, "reading")
    assert first.reply().state == "55P03"
    return clients


def test_timeouts_in_a_group_behind_an_outsider(db, outsider):
    # Those who would wait no longer are answered while the others go on waiting.
    other = outsider(db.database)
    other("BEGIN IMMEDIATE")
    settings = [None, "lock_timeout = '800ms'", "statement_timeout = '800ms'"] * 2
    clients = group_behind_an_outsider(db, settings)
    for client, setting in zip(clients, settings):
        if setting:
            assert client.reply().state == ("55P03" if "lock" in setting else "57014")
            assert client.value("SELECT 1") == "1"
    assert not clients[0].has_reply() and not clients[3].has_reply()
    other("COMMIT")
    assert clients[0].reply().tag == clients[3].reply().tag == "INSERT 0 1"
    assert db.run("SELECT id FROM t").texts == [("0",), ("3",)]


def test_cancel_in_a_group_behind_an_outsider(db, outsider):
    other = outsider(db.database)
    other("BEGIN IMMEDIATE")
    clients = group_behind_an_outsider(db, [None] * 4)
    for number in (2, 0):
        clients[number].cancel()
        assert clients[number].reply().state == "57014"
    clients[1].close()
    assert not clients[3].has_reply()
    other("COMMIT")
    assert clients[3].reply().tag == "INSERT 0 1"
    assert db.value("SELECT count(*) FROM t WHERE id IN (0, 2)") == "0"


def test_outsider_that_keeps_an_old_snapshot(db, outsider):
    other = outsider(db.database)
    db.run("INSERT INTO t VALUES (1, 'x')")
    other("BEGIN")
    assert other("SELECT count(*) FROM t") == [(1,)]
    client = db.client()
    for number in range(2, 200):
        client.query(f"INSERT INTO t VALUES ({number}, 'x')").check()
    assert other("SELECT count(*) FROM t") == [(1,)]
    other("COMMIT")
    assert client.value("SELECT count(*) FROM t") == "199"
