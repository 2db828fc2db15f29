"""Stop, reboot, remove, purge."""

import pathlib

from report import equal, ok, run
from service import (CONFIGURATION, DATABASE, DIRECTORY, PATH, SERVICE, SOCKET, STATE, is_active, messages, psql, show, value)

KEPT = "SELECT count(*) FROM kept"


def stops():
    """systemctl stop"""
    value("CREATE TABLE last AS SELECT 'before the stop' AS text")
    stopped = run("systemctl", "stop", SOCKET, SERVICE)
    ok(stopped.status == 0, "systemctl stop", stopped)
    equal([show("ActiveState"), show("Result"), show("ExecMainStatus")], ["inactive", "success", "0"], "it has ended in order")
    log = DATABASE.with_name("app.db-wal")
    ok(not log.exists() or log.stat().st_size == 0, "the WAL is in the database", run("ls", "-l", str(STATE)))
    checked = run("sqlite3", f"file:{DATABASE}?mode=ro&immutable=1", f"PRAGMA integrity_check; {KEPT}; SELECT text FROM last")
    equal(checked.text.splitlines(), ["ok", "2", "before the stop"], "the file alone is the whole database")
    ok(any("stopped" in line for line in messages()), "the log says so")


def was_enabled():
    """after a reboot"""
    ok(is_active() and is_active(SOCKET), "the service runs without a client", run("systemctl", "status", SERVICE, SOCKET))
    equal([psql("SELECT text FROM last").text, value(KEPT)], ["before the stop", "2"], "with its data")


def is_removed():
    """dpkg --remove"""
    run("systemctl", "start", "walpoold@slow.socket", "walpoold@slow.service")
    CONFIGURATION.write_text(CONFIGURATION.read_text() + "# changed\n")
    removed = run("dpkg", "--remove", "walpool")
    ok(removed.status == 0, "dpkg --remove", removed)
    for unit in [SERVICE, SOCKET, "walpoold@slow.service", "walpoold@slow.socket"]:
        ok(not is_active(unit), f"{unit} was stopped")
    ok(not pathlib.Path(DIRECTORY).exists(), f"{DIRECTORY} is gone")
    ok("# changed" in CONFIGURATION.read_text(), "the configuration stays as it was changed")
    equal(run("sqlite3", str(DATABASE), KEPT).text, "2", "the database stays")
    installed = run("dpkg", "--install", "/test/walpool-newer.deb")
    ok(installed.status == 0, "it installs again", installed)
    equal(value(KEPT), "2", "and serves the database")
    ok("# changed" in CONFIGURATION.read_text(), "with the changed configuration")


def is_purged():
    """dpkg --purge"""
    pathlib.Path("/etc/walpool/slow.toml").unlink(missing_ok=True)
    purged = run("dpkg", "--purge", "walpool")
    ok(purged.status == 0, "dpkg --purge", purged)
    ok(not CONFIGURATION.exists() and not CONFIGURATION.parent.exists(), "the configuration is gone")
    ok(DATABASE.exists() and str(STATE) in purged.text, "the database stays, and where is said", purged)
    equal(run("getent", "passwd", "walpool").status, 0, "so does the user who owns it")
    left = run("find", "/etc/systemd", "/usr/sbin", "/lib/systemd/system", "/usr/lib/sysusers.d", "/usr/lib/tmpfiles.d",
               "-name", "*walpool*").text
    equal(left, "", "nothing else of it is left")
    ok(not pathlib.Path(PATH).exists(), "no socket either")
