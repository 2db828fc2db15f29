"""Restarts of every kind under load: nobody is refused and nothing that was acknowledged is lost."""

import os
import pathlib
import signal

import wire
from load import Load
from report import equal, ok, run, until
from service import SERVICE, SOCKET, is_active, main_pid, psql, set_drop_in, show, value, wait_for_message

# As shipped it is 30 seconds. Nothing else changes but how long the test takes.
WATCHDOG = "[Service]\nWatchdogSec=6s\n"


def restarts():
    """systemctl restart under load"""
    socket_since = show("ActiveEnterTimestampMonotonic", SOCKET)
    with Load() as load:
        for _ in range(3):
            pid = main_pid()
            restarted = run("systemctl", "restart", SERVICE)
            ok(restarted.status == 0 and main_pid() not in (0, pid), "systemctl restart", restarted)
            load.wait_for_more()
    load.judge("restart")
    equal(show("ActiveEnterTimestampMonotonic", SOCKET), socket_since, "the socket was there all the time")


def clients_wait_in_the_backlog():
    """connections made while no daemon runs"""
    # Stopped and not restarted, with the socket stopped from starting it: that is a daemon that takes its time to start.
    set_drop_in(SERVICE, WATCHDOG + "ExecStartPre=/usr/bin/sleep 3\n")
    run("systemctl", "restart", "--no-block", SERVICE, check=True)
    until(lambda: show("SubState") == "start-pre", "the pause before the start")
    waiting = [wire.Client("/run/walpool/.s.PGSQL.5432") for _ in range(20)]
    for number, client in enumerate(waiting):
        client.send(wire.startup({"user": "root", "database": "app"}), wire.query(f"SELECT {number}"))
    ok(not any(client.has_reply() for client in waiting), "20 clients connect while no daemon runs")
    answers = [(client.started().errors, client.reply().value) for client in waiting]
    equal(answers, [([], str(number)) for number in range(20)], "and are answered when it does")
    for client in waiting:
        client.close()
    set_drop_in(SERVICE, WATCHDOG)


def survives_a_kill():
    """kill -9 under load"""
    with Load() as load:
        pid = main_pid()
        os.kill(pid, signal.SIGKILL)
        until(lambda: main_pid() not in (0, pid) and is_active(), "a new process")
        load.wait_for_more()
    load.judge("kill -9")


def watchdog_ends_a_stopped_process():
    """a process that does nothing any more, under load"""
    run("systemctl", "restart", SERVICE, check=True)
    equal(show("WatchdogUSec"), "6s", "the watchdog's time for this test")
    with Load() as load:
        pid = main_pid()
        os.kill(pid, signal.SIGSTOP)
        until(lambda: main_pid() not in (0, pid) and is_active(), "a new process")
        load.wait_for_more()
    load.judge("SIGSTOP")
    ok(wait_for_message("Watchdog timeout"), "systemd's watchdog has ended it")


SLOW = "walpoold@slow.service"


def watchdog_sees_a_stuck_writer():
    """a file system that stops answering, under an instance walpoold@slow"""
    run("chown", "walpool:", "/srv/slow", check=True)
    pathlib.Path("/etc/walpool/slow.toml").write_text('database = "/srv/slow/slow.db"\n')
    set_drop_in(SLOW, WATCHDOG + "ReadWritePaths=/srv/slow\n")
    started = run("systemctl", "enable", "--now", "walpoold@slow.socket")
    ok(started.status == 0, "the instance's socket starts", started)
    with Load("/run/walpool/slow/.s.PGSQL.5432", "slow") as load:
        pid = main_pid(SLOW)
        # Readers go on and so does the process; only a thread in a write or a sync waits for the disk. fsfreeze(8).
        run("fsfreeze", "--freeze", "/srv/slow", check=True)
        try:
            # It may have to tell for how long it is stuck first, so this takes a few times the watchdog's.
            ok(wait_for_message("Watchdog timeout", unit=SLOW), "the writer's disk hangs, and the watchdog ends the daemon")
            said = [line for line in wait_for_message("stuck", unit=SLOW)]
            ok(said, "which has said what is stuck", *said)
        finally:
            run("fsfreeze", "--unfreeze", "/srv/slow", check=True)
        until(lambda: main_pid(SLOW) not in (0, pid) and is_active(SLOW), "a new process")
        load.wait_for_more()
    load.judge("stuck writer")
    equal(psql("SELECT 1").text, "1", "the other daemon did not notice")


def upgrades():
    """dpkg --install of a newer version under load"""
    before = run("dpkg-query", "-W", "-f=${Version}", "walpool").text
    socket_since = show("ActiveEnterTimestampMonotonic", SOCKET)
    slow = main_pid(SLOW)
    with Load() as load:
        pid = main_pid()
        upgraded = run("dpkg", "--install", "/test/walpool-newer.deb")
        ok(upgraded.status == 0, "the newer package installs", upgraded)
        load.wait_for_more()
        ok(main_pid() not in (0, pid), "the daemon runs the new program")
    equal(run("dpkg-query", "-W", "-f=${Version}", "walpool").text, before + "+1", "its version")
    load.judge("upgrade")
    equal(show("ActiveEnterTimestampMonotonic", SOCKET), socket_since, "the socket was there all the time")
    ok(main_pid(SLOW) not in (0, slow), "the instance was restarted, too")
    equal(value("SELECT count(*) FROM kept"), "2", "the data is there")
