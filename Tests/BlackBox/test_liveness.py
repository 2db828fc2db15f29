"""bench/liveness: its rules on who may wait for whom; then a short run, and that it would notice a wait without a reason."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field

import pytest

from daemon import REPOSITORY, binary

sys.path.insert(0, str(REPOSITORY / "bench"))

from support.crowd import Crowd
from support.holdings import BEGINS, CURSOR, END, LONG_READ, LONG_WRITE, READ, WRITE, Block, long_steps_under_way, reason_to_wait


@dataclass(eq=False)
class Session:
    """What it has been answered, and what it has sent since."""

    answered: tuple = ()
    pending: tuple = ()
    is_unread: bool = False
    process_id: int = 1
    block: Block = field(init=False)

    def __post_init__(self):
        self.block = Block()
        for part in self.answered:
            self.block = self.block.after(part)


PINNING = "ISOLATION LEVEL REPEATABLE READ"
PINNED = (PINNING, READ)
WRITING = ("", WRITE)


@pytest.mark.parametrize("waiting, others, may_wait", [
    (Session(pending=(WRITE,)), [], False),
    (Session(pending=(READ,)), [], False),
    (Session(pending=()), [Session(WRITING)], False),                       # a startup needs neither
    (Session(pending=(WRITE,)), [Session(WRITING)], True),
    (Session(pending=(WRITE,)), [Session(("IMMEDIATE",))], True),
    (Session(pending=("IMMEDIATE",)), [Session(WRITING)], True),
    (Session(WRITING, (WRITE,)), [Session(pending=(WRITE,))], False),       # it has the writer itself
    (Session(pending=(WRITE,)), [Session((*WRITING, END))], False),
    (Session(pending=(WRITE,)), [Session(PINNED)], False),
    (Session(pending=(READ,)), [Session(PINNED)], True),
    (Session(pending=(READ,)), [Session((PINNING,))], False),               # no query, no snapshot
    (Session(pending=(READ,)), [Session(("", READ))], False),
    (Session(pending=(READ,)), [Session(("", CURSOR))], True),
    (Session(pending=(READ,)), [Session((*PINNED, WRITE))], False),         # its snapshot went with the writer
    (Session(pending=(READ,)), [Session(PINNED, (WRITE,))], False),
    (Session(pending=(READ,)), [Session(PINNED, (LONG_WRITE,))], False),
    (Session(pending=(READ,)), [Session(PINNED, (WRITE,)), Session(WRITING)], True),
    (Session(pending=(READ,)), [Session(pending=(LONG_READ,))], True),
    (Session(pending=(READ,)), [Session(pending=(READ,), is_unread=True)], True),
    (Session(PINNED, (READ,)), [Session(pending=(LONG_READ,))], False),
    (Session(WRITING, (READ,)), [Session(pending=(LONG_READ,))], False),    # on the writer
    (Session(pending=(WRITE,)), [Session(pending=(LONG_WRITE,))], True),
    (Session(pending=(WRITE,)), [Session(pending=(LONG_READ,))], False),
    (Session(pending=(LONG_READ,)), [], True),                              # or rather, it is at it
    (Session(WRITING, (END, READ)), [Session(PINNED)], True),
    (Session(WRITING, (END, WRITE)), [Session(PINNED)], False),
])
def test_who_may_wait(waiting, others, may_wait):
    assert bool(reason_to_wait(waiting, [*others, waiting], readers=1)) == may_wait


def test_all_readers_have_to_be_taken():
    waiting, others = Session(pending=(READ,)), [Session(PINNED), Session(("", CURSOR))]
    assert [bool(reason_to_wait(waiting, [*others, waiting], readers)) for readers in (1, 2, 3)] == [True, True, False]


@pytest.mark.parametrize("sessions, others, readers, least", [
    ([], [], 1, 0),
    ([Session(pending=(READ,)), Session(pending=(WRITE,))], [], 1, 0),
    ([Session(pending=(LONG_READ,))], [], 1, 1),
    ([Session(pending=(LONG_READ,)), Session(pending=(LONG_READ,))], [], 1, 1),
    ([Session(pending=(LONG_READ,)), Session(pending=(LONG_READ,))], [], 2, 2),
    ([Session(pending=(LONG_READ,)), Session(PINNED)], [], 1, 0),
    ([Session(pending=(LONG_READ,))], [Session(PINNED)], 1, 0),             # who has hung up may have a reader still
    ([Session(pending=(LONG_READ,))], [Session(pending=(LONG_READ,))], 1, 0),
    ([Session(pending=(LONG_READ,)), Session(pending=(READ,), is_unread=True)], [], 1, 0),
    ([Session(PINNED, (LONG_READ,))], [], 1, 1),                            # it has the reader itself
    ([Session(PINNED, (LONG_READ,)), Session(pending=(LONG_READ,))], [], 1, 1),
    ([Session(WRITING, (LONG_READ,)), Session(pending=(LONG_READ,))], [], 1, 2),
    ([Session(pending=(LONG_WRITE,)), Session(pending=(LONG_WRITE,))], [], 1, 1),
    ([Session(pending=(LONG_WRITE,)), Session(pending=(LONG_READ,))], [], 1, 2),
    ([Session(WRITING, (LONG_WRITE,)), Session(pending=(LONG_WRITE,))], [], 1, 1),
    ([Session(pending=(LONG_WRITE,)), Session(WRITING)], [], 1, 0),
    ([Session(pending=(LONG_WRITE,))], [Session(WRITING)], 1, 0),
    ([Session(PINNED, (LONG_WRITE,)), Session(pending=(LONG_READ,))], [], 1, 1),        # which may have its reader still
    ([Session(pending=(READ, LONG_READ)), Session(pending=(LONG_READ,))], [], 1, 0),    # or how far it has come
])
def test_who_must_be_at_a_long_step(sessions, others, readers, least):
    assert long_steps_under_way(sessions, others, readers) == least


def test_every_begin_opens_a_block():
    assert all(Block().after(words).is_open and not Block().after(words).after(END).is_open for words in BEGINS)


def test_who_hangs_up_and_is_gone_is_something_that_comes():
    """What it had others have from then on, and they have not had it for long."""
    crowd = Crowd.__new__(Crowd)
    session = Session()
    crowd.sessions, crowd.leaving, crowd.own_sockets = [session], [Session(("IMMEDIATE",))], 1
    crowd._sockets = lambda: 3
    assert not crowd.has_seen_leave() and len(crowd.present()) == 2
    crowd._sockets = lambda: 2
    session.process_id = 0          # one of the two sockets may be that of who has hung up: this one may not have been accepted
    assert not crowd.has_seen_leave()
    session.process_id = 1
    assert len(crowd.present()) == 2 and crowd.has_seen_leave()
    assert not crowd.has_seen_leave() and len(crowd.present()) == 1


def liveness(*options):
    return subprocess.run([REPOSITORY / "bench/liveness", "--each", "5", *options], capture_output=True, text=True,
                          env={**os.environ, "WALPOOLD": str(binary())}, timeout=200)


@pytest.mark.timeout(240)
def test_nobody_waits_without_need():
    done = liveness("--seconds", "10", "--step", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("ok\n") and " waits for others" in done.stdout, done.stdout


@pytest.mark.timeout(240)
@pytest.mark.parametrize("forgotten, problem", [
    ("writer", r" without need\n"), ("step", r" [1-9]\d* long steps should be under way, and [1-9]\d* threads are at work\n"),
])
@pytest.mark.optimised("writer")
def test_it_would_be_noticed(forgotten, problem):
    done = liveness("--seconds", "60", "--betray", forgotten, "--step", "1", "--patience", "0.3")
    assert done.returncode == 1 and re.search(problem, done.stdout), done.stdout + done.stderr
