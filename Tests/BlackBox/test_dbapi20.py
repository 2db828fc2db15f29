"""The DB-API 2.0 compliance tests that psycopg2 ships in its own source package, against the daemon.

The package is downloaded from PyPI; nothing of it is in this repository. dbapi20_skips.txt says which of its tests cannot
pass, and why.
"""

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SKIPS = HERE / "dbapi20_skips.txt"
VERSION = "2.9.13"


def skips():
    """By test's name, the reason."""
    lines = [line for line in SKIPS.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split(": ", 1) for line in lines)


@pytest.fixture(scope="module")
def package():
    """The unpacked source package, kept beside the installed packages."""
    # By its own name: pytest finds no test to deselect below a link.
    directory = (HERE / ".venv").resolve() / "psycopg2-source"
    unpacked = directory / f"psycopg2-{VERSION}"
    if not unpacked.exists():
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
             "--no-binary", "psycopg2", f"psycopg2=={VERSION}", "--dest", directory], check=True)
        with tarfile.open(directory / f"psycopg2-{VERSION}.tar.gz") as archive:
            archive.extractall(directory, filter="data")
    return unpacked


def test_compliance(package, start_daemon):
    daemon = start_daemon()
    environment = {
        **os.environ, "PSYCOPG2_TESTDB": daemon.name, "PSYCOPG2_TESTDB_HOST": str(daemon.directory), "PSYCOPG2_TESTDB_USER": "tester"}
    deselected = [f"--deselect=tests/test_psycopg2_dbapi20.py::{name}" for name in skips()]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", "-c", os.devnull, "--rootdir", str(package), "-p", "no:cacheprovider", "tests/test_psycopg2_dbapi20.py", *deselected],
        cwd=package, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr
    passed = result.stdout.count("PASSED")
    assert passed >= 30, result.stdout


def test_each_skip_is_still_needed(package, start_daemon):
    """What passes has no place in the list."""
    daemon = start_daemon()
    environment = {
        **os.environ, "PSYCOPG2_TESTDB": daemon.name, "PSYCOPG2_TESTDB_HOST": str(daemon.directory), "PSYCOPG2_TESTDB_USER": "tester"}
    assert skips()
    for name in skips():
        result = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(package), "-p", "no:cacheprovider", f"tests/test_psycopg2_dbapi20.py::{name}"],
            cwd=package, env=environment, capture_output=True, text=True, timeout=120)
        # Not "no tests ran", as of a name that is no test's any more, and none that psycopg2 skips by itself.
        assert re.match(r"\d+ (failed|error)", result.stdout.splitlines()[-1]) and " passed" not in result.stdout, result.stdout
