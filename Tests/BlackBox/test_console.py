"""The console, by psql, psycopg, asyncpg and byte by byte."""

import asyncio
import contextlib
import os
import sqlite3
import subprocess

import asyncpg
import psycopg
import pytest
from psycopg import errors
from psycopg.rows import dict_row

import metrics
import wire
from daemon import eventually

TOPICS = [
    "help", "version", "state", "clients", "servers", "sockets", "active_sockets", "pools", "databases", "users", "lists",
    "config", "mem", "dns_hosts", "dns_zones", "writer", "wal", "snapshots", "maintenance", "backups"]
NAMES = ["walpool", "pgbouncer"]


def console(daemon, **keywords):
    keywords = {"autocommit": True, "row_factory": dict_row, "dbname": "walpool", "user": "admin"} | keywords
    return psycopg.connect(host=str(daemon.directory), **keywords)


@pytest.fixture
def admin(daemon):
    with console(daemon) as connection:
        yield connection


def psql(daemon, *arguments, **keywords):
    return subprocess.run(
        ["psql", "-X", "-h", str(daemon.directory), *arguments], capture_output=True, text=True, timeout=60,
        stdin=subprocess.DEVNULL, **keywords)


def show(admin, topic):
    return admin.execute(f"SHOW {topic}").fetchall()


# Entering


@pytest.mark.parametrize("name", NAMES)
def test_psql(daemon, name):
    result = psql(daemon, name, "-At", "-c", "SHOW VERSION", "-c", "show help;")
    assert result.returncode == 0 and not result.stderr, result
    version, *commands = result.stdout.splitlines()
    assert version.startswith("Walpool 0.")
    assert {f"SHOW {topic.upper()}" for topic in TOPICS} < {line.split("|")[0] for line in commands}


def test_psql_unknown_command(daemon):
    result = psql(daemon, "walpool", "-c", "SELECT 1")
    assert result.returncode == 1
    assert "ERROR:  the console does not know this command: SELECT 1" in result.stderr
    assert "HINT:  The commands are SHOW, BACKUP TO 'name', CHECKPOINT, KILL client, PAUSE" in result.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become another user")
@pytest.mark.parametrize("name", NAMES)
def test_another_user_is_refused(start_daemon, name):
    daemon = start_daemon(options=["--socket-mode", "0666"])
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    # What it calls itself makes no difference.
    for user in ["root", "nobody"]:
        result = psql(daemon, "-U", user, name, "-c", "SHOW VERSION", **nobody)
        assert result.returncode == 2, result
        assert "no access rule lets user ID 65534 in" in result.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become another user")
def test_refusal_has_its_state(start_daemon):
    daemon = start_daemon(options=["--socket-mode", "0666"])
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import wire\n"
        "reply = wire.Client(sys.argv[2]).start(database='walpool', user='root')\n"
        "print(reply.errors[0]['C'], reply.errors[0]['S'], reply.closed)")
    result = subprocess.run(
        ["/usr/bin/python3", "-c", script, os.path.dirname(__file__), str(daemon.socket_path)], capture_output=True, text=True,
        timeout=60, user=65534, group=65534, extra_groups=[])
    if "Permission denied" in result.stderr or "No module" in result.stderr:
        pytest.skip("nobody cannot read the tests")
    assert result.stdout == "28000 FATAL True\n", result


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become another user")
def test_root_enters_the_console_of_a_daemon_of_another_user(start_daemon, tmp_path):
    # And so does that user itself.
    daemon = start_daemon(start=False)
    os.chown(daemon.directory, 65534, 65534)
    runner = daemon.command
    daemon.command = lambda: ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *runner()]
    daemon.start()
    for keywords in [{}, {"user": 65534, "group": 65534, "extra_groups": []}]:
        result = psql(daemon, "-U", "x", "walpool", "-At", "-c", "SHOW VERSION", **keywords)
        assert result.returncode == 0, result


def test_it_opens_when_there_are_too_many_clients(start_daemon):
    daemon = start_daemon(options=["--max-sessions", "2"])
    clients = [daemon.client(), daemon.client()]
    assert daemon.raw().start(database="app").state == "53300"
    with console(daemon) as admin:
        assert len(show(admin, "CLIENTS")) == len(clients) + 1


def test_no_other_name_is_the_consoles(daemon):
    for name in ["Walpool", "walpool ", "console", "pgbouncer2"]:
        assert daemon.raw().start(database=name).state == "3D000"


# Protocols and drivers


@pytest.mark.parametrize("topic", TOPICS)
def test_both_protocols_say_the_same(daemon, topic):
    client = daemon.client(database="walpool")
    simple = client.query(f"SHOW {topic}").check()
    extended = client.extended(f"SHOW {topic}").check()
    assert simple.kinds.replace("D", "") == "TCZ" and simple.tag == "SHOW"
    assert extended.kinds.replace("D", "") == "12TCZ" and extended.tag == "SHOW"
    columns = simple.of("T")[0].columns
    assert columns == extended.of("T")[0].columns and columns
    assert {c.type for c in columns} <= {wire.TEXT, wire.INT8}
    assert all(len(row) == len(columns) for row in simple.rows + extended.rows)


def test_described_without_being_run(daemon):
    client = daemon.client(database="walpool")
    reply = client.ask(wire.parse("SHOW CLIENTS", "s"), wire.describe_statement("s"), wire.parse("BACKUP TO 'x'", "b"), wire.describe_statement("b"))
    assert reply.check().kinds == "1tT1tnZ"
    assert client.query("SHOW BACKUPS").check().rows == []


def test_binary_results(daemon):
    client = daemon.client(database="walpool")
    reply = client.extended("SHOW CLIENTS", result_formats=[1]).check()
    columns = [c.name for c in reply.of("T")[0].columns]
    # Who has looked whether the daemon has started may be there still.
    rows = [dict(zip(columns, row)) for row in reply.rows]
    row, = [row for row in rows if int.from_bytes(row["id"], "big") == client.process_id]
    assert len(row["id"]) == 8
    assert row["database"] == b"walpool" and row["link"] is None and row["wait"] == bytes(8)


def test_several_statements(daemon):
    client = daemon.client(database="walpool")
    reply = client.query("SHOW VERSION; SHOW POOLS; nonsense; SHOW HELP")
    assert reply.kinds == "TDCTDDCEZ" and reply.state == "42601" and reply.status == "I"
    assert client.query("SHOW VERSION").check().tag == "SHOW"
    assert client.query("").check().kinds == "IZ"


def test_pipeline_with_an_error(daemon):
    client = daemon.client(database="walpool")
    reply = client.ask(wire.parse("SHOW nothing"), wire.bind(), wire.execute())
    assert reply.kinds == "EZ" and reply.state == "42601"
    assert client.extended("SHOW VERSION").check().tag == "SHOW"


def test_psycopg(admin):
    assert show(admin, "VERSION")[0]["version"].startswith("Walpool 0.")
    pool, _ = show(admin, "POOLS")
    assert (pool["database"], pool["writer"], pool["readers_limit"], pool["writer_queue"]) == ("app", "free", 8, 0)
    with pytest.raises(errors.SyntaxError, match="does not know this command: DELETE FROM t") as caught:
        admin.execute("DELETE FROM t")
    assert caught.value.diag.message_hint.endswith("SHOW HELP explains them.")
    assert show(admin, "HELP")


def test_psycopg_with_its_transactions(daemon):
    with console(daemon, autocommit=False) as admin:
        assert show(admin, "VERSION")
        with pytest.raises(errors.SyntaxError):
            admin.execute("nonsense")
        with pytest.raises(errors.InFailedSqlTransaction):
            show(admin, "VERSION")
        admin.rollback()
        assert show(admin, "VERSION")
        admin.commit()


def test_asyncpg(daemon):
    async def main():
        connection = await asyncpg.connect(host=str(daemon.directory), database="pgbouncer", user="admin")
        try:
            rows = await connection.fetch("SHOW CLIENTS")
            assert [row["database"] for row in rows] == ["walpool"] and rows[0]["uid"] == os.getuid()
        finally:
            await connection.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    "sql", ["SELECT * FROM t", "BEGIN IMMEDIATE", "DECLARE c CURSOR FOR SELECT 1", "PRAGMA wal_checkpoint", "COPY t TO STDOUT", "LISTEN x"])
def test_nothing_reaches_the_database(daemon, sql):
    daemon.run("CREATE TABLE t (x)")
    client = daemon.client(database="walpool")
    for reply in [client.query(sql), client.extended(sql)]:
        assert reply.state == "42601" and reply.status == "I"
        assert reply.error["H"].endswith("SHOW HELP explains them.")


# What it shows


def test_clients(daemon, admin):
    daemon.run("CREATE TABLE t (x)")
    other = daemon.client(user="one", application_name="sheets")
    other.query("BEGIN").check()
    failed = daemon.client(user="two")
    failed.query("BEGIN; SELECT nonsense")
    eventually(lambda: len(show(admin, "CLIENTS")) == 3, "the end of the first session")
    rows = {row["user"]: row for row in show(admin, "CLIENTS")}
    assert set(rows) == {"admin", "one", "two"}
    assert rows["one"]["id"] == other.process_id and rows["one"]["application_name"] == "sheets"
    assert (rows["one"]["state"], rows["one"]["transaction"], rows["one"]["database"]) == ("idle", "open", "app")
    assert rows["two"]["transaction"] == "failed"
    assert (rows["admin"]["state"], rows["admin"]["database"]) == ("active", "walpool")
    assert all(row["uid"] == os.getuid() and row["remote_pid"] == os.getpid() for row in rows.values())
    started = daemon.raw()
    eventually(lambda: len(show(admin, "CLIENTS")) == 4)
    assert [row["state"] for row in show(admin, "CLIENTS") if row["user"] is None] == ["starting"]
    started.close()
    eventually(lambda: len(show(admin, "CLIENTS")) == 3)


def test_writer_and_its_queue(daemon, admin):
    daemon.run("CREATE TABLE t (x)")
    eventually(lambda: show(admin, "WRITER") == [])
    holder, first, second = (daemon.client(user=name) for name in ["holder", "first", "second"])
    holder.query("BEGIN; INSERT INTO t VALUES (1)").check()
    first.send(wire.query("INSERT INTO t VALUES (2)"))
    daemon.settle(first)
    second.send(wire.query("BEGIN; INSERT INTO t VALUES (3)"))
    daemon.settle(second)
    rows = show(admin, "WRITER")
    assert [(r["place"], r["user"], r["purpose"]) for r in rows] == [
        (0, "holder", "transaction"), (1, "first", "member"), (2, "second", "transaction")]
    assert rows[0]["client"] == holder.process_id and rows[0]["idle_ms"] is not None
    assert rows[0]["since_ms"] >= rows[0]["idle_ms"] >= 0 and rows[1]["since_ms"] >= rows[2]["since_ms"] >= 0
    pool, _ = show(admin, "POOLS")
    assert (pool["writer"], pool["writer_queue"], pool["cl_waiting"]) == (f"client {holder.process_id}", 2, 2)
    waiting = {row["user"]: row for row in show(admin, "CLIENTS")}
    assert (waiting["first"]["state"], waiting["first"]["waits_for"]) == ("waiting", "writer")
    eventually(lambda: {row["user"]: row for row in show(admin, "WRITER")}["first"]["since_ms"] > rows[1]["since_ms"], "a longer wait")
    assert waiting["holder"]["state"] == "idle"
    holder.query("COMMIT").check()
    first.reply().check()
    second.reply().check()
    second.query("ROLLBACK").check()
    assert show(admin, "WRITER") == []


def test_who_waits_for_another_process(daemon, admin):
    """Nobody queues, and all the same somebody waits."""
    daemon.run("CREATE TABLE t (x)")
    eventually(lambda: show(admin, "WRITER") == [])
    client = daemon.client()
    with contextlib.closing(sqlite3.connect(daemon.database, isolation_level=None)) as outsider:
        outsider.execute("BEGIN IMMEDIATE")
        client.send(wire.query("INSERT INTO t VALUES (1)"))
        rows = eventually(lambda: [row for row in show(admin, "WRITER") if row["blocked_by"]])
        assert [(r["place"], r["purpose"], r["blocked_by"]) for r in rows] == [(0, "group", "another process")]
        longest = ("walpool_longest_wait_seconds",)
        eventually(lambda: metrics.values(daemon)[longest] > 0, "a wait that counts")
        outsider.execute("ROLLBACK")
    assert client.reply().check().tag == "INSERT 0 1"
    daemon.settle()
    assert show(admin, "WRITER") == [] and metrics.values(daemon)[longest] == 0


def test_a_vacuum_that_has_waited_for_another_process(daemon, admin):
    """It is over, and nobody waits any more, though nothing is written afterwards."""
    daemon.run("CREATE TABLE t (x)")
    with contextlib.closing(sqlite3.connect(daemon.database, isolation_level=None)) as outsider:
        outsider.execute("BEGIN IMMEDIATE")
        admin.execute("VACUUM")
        eventually(lambda: "the VACUUM that was asked for failed" in daemon.errors, "its end")
        outsider.execute("ROLLBACK")
    daemon.settle()
    assert metrics.values(daemon)[("walpool_longest_wait_seconds",)] == 0


def test_readers_and_snapshots(start_daemon):
    daemon = start_daemon(options=["--readers", "1"])
    daemon.run("CREATE TABLE t (x)")
    with console(daemon) as admin:
        assert show(admin, "SNAPSHOTS") == []
        pinned, waiter = daemon.client(user="pinned"), daemon.client(user="waiter")
        pinned.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM t").check()
        waiter.send(wire.query("SELECT * FROM t"))
        daemon.settle(waiter)
        (snapshot,) = show(admin, "SNAPSHOTS")
        assert (snapshot["client"], snapshot["user"], snapshot["owner"]) == (pinned.process_id, "pinned", "client")
        eventually(lambda: show(admin, "SNAPSHOTS")[0]["age_ms"] > snapshot["age_ms"] >= 0, "a snapshot that gets older")
        wal = {row["name"]: row["value"] for row in show(admin, "WAL")}
        assert wal["oldest_snapshot_owner"] == f"client {pinned.process_id}"
        pool, _ = show(admin, "POOLS")
        # The writer is the one that is idle.
        assert (pool["sv_active"], pool["sv_idle"], pool["reader_queue"]) == (1, 1, 1)
        (row,) = [row for row in show(admin, "CLIENTS") if row["user"] == "waiter"]
        assert (row["state"], row["waits_for"]) == ("waiting", "reader")
        pinned.query("ROLLBACK").check()
        waiter.reply().check()
        assert show(admin, "SNAPSHOTS") == []


# What it does


def test_checkpoint(daemon, admin):
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    notices = []
    admin.add_notice_handler(lambda notice: notices.append(notice.message_primary))
    assert admin.execute("CHECKPOINT").statusmessage == "CHECKPOINT"
    assert "complete" in notices[0]
    wal = {row["name"]: row["value"] for row in show(admin, "WAL")}
    assert wal["frames"] == wal["frames_copied"] and wal["last_checkpoint_result"] == "complete"
    assert int(wal["limit_bytes"]) > 0 and wal["last_checkpoint_mode"] == "passive"


def test_checkpoint_waits_its_turn_and_can_be_cancelled(daemon, admin):
    daemon.run("CREATE TABLE t (x)")
    holder = daemon.client()
    holder.query("BEGIN; INSERT INTO t VALUES (1)").check()
    waiting = daemon.client(database="walpool")
    waiting.send(wire.query("CHECKPOINT"))
    eventually(lambda: [row["purpose"] for row in show(admin, "WRITER")] == ["transaction", "checkpoint"])
    # The console itself goes on, and so does everybody who reads.
    assert daemon.value("SELECT count(*) FROM t") == "0"
    waiting.cancel()
    assert waiting.reply().state == "57014"
    assert waiting.query("SHOW VERSION").check().tag == "SHOW"
    # Another waits on, and is answered when it has been made.
    waiting.send(wire.query("CHECKPOINT"))
    holder.query("COMMIT").check()
    assert waiting.reply().check().tag == "CHECKPOINT"


def test_a_timeout_ends_the_wait(daemon):
    daemon.run("CREATE TABLE t (x)")
    holder = daemon.client()
    holder.query("BEGIN; INSERT INTO t VALUES (1)").check()
    waiting = daemon.client(database="walpool")
    waiting.query("SET statement_timeout = '50ms'").check()
    assert waiting.query("CHECKPOINT").state == "57014"


def test_too_many_commands(daemon, admin):
    daemon.run("CREATE TABLE t (x)")
    holder = daemon.client()
    holder.query("BEGIN; INSERT INTO t VALUES (1)").check()
    # As many threads as there may be (ConsoleThread.limit), and one more.
    waiting = [daemon.client(database="walpool") for _ in range(8)]
    for client in waiting:
        client.send(wire.query("CHECKPOINT"))
    for client in waiting:
        eventually(lambda: client.unread_by_server() == 0)

    def at_work():
        return sum(row["state"] == "active" for row in show(admin, "CLIENTS")) - 1

    eventually(lambda: at_work() == 8, "eight at work")
    daemon_threads = lambda: len(os.listdir(f"/proc/{daemon.pid}/task"))
    before = daemon_threads()
    late = daemon.client(database="walpool")
    assert late.query("CHECKPOINT").state == "53000"
    waiting.pop().close()
    eventually(lambda: at_work() == 7, "the end of a client that is gone")

    def has_its_place():
        late.send(wire.query("CHECKPOINT"))
        eventually(lambda: late.has_reply() or at_work() == 8, "an answer or its turn")
        return not late.has_reply() or late.reply().state != "53000"

    eventually(has_its_place, "the place of a client that is gone")
    waiting.append(late)
    holder.query("ROLLBACK").check()
    for client in waiting:
        assert client.reply().check().tag == "CHECKPOINT"
    # The crew may have grown meanwhile, on a machine with other work.
    eventually(lambda: daemon_threads() < before, "the end of their threads")


def test_a_stop_tells_the_console(start_daemon):
    daemon = start_daemon(config='shutdown_timeout = "100ms"\n')
    daemon.run("CREATE TABLE t (x)")
    holder = daemon.client()
    holder.query("BEGIN; INSERT INTO t VALUES (1)").check()
    idle, waiting = daemon.client(database="walpool"), daemon.client(database="walpool")
    waiting.send(wire.query("CHECKPOINT"))
    eventually(lambda: ("1", "checkpoint") in [(r[0], r[3]) for r in idle.query("SHOW WRITER").texts])
    daemon.stop()
    assert idle.reply().state == "57P01"
    reply = waiting.reply()
    # Once the holder was rolled back the job may have had its turn.
    assert reply.closed and reply.state == "57P01" or reply.tag == "CHECKPOINT"


def test_vacuum(daemon, admin):
    daemon.run("CREATE TABLE t (x)", "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2000) "
               "INSERT INTO t SELECT randomblob(1000) FROM c", "DELETE FROM t")
    maintenance = lambda: {row["name"]: row["value"] for row in show(admin, "MAINTENANCE")}
    assert "last_success" not in maintenance() and maintenance()["next_due"] > maintenance()["base"]
    assert admin.execute("VACUUM").statusmessage == "VACUUM"
    eventually(lambda: "last_success" in maintenance(), "the end of the VACUUM")
    assert int(maintenance()["last_success_bytes_freed"]) > 1_000_000
    assert daemon.value("PRAGMA freelist_count") == "0"
