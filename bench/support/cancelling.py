"""Sessions that run statements of every kind, and threads that cancel them at random moments."""

import contextlib
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass

import pgwire
from support.witness import ACKNOWLEDGED, ROLLED_BACK, SENT

CANCELED = "57014"

COUNT = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {0}) SELECT count(*) FROM n)"
LONG = (3_000, 30_000)      # rows of a long statement: about a millisecond, and several


@dataclass
class Event:
    """A cancelled statement, or a cancel request, and when it was under way."""

    session: int
    began: float
    ended: float
    kind: str = ""


def strays(hits, requests):
    """The cancelled statements for which no request can be named: each request for a session's own key accounts for
    one statement of that session at most, and only for one that was under way at the same time."""
    waiting = {}
    for request in sorted(requests, key=lambda request: request.ended):
        waiting.setdefault(request.session, []).append(request)
    unexplained = []
    for hit in sorted(hits, key=lambda hit: hit.ended):
        mine = waiting.get(hit.session, [])
        # A session's statements follow one another, so the request that ended first serves no later one better.
        chosen = next((r for r in mine if r.began <= hit.ended and r.ended >= hit.began), None)
        if chosen is None:
            unexplained.append(hit)
        else:
            mine.remove(chosen)
            del mine[:next((i for i, r in enumerate(mine) if r.ended >= hit.began), len(mine))]
    return unexplained


class Canceled(Exception):
    pass


class Worker(threading.Thread):
    """A client with one session after the other. What it is told of its keys is in `ledger`, for witness.judge."""

    def __init__(self, server, client, seed):
        super().__init__(daemon=True)
        self.client = client
        self.ledger = {}
        self.hits = []
        self.problems = []
        self.statements = 0
        self.session = (0, 0, b"")      # number, process ID, key; replaced as a whole, for the cancelling threads
        self.ended_sessions = []        # keys that are nobody's any more
        self._server = server
        self._chance = random.Random(seed)
        self._stopping = threading.Event()
        self._kinds = [self.short_read, self.long_read, self.many_rows, self.snapshot_read, self.single, self.single,
                       self.long_write, self.one_message, self.pipeline, self.holder]

    def stop(self):
        self._stopping.set()

    def run(self):
        number = self.client << 20
        try:
            while not self._stopping.is_set():
                number += 1
                with self._server.connect() as connection:
                    self._connection = connection
                    self.session = number, connection.process_id, connection.key
                    # A new session may get an old one's process ID; its key it must not have.
                    for _ in range(self._chance.randint(20, 200)):
                        if self._stopping.is_set():
                            break
                        self.turn()
                    ended, self.session = self.session, (0, 0, b"")
                self.ended_sessions.append(ended)
        except Exception as error:
            self.problems.append(f"client {self.client}: {type(error).__name__}: {error}")

    def turn(self):
        kind = self._chance.choice(self._kinds)
        self._kind = kind.__name__
        try:
            kind()
        except Canceled:
            self._kind += ", ROLLBACK"
            while self._connection.status != "I":
                # Another thread's cancel may meet it before it has begun, as in PostgreSQL. Then the block is still there.
                with contextlib.suppress(Canceled):
                    self.ask(lambda: self._connection.query("ROLLBACK"))

    def ask(self, send):
        """One message to the server, or one pipeline, and its answer."""
        began = time.monotonic()
        self.statements += 1
        try:
            return send()
        except pgwire.ServerError as error:
            if error.code != CANCELED:
                raise
            self.hits.append(Event(self.session[0], began, time.monotonic(), self._kind))
            raise Canceled from error

    def query(self, sql):
        return self.ask(lambda: self._connection.query(sql))

    # Kinds of statements

    def short_read(self):
        self.expect("SELECT 40 + 2", "42")

    def long_read(self):
        rows = self._chance.randint(*LONG)
        self.expect(f"SELECT {COUNT.format(rows)}", str(rows))

    def many_rows(self):
        [result] = self.query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
                              "SELECT i, hex(zeroblob(500)) FROM n")
        if len(result.rows) != 300 or result.rows[-1][0] != "300":
            self.problems.append(f"client {self.client} got {len(result.rows)} rows of 300")

    def snapshot_read(self):
        self.query("BEGIN ISOLATION LEVEL REPEATABLE READ")
        self.long_read()
        self.query("COMMIT")

    def expect(self, sql, value):
        got = self.query(sql)[-1].rows[0][0]
        if got != value:
            self.problems.append(f"client {self.client}: {sql} is {got}")

    def single(self):
        self.write("single", lambda key: self.query(f"INSERT INTO crash_single VALUES ({key}, {self.client})"))

    def long_write(self):
        rows = self._chance.randint(*LONG)
        self.write("single", lambda key: self.query(f"INSERT INTO crash_single SELECT {key}, {COUNT.format(rows)}"))

    def one_message(self):
        self.write("pair", lambda key: self.query("; ".join(["BEGIN", *self.pair(key), "COMMIT"])))

    def pipeline(self):
        self.write("pair", lambda key: self.ask(
            lambda: self._connection.pipeline([(statement, ()) for statement in self.pair(key)])))

    def holder(self):
        """Keeps the writer over several messages, so that others queue."""

        def converse(key):
            for statement in ["BEGIN IMMEDIATE", *self.pair(key), "COMMIT"]:
                self.query(statement)

        self.write("pair", converse)

    def pair(self, key):
        return [f"INSERT INTO {table} VALUES ({key}, {self.client})" for table in ("crash_left", "crash_right")]

    def write(self, kind, send):
        """Answered is done, cancelled is not done."""
        key = (self.client << 40) + len(self.ledger) + 1
        self.ledger[key] = (kind, SENT)
        try:
            send(key)
        except Canceled:
            self.ledger[key] = (kind, ROLLED_BACK)
            raise
        self.ledger[key] = (kind, ACKNOWLEDGED)


class Canceller(threading.Thread):
    """Sends `count` cancel requests for the sessions of targets, and beside them forged ones, which must do nothing:
    a bystander's process ID with a target's key or with any, and keys of sessions that have ended."""

    def __init__(self, server, targets, bystanders, count, seed, betrayed=0):
        super().__init__(daemon=True)
        self.requests = []
        self.forged = Counter()
        self.problems = []
        self._server = server
        self._targets, self._bystanders = targets, bystanders
        self._count = count
        self._betrayed = betrayed
        self._chance = random.Random(seed)

    def run(self):
        try:
            while len(self.requests) < self._count:
                time.sleep(self._chance.choice([0, self._chance.uniform(0, 0.02)]))
                if self._chance.random() < 0.25:
                    self.forge()
                number, process_id, key = self._chance.choice(self._targets).session
                if number:
                    began = time.monotonic()
                    self.send(process_id, key)
                    self.requests.append(Event(number, began, time.monotonic()))
        except Exception as error:
            self.problems.append(f"canceller: {type(error).__name__}: {error}")

    def forge(self):
        target = self._chance.choice(self._targets)
        number, process_id, key = self._chance.choice(self._bystanders).session
        if not number:
            return
        if self._chance.random() < self._betrayed:
            return self.send(process_id, key)
        kind = self._chance.choice(["random key", "another's key", "longer key", "ended session"])
        if kind == "random key":
            self.send(process_id, self._chance.randbytes(len(key)))
        elif kind == "longer key":
            self.send(process_id, key + self._chance.randbytes(4))
        elif kind == "another's key" and target.session[0]:
            self.send(process_id, target.session[2])
        elif kind == "ended session" and target.ended_sessions:
            self.send(*self._chance.choice(target.ended_sessions)[1:])
        else:
            return
        self.forged[kind] += 1

    def send(self, process_id, key):
        pgwire.cancel(self._server.directory, self._server.port, process_id, key)
