"""PgBouncer in front of a PostgreSQL that runs."""

import subprocess

from support.servers import Server, not_root

PGBOUNCER = "/usr/sbin/pgbouncer"


class PgBouncer(Server):
    """As its package configures it (20 server connections), but for transaction pooling and room for 1,000 clients.
    1.18 keeps no prepared statements across transactions, so what goes through it prepares for each statement anew:
    https://www.pgbouncer.org/faq.html#how-to-use-prepared-statements-with-transaction-pooling"""

    name = "pgbouncer"
    statuses = (0, 1)       # SIGTERM is an "immediate shutdown"
    settings = {"pool_mode": "transaction", "max_client_conn": "1200"}

    def __init__(self, directory, postgres, environment=None):
        super().__init__(directory, postgres.user, environment)
        self.postgres = postgres
        self.account = not_root(self.directory)

    def start(self):
        own = {"unix_socket_dir": self.directory, "listen_port": self.port, "listen_addr": "", "auth_type": "any",
               **self.settings}
        path = self.directory / "pgbouncer.ini"
        path.write_text(
            f"[databases]\n{self.database} = host={self.postgres.directory} port={self.postgres.port}"
            f" user={self.postgres.user} dbname={self.database}\n[pgbouncer]\n"
            + "".join(f"{name} = {value}\n" for name, value in own.items()))
        self.launch([PGBOUNCER, "-q", path], **self.account)
        try:
            self.wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def described(self):
        version = subprocess.run([PGBOUNCER, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
        return {"version": version, "default_pool_size": 20, **self.settings}
