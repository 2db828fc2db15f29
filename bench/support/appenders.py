"""Clients that append to lists and read them, in transactions of every level and shape, and write down what they
did, when, and what they were told: a history for support/history.py to judge."""

import itertools
import random
import threading
import time
from collections import Counter

import pgwire
from support.history import ABORTED, COMMITTED, PER_STATEMENT, SNAPSHOT, UNKNOWN, Append, Read, Transaction

SCHEMA = [
    # One higher than the highest: "the ROWID chosen for the new row is at least one larger than the largest ROWID"
    # in use (https://www.sqlite.org/autoinc.html). Nothing is ever deleted, so a gap is a lost row.
    "CREATE TABLE list (number INTEGER PRIMARY KEY, key INTEGER NOT NULL, value INTEGER NOT NULL)",
    "CREATE INDEX list_by_key ON list (key)",
]
ROWS = "SELECT number, key, value FROM list ORDER BY number"

# How a transaction begins, and what that promises of its reads. IMMEDIATE reads on the writer, which nobody else has.
LEVELS = {
    "BEGIN": PER_STATEMENT,
    "BEGIN ISOLATION LEVEL READ COMMITTED": PER_STATEMENT,
    "BEGIN ISOLATION LEVEL REPEATABLE READ": SNAPSHOT,
    "BEGIN ISOLATION LEVEL SERIALIZABLE": SNAPSHOT,
    "BEGIN DEFERRED": SNAPSHOT,
    "BEGIN IMMEDIATE": SNAPSHOT,
    "BEGIN READ ONLY": SNAPSHOT,
}

# What a transaction may be refused for: a snapshot that is too old to write or to be kept (only snapshots are); a
# statement that took too long, or ran while the WAL had to be emptied; a wait for the writer; and what FAILS does.
TOO_OLD, REFUSALS = "40001", ("57014", "55P03", "23502")

# A transaction that has kept the writer idle while others waited is rolled back, and its session ended.
EVICTED = "25P03"
LONGEST_KEEPING_SECONDS = 0.04

# A statement that fails, and ends the transaction it is in, whoever else's that is (GroupCommit has to see to them).
# It does whatever the list holds: the first transaction of all finds it empty.
FAILS = ("INSERT OR ROLLBACK INTO list (key, value) VALUES (NULL, 0)", "INSERT INTO list (key, value) VALUES (NULL, 0)")

# What a session may begin with: so little time that writes are stopped in the middle of a shared commit.
NO_LIMITS = ({},)
TIME_LIMITS = ({}, {}, {"options": "-cstatement_timeout=4ms"}, {"options": "-clock_timeout=4ms"})

# How long a client may think between two statements of a snapshot, so that it stands in a checkpoint's way.
LONGEST_THOUGHT_SECONDS = 0.3

# A list is appended to for a while and then left, or reading it would take ever longer.
LISTS, APPENDS_PER_LIST = 5, 30
LONGEST = 5     # statements in a transaction


class Control:
    """What the clients share with whoever kills the daemon: whether it is there, and which values are used up."""

    def __init__(self):
        self.epoch = 0                      # of the daemon; goes up before each kill
        self.is_up = threading.Event()
        self.stopping = threading.Event()
        self._values = itertools.count(1)   # next() is atomic under the interpreter's lock

    def next_value(self):
        return next(self._values)


class Vanished(Exception):
    """The client has left without waiting for an answer."""


class Appender(threading.Thread):
    def __init__(self, server, client, control, seed, settings=TIME_LIMITS):
        super().__init__(daemon=True)
        self.client = client
        self.history = []
        self.problems = []
        self.refusals = Counter()
        self._server = server
        self._control = control
        self._settings = settings
        self._chance = random.Random(seed)
        self._newest = client       # the newest value of its own; tells about how far the others are
        self._shapes = [self.single, self.conversation, self.conversation, self.message, self.implicit_message,
                        self.pipeline, self.explicit_pipeline]

    def run(self):
        control = self._control
        while not control.stopping.is_set() and not self.problems:
            epoch = control.epoch       # before looking whether it is up: a kill in between is one to be expected
            if not control.is_up.wait(0.1):
                continue
            try:
                with self._server.connect(**self._chance.choice(self._settings)) as connection:
                    for _ in range(self._chance.randint(20, 500)):
                        if control.stopping.is_set():
                            break
                        self.turn(connection)
            except Vanished:
                pass
            except pgwire.ConnectionLost as error:
                if control.epoch == epoch:
                    self.problems.append(f"client {self.client} lost its connection without a kill: {error}")
            except Exception as error:
                self.problems.append(f"client {self.client}: {type(error).__name__}: {error}")

    def turn(self, connection):
        shape = self._chance.choice(self._shapes)
        begin = self._chance.choice(list(LEVELS))
        steps = [self.step(begin) for _ in range(self._chance.randint(1, LONGEST))]
        if self._chance.random() < 0.03 and begin != "BEGIN READ ONLY":
            steps.insert(self._chance.randrange(len(steps) + 1), self._chance.choice(FAILS))
        reads_are = LEVELS[begin] if shape in (self.conversation, self.message, self.explicit_pipeline) \
            else PER_STATEMENT
        transaction = Transaction(self.client, reads_are, time.monotonic(), shape=f"{shape.__name__}, {begin}")
        self.history.append(transaction)
        try:
            shape(connection, transaction, begin, steps)
            if transaction.outcome == UNKNOWN:
                transaction.outcome = COMMITTED
        except pgwire.ServerError as error:
            transaction.outcome = ABORTED
            self.refusals[f"{error.code} {error.message}"] += 1
            if error.severity == "FATAL" and error.code == EVICTED:
                raise Vanished from error
            if error.code not in REFUSALS and (error.code != TOO_OLD or reads_are == PER_STATEMENT):
                self.problems.append(f"{transaction}: {error}")
            if connection.status != "I":
                connection.query("ROLLBACK")
        finally:
            transaction.ended = time.monotonic()

    def step(self, begin):
        """The keys to read as a list, or one key to append to and the value as a tuple. (A text is a statement.)"""
        base = self._newest // (LISTS * APPENDS_PER_LIST) * LISTS
        keys = range(base, base + LISTS)
        if begin == "BEGIN READ ONLY" or self._chance.random() < 0.5:
            return self._chance.sample(keys, self._chance.choice([1, 1, 2, LISTS]))
        self._newest = self._control.next_value()
        return self._chance.choice(keys), self._newest

    # Shapes

    def single(self, connection, transaction, _, steps):
        if self._chance.random() < 0.02:
            self.leave(connection, transaction, steps[:1], sql_of(steps[0]))
        self.at_once(transaction, steps[:1], lambda sql: self.send(connection, sql[0]))

    def implicit_message(self, connection, transaction, _, steps):
        self.at_once(transaction, steps, lambda sql: connection.query("; ".join(sql)))

    def pipeline(self, connection, transaction, _, steps):
        self.at_once(transaction, steps, lambda sql: connection.pipeline([(text, ()) for text in sql]))

    def message(self, connection, transaction, begin, steps):
        if self._chance.random() < 0.02:
            self.leave(connection, transaction, steps, "; ".join([begin, *map(sql_of, steps), "COMMIT"]))
        self.at_once(transaction, steps, lambda sql: connection.query("; ".join([begin, *sql, "COMMIT"]))[1:-1])

    def explicit_pipeline(self, connection, transaction, begin, steps):
        self.at_once(transaction, steps, lambda sql: connection.pipeline(
            [(text, ()) for text in (begin, *sql, "COMMIT")])[1:-1])

    def conversation(self, connection, transaction, begin, steps):
        """A message for each statement: until COMMIT is sent, nothing can have been done for good."""
        transaction.outcome = ABORTED
        keeps_snapshot = transaction.reads_are == SNAPSHOT and begin != "BEGIN IMMEDIATE"
        connection.query(begin)
        for step in steps:
            if isinstance(step, tuple) and self._chance.random() < 0.1:
                self.undone(connection, step)
                continue
            self.at_once(transaction, [step], lambda sql: self.send(connection, sql[0]))
            if keeps_snapshot and not transaction.appends and self._chance.random() < 0.05:
                time.sleep(self._chance.uniform(0, LONGEST_THOUGHT_SECONDS))
            elif transaction.appends and self._chance.random() < 0.03:
                time.sleep(self._chance.uniform(0, LONGEST_KEEPING_SECONDS))
        end = self._chance.random()
        if end < 0.1:
            connection.query("ROLLBACK")
            return
        if end < 0.12:
            self.leave(connection, transaction, [], "SELECT 1")
        transaction.outcome = UNKNOWN
        if end < 0.14:
            self.leave(connection, transaction, [], "COMMIT")
        connection.query("COMMIT")

    def leave(self, connection, transaction, steps, sql):
        began = time.monotonic()
        transaction.operations += [Append(*step, began) for step in steps if isinstance(step, tuple)]
        connection.vanish(sql)
        raise Vanished

    def undone(self, connection, step):
        """An append that a savepoint takes back is one that nobody may ever see."""
        began = time.monotonic()
        self.history.append(Transaction(self.client, PER_STATEMENT, began, began, ABORTED,
                                        [Append(*step, began)], "rolled back to a savepoint"))
        connection.query("SAVEPOINT before")
        connection.query(sql_of(step))
        connection.query("ROLLBACK TO before")

    def send(self, connection, sql):
        """One statement, by either protocol."""
        return connection.query(sql) if self._chance.random() < 0.5 else connection.pipeline([(sql, ())])

    def at_once(self, transaction, steps, send):
        """Sends steps without waiting between them, and writes down what came of them."""
        began = time.monotonic()
        before = len(transaction.operations)
        # Known before the answer: if none comes, these are in doubt.
        transaction.operations += [Append(*step, began) for step in steps if isinstance(step, tuple)]
        results = send([sql_of(step) for step in steps])
        ended = time.monotonic()
        del transaction.operations[before:]
        for step, result in zip(steps, results, strict=True):
            if isinstance(step, tuple):
                transaction.operations.append(Append(*step, began))
            elif isinstance(step, list):
                transaction.operations.append(Read(lists_of(step, result.rows), began, ended))
            else:
                self.problems.append(f"{transaction}: {step} succeeded")


def sql_of(step):
    if isinstance(step, str):
        return step
    if isinstance(step, tuple):
        return "INSERT INTO list (key, value) VALUES ({}, {})".format(*step)
    return f"SELECT key, value FROM list WHERE key IN ({', '.join(map(str, step))}) ORDER BY number"


def lists_of(keys, rows):
    lists = {key: [] for key in keys}
    for key, value in rows:
        lists[int(key)].append(int(value))
    return lists
