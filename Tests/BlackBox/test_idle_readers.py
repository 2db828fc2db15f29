"""Sessions that keep every reader and do nothing: whoever waits for one gets it after writer_idle_limit."""

import pytest

import wire
from daemon import eventually
from logs import field, line
from metrics import values
from timeouts_fixtures import time_passes

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
CURSOR = "DECLARE c CURSOR FOR SELECT id FROM t"
KEEPERS = {
    "repeatable read": ["BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM t"],
    "read only": ["BEGIN READ ONLY", "SELECT count(*) FROM t"],
    "deferred": ["BEGIN DEFERRED", "SELECT count(*) FROM t"],
    "cursor": ["BEGIN", CURSOR, "FETCH 1 FROM c"],
}


def start(start_daemon, *, readers=2, limit="200ms", config=""):
    daemon = start_daemon(options=["--readers", str(readers)], config=f'writer_idle_limit = "{limit}"\n{config}')
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)", "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
               "CREATE TABLE u (id INTEGER PRIMARY KEY)")
    return daemon


def keeper(daemon, kind="repeatable read", **parameters):
    client = daemon.client(**parameters)
    for sql in KEEPERS[kind]:
        client.query(sql).check()
    return client


@pytest.mark.parametrize("kind", KEEPERS)
def test_idle_users_give_their_readers_up(start_daemon, kind):
    daemon = start(start_daemon)
    keepers = [keeper(daemon, kind) for _ in range(2)]
    # Both are idle: a reply goes out before that.
    daemon.settle()
    assert daemon.client().value("SELECT 40 + 2") == "42"
    # Only the one with the oldest snapshot had to go.
    again = "FETCH 1 FROM c" if kind == "cursor" else "SELECT count(*) FROM t"
    kept = keepers[1].query(again)
    assert kept.value == ("2" if kind == "cursor" else "3")
    lost = keepers[0].query(again)
    assert (lost.state, lost.status) == ("40001", "E")
    assert "idle" in lost.error["M"] and "writer_idle_limit" in lost.error["D"] and "again" in lost.error["H"]
    assert keepers[0].query("SELECT 1").state == "25P02"
    keepers[0].query("ROLLBACK").check()
    # Nothing of it is left in the session.
    keepers[1].query("COMMIT").check()
    for sql in KEEPERS[kind]:
        keepers[0].query(sql).check()
    keepers[0].query("COMMIT").check()


def test_those_who_cannot_wait_so_long(start_daemon):
    daemon = start(start_daemon, readers=1, limit="500ms")
    client, waiter = keeper(daemon), daemon.client()
    waiter.query("SET lock_timeout = '150ms'").check()
    states = []

    def has_read():
        states.append(waiter.query("SELECT count(*) FROM t").state)
        return states[-1] is None

    eventually(has_read, "the reader")
    assert set(states[:-1]) == {"55P03"}
    assert client.query("SELECT count(*) FROM t").state == "40001"


def test_as_many_as_are_waited_for(start_daemon):
    daemon = start(start_daemon, readers=3)
    keepers = [keeper(daemon) for _ in range(3)]
    waiters = [daemon.client() for _ in range(3)]
    for waiter in waiters:
        waiter.send(wire.query(ENDLESS))
    eventually(lambda: values(daemon)[("walpool_reader_evictions_total",)] == 3, "the last eviction")
    assert [client.query("SELECT count(*) FROM t").state for client in keepers] == ["40001"] * 3
    # What runs is not touched, however long it takes.
    late = daemon.client()
    late.query("SET statement_timeout = '600ms'").check()
    assert late.query("SELECT 1").state == "57014"
    assert not any(waiter.has_reply() for waiter in waiters)


def test_a_read_committed_block_goes_on_without_its_cursor(start_daemon):
    daemon = start(start_daemon, readers=1)
    client = keeper(daemon, "cursor")
    assert daemon.client().value("SELECT 1") == "1"
    assert client.query("SELECT count(*) FROM t").value == "3"
    client.query("ROLLBACK").check()


def test_a_holder_of_the_writer_loses_its_cursor_only(start_daemon):
    daemon = start(start_daemon, readers=1)
    client = keeper(daemon, "cursor")
    client.query("INSERT INTO u VALUES (1)").check()
    assert daemon.client().value("SELECT 1") == "1"
    assert client.query("INSERT INTO u VALUES (2)").tag == "INSERT 0 1"
    client.query("COMMIT").check()
    assert daemon.value("SELECT count(*) FROM u") == "2"


def test_nobody_waits(start_daemon):
    daemon = start(start_daemon, limit="50ms")
    client = keeper(daemon)
    time_passes(daemon, 300)
    assert client.query("SELECT count(*) FROM t").value == "3"


def test_whoever_goes_on_is_not_idle(start_daemon):
    daemon = start(start_daemon, readers=1, limit="1s")
    client, waiter = keeper(daemon), daemon.client()
    # What is behind it has come before, so that this client, however slow, is never idle.
    client.send(wire.query("SET LOCAL statement_timeout = '1500ms'"), wire.query(ENDLESS), wire.query("ROLLBACK"))
    waiter.send(wire.query("SELECT 1"))
    client.reply().check()
    assert client.reply().state == "57014"
    assert not client.reply().errors
    assert waiter.reply().value == "1"


def test_no_limit(start_daemon):
    daemon = start(start_daemon, readers=1, limit="0")
    client, waiter = keeper(daemon), daemon.client()
    waiter.query("SET lock_timeout = '300ms'").check()
    assert waiter.query("SELECT 1").state == "55P03"
    assert client.query("SELECT count(*) FROM t").value == "3"


def test_a_reload_sets_the_limit(start_daemon):
    daemon = start(start_daemon, readers=1, limit="0")
    client, waiter = keeper(daemon), daemon.client()
    waiter.send(wire.query("SELECT 1"))
    daemon.settle(waiter)
    (daemon.directory / "walpoold.toml").write_text('writer_idle_limit = "10ms"\n')
    daemon.client(database="walpool").query("RELOAD").check()
    assert waiter.reply().value == "1"
    assert client.query("SELECT count(*) FROM t").state == "40001"


def test_the_extended_protocol(start_daemon):
    """A portal that stands in the middle of its rows while its client is silent."""
    daemon = start(start_daemon, readers=1)
    client = daemon.client()
    client.send(wire.parse("SELECT id FROM t"), wire.bind(), wire.execute(rows=1), wire.flush())
    kinds = [client.receive().kind for _ in range(4)]
    assert kinds == ["1", "2", "D", "s"]
    assert daemon.client().value("SELECT 1") == "1"
    client.send(wire.execute(rows=1), wire.sync())
    assert client.reply().state == "40001"
    assert client.query("SELECT count(*) FROM t").value == "3"


def test_a_client_that_does_not_read(start_daemon):
    daemon = start(start_daemon, readers=1)
    slow = daemon.client()
    slow.send(wire.query("SELECT hex(zeroblob(5000)) FROM generate_series(1, 10000)"))
    assert slow.receive().kind == "T", "it has the reader now"
    assert daemon.client().value("SELECT 1") == "1"
    reply = slow.reply()
    assert reply.state == "40001" and len(reply.rows) < 10_000
    assert slow.query("SELECT count(*) FROM t").value == "3"


def test_a_copy_that_waits_for_its_data(start_daemon):
    daemon = start(start_daemon, readers=1)
    client = keeper(daemon)
    client.send(wire.query("COPY u FROM STDIN"))
    assert client.receive().kind == "G"
    assert daemon.client().value("SELECT 1") == "1"
    assert client.reply().state == "40001"
    client.query("ROLLBACK").check()
    daemon.check_alive()


def test_the_waiter_is_told(start_daemon):
    daemon = start(start_daemon, readers=1, limit="400ms", config='log_lock_waits_after = "50ms"\nqueue_notice = "50ms"\n')
    client, waiter = keeper(daemon, application_name="dawdler"), daemon.client()
    waiter.send(wire.query("SELECT 1"))
    notice = waiter.receive()
    assert notice.kind == "N" and "waiting for a reader at place 1" in notice.fields["M"]
    assert f"process {client.process_id}" in notice.fields["D"]
    assert waiter.reply().value == "1"
    waits = line(daemon, "a session still waits for a reader")
    assert field(waits, "holder_application") == "dawdler" and field(waits, "sql") == "SELECT 1"
    assert field(line(daemon, "a session has the reader it waited for"), "session") == str(waiter.process_id)
    assert field(line(daemon, "a snapshot was ended that kept a reader idle"), "application") == "dawdler"
    assert values(daemon)[("walpool_reader_evictions_total",)] == 1
    assert client.query("SELECT 1").state == "40001"
