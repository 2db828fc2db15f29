"""Counted instructions: bench/micro's program, what is compared of its counts, and callgrind's profiles."""

import subprocess
import sys

import pytest

from daemon import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "bench"))
from support import callgrind, microtable, requests  # noqa: E402


def micro_program():
    """`swift test` builds it, too."""
    found = [path for path in (REPOSITORY / ".build").glob("*/walpool-micro") if path.is_file()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


@pytest.mark.skipif(not micro_program(), reason="walpool-micro is not built: swift build --product walpool-micro")
def test_every_path_runs():
    def run(*arguments):
        done = subprocess.run([micro_program(), *arguments], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    names = [line.split("\t")[0] for line in run("list").splitlines()]
    assert {"decode-execution", "select", "group-insert", "snapshot-check"} <= set(names)
    for name in names:
        # What it returns grows with what was done.
        assert 0 < int(run(name, "64")) < int(run(name, "128")), name


def counts(**instructions):
    paths = {name: {"instructions": value} for name, value in instructions.items()}
    return {"with": {"commit": "a", "swift": "6"}, "paths": paths}


def test_instructions_compared():
    lines, worse = microtable.compared(counts(a=1000.0, b=1000.0, c=10.0, d=5.0), counts(a=1004.0, b=990.0, c=11.0, e=5.0))
    assert not worse
    words = {line.split()[0]: line.split()[-1] for line in lines[-1].splitlines()[1:]}
    assert words == {"a": "1.004", "b": "fewer", "c": "1.100", "d": "them", "e": "them"}
    assert microtable.compared(counts(a=1000.0), counts(a=1006.0))[1]


def test_a_path_with_the_disk_in_it_has_a_noise_of_its_own():
    """Three counts of one binary, on a machine with others at work."""
    old, *new = ({"with": {"commit": "a"}, "paths": {"request-insert": {"instructions": count}}}
                 for count in (32_320, 32_441, 32_024, 33_400))
    assert [microtable.compared(old, each)[1] for each in new] == [False, False, True]
    assert not microtable.compared(new[1], old)[1]
    assert set(microtable.NOISE_OF) <= {request.name for request in requests.ALL}


def test_a_profile_of_callgrind_is_read(tmp_path):
    """Its own example of the format, with a call: what is called is counted where it stands itself."""
    output = tmp_path / "out"
    output.write_text("events: Ir\n\nob=(1) /usr/bin/app\nfl=(1) file1.c\nfn=(1) main\n16 20\ncfn=(2) func1\ncalls=1 50\n16 400\n"
                      "cob=(2) /lib/libsqlite3.so.0\ncfi=(2) file2.c\ncfn=(3) swift_retain\ncalls=3 20\n+1 400\n\n"
                      "fn=(2)\n51 100\n-1 5\n\nob=(2)\nfl=(2)\nfn=(3)\n20 700\n")
    assert callgrind.by_function(output) == {
        ("/usr/bin/app", "main"): 20, ("/usr/bin/app", "func1"): 105, ("/lib/libsqlite3.so.0", "swift_retain"): 700}
    once, twice = {("a", "f"): 150, ("b", "g"): 10}, {("a", "f"): 250, ("b", "g"): 10}
    assert callgrind.per_operation(once, twice, 10) == {("a", "f"): 10.0, ("b", "g"): 0.0}
    owners = callgrind.by_owner({("/x/walpoold", "swift_retain"): 1, ("/x/walpoold", "f"): 2, ("/l/libsqlite3.so.0.8.6", "g"): 3,
                                 ("/l/libc.so.6", "memcpy"): 4})
    assert owners == {"Swift runtime": 1, "Walpool": 2, "SQLite": 3, "libc": 4}
