"""What the tests of the console share."""

import psycopg
import pytest
from psycopg.rows import dict_row

import wire
from daemon import eventually


def console(daemon, **keywords):
    """The console by psycopg, with rows as dictionaries."""
    keywords = {"autocommit": True, "row_factory": dict_row, "dbname": "walpool", "user": "admin"} | keywords
    return psycopg.connect(host=str(daemon.directory), **keywords)


def show(admin, topic):
    return admin.execute(f"SHOW {topic}").fetchall()


def client_row(admin, client):
    """What SHOW CLIENTS says of a session; None when it is gone."""
    return next((row for row in show(admin, "CLIENTS") if row["id"] == client.process_id), None)


def until_waiting(admin, *clients):
    """Waits until these wait in a queue, which nothing but the console's word tells while PAUSE is at work."""
    for client in clients:
        eventually(lambda: client_row(admin, client)["state"] == "waiting", "a client that waits")
        assert not client.has_reply()


def state(admin):
    """The names of what is so."""
    return {row["key"] for row in show(admin, "STATE") if row["value"] == "yes"}


@pytest.fixture
def db(daemon):
    daemon.run("CREATE TABLE t (n INTEGER)", "INSERT INTO t VALUES (1)")
    return daemon


@pytest.fixture
def admin(db):
    with console(db) as connection:
        yield connection


class Pausing:
    """A PAUSE that waits for somebody."""

    def __init__(self, daemon, admin, command="PAUSE"):
        self.client = daemon.client(database="walpool")
        self.client.send(wire.query(command))
        eventually(lambda: "pausing" in state(admin), "the beginning of the pause")

    def reply(self):
        return self.client.reply()
