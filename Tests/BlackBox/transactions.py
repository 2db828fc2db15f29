"""The tables of the tests of transactions."""

import pytest

SCHEMA = """
    DROP TABLE IF EXISTS child; DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS u;
    CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER);
    INSERT INTO t VALUES (1, 10), (2, 20);
    CREATE TABLE u (id INTEGER PRIMARY KEY, n INTEGER UNIQUE);
    CREATE TABLE child (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t DEFERRABLE INITIALLY DEFERRED);
"""


@pytest.fixture
def db(shared):
    shared.run(SCHEMA)
    return shared


@pytest.fixture
def one_reader(start_daemon):
    daemon = start_daemon(options=["--readers", "1"])
    daemon.run(SCHEMA)
    return daemon
