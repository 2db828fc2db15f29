"""Describe looks a statement up anew when the schema has changed since: like Parse, it can be cancelled and has a time of its own."""

import pytest

import wire
from daemon import eventually
from test_preparing import SCHEMA, select
from timeouts_fixtures import time_passes

HOW = {"statement": [wire.describe_statement("s")], "portal": [wire.bind(statement="s"), wire.describe_portal(), wire.execute()]}


@pytest.fixture
def db(daemon):
    daemon.run(*SCHEMA, "CREATE VIEW v AS SELECT 1 AS x")
    return daemon


def prepared(db, sql, *settings):
    client = db.client()
    for setting in settings:
        client.query(setting).check()
    client.ask(wire.parse(sql, name="s")).check()
    return client


def make_slow(db):
    """What was prepared in no time is planned for a minute."""
    db.run("DROP VIEW v", f"CREATE VIEW v AS {select(200)}")


@pytest.mark.optimised("portal")
@pytest.mark.parametrize("how", HOW)
def test_time_between_statements_does_not_count(db, how):
    # Planning it takes long enough to be asked whether it shall stop.
    client = prepared(db, select(1), "SET statement_timeout = '4s'")
    db.run("CREATE TABLE another (x)")
    time_passes(db, 4100)
    client.ask(*HOW[how]).check()


@pytest.mark.parametrize("how", HOW)
def test_it_obeys_its_timeout(db, how):
    client = prepared(db, "SELECT * FROM v")
    make_slow(db)
    client.query("SET statement_timeout = '300ms'").check()
    reply = client.ask(*HOW[how])
    assert reply.state == "57014" and "statement timeout" in reply.error["M"]
    assert client.query("SELECT 1").value == "1"


@pytest.mark.parametrize("how", HOW)
def test_it_can_be_cancelled(db, how):
    client = prepared(db, "SELECT * FROM v")
    make_slow(db)
    client.send(*HOW[how], wire.sync())

    def is_cancelled():
        client.cancel()
        return client.has_reply()

    eventually(is_cancelled, "the cancel")
    reply = client.reply()
    assert reply.state == "57014" and "user request" in reply.error["M"]
    assert client.query("SELECT 1").value == "1"


@pytest.mark.parametrize("how", HOW)
def test_while_it_waits_for_a_connection(db, how):
    cancelled, timed, patient = (prepared(db, "SELECT * FROM v") for _ in range(3))
    db.run("CREATE TABLE another (x)")
    administrator = db.client(database="walpool")
    timed.query("SET statement_timeout = '100ms'").check()
    administrator.query("PAUSE").check()
    for client in (cancelled, timed, patient):
        client.send(*HOW[how], wire.sync())
    reply = timed.reply()
    assert reply.state == "57014" and "statement timeout" in reply.error["M"]
    db.settle(cancelled, patient)
    cancelled.cancel()
    reply = cancelled.reply()
    assert reply.state == "57014" and "user request" in reply.error["M"]
    assert not patient.has_reply()
    administrator.query("RESUME").check()
    patient.reply().check()
