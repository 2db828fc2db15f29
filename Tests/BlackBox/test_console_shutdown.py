"""SHUTDOWN, SHUTDOWN WAIT_FOR_CLIENTS and RELOAD."""

import os
import socket
import subprocess
import sys

import pytest
from psycopg import errors

import wire
from console import client_row, console, state
from daemon import eventually, yield_to_others
from logs import field, has_field, line, lines


@pytest.fixture
def db(daemon):
    daemon.run("CREATE TABLE t (n INTEGER)", "INSERT INTO t VALUES (1)")
    return daemon


def ends(daemon):
    assert daemon.wait() == 0, daemon.errors
    assert not daemon.socket_path.exists()


def test_shutdown(db):
    client, other = db.client(), db.client(database="walpool")
    client.query("BEGIN; INSERT INTO t VALUES (2)").check()
    admin = db.client(database="walpool")
    assert admin.query("SHUTDOWN").tags == ["SHUTDOWN"]
    for told in [client, other, admin]:
        reply = told.reply()
        assert reply.state == "57P01" and reply.closed
    ends(db)
    db.restart()
    assert db.value("SELECT group_concat(n) FROM t") == "1"


def check_is_admins(daemon, told, admin, command):
    assert field(told, "command") == command and field(told, "session") == str(admin.process_id)
    assert field(told, "peer_uid") == str(os.getuid()) and field(told, "peer_pid") == str(os.getpid())


@pytest.mark.parametrize("command", ["SHUTDOWN", "SHUTDOWN WAIT_FOR_CLIENTS"])
def test_the_log_says_who_has_stopped_it(db, command):
    admin = db.client(database="walpool")
    admin.query(command).check()
    ends(db)
    told = line(db, "draining: " if "WAIT" in command else "an administrator stops the daemon")
    check_is_admins(db, told, admin, command)
    # Nobody has sent one.
    assert not has_field(line(db, "notice: stopping"), "signal")
    db.restart()
    db.stop()
    assert field(lines(db, "notice: stopping")[-1], "signal") == "Terminated"


def test_shutdown_by_psql(db):
    result = subprocess.run(
        ["psql", "-X", "-h", str(db.directory), "pgbouncer", "-c", "shutdown"], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout) == (0, "SHUTDOWN\n"), result
    ends(db)


def test_wait_for_clients(db):
    """
        client             admin                          newcomer
        BEGIN, INSERT 2
                           SHUTDOWN WAIT_FOR_CLIENTS
                                                          is not let in
        INSERT 3, COMMIT
        SELECT count(*)
        leaves
                           57P01, and the daemon ends
    """
    client, admin = db.client(), db.client(database="walpool")
    client.query("BEGIN; INSERT INTO t VALUES (2)").check()
    eventually(lambda: len(admin.query("SHOW CLIENTS").rows) == 2, "the end of the first session")
    reply = admin.query("SHUTDOWN WAIT_FOR_CLIENTS")
    assert reply.tag == "SHUTDOWN" and "yet to leave: 1;" in reply.notices[0]["M"]
    with pytest.raises((FileNotFoundError, ConnectionRefusedError)):
        db.raw()
    # Whoever has no console yet gets none any more.
    assert "already" in reply.notices[0]["H"] and "SIGTERM" in reply.notices[0]["H"]
    assert ("draining", "yes") in admin.query("SHOW STATE").texts
    client.query("INSERT INTO t VALUES (3); COMMIT").check()
    assert client.value("SELECT count(*) FROM t") == "3"
    client.send(wire.terminate())
    assert admin.reply().state == "57P01"
    ends(db)
    db.restart()
    assert db.value("SELECT count(*) FROM t") == "3"


def test_clients_that_vanish_have_left(db):
    clients = [db.client() for _ in range(5)]
    clients[0].query("BEGIN; INSERT INTO t VALUES (2)").check()
    clients[1].send(wire.query("INSERT INTO t VALUES (3)"))
    db.settle(clients[1])
    db.client(database="walpool").query("shutdown wait_for_clients").check()
    for client in clients[2:]:
        client.close()
    assert db.is_running
    clients[0].close()
    assert clients[1].reply().tag == "INSERT 0 1"
    clients[1].close()
    ends(db)


def test_nobody_to_wait_for(db):
    admin = db.client(database="walpool")
    # A session that has not started is none yet, and may become one.
    admin.query("SHUTDOWN WAIT_FOR_CLIENTS").check()
    ends(db)


@pytest.mark.parametrize("said", [b"", b"GET /met", wire.startup({"user": "tester"})[:6]])
def test_who_has_not_started_is_none_to_wait_for(db, said):
    # The last to come, so that the silent one has been accepted.
    client, silent, admin = db.client(), db.raw(), db.client(database="walpool")
    silent.send(said)
    admin.query("SHUTDOWN WAIT_FOR_CLIENTS").check()
    client.close()
    ends(db)
    assert silent.rest() == b""


def test_a_pause_and_a_drain_at_one_time(db):
    """Both complete kept the clients for ever, and nobody could get in to RESUME: whichever comes second is told of the other."""
    for _ in range(20):
        pausing, draining, client = db.client(database="walpool"), db.client(database="walpool"), db.client()
        pausing.send(wire.query("PAUSE"))
        draining.send(wire.query("SHUTDOWN WAIT_FOR_CLIENTS"))
        if draining.reply().state == "55000":
            pausing.reply().check()
            pausing.query("RESUME").check()
            for each in (pausing, draining, client):
                each.close()
            continue
        # Refused, or undone.
        pausing.reply()
        assert client.value("SELECT 1") == "1"
        client.close()
        ends(db)
        db.restart()


def test_one_call_of_a_function_that_goes_on(start_daemon):
    """SQLite asks nobody during it. Whoever restarts the daemon does not wait for a day."""
    db = start_daemon(config='shutdown_timeout = "100ms"\n')
    db.run("CREATE TABLE t (n)", "INSERT INTO t VALUES (1)")
    client, other = db.client(), db.client()
    client.send(wire.query("SELECT instr(printf('%.60000000c', 'a'), printf('%.30000000c', 'a') || 'b')"))
    assert other.query("INSERT INTO t VALUES (2)").tag == "INSERT 0 1"
    with console(db) as admin:
        eventually(lambda: client_row(admin, client)["state"] == "active", "its run")
    yield_to_others(db.pid)
    db.may_fail = True
    db.terminate()
    ends(db)
    assert "a statement does not end" in db.errors
    db.restart()
    assert db.value("SELECT group_concat(n) FROM t") == "1,2"


def test_killed_clients_have_left(db):
    client, admin = db.client(), db.client(database="walpool")
    assert admin.query(f"SHUTDOWN WAIT_FOR_CLIENTS; KILL {client.process_id}").tags == ["SHUTDOWN", "KILL"]
    assert client.reply().state == "57P01"
    ends(db)


@pytest.mark.parametrize("how", ["SHUTDOWN", "SIGTERM"])
def test_who_will_not_wait_after_all(db, how):
    client, admin = db.client(), db.client(database="walpool")
    admin.query("SHUTDOWN WAIT_FOR_CLIENTS; SHUTDOWN WAIT_FOR_CLIENTS").check()
    if how == "SIGTERM":
        db.terminate()
    else:
        assert admin.query("SHUTDOWN").tags == ["SHUTDOWN"]
    assert client.reply().state == "57P01"
    ends(db)


def test_not_while_paused(db):
    with console(db) as admin:
        admin.execute("PAUSE")
        with pytest.raises(errors.ObjectNotInPrerequisiteState, match="while the database is paused"):
            admin.execute("SHUTDOWN WAIT_FOR_CLIENTS")
        assert state(admin) == {"paused"}
        admin.execute("RESUME")
    assert db.value("SELECT n FROM t") == "1"


def test_with_a_socket_of_the_service_managers(db):
    """Who connects meanwhile waits in its backlog and is served by the next daemon."""
    path = db.directory / ".s.PGSQL.5433"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen(16)
    database = db.directory / "other.db"

    def start():
        # As sd_listen_fds(3) says: descriptor 3, and the process's own number in LISTEN_PID.
        script = f"import os; os.dup2({listener.fileno()}, 3); os.environ['LISTEN_PID'] = str(os.getpid()); os.execv({command[0]!r}, {command!r})"
        return subprocess.Popen(
            [sys.executable, "-c", script], env=os.environ | {"LISTEN_FDS": "1"}, pass_fds=[listener.fileno()],
            stderr=subprocess.DEVNULL)

    command = [db.command()[0], str(database), "--socket-directory", str(db.directory), "--port", "5433"]
    first = start()
    try:
        client, admin = wire.Client(path), wire.Client(path)
        client.start(database="other").check()
        admin.start(database="walpool").check()
        client.query("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1)").check()
        admin.query("SHUTDOWN WAIT_FOR_CLIENTS").check()
        waiting = wire.Client(path)
        waiting.send(wire.startup({"user": "x", "database": "other"}, wire.PROTOCOL_3_0), wire.query("SELECT n FROM t"))
        client.query("INSERT INTO t VALUES (2)").check()
        assert not waiting.has_reply()
        client.close()
        assert first.wait(wire.DEADLINE) == 0
        assert not waiting.has_reply()
        second = start()
        try:
            waiting.started().check()
            assert waiting.reply().texts == [("1",), ("2",)]
        finally:
            second.terminate()
            assert second.wait(wire.DEADLINE) == 0
    finally:
        if first.poll() is None:
            first.kill()
        listener.close()


# RELOAD


def reload(daemon, text):
    (daemon.directory / "walpoold.toml").write_text(text)
    return daemon.client(database="walpool").query("RELOAD")


def test_reload(start_daemon):
    daemon = start_daemon(config='statement_timeout = "5s"\nreaders = 3\n')
    with console(daemon) as admin:
        setting = lambda key: next(row["value"] for row in admin.execute("SHOW CONFIG") if row["key"] == key)
        assert reload(daemon, 'statement_timeout = "5s"\nreaders = 3\n').notices[0]["M"] == "nothing has changed"
        reply = reload(daemon, 'statement_timeout = "7s"\nreaders = 4\n')
        assert reply.tag == "RELOAD"
        notices = [notice["M"] for notice in reply.notices]
        assert len(notices) == 2 and "statement_timeout" in notices[0]
        assert notices[1].startswith("needs a restart: readers")
        assert (setting("statement_timeout"), setting("readers")) == ("7s", "3")
        assert daemon.client().value("SHOW statement_timeout") == "7s"


def test_the_log_says_who_has_it_read_again(start_daemon):
    daemon = start_daemon(config="")
    admin = daemon.client(database="walpool")
    admin.query("RELOAD").check()
    check_is_admins(daemon, line(daemon, "an administrator has the configuration read again"), admin, "RELOAD")


@pytest.mark.parametrize("text", ['nonsense = 1\nreaders = "many"\n', "statement_timeout = \n", 'port = 0\nstatement_timeout = "1h"\n'])
def test_a_reload_that_fails_changes_nothing(start_daemon, text):
    daemon = start_daemon(config='statement_timeout = "5s"\n')
    reply = reload(daemon, text)
    assert reply.state == "F0000" and reply.error["D"] and "nothing has changed" in reply.error["M"]
    assert len(reply.error["D"].splitlines()) == (2 if "nonsense" in text else 1)
    assert daemon.client().value("SHOW statement_timeout") == "5s"
    (daemon.directory / "walpoold.toml").unlink()
    assert daemon.client(database="walpool").query("reload;").state == "F0000"
    assert reload(daemon, 'statement_timeout = "6s"\n').tag == "RELOAD"
    assert daemon.client().value("SHOW statement_timeout") == "6s"


def test_reload_without_a_file(start_daemon):
    start_daemon().client(database="walpool").query("RELOAD").check()
