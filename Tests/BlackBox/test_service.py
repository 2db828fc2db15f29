"""The daemon as a service: what it tells the service manager, and when the watchdog hears of it."""

import os
import signal
import time

import pytest

import wire
from daemon import binary, eventually
from service import Service, Stalls, ask, kept_socket

# Half of it passes between two pings, and silence of all of it is no progress.
WATCHDOG_SECONDS = 1


@pytest.fixture
def stalls(tmp_path):
    return Stalls(tmp_path)


def pings(service, count):
    """Waits for so many of the watchdog's pings from now on."""
    service.notify.drain()
    for _ in range(count):
        service.notify.wait_for_field("WATCHDOG", "1")


# What the service manager is told


def test_the_messages_of_a_life(start_service):
    service = start_service(start=False)
    service.start(wait=False)
    ready, before = service.notify.wait_for(lambda m: m.get("READY") == "1", "READY=1")
    # At this moment it serves.
    assert service.value("SELECT 40 + 2") == "42"
    assert "app" in ready["STATUS"] and str(service.socket_path) in ready["STATUS"]
    assert [m["FDNAME"] for m in before if m.get("FDSTORE") == "1"] == ["walpoold-listener"]

    asked = time.monotonic_ns() // 1000
    service.process.send_signal(signal.SIGHUP)
    reloading = service.notify.wait_for_field("RELOADING", "1")
    assert asked <= int(reloading["MONOTONIC_USEC"]) <= time.monotonic_ns() // 1000
    service.notify.wait_for_field("READY", "1")
    assert service.value("SELECT 1") == "1"

    service.terminate()
    service.notify.wait_for_field("STOPPING", "1")
    assert service.wait() == 0


def test_status_says_what_is_going_on(start_service):
    service = start_service(watchdog_seconds=1)
    service.run("CREATE TABLE t (n INTEGER)")
    holder, waiting = service.client(), service.client()
    holder.query("BEGIN IMMEDIATE").check()
    waiting.send(wire.query("INSERT INTO t VALUES (1)"))
    status = service.notify.wait_for_status("1 wait for the writer")["STATUS"]
    assert status.startswith("app: 2 sessions, ")
    holder.query("COMMIT").check()
    waiting.reply().check()
    service.notify.wait_for_status("app: 2 sessions, WAL ")


def test_status_says_that_it_is_paused(start_service):
    """Somebody forgot it, and clients hang. A write waits to be prepared then, which is a reader's work."""
    service = start_service(watchdog_seconds=1)
    service.run("CREATE TABLE t (n INTEGER)")
    waiting = service.client()
    with service.raw() as console:
        console.start(database="walpool", user="root").check()
        console.query("PAUSE").check()
        waiting.send(wire.query("INSERT INTO t VALUES (1)"))
        status = service.notify.wait_for_status("PAUSED until RESUME, 1 wait for a reader")["STATUS"]
        assert status.startswith("app: 2 sessions, PAUSED")
        console.query("RESUME").check()
    waiting.reply().check()
    while "PAUSED" in service.notify.wait_for_status("app: ")["STATUS"]:
        pass


def test_status_after_a_reload(start_service):
    service = start_service(watchdog_seconds=1, config="readers = 3\n")
    service.notify.wait_for_status("app: ")
    file = service.directory / "walpoold.toml"
    for text in ["readers = 3\nqueue_notice = 'soon'\n", "readers = 3\n"]:
        file.write_text(text)
        service.process.send_signal(signal.SIGHUP)
        service.notify.wait_for_field("RELOADING", "1")
        service.notify.wait_for_field("READY", "1")
        # Nothing else has happened, and what was said of the reload is old news with the next report.
        status = service.notify.wait_for_status("app: ")["STATUS"]
        assert ("the configuration file is refused" in status) == ("soon" in text), status


def test_without_a_service_manager_nothing_is_sent_and_the_socket_goes(start_daemon):
    daemon = start_daemon()
    daemon.stop()
    assert not daemon.socket_path.exists()


def test_what_keeps_it_from_starting_is_its_status(start_service):
    service = start_service(start=False, options=["--readers", "8"])
    service.may_fail = True
    service.database.write_bytes(b"this is no database, and it is longer than a header of one would be" * 20)
    service.start(wait=False)
    assert "cannot start: cannot open" in service.notify.wait_for_status("cannot start")["STATUS"]
    assert service.wait() == 1


class Instance(Service):
    """As the units start it: with nothing but a configuration file and directories."""

    def command(self):
        (self.directory / "state").mkdir(exist_ok=True)
        file = self.directory / self.options[0]
        file.write_text(self.config)
        return [str(binary()), "--config", str(file)]


@pytest.mark.parametrize("file, config, name", [
    ("walpoold.toml", "", "app"), ("orders.toml", "", "orders"), ("orders.toml", 'name = "sales"', "sales")])
def test_a_database_that_is_not_named_lies_in_the_state_directory(start_service, file, config, name):
    service = start_service(start=False, cls=Instance, options=[file], config=config)
    service.environment = {
        "STATE_DIRECTORY": str(service.directory / "state"), "RUNTIME_DIRECTORY": str(service.directory)}
    service.start()
    assert ask(service.socket_path, "SELECT 1", name) == "1"
    assert (service.directory / f"state/{name}.db").exists()


# The watchdog


def test_pings_come_while_nothing_happens(start_service):
    service = start_service(watchdog_seconds=1)
    pings(service, 3)


def test_no_pings_for_another_processs_watchdog(start_service):
    """Who starts a daemon may be watched, and leave it the variables."""
    service = start_service(watchdog_seconds=WATCHDOG_SECONDS, environment={"WATCHDOG_PID": str(os.getpid())})
    # Of the first look, with which a ping would have come.
    service.notify.wait_for_status("app: 0 sessions")
    assert not [m for m in service.notify.received if "WATCHDOG" in m]


@pytest.mark.parametrize("synchronous, what", [("full", "the writer"), ("pipelined", "a sync of the WAL")])
def test_a_sync_that_never_returns_ends_the_pings(start_service, stalls, synchronous, what):
    service = start_service(watchdog_seconds=1, stalls=stalls, options=["--synchronous", synchronous])
    service.run("CREATE TABLE t (n INTEGER)")
    writer = service.client()
    stalls.arm("sync")
    writer.send(wire.query("INSERT INTO t VALUES (1)"))
    # The status is told anew with each look, so these are four looks and no ping.
    stuck = {service.notify.wait_for_status("is stuck for")["STATUS"]}
    while len(stuck) < 3:
        message = service.notify.receive()
        assert "WATCHDOG" not in message, message
        stuck.add(message["STATUS"])
    assert all(status.startswith(f"{what} is stuck for") for status in stuck), stuck
    assert "the watchdog is pinged no more" in service.errors
    # Readers go on, which is why nobody else would notice.
    assert service.value("SELECT count(*) FROM t") in ("0", "1")
    assert not writer.has_reply()

    # A disk that comes back is no reason to die.
    stalls.release()
    pings(service, 2)
    assert writer.reply().check().tag == "INSERT 0 1"
    assert f"{what} gets on again" in service.errors


def test_a_crew_of_which_every_thread_hangs_pings_nobody(start_service, stalls):
    service = start_service(watchdog_seconds=1, stalls=stalls, options=["--readers", "1"])
    # As PollerCensus counts them with one reader: the process has other threads, too.
    crew = max(len(os.sched_getaffinity(0)) + 1, 1 + 3) + 2
    clients = [service.client() for _ in range(crew)]
    pings(service, 1)
    stalls.arm("receive")
    for number, client in enumerate(clients):
        # One by one, because what comes together is received together, by one thread.
        client.send(wire.query("SELECT 1"))
        eventually(lambda: stalls.calls == number + 1, "one more thread hanging")
    service.notify.drain()
    # Three pings' time.
    assert service.notify.receive(1.5) is None
    stalls.release()
    pings(service, 1)
    for client in clients:
        assert client.reply().value == "1"


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


@pytest.mark.parametrize("work", ["reading", "writing", "idle on the writer", "another process", "group"])
def test_what_is_only_long_does_not_end_the_pings(start_service, outsider, work):
    service = start_service(watchdog_seconds=WATCHDOG_SECONDS)
    service.run("CREATE TABLE t (n INTEGER)")
    client, other = service.client(), None
    if work == "reading":
        client.send(wire.query(ENDLESS))
    elif work == "writing":
        client.send(wire.query(f"BEGIN IMMEDIATE; INSERT INTO t {ENDLESS}"))
    elif work == "group":
        client.send(wire.query(f"INSERT INTO t {ENDLESS}"))
    elif work == "idle on the writer":
        client.query("BEGIN IMMEDIATE").check()
    else:
        other = outsider(service.database)
        other("BEGIN IMMEDIATE")
        client.send(wire.query("INSERT INTO t VALUES (1)"))
    # Two would come if it hung.
    pings(service, 3)
    assert not any("stuck" in m.get("STATUS", "") for m in service.notify.received)
    if other:
        other("ROLLBACK")
        assert client.reply().check().tag == "INSERT 0 1"
    elif work == "idle on the writer":
        client.query("ROLLBACK").check()
    else:
        assert not client.has_reply()
        client.cancel()
        assert client.reply().state == "57014"


def test_a_long_vacuum_does_not_end_the_pings(start_service, stalls):
    service = start_service(watchdog_seconds=1, stalls=stalls)
    fill(service, "DELETE FROM t WHERE rowid % 2")
    # 2 ms for each page.
    stalls.arm("write", milliseconds=2)
    with service.raw() as console:
        console.start(database="walpool", user="root").check()
        console.query("VACUUM").check()
    service.notify.wait_for_status("VACUUM runs")
    pings(service, 3)
    stalls.release()
    service.notify.wait_for(lambda m: "STATUS" in m and "VACUUM" not in m["STATUS"], "the end of VACUUM")
    assert not any("stuck" in m.get("STATUS", "") for m in service.notify.received)


# More time at start and stop


def fill(service, *statements):
    """Some 16 MB in the WAL."""
    service.run(
        "CREATE TABLE t (b BLOB)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)"
        " INSERT INTO t SELECT randomblob(4000) FROM n", *statements)


KEEPS_ITS_WAL = "checkpoint_frames = 1000000\nwal_limit_bytes = 1073741824\n"


def test_the_last_checkpoint_gets_more_time(start_service, stalls):
    service = start_service(stalls=stalls, config=KEEPS_ITS_WAL)
    fill(service)
    stalls.arm("write", milliseconds=2)
    service.terminate()
    service.notify.wait_for_field("STOPPING", "1")
    assert int(service.notify.wait_for_field("EXTEND_TIMEOUT_USEC")["EXTEND_TIMEOUT_USEC"]) >= 10_000_000
    stalls.release()
    assert service.wait() == 0


def test_a_recovery_at_start_gets_more_time(start_service, stalls):
    service = start_service(stalls=stalls, config=KEEPS_ITS_WAL)
    fill(service)
    service.given = [kept_socket(service)]
    service.kill()
    stalls.arm("read", milliseconds=4)
    service.start(wait=False)
    _, before = service.notify.wait_for(lambda m: "EXTEND_TIMEOUT_USEC" in m, "EXTEND_TIMEOUT_USEC")
    assert not [m for m in before if "READY" in m]
    stalls.release()
    service.wait_until_ready()
    assert service.value("SELECT count(*) FROM t") == "4000"


def test_a_start_that_hangs_gets_no_more_time(start_service, stalls):
    service = start_service(stalls=stalls, start=False)
    stalls.arm("read")
    service.start(wait=False)
    eventually(lambda: stalls.calls > 0, "the start hanging")
    # What it did before it hung may have earned it one.
    service.notify.receive(3)
    assert service.notify.receive(5) is None
    stalls.release()
    service.wait_until_ready()
