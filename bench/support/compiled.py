"""The C programs, and the libraries to preload, that benchmarks and tests use: compiled when they are not there, or older than
anything that they were made of. That is what the compiler has read, headers too: it writes it down (-MMD)."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from support import leftovers
from support.tools import REPOSITORY, BenchError, ensure_packages

DIRECTORY = REPOSITORY / ".build" / "compiled"
# What is behind the program's name in that of the list of what it was made of.
LIST = ".sources"


def library(source):
    """One that LD_PRELOAD names: calls that fail, hang, take longer or are refused as on another machine."""
    return compiled(f"{source.stem}.so", [source], ["-shared", "-fPIC"])


def program(*sources):
    return compiled(sources[0].stem, sources, [])


def compiled(name, sources, options):
    made = DIRECTORY / name
    if is_stale(made, sources):
        ensure_packages("gcc", "libc6-dev")
        try:
            _make_alone(made, sources, options)
        except OSError as error:
            raise BenchError(f"cannot compile {name}: {error}") from error
    return made


def _make_alone(made, sources, options):
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    # Several may want it at once: the others wait, and find it made.
    with leftovers.lock(DIRECTORY):
        if is_stale(made, sources):
            _make(made, [Path(source).resolve() for source in sources], options)


def is_stale(made, sources):
    """Also where a file that it was made of is gone, or nobody knows which those were."""
    try:
        newest = max(path.stat().st_mtime_ns for path in [*sources, *made_of(made), Path(__file__)])
        return made.stat().st_mtime_ns <= newest
    except (OSError, ValueError):
        return True


def made_of(made):
    """Sources and headers, but for the system's."""
    return [Path(path) for path in json.loads(made.with_name(made.name + LIST).read_text())]


def _make(made, sources, options):
    """Program and list each take the place of the last as a whole; the list first, so that it is never older than the program. Whoever
    still runs the last program goes on with it."""
    began = time.time_ns()
    with tempfile.TemporaryDirectory(prefix=f"{made.name}.", dir=DIRECTORY) as directory:
        objects = [Path(directory, f"{number}.o") for number in range(len(sources))]
        for source, compiled_one in zip(sources, objects):
            _compile(source, compiled_one, options)
        new, listed = Path(directory, "program"), Path(directory, "list")
        _run(sources[0], [*options, "-o", new, *objects, "-ldl", "-lpthread"])
        read = sorted({path for compiled_one in objects for path in _read(compiled_one.with_suffix(".d"))})
        listed.write_text(json.dumps(read))
        # What is written while it is compiled is newer than what comes of it.
        os.utime(new, ns=(began, began))
        listed.rename(made.with_name(made.name + LIST))
        new.rename(made)


def _compile(source, made, options):
    """One source at a time: of several, the compiler would leave the list of the last."""
    warnings = ["-Wall", "-Wextra", "-Werror"]
    _run(source, ["-O2", *warnings, *options, "-MMD", "-MF", made.with_suffix(".d"), "-c", "-o", made, source])


def _run(source, arguments):
    done = subprocess.run([shutil.which("cc") or "/usr/bin/cc", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(f"cannot compile {source.name}: {done.stderr.strip()}")


def _read(rule):
    """The files behind the colon of a makefile's rule, in which blanks and # have a backslash before them, and $ has another $."""
    _, _, files = rule.read_text().replace("\\\n", " ").partition(": ")
    names = re.findall(r"(?:\\.|\S)+", files)
    return [os.path.realpath(re.sub(r"\\(.)", r"\1", name).replace("$$", "$")) for name in names]
