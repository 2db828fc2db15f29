"""Data of one size and a disk of one speed, and the systems that run on them: each with data of its own, started when
it is first asked for, and all of them ended together. An idle one costs the others nothing: what PostgreSQL would
do later by itself it does at the end of its turn."""

import contextlib
import os
import shutil

from support import data, machine, settling
from support.limits import Canned, SyncDelay
from support.pgbouncer import PgBouncer
from support.servers import Postgres, Walpool
from support.systems import OLD, Embedded, Served
from support.tools import say

# Room for the most clients, and for us.
SESSIONS = 1100
MODES = {"walpool": "full", OLD: "full", "walpool-pipelined": "pipelined", "walpool-normal": "normal"}

# What a walpoold is started with, and what nobody else may say. (A file of --config is overruled by them.)
OWN_OPTIONS = ("--synchronous", "--max-sessions", "--name", "--socket-directory", "--port")


class World:
    def __init__(self, directory, programs, scale, delay_us=0, ycsb=False, walpool_options=(), old=None):
        self.directory, self.programs, self.scale, self.ycsb = directory, programs, scale, ycsb
        self.walpool_options, self.old = list(walpool_options), old
        self._stack = contextlib.ExitStack()
        self._original = None
        self._postgres = None
        self._systems = {}
        directory.mkdir()
        directory.chmod(0o711)      # PostgreSQL's user passes through
        self._delay = SyncDelay(directory, delay_us) if delay_us else None
        self.slow = self._delay.environment if delay_us else {}     # what makes a process's disk slow

    def system(self, name):
        if name not in self._systems:
            say(f"starting {name}, scale {self.scale}{', a slow disk' if self.slow else ''}")
            self._systems[name] = self._start(name)
            os.sync()       # what was copied is not written back in the middle of a measurement
        return self._systems[name]

    def syncs(self):
        """How many the slow disk has had, of all systems; None of any other disk."""
        return self._delay.syncs if self._delay else None

    def broken(self, name, patience=0):
        """What became of a system whose server has died, or does so within so many seconds, or None. It gets a new one the next time."""
        system = self._systems.get(name)
        wrong = system.broken(patience) if system else None
        if wrong:
            dead = {id(server) for server in system.servers() if not server.running()}
            self._systems = {other: each for other, each in self._systems.items() if not dead & set(map(id, each.servers()))}
            if id(self._postgres) in dead:
                self._postgres = None
        return wrong

    def settle(self, name):
        """After a system's turn. What was done, where its server is PostgreSQL or leans on it; else None."""
        system = self._systems.get(name)
        return settling.settle(self._postgres) if system and self._postgres in system.servers() else None

    def postgres(self):
        if self._postgres is None:
            server = Postgres(self._new("postgres"), self.scale, [f"max_connections={SESSIONS}"], self.slow)
            with self._beginning(server):
                with server.connect(timeout=300) as connection:
                    for statement in data.POSTGRES_SCHEMA:
                        connection.query(statement)
                    if self.ycsb:
                        connection.query(data.POSTGRES_YCSB)
                        connection.query("VACUUM ANALYZE usertable")
                # As the SQLite files are, which are copied whole: what loading has left to write is nobody's measurement.
                settling.settle(server, checkpoint=True)
            self._postgres = server
        return self._postgres

    @contextlib.contextmanager
    def _beginning(self, server):
        """Its start, and whatever is done before it is a system's. If that fails it is stopped: it is nobody's, so that until the end of
        the world it would go on beside what is measured."""
        self._stack.enter_context(server)
        try:
            server.start()
            yield
        except BaseException:
            server.stop()
            raise

    def _start(self, name):
        if name in MODES:
            return self._walpool(name)
        if name in ("postgres", "postgres-async"):
            server = self.postgres()
            settings = machine.postgres_settings(server)
            if name == "postgres":
                return Served(name, server, settings)
            return Served(name, server, {**settings, "synchronous_commit": "off"}, user=data.ASYNC_USER)
        if name == "pgbouncer":
            server = PgBouncer(self._new(name), self.postgres())
            with self._beginning(server):
                return Served(name, server, server.described(), protocol="extended", behind=[self.postgres()])
        if name == "canned":
            server = Canned(self._new(name))
            with self._beginning(server):
                return Served(name, server, {"answer": "one row"})
        return self._embedded(name)

    def _walpool(self, name):
        options = ["--synchronous", MODES[name], "--max-sessions", SESSIONS, "--name", "bench", *self.walpool_options]
        server = Walpool(self._new(name), self._copy(name), options, self.slow, self.old if name == OLD else None)
        with self._beginning(server):
            return Served(name, server, machine.walpool_settings(server), more=self.walpool_options)

    def _embedded(self, name):
        synchronous = "normal" if name == "direct-normal" else "full"
        path = self._copy(name)
        settings = {"sqlite": machine.sqlite_version(), "journal_mode": "wal", "synchronous": synchronous,
                    "busy_timeout": 5000, **machine.sqlite_pragmas(path)}
        if name == "grdb":
            settings["grdb"] = self.programs.grdb_version()
        how = {"grdb": ["--database"], "in-process": ["--in-process"]}.get(name, ["--direct"])
        return Embedded(name, path, how, settings, self.slow)

    def _copy(self, name):
        if self._original is None:
            self._original = self.directory / "original.db"
            data.make_database(self._original, self.scale, self.ycsb)
        path = self.directory / f"{name}.db"
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        return shutil.copy(self._original, path)

    def _new(self, name):
        """A directory of its own, also after one that died."""
        number = sum(path.name.startswith(f"{name}-") for path in self.directory.iterdir())
        return self.directory / f"{name}-{number}"

    def stop(self):
        """Ends everything and removes the data. Returns what was wrong with how the servers ended."""
        servers = {id(server): server for system in self._systems.values() for server in system.servers()}
        # The last that was started leans on none of the others: PgBouncer goes before PostgreSQL.
        wrong = [server.stop() for server in reversed(servers.values())]
        self._stack.close()
        shutil.rmtree(self.directory, ignore_errors=True)
        return [problem for problem in wrong if problem]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stack.close()
