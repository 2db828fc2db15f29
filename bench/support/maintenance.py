"""The file beside a database in which walpoold remembers VACUUM; see Sources/Pool/MaintenanceFile.swift."""

import time
import zlib
from pathlib import Path

HEADING = "walpool-maintenance 1"
DAY = 86400


def path(database):
    return Path(f"{Path(database).resolve()}-maintenance")


def utc(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def write(database, base=None, **values):
    """A record. `base` is what the interval counts from, 8 days ago unless it is given."""
    base = time.time() - 8 * DAY if base is None else base
    lines = [HEADING, f"base = {utc(base)}", *(f"{name} = {value}" for name, value in values.items())]
    text = "".join(line + "\n" for line in lines)
    path(database).write_text(text + f"crc32 = {zlib.crc32(text.encode()):08x}\n")


def read(database):
    """The record as a dictionary of text; None when there is none. Damage is an AssertionError."""
    try:
        text = path(database).read_text()
    except FileNotFoundError:
        return None
    body, _, checksum = text.rpartition("crc32 = ")
    assert checksum == f"{zlib.crc32(body.encode()):08x}\n", text
    lines = body.splitlines()
    assert lines[0] == HEADING, text
    return dict(line.split(" = ", 1) for line in lines[1:])
