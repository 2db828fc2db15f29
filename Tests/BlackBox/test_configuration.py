"""The configuration file: its errors, who wins, --check-config, reading it again, the texts that are made from it."""

import os
import re
import shutil
import signal
import subprocess
import threading

import pytest

import wire
from daemon import CRASH, REPOSITORY, binary, eventually
from metrics import values

KEY = re.compile(r"^#(\w+) = ", re.M)


def run(*arguments, **options):
    return subprocess.run(
        [binary(), *map(str, arguments)], capture_output=True, text=True, timeout=wire.DEADLINE, **options)


def printed(what):
    result = run("--print", what)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture
def config(tmp_path):
    """Writes a configuration file; returns its path."""

    def write(text):
        path = tmp_path / "walpoold.toml"
        path.write_text(text)
        return path

    return write


# Errors

WRONG = """\
reders = 3
port = "many"

readers = 0         # below it a string over two lines
name = \"\"\"a
b\"\"\"
gate_limit = "soon"
vacuum_window =
port = 5433
[metrics]
"""
EXPECTED = [
    (1, 'unknown key "reders": did you mean "readers"?'),
    (2, 'port must be an integer, not "many"'),
    (4, "readers must be between 1 and 1000, not 0"),
    (5, "name must be a name"),
    (7, 'invalid value for parameter "gate_limit": "soon"'),
    (8, "the end of the line"),
    (9, "port is given twice, first in line 2"),
    (10, "unknown table [metrics]"),
]


@pytest.mark.parametrize("mode", [[], ["--check-config"]], ids=["start", "check"])
def test_all_errors_at_once(tmp_path, config, mode):
    path = config(WRONG)
    result = run(*mode, "--config", path, "--readers", "1001", tmp_path / "app.db")
    assert result.returncode == 78 and not result.stdout and not CRASH.search(result.stderr), result
    lines = result.stderr.splitlines()
    assert len(lines) == len(EXPECTED) + 1, lines
    for line, (number, words) in zip(lines, EXPECTED):
        assert line.startswith(f"walpoold: {path}:{number}: ") and words in line
    assert lines[-1] == "walpoold: --readers must be between 1 and 1000, not 1001"
    assert not (tmp_path / "app.db").exists()


@pytest.mark.parametrize("content, message", [
    (b"readers = 3\nname = \"a\0b\"\n", ":2: a NUL character"),
    (b"readers = 3\nname = \"\xff\"\n", ":2: not UTF-8"),
    (b"# " + b"x" * (1 << 20), "is larger than 1 MiB"),
    (None, "No such file or directory"),
    ("directory", "Is a directory"),
])
def test_unreadable_files(tmp_path, content, message):
    path = tmp_path / "walpoold.toml"
    if content == "directory":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    result = run("--config", path, "--check-config", tmp_path / "app.db")
    assert result.returncode == 78 and message in result.stderr and str(path) in result.stderr
    assert len(result.stderr.splitlines()) == 1


# --check-config


def test_check_says_ok_and_makes_nothing(tmp_path, config):
    path = config(f'database = "{tmp_path}/app.db"\nsocket_directory = "{tmp_path}"\nbackup_directory = "{tmp_path}"\n')
    before = sorted(os.listdir(tmp_path))
    result = run("--check-config", "--config", path)
    assert (result.returncode, result.stdout, result.stderr) == (0, "ok\n", "")
    # Nor where the socket's directory would be made.
    result = run("--check-config", tmp_path / "app.db", env={"TMPDIR": str(tmp_path)})
    assert (result.returncode, result.stdout) == (0, "ok\n")
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("name, text, database", [
    ("orders.toml", "readers = 2\n", "orders"), ("walpoold.toml", "", "app"), ("orders.toml", 'name = "shop"\n', "shop")])
def test_check_of_a_service_that_has_its_directory_from_the_service_manager(tmp_path, name, text, database):
    path = tmp_path / name
    path.write_text(text + f'socket_directory = "{tmp_path}"\n')
    result = run("--check-config", "--config", path)
    assert (result.returncode, result.stdout, result.stderr) == (
        0, f"database: none named; as a service it is STATE_DIRECTORY/{database}.db\nok\n", "")
    # It does not start like that, and there are other mistakes.
    refused = run("--config", path).stderr
    assert "which database?" in refused and f"(or name it in {path})" in refused
    path.write_text("readers = 0\n")
    assert run("--check-config", "--config", path).returncode == 78


def test_check_beside_a_running_daemon(daemon):
    result = run("--check-config", daemon.database, "--socket-directory", daemon.directory)
    assert (result.returncode, result.stdout) == (0, "ok\n")
    daemon.check_alive()


@pytest.mark.parametrize("text, words", [
    ('database = "{0}/none/app.db"', "database: {0}/none: No such file"),
    ('database = "{0}"', "database: {0} is not a file"),
    ('database = "{0}/text"', "database: {0}/text is not an SQLite database"),
    ('database = "{0}/app.db"\nsocket_directory = "{0}/none"', "socket_directory: {0}/none: No such file"),
    ('database = "{0}/app.db"\nsocket_directory = "{0}/text"', "socket_directory: {0}/text is not a directory"),
    ('database = "{0}/app.db"\nsocket_directory = "{0}/' + "x" * 100 + '"', "the socket's path is too long"),
    ('database = "{0}/app.db"\nbackup_directory = "{0}/none"', "backup_directory: {0}/none: No such file"),
])
def test_check_looks_at_the_machine(tmp_path, config, text, words):
    (tmp_path / "text").write_text("This is no database." * 10)
    if "socket_directory" not in text:
        text = f'socket_directory = "{tmp_path}"\n' + text
    result = run("--check-config", "--config", config(text.format(tmp_path)))
    assert result.returncode == 78 and not result.stdout
    assert [words.format(tmp_path) in line for line in result.stderr.splitlines()] == [True], result.stderr


# Who wins


def shown(daemon, name):
    return daemon.value(f"SHOW {name}")


def test_the_system_file_is_the_default(tmp_path):
    """In a mount namespace of its own, where /etc is this test's."""
    (tmp_path / "walpoold.toml").write_text(f'database = "{tmp_path}/app.db"\nsocket_directory = "{tmp_path}"\nreaders = "x"\n')
    script = 'mount -t tmpfs tmpfs /etc && mkdir /etc/walpool && cp "$1" /etc/walpool/ && shift && exec "$@"'

    def within(*arguments):
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "sh", tmp_path / "walpoold.toml", binary(), "--check-config", *arguments],
            capture_output=True, text=True, timeout=wire.DEADLINE)

    if subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespace can be made: needs root")
    result = within()
    assert result.returncode == 78 and "/etc/walpool/walpoold.toml:3: readers" in result.stderr
    # Who names a database or a file means that.
    result = within(tmp_path / "other.db", "--socket-directory", tmp_path)
    assert (result.returncode, result.stdout) == (0, "ok\n"), result.stderr
    (tmp_path / "mine.toml").write_text("port = 0\n")
    assert "mine.toml:1: port" in within("--config", tmp_path / "mine.toml").stderr


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


# Reading it again

APPLIED = re.compile(r"configuration read again")
REFUSED = re.compile(r"configuration not read again: nothing has changed")


def reload(daemon, text, expected=APPLIED):
    """Gives the daemon another file; returns what it said of it."""
    before = len(daemon.errors)
    (daemon.directory / "walpoold.toml").write_text(text)
    daemon.process.send_signal(signal.SIGHUP)
    either = re.compile(f"(?:{APPLIED.pattern}|{REFUSED.pattern})[^\n]*(?:changes|problems)=(\\d+)(?: needRestart=(\\d+))?")
    said = eventually(lambda: either.search(daemon.errors, before), "the reload")
    lines = sum(int(count or 0) for count in said.groups())
    eventually(lambda: daemon.errors.count("\n", said.end()) >= lines + 1, "all of it")
    assert expected.search(said[0]), daemon.errors[before:]
    return daemon.errors[before:]


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
    assert "changes=0 needRestart=1" in said and "statement_timeout" not in said
    said = reload(daemon, "readers = 2\n")
    assert "changes=3 needRestart=0" in said and "restart:" not in said
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

    assert not checkpoints()
    # The level is applied before the reload is reported.
    reload(daemon, 'log_level = "debug"\ncheckpoint_frames = 1\n')
    eventually(checkpoints, "a checkpoint in the log")
    said = reload(daemon, "log_level = 'notice'\ncheckpoint_frames = 1\n")
    assert 'log_level = "notice", was "debug"' in said


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
    if path.is_symlink():
        path.unlink()
    # And it is read again once it is good.
    reload(daemon, 'statement_timeout = "4s"\n')
    assert shown(daemon, "statement_timeout") == "4s"


def test_without_a_file_there_is_nothing_to_change(start_daemon):
    daemon = start_daemon()
    daemon.process.send_signal(signal.SIGHUP)
    eventually(lambda: "changes=0 needRestart=0" in daemon.errors, "the reload")
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


# The texts


def test_the_example_is_the_list_of_keys():
    committed = REPOSITORY / "systemd" / "walpoold.toml.example"
    assert committed.read_text() == printed("example"), "make example"


def test_the_example_is_a_configuration(tmp_path):
    example = printed("example")
    path = tmp_path / "walpoold.toml"
    path.write_text(example)
    assert run("--config", path, "--check-config", tmp_path / "app.db", "--socket-directory", tmp_path).stdout == "ok\n"
    # Uncommented too, but for the directories, which are the example's.
    text = re.sub(r"^#(?=[\w\[])", "", example, flags=re.M)
    text = re.sub(r"^(database|backup_directory|socket_directory) = .*$", "", text, flags=re.M)
    path.write_text(text)
    result = run("--config", path, "--check-config", tmp_path / "app.db", "--socket-directory", tmp_path)
    assert result.stdout == "ok\n", result.stderr


def test_the_manual_has_every_key_and_option():
    daemon, file = (printed(page).replace("\\-", "-") for page in ("walpoold.8", "walpoold.toml.5"))
    for key in KEY.findall(printed("example")):
        assert f'\n.B "{key}"\n' in file, key
    options = set(re.findall(r"^\s+(?:-\w, )?--([\w-]+)", run("--help").stdout, re.M))
    assert options == set(re.findall(r'^\.B "--([\w-]+)', daemon, re.M))
    assert {"config", "check-config", "readers", "help", "version"} <= options


@pytest.mark.parametrize("page", ["walpoold.8", "walpoold.toml.5"])
def test_the_manual_is_good_roff(tmp_path, page):
    path = tmp_path / page
    path.write_text(printed(page))
    commands = [["groff", "-man", "-Tutf8", "-ww", path], ["man", "--warnings", "-l", path]]
    if missing := [command[0] for command in commands if not shutil.which(command[0])]:
        pytest.skip(f"{missing} not installed")
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
        assert done.returncode == 0 and not done.stderr, done.stderr
        # Bold is printed as a letter over itself.
        assert "FILES" in re.sub(".\b", "", done.stdout)
