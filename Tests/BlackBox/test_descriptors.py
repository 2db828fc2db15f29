"""Descriptors: sessions do not take those that the daemon itself needs."""

import re

import pytest

from access import refused
from daemon import Daemon, eventually


class Limited(Daemon):
    """One that may open so many files."""

    files = 256

    def command(self):
        return ["prlimit", f"--nofile={self.files}:{self.files}", *super().command()]


@pytest.fixture
def start_limited():
    daemons = []

    def start(**keywords):
        daemons.append(Limited(**keywords))
        return daemons[-1]

    yield start
    for daemon in daemons:
        daemon.close()


def filled(daemon):
    """As many sessions as it lets in."""
    sessions = []
    while True:
        client = daemon.raw()
        reply = client.start(database=daemon.name)
        if reply.errors:
            refused(reply, "53300")
            return sessions
        sessions.append(client)
        assert len(sessions) < Limited.files


def test_sessions_leave_the_daemon_its_descriptors(start_limited):
    daemon = start_limited(config="backup_directory = '.'\n")
    warning = eventually(lambda: re.search(r"warning: max_sessions = 1000.* room for (\d+): it is 256.*LimitNOFILE=", daemon.errors))
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t SELECT randomblob(200) FROM generate_series(1, 20000)")
    eventually(lambda: daemon.sockets == 1, "an end of that session")
    # A session is counted a little longer than its socket is open.
    daemon.settle()
    sessions = filled(daemon)
    assert len(sessions) == int(warning[1])
    # What is left for those who are refused is taken by some who say nothing.
    rest = [daemon.raw() for _ in range(64)]
    for session in sessions[:8]:
        assert session.query("BEGIN READ ONLY; SELECT count(*) FROM (SELECT x FROM t ORDER BY x LIMIT 15000 OFFSET 1)").value == "15000"
    sessions[8].query("UPDATE t SET x = randomblob(300)").check()
    sessions[8].query("CREATE INDEX tx ON t (x)").check()
    with daemon.client(database="walpool") as console:
        for command in ["BACKUP TO 'copy.db'", "CHECKPOINT", "SHOW SERVERS"]:
            console.query(command).check()
    assert "out of file descriptors" not in daemon.errors
    for client in rest:
        client.close()


def test_a_limit_that_is_too_small_for_the_daemon(start_limited, tmp_path):
    daemon = start_limited(start=False)
    daemon.files = 100
    with pytest.raises(AssertionError):
        daemon.start()
    assert daemon.wait() == 1
    assert "max_sessions = 1000, and the limit of open files" in daemon.errors and "LimitNOFILE=" in daemon.errors
    daemon.may_fail = True


def test_a_reload_keeps_to_what_there_is_room_for(start_limited):
    daemon = start_limited(config="max_sessions = 5\n")
    assert "LimitNOFILE" not in daemon.errors
    assert len(filled(daemon)) == 5
    (daemon.directory / "walpoold.toml").write_text("max_sessions = 1000\n")
    notices = daemon.client(database="walpool").query("RELOAD").check().notices
    assert any("LimitNOFILE=" in notice["M"] and notice["M"].startswith("needs a restart: max_sessions") for notice in notices), notices
