"""Group commit: writes that wait together share one commit, and what one of them does never hurts the others.

Each test lets a group gather: one session holds the writer, the others send their writes and wait; then the holder
ends its transaction.
"""

import pytest

import wire
from daemon import eventually
from interleaving import outcome

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT"


@pytest.fixture
def db(shared):
    shared.run("""
        DROP TABLE IF EXISTS child; DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS guarded; DROP TABLE IF EXISTS u;
        CREATE TABLE t (id INTEGER PRIMARY KEY, who TEXT);
        INSERT INTO t VALUES (0, 'first');
        CREATE TABLE u (id INTEGER PRIMARY KEY AUTOINCREMENT, who TEXT);
        CREATE TABLE child (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t DEFERRABLE INITIALLY DEFERRED);
        CREATE TABLE guarded (how TEXT);
        CREATE TRIGGER guard BEFORE INSERT ON guarded BEGIN
            SELECT CASE new.how WHEN 'rollback' THEN RAISE(ROLLBACK, 'rolled back')
                WHEN 'abort' THEN RAISE(ABORT, 'aborted') WHEN 'fail' THEN RAISE(FAIL, 'failed') END;
        END;
    """)
    return shared


class Group:
    """Sends that gather behind a holder, in their order."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.holder = daemon.client()
        self.holder.query("BEGIN IMMEDIATE").check()
        self.clients = []

    def add(self, *messages, setup=None):
        client = self.daemon.client()
        if setup:
            client.query(setup).check()
        client.send(*[wire.query(m) if isinstance(m, str) else m for m in messages])
        self.daemon.settle(client)
        assert not client.has_reply()
        self.clients.append(client)
        return client

    def release(self, end="COMMIT"):
        self.holder.query(end).check()

    def outcomes(self):
        self.release()
        return [outcome(client.reply()) for client in self.clients]


def insert(id):
    return f"INSERT INTO t VALUES ({id}, 'member')"


def ids(daemon):
    return [int(row[0]) for row in daemon.run("SELECT id FROM t WHERE id > 0 ORDER BY id").texts]


def test_all_succeed(db):
    group = Group(db)
    for id in range(1, 21):
        group.add(insert(id))
    assert group.outcomes() == ["INSERT 0 1"] * 20
    assert ids(db) == list(range(1, 21))


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
        ("INSERT INTO child VALUES (1, 4711); INSERT INTO t VALUES (100, 'x')", "INSERT 0 1; INSERT 0 1; ERROR 23503"),
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
    if error is None:  # whether it fails depends on who came before it
        error = outcomes[position]
        assert error.startswith(("ERROR 23505", "UPDATE"))
    expected[position] = error
    if ";" in error and "ERROR" in error:
        # Where in a message the error shows is the message's own affair, that it comes last is not.
        assert outcomes[position].endswith(error.split("; ")[-1])
        outcomes[position] = error
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


def test_a_member_sees_the_members_before_it(db):
    group = Group(db)
    group.add(insert(1))
    group.add("UPDATE t SET who = 'second' WHERE id = 1 RETURNING id, who")
    group.add("INSERT INTO t SELECT max(id) + 1, 'third' FROM t RETURNING id")
    group.add("DELETE FROM t WHERE id = 2")
    assert group.outcomes() == ["INSERT 0 1", "1/second", "2", "DELETE 1"]
    assert ids(db) == [1]


def test_replies_of_a_group_that_was_run_again_are_not_sent_twice(db):
    group = Group(db)
    group.add("INSERT INTO u (who) VALUES ('a') RETURNING who")
    group.add("INSERT INTO u (who) VALUES ('b'); INSERT INTO u (who) VALUES ('c') RETURNING who; SELECT count(*) FROM u")
    group.add("INSERT OR ROLLBACK INTO t VALUES (0, 'again')")
    group.add("INSERT INTO u (who) VALUES ('d') RETURNING who")
    assert group.outcomes() == ["a", "INSERT 0 1; c; 3", "ERROR 23505", "d"]
    assert [row[0] for row in db.run("SELECT who FROM u ORDER BY id").texts] == ["a", "b", "c", "d"]
    for client in group.clients:
        assert client.value("SELECT 'next'") == "next"


def test_session_state_of_a_group_that_was_run_again(db):
    group = Group(db)
    settings = group.add("SET lock_timeout = '9s'; INSERT INTO u (who) VALUES ('a')")
    pipeline = group.add(
        wire.parse("INSERT INTO u (who) VALUES ($1)", name="kept", types=[wire.TEXT]),
        wire.bind(["b"], statement="kept"), wire.execute(), wire.sync())
    group.add("INSERT OR ROLLBACK INTO t VALUES (0, 'again')")
    assert group.outcomes() == ["SET; INSERT 0 1", "INSERT 0 1", "ERROR 23505"]
    assert settings.value("SHOW lock_timeout") == "9s"
    assert pipeline.ask(wire.bind(["c"], statement="kept"), wire.execute()).kinds == "2CZ"
    assert db.value("SELECT group_concat(who, '') FROM (SELECT who FROM u ORDER BY id)") == "abc"


def pipeline(*sqls):
    return b"".join(wire.parse(sql) + wire.bind() + wire.execute() for sql in sqls) + wire.sync()


def named(name, sql, *rows):
    """One Parse, and several portals of it."""
    binds = [wire.bind([row], statement=name) + wire.execute() for row in rows]
    return wire.parse(sql, name=name, types=[wire.TEXT]) + b"".join(binds) + wire.close_statement(name) + wire.sync()


def portals(sql, *rows):
    """All portals bound first, then executed."""
    parts = [wire.parse(sql, types=[wire.TEXT])]
    parts += [wire.bind([row], portal=f"p{place}") for place, row in enumerate(rows)]
    parts += [wire.execute(f"p{place}") for place, _ in enumerate(rows)]
    return b"".join(parts) + wire.sync()


# Every shape in which a whole transaction can arrive, with its outcome.
SHAPES = [
    ("INSERT INTO u (who) VALUES ('a1')", "INSERT 0 1"),
    ("INSERT INTO u (who) VALUES ('b1'); INSERT INTO u (who) VALUES ('b2')", "INSERT 0 1; INSERT 0 1"),
    ("INSERT INTO u (who) VALUES ('c1') RETURNING who; SELECT 'c'; UPDATE u SET who = 'c2' WHERE who = 'c1'; SELECT 'd'",
     "c1; c; UPDATE 1; d"),
    ("SELECT 'e'; INSERT INTO u (who) VALUES ('e1'); SELECT who FROM u WHERE who = 'e1'", "e; INSERT 0 1; e1"),
    ("BEGIN; INSERT INTO u (who) VALUES ('f1'); SELECT 'f'; COMMIT", "BEGIN; INSERT 0 1; f; COMMIT"),
    ("BEGIN; INSERT INTO u (who) VALUES ('g1'); SAVEPOINT s; INSERT INTO u (who) VALUES ('g2'); ROLLBACK TO s; COMMIT",
     "BEGIN; INSERT 0 1; SAVEPOINT; INSERT 0 1; ROLLBACK; COMMIT"),
    ("BEGIN IMMEDIATE; INSERT INTO u (who) VALUES ('h1'); COMMIT; SELECT 'h'", "BEGIN; INSERT 0 1; COMMIT; h"),
    ("BEGIN; INSERT INTO u (who) VALUES ('i1'); ROLLBACK", "BEGIN; INSERT 0 1; ROLLBACK"),
    ("INSERT INTO u (who) VALUES ('j1'); INSERT INTO t VALUES (0, 'again')", "INSERT 0 1; ERROR 23505"),
    (pipeline("INSERT INTO u (who) VALUES ('k1')"), "INSERT 0 1"),
    (pipeline("INSERT INTO u (who) VALUES ('l1')", "INSERT INTO u (who) VALUES ('l2')",
              "UPDATE u SET who = 'l3' WHERE who = 'l2'"), "INSERT 0 1; INSERT 0 1; UPDATE 1"),
    (pipeline("INSERT INTO u (who) VALUES ('m1')", "INSERT INTO t VALUES (0, 'again')", "INSERT INTO u (who) VALUES ('m2')"),
     "INSERT 0 1; ERROR 23505"),
    (pipeline("BEGIN", "INSERT INTO u (who) VALUES ('n1')", "COMMIT"), "BEGIN; INSERT 0 1; COMMIT"),
    (named("s", "INSERT INTO u (who) VALUES ($1)", "o1", "o2", "o3"), "INSERT 0 1; INSERT 0 1; INSERT 0 1"),
    (portals("INSERT INTO u (who) VALUES ($1)", "p1", "p2", "p3"), "INSERT 0 1; INSERT 0 1; INSERT 0 1"),
    (pipeline("DELETE FROM u WHERE who = 'p2'", "INSERT INTO u (who) VALUES ('q1')"), "DELETE 1; INSERT 0 1"),
    ("PREPARE z (text) AS INSERT INTO u (who) VALUES ($1); EXECUTE z ('r1'); EXECUTE z ('r2')",
     "PREPARE; INSERT 0 1; INSERT 0 1"),
    ("SET lock_timeout = '8s'; INSERT INTO u (who) VALUES ('s1'); SHOW lock_timeout", "SET; INSERT 0 1; 8s"),
]
WRITTEN = "a1 b1 b2 c2 e1 f1 g1 h1 k1 l1 l3 n1 o1 o2 o3 p1 p3 q1 r1 r2 s1".split()


@pytest.mark.parametrize("killers", [[], [0], [7], [18], [0, 5, 10, 18]], ids=lambda killers: f"killed {killers}")
def test_every_shape(db, killers):
    """Members come to the same whether or not the group had to be run again."""
    group, expected = Group(db), []
    for place in range(len(SHAPES) + 1):
        if place in killers:
            group.add("INSERT OR ROLLBACK INTO t VALUES (0, 'again')")
            expected.append("ERROR 23505")
        if place < len(SHAPES):
            group.add(SHAPES[place][0])
            expected.append(SHAPES[place][1])
    assert group.outcomes() == expected
    assert [row[0] for row in db.run("SELECT who FROM u ORDER BY id").texts] == WRITTEN
    for client in group.clients:
        assert client.query("SELECT 'next'").check().status == "I"


def test_several_transactions_in_one_message(db):
    group = Group(db)
    group.add(insert(1))
    group.add("BEGIN; INSERT INTO t VALUES (2, 'x'); COMMIT; BEGIN; INSERT INTO t VALUES (3, 'x'); COMMIT; INSERT INTO t VALUES (0, 'x')")
    group.add("INSERT OR ROLLBACK INTO t VALUES (0, 'again')")
    group.add(insert(4))
    outcomes = group.outcomes()
    assert outcomes == ["INSERT 0 1", "BEGIN; INSERT 0 1; COMMIT; BEGIN; INSERT 0 1; COMMIT; ERROR 23505", "ERROR 23505", "INSERT 0 1"]
    assert ids(db) == [1, 2, 3, 4]


def test_transaction_that_stays_open_behind_a_group(db):
    group = Group(db)
    group.add(insert(1))
    opened = group.add("BEGIN; INSERT INTO t VALUES (2, 'open')")
    after = group.add(insert(3))
    group.release()
    assert outcome(group.clients[0].reply()) == "INSERT 0 1"
    assert outcome(opened.reply()) == "BEGIN; INSERT 0 1"
    db.settle()
    assert not after.has_reply()
    opened.query("ROLLBACK").check()
    assert outcome(after.reply()) == "INSERT 0 1"
    assert ids(db) == [1, 3]


def test_ddl_in_a_group(db):
    group = Group(db)
    group.add("CREATE TABLE IF NOT EXISTS made (x INTEGER)")
    group.add(insert(1))
    group.add("ALTER TABLE u ADD COLUMN more TEXT DEFAULT 'm'")
    group.add("INSERT INTO u (who) VALUES ('z')")
    group.add("INSERT OR ROLLBACK INTO t VALUES (0, 'again')")
    assert group.outcomes() == ["CREATE TABLE", "INSERT 0 1", "ALTER TABLE", "INSERT 0 1", "ERROR 23505"]
    assert db.value("SELECT more FROM u") == "m"
    db.run("DROP TABLE made")


def test_last_insert_rowid_of_each_member(db):
    group = Group(db)
    for id in (10, 20, 30):
        group.add(insert(id))
    group.add("INSERT OR ROLLBACK INTO t VALUES (0, 'again')")
    group.add("UPDATE t SET who = 'x' WHERE id <= 20")
    group.outcomes()
    for client, id in zip(group.clients, (10, 20, 30)):
        assert client.value("SELECT last_insert_rowid()") == str(id)
        assert client.value("SELECT changes()") == "1"
    assert group.clients[4].value("SELECT changes()") == "3"
    assert group.clients[4].value("SELECT last_insert_rowid()") == "0"


def test_cancel_of_a_member_that_waits(db):
    group = Group(db)
    group.add(insert(1))
    cancelled = group.add(insert(2))
    group.add(insert(3))
    cancelled.cancel()
    reply = cancelled.reply()
    assert reply.state == "57014" and reply.status == "I", "at once, not when the writer is free"
    group.clients.remove(cancelled)
    assert group.outcomes() == ["INSERT 0 1"] * 2
    assert ids(db) == [1, 3]
    assert cancelled.query(insert(2)).tag == "INSERT 0 1"


def test_cancel_of_a_member_that_runs(db):
    group = Group(db)
    group.add(insert(1))
    endless = group.add(f"INSERT INTO t {ENDLESS} x, 'x' FROM c WHERE x < 0")
    group.add(insert(3))
    group.release()

    def answered():
        endless.cancel()
        return endless.has_reply()

    eventually(answered, "the end of the statement")
    assert endless.reply().state == "57014"
    group.clients.remove(endless)
    assert [outcome(client.reply()) for client in group.clients] == ["INSERT 0 1"] * 2
    assert ids(db) == [1, 3]


def test_timeout_of_a_member_that_runs(db):
    group = Group(db)
    group.add(insert(1))
    # The timeout runs from the arrival of the statement: long enough that the group begins before it is over.
    group.add(f"INSERT INTO t {ENDLESS} x, 'x' FROM c WHERE x < 0", setup="SET statement_timeout = '3s'")
    group.add(insert(3))
    assert group.outcomes() == ["INSERT 0 1", "ERROR 57014", "INSERT 0 1"]
    assert ids(db) == [1, 3]


def test_members_that_vanish(db):
    group = Group(db)
    for id in range(1, 9):
        group.add(insert(id))
    for place in (0, 3, 7):
        group.clients[place].close()
    db.settle()
    group.release()
    for place in (1, 2, 4, 5, 6):
        assert outcome(group.clients[place].reply()) == "INSERT 0 1"
    assert set(ids(db)) >= {2, 3, 5, 6, 7}


def test_larger_than_one_group(start_daemon):
    daemon = start_daemon(config="group_members = 4\nwriter_idle_limit = 0\n")
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, who TEXT)", "INSERT INTO t VALUES (0, 'first')")
    group = Group(daemon)
    for id in range(1, 41):
        group.add(insert(id) if id % 5 else "INSERT OR ROLLBACK INTO t VALUES (0, 'again')")
    assert group.outcomes() == ["INSERT 0 1" if id % 5 else "ERROR 23505" for id in range(1, 41)]
    assert ids(daemon) == [id for id in range(1, 41) if id % 5]


def test_group_without_time(start_daemon):
    # A group that may take no time has one member after the other; nobody is forgotten.
    daemon = start_daemon(config="group_time_limit = 0\nwriter_idle_limit = 0\n")
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, who TEXT)")
    group = Group(daemon)
    for id in range(1, 21):
        group.add(insert(id))
    assert group.outcomes() == ["INSERT 0 1"] * 20
    assert ids(daemon) == list(range(1, 21))


def test_a_group_behind_a_rollback(db):
    group = Group(db)
    group.holder.query("INSERT INTO t VALUES (1, 'holder')").check()
    group.add(insert(1))
    group.add(insert(1))
    group.release("ROLLBACK")
    assert [outcome(client.reply()) for client in group.clients] == ["INSERT 0 1", "ERROR 23505"]


def test_a_group_behind_a_holder_that_vanishes(db):
    group = Group(db)
    group.holder.query("INSERT INTO t VALUES (1, 'holder')").check()
    group.add(insert(1))
    group.add(insert(2))
    group.holder.close()
    assert [outcome(client.reply()) for client in group.clients] == ["INSERT 0 1"] * 2


def test_many_clients_at_once(db):
    """Not drawn: everybody writes as fast as they can, and nothing is lost or done twice."""
    import threading

    clients = [db.client() for _ in range(16)]
    rounds = 60
    failures = []

    def work(number, client):
        for turn in range(rounds):
            id = number * 1000 + turn + 1
            if turn % 10 == 9:
                got = outcome(client.query(f"INSERT INTO t VALUES ({id}, 'x'); INSERT OR ROLLBACK INTO t VALUES (0, 'x')"))
                expected = "INSERT 0 1; ERROR 23505"
            elif turn % 10 == 4:
                got = outcome(client.query(f"BEGIN; INSERT INTO t VALUES ({id}, 'x'); COMMIT"))
                expected = "BEGIN; INSERT 0 1; COMMIT"
            else:
                got = outcome(client.query(f"INSERT INTO t VALUES ({id}, 'x') RETURNING id"))
                expected = str(id)
            if got != expected:
                failures.append((id, got))

    threads = [threading.Thread(target=work, args=each) for each in enumerate(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert ids(db) == [n * 1000 + turn + 1 for n in range(16) for turn in range(rounds) if turn % 10 != 9]


# What SQLite's code generator does not foresee fails without a statement journal: in a transaction of its own everything goes, in
# a group's the rows before it would stay.
UNFORESEEN = {
    "a STRICT table's type": ("CREATE TABLE x (a INT) STRICT", "INSERT INTO x VALUES (1), ('x')"),
    "a STRICT table's type, from a query": (
        "CREATE TABLE x (a INT) STRICT", "INSERT INTO x SELECT value FROM json_each('[1, 2, \"x\"]')"),
    "a STRICT table's type, by UPDATE": (
        "CREATE TABLE x (a INT, b ANY) STRICT; INSERT INTO x VALUES (1, 5), (2, 'x')", "UPDATE x SET a = b"),
    "no rowid, OR REPLACE": (
        "CREATE TABLE x (id INTEGER PRIMARY KEY, a)", "INSERT OR REPLACE INTO x VALUES (1, 'a'), ('x', 'b')"),
    "no rowid, OR IGNORE": ("CREATE TABLE x (id INTEGER PRIMARY KEY, a)", "INSERT OR IGNORE INTO x VALUES (1, 'a'), ('x', 'b')"),
    "no rowid, an upsert": (
        "CREATE TABLE x (id INTEGER PRIMARY KEY, a)",
        "INSERT INTO x VALUES (1, 'a'), ('x', 'b') ON CONFLICT (id) DO UPDATE SET a = excluded.a"),
    "no rowid, by UPDATE": (
        "CREATE TABLE x (id INTEGER PRIMARY KEY, a); INSERT INTO x VALUES (1, 10), (2, 'x')", "UPDATE OR REPLACE x SET id = a"),
    "a text that is too long": (
        "CREATE TABLE x (id INTEGER PRIMARY KEY, a); INSERT INTO x VALUES (1, 1), (2, 60000000)",
        "UPDATE x SET a = hex(zeroblob(a))"),
    "a sum that no integer holds": (
        "CREATE TABLE x (id INTEGER PRIMARY KEY, a); INSERT INTO x VALUES (1, 1), (2, -9223372036854775808)",
        "UPDATE x SET a = abs(a) + 1"),
    "a function's error": (
        "CREATE TABLE x (id INTEGER PRIMARY KEY, a); INSERT INTO x VALUES (1, '[1]'), (2, 'no json')",
        "UPDATE x SET a = json_array_length(a)"),
    "the same of a RETURNING": (
        "CREATE TABLE x (id INTEGER PRIMARY KEY, a)", "INSERT INTO x VALUES (1, '[1]'), (2, 'no') RETURNING json_array_length(a)"),
    "a trigger's FAIL": (
        "CREATE TABLE x (a); DROP TABLE IF EXISTS y; CREATE TABLE y (a NOT NULL); CREATE TRIGGER g BEFORE INSERT ON x BEGIN"
        " INSERT OR FAIL INTO y SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT NULL; END", "INSERT INTO x VALUES (1)"),
    "a trigger's table's FAIL": (
        "CREATE TABLE x (a); DROP TABLE IF EXISTS y; CREATE TABLE y (a NOT NULL ON CONFLICT FAIL); CREATE TRIGGER g BEFORE INSERT ON x"
        " BEGIN INSERT INTO y SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT NULL; END", "INSERT INTO x VALUES (1)"),
    "the statement's FAIL in a trigger": (
        "DROP VIEW IF EXISTS w; DROP TABLE IF EXISTS y; CREATE TABLE y (a NOT NULL); CREATE TABLE x (a); CREATE VIEW w AS SELECT a FROM x;"
        " CREATE TRIGGER g INSTEAD OF INSERT ON w BEGIN INSERT INTO y SELECT 1 UNION ALL SELECT NULL; END",
        "INSERT OR FAIL INTO w VALUES (1)"),
    "a cascade's FAIL": (
        "DROP TABLE IF EXISTS y; CREATE TABLE x (id INTEGER PRIMARY KEY); CREATE TABLE y (id INTEGER PRIMARY KEY, x REFERENCES x ON DELETE"
        " CASCADE); INSERT INTO x VALUES (1); INSERT INTO y VALUES (1, 1), (2, 1); CREATE TRIGGER g AFTER DELETE ON y BEGIN"
        " SELECT RAISE(FAIL, 'x'); END", "DELETE FROM x"),
    "a virtual table's error": ("CREATE VIRTUAL TABLE x USING rtree (id, a, b)", "INSERT INTO x VALUES (1, 1, 2), (2, 3, 2)"),
}


@pytest.mark.parametrize("name", UNFORESEEN)
@pytest.mark.parametrize("how", ["alone", "extended", "first", "between", "twice"])
def test_a_statement_that_fails_leaves_nothing(db, name, how):
    setup, failing = UNFORESEEN[name]
    db.run(f"DROP VIEW IF EXISTS w; DROP TABLE IF EXISTS y; DROP TABLE IF EXISTS x; {setup}")
    client = db.client()
    tables = [table for table in ("x", "y") if f"TABLE {table} " in setup]
    before = [client.query(f"SELECT * FROM {table}").check().texts for table in tables]
    if how in ("alone", "extended"):
        reply = client.query(failing) if how == "alone" else client.extended(failing)
        assert reply.state is not None and reply.status == "I"
    else:
        group = Group(db)
        for step in {"first": "xi", "between": "ixi", "twice": "ixixi"}[how]:
            group.add(failing if step == "x" else "INSERT INTO u (who) VALUES ('me')")
        found = group.outcomes()
        written = how.replace("first", "1").replace("between", "2").replace("twice", "3")
        assert found.count("INSERT 0 1") == int(written) and all("ERROR" in each for each in found if each != "INSERT 0 1")
        assert db.value("SELECT count(*) FROM u") == written
    assert [client.query(f"SELECT * FROM {table}").check().texts for table in tables] == before
