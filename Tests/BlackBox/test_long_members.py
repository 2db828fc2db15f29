"""A write that is long and comes behind others in a group: those before it are answered without it.

Each test lets a group gather behind a holder, as in groups_fixtures.
"""

import pytest

from daemon import cancel_until_answered, eventually
from groups_fixtures import Group, insert, pipeline
from metrics import values

# Nothing ends it but a cancel or a limit.
ENDLESS = "INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, 'endless' FROM c WHERE x < 0"
# Some hundred times the time limit of a group below.
LONG = "INSERT INTO u SELECT NULL FROM generate_series(1, 300000)"
SHAPES = {
    "statement": lambda sql: [sql],
    "transaction": lambda sql: [f"BEGIN; INSERT INTO w VALUES (7); {sql}; COMMIT"],
    "implicit": lambda sql: [f"INSERT INTO w VALUES (7); {sql}"],
    "extended": lambda sql: [pipeline(sql)],
    "pipeline": lambda sql: [pipeline("BEGIN", "INSERT INTO w VALUES (7)", sql, "COMMIT")],
}


@pytest.fixture(params=["full", "pipelined"])
def db(request, start_daemon):
    # That an endless one took long and was cancelled is a line, too, once it is a second.
    config = 'group_time_limit = "2ms"\nlog_client_errors = "all"\nlog_min_duration_statement = -1\nwriter_idle_limit = "1min"\n'
    daemon = start_daemon(options=["--synchronous", request.param], config=config)
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, who TEXT)", "CREATE TABLE u (id INTEGER PRIMARY KEY)",
               "CREATE TABLE w (n INTEGER)")
    return daemon


@pytest.mark.parametrize("shape", SHAPES)
def test_who_came_before_is_answered(db, shape):
    group = Group(db)
    early = [group.add(insert(id)) for id in (1, 2)]
    endless = group.add(*SHAPES[shape](ENDLESS))
    late = group.add(insert(3))
    group.release()
    assert [client.reply().tag for client in early] == ["INSERT 0 1"] * 2
    # It runs alone now, and a cancel finds it.
    eventually(lambda: writer(db)[1] == str(endless.process_id), "the endless one with the writer")
    assert "endless" in writer(db)[7]
    assert not endless.has_reply() and not late.has_reply()
    endless.cancel()
    reply = endless.reply()
    assert reply.state == "57014" and "user request" in reply.error["M"]
    if reply.status != "I":
        endless.query("ROLLBACK").check()
    assert late.reply().tag == "INSERT 0 1"
    assert db.value("SELECT group_concat(id) FROM t") == "1,2,3" and db.value("SELECT count(*) FROM w") == "0"
    # Nobody heard that it was stopped before.
    assert values(db)[("walpool_errors_total", ("sqlstate", "57014"))] == 1
    eventually(lambda: "57014" in db.errors, "the line of the cancel")
    assert db.errors.count("57014") == 1
    assert endless.query(insert(4)).tag == "INSERT 0 1"


def writer(daemon):
    """SHOW WRITER's first row: who has it."""
    rows = daemon.client(database="walpool").query("SHOW WRITER").rows
    return [value.decode() if value is not None else None for value in rows[0]] if rows else [None] * 9


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.optimised("pipelined")
def test_it_is_done_once(db, shape):
    group = Group(db)
    early = group.add(insert(1))
    long = group.add(*SHAPES[shape](LONG))
    late = group.add(insert(2))
    group.release()
    assert early.reply().tag == late.reply().tag == "INSERT 0 1"
    reply = long.reply()
    assert not reply.errors and "INSERT 0 300000" in reply.tags and reply.tags.count("INSERT 0 300000") == 1
    assert db.value("SELECT count(*) FROM u") == "300000"
    assert db.value("SELECT count(*) FROM w") == ("0" if shape in ("statement", "extended") else "1")


def test_its_timeout_goes_on(db):
    group = Group(db)
    early = group.add(insert(1))
    # Long enough that the group begins before it is over.
    endless = group.add(ENDLESS, setup="SET statement_timeout = '2s'")
    group.release()
    assert early.reply().tag == "INSERT 0 1"
    assert endless.reply().state == "57014"
    assert values(db)[("walpool_errors_total", ("sqlstate", "57014"))] == 1


def test_a_question_to_the_catalogs(db):
    """It runs on a connection of its own, and the writer waits for it as for any statement."""
    group = Group(db)
    early = group.add(insert(1))
    question = "SELECT count(*) FROM " + ", ".join(f"pg_type t{number}" for number in range(12))
    asking = group.add(f"BEGIN; INSERT INTO w VALUES (7); {question}; COMMIT")
    late = group.add(insert(2))
    group.release()
    assert early.reply().tag == "INSERT 0 1"
    cancel_until_answered(asking)
    assert asking.reply().state == "57014"
    asking.query("ROLLBACK").check()
    assert late.reply().tag == "INSERT 0 1"
    assert db.value("SELECT count(*) FROM w") == "0"


@pytest.mark.optimised("pipelined")
def test_many_short_statements(db):
    """No statement of it is long enough to be asked."""
    group = Group(db)
    early = group.add(insert(1))
    many = group.add("; ".join(f"INSERT INTO u VALUES ({n})" for n in range(1, 5001)))
    late = group.add(insert(2))
    group.release()
    assert early.reply().tag == late.reply().tag == "INSERT 0 1"
    reply = many.reply()
    assert reply.tags == ["INSERT 0 1"] * 5000
    assert db.value("SELECT count(*) FROM u") == "5000"


def test_several_long_ones(db):
    group = Group(db)
    clients = [group.add(LONG if id % 3 == 0 else insert(id)) for id in range(1, 10)]
    group.release()
    replies = [client.reply() for client in clients]
    assert [reply.tag for reply in replies] == ["INSERT 0 1", "INSERT 0 1", "INSERT 0 300000"] * 3
    assert db.value("SELECT count(*) FROM u") == "900000"


def test_one_that_vanishes(db):
    group = Group(db)
    early = group.add(insert(1))
    gone = group.add(ENDLESS)
    late = group.add(insert(2))
    group.release()
    assert early.reply().tag == "INSERT 0 1"
    gone.close()
    assert late.reply().tag == "INSERT 0 1"
    db.check_alive()
