"""Statements that take long to prepare: they obey timeouts, cancels and ceilings as running ones do. And what nests more deeply
than a thread's stack has room for."""

import sqlite3

import pytest

import wire
from console import console, show
from daemon import Daemon, eventually
from groups_fixtures import Group, insert
from hostile import bystander, served  # fixtures
from logs import has_field, line


def join(tables=60, conditions=12):
    """Planned for a quarter of a second or so, and run in no time."""
    where = [f"t{i}.{'ab'[(i + j) % 2]} = t{j}.{'ab'[i * j % 2]}" for i in range(1, tables) for j in range(max(0, i - conditions), i)]
    return f"SELECT 1 x FROM {', '.join(f's t{i}' for i in range(tables))} WHERE {' AND '.join(where)}"


def mentions(count):
    """Each has it planned again."""
    return ", ".join(["(SELECT x FROM j)"] * count)


def select(count):
    return f"WITH j AS NOT MATERIALIZED ({join()}) SELECT {mentions(count)}"


def slow_insert(count):
    return f"WITH j AS NOT MATERIALIZED ({join()}) INSERT INTO t SELECT 100, coalesce({mentions(count)})"


SELECT, INSERT = select(200), slow_insert(120)
STATEMENTS = {"select": SELECT, "insert": INSERT}
SCHEMA = ["CREATE TABLE s (a, b)", "CREATE INDEX sa ON s (a)", "CREATE INDEX sb ON s (b)",
          "CREATE TABLE t (id INTEGER PRIMARY KEY, who TEXT)"]


@pytest.fixture
def db(daemon):
    daemon.run(*SCHEMA)
    return daemon


def ask(sql, how):
    return [wire.query(sql)] if how == "simple" else [wire.parse(sql), wire.bind(), wire.execute(), wire.sync()]


@pytest.mark.parametrize("how", ["simple", "extended"])
@pytest.mark.parametrize("name", STATEMENTS)
def test_it_obeys_its_timeout(db, name, how):
    client = db.client()
    client.query("SET statement_timeout = '300ms'").check()
    for begin in ["", "BEGIN IMMEDIATE"]:
        if begin:
            client.query(begin).check()
        client.send(*ask(STATEMENTS[name], how))
        reply = client.reply()
        assert reply.state == "57014" and "statement timeout" in reply.error["M"], reply.errors
        # Nothing of it is kept: who sends it again is stopped again.
        assert db.client().query("SELECT count(*) FROM t").value == "0"
    assert client.query("ROLLBACK").tag == "ROLLBACK"
    assert client.query("INSERT INTO t VALUES (1, 'next')").tag == "INSERT 0 1"


@pytest.mark.parametrize("how", ["simple", "extended"])
@pytest.mark.parametrize("name", STATEMENTS)
def test_it_can_be_cancelled(db, name, how):
    client = db.client()
    client.send(*ask(STATEMENTS[name], how))

    def is_cancelled():
        client.cancel()
        return client.has_reply()

    eventually(is_cancelled, "the cancel")
    assert "user request" in client.reply().error["M"]
    assert client.query("SELECT 1").value == "1"


def test_it_waits_for_nobody_meanwhile(db):
    client = db.client()
    client.query("SET lock_timeout = '50ms'").check()
    assert client.query(slow_insert(2)).tag == "INSERT 0 1"


def test_it_can_be_killed(db):
    client = db.client()
    client.query("BEGIN IMMEDIATE").check()
    client.send(wire.query(INSERT))
    with console(db) as admin:
        assert admin.execute(f"KILL {client.process_id}").statusmessage == "KILL"
    assert client.reply().state == "57P01"
    assert db.client().query("INSERT INTO t VALUES (1, 'next')").tag == "INSERT 0 1"


def test_writer_time_limit(start_daemon):
    daemon = start_daemon(config='[[access]]\nuser = "all"\nrole = "admin"\nwriter_time_limit = "300ms"\n')
    daemon.run(*SCHEMA)
    client = daemon.client()
    client.query("BEGIN IMMEDIATE").check()
    client.send(wire.query(INSERT))
    assert daemon.client().query("INSERT INTO t VALUES (1, 'next')").tag == "INSERT 0 1"
    assert "had the writer" in client.reply().error["M"]


def test_those_that_only_prepare_are_stopped_too(start_daemon):
    daemon = start_daemon(options=["--readers", "2"])
    daemon.run(*SCHEMA)
    clients = [daemon.client() for _ in range(4)]
    for number, client in enumerate(clients):
        client.query("SET statement_timeout = '300ms'").check()
        client.send(wire.query(f"{SELECT} -- {number}"))
    assert daemon.client().query("INSERT INTO t VALUES (1, 'beside')").tag == "INSERT 0 1"
    for client in clients:
        assert client.reply().state == "57014"


def test_one_that_is_prepared_again(db):
    """SQLite prepares it in the middle of a step, because the schema has changed."""
    client = db.client()
    few = select(3)
    client.send(wire.parse(few, name="few"), wire.sync())
    assert not client.reply().errors
    client.send(wire.bind(statement="few"), wire.execute(), wire.sync())
    assert not client.reply().errors
    db.run("CREATE TABLE another (x)")
    client.query("SET statement_timeout = '300ms'").check()
    client.send(wire.bind(statement="few"), wire.execute(), wire.sync())
    assert client.reply().state == "57014"


@pytest.mark.parametrize("synchronous", ["full", "pipelined"])
@pytest.mark.optimised("pipelined")
def test_who_came_before_it_in_a_group_is_answered(start_daemon, synchronous):
    daemon = start_daemon(options=["--synchronous", synchronous], config='group_time_limit = "2ms"\nwriter_idle_limit = "1min"\nlog_client_errors = "all"\n')
    daemon.run(*SCHEMA)
    group = Group(daemon)
    early = [group.add(insert(id)) for id in (1, 2)]
    slow, late = group.add(slow_insert(2)), group.add(insert(3))
    group.release()
    assert [client.reply().tag for client in [*early, slow, late]] == ["INSERT 0 1"] * 4
    assert daemon.value("SELECT group_concat(id) FROM t WHERE id < 4") == "1,2,3" and daemon.value("SELECT count(*) FROM t") == "4"
    # Nobody heard that it was stopped before.
    assert "57014" not in daemon.errors


def test_a_question_to_the_catalogs(db):
    client = db.client()
    client.query("SET statement_timeout = '300ms'").check()
    slow = select(200).replace("s t", "pg_class t").replace(".a", ".oid").replace(".b", ".relname")
    assert client.query(slow + " FROM pg_class").state == "57014"
    assert client.query("SELECT relname FROM pg_class WHERE relname = 't'").value == "t"


def test_many_questions_to_the_catalogs(start_daemon):
    """Each takes a thread for as long as it is prepared: as many as there are readers, and one that only prepares."""
    daemon = start_daemon(options=["--readers", "2"])
    slow = select(200).replace("s t", "pg_class t").replace(".a", ".oid").replace(".b", ".relname")
    clients = [daemon.client() for _ in range(8)]
    for number, client in enumerate(clients):
        client.send(wire.parse(f"{slow}, {number} FROM pg_class"), wire.sync())
    with console(daemon) as admin:
        eventually(lambda: sum(row["state"] == "waiting" for row in show(admin, "CLIENTS")) == 5, "those who wait")
    for client in clients:
        client.cancel()
        assert client.reply().state == "57014"


def test_its_plan_is_not_waited_for(start_daemon):
    """To log the plan, it would be planned once more."""
    daemon = start_daemon(config='log_min_duration_statement = "100ms"\n')
    daemon.run(*SCHEMA)
    client = daemon.client()
    # Its text is short enough to be explained.
    client.query(f"WITH j AS NOT MATERIALIZED ({join(conditions=10)}) SELECT {mentions(4)}").check()
    assert not has_field(line(daemon, "a statement was slow", "NOT MATERIALIZED"), "plan")


def test_many_parameters(db):
    """SQLite compares each of these with all before it, and the daemon looked for each name from the first one on."""
    client = db.client()
    client.query("SET statement_timeout = '3s'").check()
    for parameter in ["?{0}", "${0}"]:
        client.send(wire.parse(f"SELECT 1 IN ({', '.join(parameter.format(n) for n in range(1, 32_001))})"), wire.sync())
        assert not client.reply().errors
    client.query("SET statement_timeout = '300ms'").check()
    client.send(wire.parse(f"SELECT 1 IN ({', '.join(f'${n} + 1' for n in range(1, 32_001))})"), wire.sync())
    assert client.reply().state == "57014"


# Names of views and tables, each of which builds on the one before.
CHAINS = {
    "views": ("CREATE VIEW c{0} AS SELECT DISTINCT x FROM c{1}", "CREATE VIEW c0 AS SELECT 1 AS x", "SELECT * FROM c{0}", 4_000),
    "cascades": ("CREATE TABLE c{0} (x INTEGER PRIMARY KEY REFERENCES c{1} ON DELETE CASCADE)",
                 "CREATE TABLE c0 (x INTEGER PRIMARY KEY)", "DELETE FROM c0", 2_000),
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_schema_that_nests_too_deeply(start_daemon, tmp_path, name):
    link, first, sql, count = CHAINS[name]
    path = tmp_path / "deep.db"
    # One that others have made.
    with sqlite3.connect(path, isolation_level=None) as connection:
        connection.execute("BEGIN")
        connection.execute(first)
        for number in range(1, count):
            connection.execute(link.format(number, number - 1))
        connection.execute("COMMIT")
    connection.close()
    daemon = start_daemon(database=path)
    for how in ["simple", "extended"]:
        client = daemon.client()
        client.send(*ask(sql.format(count - 1), how))
        reply = client.reply()
        assert reply.state == "54001" and "stack" in reply.error["M"], reply.errors
        assert client.query("SELECT count(*) FROM sqlite_schema").value


DEEP = "WITH c0 AS (SELECT 1 AS x)" + "".join(
    f", c{n} AS (SELECT x FROM c{n - 1} UNION ALL SELECT 2)" for n in range(1, 4_000)) + " SELECT * FROM c3999"
NESTED = {
    "common table expressions": (DEEP, "54001"),
    "some COLLATE": ("SELECT v" + " COLLATE nocase" * 4_000 + " FROM t", None),
    "many COLLATE": ("SELECT v" + " COLLATE nocase" * 69_000 + " FROM t", "54001"),
    "casts of a catalog question": ("SELECT 1" + "::int" * 8_000 + " FROM pg_class", "0A000"),
    "subscripts of a catalog question": ("SELECT a" + "[1]" * 43_000 + " FROM pg_class", "0A000"),
}


def flattened(term, levels, each):
    """What each level calculates is put in place of the column by the next one: a tree of levels times each."""
    expressions = [term[0] * each + "x" + term[1] * each] * levels
    return "WITH c0 AS (SELECT v AS x FROM t)" + "".join(
        f", c{n} AS (SELECT {text} AS x FROM c{n - 1})" for n, text in enumerate(expressions, 1)) + f" SELECT x FROM c{levels}"


# 48 levels ended the daemon: to make code of the finished tree takes more stack than to put it together.
@pytest.mark.parametrize("levels", [6, 12, 24, 48, 96])
@pytest.mark.parametrize("term, each", [
    (("", "+1"), 900), (("", " IS 1"), 900), (("", " LIKE 1"), 900), (("iif(1,", ",2)"), 90), (("max(1,", ")"), 90)])
def test_expressions_that_are_put_into_one_another(served, bystander, term, each, levels):
    client = served.client()
    client.query("SET statement_timeout = '500ms'").check()
    # Those that nest in parentheses are a tenth as deep.
    reply = client.query(flattened(term, levels * 900 // each, each))
    assert reply.state in [None, "54001", "57014"], reply.errors
    bystander()


@pytest.mark.parametrize("name", NESTED)
def test_a_text_that_nests_too_deeply(served, bystander, name):
    sql, state = NESTED[name]
    for how in ["simple", "extended"]:
        client = served.client()
        client.send(*ask(sql, how))
        assert client.reply().state == state
        bystander()


def test_everything_at_long_work_leaves_a_thread_that_listens():
    """All readers, the writer and the connection that only prepares: who asks for none of them is answered, and cancelled."""
    database = Daemon(options=["--readers", "3"])
    try:
        everything_at_long_work(database)
    finally:
        database.close()


def everything_at_long_work(database):
    database.run(*SCHEMA)
    endless = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 1000000000000) "
    bystander, administrator, writer = database.client(), database.client(database="walpool"), database.client()
    readers = [database.client() for _ in range(3)]
    writer.send(wire.query(endless + "INSERT INTO t SELECT i, 'x' FROM r WHERE i < 0"))
    for reader in readers:
        reader.send(wire.query(endless + "SELECT max(i) FROM r"))
    eventually(lambda: all(client.unread_by_server() == 0 for client in [writer, *readers]), "everybody at work")
    preparing = database.client()
    # Of some seconds, in which SQLite asks nobody.
    names = ", ".join(f"c{i} AS (SELECT 1 AS x)" for i in range(18_000))
    preparing.send(wire.parse(f"WITH {names} SELECT x FROM c17999"), wire.sync())
    eventually(lambda: preparing.unread_by_server() == 0, "the text's arrival")
    for _ in range(3):
        bystander.query("SHOW lock_timeout").check()
        administrator.query("SHOW CLIENTS").check()
    readers[0].cancel()
    assert readers[0].reply().state == "57014"
    database.client().query("SHOW lock_timeout").check()
    assert not preparing.has_reply()
    for client in [writer, *readers[1:]]:
        client.cancel()
        assert client.reply().state == "57014"
    preparing.reply()
