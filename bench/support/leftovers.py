#!/usr/bin/env python3
"""What a benchmark that is killed (kill -9, or by the kernel for its memory) would leave behind: servers that go on running, beside which
the next one would measure, and their data.

Its directory is locked for as long as it lives, and the kernel lets go of the lock when it dies, however it does. Somebody waits for that:
a process with nothing else to do, which then ends what the benchmark has started, and removes the directory. What it has started has the
directory in its environment: a shell or a tail -f of somebody who looks at it has it in its command line, or is in there, too. Only where
nobody may see the environment the command line counts.

    bench/support/leftovers.py DIRECTORY        waits, and clears"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Until a directory is locked it has another name, so that nobody takes it for one that was left behind. (Older versions lock none of
# theirs, which are called run-.)
NAME, BEFORE = "job-", "new-"
ENDING_SECONDS = 30
# In the environment of whatever a benchmark starts: its directory.
VARIABLE = "WALPOOL_BENCH_JOB"


@contextlib.contextmanager
def watched(base):
    """A new directory below `base`, and somebody who clears it if this process does not live to do so."""
    new = Path(tempfile.mkdtemp(prefix=BEFORE, dir=base))
    with lock(new):
        directory = new.with_name(NAME + new.name.removeprefix(BEFORE))
        new.rename(directory)
        watcher = subprocess.Popen([sys.executable, "-B", __file__, directory], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, start_new_session=True, env=unmarked())
        try:
            with marked(directory):
                yield directory
        finally:
            watcher.kill()
            watcher.wait()
            with contextlib.suppress(OSError):
                directory.rmdir()


@contextlib.contextmanager
def marked(directory):
    """Whatever this process starts meanwhile is the directory's. One that is given an environment of its own needs mark() in it."""
    before = mark()
    os.environ[VARIABLE] = os.fspath(directory)
    try:
        yield
    finally:
        del os.environ[VARIABLE]
        os.environ.update(before)


def mark():
    return {name: value for name, value in os.environ.items() if name == VARIABLE}


def unmarked():
    """The environment of what is to outlive this process."""
    return {name: value for name, value in os.environ.items() if name != VARIABLE}


def found(base):
    """Directories whose processes have lost their parent, and nobody who waited for it."""
    return [path for path in sorted(base.glob(f"{NAME}*")) if path.is_dir() and is_deserted(path)]


def is_deserted(directory):
    try:
        with lock(directory, fcntl.LOCK_NB):
            return True
    except OSError:
        return False


@contextlib.contextmanager
def lock(directory, more=0):
    """Waits for it, unless LOCK_NB says otherwise. No other program inherits it."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | more)
        yield
    finally:
        os.close(handle)


def clear(directory):
    """Ends what was started for it."""
    deadline = time.monotonic() + ENDING_SECONDS
    # Once its parent is gone nobody can tell any more whose a child without the mark is. And one that is just becoming another program
    # has no mark for a moment: that nobody is left is seen twice.
    known, unseen = {}, 0
    while unseen < 2 and time.monotonic() < deadline:
        known = processes(directory, known)
        unseen = 0 if known else unseen + 1
        # The oldest first: a parent that hears of a child's end may start another.
        for process in sorted(known, key=lambda process: (known[process], process)):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.05)
    shutil.rmtree(directory, ignore_errors=True)


def processes(directory, known=()):
    """Those that have the mark, what they have started themselves, and what of the known ones is left: process -> when it began.
    PostgreSQL's have only their parent: they write their titles over their environment."""
    running = {process: stat for name in filter(str.isdigit, os.listdir("/proc")) if (stat := _stat(process := int(name)))}
    meant = {process for process, (_, began) in running.items()
             if process in known and known[process] == began or _is_marked(process, directory)}
    while more := {process for process, (parent, _) in running.items() if parent in meant} - meant:
        meant |= more
    return {process: running[process][1] for process in meant - {os.getpid()}}


def _stat(process):
    """Parent and beginning, of one that has not ended: proc(5). The name before the last parenthesis may hold anything."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return (int(fields[1]), int(fields[19])) if fields[0] not in "ZX" else None
    return None


def _is_marked(process, directory):
    try:
        return os.fsencode(f"{VARIABLE}={directory}") in _words(process, "environ")
    except PermissionError:
        return _works_in(process, directory)
    except OSError:
        return False


def _works_in(process, directory):
    """Of another user's, whose environment even root may not see in most containers: whether it names what is its user's in there, as
    PostgreSQL and PgBouncer do. Who looks at a log from outside names what is not."""
    with contextlib.suppress(OSError):
        user = os.stat(f"/proc/{process}").st_uid
        return any(user in _owners(Path(os.fsdecode(word)), directory) for word in _words(process, "cmdline"))
    return False


def _owners(path, directory):
    """Of it and of what it is in, in the directory."""
    for each in (path, *path.parents):
        if directory in each.parents:
            with contextlib.suppress(OSError):
                yield each.stat().st_uid


def _words(process, file):
    return Path(f"/proc/{process}/{file}").read_bytes().split(b"\0")


def _main(directory):
    # Ctrl-C and a terminal that is closed are for the one that is waited for.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(FileNotFoundError), lock(directory):
        clear(Path(directory))


if __name__ == "__main__":
    _main(sys.argv[1])
