"""The systems that are compared: what each is, and how the load generator reaches it."""

from dataclasses import dataclass, field
from pathlib import Path

from support import machine
from support.servers import Server

# In the order of reports: name -> (title, what it is).
SYSTEMS = {
    "walpool": ("Walpool", "walpoold as it comes: synchronous = full"),
    "walpool-pipelined": ("Walpool, pipelined", "synchronous = pipelined: answered when on the disk, visible up to a sync earlier"),
    "walpool-normal": ("Walpool, normal", "synchronous = normal: answered before the sync"),
    "old-walpool": ("Walpool, old", "the walpoold of --old, which takes turns with the other: synchronous = full"),
    "postgres": ("PostgreSQL", "PostgreSQL 15 as initdb configures it, over its Unix socket"),
    "postgres-async": ("PostgreSQL, async", "the same server, a user with synchronous_commit = off"),
    "pgbouncer": ("PgBouncer", "PgBouncer in front of that server, transaction pooling; no prepared statements, so extended protocol"),
    "direct": ("direct SQLite", "a process for each client opens the file: WAL, synchronous = FULL, busy_timeout = 5000"),
    "direct-normal": ("direct SQLite, normal", "the same with synchronous = NORMAL"),
    "grdb": ("GRDB", "a DatabasePool in one process, a thread for each client: what a Swift program gets without a server"),
    "in-process": ("SQLite in a loop", "a thread and a connection for each client in one process: what SQLite does without a server"),
    "canned": ("empty wire server", "answers a row it has at hand, and sleeps until the next message: what socket and kernel cost"),
}
# Only with the program that is meant: --old.
OLD = "old-walpool"
PACKAGES = {
    "postgres": ["postgresql-15"], "postgres-async": ["postgresql-15"], "pgbouncer": ["postgresql-15", "pgbouncer"],
    "canned": ["gcc", "libc6-dev"],
}


def described(system):
    title, what = SYSTEMS[system.name]
    return {"title": title, "what": what + (f"; with {' '.join(system.more)}" if system.more else ""), "settings": system.settings}


@dataclass
class Served:
    """A system behind a socket. `behind` are the servers that work for it as well."""

    name: str
    server: Server
    settings: dict
    user: str | None = None
    protocol: str | None = None
    behind: list = field(default_factory=list)
    # Options that make it another than the one it is described as.
    more: list = field(default_factory=list)

    environment = {}        # of the load generator: a slow disk is the server's

    def command(self, programs, workload):
        command = [programs.load, workload, "--host", self.server.directory, "--port", self.server.port,
                   "--database", self.server.database, "--user", self.user or self.server.user]
        return command + (["--protocol", self.protocol] if self.protocol else [])

    def servers(self):
        return [*self.behind, self.server]

    def cpu_seconds(self):
        return sum(server.cpu_seconds() for server in self.servers())

    def broken(self, patience=0):
        """What became of a server that no longer runs, after so many seconds, or None."""
        for server in self.servers():
            if not server.running(patience):
                return f"{server.name} {server.ended()}: {server.log()}"
        return None

    def asked(self, question):
        """The one number that answers it."""
        with self.server.connect(timeout=120) as connection:
            return int(connection.value(question))


@dataclass
class Embedded:
    """SQLite inside the processes that make the load."""

    name: str
    path: Path
    how: list           # what is said before the path
    settings: dict
    environment: dict = field(default_factory=dict)

    more = ()

    def command(self, programs, workload):
        program = programs.grdb if self.name == "grdb" else programs.load
        return [program, workload, *self.how, self.path, "--synchronous", self.settings["synchronous"]]

    def servers(self):
        return []

    def cpu_seconds(self):
        return None

    def broken(self, patience=0):
        return None

    def asked(self, question):
        with machine.sqlite(self.path) as connection:
            return connection.execute(question).fetchone()[0]
