"""From the package to the first clients."""

import pathlib
import re

from report import equal, ok, run, say, until
from service import (CONFIGURATION, DATABASE, DIRECTORY, PATH, SERVICE, SOCKET, STATE, connect, is_active, psql, show,
                     value)


def installs():
    """dpkg --install"""
    installed = run("dpkg", "--install", "/test/walpool.deb")
    ok(installed.status == 0, "the package installs", installed)
    equal(run("getent", "passwd", "walpool").text.split(":")[5:], ["/var/lib/walpool", "/usr/sbin/nologin"], "the user walpool")
    equal(run("id", "-Gn", "walpool").text, "walpool", "its group")
    for path, expected in [(DIRECTORY, "walpool walpool 755"), (STATE, "walpool walpool 700"),
                           ("/var/backups/walpool", "walpool walpool 700"), (PATH, "walpool walpool 660"),
                           (CONFIGURATION, "root root 644")]:
        equal(run("stat", "--format=%U %G %a", str(path)).text, expected, f"owner and permissions of {path}")
    equal([show("ActiveState", SOCKET), show("UnitFileState", SOCKET)], ["active", "enabled"], "the socket is active and enabled")
    equal([show("ActiveState"), show("UnitFileState")], ["inactive", "enabled"], "the service is enabled and has not begun")
    ok(not DATABASE.exists(), "no database was made yet")
    verified = run("systemd-analyze", "verify", "--man=no", *map(str, sorted(pathlib.Path("/lib/systemd/system").glob("walpoold*"))))
    ok(verified.status == 0 and not verified.text, "systemd-analyze verify has nothing to say", verified)
    checked = run("walpoold", "--config", str(CONFIGURATION), "--check-config")
    ok(checked.status == 0, "the shipped configuration is valid", checked)


def socket_activates():
    """the first client"""
    equal(psql("SELECT 40 + 2").text, "42", "the first client is answered")
    ok(is_active(), "its connection has started the service")
    equal(show("TriggeredBy"), SOCKET, "which belongs to the socket")
    equal(run("stat", "--format=%U %G %a", str(STATE)).text, "walpool walpool 700", f"owner and permissions of {STATE}")
    ok(DATABASE.exists(), "the database was made in it")
    value("CREATE TABLE kept (text TEXT NOT NULL)")
    value("INSERT INTO kept VALUES ('written by root')")


def tells_its_status():
    """systemctl status"""
    def status():
        shown = run("systemctl", "status", "--no-pager", SERVICE).text
        return re.search(r'^\s+Status: ".*app.* 0 sessions.*"$', shown, re.M)

    found = until(status, "a status that counts sessions")
    ok(found, "systemctl status counts the sessions")
    say(found[0].strip())
    with connect(), connect():
        until(lambda: "2 sessions" in show("StatusText"), "two sessions in the status")
    ok(True, "and follows them")


def users_are_told_apart():
    """clients by the kernel's word"""
    # SO_PEERCRED counts, so a name in the connection string changes nothing.
    for user, groups in [("alice", ["-G", "walpool"]), ("rita", ["-G", "walpool"]), ("mallory", [])]:
        run("useradd", "--create-home", *groups, user, check=True)
    written = psql("INSERT INTO kept VALUES ('written by alice') RETURNING text", user="alice")
    equal([written.status, written.text], [0, "written by alice"], "a member of the group writes")
    refused = psql("SELECT 1", user="mallory")
    ok(refused.status != 0 and "Permission denied" in refused.text, "somebody outside cannot open the socket", refused)
    run("chmod", "666", PATH, check=True)
    refused = psql("SELECT 1", user="mallory")
    ok(refused.status != 0 and "FATAL" in refused.text, "nor enter where the socket lets everybody in", refused)
    run("chmod", "660", PATH, check=True)
    refused = psql("SHOW CLIENTS; SHUTDOWN", user="alice", database="walpool")
    ok(refused.status != 0 and is_active(), "a writer does not command in the console", refused)
