"""Starting, and not starting: options, databases and directories that cannot be."""

import collections
import contextlib
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import pytest

from daemon import REPOSITORY, binary, eventually
from lifecycle_fixtures import check_refusal, run
from logs import field, line, lines
from service import compiled

sys.path.insert(0, str(REPOSITORY / "bench"))

from support import maintenance


def test_help():
    result = run("--help")
    assert result.returncode == 0 and not result.stderr
    for option in ["--config", "--socket-directory", "--port", "--readers", "--name", "--max-sessions"]:
        assert option in result.stdout
    assert "default" in result.stdout


def test_start_line(daemon):
    (line,) = eventually(lambda: [line for line in daemon.errors.splitlines() if str(daemon.socket_path) in line])
    assert str(daemon.database) in line
    assert f"SQLite {sqlite3.sqlite_version[:2]}" in line
    assert "readers" in line


def test_its_threads_are_told_apart(daemon):
    """As top -H, perf and a debugger show them."""
    # Its socket is there before its workers.
    daemon.value("SELECT 1")

    def named():
        names = collections.Counter((task / "comm").read_text().strip() for task in pathlib.Path(f"/proc/{daemon.pid}/task").iterdir())
        # Each takes its name itself.
        return names if names["walpoold"] == 1 and names["walpool-worker"] > 1 else None

    names = eventually(named, "names of all")
    assert names.keys() == {"walpoold", "walpool-worker", "walpool-log"} and names["walpool-log"] == 1


def test_database_is_created(daemon):
    assert daemon.database.exists()
    assert daemon.value("SELECT count(*) FROM sqlite_schema") == "0"


@pytest.mark.parametrize("how", ["missing", "empty"])
def test_a_new_database_is_said_to_be_one(daemon, how):
    """Who finds none of their tables looks into the log: the file may have been moved, or its disk not mounted."""
    new = f"a new, empty database was made at {daemon.database}"
    first = line(daemon, new)
    assert first.startswith("notice: ") and "maintenance" not in first
    daemon.run("CREATE TABLE t (x)")
    eventually(maintenance.path(daemon.database).exists, "the maintenance file")
    daemon.stop()
    daemon.restart()
    daemon.stop()
    assert len(lines(daemon, new)) == 1, "one that is there is none"
    # Whole by itself, it can be moved, which nothing tells at the next start but that file.
    daemon.database.rename(daemon.directory / "elsewhere.db")
    if how == "empty":
        daemon.database.touch()
    daemon.restart()
    told = line(daemon, new, "served under this name before")
    assert told.startswith("warning: ") and f"{daemon.database}-maintenance" in told
    assert "not mounted" in field(told, "hint")
    assert daemon.value("SELECT count(*) FROM sqlite_schema") == "0"


def test_nothing_is_written_into_the_schema(start_daemon, samples, tmp_path):
    path = shutil.copy(samples["chinook"], tmp_path)

    def schema():
        with sqlite3.connect(path) as connection:
            result = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2").fetchall()
        connection.close()
        return result

    before = schema()
    daemon = start_daemon(path)
    assert daemon.value("SELECT count(*) FROM Track") == "3503"
    daemon.stop()
    assert schema() == before


def test_port(start_daemon):
    daemon = start_daemon(options=["--port", "6543"], start=False)
    daemon.port = 6543
    daemon.start()
    assert daemon.value("SELECT 1") == "1"


@pytest.mark.parametrize(
    "arguments",
    [["--nonsense"], ["--readers", "many"], ["--readers", "0"], ["--readers", "-1"], ["--port", "0"], ["--port", "99999"],
     ["--port", "x"], ["--max-sessions", "0"], ["--readers"], ["--synchronous", "perhaps"], ["--config", "/nowhere.toml"],
     ["one.db", "two.db"], ["--name", ""], ["--name", "walpool"], ["--name", "pgbouncer"]],
    ids=" ".join,
)
def test_wrong_options(tmp_path, arguments):
    database = [] if arguments[0].endswith(".db") else [tmp_path / "app.db"]
    result = run(*database, "--socket-directory", tmp_path, *arguments, cwd=tmp_path)
    # A usage line may follow.
    check_refusal(result, lines=4)
    # EX_CONFIG, after which systemd does not try again.
    assert result.returncode == 78
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text, word",
    [("readers = \"many\"", "readers"), ("nonsense = 1", "nonsense"), ("readers = ", "1"),
     ("statement_timeout = \"soon\"", "statement_timeout"), ("readers = -5", "readers"), ("\xff", None)],
)
def test_wrong_configuration(tmp_path, text, word):
    config = tmp_path / "walpoold.toml"
    config.write_bytes(text.encode("latin-1"))
    result = run(tmp_path / "app.db", "--socket-directory", tmp_path, "--config", config)
    check_refusal(result, *([word] if word else []))


def test_command_line_wins_over_configuration(start_daemon):
    daemon = start_daemon(config='readers = 3\nmax_sessions = 7\nname = "configured"\n', options=["--readers", "2", "--name", "given"])
    eventually(lambda: "2 readers" in daemon.errors, "the line")
    assert daemon.raw().start(database="given").status == "I"


def damaged(path, how):
    if how == "text":
        path.write_text("This is no database. " * 500)
    elif how == "short":
        path.write_bytes(b"SQLite")
    elif how == "header only":
        path.write_bytes(b"SQLite format 3\0" + bytes(84))
    elif how == "noise":
        path.write_bytes(os.urandom(16384))
    else:
        with sqlite3.connect(path) as connection:
            connection.executescript("CREATE TABLE t (x); CREATE TABLE u (y); INSERT INTO t VALUES (1)")
        connection.close()
        content = bytearray(path.read_bytes())
        if how == "malformed schema":
            content[100:200] = b"\xff" * 100
        elif how == "truncated":
            content = content[:5000]
        path.write_bytes(content)


@pytest.mark.parametrize("how", ["text", "short", "header only", "noise", "malformed schema", "truncated"])
def test_not_a_database(tmp_path, how):
    path = tmp_path / "app.db"
    damaged(path, how)
    before = path.read_bytes()
    result = run(path, "--socket-directory", tmp_path)
    check_refusal(result, "app.db")
    assert "not a database" in result.stderr or "malformed" in result.stderr
    assert path.read_bytes() == before, "nothing damaged"
    assert {p.name for p in tmp_path.iterdir()} <= {"app.db"}, "nothing left behind"


def test_a_schema_that_calls_what_it_may_not(tmp_path):
    """SQLite calls it malformed."""
    path = tmp_path / "app.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (x CHECK (json_valid(x)))")
    connection.close()
    result = run(path, "--socket-directory", tmp_path)
    if result.returncode == 0:
        pytest.skip("this SQLite lets a CHECK call json_valid")
    check_refusal(result, "unsafe use of json_valid()")
    assert "trusted_schema = true" in result.stderr and "not damaged" in result.stderr


@pytest.mark.parametrize("make, words", [
    (os.mkdir, "is not a file"), (os.mkfifo, "is not a file"), (lambda path: os.symlink(path, path), "Too many levels of symbolic links")],
    ids=["directory", "FIFO", "link to itself"])
def test_what_is_no_file(tmp_path, make, words):
    make(tmp_path / "app.db")
    check_refusal(run(tmp_path / "app.db", "--socket-directory", tmp_path), f"{tmp_path}/app.db", words)


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_names_that_are_a_part_of_another_database(tmp_path, ending):
    check_refusal(run(tmp_path / f"app.db{ending}", "--socket-directory", tmp_path), f"app.db{ending}", "a meaning of its own")
    assert list(tmp_path.iterdir()) == []


def test_a_database_with_two_names(start_daemon, tmp_path):
    sqlite3.connect(tmp_path / "app.db").execute("CREATE TABLE t (x)")
    os.link(tmp_path / "app.db", tmp_path / "other.db")
    daemon = start_daemon(tmp_path / "app.db")
    eventually(lambda: "warning: " in daemon.errors and "has 2 names (hard links)" in daemon.errors, "a warning")


def check_served_already(daemon, name, directory):
    result = run(name, "--socket-directory", directory)
    check_refusal(result, f"walpoold (process {daemon.pid}) has {name} locked: waiting up to 3000 ms for its end", lines=2)
    assert f"cannot open {name}: walpoold (process {daemon.pid}) has this file locked, which one daemon at a time may serve" in result.stderr


@pytest.mark.parametrize("name", ["same", "symbolic link", "hard link"])
def test_a_database_that_another_daemon_serves(start_daemon, tmp_path, name):
    """Neither would know of the other's writers, and a hard link has a -wal of its own."""
    one = start_daemon(tmp_path / "app.db")
    one.run("CREATE TABLE t (x)")
    other = tmp_path / ("app.db" if name == "same" else "other.db")
    if name == "symbolic link":
        other.symlink_to(tmp_path / "app.db")
    elif name == "hard link":
        os.link(tmp_path / "app.db", other)
    (tmp_path / "sockets").mkdir()
    # VACUUM's record comes a moment after the start.
    eventually(maintenance.path(one.database).exists, "the maintenance file")
    before = set(tmp_path.iterdir())
    check_served_already(one, other, tmp_path / "sockets")
    assert set(tmp_path.iterdir()) == before and list((tmp_path / "sockets").iterdir()) == []
    one.run("INSERT INTO t VALUES (1)")
    one.stop()
    one.restart()
    assert one.value("SELECT x FROM t") == "1"


@pytest.mark.parametrize("end", ["kill", "stop", "recovery"])
def test_a_database_is_served_by_one_until_that_has_ended(start_daemon, tmp_path, end):
    one = start_daemon(tmp_path / "app.db")
    one.run("CREATE TABLE t (x)")
    two = start_daemon(tmp_path / "app.db", start=False)
    if end == "recovery":
        # The database is opened anew, and the lock stays.
        (tmp_path / "app.db-wal").unlink()
        with one.client() as client:
            assert client.query("INSERT INTO t VALUES (1)").state == "08007"
        line(one, "opened again and is whole")
        check_served_already(one, tmp_path / "app.db", two.directory)
        one.stop()
    elif end == "kill":
        # It need not be quite gone.
        one.process.kill()
        one.may_fail = True
    else:
        one.process.terminate()
    two.start()
    if end == "kill":
        one.kill()
    two.run("INSERT INTO t VALUES (2)")
    assert two.value("SELECT max(x) FROM t") == "2"


@pytest.mark.parametrize("is_new", [True, False])
def test_where_there_are_no_such_locks_the_file_is_served(start_daemon, tmp_path, monkeypatch, is_new):
    """And SQLite's own locks are there: they would go with any descriptor of the file that is closed."""
    path = tmp_path / "app.db"
    if not is_new:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("CREATE TABLE t (x)")
    monkeypatch.setenv("LD_PRELOAD", str(compiled.library(pathlib.Path(__file__).with_name("other_disks.c"))))
    monkeypatch.setenv("OTHER_DISK", "f")
    daemon = start_daemon(path)
    daemon.run("CREATE TABLE IF NOT EXISTS t (x)", "INSERT INTO t VALUES (1)")
    locks = [line.split() for line in pathlib.Path("/proc/locks").read_text().splitlines()]
    ours = [line for line in locks if line[1] == "POSIX" and line[4] == str(daemon.pid) and line[5].endswith(f":{path.stat().st_ino}")]
    assert ours, locks
    # So who closes the database is not the last one.
    with contextlib.closing(sqlite3.connect(path)) as outsider:
        assert outsider.execute("SELECT x FROM t").fetchall() == [(1,)]
    assert (tmp_path / "app.db-wal").exists()
    daemon.run("INSERT INTO t VALUES (2)")
    assert daemon.value("SELECT count(*) FROM t") == "2" and "opened again" not in daemon.errors


def test_a_database_that_is_mounted_as_a_file(start_daemon, tmp_path):
    """As `docker run -v /srv/app.db:/data/app.db` does. Its -wal is not beside the file that others know."""
    sqlite3.connect(tmp_path / "host.db").execute("CREATE TABLE t (x)")
    (tmp_path / "app.db").touch()
    if os.getuid() != 0 or subprocess.run(["mount", "--bind", tmp_path / "host.db", tmp_path / "app.db"], capture_output=True).returncode != 0:
        pytest.skip("mount needs root")
    try:
        daemon = start_daemon(tmp_path / "app.db")
        eventually(lambda: "warning: " in daemon.errors and "is mounted as a file" in daemon.errors, "a warning")
        daemon.stop()
    finally:
        subprocess.run(["umount", "--lazy", tmp_path / "app.db"], check=True)


def test_database_in_no_directory(tmp_path):
    check_refusal(
        run(tmp_path / "nowhere" / "app.db", "--socket-directory", tmp_path),
        f"the directory {tmp_path}/nowhere cannot be written by this process: No such file or directory")


@pytest.mark.parametrize("how", ["BEGIN; SELECT * FROM t", "BEGIN EXCLUSIVE"])
def test_a_database_that_another_process_has_locked(tmp_path, outsider, how):
    """Not in WAL mode yet, it is needed alone for a moment."""
    path = tmp_path / "app.db"
    other = outsider(path)
    other("CREATE TABLE t (x)")
    for statement in how.split("; "):
        other(statement)
    check_refusal(
        run(path, "--socket-directory", tmp_path), "database is locked by ", f"(process {os.getpid()})", "WAL mode needs the file alone")


def test_socket_directory_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    check_refusal(run(tmp_path / "app.db", "--socket-directory", tmp_path / "file" / "dir"), "not a directory")
    check_refusal(run(tmp_path / "app.db", "--socket-directory", "/proc/walpool"), "/proc/walpool: No such file or directory")
    assert not (tmp_path / "app.db").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become another user")
def test_directories_that_cannot_be_written():
    with tempfile.TemporaryDirectory(prefix="walpool-") as name:
        os.chmod(name, 0o555)
        check_refusal(
            run(f"{name}/app.db", "--socket-directory", "/tmp", user=65534, group=65534, extra_groups=[]), "app.db",
            f"the directory {name} cannot be written by this process: Permission denied")
    with tempfile.TemporaryDirectory(prefix="walpool-") as name:
        data = os.path.join(name, "data")
        os.mkdir(data)
        os.chmod(data, 0o777)
        os.chmod(name, 0o555)
        check_refusal(run(f"{data}/app.db", "--socket-directory", name, user=65534, group=65534, extra_groups=[]), name)


def test_too_long_socket_path(tmp_path):
    long = tmp_path / ("x" * 100)
    long.mkdir()
    refused = run(tmp_path / "app.db", "--socket-directory", long)
    check_refusal(refused, "the socket's path is too long")
    # As --check-config says: it is so the next time, too, and systemd need not try.
    assert refused.returncode == 78


@pytest.mark.parametrize("database, words", [
    ("", "database must be a path"), (":memory:", "no other process sees"), ("app.db/", "it is a directory's name")])
@pytest.mark.parametrize("mode", [[], ["--check-config"]], ids=["start", "check"])
def test_what_is_no_path(tmp_path, database, words, mode):
    refused = run(database, "--socket-directory", tmp_path, *mode)
    check_refusal(refused, words)
    assert refused.returncode == 78 and "--database" not in refused.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["--print", "example"], ["--check-config", "app.db"]], ids=" ".join)
def test_an_answer_that_cannot_be_written(tmp_path, arguments):
    with open("/dev/full", "w") as full:
        failed = subprocess.run(
            [str(binary()), *arguments], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
            cwd=tmp_path, env={"TMPDIR": str(tmp_path)})
    check_refusal(failed, "standard output", "No space left on device")
    assert failed.returncode == 1
