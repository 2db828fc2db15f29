"""The fixed script of the fault test: what can go wrong in a transaction, in every way one can be sent."""

import contextlib
import sqlite3

import pgwire
from support.ledger import ACKNOWLEDGED, ROLLED_BACK, UNKNOWN

# A cache so small that a transaction spills into the WAL before it commits, checkpoints now and then, and no long wait
# for the snapshot of the script when the daemon opens its files anew.
CONFIGURATION = """\
readers = 3
cache_size_kib = 16
checkpoint_frames = 20
gate_limit = "50ms"
shutdown_timeout = "2s"
"""

SCHEMA = """
CREATE TABLE log (txn INTEGER PRIMARY KEY, note TEXT);
CREATE TABLE mirror (txn INTEGER PRIMARY KEY, note TEXT);
CREATE INDEX log_note ON log (note);
CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER, mark INTEGER, filler TEXT);
CREATE INDEX account_balance ON account (balance);
CREATE TRIGGER log_mirrored AFTER INSERT ON log BEGIN INSERT INTO mirror VALUES (new.txn, upper(new.note)); END;
CREATE TRIGGER account_marked AFTER UPDATE OF mark ON account WHEN new.id = 1
    BEGIN INSERT INTO log VALUES (new.mark, 'marked'); END;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150)
    INSERT INTO account SELECT i, 1000, 0, printf('%200s', i) FROM n;
"""

READ = "SELECT (SELECT group_concat(txn) FROM log), (SELECT group_concat(txn) FROM mirror)"

# The client does not know whether its COMMIT took place: it was told so, or the server went away.
UNKNOWN_STATES = {"08007", "08006", "57P01", "57P02"}


def make_template(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(SCHEMA)


class DaemonEnded(Exception):
    """There is nobody to connect to any more."""


class Client:
    """A session that connects again when it is lost, as an application's pool would."""

    def __init__(self, connect):
        self._connect = connect
        self._connection = None

    def send(self, sql):
        if self._connection is None:
            self._connection = self._connect()
        self._guard(self._connection.send_query, sql)

    def receive(self):
        if self._connection is None:
            raise pgwire.ConnectionLost("lost before")
        return self._guard(self._connection.receive_results)

    def query(self, sql):
        self.send(sql)
        return self.receive()

    @property
    def status(self):
        return self._connection.status if self._connection else None

    def close(self):
        if self._connection:
            self._connection.close()
        self._connection = None

    def _guard(self, call, *arguments):
        try:
            return call(*arguments)
        except pgwire.ConnectionLost:
            self.close()
            raise
        except pgwire.ServerError as error:
            if error.severity != "ERROR":
                self.close()
            raise


class Script:
    """Runs the script with three clients. `errors` are the SQLSTATEs they met, `problems` what must not be."""

    def __init__(self, ledger, connect):
        self.ledger = ledger
        self.errors = []
        self.problems = []
        self.failed_reads = []
        self._clients = [Client(connect) for _ in range(3)]

    def run(self):
        a, b, c = self._clients
        try:
            self._changes(a, b, c)
            self._tables(a, b, c)
            self._snapshots(a, b, c)
        finally:
            for client in self._clients:
                client.close()

    def _changes(self, a, b, c):
        self.autocommit(a, "INSERT INTO log VALUES ({t}, 'one')")
        self.group(a, b, c, "INSERT INTO log VALUES ({t}, 'grouped')")
        self.read(b)
        self.autocommit(b, "UPDATE account SET balance = balance + 1, mark = {t}")
        self.block(a, ["INSERT INTO log VALUES ({t}, 'block')",
                       "UPDATE account SET balance = balance - id, filler = filler || 'x' WHERE id % 3 = 0",
                       "DELETE FROM account WHERE id % 7 = 0"])
        self.read(b)
        self.block(b, ["INSERT INTO log VALUES ({t}, 'undone')", "UPDATE account SET filler = ''"], end="ROLLBACK")
        self.savepoint(a, before="INSERT INTO log VALUES ({t}, 'saved')",
                       inside="UPDATE account SET filler = 'inside' || filler",
                       after="UPDATE account SET balance = 0 WHERE id % 5 = 0")
        self.read(c)

    def _tables(self, a, b, c):
        self.message(a, ["INSERT INTO log VALUES ({t}, 'create')",
                         "CREATE TABLE extra (a INTEGER PRIMARY KEY, b TEXT)"])
        self.group(b, a, c, "INSERT INTO log VALUES ({t}, 'fill'); "
                            "INSERT INTO extra (b) SELECT hex(id) FROM account WHERE id % 2 = 0")
        self.message(b, ["INSERT INTO log VALUES ({t}, 'index')", "CREATE INDEX extra_b ON extra (b)"])
        self.message(a, ["INSERT INTO log VALUES ({t}, 'delete')", "DELETE FROM extra WHERE a % 3 = 0"])
        self.read(a)
        self.block(c, ["INSERT INTO log VALUES ({t}, 'alter')", "ALTER TABLE extra ADD COLUMN c DEFAULT 7",
                       "UPDATE extra SET c = a"])
        self.message(b, ["INSERT INTO log VALUES ({t}, 'drop')", "DROP TABLE extra"])

    def _snapshots(self, a, b, c):
        before = self.attempt(c, "BEGIN ISOLATION LEVEL REPEATABLE READ") and self.attempt(c, READ)
        self.autocommit(a, "UPDATE account SET balance = 7, mark = {t}")
        self.block(b, ["INSERT INTO log VALUES ({t}, 'beside a snapshot')"], begin="BEGIN IMMEDIATE")
        after = before and self.attempt(c, READ)
        if before and after and before != after:
            self.problems.append("a snapshot has changed")
        self.attempt(c, "ROLLBACK")
        self.block(c, ["INSERT INTO log VALUES ({t}, 'promoted')"], begin="BEGIN ISOLATION LEVEL SERIALIZABLE")
        for _ in range(3):
            self.autocommit(a, "INSERT INTO log VALUES ({t}, 'last')")
        self.read(b)

    # Ways to send a transaction

    def autocommit(self, client, statement):
        self.message(client, [statement])

    def message(self, client, statements):
        """All of it in one query string: one implicit transaction."""
        number, sql = self._numbered(statements)
        self._send(client, number, sql)
        self._receive(client, number, sql)

    def group(self, holder, first, second, statements):
        """Two transactions that wait for a third, and so share a commit."""
        held, held_sql = self._numbered(["INSERT INTO log VALUES ({t}, 'held')"])
        begun = self._steps(holder, ["BEGIN", *held_sql])
        waiting = []
        for client in (first, second):
            number, sql = self._numbered(statements.split("; "))
            if self._send(client, number, sql):
                waiting.append((client, number, sql))
        if begun:
            self._commit(holder, held, held_sql)
        for client, number, sql in waiting:
            self._receive(client, number, sql)

    def block(self, client, statements, begin="BEGIN", end="COMMIT"):
        """A message for each statement."""
        number, sql = self._numbered(statements)
        if not self._steps(client, [begin, *sql]):
            return
        if end == "COMMIT":
            self._commit(client, number, sql)
        else:
            self.attempt(client, end)

    def savepoint(self, client, before, inside, after):
        """A part that fails is undone, and the rest is committed."""
        number, (before, inside, after) = self._numbered([before, inside, after])
        if not self._steps(client, ["BEGIN", before, "SAVEPOINT s"]):
            return
        done = [before]
        if self.attempt(client, inside):
            done.append(inside)
        if self._steps(client, ["ROLLBACK TO s" if len(done) == 1 else "RELEASE s", after]):
            self._commit(client, number, [*done, after])

    def read(self, client):
        if results := self.attempt(client, READ):
            logged, mirrored = ({int(number) for number in (text or "").split(",") if number}
                                for text in results[-1].rows[0])
            self.problems += self.ledger.saw(logged, mirrored)
        else:
            self.failed_reads.append(self.errors[-1])

    def attempt(self, client, sql):
        """The results, or None after an error."""
        try:
            return client.query(sql)
        except (pgwire.ServerError, pgwire.ConnectionLost) as error:
            self._met(error)
            return None

    def _numbered(self, statements):
        number = self.ledger.begin()
        return number, [statement.format(t=number) for statement in statements]

    def _steps(self, client, statements):
        """False after an error, and then the transaction is over."""
        for sql in statements:
            if self.attempt(client, sql) is None:
                if client.status not in (None, "I"):
                    self.attempt(client, "ROLLBACK")
                return False
        return True

    def _commit(self, client, number, sql):
        try:
            client.send("COMMIT")
        except pgwire.ConnectionLost as error:
            return self._met(error)
        self._receive(client, number, sql)

    def _send(self, client, number, sql):
        try:
            client.send("; ".join(sql))
        except (pgwire.ServerError, pgwire.ConnectionLost) as error:
            # Bytes may have arrived all the same.
            self.ledger.tell(number, UNKNOWN, sql)
            self._met(error)
            return False
        return True

    def _receive(self, client, number, sql):
        try:
            results = client.receive()
            rolled_back = any(result.tag == "ROLLBACK" for result in results)
            self.ledger.tell(number, ROLLED_BACK if rolled_back else ACKNOWLEDGED, sql)
        except pgwire.ConnectionLost as error:
            self.ledger.tell(number, UNKNOWN, sql)
            self._met(error)
        except pgwire.ServerError as error:
            self.ledger.tell(number, UNKNOWN if error.code in UNKNOWN_STATES else ROLLED_BACK, sql)
            self._met(error)
        if client.status not in (None, "I"):
            self.problems.append(f"a transaction is over and the session's status is {client.status}")
            client.close()

    def _met(self, error):
        if isinstance(error, pgwire.ServerError):
            self.errors.append(error.code)
            if error.code == "XX000":
                self.problems.append(f"internal error: {error}")
        elif "timed out" in str(error):
            self.problems.append("no answer came")
        else:
            self.errors.append("closed")
