"""Places: who connects and says nothing takes them from nobody but those whom the same rule is about."""

import os

import pytest

import metrics
import wire
from access import ALICE, BOB, CAROL, refused, started
from daemon import eventually
from identity import client_as, session_as

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs to become other users")

RULES = f"""
max_sessions = 20
[[access]]
user = "root"
role = "admin"
[[access]]
uid = {ALICE}
role = "writer"
max_sessions = 2
[[access]]
uid = {BOB}
role = "writer"
[[access]]
user = "all"
role = "reject"
"""
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


def silent(daemon, user, count=60):
    """Those of so many connections that have a place."""
    clients = [client_as(daemon, user) for _ in range(count)]
    # The last one has been accepted or refused when this one, behind it, has been answered.
    with daemon.client() as root:
        root.query("SELECT 1").check()
    return [client for client in clients if not client.has_reply()]


@needs_root
@pytest.mark.parametrize("user, places", [(ALICE, 18), (CAROL, 16)], ids=["limited", "rejected"])
def test_silent_connections_take_no_others_places(serve, user, places):
    daemon = serve(RULES)
    assert len(silent(daemon, user)) == places
    sessions = [session_as(daemon, BOB) for _ in range(20)]
    refused(started(daemon, BOB), "53300")
    for session in sessions:
        assert session.query("SELECT 1").value == "1"


@needs_root
@pytest.mark.parametrize("user, words", [(ALICE, "18 connections, of which 16"), (CAROL, "16 connections")], ids=["limited", "rejected"])
def test_who_gets_no_place_is_counted_and_noted(serve, user, words):
    """Not with the max_sessions that is not reached."""
    daemon = serve(RULES)
    held = silent(daemon, user)
    refusals = ("walpool_errors_total", ("sqlstate", "53300"))
    before = metrics.values(daemon)[refusals]
    # It is told before it has said anything.
    error = refused(client_as(daemon, user).reply(), "53300")
    assert words in error["H"] and "max_sessions" not in error["H"]
    assert metrics.values(daemon)[refusals] == before + 1
    line = eventually(lambda: [line for line in daemon.errors.splitlines() if "a connection was refused" in line])[-1]
    assert f"peer_uid={user}" in line and "sqlstate=53300" in line and words in line
    assert held


@needs_root
def test_a_rule_without_a_limit_takes_no_others_places(serve):
    """BOB's has none, ALICE's has."""
    daemon = serve(RULES)
    assert len(silent(daemon, BOB, 100)) == 20 + 16
    assert session_as(daemon, ALICE).query("SELECT 1").value == "1"


@needs_root
def test_one_too_many_is_told_so_before_it_says_anything(serve):
    daemon = serve(RULES)
    kept = silent(daemon, ALICE)
    late = client_as(daemon, ALICE)
    assert refused(late.reply(), "53300")["M"] == "sorry, too many clients already"
    # A place that becomes free is given again.
    for client in kept:
        client.close()

    def gets_in():
        try:
            return not started(daemon, ALICE).errors
        except (BrokenPipeError, ConnectionResetError):
            return False

    eventually(gets_in, "a place")


@needs_root
def test_a_rule_that_is_full_is_told_so_and_can_cancel(serve):
    daemon = serve(RULES)
    first, _ = [session_as(daemon, ALICE) for _ in range(2)]
    for _ in range(40):
        assert "max_sessions is 2" in refused(started(daemon, ALICE), "53300")["H"]
    first.send(wire.query(ENDLESS))
    eventually(lambda: first.unread_by_server() == 0, "reading")

    def is_cancelled():
        with client_as(daemon, ALICE) as canceller:
            canceller.send(wire.cancel_request(first.process_id, first.key))
            assert canceller.rest() == b""
        return first.has_reply()

    eventually(is_cancelled, "a cancel")
    assert first.reply().state == "57014"
    # Who may not enter is told that.
    refused(started(daemon, CAROL), "28000")
