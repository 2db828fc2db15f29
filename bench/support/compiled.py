"""The C programs, and the libraries to preload, that benchmarks and tests use: compiled when they are not there or older than
their source."""

import os
import shutil
import subprocess
from pathlib import Path

from support.tools import REPOSITORY, BenchError, ensure_packages

DIRECTORY = REPOSITORY / ".build" / "compiled"


def library(source):
    """One that LD_PRELOAD names: calls that fail, hang, take longer or are refused as on another machine."""
    return compiled(f"{source.stem}.so", [source], ["-shared", "-fPIC"])


def program(*sources):
    return compiled(sources[0].stem, sources, [])


def compiled(name, sources, options):
    made = DIRECTORY / name
    newest = max(path.stat().st_mtime for path in [*sources, Path(__file__)])
    if made.exists() and made.stat().st_mtime > newest:
        return made
    ensure_packages("gcc", "libc6-dev")
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    # Several may do this at once, and each gets a whole file.
    own = DIRECTORY / f"{name}.{os.getpid()}"
    compiler = shutil.which("cc") or "/usr/bin/cc"
    command = [compiler, "-O2", "-Wall", "-Wextra", "-Werror", *options, "-o", own, *sources, "-ldl", "-lpthread"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(f"cannot compile {sources[0].name}: {done.stderr.strip()}")
    own.rename(made)
    return made
