"""What the figures were measured on."""

import contextlib
import datetime
import hashlib
import os
import platform
import sqlite3
import statistics
import subprocess
import time
from pathlib import Path

from pgwire import ConnectionLost, ServerError
from support.tools import PGBENCH, REPOSITORY, file_system

POSTGRES_SETTINGS = (
    "shared_buffers", "fsync", "synchronous_commit", "wal_sync_method", "full_page_writes", "wal_buffers",
    "max_wal_size", "checkpoint_timeout", "checkpoint_completion_target", "max_connections", "jit", "autovacuum",
    "autovacuum_naptime", "autovacuum_vacuum_threshold", "autovacuum_vacuum_scale_factor",
    "autovacuum_vacuum_insert_threshold", "autovacuum_vacuum_insert_scale_factor", "autovacuum_analyze_threshold",
    "autovacuum_analyze_scale_factor")
# Of Walpool a reader's: its writer maps no file.
SQLITE_PRAGMAS = ("page_size", "cache_size", "mmap_size", "wal_autocheckpoint")


def describe(directory):
    """Machine, kernel, disk and tools."""
    memory = _lines("/proc/meminfo", "MemTotal")
    release = _lines("/etc/os-release", "PRETTY_NAME")
    clock = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    return {
        "time": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "memory": memory,
        "load": os.getloadavg()[0],
        "kernel": platform.release(),
        "boot": boot(),
        "system": release.strip('"'),
        "clock": clock.read_text().strip() if clock.exists() else "?",
        "file_system": file_system(directory),
        "sync_us": sync_microseconds(directory),
        "pgbench": output([PGBENCH, "--version"]),
        "commit": output(["git", "-C", REPOSITORY, "describe", "--always", "--dirty"]),
    }


def boot():
    """Tells one machine from another, and one start of it from the next, and nothing else."""
    try:
        return hashlib.sha256(Path("/proc/sys/kernel/random/boot_id").read_bytes()).hexdigest()[:12]
    except OSError:
        return "?"


def cpu():
    return _lines("/proc/cpuinfo", "model name")


def sync_microseconds(directory, probes=100):
    """The median time of a 4 KiB overwrite and fdatasync: what one durable commit costs at least. A virtual
    disk's may change a hundredfold from one minute to the next."""
    path, times = directory / "sync-probe", []
    handle = os.open(path, os.O_CREAT | os.O_RDWR)
    try:
        os.write(handle, bytes(1 << 20))
        os.fsync(handle)
        for i in range(probes):
            began = time.perf_counter()
            os.pwrite(handle, bytes([i]) * 4096, (i % 256) * 4096)
            os.fdatasync(handle)
            times.append(time.perf_counter() - began)
    finally:
        os.close(handle)
        path.unlink()
    return round(statistics.median(times) * 1e6, 1)


def postgres_settings(server):
    names = ", ".join(f"'{name}'" for name in POSTGRES_SETTINGS)
    with server.connect() as connection:
        settings = connection.query(
            f"SELECT name, current_setting(name) FROM pg_settings WHERE name IN ({names}) ORDER BY name")[0].rows
        return {"version": connection.value("SELECT version()"), **dict(settings)}


# Of a walpoold's configuration: where it was run, and as whom.
CONFIGURATION_OF_A_PLACE = ("database", "name", "socket_directory", "port", "backup_directory")


def walpool_settings(server):
    """Whatever of its settings the daemon tells; not all of them need be allowed to a client. What it has by default is among them:
    that another version has another default is a difference, too."""
    settings = {"options": " ".join(map(str, server.options))}
    with server.connect() as connection:
        settings["server_version"] = connection.parameters.get("server_version")
        questions = {"sqlite": "SELECT sqlite_version()", **{name: f"PRAGMA {name}" for name in SQLITE_PRAGMAS}}
        for name, question in questions.items():
            try:
                settings[name] = connection.value(question)
            except ServerError as error:
                settings[name] = f"not told ({error.code})"
    settings["configuration"] = _configuration(server)
    return settings


def _configuration(server):
    """The console's answer: an older program may have none, and rules of access may refuse it to us."""
    try:
        with server.connect("walpool") as console:
            return {name: value for name, value, *_ in console.query("SHOW CONFIG")[0].rows if name not in CONFIGURATION_OF_A_PLACE}
    except (ServerError, ConnectionLost) as error:
        return f"not told ({getattr(error, 'code', error)})"


def sqlite(path):
    """A look at the file, from this process."""
    return contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60))


def sqlite_version():
    """Of the library that Debian has, which all programs here are linked with."""
    return output(["sqlite3", "--version"]).partition(" ")[0]


def sqlite_pragmas(path):
    """As that library has them by default: none of the programs that open the file themselves sets another."""
    values = output(["sqlite3", "-batch", "-init", "/dev/null", path, *(f"PRAGMA {name}" for name in SQLITE_PRAGMAS)])
    return dict(zip(SQLITE_PRAGMAS, values.split()))


def program(path):
    """What was measured: the checkout may be of another commit than a program that was given or is older."""
    path = Path(path)
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"path": str(path.relative_to(REPOSITORY) if path.is_relative_to(REPOSITORY) else path), "sha256": digest}


def output(command):
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else "?"
    except OSError:
        return "?"


def _lines(path, start):
    try:
        for line in Path(path).read_text().splitlines():
            if line.startswith(start):
                return line.split(":" if ":" in line else "=", 1)[1].strip()
    except OSError:
        pass
    return "?"
