"""Starting, not starting, stopping, and being killed."""

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading

import pytest

import wire
from daemon import CRASH, binary, eventually
from interleaving import outcome

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


def run(*arguments, **keywords):
    return subprocess.run(
        [str(binary()), *map(str, arguments)], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, **keywords)


def check_refusal(result, *words, lines=1):
    """One clear line, a status that is not 0, and no crash."""
    assert result.returncode > 0, result
    assert not CRASH.search(result.stderr), result.stderr
    said = [line for line in result.stderr.splitlines() if line.strip()]
    assert 1 <= len(said) <= lines, said
    for word in words:
        assert word.lower() in said[0].lower(), said


# Starting


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


def test_database_is_created(daemon):
    assert daemon.database.exists()
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
    [("readers = \"many\"", "readers"), ("nonsense = 1", "nonsense"), ("readers = ", "1"), ("statement_timeout = \"soon\"", "statement_timeout"),
     ("readers = -5", "readers"), ("\xff", None)],
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


def test_directory_as_database(tmp_path):
    check_refusal(run(tmp_path, "--socket-directory", tmp_path), str(tmp_path))


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
    import tempfile

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
    check_refusal(run(tmp_path / "app.db", "--socket-directory", long), "long")


# The socket


def test_live_socket_is_refused(daemon):
    result = run(daemon.directory / "other.db", "--socket-directory", daemon.directory)
    check_refusal(result, str(daemon.socket_path))
    assert daemon.value("SELECT 1") == "1"


def test_two_ports(start_daemon):
    one = start_daemon()
    two = start_daemon(options=["--socket-directory", str(one.directory), "--port", "5433"], start=False)
    two.port, own = 5433, two.directory
    two.directory = one.directory
    try:
        two.start()
        assert (one.value("SELECT 1"), two.value("SELECT 2")) == ("1", "2")
        two.stop()
        assert one.value("SELECT 1") == "1"
    finally:
        two.directory = own


def test_stale_socket_is_replaced(daemon):
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    daemon.kill()
    assert daemon.socket_path.exists()
    daemon.restart()
    assert daemon.value("SELECT x FROM t") == "1"


def test_socket_of_somebody_else_that_is_stale(start_daemon):
    daemon = start_daemon(start=False)
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(daemon.socket_path))
    dead.close()
    daemon.start()
    assert daemon.value("SELECT 1") == "1"


def test_a_stop_leaves_anothers_socket(start_daemon):
    """Somebody has removed the socket's file, and another daemon has put its own there."""
    one = start_daemon()
    one.socket_path.unlink()
    two = start_daemon(options=["--socket-directory", str(one.directory)], start=False)
    own, two.directory = two.directory, one.directory
    try:
        two.start()
        one.stop()
        assert two.value("SELECT 1") == "1"
        two.stop()
        assert not one.socket_path.exists()
    finally:
        two.directory = own


def test_the_start_leaves_nothing_beside_the_socket(daemon):
    assert [path.name for path in daemon.directory.iterdir() if path.name.startswith(".s.")] == [".s.PGSQL.5432"]


def test_file_in_the_sockets_place_is_left_alone(tmp_path):
    path = tmp_path / ".s.PGSQL.5432"
    path.write_text("precious")
    check_refusal(run(tmp_path / "app.db", "--socket-directory", tmp_path), str(path))
    assert path.read_text() == "precious"


# Stopping


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_signals(daemon, signal_number):
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    client = daemon.client()
    daemon.process.send_signal(signal_number)
    reply = client.reply()
    assert reply.closed
    assert reply.error["S"] == "FATAL" and reply.error["C"] == "57P01"
    assert daemon.wait() == 0
    assert not daemon.socket_path.exists(), "the socket is removed"
    wal = daemon.database.with_name("app.db-wal")
    assert not wal.exists() or wal.stat().st_size == 0, "all is in the file itself"
    with sqlite3.connect(daemon.database) as connection:
        assert connection.execute("SELECT x FROM t").fetchall() == [(1,)]
    connection.close()


def test_restart(daemon):
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    for number in range(2, 5):
        daemon.stop()
        daemon.restart()
        daemon.run(f"INSERT INTO t VALUES ({number})")
    assert daemon.value("SELECT count(*) FROM t") == "4"


def test_stop_ends_every_kind_of_session(daemon):
    daemon.run("CREATE TABLE t (x)")
    stored = []
    idle, reading, writing, queued, half = (daemon.client() for _ in range(5))
    fresh = daemon.raw()
    reading.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM t").check()
    writing.query("BEGIN; INSERT INTO t VALUES ('lost')").check()
    queued.send(wire.query("INSERT INTO t VALUES ('queued')"))
    half.send(wire.query("SELECT 1")[:7])
    daemon.settle(queued, half)
    daemon.terminate()
    for client in [idle, reading, writing, queued, half]:
        reply = client.reply()
        if client is queued and reply.tags:
            # Its turn came when the one before it was ended.
            stored, reply = [("queued",)], client.reply()
        assert reply.closed and reply.error["C"] == "57P01", reply
    assert fresh.reply().closed
    assert daemon.wait() == 0
    with sqlite3.connect(daemon.database) as connection:
        assert connection.execute("SELECT * FROM t").fetchall() == stored
    connection.close()


def test_running_statements_may_finish(daemon):
    daemon.run("CREATE TABLE t (x)")
    client = daemon.client()
    # Long enough that it still runs when the signal comes, short enough to end within the limit.
    count = 1_000_000
    client.send(wire.query(
        f"INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < {count}) SELECT x FROM c"))
    eventually(lambda: client.unread_by_server() == 0, "reading")
    daemon.terminate()
    messages = client.reply().messages
    assert daemon.wait() == 0
    with sqlite3.connect(daemon.database) as connection:
        (stored,) = connection.execute("SELECT count(*) FROM t").fetchone()
    connection.close()
    if any(m.kind == "C" and m.tag == f"INSERT 0 {count}" for m in messages):
        assert stored == count
    else:
        # The signal came before the statement began.
        assert stored == 0 and messages[-1].state == "57P01"


def test_endless_statements_are_ended(start_daemon):
    daemon = start_daemon(config='shutdown_timeout = "300ms"\n')
    daemon.run("CREATE TABLE t (x)")
    reading, writing, stalled = daemon.client(), daemon.client(), daemon.client()
    reading.send(wire.query(ENDLESS))
    writing.send(wire.query(f"INSERT INTO t {ENDLESS}"))
    stalled.send(wire.query(ENDLESS.replace("count(*)", "x")))
    for client in (reading, writing, stalled):
        eventually(lambda: client.unread_by_server() == 0, "reading")
    daemon.terminate()
    assert daemon.wait() == 0
    for client in (reading, writing):
        assert client.reply().error["C"] in ("57P01", "57014")


def test_stop_behind_an_outsider(start_daemon, outsider):
    daemon = start_daemon(config='shutdown_timeout = "300ms"\n')
    daemon.run("CREATE TABLE t (x)")
    other = outsider(daemon.database)
    other("BEGIN IMMEDIATE")
    client = daemon.client()
    client.send(wire.query("INSERT INTO t VALUES (1)"))
    eventually(lambda: client.unread_by_server() == 0, "reading")
    daemon.terminate()
    assert daemon.wait() == 0
    assert client.reply().error["C"] in ("57P01", "57014")
    other("COMMIT")
    assert other("SELECT count(*) FROM t") == [(0,)]


def test_second_signal(start_daemon):
    daemon = start_daemon(config='shutdown_timeout = "500ms"\n')
    client = daemon.client()
    client.send(wire.query(ENDLESS))
    eventually(lambda: client.unread_by_server() == 0, "reading")
    daemon.terminate()
    daemon.terminate()
    assert daemon.wait() == 0


def test_a_second_signal_ends_the_wait_for_statements(start_daemon):
    daemon = start_daemon(config='shutdown_timeout = "1h"\n')
    client = daemon.client()
    # Its first row is more than is kept back. Only then does it run for certain: what has been read, and no more, is not begun.
    client.send(wire.query(f"SELECT hex(zeroblob(25000)) UNION ALL SELECT 'second' UNION ALL SELECT * FROM ({ENDLESS})"))
    assert [client.receive().kind for _ in range(2)] == ["T", "D"]
    daemon.terminate()
    eventually(lambda: "stopping" in daemon.errors, "the beginning of the stop")
    while client.has_reply():
        assert client.receive().kind == "D"
    daemon.terminate()
    assert daemon.wait() == 0
    assert client.reply().error["C"] == "57P01"


@pytest.mark.parametrize("signal_number", [signal.SIGUSR1, signal.SIGUSR2])
def test_signals_of_pgbouncer(daemon, signal_number):
    """For it they are PAUSE and RESUME."""
    daemon.process.send_signal(signal_number)
    eventually(lambda: "the console has PAUSE and RESUME" in daemon.errors, "a word about it")
    daemon.check_alive()


# Being killed


def test_killed_in_a_transaction(daemon):
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    client = daemon.client()
    client.query("BEGIN; INSERT INTO t VALUES (2)").check()
    daemon.kill()
    assert client.reply().closed
    daemon.restart()
    assert daemon.value("SELECT count(*) FROM t") == "1"
    assert daemon.value("PRAGMA integrity_check") == "ok"


def test_killed_under_load(start_daemon):
    """Everything acknowledged is there afterwards, and nothing is there in part."""
    daemon = start_daemon(config="checkpoint_frames = 50\n")
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, pair INTEGER, half INTEGER)", "CREATE INDEX t_pair ON t (pair)")
    acknowledged, sent, failures = set(), set(), []
    lock = threading.Lock()

    def work(cycle, number):
        client = wire.Client(daemon.socket_path)
        try:
            client.start(database=daemon.name)
            for turn in range(100_000):
                pair = (cycle * 100 + number) * 100_000 + turn
                rows = [f"INSERT INTO t (pair, half) VALUES ({pair}, {half})" for half in (1, 2)]
                match number % 4:
                    case 0:
                        sqls = ["; ".join(rows)]
                    case 1:
                        sqls = ["BEGIN", *rows, "COMMIT"]
                    case 2:
                        sqls = [f"INSERT INTO t (pair, half) VALUES ({pair}, 1), ({pair}, 2)"]
                    case 3:
                        sqls = ["BEGIN; " + "; ".join(rows) + "; COMMIT"]
                with lock:
                    sent.add(pair)
                for sql in sqls:
                    reply = client.query(sql)
                    if reply.closed:
                        return
                    if reply.errors:
                        failures.append(outcome(reply))
                        return
                with lock:
                    acknowledged.add(pair)
        except (wire.ConnectionClosed, ConnectionError):
            pass
        finally:
            client.close()

    for cycle in range(3):
        before = len(acknowledged)
        threads = [threading.Thread(target=work, args=(cycle, number)) for number in range(8)]
        for thread in threads:
            thread.start()
        eventually(lambda: len(acknowledged) >= before + 300 or failures, "300 transactions")
        daemon.kill()
        for thread in threads:
            thread.join()
        assert not failures
        daemon.restart()
        assert daemon.value("PRAGMA integrity_check") == "ok"
        stored = daemon.run("SELECT pair, count(*), sum(half) FROM t GROUP BY pair").texts
        assert all(row[1:] == ("2", "3") for row in stored), "pairs are whole"
        pairs = {int(row[0]) for row in stored}
        assert acknowledged <= pairs <= sent
