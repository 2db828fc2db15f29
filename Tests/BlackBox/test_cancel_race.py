"""bench/cancels in its short form, and that it would notice a stray."""

import os
import subprocess
import sys

from daemon import REPOSITORY, binary

sys.path.insert(0, str(REPOSITORY / "bench"))

from support.cancelling import Event, strays


def cancels(*options):
    return subprocess.run([REPOSITORY / "bench/cancels", *options], capture_output=True, text=True,
                          env={**os.environ, "WALPOOLD": str(binary())}, timeout=80)


def test_no_cancel_meets_another_session():
    done = cancels("--count", "600")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 strays" in done.stdout and done.stdout.endswith("ok\n"), done.stdout


def test_a_stray_would_be_noticed():
    # Some of the requests that count as forged use bystanders' true keys.
    done = cancels("--count", "300", "--betray", "0.5")
    assert done.returncode == 1 and "was cancelled by nobody" in done.stdout, done.stdout + done.stderr


def test_each_request_accounts_for_one_statement():
    hit, late = Event(1, 10, 20), Event(1, 30, 40)
    assert strays([], [Event(1, 0, 1)]) == []
    assert strays([hit], [Event(1, 12, 13)]) == []
    assert strays([hit], [Event(1, 5, 10)]) == []
    assert strays([hit, late], [Event(1, 12, 35), Event(1, 11, 14)]) == []
    assert strays([hit, late], [Event(1, 12, 35)]) == [late]
    assert strays([hit], [Event(1, 21, 25)]) == [hit]
    assert strays([hit], [Event(1, 1, 9)]) == [hit]
    assert strays([hit], [Event(2, 12, 13)]) == [hit]
