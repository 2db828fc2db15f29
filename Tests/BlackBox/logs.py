"""A daemon with something to log, and the lines of its log, taken apart."""

import re

import pytest

from daemon import eventually

# Slow enough at any limit of milliseconds, and it scans.
SLOW = "SELECT count(*) FROM accounts a, accounts b WHERE a.owner = 'nobody' OR b.name LIKE '%x%'"
FAST_LIMIT = 'log_min_duration_statement = "1ms"\n'
SCHEMA = """
    CREATE TABLE accounts (id INTEGER PRIMARY KEY, owner TEXT, name TEXT);
    WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1000)
    INSERT INTO accounts SELECT n, 'owner ' || n, 'name ' || n FROM c;
"""

# In front of a line that goes neither to the journal nor to a terminal.
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ")

# What would be another line and other fields if it were taken as it is.
FORGERY = 'x"\nerror: forged duration=1ms\r\x1b[2J\u202e\u2028 session=0 hint="all is well'


@pytest.fixture
def serve(start_daemon):
    def start(config="", **keywords):
        daemon = start_daemon(config=config, **keywords)
        daemon.run(SCHEMA)
        return daemon

    return start


def lines(daemon, *texts):
    """Those with these texts, without their times."""
    return [TIME.sub("", line) for line in daemon.errors.splitlines() if all(text in line for text in texts)]


def line(daemon, *texts, count=1):
    """The one line with these texts, once it has come."""
    found = eventually(lambda: len(lines(daemon, *texts)) >= count and lines(daemon, *texts), f"a line with {texts}")
    assert len(found) == count, found
    return found[-1]


def fields(text):
    """Of a line, by their names. Read from left to right, so that what stands in a value is no field."""
    found = re.finditer(r' (\w+)=(?:"((?:[^"\\]|\\.)*)"|(\S*))', text)
    return {m[1]: re.sub(r"\\(.)", r"\1", m[2]) if m[2] is not None else m[3] for m in found}


def field(text, name):
    return fields(text)[name]


def has_field(text, name):
    return name in fields(text)


def milliseconds(text, name):
    value = field(text, name)
    assert value.endswith("ms"), value
    return float(value[:-2])
