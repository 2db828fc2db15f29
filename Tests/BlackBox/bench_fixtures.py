"""bench/run as a program, in a directory of its own."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from daemon import REPOSITORY, binary


def processes_naming(directory):
    """Command lines in which it is, by process."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(directory) in command:
                found[int(path.parent.name)] = command
    return found


class Bench:
    """bench/run with a directory of its own."""

    def __init__(self, tmp_path, *arguments):
        # pytest's own directory is too long for the sockets in it.
        self.directory, self.out = Path(tempfile.mkdtemp(prefix="bench-")), tmp_path / "out"
        environment = {**os.environ, "WALPOOLD": str(binary()), "WALPOOL_BENCH_DIR": str(self.directory)}
        self.process = subprocess.Popen(
            [REPOSITORY / "bench/run", "--no-plots", "--no-costs", "--out", self.out, *arguments], env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def end(self):
        """Its status, and what it said."""
        said, _ = self.process.communicate(timeout=80)
        return self.process.returncode, said

    def results(self):
        return json.loads((self.out / "results.json").read_text())

    def processes(self):
        """Command lines in which its directory is, by process: servers and load generators."""
        return processes_naming(self.directory)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.communicate(timeout=80)
        shutil.rmtree(self.directory)
