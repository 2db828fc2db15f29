"""Clients of walpool-load whose answers come in the same moment: one system call receives them, and another sends what comes next."""

import contextlib
import json
import os
import selectors
import signal
import socket
import struct

import pytest

from daemon import halt
from load_fixtures import aimed_at  # noqa: F401 (fixture)
from wire_messages import message

CLIENTS = 20
READY = b"Z\x00\x00\x00\x05I"
# No message has this length.
INVALID = b"C\xff\xff\xff\xff"


def row(value):
    return message("D", struct.pack(">HI", 1, len(value)) + value)


COMPLETE = message("C", b"SELECT 1\x00")
DONE = COMPLETE + READY


class Server:
    """Takes the generator's connections, and answers them when the test says so."""

    def __init__(self, directory):
        self.connections = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(directory / ".s.PGSQL.5432"))
        self.listener.listen(CLIENTS)
        self.listener.settimeout(30)

    def accept(self):
        connection = self.listener.accept()[0]
        connection.settimeout(30)
        self.connections.append(connection)
        (length,) = struct.unpack(">I", self.read(connection, 4))
        assert b"walpool-load" in self.read(connection, length - 4)
        connection.sendall(message("R", bytes(4)) + READY)
        return connection

    @staticmethod
    def read(connection, count):
        pieces = []
        while count:
            pieces.append(connection.recv(count))
            assert pieces[-1], "the generator has closed a connection"
            count -= len(pieces[-1])
        return b"".join(pieces)

    def request(self, connection):
        """The SQL of a query message."""
        kind, length = struct.unpack(">cI", self.read(connection, 5))
        assert kind == b"Q"
        return self.read(connection, length - 4)[:-1].decode()

    def close(self):
        for one in [*self.connections, self.listener]:
            one.close()


@pytest.fixture
def server(tmp_path):
    with contextlib.closing(Server(tmp_path)) as one:
        yield one


@pytest.fixture
def start(server, aimed_at, tmp_path):
    """A run of clients on one thread, with their first requests on their way."""

    def start(sql, **keys):
        load = aimed_at("--host", tmp_path, "--database", "any")
        lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        workload = load.write(f"""
            [[class]]
            name = "clients"
            clients = {CLIENTS}
            {lines}
            [[class.transaction]]
            statements = [ {{ sql = {json.dumps(sql)} }} ]
            """)
        options = ["--threads", 1, "--protocol", "simple", "--seconds", 600, "--warm-up", 0]
        process = load.start(workload, *options)
        return process, [server.accept() for _ in range(CLIENTS)]

    return start


def answer_together(process, answers):
    """All of them are there before the generator can look for one."""
    halt(process.pid)
    for connection, answer in answers:
        connection.sendall(answer)
    os.kill(process.pid, signal.SIGCONT)


def end(process, server, clients, sql, answer=row(b"1") + DONE):
    """What the run has counted, and how many answers it got in its last moments."""
    # With its next request a client has counted the last one.
    for client in clients:
        assert client.recv(1, socket.MSG_PEEK) == b"Q"
    process.send_signal(signal.SIGINT)
    answered = 0
    with selectors.DefaultSelector() as selector:
        for one in [server.listener, *clients]:
            selector.register(one, selectors.EVENT_READ)
        while process.poll() is None:
            for key, _ in selector.select(timeout=0.1):
                if key.fileobj is server.listener:
                    selector.register(server.accept(), selectors.EVENT_READ)
                elif key.fileobj.recv(1, socket.MSG_PEEK) in (b"", b"X"):
                    selector.unregister(key.fileobj)
                elif server.request(key.fileobj) == sql:
                    key.fileobj.sendall(answer)
                    answered += 1
    output, errors = process.communicate(timeout=60)
    return json.loads(output)["classes"][0], answered, errors


def counted(one):
    return one["transactions"] + one["late_transactions"]


@pytest.mark.parametrize("length", [10, 1_000_000], ids=["short", "longer than a socket takes"])
def test_requests(server, start, length):
    """Each client sends its own, and all of it, however much of it the socket takes at first."""
    sql = "SELECT '" + "x" * length + "'"
    process, clients = start(sql)
    for _ in range(5):
        assert [server.request(client) for client in clients] == [sql] * CLIENTS
        answer_together(process, [(client, row(b"1") + DONE) for client in clients])
    one, last, errors = end(process, server, clients, sql)
    assert (counted(one), one["errors"]) == (5 * CLIENTS + last, 0), errors


def test_answers_in_pieces(server, start):
    """A row that is longer than what is received together; one that is cut, and a message that is cut in its first bytes."""
    process, clients = start("SELECT 1")
    answers = [row(bytes(size)) + row(b"2") + DONE for size in (1, 16_000, 16_384, 40_000, 600_000)]
    cuts = [3, 8, 16_384, 16_389, 16_410]
    for cut in cuts:
        requests = [server.request(client) for client in clients]
        assert requests == ["SELECT 1"] * CLIENTS
        # The longest of them fit into no socket, so the generator may have to read while they are sent.
        answered = [(client, answers[index % len(answers)]) for index, client in enumerate(clients)]
        answer_together(process, [(client, answer[:cut]) for client, answer in answered])
        for client, answer in answered:
            client.sendall(answer[cut:])
    one, last, errors = end(process, server, clients, "SELECT 1")
    assert (counted(one), one["errors"]) == (len(cuts) * CLIENTS + last, 0), errors
    # Rows of late transactions are in no figure.
    assert one["rows"] == 2 * len(cuts) * CLIENTS + one["transactions"] - len(cuts) * CLIENTS


def test_a_connection_that_breaks_behind_its_answer(server, start):
    """Its next request is on its way with those of the others; it is lost, and they go on."""
    process, clients = start("SELECT 1")
    assert [server.request(client) for client in clients] == ["SELECT 1"] * CLIENTS
    broken = clients[::3]
    rest = [client for client in clients if client not in broken]
    answer = row(b"1") + DONE
    answer_together(process, [(client, answer + (INVALID if client in broken else b"")) for client in clients])
    for client in broken:
        assert server.request(client) == "SELECT 1"
        assert client.recv(1) == b""
    one, last, errors = end(process, server, rest, "SELECT 1")
    assert (counted(one), one["errors"]) == (CLIENTS + last, len(broken)), errors
    assert one["error_states"] == {"08006": len(broken)}


def test_clients_that_connect_again(server, start):
    """The numbers of the connections that have ended are those of the next ones: nothing of the one gets into the other."""
    process, clients = start("SELECT 1", connect="each")
    for _ in range(3):
        assert [server.request(client) for client in clients] == ["SELECT 1"] * CLIENTS
        answer_together(process, [(client, row(b"1") + DONE) for client in clients])
        clients = [server.accept() for _ in clients]
    one, last, errors = end(process, server, clients, "SELECT 1")
    assert (counted(one), one["errors"]) == (3 * CLIENTS + last, 0), errors


@pytest.mark.parametrize("answer, successes", [
    (READY, 0), (row(b"1") + READY, 0), (COMPLETE + DONE, 0), (DONE + READY, CLIENTS), (DONE + DONE, CLIENTS),
], ids=["nothing completed", "only a row", "too much completed", "ready twice", "answered twice"])
def test_what_is_no_answer(server, start, answer, successes):
    """Nothing of a connection is counted from then on: a server that answers too early would be fast."""
    process, clients = start("SELECT 1")
    assert [server.request(client) for client in clients] == ["SELECT 1"] * CLIENTS
    answer_together(process, [(client, answer) for client in clients])
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and "no client has a connection any longer" in errors
    one = json.loads(output)["classes"][0]
    assert (one["transactions"], one["error_states"]) == (successes, {"08P01": CLIENTS})


@pytest.mark.parametrize("status", [b"T", b"E"])
def test_a_transaction_that_is_left_open(server, start, status):
    """It is rolled back, so that the next one finds none."""
    process, clients = start("SELECT 1")
    assert [server.request(client) for client in clients] == ["SELECT 1"] * CLIENTS
    answer_together(process, [(client, COMPLETE + READY[:-1] + status) for client in clients])
    assert [server.request(client) for client in clients] == ["ROLLBACK"] * CLIENTS
    answer_together(process, [(client, message("C", b"ROLLBACK\x00") + READY) for client in clients])
    one, last, errors = end(process, server, clients, "SELECT 1")
    assert (counted(one), one["error_states"]) == (last, {"25001": CLIENTS}), errors


@pytest.mark.parametrize("sql, answer", [("SELECT 1; SELECT 2", COMPLETE + DONE), ("-- nothing", message("I", b"") + READY)])
def test_other_answers(server, start, sql, answer):
    """SQL of a workload may be several statements, or none."""
    process, clients = start(sql)
    for _ in range(3):
        assert [server.request(client) for client in clients] == [sql] * CLIENTS
        answer_together(process, [(client, answer) for client in clients])
    # What comes at the end is answered in the same way.
    one, last, errors = end(process, server, clients, sql, answer)
    assert (counted(one), one["errors"]) == (3 * CLIENTS + last, 0), errors
