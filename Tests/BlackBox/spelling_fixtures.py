"""A table, and connections of the drivers that write values into a statement's text."""

import datetime
import uuid

import psycopg
import psycopg2
import psycopg2.extras
import pytest

ZONE = datetime.timezone(datetime.timedelta(hours=2))
ID = uuid.UUID("6f1e3a52-0000-4000-8000-00000000000a")


@pytest.fixture
def db(shared):
    shared.run("DROP TABLE IF EXISTS s; CREATE TABLE s (id INTEGER PRIMARY KEY, v, t TEXT)")
    shared.run("INSERT INTO s (id, t) VALUES (1, 'a'), (2, 'b c'), (3, '1')")
    return shared


@pytest.fixture
def psycopg2_connection(db):
    psycopg2.extras.register_uuid()
    connection = psycopg2.connect(host=str(db.directory), dbname=db.name, user="tester")
    connection.autocommit = True
    yield connection
    connection.close()


@pytest.fixture
def connection(db):
    with psycopg.connect(host=str(db.directory), dbname=db.name, user="tester", autocommit=True) as connection:
        yield connection
