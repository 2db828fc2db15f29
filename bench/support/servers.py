"""Starts and stops the servers that are compared: walpoold and PostgreSQL 15."""

import os
import pwd
import signal
import subprocess
import time
from pathlib import Path

import pgwire
from support.tools import BenchError, PGBENCH, POSTGRES_BIN, REPOSITORY, start, uninterrupted

PORT = 5432     # in a directory of its own, so no server of the machine is met
DATABASE = "bench"


class Server:
    """A server process with a Unix socket in `directory`."""

    name = ""
    stop_signals = (signal.SIGTERM, signal.SIGKILL)
    statuses = (0,)         # with which it ends when it is told to

    def __init__(self, directory, user, environment=None):
        self.directory = Path(directory)
        self.user = user
        self.environment = {**os.environ, **(environment or {})}
        self.port = PORT
        self.database = DATABASE
        self.process = None
        self.log_path = self.directory / f"{self.name}.log"

    def launch(self, command, **options):
        with open(self.log_path, "ab") as log:
            self.process = start(command, stdout=log, stderr=log, cwd=self.directory, **{"env": self.environment, **options})

    def wait_until_ready(self, seconds=30):
        """Returns when a session could be opened; the time it took."""
        began = time.monotonic()
        while True:
            try:
                self.connect().close()
                return time.monotonic() - began
            except (pgwire.ConnectionLost, pgwire.ServerError) as error:
                if self.process.poll() is not None:
                    raise BenchError(f"{self.name} {self.ended()}: {self.log()}")
                if time.monotonic() - began > seconds:
                    self.stop()
                    raise BenchError(f"{self.name} is not ready after {seconds} s: {error}; {self.log()}")
                time.sleep(0.005)

    def connect(self, database=None, **parameters):
        return pgwire.Connection(self.directory, self.port, self.user, database or self.database, **parameters)

    def running(self, patience=0):
        """Still after so many seconds: what a process that is being ended had open is closed before its parent hears of its end."""
        if self.process is None:
            return False
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            return True
        return False

    def ended(self):
        """How the process ended, in words."""
        status = self.process.returncode
        return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"

    def stop(self):
        """Ends the process. Returns what was wrong with the way it ended, or None."""
        if self.process is None:
            return None
        with uninterrupted():
            wrong = None
            for number in self.stop_signals:
                if self.process.poll() is None:
                    self.process.send_signal(number)
                try:
                    self.process.wait(15)
                    break
                except subprocess.TimeoutExpired:
                    wrong = f"{self.name} ignored {number.name} for 15 s"
            if not wrong and self.process.returncode not in self.statuses:
                wrong = f"{self.name} {self.ended()}"
            self.process = None
            return wrong

    def log(self, lines=5):
        """The last lines it wrote."""
        try:
            text = self.log_path.read_text(errors="replace").strip().splitlines()
        except FileNotFoundError:
            text = []
        return " | ".join(text[-lines:]) or "it wrote nothing"

    def processes(self):
        """The process and its children."""
        process = self.process.pid
        return [process, *map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())]

    def cpu_seconds(self):
        """CPU time of the process, of its threads, and of its children, those that have ended included."""
        return sum(map(_ticks, self.processes())) / os.sysconf("SC_CLK_TCK")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Walpool(Server):
    name = "walpool"

    def __init__(self, directory, database_path, options=(), environment=None, program=None):
        super().__init__(directory, pwd.getpwuid(os.geteuid()).pw_name, environment)
        self.program = program or walpoold_path()
        self.database_path = Path(database_path)
        self.options = list(options)
        self.directory.mkdir(mode=0o700, exist_ok=True)

    def start(self):
        """Returns the seconds until it answered."""
        self.launch_only()
        try:
            return self.wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def launch_only(self):
        """Starts it, and does not wait until it answers."""
        self.launch([self.program, self.database_path, "--socket-directory", self.directory,
                     "--port", self.port, *self.options])

    def kill(self):
        """kill -9, as a crash of the process."""
        self.process.kill()
        self.process.wait()
        self.process = None

    def wal_bytes(self):
        try:
            return self.database_path.with_name(self.database_path.name + "-wal").stat().st_size
        except FileNotFoundError:
            return 0


class Postgres(Server):
    """PostgreSQL 15 with the configuration initdb writes, but no TCP. `options` are more of its settings."""

    name = "postgres"
    stop_signals = (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL)      # fast, immediate, and out

    def __init__(self, directory, scale, options=(), environment=None):
        super().__init__(directory, "postgres", environment)
        self.scale = scale
        self.options = list(options)
        self.account = not_root(self.directory)

    def start(self):
        """A new cluster with pgbench's tables in it."""
        self.do([POSTGRES_BIN / "initdb", "-D", self.directory / "data", "-U", self.user, "-A", "trust", "-E", "UTF8",
                 "--locale=C.UTF-8"], **self.account)
        self.launch_only()
        try:
            self.database = "postgres"
            self.wait_until_ready()
            with self.connect() as connection:
                connection.query(f"CREATE DATABASE {DATABASE}")
            self.database = DATABASE
            self.do([PGBENCH, "-i", "-q", "-s", str(self.scale), "-h", self.directory, "-p", str(self.port),
                     "-U", self.user, self.database])
        except BaseException:
            self.stop()
            raise

    def launch_only(self):
        settings = [part for option in ("listen_addresses=", *self.options) for part in ("-c", option)]
        self.launch([POSTGRES_BIN / "postgres", "-D", self.directory / "data", "-p", self.port, "-k", self.directory,
                     *settings], **self.account)

    def do(self, command, **options):
        try:
            done = subprocess.run(command, cwd=self.directory, stdin=subprocess.DEVNULL, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        except OSError as error:
            raise BenchError(f"{command[0]}: {error} (may the user postgres pass {self.directory}?)") from error
        if done.returncode != 0:
            raise BenchError(f"{Path(command[0]).name} failed: {' | '.join(done.stdout.splitlines()[-3:])}")


def not_root(directory):
    """Makes the directory of a server that refuses to run as root; how subprocess is told to run it as someone else."""
    directory.mkdir(mode=0o700)
    if os.geteuid() != 0:
        return {}
    try:
        account = pwd.getpwnam("postgres")
    except KeyError:
        raise BenchError("no user postgres, and PostgreSQL refuses to run as root") from None
    os.chown(directory, account.pw_uid, account.pw_gid)
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def _ticks(process):
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(map(int, stat.rpartition(")")[2].split()[11:15]))


def walpoold_path():
    """$WALPOOLD, or the release build."""
    path = Path(os.environ.get("WALPOOLD") or REPOSITORY / ".build/release/walpoold").resolve()
    if not os.access(path, os.X_OK):
        raise BenchError(f"no program {path}: `swift build -c release` makes it, or set WALPOOLD")
    return path
