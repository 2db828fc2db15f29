"""The configuration file read again: what is applied at once, what waits for a restart, and that a bad file changes nothing."""

import os
import re
import signal
import threading
import time

import pytest

import wire
from daemon import eventually
from metrics import values

APPLIED = re.compile(r"configuration read again")
REFUSED = re.compile(r"configuration not read again: nothing has changed")


def shown(daemon, name):
    return daemon.value(f"SHOW {name}")


def reload(daemon, text, expected=APPLIED):
    """Gives the daemon another file; returns what it said of it."""
    before = len(daemon.errors)
    (daemon.directory / "walpoold.toml").write_text(text)
    daemon.process.send_signal(signal.SIGHUP)
    either = re.compile(f"(?:{APPLIED.pattern}|{REFUSED.pattern})[^\n]*(?:changes|problems)=(\\d+)(?: need_restart=(\\d+))?")
    said = eventually(lambda: either.search(daemon.errors, before), "the reload")
    lines = sum(int(count or 0) for count in said.groups())
    eventually(lambda: daemon.errors.count("\n", said.end()) >= lines + 1, "all of it")
    assert expected.search(said[0]), daemon.errors[before:]
    return daemon.errors[before:]


def test_precedence(start_daemon):
    """Command line over file over defaults, at the start and at every reload."""
    daemon = start_daemon(config='max_sessions = 3\nstatement_timeout = "5s"\n', options=["--max-sessions", "2"])

    def admitted():
        eventually(lambda: daemon.sockets == 1, "the end of the sessions before")
        # A session is counted a little longer than its socket is open.
        daemon.settle()
        clients = [daemon.raw() for _ in range(4)]
        count = sum(not client.start(database=daemon.name).errors for client in clients)
        for client in clients:
            client.close()
        eventually(lambda: daemon.sockets == 1, "the end of the sessions")
        return count

    assert admitted() == 2
    assert shown(daemon, "statement_timeout") == "5s" and shown(daemon, "lock_timeout") == "0"
    reload(daemon, "max_sessions = 4\n")
    assert admitted() == 2 and shown(daemon, "statement_timeout") == "0"


@pytest.mark.optimised
def test_a_file_that_has_not_changed_takes_no_memory(start_daemon):
    """A page of text, read as often as once a minute for a day and a half."""
    page = "".join(f'{name} = "{value}"\n' for name, value in [
        ("statement_timeout", "5s"), ("lock_timeout", "6s"), ("transaction_timeout", "7s"), ("client_write_timeout", "8s"),
        ("writer_idle_limit", "9s"), ("shutdown_timeout", "10s"), ("log_level", "notice")])
    daemon = start_daemon(config=page)
    with daemon.client(database="walpool") as console:
        for _ in range(100):
            console.query("RELOAD").check()
        before = daemon.memory()
        for _ in range(2000):
            console.query("RELOAD").check()
        assert daemon.memory() - before < 1 << 20


def test_reload_applies_what_it_can(start_daemon, tmp_path):
    daemon = start_daemon(config='readers = 2\nlog_level = "notice"\n')
    old = daemon.client()
    said = reload(daemon, f'readers = 3\nforeign_keys = false\nstatement_timeout = "9s"\nbackup_directory = "{tmp_path}"\n'
                          'log_level = "info"\ngroup_members = 1\n')
    assert 'configuration: statement_timeout = "9s", was "0"; for new sessions' in said
    assert f'configuration: backup_directory = "{tmp_path}", was (not set)' in said
    assert "configuration: group_members = 1, was 128" in said
    assert "configuration: needs a restart: readers = 3, is 2" in said
    assert "configuration: needs a restart: foreign_keys = false, is true" in said
    assert old.value("SHOW statement_timeout") == "0" and shown(daemon, "statement_timeout") == "9s"
    admin = daemon.client(database="walpool")
    assert admin.query("BACKUP TO 'copy.db'").tag == "BACKUP" and (tmp_path / "copy.db").exists()
    # What waits for a restart is said again, what has been done is not.
    said = reload(daemon, f'readers = 3\nstatement_timeout = "9s"\nbackup_directory = "{tmp_path}"\ngroup_members = 1\n')
    assert "changes=0 need_restart=1" in said and "statement_timeout" not in said
    said = reload(daemon, "readers = 2\n")
    assert "changes=3 need_restart=0" in said and "restart:" not in said
    assert admin.query("BACKUP TO 'other.db'").errors


def test_metrics_say_the_limit_in_force(start_daemon):
    daemon = start_daemon(config="max_sessions = 50\n")
    reload(daemon, "max_sessions = 60\n")
    assert values(daemon)[("walpool_sessions_limit",)] == 60


def test_log_level_changes(start_daemon):
    daemon = start_daemon(config='log_level = "warning"\ncheckpoint_frames = 1\n')

    def checkpoints():
        daemon.run("CREATE TABLE IF NOT EXISTS t (x)", "INSERT INTO t VALUES (1)")
        return "debug: checkpoint" in daemon.errors

    def completed():
        with daemon.client(database="walpool") as console:
            return int(dict(console.query("SHOW WAL").check().texts)["checkpoints_complete"])

    eventually(lambda: checkpoints() or completed(), "a checkpoint")
    daemon.settle()
    assert not re.search(r"\b(debug|info|notice): ", daemon.errors), daemon.errors
    # The level is applied before the reload is reported.
    reload(daemon, 'log_level = "debug"\ncheckpoint_frames = 1\n')
    eventually(checkpoints, "a checkpoint in the log")
    # One that is under way would still have its line.
    daemon.settle()
    said = reload(daemon, "log_level = 'notice'\ncheckpoint_frames = 1\n")
    assert 'log_level = "notice", was "debug"' in said
    length, before = len(daemon.errors), completed()
    eventually(lambda: checkpoints() and completed() > before, "another checkpoint")
    daemon.stop()
    assert "stopped" in daemon.errors[length:] and "debug: " not in daemon.errors[length:], daemon.errors[length:]


def test_shorter_idle_limit_reaches_the_holder_there_is(start_daemon):
    daemon = start_daemon(config="writer_idle_limit = 0\n")
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    holder, waiter = daemon.client(), daemon.client()
    holder.query("BEGIN; INSERT INTO t VALUES (1)").check()
    waiter.send(wire.query("INSERT INTO t VALUES (1)"))
    daemon.settle(waiter)
    reload(daemon, "writer_idle_limit = 1\n")
    assert holder.reply().state == "25P03"
    assert waiter.reply().tag == "INSERT 0 1"


def test_vacuum_is_turned_on(start_daemon):
    daemon = start_daemon(config='vacuum_interval = "0"\n')
    admin = daemon.client(database="walpool")

    def maintenance():
        return dict(admin.query("SHOW MAINTENANCE").check().texts)

    assert maintenance()["interval_s"] == "0"
    assert not (daemon.directory / "app.db-maintenance").exists()
    reload(daemon, 'vacuum_interval = "1s"\nvacuum_min_free = 3\n')
    assert maintenance()["interval_s"] == "1" and maintenance()["minimum_free_percent"] == "3"
    # While it was off nothing was looked at, and nothing stored.
    eventually(lambda: (daemon.directory / "app.db-maintenance").exists(), "the first look")


@pytest.mark.parametrize("text, words", [
    ("statement_timeout = 1\nreaders = 0\nnonsense = 1\n", [":2: readers must be", ':3: unknown key "nonsense"']),
    ("statement_timeout = 1\nname = \n", [":2: "]),
    ('statement_timeout = 1\nname = "walpool"\n', [":2: name must be"]),
    (None, ["cannot read"]),
])
def test_a_bad_file_changes_nothing(start_daemon, text, words):
    daemon = start_daemon(config='statement_timeout = "3s"\nbackup_directory = "/"\n')
    path = daemon.directory / "walpoold.toml"
    successful, at = ("walpool_config_last_reload_successful",), ("walpool_config_last_reload_success_timestamp_seconds",)
    started = values(daemon)
    assert started[successful] == 1 and started[at] <= time.time()
    if text is None:
        path.unlink()
        path.symlink_to("nowhere/file")
        before = len(daemon.errors)
        daemon.process.send_signal(signal.SIGHUP)
        eventually(lambda: words[0] in daemon.errors[before:], "the refusal")
    else:
        said = reload(daemon, text, REFUSED)
        for word in words:
            assert word in said
    assert shown(daemon, "statement_timeout") == "3s"
    # The metrics say that the next start would fail.
    refused = eventually(lambda: (found := values(daemon))[successful] == 0 and found, "the refusal in the metrics")
    assert refused[at] == started[at]
    if path.is_symlink():
        path.unlink()
    # And it is read again once it is good.
    reload(daemon, 'statement_timeout = "4s"\n')
    eventually(lambda: values(daemon)[successful] == 1, "the success in the metrics")
    assert values(daemon)[at] >= started[at]
    assert shown(daemon, "statement_timeout") == "4s"


def test_a_file_that_is_a_pipe(start_daemon):
    """To open one waits for somebody who writes into it, and who waits there could not be told to stop."""
    daemon = start_daemon(config='statement_timeout = "3s"\n')
    (daemon.directory / "walpoold.toml").unlink()
    os.mkfifo(daemon.directory / "walpoold.toml")
    daemon.process.send_signal(signal.SIGHUP)
    eventually(lambda: "it is not a file" in daemon.errors, "the refusal")
    with daemon.client(database="walpool") as admin:
        assert "it is not a file" in str(admin.query("RELOAD").errors)
    assert shown(daemon, "statement_timeout") == "3s"
    daemon.stop()


@pytest.mark.parametrize("text", ["", "# nothing yet\n", 'statement_timeout = "4s"\n'])
def test_rules_of_access_do_not_vanish(start_daemon, text):
    """The file may just be being written: without its rules others may do more."""
    rules = '[[access]]\nuser = "root"\nrole = "admin"\n[[access]]\nuser = "nobody"\nrole = "reader"\n'
    daemon = start_daemon(config=f'statement_timeout = "3s"\n{rules}')
    assert "[[access]]" in reload(daemon, text, REFUSED)
    assert shown(daemon, "statement_timeout") == "3s"
    reload(daemon, f'statement_timeout = "5s"\n{rules}')
    assert shown(daemon, "statement_timeout") == "5s"


def test_without_a_file_there_is_nothing_to_change(start_daemon):
    daemon = start_daemon()
    daemon.process.send_signal(signal.SIGHUP)
    eventually(lambda: "changes=0 need_restart=0" in daemon.errors, "the reload")
    daemon.check_alive()


def test_reload_under_load(start_daemon):
    """Good files and bad ones, one after the other, while clients read and write: nobody notices."""
    daemon = start_daemon(config="")
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, who INTEGER)")
    is_over, wrong, written = threading.Event(), [], [0] * 4

    def write(who):
        with daemon.client() as client:
            while not is_over.is_set():
                reply = client.query(f"INSERT INTO t (who) VALUES ({who})")
                if reply.tag != "INSERT 0 1":
                    wrong.append(reply)
                    return
                written[who] += 1
                if client.value(f"SELECT count(*) FROM t WHERE who = {who}") != str(written[who]):
                    wrong.append("a read that misses a write")

    def connect():
        while not is_over.is_set():
            timeout = daemon.value("SHOW statement_timeout")
            if not timeout.endswith("min") or daemon.value("SELECT 1") != "1":
                wrong.append(timeout)

    daemon.config = 'statement_timeout = "9min"\n'
    reload(daemon, daemon.config)
    threads = [threading.Thread(target=write, args=[who]) for who in range(4)] + [threading.Thread(target=connect)]
    for thread in threads:
        thread.start()
    good = ('statement_timeout = "{0}min"\ngroup_members = {0}\ngroup_time_limit = {0}\ncheckpoint_frames = {0}\n'
            "wal_limit_bytes = {1}\ngate_limit = {0}\nmax_sessions = {1}\nwriter_idle_limit = {0}\nvacuum_interval = '{0}h'\n")
    for n in range(1, 21):
        assert f"statement_timeout = \"{n}min\"" in reload(daemon, good.format(n, 262144 + n % 2).replace(
            f"max_sessions = {262144 + n % 2}", f"max_sessions = {100 + n}"))
        reload(daemon, 'statement_timeout = "1s"\nreaders = many\n', REFUSED)
        assert shown(daemon, "statement_timeout") == f"{n}min"
        before = sum(written)
        eventually(lambda: sum(written) > before or wrong, "progress")
    is_over.set()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[0]
    assert daemon.value("SELECT count(*) FROM t") == str(sum(written))
    daemon.check_errors()


def test_many_signals_at_once(start_daemon):
    daemon = start_daemon(config="")
    for _ in range(50):
        daemon.process.send_signal(signal.SIGHUP)
    reload(daemon, "statement_timeout = 7\n")
    eventually(lambda: shown(daemon, "statement_timeout") == "7ms", "the last file")
    daemon.process.send_signal(signal.SIGHUP)
    daemon.stop()
