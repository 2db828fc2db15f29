"""What the log says of waits for the writer, errors and connections, and that nothing in it can be forged."""

import contextlib
import os
import re
import subprocess
import sys

import pytest

import wire
from daemon import eventually
from logs import FAST_LIMIT, FORGERY, SLOW, field, has_field, line, lines, milliseconds, serve  # noqa: F401 (a fixture)
from test_files_disks import mounted


# Waiting for the writer


def test_a_lock_wait_names_the_holder_while_it_lasts(serve):
    daemon = serve('log_lock_waits_after = "50ms"\n')
    holder = daemon.client(application_name="importer", user="ines")
    holder.query("BEGIN").check()
    holder.query("UPDATE accounts SET name = 'held' WHERE id = 1").check()
    # It idles from when its thread is done with it, which is after its answer.
    daemon.settle()
    waiter = daemon.client(application_name="shop", user="wim")
    waiter.send(wire.query("DELETE FROM accounts WHERE id = 2"))
    found = line(daemon, "still waits for the writer")
    assert not waiter.has_reply()
    assert field(found, "session") == str(waiter.process_id)
    assert field(found, "user") == "wim" and field(found, "application") == "shop"
    assert field(found, "sql") == "DELETE FROM accounts WHERE id = 2"
    assert field(found, "place") == "1"
    assert milliseconds(found, "wait") >= 50
    assert field(found, "holder") == "transaction"
    assert field(found, "holder_session") == str(holder.process_id)
    assert field(found, "holder_user") == "ines" and field(found, "holder_application") == "importer"
    assert field(found, "holder_peer_pid") == str(os.getpid()) and field(found, "holder_peer_uid") == str(os.getuid())
    assert field(found, "holder_sql") == "UPDATE accounts SET name = 'held' WHERE id = 1"
    assert milliseconds(found, "holder_since") >= 50 and milliseconds(found, "holder_idle") >= 50
    holder.query("COMMIT").check()
    waiter.reply().check()
    ended = line(daemon, "has the writer it waited for")
    assert field(ended, "session") == str(waiter.process_id)
    assert milliseconds(ended, "wait") >= milliseconds(found, "wait")


def test_the_extended_protocol_waits_as_well(serve):
    daemon = serve('log_lock_waits_after = "50ms"\nqueue_notice = 0\n')
    holder, waiter = daemon.client(), daemon.client()
    holder.query("BEGIN IMMEDIATE").check()
    waiter.send(wire.parse("DELETE FROM accounts WHERE id = $1"), wire.bind(["2"]), wire.execute(), wire.sync())
    found = line(daemon, "still waits for the writer")
    assert field(found, "sql") == "DELETE FROM accounts WHERE id = $1"
    assert field(found, "holder_session") == str(holder.process_id) and not has_field(found, "holder_sql")
    holder.query("COMMIT").check()
    assert waiter.reply().check().tags == ["DELETE 1"]


def test_no_lock_waits(serve):
    daemon = serve('log_lock_waits = false\nlog_lock_waits_after = "1ms"\nqueue_notice = "50ms"\n')
    holder, waiter = daemon.client(), daemon.client()
    holder.query("BEGIN IMMEDIATE").check()
    waiter.send(wire.query("DELETE FROM accounts WHERE id = 2"))
    # The notice is later than the line would be.
    assert waiter.receive().kind == "N"
    holder.query("COMMIT").check()
    waiter.reply().check()
    daemon.stop()
    assert not lines(daemon, "waits for the writer")


def test_an_evicted_holder_is_named(serve):
    daemon = serve('writer_idle_limit = "50ms"\n')
    holder, waiter = daemon.client(application_name="dawdler"), daemon.client()
    holder.query("BEGIN IMMEDIATE").check()
    waiter.query("DELETE FROM accounts WHERE id = 2").check()
    found = line(daemon, "a session was ended")
    assert field(found, "application") == "dawdler" and field(found, "sqlstate") == "25P03"
    assert holder.reply().closed


# Errors, connections


def test_errors_of_clients_only_when_asked_for(serve):
    for wanted, count in [("severe", 0), ("all", 1), ("none", 0)]:
        daemon = serve(f'log_client_errors = "{wanted}"\n')
        assert daemon.client().query("SELECT nonsense").state == "42703"
        daemon.stop()
        assert len(lines(daemon, "42703")) == count, wanted
        for found in lines(daemon, "42703"):
            assert field(found, "sql") == "SELECT nonsense" and found.startswith("info: ")
        assert not lines(daemon, "57P01")


@pytest.mark.parametrize("wanted", ["severe", "none"])
def test_what_is_no_message_ends_a_session_and_is_said(serve, wanted):
    """A client's library says no more than that the connection was closed."""
    daemon = serve(f'log_client_errors = "{wanted}"\n')
    client = daemon.client()
    client.send(b"Q" + (100 << 20).to_bytes(4, "big"))
    assert client.reply().state == "08P01"
    daemon.stop()
    (found,) = lines(daemon, "08P01")
    assert found.startswith("notice: a session was ended") and field(found, "error") == "invalid message length"
    assert "claims 104857600 bytes" in field(found, "detail")


def test_a_flood_of_errors_is_cut_and_counted(serve):
    daemon = serve('log_client_errors = "all"\n')
    client = daemon.client()
    client.send(*(wire.query("SELECT nonsense") for _ in range(1000)))
    for _ in range(1000):
        assert client.reply().state == "42703"
    daemon.stop()
    logged = len(lines(daemon, "42703"))
    assert 20 <= logged < 200
    assert sum(int(field(each, "lines")) for each in lines(daemon, "lines were left out")) == 1000 - logged


def test_a_log_on_a_full_disk(tmp_path, start_daemon):
    """What could not be written is counted, and the next line is one by itself."""
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=1m", "tmpfs") as disk:
        daemon = start_daemon(config='log_client_errors = "all"\n', start=False)
        before, log = daemon._errors_path, disk / "log"
        daemon._errors_path = log
        daemon.start()
        ballast = disk / "ballast"
        with daemon.client() as client:
            # What it says of its start is written, and the log has its first page.
            assert client.query("SELECT nowhere").state == "42703"
            eventually(lambda: "nowhere" in daemon.errors, "the line")
            sent, end = 0, None
            # It may get another page all the same, and has room in that.
            while not end and sent < 120:
                with open(ballast, "ab", buffering=0) as file, contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(4096))
                # Fewer than there may be of a kind in a second.
                for sent in range(sent + 1, sent + 13):
                    assert client.query(f"SELECT nothing_{sent} /* {'x' * 400} */").state == "42703"
                with contextlib.suppress(AssertionError):
                    end = eventually(lambda: (size := log.stat().st_size) % 4096 == 0 and size, "a full log", deadline=2)
            assert end, (sent, log.stat(), ballast.stat(), os.statvfs(disk))
            ballast.unlink()
            assert client.query("SELECT nothing_last").state == "42703"
        eventually(lambda: "nothing_last" in daemon.errors, "the line")
        daemon.stop()
        assert all(re.match(r"\S+Z (info|notice|warning|error): ", each) for each in log.read_text().splitlines())
        gap, = lines(daemon, "they could not be written")
        before.write_text(log.read_text())
        daemon._errors_path = before
        # One whose end is missing, and be it the line feed, was not written. A tmpfs may have room for another part of one later: it counts
        # its pages for each processor by itself. And lines of other kinds are counted that a slow machine makes the daemon say.
        whole = [each for each in lines(daemon, "SELECT nothing_") if each.endswith("user=tester")]
        assert sent + 1 <= len(whole) + int(field(gap, "lines")) <= sent + 5


def test_connections(serve):
    daemon = serve("log_connections = true\nlog_disconnections = true\n")
    with daemon.client(application_name="visitor") as client:
        found = line(daemon, "application=visitor")
        assert found.startswith("info: connected") and field(found, "session") == str(client.process_id)
        assert field(found, "database") == daemon.name
        client.send(wire.terminate())
    found = line(daemon, "application=visitor", count=2)
    assert found.startswith("info: disconnected") and milliseconds(found, "duration") > 0


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become another user")
def test_who_is_not_let_in_is_named(start_daemon):
    daemon = start_daemon(options=["--socket-mode", "0666"])
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import wire;"
        " client = wire.Client(sys.argv[2]); print(client.start(user='root', database='walpool').errors[0]['C'])")
    command = [sys.executable, "-c", script, os.path.dirname(os.path.abspath(wire.__file__)), str(daemon.socket_path)]
    # An interpreter that this user may start may be none of ours.
    command[0] = next((path for path in ("/usr/bin/python3", sys.executable) if os.access(path, os.X_OK)), sys.executable)
    result = subprocess.run(command, capture_output=True, text=True, user=65534, group=65534, extra_groups=[])
    if result.returncode != 0:
        pytest.skip(f"this user cannot run Python here: {result.stderr[-200:]}")
    assert result.stdout == "28000\n"
    found = line(daemon, "not let in")
    assert found.startswith("warning: ")
    assert field(found, "sqlstate") == "28000" and field(found, "user") == "root"
    assert field(found, "peer_uid") == "65534" and field(found, "rule") == "none"
    # Once is enough.
    assert len([each for each in daemon.errors.splitlines() if "65534" in each]) == 1


def test_connections_are_silent_by_default(serve):
    daemon = serve()
    daemon.client(application_name="visitor").close()
    daemon.stop()
    assert not lines(daemon, "visitor")


def test_settings_are_shown_and_cannot_be_set(serve):
    daemon = serve('log_parameters = true\nlog_lock_waits_after = "2s"\n')
    client = daemon.client()
    assert client.value("SHOW log_parameters") == "on"
    assert client.value("SHOW log_lock_waits_after") == "2s"
    assert client.value("SELECT current_setting('log_client_errors')") == "severe"
    assert ("log_parameters", "on") in {row[:2] for row in client.query("SHOW ALL").check().texts}
    for sql in ["SET log_parameters = off", "SET LOG_MIN_DURATION_STATEMENT = -1", "RESET log_parameters",
                "SELECT set_config('log_parameters', 'off', false)"]:
        assert client.query(sql).state == "55P02", sql
    assert client.value("SHOW log_parameters") == "on"


# Hostile text


def test_nothing_a_client_sends_is_taken_for_a_line_or_a_field(serve):
    daemon = serve(FAST_LIMIT + "log_connections = true\n")
    client = daemon.client(application_name=FORGERY[:60], user=FORGERY)
    sql = f"{SLOW} /* {FORGERY} */"
    client.query(sql).check()
    found = line(daemon, "a statement was slow", "forged")
    assert field(found, "sql") == re.sub(r"[\r\n\x1b\u202e\u2028]", " ", sql)
    assert field(found, "session") == str(client.process_id)
    daemon.stop()
    text = daemon.errors
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]", text)
    assert all(re.match(r"(debug|info|notice|warning|error|critical): ", each) for each in lines(daemon))
    assert not [each for each in lines(daemon) if each.startswith("error:")]


def test_a_checkpoint_that_empties_the_wal_says_what_it_has_copied(serve):
    """SQLite says 0 of 0 then."""
    daemon = serve('log_level = "debug"\n')
    daemon.run("CREATE TABLE much AS SELECT randomblob(3000) AS x FROM generate_series(1, 100)")
    daemon.stop()
    found = line(daemon, "last checkpoint")
    assert int(field(found, "frames")) >= 75 and field(found, "copied") == field(found, "frames")
