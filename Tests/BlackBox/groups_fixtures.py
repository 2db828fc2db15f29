"""Groups of writes that gather: one session holds the writer, the others send theirs and wait; then the holder ends its transaction."""

import pytest

import wire
from daemon import eventually
from interleaving import outcome


@pytest.fixture
def db(shared):
    shared.run("""
        DROP TABLE IF EXISTS child; DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS guarded; DROP TABLE IF EXISTS u;
        CREATE TABLE t (id INTEGER PRIMARY KEY, who TEXT);
        INSERT INTO t VALUES (0, 'first');
        CREATE TABLE u (id INTEGER PRIMARY KEY AUTOINCREMENT, who TEXT);
        CREATE TABLE child (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t DEFERRABLE INITIALLY DEFERRED);
        CREATE TABLE guarded (how TEXT);
        CREATE TRIGGER guard BEFORE INSERT ON guarded BEGIN
            SELECT CASE new.how WHEN 'rollback' THEN RAISE(ROLLBACK, 'rolled back')
                WHEN 'abort' THEN RAISE(ABORT, 'aborted') WHEN 'fail' THEN RAISE(FAIL, 'failed') END;
        END;
    """)
    return shared


class Group:
    """Sends that gather behind a holder, in their order."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.holder = daemon.client()
        self.holder.query("BEGIN IMMEDIATE").check()
        self.console = daemon.client(database="walpool")
        self.clients = []

    def add(self, *messages, setup=None):
        client = self.daemon.client()
        if setup:
            client.query(setup).check()
        client.send(*[wire.query(m) if isinstance(m, str) else m for m in messages])
        self.clients.append(client)
        # The holder is the first row, and each of them one.
        eventually(lambda: client.has_reply() or len(self.console.query("SHOW WRITER").check().texts) > len(self.clients), "its place")
        assert not client.has_reply()
        return client

    def release(self, end="COMMIT"):
        self.holder.query(end).check()

    def outcomes(self):
        self.release()
        return [outcome(client.reply()) for client in self.clients]


def insert(id):
    return f"INSERT INTO t VALUES ({id}, 'member')"


def ids(daemon):
    return [int(row[0]) for row in daemon.run("SELECT id FROM t WHERE id > 0 ORDER BY id").texts]


def pipeline(*sqls):
    return b"".join(wire.parse(sql) + wire.bind() + wire.execute() for sql in sqls) + wire.sync()
