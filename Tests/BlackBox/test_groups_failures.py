"""What fails in a group leaves nothing, and takes nothing of the others along."""

import pytest

from groups_fixtures import db, Group, ids, insert  # noqa: F401 (fixtures)
from interleaving import outcome


@pytest.mark.parametrize("position", [0, 3, 7])
@pytest.mark.parametrize(
    "guilty, error",
    [
        ("INSERT INTO t VALUES (0, 'again')", "ERROR 23505"),
        ("INSERT OR ABORT INTO t VALUES (0, 'again')", "ERROR 23505"),
        ("INSERT OR FAIL INTO t VALUES (0, 'again')", "ERROR 23505"),
        ("INSERT OR ROLLBACK INTO t VALUES (0, 'again')", "ERROR 23505"),
        ("UPDATE OR ROLLBACK t SET id = 0 WHERE id > 0", None),
        ("INSERT INTO guarded VALUES ('abort')", "ERROR P0001"),
        ("INSERT INTO guarded VALUES ('fail')", "ERROR P0001"),
        ("INSERT INTO guarded VALUES ('rollback')", "ERROR P0001"),
        ("INSERT INTO child VALUES (1, 4711)", "ERROR 23503"),
        # The last statement's tag is that of its commit, too.
        ("INSERT INTO child VALUES (1, 4711); INSERT INTO t VALUES (100, 'x')", "INSERT 0 1; ERROR 23503"),
        ("INSERT INTO t VALUES (100, 'x'); INSERT OR ROLLBACK INTO t VALUES (0, 'x')", "INSERT 0 1; ERROR 23505"),
        ("INSERT INTO t VALUES (100, 'x'); INSERT INTO t VALUES (0, 'x')", "INSERT 0 1; ERROR 23505"),
        ("BEGIN; INSERT INTO t VALUES (100, 'x'); ROLLBACK", "BEGIN; INSERT 0 1; ROLLBACK"),
        ("BEGIN; INSERT INTO child VALUES (1, 4711); COMMIT", "BEGIN; INSERT 0 1; ERROR 23503"),
        ("INSERT INTO t VALUES (100, 'x'); SELECT nope", "INSERT 0 1; ERROR 42703"),
    ],
)
def test_one_fails(db, guilty, error, position):
    group = Group(db)
    for place in range(8):
        group.add(guilty if place == position else insert(place + 1))
    expected = ["INSERT 0 1"] * 8
    outcomes = group.outcomes()
    if error is None:  # there are rows for it only where somebody came before it
        error = "ERROR 23505" if position else "UPDATE 0"
    expected[position] = error
    assert outcomes == expected
    assert ids(db) == [place + 1 for place in range(8) if place != position]
    assert db.value("SELECT count(*) FROM child") == "0"
    # All sessions go on.
    for client in group.clients:
        reply = client.query("SELECT 1")
        if reply.state == "25P02":
            assert guilty.startswith("BEGIN")
            reply = client.query("ROLLBACK")
        assert reply.check().status == "I"


def test_many_fail(db):
    group = Group(db)
    expected = []
    for place in range(30):
        if place % 3 == 0:
            group.add("INSERT OR ROLLBACK INTO t VALUES (0, 'again')")
            expected.append("ERROR 23505")
        elif place % 7 == 0:
            group.add(f"INSERT INTO child VALUES ({place}, 4711)")
            expected.append("ERROR 23503")
        else:
            group.add(insert(place))
            expected.append("INSERT 0 1")
    assert group.outcomes() == expected
    assert ids(db) == [place for place, result in enumerate(expected) if result == "INSERT 0 1"]


# What SQLite's code generator does not foresee fails without a statement journal: in a transaction of its own everything goes, in
# a group's the rows before it would stay.
UNFORESEEN = {
    "a STRICT table's type": ("CREATE TABLE x (a INT) STRICT", "INSERT INTO x VALUES (1), ('x')", "42804"),
    "a STRICT table's type, from a query": (
        "CREATE TABLE x (a INT) STRICT", "INSERT INTO x SELECT value FROM json_each('[1, 2, \"x\"]')", "42804"),
    "a STRICT table's type, by UPDATE": (
        "CREATE TABLE x (a INT, b ANY) STRICT; INSERT INTO x VALUES (1, 5), (2, 'x')", "UPDATE x SET a = b", "42804"),
    "no rowid, OR REPLACE": (
        "CREATE TABLE x (id INTEGER PRIMARY KEY, a)", "INSERT OR REPLACE INTO x VALUES (1, 'a'), ('x', 'b')", "42804"),
    "no rowid, OR IGNORE": ("CREATE TABLE x (id INTEGER PRIMARY KEY, a)", "INSERT OR IGNORE INTO x VALUES (1, 'a'), ('x', 'b')", "42804"),
    "no rowid, an upsert": (
        "CREATE TABLE x (id INTEGER PRIMARY KEY, a)",
        "INSERT INTO x VALUES (1, 'a'), ('x', 'b') ON CONFLICT (id) DO UPDATE SET a = excluded.a", "42804"),
    "no rowid, by UPDATE": (
        "CREATE TABLE x (id INTEGER PRIMARY KEY, a); INSERT INTO x VALUES (1, 10), (2, 'x')", "UPDATE OR REPLACE x SET id = a", "42804"),
    "a text that is too long": (
        "CREATE TABLE x (id INTEGER PRIMARY KEY, a); INSERT INTO x VALUES (1, 1), (2, 60000000)",
        "UPDATE x SET a = hex(zeroblob(a))", "22001"),
    "a sum that no integer holds": (
        "CREATE TABLE x (id INTEGER PRIMARY KEY, a); INSERT INTO x VALUES (1, 1), (2, -9223372036854775808)",
        "UPDATE x SET a = abs(a) + 1", "22003"),
    "a function's error": (
        "CREATE TABLE x (id INTEGER PRIMARY KEY, a); INSERT INTO x VALUES (1, '[1]'), (2, 'no json')",
        "UPDATE x SET a = json_array_length(a)", "22P02"),
    "the same of a RETURNING": (
        "CREATE TABLE x (id INTEGER PRIMARY KEY, a)", "INSERT INTO x VALUES (1, '[1]'), (2, 'no') RETURNING json_array_length(a)", "22P02"),
    "a trigger's FAIL": (
        "CREATE TABLE x (a); DROP TABLE IF EXISTS y; CREATE TABLE y (a NOT NULL); CREATE TRIGGER g BEFORE INSERT ON x BEGIN"
        " INSERT OR FAIL INTO y SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT NULL; END", "INSERT INTO x VALUES (1)", "23502"),
    "a trigger's table's FAIL": (
        "CREATE TABLE x (a); DROP TABLE IF EXISTS y; CREATE TABLE y (a NOT NULL ON CONFLICT FAIL); CREATE TRIGGER g BEFORE INSERT ON x"
        " BEGIN INSERT INTO y SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT NULL; END", "INSERT INTO x VALUES (1)", "23502"),
    "the statement's FAIL in a trigger": (
        "DROP VIEW IF EXISTS w; DROP TABLE IF EXISTS y; CREATE TABLE y (a NOT NULL); CREATE TABLE x (a); CREATE VIEW w AS SELECT a FROM x;"
        " CREATE TRIGGER g INSTEAD OF INSERT ON w BEGIN INSERT INTO y SELECT 1 UNION ALL SELECT NULL; END",
        "INSERT OR FAIL INTO w VALUES (1)", "23502"),
    # FAIL would leave a row without its parent, so SQLite's error is another.
    "a cascade's FAIL": (
        "DROP TABLE IF EXISTS y; CREATE TABLE x (id INTEGER PRIMARY KEY); CREATE TABLE y (id INTEGER PRIMARY KEY, x REFERENCES x ON DELETE"
        " CASCADE); INSERT INTO x VALUES (1); INSERT INTO y VALUES (1, 1), (2, 1); CREATE TRIGGER g AFTER DELETE ON y BEGIN"
        " SELECT RAISE(FAIL, 'x'); END", "DELETE FROM x", "23503"),
    "a virtual table's error": ("CREATE VIRTUAL TABLE x USING rtree (id, a, b)", "INSERT INTO x VALUES (1, 1, 2), (2, 3, 2)", "23000"),
}


@pytest.mark.parametrize("name", UNFORESEEN)
@pytest.mark.parametrize("how", ["alone", "extended", "first", "between", "twice"])
def test_a_statement_that_fails_leaves_nothing(db, name, how):
    setup, failing, state = UNFORESEEN[name]
    db.run(f"DROP VIEW IF EXISTS w; DROP TABLE IF EXISTS y; DROP TABLE IF EXISTS x; {setup}")
    client = db.client()
    tables = [table for table in ("x", "y") if f"TABLE {table} " in setup]
    before = [client.query(f"SELECT * FROM {table}").check().texts for table in tables]
    if how in ("alone", "extended"):
        reply = client.query(failing) if how == "alone" else client.extended(failing)
        assert reply.state == state and reply.status == "I"
    else:
        group, steps = Group(db), {"first": "xi", "between": "ixi", "twice": "ixixi"}[how]
        for step in steps:
            group.add(failing if step == "x" else "INSERT INTO u (who) VALUES ('me')")
        found = group.outcomes()
        assert found == [f"ERROR {state}" if step == "x" else "INSERT 0 1" for step in steps]
        assert db.value("SELECT count(*) FROM u") == str(steps.count("i"))
    assert [client.query(f"SELECT * FROM {table}").check().texts for table in tables] == before


@pytest.mark.parametrize("mode", ["full", "pipelined"])
def test_members_that_were_all_undone_write_nothing(start_daemon, mode):
    """SQLite has changed pages for each of them and changed them back, and COMMIT would write those."""
    db = start_daemon(options=["--synchronous", mode])
    db.run("CREATE TABLE x (a NOT NULL, b)", "INSERT INTO x SELECT value, hex(zeroblob(500)) FROM generate_series(1, 1000)")
    failing = "UPDATE x SET b = 'changed', a = nullif(a, 1000)"
    console = db.client(database="walpool")

    def frames():
        return int(dict(console.query("SHOW WAL").check().texts)["frames"])

    before = frames()
    assert before > 200
    client = db.client()
    assert client.query(failing).state == client.extended(failing).state == "23502"
    assert client.query(f"INSERT INTO x VALUES (0, 0); {failing}").state == "23502"
    undone = "BEGIN; UPDATE x SET b = 'changed', a = a + 1; ROLLBACK"
    assert outcome(client.query(undone)) == "BEGIN; UPDATE 1000; ROLLBACK"
    group = Group(db)
    for sql in (failing, f"INSERT INTO x VALUES (0, 0); {failing}", failing):
        group.add(sql)
    assert [found.split("; ")[-1] for found in group.outcomes()] == ["ERROR 23502"] * 3
    assert frames() == before
    assert db.value("SELECT count(*) || ' ' || sum(a) || ' ' || sum(b = 'changed') FROM x") == "1000 500500 0"
    # One that writes is enough.
    group = Group(db)
    for sql in (failing, "INSERT INTO x VALUES (1001, '')", failing):
        group.add(sql)
    assert group.outcomes() == ["ERROR 23502", "INSERT 0 1", "ERROR 23502"]
    assert frames() > before and db.value("SELECT count(*) FROM x") == "1001"
