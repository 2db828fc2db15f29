"""Clients that insert rows all the while, whatever happens to the daemon, and remember what they were told."""

import itertools
import threading

import wire
from report import equal, ok, say, until
from service import PATH, value

CLIENTS = 6
# Sessions end with the daemon, and some connections before they are sessions. Everything else would be a surprise.
ENDED = ("57P01", "57P03")


class Load:
    """Use it as a context: at its end every row that was acknowledged has to be there, and none that was not sent."""

    def __init__(self, path=PATH, database="app"):
        self.path, self.database = path, database
        self.acknowledged, self.sent = set(), set()
        self.connects, self.problems = 0, []
        self._numbers = itertools.count(1)
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._insert_for_ever, daemon=True) for _ in range(CLIENTS)]

    def __enter__(self):
        self.value("DROP TABLE IF EXISTS load")
        self.value("CREATE TABLE load (number INTEGER PRIMARY KEY)")
        for thread in self._threads:
            thread.start()
        self.wait_for_more()
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.wait_for_more()
        self._stopping.set()
        for thread in self._threads:
            thread.join(wire.DEADLINE)

    def value(self, sql):
        return value(sql, database=self.database, directory=self.path.rpartition("/")[0])

    def _insert_for_ever(self):
        while not self._stopping.is_set():
            try:
                # connect(2) waits when the backlog is full; an error of it means that nobody listens.
                client = wire.Client(self.path)
            except OSError as error:
                self.problems.append(f"connect: {error}")
                return
            with client:
                self.connects += 1
                try:
                    self._insert(client)
                except (wire.ConnectionClosed, BrokenPipeError, ConnectionResetError):
                    pass
                except Exception as error:
                    self.problems.append(f"{type(error).__name__}: {error}")
                    return

    def _insert(self, client):
        # Longer than any restart: the daemon may have to be killed by the watchdog first.
        client.socket.settimeout(60)
        if not self._goes_on(client.start(user="root", database=self.database)):
            return
        while not self._stopping.is_set():
            number = next(self._numbers)
            self.sent.add(number)
            if not self._goes_on(client.query(f"INSERT INTO load VALUES ({number})")):
                return
            self.acknowledged.add(number)

    def _goes_on(self, reply):
        states = [error["C"] for error in reply.errors]
        if any(state not in ENDED for state in states):
            self.problems.append(str(reply.errors))
        return not reply.closed and not states

    def wait_for_more(self, inserts=200):
        """Until so many more were acknowledged, to sessions that may have to connect first."""
        before = len(self.acknowledged)
        until(lambda: len(self.acknowledged) >= before + inserts or self.problems, "more acknowledged inserts")

    def judge(self, what):
        there = {int(line) for line in self.value("SELECT number FROM load").split()}
        lost, invented = self.acknowledged - there, there - self.sent
        ok(not lost and not invented, f"{what}: every acknowledged row is there, and no other",
           f"{len(lost)} lost: {sorted(lost)[:10]}", f"{len(invented)} never sent: {sorted(invented)[:10]}")
        equal(self.problems[:5], [], f"{what}: no connection was refused")
        equal(self.value("PRAGMA integrity_check"), "ok", f"{what}: integrity_check")
        say(f"{len(self.acknowledged)} acknowledged of {len(self.sent)} sent, {self.connects} connections")
