"""Parameters are bound by the schema that their statement meets: not by one that was rolled back, nor by an older one.

A BOOLEAN column makes 1 of the text `t`, a TEXT column keeps it.
"""

import pytest

import wire
from copy_fixtures import begin, copied, copy_data, copy_done

INSERT = "INSERT INTO t (a) VALUES ($1)"
COUNT = "SELECT count(*) FROM t WHERE a = $1"
STALE = "cached plan must not change result type"


@pytest.fixture
def db(shared):
    shared.run("DROP TABLE IF EXISTS t", "DROP TABLE IF EXISTS u", "CREATE TABLE t (a TEXT)", "CREATE TABLE u (a TEXT)")
    return shared


@pytest.fixture
def outsider(db, outsider):
    """One, with this database open."""
    return outsider(db.database)


def stored(db, table="t"):
    return db.run(f"SELECT typeof(a) || ' ' || a FROM {table} ORDER BY rowid").texts


def change(client, declared="BOOLEAN"):
    client.query(f"DROP TABLE t; CREATE TABLE t (a {declared})").check()


def extended(sql, *values):
    return [wire.parse(sql), wire.bind(values), wire.execute(), wire.sync()]


def waiting(db, *messages):
    """A client that has sent this and waits for the writer."""
    client = db.client()
    client.send(*messages)
    db.settle(client)
    assert not client.has_reply()
    return client


# DDL that is not committed


def test_a_delete_that_waits_behind_ddl_deletes_its_own_row(db):
    db.run("INSERT INTO t VALUES ('t'), ('1')")
    holder, delete = db.client(), "DELETE FROM t WHERE a = $1"
    holder.query("BEGIN").check()
    change(holder)
    holder.extended(delete, ["f"]).check()
    other = waiting(db, *extended(delete, "t"))
    holder.query("ROLLBACK").check()
    assert other.reply().tag == "DELETE 1"
    assert stored(db) == [("text 1",)]


@pytest.mark.parametrize("end, expected", [("ROLLBACK", "text t"), ("COMMIT", "integer 1")])
def test_an_insert_that_waits_behind_ddl(db, end, expected):
    holder, prepared = db.client(), db.client()
    prepared.ask(wire.parse(INSERT, name="s")).check()
    holder.query("BEGIN").check()
    change(holder)
    holder.extended(INSERT, ["f"]).check()
    others = [waiting(db, *extended(INSERT, "t")), waiting(db, *extended(INSERT, "t"))]
    prepared.send(wire.bind(["t"], statement="s"), wire.execute(), wire.sync())
    db.settle(prepared)
    holder.query(end).check()
    for other in [*others, prepared]:
        assert other.reply().tag == "INSERT 0 1"
    assert stored(db)[-3:] == [(expected,)] * 3


def test_readers_do_not_see_what_is_not_committed(db):
    db.run("INSERT INTO t VALUES ('t')")
    holder, reader = db.client(), db.client()
    holder.query("BEGIN").check()
    change(holder)
    holder.query("INSERT INTO t VALUES (1), (1)").check()
    for _ in range(2):
        assert holder.extended(COUNT, ["t"]).value == "2"
        assert reader.extended(COUNT, ["t"]).value == "1"
    assert reader.ask(wire.parse("SELECT a FROM t"), wire.describe_statement()).of("T")[0].columns[0].type == wire.TEXT
    holder.query("ROLLBACK").check()
    for client in (holder, reader):
        assert client.extended(COUNT, ["t"]).value == "1"


def test_rollback_to_a_savepoint_before_ddl(db):
    client = db.client()
    client.query("BEGIN; SAVEPOINT s").check()
    change(client)
    client.ask(wire.parse(INSERT, name="s"), wire.bind(["t"], statement="s"), wire.execute()).check()
    assert client.query("SELECT typeof(a) FROM t").texts == [("integer",)]
    client.query("ROLLBACK TO s").check()
    client.ask(wire.bind(["t"], statement="s"), wire.execute()).check()
    client.extended(INSERT, ["t"]).check()
    client.query("COMMIT").check()
    assert stored(db) == [("text t",), ("text t",)]


def test_two_schemas_in_one_block(db):
    client = db.client()
    client.query("BEGIN").check()
    client.ask(wire.parse(INSERT, name="s"), wire.bind(["t"], statement="s"), wire.execute()).check()
    change(client)
    client.ask(wire.bind(["t"], statement="s"), wire.execute()).check()
    client.query("INSERT INTO u SELECT a FROM t").check()
    change(client, "TEXT")
    client.ask(wire.bind(["t"], statement="s"), wire.execute()).check()
    client.query("COMMIT").check()
    assert stored(db) == [("text t",)]
    assert stored(db, "u") == [("text 1",)]


@pytest.mark.parametrize("fails", [False, True])
def test_members_of_a_group_behind_one_with_ddl(db, fails):
    """The first fails at its end, so that its DDL is rolled back to its savepoint."""
    holder = db.client()
    holder.query("BEGIN IMMEDIATE").check()
    ends = "INSERT INTO missing VALUES (1)" if fails else "INSERT INTO t VALUES (0)"
    changing = waiting(db, wire.query(f"DROP TABLE t; CREATE TABLE t (a BOOLEAN); {ends}"))
    others = [waiting(db, *extended(INSERT, "t")) for _ in range(3)]
    holder.query("COMMIT").check()
    assert changing.reply().state == ("42P01" if fails else None)
    for other in others:
        assert other.reply().tag == "INSERT 0 1"
    assert stored(db)[-3:] == [("text t" if fails else "integer 1",)] * 3


def test_catalogs_in_a_transaction_that_defines(db, outsider):
    columns = "SELECT attname FROM pg_attribute WHERE attrelid = 'u'::regclass AND attnum > 0 ORDER BY attnum"
    a, b = db.client(), db.client()
    assert a.query(columns).texts == b.query(columns).texts == [("a",)]
    a.query("BEGIN; ALTER TABLE u ADD COLUMN b").check()
    assert a.query(columns).texts == [("a",), ("b",)]
    assert b.query(columns).texts == [("a",)]
    a.query("ROLLBACK").check()
    assert a.query(columns).texts == b.query(columns).texts == [("a",)]
    outsider("ALTER TABLE u ADD COLUMN c")
    assert a.query(columns).texts == b.query(columns).texts == [("a",), ("c",)]


# DDL that is committed under prepared statements


def test_a_prepared_statement_takes_the_new_types(db):
    client = db.client()
    client.ask(wire.parse(INSERT, name="s")).check()
    client.ask(wire.parse(COUNT, name="c")).check()
    change(db.client())
    client.ask(wire.bind(["t"], statement="s"), wire.execute()).check()
    assert stored(db) == [("integer 1",)]
    assert client.ask(wire.bind(["t"], statement="c"), wire.execute()).value == "1"
    change(db.client(), "TEXT")
    client.ask(wire.bind(["t"], statement="s"), wire.execute()).check()
    assert stored(db) == [("text t",)]
    assert client.ask(wire.bind(["1"], statement="c"), wire.execute()).value == "0"


@pytest.mark.parametrize("sql", [INSERT, COUNT])
def test_types_that_the_client_was_told_do_not_change(db, sql):
    client = db.client()
    told = client.ask(wire.parse(sql, name="s"), wire.describe_statement("s")).check().of("t")[0].types
    assert told == [wire.TEXT]
    change(db.client())
    for _ in range(2):
        reply = client.ask(wire.bind(["t"], statement="s"), wire.execute())
        assert (reply.state, reply.error["M"], reply.error["R"]) == ("0A000", STALE, "RevalidateCachedQuery")
    assert stored(db) == []
    client.ask(wire.close_statement("s"), wire.parse(sql, name="s"), wire.bind(["t"], statement="s"), wire.execute()).check()
    # Definitions that leave them as they are matter to nobody.
    db.run("CREATE TABLE another (x)", "DROP TABLE another")
    client.ask(wire.bind(["t"], statement="s"), wire.execute()).check()


def test_types_that_the_client_gave_stay(db):
    client = db.client()
    client.ask(wire.parse(INSERT, name="s", types=[wire.TEXT]), wire.describe_statement("s")).check()
    change(db.client())
    client.ask(wire.bind(["t"], statement="s"), wire.execute()).check()
    assert stored(db) == [("text t",)]


def test_a_portal_that_has_not_begun(db):
    db.run("INSERT INTO t VALUES ('t')")
    client = db.client()
    client.query("BEGIN").check()
    client.ask(wire.parse(COUNT), wire.bind(["t"], portal="p")).check()
    client.query("DECLARE c CURSOR FOR SELECT a FROM t WHERE a = 't'").check()
    change(db.client())
    db.run("INSERT INTO t VALUES (1)")
    assert client.ask(wire.execute("p")).value == "1"
    assert client.query("FETCH ALL FROM c").texts == []


def test_execute_as_a_statement(db):
    client = db.client()
    client.query(f"PREPARE s AS {INSERT}").check()
    change(db.client())
    client.query("EXECUTE s('t')").check()
    assert stored(db) == [("integer 1",)]
    change(db.client(), "TEXT")
    client.query("EXECUTE s('t')").check()
    assert stored(db) == [("text t",)]


def test_a_snapshot_keeps_its_types(db):
    db.run("INSERT INTO t VALUES ('t')")
    old, new = db.client(), db.client()
    old.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM t").check()
    change(new)
    for _ in range(2):
        assert old.extended(COUNT, ["t"]).value == "1"
        assert new.extended(COUNT, ["t"]).value == "0"
    new.extended(INSERT, ["t"]).check()
    assert new.extended(COUNT, ["t"]).value == "1"
    assert old.extended(COUNT, ["1"]).value == "0"
    old.query("COMMIT").check()
    assert old.extended(COUNT, ["t"]).value == "1"


def test_copy_into_a_table_that_changes_meanwhile(db):
    client = db.client()
    begin(client)
    client.send(copy_data("t\n"))
    db.settle(client)
    change(db.client())
    client.send(copy_done())
    reply = client.reply()
    assert reply.state == "40001" and "COPY" in reply.error["M"]
    assert stored(db) == []
    assert copied(client, "COPY t FROM STDIN", "t\n").tag == "COPY 1"
    assert stored(db) == [("integer 1",)]


def test_copy_beside_other_definitions(db):
    client = db.client()
    begin(client)
    client.send(copy_data("t\n"))
    db.settle(client)
    change(db.client(), "TEXT")
    db.run("CREATE INDEX t_a ON t (a)")
    client.send(copy_done())
    assert client.reply().tag == "COPY 1"
    assert stored(db) == [("text t",)]


# DDL of another process


def test_an_outsiders_ddl(db, outsider):
    old = db.client()
    old.ask(wire.parse(INSERT, name="s"), wire.parse(COUNT, name="c")).check()
    old.extended(INSERT, ["x"]).check()
    outsider("DROP TABLE t")
    outsider("CREATE TABLE t (a BOOLEAN)")
    for client in (old, db.client(), db.client()):
        client.extended(INSERT, ["t"]).check()
        assert client.extended(COUNT, ["t"]).value == client.extended(COUNT, ["true"]).value
    old.ask(wire.bind(["t"], statement="s"), wire.execute()).check()
    assert stored(db) == [("integer 1",)] * 4
    assert old.ask(wire.bind(["t"], statement="c"), wire.execute()).value == "4"


def test_a_snapshot_of_the_writer_does_not_hide_it(db, outsider):
    """Writes only, so that no reader looks."""
    client = db.client()
    for _ in range(3):
        client.extended(INSERT, ["t"]).check()
    outsider("DROP TABLE t")
    outsider("CREATE TABLE t (a BOOLEAN)")
    client.ask(wire.parse(INSERT, name="s"), wire.bind(["t"], statement="s"), wire.execute()).check()
    client.ask(wire.bind(["t"], statement="s"), wire.execute()).check()
    assert stored(db) == [("integer 1",)] * 2


def test_a_new_session_is_told_an_outsiders_columns(db, outsider):
    update = "UPDATE t SET a = $1 RETURNING a"
    db.run("INSERT INTO t VALUES ('x')")
    db.client().extended(update, ["3"]).check()
    outsider("DROP TABLE t")
    outsider("CREATE TABLE t (a INTEGER)")
    outsider("INSERT INTO t VALUES (1)")
    client = db.client()
    assert client.extended(update, ["3"]).check().texts == [("3",)]
    assert client.ask(wire.parse(update), wire.describe_statement()).of("T")[0].columns[0].type == wire.INT8


def test_copy_sees_an_outsiders_ddl(db, outsider):
    client = db.client()
    assert copied(client, "COPY t FROM STDIN", "t\n").tag == "COPY 1"
    outsider("DROP TABLE t")
    outsider("CREATE TABLE t (a BOOLEAN)")
    assert copied(client, "COPY t FROM STDIN", "t\n").tag == "COPY 1"
    assert stored(db) == [("integer 1",)]
