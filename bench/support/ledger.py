"""What the clients of a fault test were told of each transaction, and whether the file agrees.

Every transaction writes its own number into the table `log`, so the file says which of them took place. Those are run
again, in their order, on a copy of the database as it was at first: the result must be the file, row for row. So a
transaction that was done in part shows, whatever it consists of.
"""

import contextlib
import sqlite3

ACKNOWLEDGED, ROLLED_BACK, UNKNOWN = "acknowledged", "rolled back", "unknown"


class Ledger:
    def __init__(self, reads_are_durable=True):
        """With synchronous = pipelined a commit is visible one sync before it is acknowledged, so what was read may go with
        the sync that fails."""
        self._reads_are_durable = reads_are_durable
        self._statements = {}       # transaction -> its statements, without those a savepoint has undone
        self._told = {}
        self._seen = set()

    def begin(self):
        """A new transaction. Until its client is told otherwise it must not be there."""
        number = len(self._told) + 1
        self._statements[number], self._told[number] = [], ROLLED_BACK
        return number

    def tell(self, number, told, statements):
        self._told[number] = told
        self._statements[number] = list(statements)

    def count(self, told):
        return sum(state == told for state in self._told.values())

    def saw(self, logged, mirrored):
        """A client has read which transactions there are, from two tables. Returns what is wrong with it."""
        self._seen |= logged
        return self._compare(logged, mirrored, "a client read")

    def judge(self, path, template):
        """Compares the file with what was told. Returns what is wrong."""
        try:
            return self._judge(path, template)
        except sqlite3.DatabaseError as error:
            return [f"the file cannot be read: {error}"]

    def _judge(self, path, template):
        with contextlib.closing(sqlite3.connect(path, timeout=5)) as found:
            checked = [row[0] for row in found.execute("PRAGMA integrity_check")]
            if checked != ["ok"]:
                return [f"integrity_check: {checked[:3]}"]
            logged, mirrored = ({number for number, in found.execute(f"SELECT txn FROM {table}")}
                                for table in ("log", "mirror"))
            problems = self._compare(logged, mirrored, "the file has")
            if self._reads_are_durable and (vanished := self._seen - logged):
                problems.append(f"transactions {sorted(vanished)} were read and are gone")
            if not problems:
                problems = self._replay(found, logged, template)
        return problems

    def _compare(self, logged, mirrored, where):
        problems = []
        if logged != mirrored:
            problems.append(f"{where} transactions {sorted(logged ^ mirrored)} in part")
        if missing := {number for number, told in self._told.items() if told == ACKNOWLEDGED} - logged:
            problems.append(f"{where} acknowledged transactions {sorted(missing)} not")
        if undone := {number for number in logged if self._told.get(number) == ROLLED_BACK}:
            problems.append(f"{where} transactions {sorted(undone)} that were rolled back")
        return problems

    def _replay(self, found, logged, template):
        with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as expected:
            with contextlib.closing(sqlite3.connect(template)) as source:
                source.backup(expected)
            for number in sorted(logged):
                for statement in self._statements[number]:
                    expected.execute(statement)
            differing = set(expected.iterdump()) ^ set(found.iterdump())
        return [f"the file is not what its transactions make: {sorted(differing)[:3]}"] if differing else []
