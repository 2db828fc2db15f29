"""Who reads the log: a pipe, the journal, and either of them when it has stopped reading."""

import contextlib
import datetime
import fcntl
import os
import re
import socket
import subprocess
import time

import pytest

import journal
import wire
from daemon import eventually
from journal import Journal
from logs import FAST_LIMIT, FORGERY, SCHEMA, SLOW, TIME, line, lines


# Who reads the log


# A client may cause as many lines at once as LogLimits lets it.
BURST = 20


def cause_lines(client):
    """Lines of the log, each of them long, until the client gets no more of them. It is answered all the same."""
    for n in range(2 * BURST):
        assert client.query(f"SELECT * FROM pg_missing_{n} WHERE x = '{'y' * 1500}'").state == "42P01"
    assert client.value("SELECT 1") == "1"


def pipe_daemon(start_daemon):
    """A daemon whose stderr is a pipe that holds a few lines, and the end it is read from."""
    daemon = start_daemon(start=False)
    daemon._errors_path.touch()
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    daemon.process = subprocess.Popen(daemon.command(), stdin=subprocess.DEVNULL, stderr=writer, cwd=daemon.directory)
    os.close(writer)
    eventually(daemon._accepts, "a socket that accepts")
    return daemon, reader


def test_a_reader_of_the_log_that_has_stopped_stops_nobody(start_daemon):
    daemon, reader = pipe_daemon(start_daemon)
    cause_lines(daemon.client())
    # It stops in order, though its last words are heard by nobody.
    daemon.terminate()
    assert daemon.wait() == 0
    os.close(reader)


def test_a_reader_of_the_log_that_goes_on_misses_nothing(start_daemon):
    daemon, reader = pipe_daemon(start_daemon)
    cause_lines(daemon.client())
    daemon.terminate()
    text = b""
    while part := os.read(reader, 1 << 16):
        text += part
    os.close(reader)
    assert daemon.wait() == 0
    found = text.decode().splitlines()
    asked = [int(re.search(r"pg_missing_(\d+)", each)[1]) for each in found if "catalog query" in each]
    assert asked[:BURST] == list(range(BURST))
    assert "stopped" in found[-1]
    (left_out,) = [each for each in found if "lines were left out" in each]
    assert f"lines={2 * BURST - len(asked)} of_kind=catalog_query" in left_out


def test_lines_in_a_file_say_when(start_daemon):
    before = time.time()
    daemon = start_daemon()
    daemon.stop()
    after = time.time()
    found = daemon.errors.splitlines()
    assert "stopped" in found[-1]
    times = [datetime.datetime.fromisoformat(TIME.match(each)[0].strip()).timestamp() for each in found]
    # Whole milliseconds.
    assert int(before * 1000) / 1000 <= times[0] <= times[-1] <= after
    assert all(re.match("(info|notice|warning): ", each) for each in lines(daemon))


def test_lines_on_a_terminal_do_not(start_daemon):
    daemon = start_daemon(start=False)
    daemon._errors_path.touch()
    reader, terminal = os.openpty()
    daemon.process = subprocess.Popen(daemon.command(), stdin=subprocess.DEVNULL, stderr=terminal, cwd=daemon.directory)
    os.close(terminal)
    eventually(daemon._accepts, "a socket that accepts")
    daemon.terminate()
    assert daemon.wait() == 0
    text = b""
    # "EIO" is the end: nobody has the terminal open any more.
    with contextlib.suppress(OSError):
        while part := os.read(reader, 1 << 16):
            text += part
    os.close(reader)
    found = text.decode().splitlines()
    assert "stopped" in found[-1] and all(re.match("(info|notice|warning): ", each) for each in found), found


def test_a_stderr_that_is_closed_is_no_other_file(start_daemon):
    """The next file that is opened would get its number, and the log's lines."""
    daemon = start_daemon(start=False)
    daemon._errors_path.touch()
    daemon.process = subprocess.Popen(
        ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *daemon.command()], cwd=daemon.directory)
    eventually(daemon._accepts, "a socket that accepts")
    assert {os.readlink(f"/proc/{daemon.pid}/fd/{number}") for number in (0, 1, 2)} == {"/dev/null"}
    daemon.check_alive()


# The journal


@pytest.fixture
def journal_daemon(start_daemon, tmp_path):
    """A daemon for which journald listens, and what that hears. stderr is a file, whose numbers JOURNAL_STREAM has."""
    if not journal.can_have_namespaces():
        pytest.skip("mount namespaces need root, and a container that lets it: the journal's socket has a fixed path")
    heard = Journal(tmp_path / "journal.socket")

    def start(config="", matches=True):
        daemon = start_daemon(config=config, start=False)
        daemon._errors_path.touch()
        status = daemon._errors_path.stat()
        stream = f"{status.st_dev}:{status.st_ino + (0 if matches else 1)}"
        with open(daemon._errors_path, "ab") as errors:
            daemon.process = subprocess.Popen(
                journal.namespace_command(heard.path, daemon.command()), stdin=subprocess.DEVNULL, stdout=errors,
                stderr=errors, cwd=daemon.directory, env=os.environ | {"JOURNAL_STREAM": stream})
        eventually(daemon._accepts, "a socket that accepts")
        return daemon

    yield start, heard
    heard.close()


def entry(heard, text):
    return eventually(lambda: heard.with_message(text), f"an entry with {text}")[-1]


def test_entries_of_the_journal(journal_daemon):
    start, heard = journal_daemon
    daemon = start(FAST_LIMIT + 'log_client_errors = "all"\nlog_lock_waits_after = "20ms"\n')
    daemon.run(SCHEMA)
    client = daemon.client(application_name="reports")
    sql = f"{SLOW}\nORDER BY 1 /* {FORGERY} */"
    client.query(sql).check()
    found = entry(heard, "ORDER BY 1")
    assert found["MESSAGE"].startswith("a statement was slow application=reports ") and "\n" not in found["MESSAGE"]
    assert found["PRIORITY"] == "5" and found["SYSLOG_IDENTIFIER"] == "walpoold"
    assert re.fullmatch("[0-9a-f]{32}", found["MESSAGE_ID"])
    # As it was sent: the protocol says how long each value is.
    assert found["WALPOOL_SQL"] == sql
    assert found["WALPOOL_PLAN"] == "SCAN a; SCAN b" and "no index was used" in found["WALPOOL_HINT"]
    assert int(found["WALPOOL_DURATION_USEC"]) == int(found["WALPOOL_RUN_USEC"]) + int(found["WALPOOL_WAIT_USEC"])
    assert int(found["WALPOOL_DURATION_USEC"]) >= 1000
    assert found["WALPOOL_SESSION"] == str(client.process_id) and found["WALPOOL_APPLICATION"] == "reports"
    assert found["WALPOOL_PEER_UID"] == str(os.getuid()) and found["WALPOOL_PEER_PID"] == str(os.getpid())
    assert found["WALPOOL_ROWS"] == "1"
    assert found["CODE_FILE"].endswith(".swift") and int(found["CODE_LINE"]) > 0

    client.query("SELECT nonsense")
    failed = entry(heard, "a statement failed")
    assert failed["WALPOOL_SQLSTATE"] == "42703" and failed["WALPOOL_SQL"] == "SELECT nonsense"

    holder, waiter = daemon.client(), daemon.client()
    holder.query("BEGIN IMMEDIATE").check()
    waiter.send(wire.query("DELETE FROM accounts WHERE id = 2"))
    waits = entry(heard, "still waits")
    assert waits["WALPOOL_HOLDER_SESSION"] == str(holder.process_id)
    assert waits["WALPOOL_HOLDER_PEER_PID"] == str(os.getpid())
    holder.query("COMMIT").check()
    waiter.reply().check()

    with daemon.raw() as console:
        console.start(database="walpool", user="root").check()
        console.query(f"KILL {client.process_id}").check()
    assert entry(heard, "killed by an administrator")["WALPOOL_KILLED_SESSION"] == str(client.process_id)

    daemon.stop()
    entry(heard, "stopped")
    assert [each for each in heard.entries if "MESSAGE_ID" not in each] == []
    ids = {each["MESSAGE_ID"] for each in (found, failed, waits, entry(heard, "stopping"), entry(heard, "stopped"))}
    assert len(ids) == 5
    names = {name for each in heard.entries for name in each}
    assert all(re.fullmatch("[A-Z][A-Z0-9_]{0,63}", name) for name in names), names
    assert daemon.errors == ""


def test_a_journal_that_does_not_answer(journal_daemon):
    """Then lines go to stderr, with the prefix that says how important each is."""
    start, heard = journal_daemon
    heard.stop()
    daemon = start('log_client_errors = "all"\n')
    daemon.client().query("SELECT nonsense")
    assert line(daemon, "a statement failed").startswith("<6>a statement failed ")
    daemon.stop()
    assert all(re.match("<[2-7]>", each) for each in daemon.errors.splitlines()), daemon.errors


def test_a_stderr_that_is_not_the_journals(journal_daemon):
    """JOURNAL_STREAM is inherited by whoever is started with another stderr."""
    start, heard = journal_daemon
    daemon = start('log_client_errors = "all"\n', matches=False)
    daemon.client().query("SELECT nonsense")
    assert line(daemon, "a statement failed").startswith("info: ")
    daemon.stop()
    # All that the daemon may have sent lies before it.
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as own:
        own.sendto(b"MESSAGE=of the test's own\n", str(heard.path))
    entry(heard, "of the test's own")
    assert len(heard.entries) == 1, heard.entries


def test_a_journal_that_has_stopped_stops_nobody(journal_daemon):
    """Its queue is full, and sending to it blocks: only the log's own thread."""
    start, heard = journal_daemon
    daemon = start()
    entry(heard, "SQLite")
    heard.pause()
    cause_lines(daemon.client())
    daemon.terminate()
    assert daemon.wait() == 0
    heard.go_on()
    entry(heard, "pg_missing_0")
