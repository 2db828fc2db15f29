"""The table that drivers copy into, with a column of each type, and what SQLite has stored in it."""

import sqlite3

import pytest

from psycopg_fixtures import connect

TABLE = """
    CREATE TABLE t (
        id INTEGER PRIMARY KEY, v TEXT NOT NULL DEFAULT 'none', r REAL, b BLOB, f BOOLEAN, d DATE,
        n NUMERIC(10, 2), twice INTEGER GENERATED ALWAYS AS (id * 2))
"""


@pytest.fixture
def db(shared):
    shared.run("DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS log", TABLE)
    return shared


@pytest.fixture
def connection(db):
    with connect(db) as connection:
        yield connection


def stored(daemon, sql="SELECT id, v, r, b, f, d, n FROM t ORDER BY abs(id)"):
    """What is in the file, with SQLite's own types."""
    file = sqlite3.connect(daemon.database)
    try:
        return file.execute(sql).fetchall()
    finally:
        file.close()
