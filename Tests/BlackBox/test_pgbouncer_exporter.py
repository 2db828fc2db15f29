"""Debian's prometheus-pgbouncer-exporter, unchanged, as a service would run it: its own configuration file and options for
where PgBouncer is.

It is unpacked and not installed (bench/support/extract): its installation starts a service.
"""

import os
import re
import socket
import subprocess
import urllib.request

import pytest

import wire
from console import console, show
from daemon import REPOSITORY, eventually

PACKAGE = REPOSITORY / ".build-debian" / "prometheus-pgbouncer-exporter"
PYTHON = "/usr/bin/python3"

pytestmark = pytest.mark.skipif(not PACKAGE.exists(), reason="make test-deps unpacks it")


@pytest.fixture
def exporter(daemon):
    """Scrapes the exporter, which listens on loopback alone."""
    if daemon.client(database="pgbouncer").query("SHOW STATS").state == "42601":
        pytest.skip("SHOW STATS is not there yet, and the exporter asks for it when it starts")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = daemon.directory / "exporter.log"
    with open(log, "w") as output:
        process = subprocess.Popen(
            [PYTHON, PACKAGE / "usr/bin/prometheus-pgbouncer-exporter",
             "--config", PACKAGE / "etc/prometheus-pgbouncer-exporter.conf", "--host", "127.0.0.1", "--port", str(port),
             "--pgbouncer-host", str(daemon.directory), "--pgbouncer-port", str(daemon.port)],
            env=os.environ | {"PYTHONPATH": str(PACKAGE / "usr/lib/python3/dist-packages")}, stdout=output, stderr=output)

    def scrape():
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=wire.DEADLINE) as reply:
            return reply.read().decode()

    def listens():
        assert process.poll() is None, log.read_text()
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return True
        except ConnectionRefusedError:
            return False

    try:
        eventually(listens, "the exporter")
        yield scrape
    finally:
        process.kill()
        process.wait()


def values(text):
    """What the exporter says of PgBouncer, by the metric with its labels."""
    return {name: float(value) for name, value in re.findall(r"^(pgbouncer_\S+) (\S+)$", text, re.M)}


def test_scrape(daemon, exporter):
    daemon.run("CREATE TABLE t (n INTEGER)", "INSERT INTO t VALUES (1)")
    with console(daemon) as admin:
        before = show(admin, "STATS")
        holder, waiter = daemon.client(), daemon.client()
        holder.query("BEGIN; INSERT INTO t VALUES (2)").check()
        waiter.send(wire.query("INSERT INTO t VALUES (3)"))
        daemon.settle(waiter)
        seen = values(exporter())
        after = {row["database"]: row for row in show(admin, "STATS")}["app"]
        pool, of_console = show(admin, "POOLS")
        lists = {row["list"]: row["items"] for row in show(admin, "LISTS")}
        labels = '{database="app",user="walpool"}'
        assert seen[f"pgbouncer_active_clients{labels}"] == pool["cl_active"] == 1
        assert seen[f"pgbouncer_waiting_clients{labels}"] == pool["cl_waiting"] == 1
        # This one and its own, of which it opens as many as it likes and which leave when they like.
        assert seen['pgbouncer_active_clients{database="walpool",user="walpool"}'] >= 2 and of_console["cl_active"] >= 1
        assert seen['pgbouncer_pool_size{database="app"}'] == 9 and seen['pgbouncer_reserve_pool{database="app"}'] == 1
        for name in ["databases", "users", "pools", "free_clients", "used_clients", "free_servers", "used_servers",
                     "login_clients", "dns_names", "dns_zones", "dns_queries", "dns_pending"]:
            assert seen[f"pgbouncer_{name}"] == lists[name], name
        first = {row["database"]: row for row in before}["app"]
        for metric, column in [("requests_total", "total_requests"), ("received_bytes_total", "total_received"),
                               ("sent_bytes_total", "total_sent"), ("query_microseconds_total", "total_query_time")]:
            assert first[column] <= seen[f'pgbouncer_{metric}{{database="app"}}'] <= after[column], metric
        assert after["total_requests"] == after["total_query_count"] > 0
        holder.query("COMMIT").check()
        waiter.reply().check()
        assert values(exporter())[f"pgbouncer_waiting_clients{labels}"] == 0


def test_its_tables(daemon):
    """All but STATS, by its own collectors."""
    script = (
        "import sys\n"
        "from prometheus_client import CollectorRegistry, generate_latest\n"
        "from prometheus_pgbouncer_exporter.collectors import DatabasesCollector, ListsCollector, PoolsCollector\n"
        "from prometheus_pgbouncer_exporter.utils import get_connection\n"
        "connection = get_connection('exporter', sys.argv[2], sys.argv[1])\n"
        "registry = CollectorRegistry()\n"
        "for collector in [PoolsCollector, DatabasesCollector]:\n"
        "    registry.register(collector(connection=connection, databases=['app']))\n"
        "registry.register(ListsCollector(connection=connection))\n"
        "print(generate_latest(registry).decode())\n")
    result = subprocess.run(
        [PYTHON, "-c", script, daemon.directory, str(daemon.port)], capture_output=True, text=True, timeout=60,
        env=os.environ | {"PYTHONPATH": str(PACKAGE / "usr/lib/python3/dist-packages")})
    assert result.returncode == 0, result.stderr
    seen = values(result.stdout)
    assert seen['pgbouncer_active_clients{database="app",user="walpool"}'] == 0
    assert seen["pgbouncer_used_clients"] == 1 and seen['pgbouncer_pool_size{database="app"}'] == 9


def test_it_goes_on_while_paused(daemon, exporter):
    """Monitoring must not stop when it is wanted most."""
    with console(daemon) as admin:
        admin.execute("PAUSE")
        waiter = daemon.client()
        waiter.send(wire.query("SELECT 1"))
        daemon.settle(waiter)
        seen = values(exporter())
        assert seen['pgbouncer_waiting_clients{database="app",user="walpool"}'] == 1
        admin.execute("RESUME")
        assert waiter.reply().value == "1"
