"""Connections of psycopg 3 that are closed when a test ends."""

import psycopg
import pytest

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


def connect(daemon, **keywords):
    return psycopg.connect(host=str(daemon.directory), dbname=daemon.name, user="tester", **keywords)


@pytest.fixture
def opened(shared):
    """Opens connections that are closed at the end."""
    connections = []

    def open_connection(daemon=shared, **keywords):
        connections.append(connect(daemon, **keywords))
        return connections[-1]

    yield open_connection
    for connection in connections:
        connection.close()


@pytest.fixture
def db(shared):
    shared.run("""
        DROP TABLE IF EXISTS child; DROP TABLE IF EXISTS t;
        CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT NOT NULL DEFAULT '', n INTEGER UNIQUE CHECK (n > 0));
        CREATE TABLE child (t INTEGER REFERENCES t);
    """)
    return shared


@pytest.fixture
def conn(opened, db):
    return opened()


@pytest.fixture
def auto(opened, db):
    return opened(autocommit=True)
