"""OpenMetrics over HTTP, on the socket and on a loopback address: the page, other requests, who may look."""

import json
import os
import re
import socket
import subprocess

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics_families
from prometheus_client.parser import text_string_to_metric_families

import wire
from daemon import REPOSITORY, eventually
from metrics import OPEN_METRICS, TEXT, Response, get, values

# The page


def test_curl(daemon):
    result = subprocess.run(
        ["curl", "-sS", "-i", "--max-time", "30", "--unix-socket", daemon.socket_path, "http://localhost/metrics"],
        capture_output=True, timeout=60)
    assert result.returncode == 0, result
    response = Response(result.stdout)
    assert response.status == 200 and response.fields["content-type"] == OPEN_METRICS
    assert response.text.endswith("# EOF\n")


def test_both_formats_say_the_same(shared):
    shared.run("CREATE TABLE IF NOT EXISTS t (x)", "INSERT INTO t VALUES (1)")
    new, old = get(shared, f"Accept: {OPEN_METRICS}"), get(shared, "Accept: text/plain")
    assert (new.fields["content-type"], old.fields["content-type"]) == (OPEN_METRICS, TEXT)
    new_families = list(open_metrics_families(new.text))
    # The old format's parser calls counters as OpenMetrics does.
    assert [(f.name, f.type, f.documentation) for f in new_families] == [
        (f.name, f.type, f.documentation) for f in text_string_to_metric_families(old.text)]
    for family in new_families:
        assert family.name.startswith("walpool_") and family.documentation.endswith("."), family
        assert not family.unit or family.name.endswith(family.unit)
        names = {sample.name for sample in family.samples}
        if family.type == "counter" and family.name != "walpool_errors":
            assert names == {family.name + "_total"}


def promtool(*arguments, **keywords):
    tool = subprocess.run(
        [REPOSITORY / "bench/support/promtool"], capture_output=True, text=True, check=True).stdout.strip()
    return subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, **keywords)


def test_promtool(shared):
    shared.client().query("SELECT nonsense FROM nowhere")
    result = promtool("check", "metrics", input=get(shared, "Accept: text/plain").text)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_head(shared):
    response = get(shared, method="HEAD")
    assert response.status == 200 and response.body == b"" and int(response.fields["content-length"]) > 5000


def test_the_dashboard_names_what_there_is(shared):
    dashboard = json.loads((REPOSITORY / "systemd/grafana/walpool.json").read_text())
    shared.client().query("SELECT nonsense FROM nowhere")
    names = {sample.name for f in open_metrics_families(get(shared).text) for sample in f.samples}
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    expressions += [variable["query"] for variable in dashboard["templating"]["list"] if variable["type"] == "query"]
    used = set(re.findall(r"\bwalpool_\w+", " ".join(expressions)))
    assert len(used) > 20 and used <= names, used - names


RULES = REPOSITORY / "systemd/prometheus/walpool.rules.yml"
TESTS_OF_RULES = [REPOSITORY / "Tests/BlackBox" / name for name in ("walpool.rules.test.yml", "walpool.rules.days.test.yml")]


@pytest.mark.parametrize("command, path", [("check", RULES), *(("test", path) for path in TESTS_OF_RULES)])
def test_the_alerts_are_rules_and_fire(command, path):
    result = promtool(command, "rules", path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_alerts_name_what_there_is(shared):
    rules = RULES.read_text()
    shared.client().query("SELECT nonsense FROM nowhere")
    names = {sample.name for f in open_metrics_families(get(shared).text) for sample in f.samples}
    used = set(re.findall(r"\bwalpool_\w+", rules))
    assert len(used) > 10 and used <= names, used - names
    # And each of them is seen to fire.
    alerts = set(re.findall(r"alert: (\w+)", rules))
    assert len(alerts) > 8 and alerts == set(re.findall(r'alertname="(\w+)"', "".join(path.read_text() for path in TESTS_OF_RULES)))


# HTTP's other requests


@pytest.mark.parametrize("path", ["/", "/metrics/", "/metric", "/METRICS", "*", "/%6detrics"])
def test_not_found(shared, path):
    response = get(shared, path=path)
    assert response.status == 404 and "/metrics" in response.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"])
def test_other_methods(shared, method):
    response = get(shared, method=method)
    assert response.status == 405 and response.fields["allow"] == "GET, HEAD"


def test_a_body_is_not_waited_for(shared):
    assert get(shared, "Content-Length: 1000000000", method="POST").status == 405


@pytest.mark.parametrize(
    "data, status",
    [
        (b"GET /metrics\r\n\r\n", 400),
        (b"GET /metrics HTTP/1.1\r\n\r\n", 400),
        (b"GET /metrics HTTP/1.1\r\nHost : x\r\n\r\n", 400),
        (b"GET \0\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        (b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 2000, 431),
        (b"GET / HTTP/1.1\r\nX: " + b"y" * 10_000_000, 431),
    ],
    ids=["no version", "no host", "space", "bytes", "HTTP/2", "long path", "many fields", "endless"])
def test_bad_requests(shared, data, status):
    with shared.raw() as client:
        try:
            client.send(data)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert Response(client.rest()).status == status


def test_piece_by_piece(shared):
    with shared.raw() as client:
        for byte in b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: text/plain\r\n\r\n":
            client.send(bytes([byte]))
            eventually(lambda: client.unread_by_server() == 0)
        assert Response(client.rest()).fields["content-type"] == TEXT


def test_one_request_to_a_connection(shared):
    with shared.raw() as client:
        client.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 3)
        response = Response(client.rest())
        assert response.status == 200 and response.text.count("# EOF") == 1


def test_not_after_a_refusal_of_encryption(shared):
    """The word is taken for what it is wherever a startup packet may stand, and answered once."""
    with shared.raw() as client:
        client.send(wire.packet(wire.SSL_REQUEST))
        assert client.receive_bytes(1) == b"N"
        client.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        assert Response(client.rest()).status == 200


def test_a_session_that_has_begun_speaks_no_http(shared):
    client = shared.client()
    client.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    client.half_close()
    assert b"HTTP/1.1 200" not in client.rest()


def test_slow_clients_are_let_go(start_daemon):
    # A second, for the one that does ask in time.
    daemon = start_daemon(config='startup_timeout = "1s"\nclient_write_timeout = "200ms"\n')
    # The connection by which it was found to accept any is gone.
    eventually(lambda: daemon.sockets == 1, "the listening socket alone")
    before = daemon.sockets
    silent, half = daemon.raw(), daemon.raw()
    half.send(b"GET /metrics HT")
    assert half.rest() == b"" and silent.rest() == b""
    # One that is answered and stays.
    lingering = daemon.raw()
    lingering.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    eventually(lambda: daemon.sockets == before, "every socket closed")
    assert Response(lingering.rest()).status == 200


def test_it_opens_when_there_are_too_many_clients(start_daemon):
    daemon = start_daemon(options=["--max-sessions", "1"])
    client = daemon.client()
    assert values(daemon)[("walpool_sessions_limit",)] == 1
    assert client.value("SELECT 1") == "1"


# Over TCP


def free_port(family=socket.AF_INET, host="127.0.0.1"):
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


def over_tcp(address, data):
    with socket.create_connection(address, timeout=wire.DEADLINE) as client:
        client.sendall(data)
        received = b""
        while chunk := client.recv(65536):
            received += chunk
        return received


def test_loopback(start_daemon):
    address = "127.0.0.1", free_port()
    daemon = start_daemon(config=f'metrics_address = "127.0.0.1:{address[1]}"\n')
    hello = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    response = Response(over_tcp(address, hello))
    assert response.status == 200 and response.text.endswith("# EOF\n")
    assert Response(over_tcp(address, hello.replace(b"/metrics", b"/"))).status == 404
    # Nobody gets a session there, whatever he says, and no cancel is taken. Who speaks another protocol and waits is told at once.
    for packet in [
        wire.startup({"user": "root", "database": daemon.name}), wire.packet(wire.SSL_REQUEST), b"\x16\x03\x01" + bytes(500),
        wire.cancel_request(1, b"1234"),
    ]:
        assert Response(over_tcp(address, packet)).status == 400
    with socket.create_connection(address, timeout=wire.DEADLINE) as client:
        client.sendall(wire.query("SELECT 1"))
        client.shutdown(socket.SHUT_WR)
        assert client.recv(65536) == b""
    assert Response(over_tcp(address, b"nonsense\r\n\r\n")).status == 400
    # Started again at once.
    daemon.stop()
    daemon.start()
    assert Response(over_tcp(address, hello)).status == 200


def test_loopback_of_version_6(start_daemon):
    try:
        port = free_port(socket.AF_INET6, "::1")
    except OSError:
        pytest.skip("this machine has no IPv6")
    start_daemon(config=f'metrics_address = "[::1]:{port}"\n')
    assert Response(over_tcp(("::1", port), b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")).status == 200


def test_no_address_without_the_setting(daemon, start_daemon):
    with_the_setting = start_daemon(config=f'metrics_address = "127.0.0.1:{free_port()}"\n')
    result = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True)
    if result.returncode != 0:
        pytest.skip("there is no ss")
    # That of the one is found in this way.
    assert f"pid={with_the_setting.pid}," in result.stdout and f"pid={daemon.pid}," not in result.stdout


@pytest.mark.parametrize("address", ["0.0.0.0:9187", "192.0.2.1:9187", "[::]:9187", "localhost:9187", "127.0.0.1"])
def test_other_addresses_are_refused(start_daemon, address):
    daemon = start_daemon(config=f'metrics_address = "{address}"\n', start=False)
    result = subprocess.run(daemon.command(), capture_output=True, text=True, timeout=60)
    assert result.returncode != 0 and "metrics_address" in result.stderr and address in result.stderr


def test_an_address_that_is_taken(start_daemon):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        daemon = start_daemon(config=f'metrics_address = "127.0.0.1:{port}"\n', start=False)
        result = subprocess.run(daemon.command(), capture_output=True, text=True, timeout=60)
    assert result.returncode != 0 and f"cannot listen on 127.0.0.1:{port}" in result.stderr
    assert not daemon.socket_path.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become another user")
@pytest.mark.parametrize("rules, status", [
    ("", "403"), ("[[access]]\nuid = 65534\nrole = \"reject\"\n", "403"), ("[[access]]\nuid = 65534\nrole = \"reader\"\n", "200")])
def test_whom_a_rule_lets_in_may_look(start_daemon, rules, status):
    daemon = start_daemon(options=["--socket-mode", "0666"], config=rules + "[[access]]\nuid = 0\nrole = \"admin\"\n" if rules else "")
    result = subprocess.run(
        ["curl", "-sS", "-w", "%{http_code}", "--unix-socket", daemon.socket_path,
         "http://localhost/metrics"], capture_output=True, text=True, timeout=60, user=65534, group=65534, extra_groups=[])
    assert result.stdout[-3:] == status, result
    if status == "403":
        # It has asked for what is there, and is told what keeps it out.
        assert "access rule" in result.stdout and "/metrics" not in result.stdout, result
