"""The fault loop of bench/faults in a short form, and whether it would find anything."""

import os
import subprocess
import sys

import pytest

from daemon import REPOSITORY, binary

# Every so many calls. Of the kinds that are few, each.
STRIDES = {"write": 61, "torn-write": 83, "read": 61, "sync": 9, "losing-sync": 9, "truncate": 1, "open": 1, "map": 1, "unlink": 1}


def run_faults(*arguments):
    return subprocess.run(
        [sys.executable, REPOSITORY / "bench/faults", *map(str, arguments)], capture_output=True, text=True, timeout=300,
        env={**os.environ, "WALPOOLD": str(binary())})


@pytest.mark.parametrize("kind", STRIDES)
def test_faults(kind):
    result = run_faults("--kinds", kind, "--stride", STRIDES[kind])
    assert result.returncode == 0, result.stdout + result.stderr


def test_faults_of_readers_without_a_map():
    result = run_faults("--kinds", "read", "--stride", STRIDES["read"], "--without-map")
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_disk_that_lies_is_found_out():
    """The negative control: a write that is lost without an error is no fault anybody survives.

    One in four of these is found out; the others are of what was written once more anyway."""
    result = run_faults("--kinds", "lost-write", "--errors", "EIO", "--often", "once", "--first", 100, "--last", 160, "--stride", 3)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "FAILED" in result.stderr
