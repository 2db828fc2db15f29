"""What reviews and readers found broken once, each as the smallest thing that broke it."""

import pytest

import wire


@pytest.fixture
def db(shared):
    shared.run("DROP TABLE IF EXISTS r; CREATE TABLE r (id INTEGER PRIMARY KEY, v TEXT)")
    return shared


def values(db):
    return [int(row[0]) for row in db.client().query("SELECT id FROM r ORDER BY id").check().texts]


def test_a_thousand_pipelined_writes_do_not_nest_a_thousand_calls(db):
    client = db.client()
    client.send(*[wire.query("DELETE FROM r")] * 1500)
    for _ in range(1500):
        assert client.reply().tag == "DELETE 0"
    db.check_alive()


@pytest.mark.parametrize("sql", [
    "prepare a as execute a",
    "prepare a as " * 20_000 + "select 1",
    "declare a cursor for " * 10_000 + "select 1",
    "prepare a as begin",
])
def test_prepare_and_declare_take_only_queries(db, sql):
    client = db.client()
    assert client.query(sql).state == "42601"
    client.query("SELECT 1").check()
    db.check_alive()


def test_an_empty_query_ends_a_pipeline_as_a_sync_does(db):
    client = db.client()
    client.send(wire.parse("INSERT INTO r VALUES (1, 'a')"), wire.bind(), wire.execute(), wire.query(""))
    reply = client.reply()
    assert reply.status == "I" and reply.tag == "INSERT 0 1"
    assert values(db) == [1]


def test_commit_without_a_block_commits(db):
    reply = db.client().query("INSERT INTO r VALUES (1, 'a'); COMMIT; INSERT INTO r VALUES (2, 'b'); INSERT INTO r VALUES (2, 'c')")
    assert reply.state == "23505"
    assert values(db) == [1]


def test_rollback_without_a_block_begins_anew(db):
    reply = db.client().query("INSERT INTO r VALUES (1, 'a'); ROLLBACK; INSERT INTO r VALUES (2, 'b'); INSERT INTO r VALUES (2, 'c')")
    assert reply.state == "23505"
    assert values(db) == []


def test_the_type_of_a_column_is_not_corrected_in_bytes_that_are_something_else(db):
    for count in (2300, 4000, 6000, 20_000):
        sql = (f"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT {count}) "
               f"SELECT CASE WHEN n < {count} THEN n ELSE 'text' END FROM c")
        reply = db.client().query(sql)
        numbers = [row[0] for row in reply.texts[:count - 1]]
        assert numbers == [str(n) for n in range(1, count)]


def test_move_sends_no_rows(db):
    client = db.client()
    client.query("BEGIN; DECLARE c CURSOR FOR SELECT value, zeroblob(100000) FROM json_each('[1,2,3,4,5,6]')").check()
    assert client.query("FETCH 2 FROM c").tag == "FETCH 2"
    reply = client.query("MOVE 2 FROM c")
    assert reply.tag == "MOVE 2" and not reply.rows
    assert client.query("FETCH 1 FROM c").texts[0][0] == "5"


def test_set_local_ends_with_its_transaction(db):
    client = db.client()
    client.query("BEGIN; SET LOCAL statement_timeout = '5s'; SET statement_timeout = '9s'; COMMIT").check()
    assert client.value("SHOW statement_timeout") == "9s"
    client.query("BEGIN; SET LOCAL app.user = '5'; COMMIT").check()
    assert client.query("SHOW app.user").state == "42704"


def test_a_cursor_survives_a_rollback_to_a_later_savepoint(db):
    client = db.client()
    client.query("BEGIN; DECLARE c CURSOR FOR SELECT value FROM json_each('[1,2,3]'); FETCH 1 FROM c").check()
    client.query("SAVEPOINT s").check()
    assert client.query("SELECT nope").state == "42703"
    client.query("ROLLBACK TO s").check()
    assert client.query("FETCH 1 FROM c").texts == [("2",)]


def test_nan_is_refused_where_sqlite_would_store_null(db):
    client = db.client()
    reply = client.extended("INSERT INTO r (v) VALUES ($1::float8)", ["NaN"])
    assert reply.state == "22003"


def test_a_literal_of_execute_keeps_its_type(db):
    client = db.client()
    client.query("PREPARE p AS SELECT typeof($1)").check()
    assert client.value("EXECUTE p(1)") == "integer"
    assert client.value("EXECUTE p('1')") == "text"


def test_replies_do_not_pile_up_for_a_client_that_does_not_read(db):
    client = db.client()
    name = "x" * 300_000
    client.ask(wire.parse(f"SELECT 1 AS {name}", name="s")).check()
    before = db.memory()
    client.send(*[wire.describe_statement("s")] * 1000)
    db.check_alive()
    assert db.memory() < before + (64 << 20)
