"""Parameters are bound by the schema that their statement meets: not by one that was rolled back, nor by an older one.

A BOOLEAN column makes 1 of the text `t`, a TEXT column keeps it.
"""

import struct

import pytest

import wire
from copy_fixtures import begin, copied, copy_data, copy_done
from daemon import Outsider

INSERT = "INSERT INTO t (a) VALUES ($1)"
COUNT = "SELECT count(*) FROM t WHERE a = $1"
STALE = "cached plan must not change result type"


@pytest.fixture
def db(shared):
    shared.run("DROP TABLE IF EXISTS t", "DROP TABLE IF EXISTS u", "CREATE TABLE t (a TEXT)", "CREATE TABLE u (a TEXT)")
    return shared


@pytest.fixture
def outsider(db):
    outsider = Outsider(db.database)
    yield outsider
    outsider.close()


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


@pytest.mark.parametrize("formats", [[], [0, 0]])
def test_columns_that_the_first_portal_told(db, formats):
    """pgjdbc describes a portal once, and reads what later ones give by that."""
    client = db.client()
    db.run("ALTER TABLE t ADD COLUMN b INTEGER", "INSERT INTO t VALUES ('x', 1)")
    client.ask(wire.parse("SELECT * FROM t WHERE b = $1", name="s"), wire.bind(["1"], statement="s"),
               wire.describe_portal(), wire.execute()).check()
    again = [wire.bind(["1"], statement="s", result_formats=formats), wire.execute()]
    assert client.ask(*again).check().texts == [("x", "1")]
    db.run("ALTER TABLE t DROP COLUMN a", "ALTER TABLE t ADD COLUMN a TEXT DEFAULT 'y'")
    for _ in range(2):
        reply = client.ask(*again)
        assert reply.state == "0A000" and reply.error["R"] == "RevalidateCachedQuery"
    assert client.ask(wire.parse("SELECT * FROM t WHERE b = $1"), wire.bind(["1"]), wire.execute()).texts == [("1", "y")]


COMPUTED = {
    "a column's maximum": ("SELECT max(id) AS m FROM t2", ["CREATE TABLE t2 (id INTEGER PRIMARY KEY)", "INSERT INTO t2 VALUES (7)"],
                           ["DROP TABLE t2", "CREATE TABLE t2 (id TEXT)", "INSERT INTO t2 VALUES ('seven')"], "seven"),
    "a view's": ("SELECT m FROM v", ["CREATE VIEW v AS SELECT count(*) AS m FROM sqlite_schema WHERE name = 'v'"],
                 ["DROP VIEW v", "CREATE VIEW v AS SELECT 'one' AS m"], "one"),
    "of two tables": ("SELECT a FROM t3 UNION ALL SELECT b FROM t4 LIMIT 1 OFFSET 1",
                      ["CREATE TABLE t3 (a INTEGER)", "CREATE TABLE t4 (b INTEGER)", "INSERT INTO t3 VALUES (7)", "INSERT INTO t4 VALUES (8)"],
                      ["DROP TABLE t4", "CREATE TABLE t4 (b TEXT)", "INSERT INTO t4 VALUES ('eight')"], "eight"),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_types_of_computed_columns(start_daemon, name):
    """They have no parameters, and the same name and declaration (none) as before."""
    sql, before, after, value = COMPUTED[name]
    daemon = start_daemon()
    daemon.run(*before)
    told, untold = daemon.client(), daemon.client()
    told.ask(wire.parse(sql, name="s"), wire.describe_statement("s")).check()
    untold.ask(wire.parse(sql, name="s")).check()
    daemon.run(*after)
    run = [wire.bind(statement="s"), wire.execute()]
    assert told.ask(*run).state == "0A000"
    assert untold.ask(*run).check().texts == [(value,)]


INT8, FLOAT8 = 20, 701


def integer(value, formats):
    return struct.pack("!q", value) if formats else b"%d" % value


def real(value, formats):
    return struct.pack("!d", value) if formats else b"%d" % value


@pytest.mark.parametrize("formats", [[], [1]])
def test_types_that_the_first_portal_told(db, formats):
    """pgjdbc takes the types that rows gave the first portal's columns for those of all."""
    db.run("DROP TABLE IF EXISTS prices", "CREATE TABLE prices (id INTEGER PRIMARY KEY, price NUMERIC)",
           "INSERT INTO prices VALUES (1, 6), (2, 6.5), (3, 7), (4, 'free'), (5, 2.5), (6, NULL)")
    client = db.client()

    def run(id, *describe):
        return client.ask(wire.bind([str(id)], statement="s", result_formats=formats), *describe, wire.execute())

    client.ask(wire.parse("SELECT sum(price), max(price) FROM prices WHERE id = $1", name="s")).check()
    first = run(1, wire.describe_portal()).check()
    assert [column.type for column in first.of("T")[0].columns] == [INT8, INT8]
    assert run(3).check().rows == [[integer(7, formats)] * 2]
    for id in [2, 4]:
        reply = run(id)
        assert reply.state == "0A000" and reply.error["R"] == "RevalidateCachedQuery", reply.texts
    # Who asks again is told anew, and that is what holds from then on.
    second = run(2, wire.describe_portal()).check()
    assert [column.type for column in second.of("T")[0].columns] == [FLOAT8, FLOAT8]
    assert run(1).check().rows == [[real(6, formats)] * 2]
    assert run(6).check().rows == [[None, None]]


def test_a_type_that_a_later_row_gave(db):
    """The announcement is still unsent, and corrected."""
    db.run("DROP TABLE IF EXISTS prices", "CREATE TABLE prices (id INTEGER PRIMARY KEY, price NUMERIC)", "INSERT INTO prices VALUES (1, 6), (2, 6.5), (3, 7)")
    client = db.client()
    client.ask(wire.parse("SELECT price + 0 FROM prices WHERE id >= $1 ORDER BY id", name="s")).check()
    first = client.ask(wire.bind(["1"], statement="s"), wire.describe_portal(), wire.execute()).check()
    assert first.of("T")[0].columns[0].type == FLOAT8
    later = client.ask(wire.bind(["3"], statement="s", result_formats=[1]), wire.execute()).check()
    assert later.rows == [[real(7, [1])]]


@pytest.mark.parametrize("ddl", ["ALTER TABLE wide DROP COLUMN a", "ALTER TABLE wide ADD COLUMN z DEFAULT 'new'"])
@pytest.mark.parametrize("writes", [False, True])
@pytest.mark.parametrize("asks", [False, True])
def test_a_portal_goes_on_with_its_own_columns(daemon, ddl, writes, asks):
    """Another portal of the statement meets another schema meanwhile. By its columns the first one's rows ended the daemon.

        p1: Bind, Execute 1 row             3 columns
                        ALTER TABLE
        p2:                     Bind, Execute   2 or 4 columns
        p1: (Describe), Execute             3 columns
    """
    daemon.run("CREATE TABLE wide (a INTEGER, b INTEGER, c INTEGER)", "INSERT INTO wide VALUES (1, 2, 3), (4, 5, 6), (7, 8, 'x')")
    client = daemon.client()
    client.query("BEGIN").check()
    if writes:
        client.query("UPDATE wide SET a = a WHERE a = 1").check()
    first = client.ask(wire.parse("SELECT * FROM wide", name="s"), wire.bind(statement="s", portal="p1"), wire.execute("p1", rows=1))
    assert first.check().texts == [("1", "2", "3")]
    client.query(ddl).check()
    other = client.ask(wire.bind(statement="s", portal="p2"), wire.execute("p2", rows=1)).check()
    assert other.texts == [("2", "3") if "DROP" in ddl else ("1", "2", "3", "new")]
    reply = client.ask(*[wire.describe_portal("p1")] * asks, wire.execute("p1"))
    assert [[column.name for column in told.columns] for told in reply.of("T")] == [["a", "b", "c"]] * asks
    assert reply.texts == [("4", "5", "6")] and reply.state == "42804", reply.errors
    assert daemon.value("SELECT 1") == "1"


@pytest.mark.parametrize("how", ["statement", "portal"])
@pytest.mark.parametrize("where", ["", " WHERE a = $1"])
def test_a_statement_is_described_as_of_now(db, where, how):
    """It ran once behind a definition that was rolled back, and nobody was told."""
    client = db.client()
    client.ask(wire.parse("SELECT * FROM t" + where, name="s")).check()
    client.query("BEGIN; ALTER TABLE t ADD COLUMN b TEXT").check()
    run = [wire.bind(["x"] if where else [], statement="s"), wire.execute()]
    client.ask(*run).check()
    client.query("ROLLBACK").check()
    if how == "statement":
        told = client.ask(wire.describe_statement("s")).check()
        client.ask(*run).check()
    else:
        told = client.ask(run[0], wire.describe_portal(), run[1]).check()
    assert [column.name for column in told.of("T")[0].columns] == ["a"]


@pytest.mark.parametrize("first, second", [("stored", "text"), ("text", "stored"), ("stored", "declared"), ("declared", "text")])
@pytest.mark.parametrize("describe", [wire.describe_statement("s"), wire.describe_portal()], ids=["statement", "portal"])
def test_result_typing_between(db, first, second, describe):
    """What is read by what was told must be sent by it."""
    db.run("DROP TABLE IF EXISTS typed", "CREATE TABLE typed (n INTEGER, at TIMESTAMP)", "INSERT INTO typed VALUES (12345678, '2024-01-01')")
    client = db.client()
    client.query(f"SET result_typing = {first}").check()
    run = [wire.bind(statement="s", result_formats=[1]), wire.execute()]
    client.ask(wire.parse("SELECT n, at FROM typed", name="s"), wire.bind(statement="s", result_formats=[1]), describe, wire.execute()).check()
    rows = client.ask(*run).check().rows
    client.query(f"SET result_typing = {second}").check()
    reply = client.ask(*run)
    assert reply.state == "0A000" and reply.error["R"] == "RevalidateCachedQuery", reply.rows
    client.query(f"SET result_typing = {first}").check()
    assert client.ask(*run).check().rows == rows
