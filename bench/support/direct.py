"""Direct access: many processes, one SQLite file, no daemon."""

import json
import shutil
import subprocess

from support.load import Outcome
from support.tools import BENCH, BenchError


class Direct:
    """Has the name and the ends of a server, so that the matrix can treat it as one."""

    name = "direct"

    def __init__(self, directory, database_path):
        self.database_path = database_path
        self.program = directory / "direct_insert"
        self.version = "?"
        compiler = shutil.which("cc") or "/usr/bin/cc"
        done = subprocess.run([compiler, "-O2", "-Wall", "-o", self.program, BENCH / "direct/direct_insert.c",
                               "-lsqlite3"], capture_output=True, text=True)
        if done.returncode != 0:
            raise BenchError(f"cannot compile direct_insert.c: {done.stderr.strip()}")

    def insert(self, processes, seconds):
        """Returns the outcome, and the rows of each process. SQLITE_BUSY is what this is here to show: it is
        counted as a failed transaction and does not fail the benchmark."""
        command = [str(part) for part in (self.program, self.database_path, processes, seconds)]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, start_new_session=True) as process:
            try:
                stdout, stderr = process.communicate(timeout=seconds + 60)
            except BaseException:
                process.kill()      # its children are told by the kernel
                raise
        if process.returncode != 0:
            return Outcome(errors=[stderr.strip() or f"status {process.returncode}"]), [0] * processes
        told = json.loads(stdout)
        self.version = told["sqlite"]
        outcome = Outcome(
            transactions=told["rows"] + told["late"], failed=told["busy"], tps=told["rows"] / told["seconds"],
            latency_ms=told["latency_ms"], worst_ms=told["worst_ms"])
        if told["failed"]:
            outcome.errors.append(f"{told['failed']} errors other than SQLITE_BUSY: {stderr.strip()}")
        return outcome, told["per_process"]

    def settings(self):
        return {"sqlite": self.version, "journal_mode": "wal", "synchronous": "full", "busy_timeout": 5000}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass
