"""The fault loop of bench/faults in a short form, and whether it would find anything."""

import contextlib
import os
import sqlite3
import subprocess
import sys

import pytest

from daemon import REPOSITORY, binary

sys.path.insert(0, str(REPOSITORY / "bench"))

from support.ledger import ACKNOWLEDGED, UNKNOWN, Ledger  # noqa: E402

# Every so many calls. Of the kinds that are few, each.
STRIDES = {"write": 61, "torn-write": 83, "read": 61, "sync": 9, "losing-sync": 9, "truncate": 1, "open": 1, "map": 1, "unlink": 1}
if binary().parent.name == "debug":
    # Odd, or all of them would be of those that are killed.
    STRIDES |= {"write": 97, "read": 97, "sync": 15, "losing-sync": 15, "truncate": 3, "open": 3}


def run_faults(*arguments):
    return subprocess.run(
        [sys.executable, REPOSITORY / "bench/faults", *map(str, arguments)], capture_output=True, text=True, timeout=300,
        env={**os.environ, "WALPOOLD": str(binary())})


@pytest.mark.parametrize("kind", STRIDES)
def test_faults(kind):
    result = run_faults("--kinds", kind, "--stride", STRIDES[kind])
    assert result.returncode == 0, result.stdout + result.stderr


def test_faults_of_readers_without_a_map():
    result = run_faults("--kinds", "read", "--stride", 2 * STRIDES["read"] + 1, "--without-map")
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_disk_that_lies_is_found_out():
    """The negative control: a write that is lost without an error is no fault anybody survives.

    One in four of these is found out; the others are of what was written once more anyway."""
    result = run_faults("--kinds", "lost-write", "--errors", "EIO", "--often", "once", "--first", 100, "--last", 160, "--stride", 3,
                        "--until-problem")
    assert result.returncode == 1, result.stdout + result.stderr
    assert "FAILED" in result.stderr


def test_faults_with_pipelined_commits():
    result = run_faults("--kinds", "losing-sync", "--stride", 2 * STRIDES["losing-sync"] - 1, "--walpool-options", "--synchronous pipelined")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("reads_are_durable", [True, False])
def test_what_was_read_may_go_where_reads_come_before_the_disk(tmp_path, reads_are_durable):
    for name in ["template.db", "found.db"]:
        with contextlib.closing(sqlite3.connect(tmp_path / name)) as connection:
            connection.executescript("CREATE TABLE log (txn); CREATE TABLE mirror (txn);")
    ledger = Ledger(reads_are_durable=reads_are_durable)
    number = ledger.begin()
    ledger.tell(number, UNKNOWN, [])
    assert ledger.saw({number}, {number}) == []
    problems = ledger.judge(tmp_path / "found.db", tmp_path / "template.db")
    assert problems == (["transactions [1] were read and are gone"] if reads_are_durable else [])
    # What was told to be there has to be, either way.
    ledger.tell(number, ACKNOWLEDGED, [])
    assert "the file has acknowledged transactions [1] not" in ledger.judge(tmp_path / "found.db", tmp_path / "template.db")
