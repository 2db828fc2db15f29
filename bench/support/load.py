"""Runs pgbench and reads what it says."""

import contextlib
import os
import re
import resource
import subprocess
import time
from dataclasses import dataclass, field

from support.tools import BENCH, PGBENCH, start, uninterrupted

FIGURES = {
    "transactions": r"number of transactions actually processed: (\d+)",
    "failed": r"number of failed transactions: (\d+)",
    "latency_ms": r"latency average = ([\d.]+) ms",
    "tps": r"tps = ([\d.]+) \(without initial connection time\)",
}


@dataclass
class Outcome:
    """What one pgbench did. `errors` holds everything that should not have happened."""

    transactions: int = 0
    failed: int = 0
    tps: float = 0.0
    latency_ms: float = 0.0
    worst_ms: float = 0.0
    answered: dict = field(default_factory=dict)    # client -> transactions, if every one was logged
    errors: list = field(default_factory=list)


class Pgbench:
    """One pgbench process against a server."""

    def __init__(self, server, workload, clients, seconds, directory, scale, mode="prepared", threads=None,
                 vacuum=False, log_each=False):
        self.seconds = seconds
        self.threads = threads = threads or min(clients, os.cpu_count())
        self._prefix = directory / f"{workload}-{time.monotonic_ns()}"
        self._output = open(f"{self._prefix}.out", "w+")
        self._log_each = log_each
        log = ["--log", f"--log-prefix={self._prefix}"]
        if not log_each:
            # One line of totals per second and thread: the only way pgbench tells the longest wait, and cheap.
            log.append("--aggregate-interval=1")
        command = [PGBENCH, "-h", server.directory, "-p", server.port, "-U", server.user,
                   "-M", mode, "-c", clients, "-j", threads, "-T", seconds, "-D", f"scale={scale}",
                   "-f", BENCH / "workloads" / f"{workload}.sql", *log, server.database]
        if not vacuum:
            command.insert(1, "-n")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        self.process = start(command, stdout=self._output, stderr=subprocess.STDOUT, env=environment)

    def wait(self):
        """Waits for its end, with patience of a minute past its time."""
        errors = []
        try:
            self.process.wait(self.seconds + 60)
        except subprocess.TimeoutExpired:
            errors.append("pgbench hangs")
        self.kill()
        self._output.seek(0)
        text = self._output.read()
        self._output.close()

        outcome = Outcome(errors=errors)
        for name, pattern in FIGURES.items():
            if found := re.search(pattern, text):
                setattr(outcome, name, type(getattr(outcome, name))(found[1]))
        self._read_log(outcome)
        complaints = [line for line in text.splitlines() if re.search(r"error:|fatal:|ERROR:|FATAL:", line)]
        errors += complaints[:5]
        if len(complaints) > 5:
            errors.append(f"and {len(complaints) - 5} more")
        if self.process.returncode != 0 and not errors:
            errors.append(f"pgbench ended with status {self.process.returncode}: {text.strip()[-200:]}")
        if outcome.failed:
            errors.append(f"{outcome.failed} failed transactions")
        return outcome

    def kill(self):
        """Ends it, if it still runs."""
        with uninterrupted():
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()

    def _read_log(self, outcome):
        """A killed pgbench may die without its summary, but what it logged is kept."""
        worst = 0
        for path in self._prefix.parent.glob(f"{self._prefix.name}.*"):
            if path.suffix == ".out":
                continue
            for line in path.read_text().splitlines():
                words = line.split()
                if len(words) < 6:
                    continue        # the last line of a pgbench that was killed
                if self._log_each:
                    client = int(words[0])
                    outcome.answered[client] = outcome.answered.get(client, 0) + 1
                worst = max(worst, int(words[2 if self._log_each else 5]))
            path.unlink()
        outcome.worst_ms = worst / 1000


@contextlib.contextmanager
def together(*runs):
    """Several pgbench at once; none survives the block."""
    try:
        yield runs
    finally:
        for run in runs:
            run.kill()


def children_cpu_seconds():
    """CPU time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

