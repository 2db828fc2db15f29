"""psql and what else people use to look at PgBouncer."""

import subprocess

import pytest

import wire
from console import console, show
from daemon import eventually

# Of PgBouncer 1.18.0 (Debian 12), as it answers: names and their order.
CONNECTION = (
    "type user database state addr port local_addr local_port connect_time request_time wait wait_us close_needed ptr link "
    "remote_pid tls application_name").split()
BUFFERS = "recv_pos pkt_pos pkt_remain send_pos send_remain pkt_avail send_avail".split()
PGBOUNCER = {
    "pools": (
        "database user cl_active cl_waiting cl_active_cancel_req cl_waiting_cancel_req sv_active sv_active_cancel "
        "sv_being_canceled sv_idle sv_used sv_tested sv_login maxwait maxwait_us pool_mode").split(),
    "lists": ["list", "items"],
    "databases": (
        "name host port database force_user pool_size min_pool_size reserve_pool pool_mode max_connections "
        "current_connections paused disabled").split(),
    "clients": CONNECTION,
    "servers": CONNECTION,
    "sockets": CONNECTION + BUFFERS,
    "active_sockets": CONNECTION + BUFFERS,
    "config": ["key", "value", "default", "changeable"],
    "mem": ["name", "size", "used", "free", "memtotal"],
    "version": ["version"],
    "users": ["name", "pool_mode"],
    "dns_hosts": ["hostname", "ttl", "addrs"],
    "dns_zones": ["zonename", "serial", "count"],
    # Of a later one.
    "state": ["key", "value"],
}


@pytest.fixture
def admin(daemon):
    with console(daemon) as connection:
        yield connection


def psql(daemon, *arguments, input=None):
    result = subprocess.run(
        ["psql", "-X", "-h", str(daemon.directory), "pgbouncer", *arguments], capture_output=True, text=True, timeout=60,
        input=input or "")
    assert not result.returncode, result
    return result


@pytest.mark.parametrize("topic", PGBOUNCER)
def test_columns_are_pgbouncers(daemon, topic):
    client = daemon.client(database="pgbouncer")
    columns = [column.name for column in client.query(f"SHOW {topic}").check().of("T")[0].columns]
    assert columns[:len(PGBOUNCER[topic])] == PGBOUNCER[topic]


def test_the_usual_ways_to_ask(daemon):
    by_bars = psql(daemon, "-At", "-c", "show pools").stdout.splitlines()
    assert [line.split("|")[0] for line in by_bars] == ["app", "walpool"]
    by_tabs = psql(daemon, "-AtF", "\t", "-c", "SHOW LISTS;").stdout
    assert "databases\t2\n" in by_tabs and "dns_pending\t0\n" in by_tabs
    expanded = psql(daemon, "-x", "-c", "Show Databases").stdout
    assert "-[ RECORD 1 ]" in expanded and "current_connections" in expanded
    assert "<table" in psql(daemon, "-H", "-c", "SHOW USERS").stdout
    assert psql(daemon, "--csv", "-c", "SHOW VERSION").stdout.startswith("version\n\"Walpool 0.")


def test_interactively(daemon):
    script = """\\x on
/* which */ SHOW VERSION; -- this one
\\x off
show lists; show state ; ;
  -- nothing
PAUSE;
RESUME ;
\\conninfo
SHOW CLIENTS \\gx
\\watch 0.01
"""
    result = psql(daemon, "-v", "ON_ERROR_STOP=1", input=script.replace("\\watch 0.01\n", ""))
    assert not result.stderr
    for expected in ["RECORD 1", "databases", "paused", "PAUSE", "RESUME", 'database "pgbouncer"', "psql"]:
        assert expected in result.stdout


def test_watch(daemon):
    """It goes on until it is interrupted, or the server is gone."""
    process = subprocess.Popen(
        ["psql", "-X", "-h", str(daemon.directory), "pgbouncer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True)
    try:
        process.stdin.write("SHOW LISTS \\watch 0.05\n")
        process.stdin.flush()
        seen = 0
        while seen < 3:
            line = process.stdout.readline()
            assert line, "psql ended"
            seen += "used_clients" in line
    finally:
        process.kill()
        process.communicate()


def test_numbers(daemon, admin):
    daemon.run("CREATE TABLE t (n INTEGER)", "INSERT INTO t VALUES (1)")
    clients = [daemon.client(user="alice"), daemon.client(user="bob", application_name="report")]
    started = daemon.raw()
    clients[0].query("BEGIN; INSERT INTO t VALUES (2)").check()
    clients[1].query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT n FROM t").check()
    eventually(lambda: len(show(admin, "CLIENTS")) == 4, "the end of the first session")
    lists = {row["list"]: row["items"] for row in show(admin, "LISTS")}
    assert (lists["databases"], lists["pools"], lists["users"]) == (2, 2, 3)
    assert lists["used_clients"] == 3 and lists["used_servers"] == 2 and lists["free_clients"] in (996, 997)
    pool, of_console = show(admin, "POOLS")
    assert (pool["database"], pool["cl_active"], pool["cl_waiting"], pool["sv_active"]) == ("app", 2, 0, 2)
    assert (of_console["database"], of_console["cl_active"]) == ("walpool", 1)
    database, _ = show(admin, "DATABASES")
    assert (database["name"], database["host"], database["pool_size"]) == ("app", str(daemon.database), 9)
    assert database["current_connections"] == len(show(admin, "SERVERS"))
    assert [row["name"] for row in show(admin, "USERS")] == ["admin", "alice", "bob"]
    started.close()


def test_servers(daemon, admin):
    daemon.run("CREATE TABLE t (n INTEGER)", "INSERT INTO t VALUES (1)")
    writer, reader = daemon.client(user="alice"), daemon.client(user="bob", application_name="report")
    writer.query("BEGIN; INSERT INTO t VALUES (2)").check()
    reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT n FROM t").check()
    eventually(lambda: len(show(admin, "CLIENTS")) == 3, "the end of the first session")
    rows = {row["ptr"]: row for row in show(admin, "SERVERS")}
    assert rows["writer"]["state"] == "active" and rows["writer"]["link"] == f"client {writer.process_id}"
    (held,) = [row for name, row in rows.items() if name.startswith("reader") and row["state"] == "active"]
    assert held["link"] == f"client {reader.process_id}" and held["application_name"] == "report"
    assert held["snapshot_ms"] >= 0 and held["type"] == "S"
    links = {row["user"]: row["link"] for row in show(admin, "CLIENTS")}
    assert links == {"alice": "writer", "bob": held["ptr"], "admin": None}
    writer.query("ROLLBACK").check()
    reader.query("ROLLBACK").check()
    assert {row["state"] for row in show(admin, "SERVERS")} == {"idle"}


def test_sockets(daemon, admin):
    """Looking takes no session from its client."""
    idle, slow, half = daemon.client(user="idle"), daemon.client(user="slow"), daemon.client(user="half")
    slow.send(wire.query("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT hex(randomblob(500)) FROM c"))
    half.send(wire.query("SELECT 1")[:7])
    daemon.settle(slow, half)
    rows = {row["user"]: row for row in show(admin, "SOCKETS")}
    assert (rows["idle"]["pkt_avail"], rows["idle"]["send_remain"]) == (0, 0)
    assert rows["slow"]["send_remain"] > 0 and rows["half"]["pkt_avail"] == 7
    assert "idle" not in [row["user"] for row in show(admin, "ACTIVE_SOCKETS")]
    assert {"slow", "admin"} <= {row["user"] for row in show(admin, "ACTIVE_SOCKETS")}
    for _ in range(20):
        show(admin, "SOCKETS")
    assert idle.value("SELECT 1") == "1"
    half.send(wire.query("SELECT 1")[7:])
    assert half.reply().value == "1"
    slow.receive_until("D")


def test_config_is_the_files(start_daemon):
    daemon = start_daemon(config='statement_timeout = "5s"\nreaders = 3\n', options=["--max-sessions", "7"])
    with console(daemon) as admin:
        rows = {row["key"]: row for row in show(admin, "CONFIG")}
    assert (rows["readers"]["value"], rows["readers"]["default"]) == ("3", "8")
    assert (rows["max_sessions"]["value"], rows["statement_timeout"]["value"]) == ("7", "5s")
    assert rows["database"]["value"] == str(daemon.database)
    assert {row["changeable"] for row in rows.values()} <= {"yes", "no"}


def test_memory(daemon, admin):
    rows = {row["name"]: row for row in show(admin, "MEM")}
    assert 1 << 20 < rows["process"]["memtotal"] < 1 << 32
    assert rows["heap"]["used"] > 0 and rows["sessions"]["used"] == 1


def test_the_writers_last_statement(daemon, admin):
    daemon.run("CREATE TABLE t (n INTEGER)")
    holder = daemon.client(user="alice")
    holder.query("BEGIN; INSERT INTO t VALUES (1)").check()
    (row,) = show(admin, "WRITER")
    assert row["statement"].strip() == "INSERT INTO t VALUES (1)" and row["since"].endswith("Z")
    holder.extended("UPDATE t SET n = $1", ["secret"], types=[25]).check()
    assert show(admin, "WRITER")[0]["statement"] == "UPDATE t SET n = $1"
    holder.query(f"SELECT '{'x' * 5000}'").check()
    assert len(show(admin, "WRITER")[0]["statement"]) == 2001
    holder.query("ROLLBACK").check()
    holder.query("BEGIN IMMEDIATE").check()
    daemon.client().query("SELECT 1").check()
    assert show(admin, "WRITER")[0]["user"] == "alice"
    holder.query("ROLLBACK").check()


def test_settings_are_not_made_here(daemon):
    client = daemon.client(database="walpool")
    for sql in ["SET max_sessions = 5", "SET readers TO 3", "SET verbose = 1"]:
        reply = client.query(sql)
        assert reply.state == "55P02" and "RELOAD" in reply.error["H"]
    # What drivers set is the session's.
    client.query("SET client_encoding TO 'UTF8'; SET application_name = 'x'; SET extra_float_digits = 2; SET my.own = 1").check()


@pytest.mark.parametrize("command", ["SUSPEND", "DISABLE app", "ENABLE app", "RECONNECT", "RECONNECT app", "WAIT_CLOSE"])
def test_pgbouncers_other_commands_say_why_not(daemon, command):
    reply = daemon.client(database="pgbouncer").query(command)
    assert reply.state == "0A000" and command.split()[0] in reply.error["M"]
