#!/usr/bin/env python3
"""What a benchmark that is killed (kill -9, or by the kernel for its memory) would leave behind: servers that go on running, beside which
the next one would measure, and their data.

Its directory is locked for as long as it lives, and the kernel lets go of the lock when it dies, however it does. Somebody waits for that:
a process with nothing else to do, which then ends what works in the directory, and removes it.

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


@contextlib.contextmanager
def watched(base):
    """A new directory below `base`, and somebody who clears it if this process does not live to do so."""
    new = Path(tempfile.mkdtemp(prefix=BEFORE, dir=base))
    with lock(new):
        directory = new.with_name(NAME + new.name.removeprefix(BEFORE))
        new.rename(directory)
        watcher = subprocess.Popen([sys.executable, "-B", __file__, directory], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            yield directory
        finally:
            watcher.kill()
            watcher.wait()
            with contextlib.suppress(OSError):
                directory.rmdir()


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
    """Ends what works in it. Its name is like no other, so whoever has it in a command line, or is in there, is meant."""
    deadline = time.monotonic() + ENDING_SECONDS
    while (left := processes(directory)) and time.monotonic() < deadline:
        for process in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.05)
    shutil.rmtree(directory, ignore_errors=True)


def processes(directory):
    """Those that have ended and that nobody has waited for have neither."""
    return [int(name) for name in os.listdir("/proc") if name.isdecimal() and int(name) != os.getpid() and _works_in(name, directory)]


def _works_in(process, directory):
    inside = os.fsencode(directory) + b"/"
    with contextlib.suppress(OSError):
        arguments = Path("/proc", process, "cmdline").read_bytes().split(b"\0")
        if any(inside in argument for argument in arguments):
            return True
    with contextlib.suppress(OSError):
        return (os.fsencode(os.readlink(f"/proc/{process}/cwd")) + b"/").startswith(inside)
    return False


def _main(directory):
    # Ctrl-C and a terminal that is closed are for the one that is waited for.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(FileNotFoundError), lock(directory):
        clear(Path(directory))


if __name__ == "__main__":
    _main(sys.argv[1])
