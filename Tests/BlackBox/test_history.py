"""bench/history: the checker against histories made by hand, each wrong in one way; then a short run of the program."""

import contextlib
import os
import sqlite3
import subprocess
import sys

import pytest

from daemon import REPOSITORY, binary

sys.path.insert(0, str(REPOSITORY / "bench"))

from support.appenders import FAILS, SCHEMA
from support.history import ABORTED, COMMITTED, PER_STATEMENT, SNAPSHOT, UNKNOWN, Append, Read, Transaction, check


def transaction(began, ended, *operations, outcome=COMMITTED, reads_are=PER_STATEMENT, client=1):
    """Appends are (key, value), reads {key: values}; each operation takes an equal part of the time."""
    step = (ended - began) / max(len(operations), 1)
    times = [(began + i * step, began + (i + 1) * step) for i in range(len(operations))]
    done = [Append(*operation, at) if isinstance(operation, tuple) else Read(operation, at, until)
            for operation, (at, until) in zip(operations, times)]
    return Transaction(client, reads_are, began, ended, outcome, done, "by hand")


def rows(*appends):
    return [(number, key, value) for number, (key, value) in enumerate(appends, start=1)]


# The base of most of them: two commits, one after the other.
FIRST = transaction(0, 1, (1, 10), (2, 20))
SECOND = transaction(2, 3, (1, 11), (2, 21))
BOTH = rows((1, 10), (2, 20), (1, 11), (2, 21))


def read(began, ended, *lists, **keywords):
    return transaction(began, ended, *lists, **keywords)


GOOD = {
    "empty": ([], []),
    "nothing read": ([FIRST, SECOND], BOTH),
    "reads of each moment": (
        [FIRST, SECOND, read(-2, -1, {1: [], 2: []}), read(1.2, 1.8, {1: [10], 2: [20]}),
         read(4, 5, {1: [10, 11], 2: [20, 21]}), read(4, 5, {3: []})], BOTH),
    "a read beside a commit sees it or does not": (
        [FIRST, SECOND, read(2, 3, {1: [10]}), read(2, 3, {1: [10, 11]})], BOTH),
    "in doubt, and there": ([FIRST, transaction(2, 3, (1, 11), (2, 21), outcome=UNKNOWN)], BOTH),
    "in doubt, and not there": ([FIRST, transaction(2, 3, (1, 11), (2, 21), outcome=UNKNOWN)], BOTH[:2]),
    "rolled back": ([FIRST, SECOND, transaction(-3, -1, (1, 99), {1: [99]}, outcome=ABORTED)], BOTH),
    "rolled back after the others": (
        [FIRST, transaction(2, 3, {1: [10]}, (1, 99), {1: [10, 99]}, outcome=ABORTED, reads_are=SNAPSHOT)], BOTH[:2]),
    "own appends are seen": (
        [FIRST, transaction(2, 3, (1, 11), {1: [10, 11], 2: [20]}, (2, 21), {2: [20, 21]}, reads_are=SNAPSHOT)], BOTH),
    "a snapshot may be old": ([FIRST, SECOND, read(1.5, 9, {1: [10]}, {2: [20]}, reads_are=SNAPSHOT)], BOTH),
    "per statement, reads may differ": ([FIRST, SECOND, read(1.5, 9, {1: [10]}, {2: [20, 21]})], BOTH),
    "per statement, an append may follow an old read": (
        [FIRST, SECOND, transaction(1.5, 9, {1: [10]}, (1, 12))], BOTH + [(5, 1, 12)]),
    "concurrent commits in either order": (
        [transaction(0, 9, (1, 11)), transaction(0, 9, (1, 10))], rows((1, 10), (1, 11))),
}

# Each with words of the sentence that has to be said about it.
BAD = {
    "an acknowledged append is lost": ([FIRST, SECOND], BOTH[:2], "value 11 is lost"),
    "half of an acknowledged transaction is lost": ([FIRST, SECOND], BOTH[:3], "value 21 is lost"),
    "a row is lost behind which others are": ([FIRST, SECOND], [BOTH[0], *BOTH[2:]], "row 2 is missing"),
    "an append is there twice": ([FIRST, SECOND], BOTH + [(5, 1, 11)], "value 11 is there twice"),
    "a value nobody sent": ([FIRST, SECOND], BOTH + [(5, 1, 12)], "nobody appended"),
    "a rolled back append is there": (
        [FIRST, transaction(2, 3, (1, 11), (2, 21), outcome=ABORTED)], BOTH, "value 11 is there, of"),
    "a transaction in doubt is half there": (
        [FIRST, transaction(2, 3, (1, 11), (2, 21), outcome=UNKNOWN)], BOTH[:3], "value 21 is not there and others"),
    "two transactions mixed": (
        [FIRST, SECOND], rows((1, 10), (1, 11), (2, 20), (2, 21)), "together in the order of commits"),
    "an append went to another list": (
        [FIRST, SECOND], rows((1, 10), (2, 20), (3, 11), (2, 21)), "together in the order of commits"),
    "appends of one transaction out of order": (
        [FIRST, SECOND], rows((2, 20), (1, 10), (1, 11), (2, 21)), "together in the order of commits"),
    "a list read out of order": ([FIRST, SECOND, read(4, 5, {1: [11, 10]})], BOTH, "value 11 at place 1"),
    "a list read with a gap": ([FIRST, SECOND, read(4, 5, {1: [11]})], BOTH, "value 11 at place 1"),
    "a value read twice": ([FIRST, SECOND, read(4, 5, {1: [10, 11, 11]})], BOTH, "value 11 at place 3"),
    "G1a: a rolled back append was read": (
        [FIRST, transaction(2, 3, (1, 99), outcome=ABORTED), read(2, 3, {1: [10, 99]})], BOTH[:2], "value 99, which is in no list"),
    "a value was read and is gone after a kill": (
        [FIRST, transaction(2, 3, (1, 99), outcome=UNKNOWN), read(2, 3, {1: [10, 99]})], BOTH[:2], "value 99, which is in no list"),
    "a value was read that nobody sent": ([FIRST, read(2, 3, {1: [10, 77]})], BOTH[:2], "of nobody"),
    "G1b: half of a transaction in one list": (
        [transaction(0, 9, (1, 10), (1, 11)), read(1, 2, {1: [10]})], rows((1, 10), (1, 11)), "by half"),
    "half of a transaction in two lists": ([FIRST, SECOND, read(2, 3, {1: [10, 11], 2: [20]})], BOTH, "by half"),
    "two moments in one statement": (
        [transaction(0, 9, (1, 10)), transaction(0, 9, (2, 20)), read(0, 9, {1: [], 2: [20]})],
        rows((1, 10), (2, 20)), "two moments"),
    "G-single: a snapshot of two moments": (
        [FIRST, SECOND, read(1.5, 9, {1: [10]}, {2: [20, 21]}, reads_are=SNAPSHOT)], BOTH, "never so at one time"),
    "a snapshot that goes back": (
        [FIRST, SECOND, read(1.5, 9, {1: [10, 11]}, {2: [20]}, reads_are=SNAPSHOT)], BOTH, "never so at one time"),
    "the writer sees others commit": (
        [transaction(0, 9, (1, 10), {2: []}, {2: [20]}, outcome=ABORTED), transaction(1, 2, (2, 20))], rows((2, 20)),
        "never so at one time"),
    "P4, G2: a snapshot that was not the newest wrote": (
        [FIRST, SECOND, transaction(1.5, 9, {1: [10]}, (1, 12), reads_are=SNAPSHOT)], BOTH + [(5, 1, 12)],
        "committed as number 3 and read what was so between commits 1 and 1"),
    "the writer reads an old state": (
        [FIRST, SECOND, transaction(1.5, 9, (2, 22), {1: [10]})], BOTH + [(5, 2, 22)],
        "committed as number 3 and read"),
    "own appends are not seen": ([transaction(0, 1, (1, 10), {1: []})], rows((1, 10)), "does not see its own"),
    "own appends are not at the end": (
        [FIRST, transaction(2, 3, (1, 11), {1: [11, 10]})], rows((1, 10), (2, 20), (1, 11)), "does not see its own"),
    "G1c: two saw each other": (
        [transaction(0, 9, (1, 10), {2: [20]}), transaction(0, 9, (2, 20), {1: [10]})], rows((1, 10), (2, 20)),
        "committed as number 1 and read"),
    "a stale read": ([FIRST, SECOND, read(4, 5, {1: [10]})], BOTH, "did not see commit 2"),
    "a stale snapshot": (
        [FIRST, SECOND, read(4, 9, {1: [10]}, {2: [20]}, reads_are=SNAPSHOT)], BOTH, "did not see commit 2"),
    "reads that go back, in two clients": (
        [FIRST, transaction(2, 9, (1, 11), (2, 21)), read(3, 4, {1: [10, 11]}), read(5, 6, {1: [10]})], BOTH,
        "did not see commit 2"),
    "a read from the future": ([FIRST, SECOND, read(1.2, 1.8, {1: [10, 11]})], BOTH, "before that appended"),
    "commits against real time": ([SECOND, FIRST], rows((1, 11), (2, 21), (1, 10), (2, 20)), "was answered before"),
}


@pytest.mark.parametrize("name", GOOD)
def test_checker_accepts(name):
    history, found = GOOD[name]
    assert check(history, found) == []


@pytest.mark.parametrize("name", BAD)
def test_checker_finds(name):
    history, found, words = BAD[name]
    problems = check(history, found)
    assert any(words in problem for problem in problems), problems


@pytest.mark.parametrize("statement", FAILS)
def test_what_is_to_fail_fails_on_an_empty_list(statement):
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        for definition in SCHEMA:
            database.execute(definition)
        with pytest.raises(sqlite3.IntegrityError):
            database.execute(statement)


def test_history_with_kills():
    command = [REPOSITORY / "bench/history", "--seconds", "4", "--kills", "3"]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "WALPOOLD": str(binary())}, timeout=80)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 kills\n" in done.stdout and done.stdout.endswith("ok\n"), done.stdout
