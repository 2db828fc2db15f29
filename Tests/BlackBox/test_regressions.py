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


def test_what_a_member_sends_next_does_not_hold_up_the_others_of_its_group(db):
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    holder = db.client()
    holder.query("BEGIN IMMEDIATE").check()
    members = []
    for number in range(8):
        members.append(db.client())
        members[-1].send(wire.query(f"INSERT INTO r VALUES ({number}, 'a')") + (wire.query(endless) if number == 0 else b""))
        db.settle(members[-1])
    holder.query("COMMIT").check()
    for member in members[1:]:
        assert member.reply().tag == "INSERT 0 1"
        assert member.value("SELECT 1") == "1"
    members[0].close()


@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.optimised), 2, pytest.param(3, marks=pytest.mark.optimised), 4])
def test_steps_that_are_long_do_not_keep_others_waiting(daemon, threads):
    """One step of SQLite's machine, in which no progress handler runs, for longer than a thread may be away."""
    long = "SELECT instr(hex(zeroblob(120000)), hex(zeroblob(60000)) || '1')"
    stuck = [daemon.client() for _ in range(threads)]
    for client in stuck:
        client.send(wire.query(long))
    other = daemon.client()
    assert other.value("SELECT 1") == "1"
    assert not all(client.has_reply() for client in stuck), "it was not long enough to show anything"
    for client in stuck:
        client.close()


def test_a_deleted_wal_behind_a_symbolic_link(start_daemon, tmp_path):
    file = tmp_path / "real" / "data.db"
    file.parent.mkdir()
    link = tmp_path / "link.db"
    link.symlink_to(file)
    daemon = start_daemon(link)
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    file.with_name("data.db-wal").unlink()
    assert daemon.client().query("INSERT INTO t VALUES (1)").state == "08007", "acknowledged into a deleted -wal"
