"""Whole requests: a walpoold under callgrind, and a client that sends one and waits for its answer, again and again. What
counts is the handling of the event, on whichever thread; neither the client and the kernel nor what the daemon does by
time (under valgrind everything takes fifty times as long)."""

import os
import pwd
import struct
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pgwire
from support import callgrind
from support.tools import BenchError

# Server.handle(Poller.Event, Worker), and Worker.runResumptions(), where a worker runs what was granted meanwhile.
HANDLING = ("$s6ServerAAC6handle*", "$s6Server6WorkerC14runResumptions*")

SCHEMA = """CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price INTEGER NOT NULL);
    CREATE TABLE log (id INTEGER PRIMARY KEY, value INTEGER);
    INSERT INTO item SELECT value, 'item ' || value, value * 7 FROM generate_series(1, 1000);"""
ROWS = 1000
# The client lets the daemon's thread let go of the session before it sends the next request: what comes earlier is announced
# once more, which costs some 400 instructions, and how often that happens depends on the machine's load.
PAUSE_SECONDS = 0.0005
# Even so it happens now and then, and only ever adds: the run with the fewest instructions is taken.
REPETITIONS = 2


@dataclass(frozen=True)
class Request:
    name: str
    what: str
    operations: int
    sql: str
    # How many of its parameters; each is a row's number.
    parameters: int = 0
    simple: bool = False


ALL = (
    Request("request-select", "a point SELECT, prepared: Bind, Execute, Sync", 2000,
            "SELECT price FROM item WHERE id = $1", parameters=1),
    Request("request-select-simple", "a point SELECT as a simple query", 2000, "SELECT price FROM item WHERE id = 500",
            simple=True),
    Request("request-select-100", "100 rows of 3 columns, prepared", 500,
            "SELECT id, name, price FROM item WHERE id > $1 ORDER BY id LIMIT 100", parameters=1),
    Request("request-insert", "a durable INSERT of a single client, prepared", 1500,
            "INSERT INTO log (value) VALUES ($1)", parameters=1),
)


def measure(request, walpoold, base):
    """Instructions by function for one request."""
    once, twice = (min((_run(request, walpoold, base, operations) for _ in range(REPETITIONS)), key=lambda each: sum(each.values()))
                   for operations in (request.operations, 2 * request.operations))
    functions = callgrind.per_operation(once, twice, request.operations)
    if sum(functions.values()) < 1000:
        raise BenchError(f"{request.name}: next to nothing was counted: is the event still handled in {HANDLING[0]}?")
    return functions


def _run(request, walpoold, base, operations):
    with tempfile.TemporaryDirectory(prefix="m-", dir=base) as directory:
        directory = Path(directory)
        output = directory / "callgrind.out"
        command = [walpoold, directory / "micro.db", "--socket-directory", directory]
        with open(directory / "log", "wb") as log:
            with callgrind.running(command, output, HANDLING, stdout=log, stderr=log) as process:
                connection = _connected(directory, process)
                with connection:
                    _send(connection, request, operations)
        if process.returncode != 0:
            raise BenchError(f"walpoold under valgrind: {process.returncode}, {(directory / 'log').read_text()[-500:]}")
        return callgrind.by_function(output)


def _connected(directory, process, seconds=60):
    user, deadline = pwd.getpwuid(os.geteuid()).pw_name, time.monotonic() + seconds
    while True:
        try:
            return pgwire.Connection(directory, 5432, user, "micro")
        except pgwire.ConnectionLost as error:
            if process.poll() is not None or time.monotonic() > deadline:
                raise BenchError(f"walpoold does not answer: {error}, {(directory / 'log').read_text()[-500:]}") from error
            time.sleep(0.01)


def _send(connection, request, operations):
    connection.query(SCHEMA)
    if request.simple:
        for _ in range(operations):
            connection.query(request.sql)
            time.sleep(PAUSE_SECONDS)
        return
    parse = b"r\0" + request.sql.encode() + b"\0" + struct.pack("!h", 0)
    connection.exchange([(b"P", parse), (b"S", b"")])
    for number in range(operations):
        value = str(number % ROWS).encode()
        bind = b"\0r\0" + struct.pack("!hh", 0, request.parameters)
        bind += (struct.pack("!i", len(value)) + value) * request.parameters + struct.pack("!h", 0)
        connection.exchange([(b"B", bind), (b"E", b"\0" + struct.pack("!i", 0)), (b"S", b"")])
        time.sleep(PAUSE_SECONDS)
