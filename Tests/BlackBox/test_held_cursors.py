"""Cursors WITH HOLD: what is left of their rows when their transaction is committed outlives it."""

import pytest

import wire
from daemon import eventually
from groups_fixtures import Group, db, insert  # noqa: F401 (fixtures)
from interleaving import outcome
from psycopg_fixtures import connect
from test_cursor_results import four, IDS, run  # noqa: F401 (a fixture)
from test_pipelined import faulty_daemon
from wire_fixtures import client, column, table  # noqa: F401 (fixtures)

HELD = f"DECLARE c CURSOR WITH HOLD FOR {IDS}"
CURSORS = "SELECT name, is_holdable FROM pg_cursors ORDER BY name"


def is_gone(client, name="c"):
    return client.query(f"FETCH 1 FROM {name}").state == "34000" and client.query(CURSORS).check().texts == []


def declared(client, how, sql=HELD):
    """By each of the protocol's ways."""
    if how == "query":
        client.query(sql).check()
    else:
        client.ask(wire.parse(sql), wire.bind(), wire.execute()).check()


# Outside of a block.


@pytest.mark.parametrize("how", ["query", "extended"])
def test_without_a_block(shared, client, four, how):
    """All of it is read with DECLARE, and keeps no reader, nor the WAL."""
    declared(client, how)
    assert client.query(CURSORS).check().texts == [("c", "t")]
    assert client.query(HELD).state == "42P03"
    assert run(client, "FETCH 2 FROM c") == ["1", "2"]
    shared.run("DELETE FROM t")
    shared.run("DROP TABLE t")
    assert run(client, "MOVE 1 FROM c", "FETCH ALL FROM c") == ["4"]
    reply = client.query("FETCH 1 FROM c").check()
    assert reply.tag == "FETCH 0" and reply.status == "I"
    assert client.query("CLOSE c").check().tag == "CLOSE CURSOR"
    assert is_gone(client)


def test_its_message_is_its_transaction(client, four):
    """psqlodbc with UseDeclareFetch sends it so."""
    assert column(client.query(f"{HELD}; FETCH 2 FROM c").check()) == ["1", "2"]
    assert run(client, "FETCH 2 FROM c") == ["3", "4"]
    assert run(client, "CLOSE c", f"{HELD}; DELETE FROM t; INSERT INTO t VALUES (9, 'n')", "FETCH ALL FROM c") == ["1", "2", "3", "4"]
    assert run(client, "CLOSE c", f"INSERT INTO t VALUES (8, 'n'); {HELD}; DELETE FROM t", "FETCH ALL FROM c") == ["8", "9"]


def test_a_message_that_fails_leaves_none(client, four):
    for fails in [f"{HELD}; SELECT nosuch", f"INSERT INTO t VALUES (5, 'n'); {HELD}; INSERT INTO t VALUES (1, 'again')"]:
        assert client.query(fails).state in ("42703", "23505")
        assert is_gone(client)
    # Nor does it close one of before.
    run(client, HELD, "FETCH 1 FROM c")
    assert client.query("SELECT nosuch").state == "42703"
    assert client.query(f"DECLARE d CURSOR WITH HOLD FOR {IDS}; SELECT nosuch").state == "42703"
    assert client.query(CURSORS).check().texts == [("c", "t")]
    assert run(client, "FETCH ALL FROM c") == ["2", "3", "4"]


def test_a_query_string_is_a_block_to_other_cursors(client, four):
    """As in PostgreSQL; they end with it."""
    assert column(client.query(f"DECLARE c CURSOR FOR {IDS}; FETCH 2 FROM c; FETCH 1 FROM c").check()) == ["1", "2", "3"]
    assert is_gone(client)
    assert client.query(f"DECLARE c CURSOR FOR {IDS}").state == "25P01"
    reply = client.query(f"DECLARE c CURSOR FOR {IDS}; FETCH 1 FROM c; DELETE FROM t WHERE id < 4; FETCH ALL FROM c; {IDS}").check()
    assert column(reply) == ["1", "2", "3", "4", "4"]


def test_with_parameters(client, four):
    """psycopg's server-side cursors."""
    client.ask(
        wire.parse("DECLARE c NO SCROLL CURSOR WITH HOLD FOR SELECT id, v FROM t WHERE id >= $1 ORDER BY id"), wire.bind(["3"]),
        wire.execute()).check()
    assert client.query("FETCH ALL FROM c").check().texts == [("3", "i"), ("4", "i")]


def test_psycopg(shared, four):
    with connect(shared, autocommit=True) as connection:
        with connection.cursor("held", withhold=True) as cursor:
            cursor.itersize = 2
            cursor.execute("SELECT id FROM t WHERE id > %s ORDER BY id", [1])
            assert cursor.fetchone() == (2,)
            connection.execute("DELETE FROM t")
            assert [row[0] for row in cursor] == [3, 4]
        assert connection.execute(CURSORS).fetchall() == []


# In blocks.


@pytest.mark.parametrize("before", [None, "UPDATE t SET v = 'x'"])
@pytest.mark.parametrize("behind", [None, "DELETE FROM t WHERE id < 4"])
@pytest.mark.parametrize("fetched", [0, 1, 4, 5])
@pytest.mark.parametrize("level", ["READ COMMITTED", "SERIALIZABLE"])
def test_a_block_commits(shared, client, four, level, before, fetched, behind):
    run(client, f"BEGIN ISOLATION LEVEL {level}", *filter(None, [before]), HELD)
    assert run(client, f"FETCH {fetched} FROM c") == ["1", "2", "3", "4"][:fetched]
    run(client, *filter(None, [behind]), "COMMIT")
    shared.run("DELETE FROM t")
    assert run(client, "FETCH ALL FROM c") == ["1", "2", "3", "4"][fetched:]
    # Of later transactions nothing closes it.
    for end in ["COMMIT", "ROLLBACK"]:
        run(client, "BEGIN", "INSERT INTO t VALUES (1, 'n')", "SAVEPOINT s", "FETCH 1 FROM c", "ROLLBACK TO s", end)
        assert client.query(CURSORS).check().texts == [("c", "t")]
        shared.run("DELETE FROM t")
    assert client.query("FETCH 1 FROM c").check().tag == "FETCH 0"


def test_reading_goes_on_over_transactions(client, four):
    run(client, "BEGIN", HELD, "FETCH 1 FROM c", "COMMIT AND CHAIN")
    assert run(client, "FETCH 1 FROM c") == ["2"]
    run(client, "ROLLBACK")
    assert run(client, "FETCH 1 FROM c") == ["3"]
    # In a failed block nothing is read, and nothing lost.
    run(client, "BEGIN")
    assert client.query("SELECT nosuch").state == "42703"
    assert client.query("FETCH 1 FROM c").state == "25P02"
    run(client, "ROLLBACK")
    assert run(client, "FETCH ALL FROM c") == ["4"]


@pytest.mark.parametrize("end", ["ROLLBACK", "a failed COMMIT"])
def test_a_block_that_is_not_committed_leaves_none(client, four, end):
    run(client, HELD, "BEGIN", "INSERT INTO t VALUES (5, 'n')", f"DECLARE d CURSOR WITH HOLD FOR {IDS}", "FETCH 1 FROM d")
    if end == "ROLLBACK":
        run(client, "ROLLBACK")
    else:
        assert client.query("SELECT nosuch").state == "42703"
        assert client.query("COMMIT").check().tag == "ROLLBACK"
    assert client.query("FETCH 1 FROM d").state == "34000"
    assert client.query(CURSORS).check().texts == [("c", "t")]


def test_a_commit_that_a_foreign_key_refuses_leaves_none(shared, client):
    shared.run(
        "DROP TABLE IF EXISTS child", "DROP TABLE IF EXISTS t", "CREATE TABLE t (id INTEGER PRIMARY KEY)",
        "CREATE TABLE child (t INTEGER REFERENCES t DEFERRABLE INITIALLY DEFERRED)")
    run(client, "BEGIN", "INSERT INTO child VALUES (4711)", "DECLARE c CURSOR WITH HOLD FOR SELECT * FROM child", "FETCH 0 FROM c")
    assert client.query("COMMIT").state == "23503"
    assert is_gone(client)
    shared.run("DROP TABLE child")


def test_savepoints(client, four):
    """One that was declared behind a savepoint goes with it; one that has failed behind one is not held."""
    run(client, "BEGIN", HELD, "SAVEPOINT s", f"DECLARE d CURSOR WITH HOLD FOR {IDS}", "ROLLBACK TO s", "COMMIT")
    assert client.query(CURSORS).check().texts == [("c", "t")]
    run(client, "CLOSE c", "BEGIN", "DECLARE c CURSOR WITH HOLD FOR SELECT json_extract('{', '$') FROM t", "SAVEPOINT s")
    assert client.query("FETCH 1 FROM c").state == "22P02"
    run(client, "ROLLBACK TO s", "COMMIT")
    assert is_gone(client)


@pytest.mark.parametrize("begun", [False, True])
def test_a_query_that_fails_fails_the_commit(shared, client, four, begun):
    """As in PostgreSQL, which reads the rows then; and nothing of the transaction stays."""
    run(client, "BEGIN", "INSERT INTO t VALUES (9, 'n')")
    run(client, "DECLARE c CURSOR WITH HOLD FOR SELECT abs(id - 3 + (id = 3) * -9223372036854775808) FROM t ORDER BY id")
    if begun:
        assert run(client, "FETCH 1 FROM c") == ["2"]
    reply = client.query("COMMIT")
    assert reply.state == "22003" and reply.status == "I" and reply.tags == []
    assert is_gone(client)
    assert shared.run("SELECT count(*) FROM t").value == "4"
    assert client.query("DECLARE c CURSOR WITH HOLD FOR SELECT abs(-9223372036854775808)").state == "22003"
    assert is_gone(client)


@pytest.mark.parametrize("block", [False, True])
def test_more_than_is_kept(client, four, block):
    """64 MiB for all of a session's."""
    large = "CURSOR WITH HOLD FOR SELECT value, zeroblob(1000000) FROM generate_series(1, {})"
    run(client, f"DECLARE c {large.format(40)}")
    if block:
        run(client, "BEGIN", "INSERT INTO t VALUES (5, 'n')", f"DECLARE d {large.format(40)}")
    reply = client.query("COMMIT" if block else f"DECLARE d {large.format(40)}")
    assert reply.state == "54000" and "WITH HOLD" in reply.error["M"] and "67108864" in reply.error["D"]
    assert "transaction" in reply.error["H"] and reply.status == "I"
    assert client.query(CURSORS).check().texts == [("c", "t")]
    assert run(client, IDS) == ["1", "2", "3", "4"]
    run(client, "CLOSE c", f"DECLARE d {large.format(40)}")
    assert len(client.query("FETCH ALL FROM d").check().rows) == 40
    # What was read and is left is not counted twice: there is room again.
    run(client, f"DECLARE e {large.format(40)}", "CLOSE ALL")


def test_a_statement_that_is_stopped_keeps_none(client, four):
    run(client, "SET statement_timeout = '50ms'")
    endless = "DECLARE c CURSOR WITH HOLD FOR SELECT count(*) FROM generate_series(1, 100000000000)"
    assert client.query(endless).state == "57014"
    run(client, "BEGIN", "INSERT INTO t VALUES (5, 'n')", endless)
    reply = client.query("COMMIT")
    assert reply.state == "57014" and reply.status == "I"
    run(client, "SET statement_timeout = 0")
    assert is_gone(client)
    assert run(client, IDS) == ["1", "2", "3", "4"]


@pytest.mark.parametrize("end", ["CLOSE ALL", "DISCARD ALL", "asyncpg's"])
def test_what_closes_all(client, four, end):
    run(client, HELD)
    reset = "SELECT pg_advisory_unlock_all();\nCLOSE ALL;\nUNLISTEN *;\nRESET ALL;"
    client.query(reset if end == "asyncpg's" else end).check()
    assert is_gone(client)


def test_it_waits_for_a_reader(start_daemon):
    """At COMMIT, too, where its query has not been run before."""
    daemon = start_daemon(options=["--readers", "1"])
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (1), (2)")
    with daemon.client() as holder, daemon.client() as client:
        for begin, last in [(["SELECT 1"], HELD), (["BEGIN", HELD], "COMMIT")]:
            client.query("; ".join(begin)).check()
            holder.query("BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT 1 FROM t").check()
            client.send(wire.query(last))
            daemon.settle(client)
            assert not client.has_reply()
            holder.query("COMMIT").check()
            client.reply().check()
            assert run(client, "FETCH ALL FROM c") == ["1", "2"]
            run(client, "CLOSE c")


@pytest.mark.parametrize("commit", ["COMMIT", "COMMIT AND CHAIN", "execute"])
@pytest.mark.parametrize("how", ["cancel", "lock_timeout", "statement_timeout"])
def test_a_commit_that_waits_and_is_stopped(start_daemon, how, commit):
    """It has failed, and with it the transaction, whatever savepoints it had."""
    daemon = start_daemon(options=["--readers", "1"])
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (1), (2)")
    with daemon.client() as holder, daemon.client(application_name="outer") as client:
        client.query("BEGIN; SET application_name = 'inner'; SAVEPOINT s").check()
        client.query(HELD).check()
        if how != "cancel":
            client.query(f"SET LOCAL {how} = '50ms'").check()
        holder.query("BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT 1 FROM t").check()
        messages = [wire.parse("COMMIT"), wire.bind(), wire.execute(), wire.sync()] if commit == "execute" else [wire.query(commit)]
        client.send(*messages)
        if how == "cancel":
            daemon.settle(client)
            assert not client.has_reply()
            client.cancel()
        reply = client.reply()
        assert reply.state == ("55P03" if how == "lock_timeout" else "57014") and reply.status == "I" and reply.tags == []
        assert client.query("ROLLBACK TO s").state == "25P01"
        assert client.query("FETCH 1 FROM c").state == "34000"
        assert client.query("SHOW application_name").value == "outer"


def test_moving_over_many_is_stopped(client):
    """Of rows of one byte there may be 60 million."""
    client.query("DECLARE c CURSOR WITH HOLD FOR SELECT NULL FROM generate_series(1, 3000000)").check()
    client.query("SET statement_timeout = '1ms'").check()
    assert client.query("MOVE ALL FROM c").state == "57014"
    client.query("RESET statement_timeout; CLOSE c").check()


# Groups, and the disk.


def test_the_members_of_a_group_leave_it_where_it_was(db):
    """Whoever is run again fetches the same rows again."""
    group = Group(db)
    held = "DECLARE c CURSOR WITH HOLD FOR SELECT value FROM generate_series(1, 4)"
    declares = group.add(f"BEGIN; INSERT INTO t VALUES (1, 'n'); {held}; COMMIT")
    fetches = group.add("BEGIN; INSERT INTO t VALUES (2, 'n'); FETCH 1 FROM c; COMMIT", setup=held)
    executes = group.add(
        wire.parse("INSERT INTO t VALUES (3, 'n')"), wire.bind(), wire.execute(), wire.execute("c", 1), wire.sync(), setup=held)
    group.add("INSERT OR ROLLBACK INTO t VALUES (0, 'again')")
    group.add(insert(4))
    group.release()
    replies = [client.reply() for client in group.clients]
    assert [outcome(reply) for reply in replies][3:] == ["ERROR 23505", "INSERT 0 1"]
    assert [column(reply.check()) for reply in replies[1:3]] == [["1"], ["1"]]
    for client, left in [(declares, ["1", "2", "3", "4"]), (fetches, ["2", "3", "4"]), (executes, ["2", "3", "4"])]:
        assert run(client, "FETCH ALL FROM c") == left


def test_a_group_that_is_run_again_with_one_declared_before_it(db):
    group = Group(db)
    held = "DECLARE c CURSOR WITH HOLD FOR SELECT value FROM generate_series(1, 4)"
    client = group.add(f"{held}; BEGIN; INSERT INTO t VALUES (1, 'n'); COMMIT")
    group.add("INSERT OR ROLLBACK INTO t VALUES (0, 'again')")
    group.release()
    assert client.reply().check().tags[-1] == "COMMIT"
    assert run(client, "FETCH ALL FROM c") == ["1", "2", "3", "4"]
    assert run(client, "ROLLBACK", "FETCH 1 FROM c") == []


@pytest.mark.parametrize("synchronous", ["full", "pipelined"])
@pytest.mark.parametrize("whole", [False, True])
def test_a_commit_that_the_disk_fails_leaves_none(tmp_path, monkeypatch, synchronous, whole):
    with faulty_daemon(tmp_path, monkeypatch, synchronous=synchronous) as (daemon, control), daemon.client() as client:
        old = "DECLARE old CURSOR WITH HOLD FOR SELECT value FROM generate_series(1, 4)"
        held = "DECLARE c CURSOR WITH HOLD FOR SELECT value FROM generate_series(1, 4)"
        run(client, old, "INSERT INTO t VALUES (1)")
        block = [held, "BEGIN", "INSERT INTO t VALUES (2)"] if whole else ["BEGIN", "INSERT INTO t VALUES (2)", held]
        if whole:
            control.arm("sync", 1, "EIO", 1)
            reply = client.query("; ".join([*block, "COMMIT"]))
        else:
            run(client, *block)
            control.arm("sync", 1, "EIO", 1)
            reply = client.query("COMMIT")
        assert reply.state == "08007" and reply.status == "I"
        eventually(lambda: client.query("INSERT INTO t VALUES (3)").state is None)
        assert client.query("FETCH 1 FROM c").state == "34000"
        assert run(client, "FETCH ALL FROM old") == ["1", "2", "3", "4"]
