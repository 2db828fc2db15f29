"""Clients that hang up while they wait: their places are free again, and nothing of theirs is done later."""

import pytest

import wire
from daemon import eventually

INSERT = "INSERT INTO t VALUES (1)"
MAX_SESSIONS = 8
STATEMENTS = [INSERT, f"BEGIN; {INSERT}; COMMIT", "BEGIN IMMEDIATE", "SELECT count(*) FROM t"]


@pytest.fixture
def db(start_daemon):
    daemon = start_daemon(options=["--readers", "1"], config=f"max_sessions = {MAX_SESSIONS}\nwriter_idle_limit = 0\n")
    daemon.run("CREATE TABLE t (n INTEGER)")
    # The session of that may end a moment later, and the sockets are counted below.
    eventually(lambda: daemon.sockets == 1, "its end")
    return daemon


def pause(db, administrator):
    administrator.query("PAUSE").check()
    return lambda: administrator.query("RESUME").check()


def hold(db, _):
    holder = db.client()
    holder.query("BEGIN IMMEDIATE").check()
    reader = db.client()
    reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM t").check()

    def release():
        for client in (holder, reader):
            client.query("COMMIT").check()

    return release


@pytest.mark.parametrize("keep", [pause, hold])
def test_who_hangs_up_while_it_waits(db, keep):
    administrator = db.client(database="walpool")
    release = keep(db, administrator)
    before = db.sockets
    gone = [db.client() for _ in STATEMENTS]
    for client, sql in zip(gone, STATEMENTS):
        client.send(wire.query(sql))
    db.settle(*gone)
    # It sends nothing more, and reads.
    patient = db.client()
    patient.send(wire.query(INSERT))
    patient.half_close()
    db.settle(patient)
    for client in gone:
        assert not client.has_reply()
        client.close()
    eventually(lambda: db.sockets <= before + 1, "their ends")
    assert not patient.has_reply()
    # A session is counted a little longer than its socket is open.
    db.settle()
    # All their places are free. One of those before is the socket that listens, and the patient one's is taken.
    for each in [db.client() for _ in range(MAX_SESSIONS - before)]:
        each.close()
    db.settle()
    release()
    assert b"INSERT 0 1" in patient.rest()
    assert db.value("SELECT count(*) FROM t") == "1"


def test_who_has_hung_up_before_it_waits(db):
    administrator = db.client(database="walpool")
    release = hold(db, administrator)
    before = db.sockets
    client = db.client()
    client.send(wire.query(INSERT), wire.query(INSERT))
    client.close()
    eventually(lambda: db.sockets <= before, "its end")
    release()
    assert db.value("SELECT count(*) FROM t") == "0"
