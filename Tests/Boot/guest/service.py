"""The service as systemd, psql and the file system show it."""

import json
import pathlib

import wire
from report import run, until

SERVICE, SOCKET = "walpoold.service", "walpoold.socket"
DIRECTORY = "/run/walpool"
PATH = f"{DIRECTORY}/.s.PGSQL.5432"
STATE = pathlib.Path("/var/lib/walpool")
DATABASE = STATE / "app.db"
CONFIGURATION = pathlib.Path("/etc/walpool/walpoold.toml")


def show(name, unit=SERVICE):
    """A unit's property."""
    return run("systemctl", "show", "--property", name, "--value", unit, check=True).text


def is_active(unit=SERVICE):
    return show("ActiveState", unit) == "active"


def main_pid(unit=SERVICE):
    return int(show("MainPID", unit))


def psql(sql, *, database="app", user=None, directory=DIRECTORY):
    return run("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", directory, "-d", database, "-c", sql, user=user,
               environment={"PGCONNECT_TIMEOUT": "60"})


def value(sql, **where):
    result = psql(sql, **where)
    assert result.status == 0, str(result)
    return result.text


def connect(path=PATH, database="app"):
    """A session over the wire."""
    client = wire.Client(path)
    client.start(user="root", database=database).check()
    return client


def journal(*arguments, unit=SERVICE):
    """The journal's entries about a unit since the boot, with their fields."""
    # Whatever was written before is in it then: journalctl(1).
    run("journalctl", "--sync")
    return [json.loads(line) for line in run("journalctl", "-u", unit, "-o", "json", *arguments).text.splitlines()
            if line.startswith("{")]


def messages(unit=SERVICE):
    return [str(entry.get("MESSAGE")) for entry in journal(unit=unit)]


def wait_for_message(*words, unit=SERVICE):
    return until(lambda: [line for line in messages(unit) if all(word in line for word in words)], f"{words} in the journal")


def set_drop_in(unit, text):
    """Settings that hold until the next boot."""
    directory = pathlib.Path(f"/run/systemd/system/{unit}.d")
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "boot-test.conf").write_text(text)
    run("systemctl", "daemon-reload", check=True)
