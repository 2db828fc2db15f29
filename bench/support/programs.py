"""The programs that a comparison needs, built where they are missing or older than their sources."""

import contextlib
import os
import re
import subprocess
from pathlib import Path

from support import leftovers, machine
from support.limits import canned
from support.servers import walpoold_path
from support.systems import PACKAGES
from support.tools import BENCH, BenchError, REPOSITORY, end, ensure_packages, say, start, to_its_end

RELEASE = REPOSITORY / ".build/release"
SOURCES = REPOSITORY / "Sources"
# What only the programs of this benchmark are made of; a change of the daemon does not make them old.
LOAD = {"walpool-load", "Workload", "walpool-micro"}
LOAD_SOURCES = [SOURCES / name for name in ("walpool-load", "Workload", "PostgresWire", "CLinux", "CSQLite")]
GRDB = BENCH / "grdb"


class Programs:
    """Where they are, and what makes them. Those in C are compiled where they are needed (compiled.py)."""

    def __init__(self, systems, old=None):
        self.systems, self.old = set(systems), old
        self.load = Path(os.environ.get("WALPOOL_LOAD") or RELEASE / "walpool-load").resolve()
        self.grdb = grdb_path()

    def install(self, packages):
        needed = {package for system in self.systems for package in PACKAGES.get(system, ())}
        ensure_packages(*sorted(needed | set(packages)))

    def build(self):
        daemon = [path for path in SOURCES.iterdir() if path.name not in LOAD]
        if "WALPOOLD" not in os.environ and stale(RELEASE / "walpoold", daemon):
            make("build")
        if "WALPOOL_LOAD" not in os.environ and stale(self.load, LOAD_SOURCES):
            make("load")
        if "grdb" in self.systems and "WALPOOL_GRDB" not in os.environ and stale(self.grdb, [GRDB, SOURCES / "Workload"]):
            make("grdb")
        for program in (walpoold_path(), self.load):
            if not os.access(program, os.X_OK):
                raise BenchError(f"no program {program}")

    def described(self):
        """Name -> which file it is, of those that are used."""
        used = {"walpoold": walpoold_path(), "walpool-load": self.load} | ({"old walpoold": self.old} if self.old else {})
        if "grdb" in self.systems:
            used["grdb-load"] = self.grdb
        if "canned" in self.systems:
            # A goal is about it, and it is made of the daemon's own transport: which one that was is part of the figure. One that cannot
            # be compiled has none, and its runs say so.
            with contextlib.suppress(BenchError):
                used["canned"] = canned()
        return {name: machine.program(path) for name, path in used.items()}

    def grdb_version(self):
        found = re.search(r'GRDB.swift", exact: "([^"]+)"', (GRDB / "Package.swift").read_text())
        return found[1] if found else "?"


def grdb_path():
    return Path(os.environ.get("WALPOOL_GRDB") or GRDB / ".build-grdb/release/grdb-load").resolve()


def stale(program, sources):
    """Whether a source is newer, or the program is not there. Names that begin with a dot are build folders."""
    if not program.exists():
        return True
    built = program.stat().st_mtime
    return any(path.stat().st_mtime > built for source in sources for path in files(source))


def files(source):
    return [path for path in source.rglob("*")
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(source).parts)]


def install_for_building():
    """By itself, so that a make which is killed with us has nothing left to install: half a package is the machine's trouble. What it says
    goes where ours does; it would die of a pipe to us."""
    done = to_its_end(["make", "-C", REPOSITORY, "deps"], env=leftovers.unmarked(), stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise BenchError("make deps failed")


def make(target):
    """An interrupt ends the compilers, too."""
    install_for_building()
    say(f"make {target}")
    process = start(["make", "-C", REPOSITORY, target], text=True, errors="replace", stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT)
    try:
        said, _ = process.communicate()
    finally:
        end(process)
    if process.returncode != 0:
        raise BenchError(f"make {target} failed:\n" + "\n".join(said.splitlines()[-20:]))
