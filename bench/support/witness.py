"""Clients that remember what the server told them, so that a crash can be judged afterwards."""

import threading

import pgwire

# What a key may turn out to be after a crash.
SENT, ACKNOWLEDGED, ROLLED_BACK = "sent", "acknowledged", "rolled back"

TABLES = ("crash_single", "crash_left", "crash_right")
SCHEMA = [f"CREATE TABLE {table} (key INTEGER PRIMARY KEY, client INTEGER)" for table in TABLES]


class Witness(threading.Thread):
    """A client that inserts keys nobody else uses, each in one of the ways a transaction can be sent, and keeps
    what it was told of every one. It ends when the connection does; then `ledger` says what must be true:
    acknowledged keys are there, rolled back ones are not, the others may be either, but in both tables or
    in neither."""

    def __init__(self, server, client, ledger):
        super().__init__(daemon=True)
        self.client = client
        self.ledger = ledger                    # key -> (single or pair, state), over all rounds
        self.problems = []
        self._server = server
        self._stopping = threading.Event()
        self._ways = [self.single, self.single_with_parameters, self.conversation, self.one_message,
                      self.implicit, self.pipeline, self.explicit_pipeline, self.rolled_back]

    def run(self):
        try:
            with self._server.connect() as connection:
                turn = self.client
                while not self._stopping.is_set():
                    self._ways[turn % len(self._ways)](connection)
                    turn += 1
        except pgwire.ConnectionLost:
            pass        # the server was killed; the judge looks whether it should have been
        except Exception as error:
            self.problems.append(f"client {self.client}: {type(error).__name__}: {error}")

    def stop(self):
        self._stopping.set()

    def single(self, connection):
        key = self._key("single")
        connection.query(f"INSERT INTO crash_single VALUES ({key}, {self.client})")
        self._acknowledged(key)
        # The acknowledged row is there for the very next read, wherever it runs.
        if connection.value(f"SELECT count(*) FROM crash_single WHERE key = {key}") != "1":
            self.problems.append(f"client {self.client} does not see its own row {key}")

    def single_with_parameters(self, connection):
        key = self._key("single")
        connection.pipeline([("INSERT INTO crash_single VALUES ($1, $2)", (key, self.client))])
        self._acknowledged(key)

    def conversation(self, connection):
        key = self._key("pair")
        for statement in self._transaction(key, "COMMIT"):
            connection.query(statement)
        self._acknowledged(key)

    def one_message(self, connection):
        key = self._key("pair")
        connection.query("; ".join(self._transaction(key, "COMMIT")))
        self._acknowledged(key)

    def implicit(self, connection):
        key = self._key("pair")
        connection.query("; ".join(self._inserts(key)))
        self._acknowledged(key)

    def pipeline(self, connection):
        key = self._key("pair")
        connection.pipeline([(statement, ()) for statement in self._inserts(key)])
        self._acknowledged(key)

    def explicit_pipeline(self, connection):
        key = self._key("pair")
        connection.pipeline([(statement, ()) for statement in self._transaction(key, "COMMIT")])
        self._acknowledged(key)

    def rolled_back(self, connection):
        key = self._key("pair")
        # From here on it must never be seen, whether the rollback is answered or not.
        self.ledger[key] = ("pair", ROLLED_BACK)
        for statement in self._transaction(key, "ROLLBACK"):
            connection.query(statement)

    def _transaction(self, key, end):
        return ["BEGIN", *self._inserts(key), end]

    def _inserts(self, key):
        return [f"INSERT INTO {table} VALUES ({key}, {self.client})" for table in ("crash_left", "crash_right")]

    def _key(self, kind):
        key = (self.client << 40) + len(self.ledger) + 1
        self.ledger[key] = (kind, SENT)
        return key

    def _acknowledged(self, key):
        self.ledger[key] = (self.ledger[key][0], ACKNOWLEDGED)


class Auditor(threading.Thread):
    """Looks, while the load runs, for a transaction that is half visible: both tables in one statement."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.problems = []
        self._server = server
        self._stopping = threading.Event()

    def run(self):
        try:
            with self._server.connect() as connection:
                while not self._stopping.wait(0.1):
                    [counted] = connection.query(
                        "SELECT (SELECT count(*) FROM crash_left), (SELECT count(*) FROM crash_right)")
                    left, right = counted.rows[0]
                    if left != right:
                        self.problems.append(f"a reader saw {left} and {right} rows of whole transactions")
        except pgwire.ConnectionLost:
            pass
        except Exception as error:
            self.problems.append(f"auditor: {type(error).__name__}: {error}")

    def stop(self):
        self._stopping.set()


def judge(ledgers, single, left, right):
    """Compares what clients were told with the keys found. Returns what is wrong, in a few lines."""
    told = {key: entry for ledger in ledgers for key, entry in ledger.items()}
    problems = []

    def complain(text, keys):
        if keys:
            problems.append(f"{len(keys)} {text}, such as {min(keys)}")

    complain("transactions half done", left ^ right)
    complain("acknowledged keys are missing", lost(ledgers, single, left, right))
    found = single | left | right
    complain("rolled back keys are there", {key for key in found if told.get(key, ("", ""))[1] == ROLLED_BACK})
    complain("keys are there that nobody sent", found - told.keys())
    return problems


def lost(ledgers, single, left, right):
    """The acknowledged keys that are not there, wholly or in part."""
    there = {"single": single, "pair": left & right}
    return {key for ledger in ledgers for key, (kind, state) in ledger.items()
            if state == ACKNOWLEDGED and key not in there[kind]}
