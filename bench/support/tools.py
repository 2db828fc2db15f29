"""Packages, temporary directories and signals."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from support import leftovers

BENCH = Path(__file__).resolve().parent.parent
REPOSITORY = BENCH.parent
POSTGRES_BIN = Path("/usr/lib/postgresql/15/bin")
PGBENCH = POSTGRES_BIN / "pgbench"

# How long processes that were killed are waited for.
ENDING_SECONDS = 30

# A file that proves a Debian package is there.
PACKAGES = {
    "postgresql-15": POSTGRES_BIN / "pgbench",
    "gcc": Path("/usr/bin/cc"),
    "libc6-dev": Path("/usr/include/stdio.h"),
    "valgrind": Path("/usr/bin/valgrind"),
    "binutils": Path("/usr/bin/strip"),
    "libsqlite3-dev": Path("/usr/include/sqlite3.h"),
    "make": Path("/usr/bin/make"),
    "pgbouncer": Path("/usr/sbin/pgbouncer"),
    "python3-matplotlib": Path("/usr/lib/python3/dist-packages/matplotlib/__init__.py"),
    "sqlite3": Path("/usr/bin/sqlite3"),
    "strace": Path("/usr/bin/strace"),
}


class BenchError(Exception):
    """Something the user should read as one line, without a traceback."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def ensure_packages(*names):
    """Installs those Debian packages that are missing."""
    missing = [name for name in names if not PACKAGES[name].exists()]
    if not missing:
        return
    try:
        # Whoever kills us is left with whole packages.
        to_its_end([BENCH / "support" / "install", *missing], env=leftovers.unmarked()).check_returncode()
    except (OSError, subprocess.CalledProcessError) as error:
        raise BenchError(f"cannot install {' '.join(missing)}: {error}") from error


def file_system(path):
    """The type and source of the file system that holds `path`."""
    path, best = str(Path(path).resolve()), ("", "?", "?")
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, right = line.split(" - ", 1)
        mount = left.split()[4].encode().decode("unicode_escape")
        inside = path == mount or path.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best[0]):
            best = (mount, *right.split()[:2])
    return {"type": best[1], "source": best[2]}


@contextlib.contextmanager
def work_directory():
    """A directory for databases and sockets on a real disk: below $WALPOOL_BENCH_DIR, or beside the sources.
    Removed at the end, whatever happens. If we are killed it is all the same, and what we have started ends with us: leftovers.py."""
    base = Path(os.environ.get("WALPOOL_BENCH_DIR") or REPOSITORY / ".build-bench").resolve()
    base.mkdir(parents=True, exist_ok=True)
    kind = file_system(base)["type"]
    if kind in ("tmpfs", "ramfs"):
        raise BenchError(f"{base} is on {kind}, where a sync costs nothing: set WALPOOL_BENCH_DIR to a disk")
    for left in leftovers.found(base):
        say(f"{left} was left behind by a run that was killed: it and its processes are removed")
        leftovers.clear(left)
    with leftovers.watched(base) as directory:
        # PostgreSQL refuses to run as root; its own user must be able to pass through.
        directory.chmod(0o711)
        if len(str(directory)) > 107 - len("/world0/walpool-pipelined-0/.s.PGSQL.5432"):
            raise BenchError(f"{directory} is too long for a socket: set WALPOOL_BENCH_DIR to a shorter path")
        try:
            yield directory
        finally:
            with uninterrupted():
                shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def uninterrupted(handler=signal.SIG_IGN):
    """Cleaning up is not cut short by an impatient second Ctrl-C. Python runs handlers in its main thread, and lets no other set
    them: the others are interrupted by nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, handler) for number in signals]
    try:
        yield
    finally:
        for number, handler in zip(signals, before):
            signal.signal(number, handler)


def to_its_end(command, **options):
    """Of a process without output that nothing of ours ends: an interrupt is one when it is done. What the terminal sends is for it, too,
    and it knows best: apt-get lets dpkg finish."""
    interrupts = []
    with uninterrupted(lambda number, _: interrupts.append(number)):
        done = subprocess.run(command, stdout=subprocess.DEVNULL, **options)
    if interrupts:
        raise KeyboardInterrupt
    return done


def start(command, **options):
    """A process that leads a session of its own, so that Ctrl-C is ours to pass on.

    An interrupt while it starts would come out of Popen, which then tells nobody that there is a process: it is kept
    until there is somebody to end it."""
    interrupts, process = [], None
    try:
        with uninterrupted(lambda number, _: interrupts.append(number)):
            process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, start_new_session=True, **options)
        if interrupts:
            raise KeyboardInterrupt
    except BaseException:
        if process:
            end(process)
        raise
    return process


def has_members(group):
    """Whether a process of the group still runs. One that has ended and that nobody has waited for does not."""
    # Not Path.glob, which looks at each path by itself and does not forgive a process that ends meanwhile.
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            # The name before the last parenthesis may hold anything; after it come state, parent and group: proc(5).
            stat = Path("/proc", name, "stat").read_text(errors="replace")
            state, _, its_group = stat.rpartition(")")[2].split()[:3]
            if int(its_group) == group and state not in "ZX":
                return True
    return False


def end(process):
    """Ends a process that leads a session, and all that it started."""
    with uninterrupted():
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass        # the whole group has ended
        process.wait()
        # Those it started are killed too, but one that waits for the disk ends only when the disk has answered.
        end = time.monotonic() + ENDING_SECONDS
        while has_members(process.pid) and time.monotonic() < end:
            time.sleep(0.005)
        if process.stdout:
            process.stdout.close()


def run_main(main):
    """Runs `main` and turns what it returns or raises into an exit status. SIGTERM and a lost terminal clean
    up as Ctrl-C does."""

    def interrupt(*_):
        raise KeyboardInterrupt

    # SIGINT too: a shell starts background jobs with it ignored.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(130)
    except BenchError as error:
        say(f"{Path(sys.argv[0]).name}: {error}")
        sys.exit(1)
