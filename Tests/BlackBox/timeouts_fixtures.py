"""What takes for ever, and a clock: the daemon's own."""

import pytest

from wire_fixtures import ENDLESS

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
