"""The real walpoold, started and stopped by the tests."""

import os
import re
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import wire

REPOSITORY = Path(__file__).resolve().parents[2]

# What a Swift process says when it traps, and sanitizers when they find something.
CRASH = re.compile(
    r"Fatal error|Crash:|\*\*\* Signal|Current stack trace|Backtrace|Simultaneous accesses|overlapping accesses"
    r"|SUMMARY: \w*Sanitizer|WARNING: ThreadSanitizer|double free|malloc\(\)|corrupted")


def binary():
    """WALPOOLD, or the newest build."""
    if named := os.environ.get("WALPOOLD"):
        return Path(named).resolve()
    builds = [REPOSITORY / ".build" / kind / "walpoold" for kind in ("release", "debug")]
    built = [path for path in builds if path.exists()]
    assert built, "no walpoold in .build: build it, or name one in WALPOOLD"
    return max(built, key=lambda path: path.stat().st_mtime)


def eventually(condition, what="the condition", deadline=wire.DEADLINE):
    """Waits until `condition()` is true and returns its value. The deadline only ends a hang."""
    end = time.monotonic() + deadline
    while not (value := condition()):
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.002)
    return value


def processor_times(process_id):
    """How long each of its threads has run, the kernel's part not counted, in hundredths of a second."""
    return {task.name: int((task / "stat").read_text().rpartition(")")[2].split()[11])
            for task in Path(f"/proc/{process_id}/task").iterdir()}


def yield_to_others(process_id):
    """The thread that is busy takes only what others leave from here on: it burns a core for a test that waits."""
    before = processor_times(process_id)

    def busy():
        return next((int(name) for name, time in processor_times(process_id).items() if time - before.get(name, 0) >= 3), None)

    os.sched_setscheduler(eventually(busy, "a thread that is busy"), os.SCHED_IDLE, os.sched_param(0))


def halt(process_id):
    """Stops a process until it gets SIGCONT."""
    os.kill(process_id, signal.SIGSTOP)
    stat = Path(f"/proc/{process_id}/stat")
    eventually(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", "a process that is stopped")


def daemon_reads(*clients):
    """Waits until the daemon has read what these clients sent. Whether it has begun with it is not known then."""
    eventually(lambda: all(client.unread_by_server() == 0 for client in clients), "reading")


def cancel_until_answered(client):
    """A cancel that comes before its statement began has no effect: so again, until there is an answer."""
    def answered():
        client.cancel()
        return client.has_reply()

    eventually(answered, "the end of the statement")


class Daemon:
    """A daemon with a directory of its own, which holds the database, the socket and the configuration.

    `options` are command line options; `config` is the text of a configuration file; `processors` is how many of them it may use. At the end it has to leave
    with status 0 and without having said anything that looks like a crash. Of one that `may_fail` any status will do, but a
    trap or a signal gives none.
    """

    def __init__(self, database=None, *, options=(), config=None, processors=None, start=True):
        self._directory = tempfile.TemporaryDirectory(prefix="walpool-")
        self.directory = Path(self._directory.name)
        self.directory.chmod(0o755)
        self.database = Path(database) if database else self.directory / "app.db"
        self.options = list(options)
        self.config = config
        self.processors = processors
        self.port = 5432
        self.process = None
        self.may_fail = False
        self._was_killed = False
        self._errors_path = self.directory / "stderr"
        self._clients = []
        if start:
            self.start()

    # Its life

    @property
    def socket_path(self):
        return self.directory / f".s.PGSQL.{self.port}"

    @property
    def name(self):
        return self.database.stem

    @property
    def pid(self):
        return self.process.pid

    def command(self):
        command = [str(binary()), str(self.database), "--socket-directory", str(self.directory)]
        if self.config is not None:
            path = self.directory / "walpoold.toml"
            path.write_text(self.config)
            command += ["--config", str(path)]
        command += self.options
        if self.processors is None:
            return command
        usable = sorted(os.sched_getaffinity(0))[:self.processors]
        return ["taskset", "--cpu-list", ",".join(map(str, usable)), *command]

    def start(self):
        """Starts it and waits until it accepts connections."""
        self._check_end_before()
        with open(self._errors_path, "ab") as errors:
            self.process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, cwd=self.directory)
        eventually(self._accepts, "a socket that accepts")
        return self

    def _accepts(self):
        assert self.process.poll() is None, f"walpoold ended with {self.process.returncode}:\n{self.errors}"
        probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            probe.connect(str(self.socket_path))
            return True
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        finally:
            probe.close()

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def terminate(self):
        """Asks it to stop, without waiting."""
        self.process.send_signal(signal.SIGTERM)

    def wait(self):
        return self.process.wait(timeout=wire.DEADLINE)

    def stop(self):
        """Stops it in order and checks how it left."""
        if self.is_running:
            self.terminate()
        status = self.wait()
        assert status == 0 or self.may_fail, f"walpoold left with {status}:\n{self.errors}"
        self._check_end()

    def _check_end(self):
        """No signal ended it but the test's own, and it said nothing of a crash."""
        status = self.process.returncode
        assert status >= 0 or self._was_killed, f"walpoold was ended by signal {-status}:\n{self.errors}"
        self.check_errors()

    def _check_end_before(self):
        """Before a start: it does not run, and what a test does not ask of the run before is asked here."""
        if self.process is not None:
            assert not self.is_running
            self._check_end()
        self._was_killed = False

    def wait_for_signal(self, number):
        """It is ended by this signal, as the test has it."""
        assert self.wait() == -number, self.errors
        self._was_killed = True

    def kill(self):
        """kill -9. One that has crashed before is not taken for killed."""
        self.process.kill()
        self._was_killed = self.wait() == -signal.SIGKILL

    def restart(self):
        self.start()

    @property
    def errors(self):
        """All that it wrote."""
        return self._errors_path.read_text(errors="replace")

    def check_errors(self):
        assert not CRASH.search(self.errors), self.errors

    def close(self):
        """The end of the test."""
        for client in self._clients:
            client.close()
        try:
            if self.process is not None:
                self.stop()
        finally:
            if self.is_running:
                self.kill()
            self._directory.cleanup()

    # Clients

    def raw(self):
        """A connection on which nothing was sent."""
        client = wire.Client(self.socket_path)
        self._clients.append(client)
        return client

    def client(self, version=wire.PROTOCOL_3_0, **parameters):
        """A session."""
        client = self.raw()
        parameters.setdefault("database", self.name)
        reply = client.start(version, **parameters)
        assert not reply.closed and not reply.errors, reply
        assert reply.status == "I", reply
        return client

    def run(self, *statements):
        """Statements in a session of their own, each of which has to succeed; returns the last reply."""
        with self.client() as client:
            for sql in statements:
                reply = client.query(sql).check()
            self._leave(client)
            return reply

    @staticmethod
    def _leave(client):
        """Returns when the daemon has closed its end, too, so that nobody counts it any more."""
        client.send(wire.terminate())
        client.rest()

    def value(self, sql):
        return self.run(sql).value

    def check_alive(self):
        """It runs, answers a new session that reads and writes, and has said nothing of a crash."""
        assert self.is_running, self.errors
        with self.client() as client:
            assert client.value("SELECT 40 + 2") == "42"
            assert client.query("BEGIN; CREATE TABLE alive (n INTEGER); ROLLBACK").tags[-1] == "ROLLBACK"
            self._leave(client)
        self.check_errors()

    # What /proc knows of it

    @property
    def sockets(self):
        """Open sockets: sessions, and the one that listens. (Files grow with the readers that were needed so far.)"""
        return sum(target.startswith("socket:") for target in self.descriptors())

    def descriptors(self):
        """What each of its descriptors is, as /proc words it."""
        directory = Path(f"/proc/{self.pid}/fd")
        for descriptor in os.listdir(directory):
            try:
                yield os.readlink(directory / descriptor)
            except FileNotFoundError:
                pass

    def memory(self, which="VmRSS"):
        """Bytes. VmRSS is now, VmHWM the most there ever was."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(rf"^{which}:\s+(\d+) kB", status, re.M)[1]) * 1024

    def _threads(self):
        """For each thread: whether it sleeps, and how often it has run."""
        threads = {}
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            try:
                status = (task / "status").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue
            state = re.search(r"^State:\s+(\w)", status, re.M)[1]
            switches = tuple(re.findall(r"ctxt_switches:\s+(\d+)", status))
            threads[task.name] = (state == "S", None if self._watches(task) else switches)
        return threads

    @staticmethod
    def _watches(task):
        """It waits with a timeout: the watcher, which looks every two milliseconds until nothing has happened for fifty."""
        try:
            call = (task / "syscall").read_text().split()
            return len(call) > 5 and "futex" in (task / "wchan").read_text() and call[4] != "0x0"
        except OSError:
            return False

    def settle(self, *senders):
        """Waits until the daemon has read what these clients sent and none of its threads has anything left to do.

        So a client that got no answer by then is waiting in a queue of the daemon's. Not for a daemon that
        executes something endless, or polls for another process's lock.
        """
        daemon_reads(*senders)
        before, equal = None, 0

        def rests():
            nonlocal before, equal
            now = self._threads()
            equal = equal + 1 if now == before and all(sleeps for sleeps, _ in now.values()) else 0
            before = now
            # For longer than the watcher takes from look to look.
            return equal == 3

        eventually(rests, "rest")

    def polling_threads(self):
        """How many of its threads wait for events, by the kernel's function they sleep in (do_epoll_wait or ep_poll)."""
        return sum("poll" in (task / "wchan").read_text() for task in Path(f"/proc/{self.pid}/task").iterdir())


class Outsider:
    """Another process with the database open: this one, by Python's sqlite3."""

    def __init__(self, path):
        import sqlite3

        self.connection = sqlite3.connect(path, isolation_level=None, timeout=30)

    def __call__(self, sql, *parameters):
        return self.connection.execute(sql, *parameters).fetchall()

    def close(self):
        self.connection.close()
