"""The programs that a comparison needs, built where they are missing or older than their sources."""

import os
import shutil
import subprocess
from pathlib import Path

from support.others import LIMITS
from support.servers import walpoold_path
from support.systems import PACKAGES
from support.tools import BENCH, BenchError, REPOSITORY, end, ensure_packages, say

RELEASE = REPOSITORY / ".build/release"
SOURCES = [REPOSITORY / "Sources", REPOSITORY / "Package.swift"]
GRDB = BENCH / "grdb"


class Programs:
    """Where they are. `directory` is for what is compiled anew for each run."""

    def __init__(self, directory, systems):
        self.directory, self.systems = directory, set(systems)
        self.load = Path(os.environ.get("WALPOOL_LOAD") or RELEASE / "walpool-load").resolve()
        self.grdb = Path(os.environ.get("WALPOOL_GRDB") or GRDB / ".build/release/walpool-grdb").resolve()
        self.canned = directory / "canned"

    def install(self, packages):
        needed = {package for system in self.systems for package in PACKAGES.get(system, ())}
        ensure_packages(*sorted(needed | set(packages)))

    def build(self):
        if "WALPOOLD" not in os.environ and stale(RELEASE / "walpoold", SOURCES):
            make("build")
        if "WALPOOL_LOAD" not in os.environ and stale(self.load, SOURCES):
            make("load")
        if "grdb" in self.systems and "WALPOOL_GRDB" not in os.environ and stale(self.grdb, [GRDB, *SOURCES]):
            make("grdb")
        if "canned" in self.systems:
            compile_c(self.canned, [LIMITS / "canned.c", LIMITS / "canned_answers.c"], "-pthread")
        for program in (walpoold_path(), self.load):
            if not os.access(program, os.X_OK):
                raise BenchError(f"no program {program}")

    def slow_disk(self, delay_us):
        """The environment in which every sync takes so much longer."""
        library = self.directory / "syncdelay.so"
        if not library.exists():
            compile_c(library, [LIMITS / "syncdelay.c"], "-shared", "-fPIC", "-ldl")
        return {"LD_PRELOAD": str(library), "WALPOOL_SYNC_DELAY_US": str(delay_us)}


def stale(program, sources):
    """Whether a source is newer, or the program is not there. Names that begin with a dot are build folders."""
    if not program.exists():
        return True
    built = program.stat().st_mtime
    return any(path.stat().st_mtime > built for source in sources for path in files(source))


def files(source):
    if source.is_file():
        return [source]
    return [path for path in source.rglob("*")
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(source).parts)]


def make(target):
    """An interrupt ends the compilers, too."""
    say(f"make {target}")
    process = subprocess.Popen(["make", "-C", REPOSITORY, target], text=True, errors="replace", stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        said, _ = process.communicate()
    finally:
        end(process)
    if process.returncode != 0:
        raise BenchError(f"make {target} failed:\n" + "\n".join(said.splitlines()[-20:]))


def compile_c(program, sources, *options):
    compiler = shutil.which("cc") or "/usr/bin/cc"
    libraries = [option for option in options if option.startswith("-l")]
    options = [option for option in options if option not in libraries]
    command = [compiler, "-O2", "-Wall", *options, "-o", program, *sources, *libraries]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(f"cannot compile {sources[0].name}: {done.stderr.strip()}")
