"""A list-append checker in the manner of Elle (https://github.com/jepsen-io/elle), for a database with one writer.

Clients append unique values to lists and read lists. In the database an append is a row of one table, numbered one
higher than the highest so far, so the numbers at the end tell the order of all appends, and the transactions that
appended follow each other whole: the order of commits is known, and nothing has to be searched. What remains is to
place every read in it: a read of a list that ends between two of its appends saw the database after one of the
commits between them. These are its *cuts*, an interval of commit indexes (0 is the empty database).

Pure: a history goes in, sentences about what is wrong come out.
"""

from dataclasses import dataclass, field

COMMITTED, ABORTED, UNKNOWN = "committed", "aborted", "unknown"

# What the reads of a transaction must have in common.
PER_STATEMENT = "per statement"     # READ COMMITTED, until the first append
SNAPSHOT = "snapshot"               # one cut for all of them


@dataclass
class Append:
    key: int
    value: int
    began: float


@dataclass
class Read:
    """Lists read by one statement, which is one cut whatever the level."""

    lists: dict                     # key -> values
    began: float
    ended: float


@dataclass
class Transaction:
    client: int
    reads_are: str
    began: float
    ended: float = 0.0              # when its outcome was known
    outcome: str = UNKNOWN
    operations: list = field(default_factory=list)
    shape: str = ""

    @property
    def appends(self):
        return [operation for operation in self.operations if isinstance(operation, Append)]

    @property
    def first_append(self):
        """It cannot have committed anything before this."""
        return self.appends[0].began

    def __str__(self):
        return f"client {self.client}'s transaction ({self.shape}, {self.reads_are}, {self.outcome})"


@dataclass
class Cut:
    """A moment somebody has seen: the database after one of the commits from `low` to `high`, seen at some time
    between `began` and `ended`."""

    low: int
    high: int
    began: float
    ended: float
    of: Transaction


def check(transactions, rows):
    """What is wrong with a history; `rows` are (number, key, value) at the end of it."""
    return Checker(transactions, rows).check()


class Checker:
    def __init__(self, transactions, rows):
        self.transactions = transactions
        self.rows = sorted(rows)
        self.problems = []
        self.writer_of = {append.value: each for each in transactions for append in each.appends}
        self.order = []             # committed transactions that appended, as they committed
        self.index = {}             # id of such a transaction -> its commit index, from 1
        self.lists = {}             # key -> values, at the end
        self.commits = {}           # key -> for each of those values, the commit index that brought it

    def check(self):
        self.check_rows()
        self.check_commits()
        if not self.problems:       # else every read would only repeat it
            cuts = [cut for each in self.transactions for cut in self.cuts_of(each)]
            self.check_commit_times()
            self.check_cut_times(cuts)
        return self.problems

    # What is there at the end

    def check_rows(self):
        found = set()
        for expected, (number, _, value) in enumerate(self.rows, start=1):
            if number != expected:
                self.problems.append(f"row {expected} is missing: the next is {number}")
                break
            if value in found:
                self.problems.append(f"value {value} is there twice")
            found.add(value)
            if value not in self.writer_of:
                self.problems.append(f"value {value} is there, and nobody appended it")
            elif self.writer_of[value].outcome == ABORTED:
                self.problems.append(f"value {value} is there, of {self.writer_of[value]}")
        for each in self.transactions:
            missing = [append.value for append in each.appends if append.value not in found]
            if each.outcome == COMMITTED and missing:
                self.problems.append(f"value {missing[0]} is lost, of {each}")
            if each.outcome == UNKNOWN and 0 < len(missing) < len(each.appends):
                self.problems.append(f"value {missing[0]} is not there and others are, of {each}")

    def check_commits(self):
        """Transactions follow each other whole."""
        if self.problems:
            return
        position = 0
        while position < len(self.rows):
            writer = self.writer_of[self.rows[position][2]]
            self.order.append(writer)
            self.index[id(writer)] = len(self.order)
            sent = [(append.key, append.value) for append in writer.appends]
            there = [(key, value) for _, key, value in self.rows[position:position + len(sent)]]
            if there != sent:
                self.problems.append(f"{writer} appended {sent}; together in the order of commits are {there}")
                return
            for key, value in sent:
                self.lists.setdefault(key, []).append(value)
                self.commits.setdefault(key, []).append(len(self.order))
            position += len(sent)

    # What was read

    def cuts_of(self, transaction):
        """The moments its reads saw. Those that must be one moment are one cut."""
        cuts, own, pinned = [], {}, None
        before = self.index.get(id(transaction), 0) - 1     # what the writer saw: everything before its own commit
        has_appended = False
        for operation in transaction.operations:
            if isinstance(operation, Append):
                # The writer is held from here on: later reads see one moment, and a snapshot was the newest state.
                own.setdefault(operation.key, []).append(operation.value)
                if not has_appended and transaction.reads_are == PER_STATEMENT:
                    pinned = None
                has_appended = True
                continue
            cut = self.cut_of(operation, own, transaction)
            if cut is None:
                return cuts
            if pinned:
                cut = Cut(max(cut.low, pinned.low), min(cut.high, pinned.high), pinned.began, pinned.ended, transaction)
                if cut.low > cut.high:
                    self.problems.append(f"{transaction} read lists that were never so at one time: {operation.lists}")
                    return cuts
                cuts.pop()
            elif transaction.reads_are == SNAPSHOT:
                # Its snapshot was taken after BEGIN was sent, and before the first read was answered.
                cut.began = transaction.began
            cuts.append(cut)
            if has_appended or transaction.reads_are == SNAPSHOT:
                pinned = cut
        if pinned and before >= 0 and has_appended and not pinned.low <= before <= pinned.high:
            self.problems.append(f"{transaction} committed as number {before + 1} and read what was so between "
                                 f"commits {pinned.low} and {pinned.high}")
        return cuts

    def cut_of(self, read, own, transaction):
        cut = Cut(0, len(self.order), read.began, read.ended, transaction)
        for key, values in read.lists.items():
            mine = own.get(key, [])
            if mine and values[-len(mine):] != mine:
                self.problems.append(f"{transaction} does not see its own {mine} in {values}")
                return None
            seen = values[:len(values) - len(mine)]
            whole, commits = self.lists.get(key, []), self.commits.get(key, [])
            if seen != whole[:len(seen)]:
                self.problems.append(f"{transaction} read {key}: {self.difference(seen, whole)}")
                return None
            if seen:
                cut.low = max(cut.low, commits[len(seen) - 1])
            if len(seen) < len(commits):
                cut.high = min(cut.high, commits[len(seen)] - 1)
        if cut.low > cut.high:
            self.problems.append(f"one statement of {transaction} saw a transaction by half, or two moments: {read.lists}")
            return None
        return cut

    def difference(self, seen, whole):
        place = next((i for i, (a, b) in enumerate(zip(seen, whole)) if a != b), len(whole))
        value = seen[place]
        if value not in whole:
            writer = self.writer_of.get(value)
            return f"value {value}, which is in no list at the end, of {writer or 'nobody'}"
        return f"value {value} at place {place + 1}, where {whole[place:place + 1]} is at the end"

    # Real time

    def check_commit_times(self):
        """What was answered before another sent its first append comes before it."""
        latest = None
        for each in self.order:
            if latest and each.outcome == COMMITTED and each.ended < latest.first_append:
                self.problems.append(f"{each} was answered before {latest} appended, and committed after it")
                return
            if latest is None or each.first_append > latest.first_append:
                latest = each

    def check_cut_times(self, cuts):
        """A cut is no older than anything known when it began: answered commits, and moments others had seen. And
        nobody sees what was not yet sent."""
        known = [(each.ended, index, each) for index, each in enumerate(self.order, start=1)
                 if each.outcome == COMMITTED]
        known += [(cut.ended, cut.low, cut.of) for cut in cuts]
        known.sort(key=lambda entry: entry[0])
        position, newest, source = 0, 0, None
        for cut in sorted(cuts, key=lambda cut: cut.began):
            while position < len(known) and known[position][0] < cut.began:
                if known[position][1] > newest:
                    _, newest, source = known[position]
                position += 1
            if cut.high < newest:
                self.problems.append(f"{cut.of} did not see commit {newest}, which {source} knew before it began; "
                                     f"what it read was so between commits {cut.low} and {cut.high}")
            if cut.low and self.order[cut.low - 1].first_append > cut.ended:
                self.problems.append(f"{cut.of} saw {self.order[cut.low - 1]} before that appended")
