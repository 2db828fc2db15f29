"""Columns of results are what the client was told, or it is told anew, whatever becomes of the tables meanwhile."""

import struct

import pytest

import wire


@pytest.fixture
def db(shared):
    shared.run("DROP TABLE IF EXISTS t", "CREATE TABLE t (a TEXT)")
    return shared


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
