"""System calls for each statement, counted by strace in a run of its own: it makes everything several times as slow."""

import re
import signal
import subprocess
from dataclasses import replace

from support import generator
from support.tools import start, uninterrupted

STRACE = "/usr/bin/strace"
# A line of the table of `strace -c`: % time, seconds, usecs/call, calls, errors (may be blank), name.
LINE = re.compile(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)(?:\s+\d+)?\s+(\w+)$")


def measure(system, cell, programs, directory, seconds):
    """A COST of the record. From before the first connection to after the last one, so a few calls are not statements'."""
    table = directory / "strace.txt"
    cell = replace(cell, seconds=seconds, repeats=1)
    with traced(system.server, table):
        told = generator.run(system, cell, programs, 1, directory, more=["--warm-up", 0])
    calls = counted(table.read_text())
    statements = sum(each["statements"] for each in told["classes"])
    if not statements:
        raise generator.Failed("no statement under strace")
    return {"workload": cell.workload, "clients": cell.clients, "system": system.name, "statements": statements,
            "syscalls_per_statement": sum(calls.values()) / statements,
            "calls": {name: count / statements for name, count in calls.items() if count / statements >= 0.005}}


class traced:
    """strace, attached to a server, its threads, and the children it will have."""

    def __init__(self, server, table):
        self._server, self._table = server, table

    def __enter__(self):
        self._table.unlink(missing_ok=True)
        self._process = start([STRACE, "-f", "-c", "-o", self._table, "-p", self._server.process.pid], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
        try:
            if "attached" not in (said := self._process.stderr.readline()):
                raise generator.Failed(f"strace: {said.strip() or 'nothing said'}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        """It writes its table when it is interrupted."""
        with uninterrupted():
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process.stderr.close()


def counted(table):
    """name -> calls."""
    return {name: int(calls) for calls, name in (found.groups() for found in map(LINE.match, table.splitlines()) if found)
            if name != "total"}
