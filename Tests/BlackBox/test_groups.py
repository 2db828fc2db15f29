"""Group commit: writes that wait together share one commit, and none of them can tell."""

import pytest

import wire
from groups_fixtures import db, Group, ids, insert, pipeline  # noqa: F401 (fixtures)
from interleaving import outcome
from metrics import moved


def test_all_succeed(db):
    group = Group(db)
    for id in range(1, 21):
        group.add(insert(id))
    assert group.outcomes() == ["INSERT 0 1"] * 20
    assert ids(db) == list(range(1, 21))


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


def test_larger_than_one_group(start_daemon):
    daemon = start_daemon(config="group_members = 4\nwriter_idle_limit = 0\n")
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, who TEXT)", "INSERT INTO t VALUES (0, 'first')")

    def work():
        group = Group(daemon)
        for id in range(1, 41):
            group.add(insert(id) if id % 5 else "INSERT OR ROLLBACK INTO t VALUES (0, 'again')")
        assert group.outcomes() == ["INSERT 0 1" if id % 5 else "ERROR 23505" for id in range(1, 41)]

    changes = moved(daemon, work)
    assert ids(daemon) == [id for id in range(1, 41) if id % 5]
    # None has more than four.
    groups = changes["walpool_group_transactions_count",]
    assert groups >= 10 and changes["walpool_group_transactions_bucket", ("le", "4")] == groups


def test_group_without_time(start_daemon):
    # A group that may take no time has one member after the other; nobody is forgotten.
    daemon = start_daemon(config="group_time_limit = 0\nwriter_idle_limit = 0\n")
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, who TEXT)")

    def work():
        group = Group(daemon)
        for id in range(1, 21):
            group.add(insert(id))
        assert group.outcomes() == ["INSERT 0 1"] * 20

    # Each group has all who wait, takes on the first, and puts the others back.
    assert moved(daemon, work)["walpool_group_transactions_count",] == 20
    assert ids(daemon) == list(range(1, 21))


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


@pytest.mark.parametrize("failing, state", [
    (wire.describe_statement("nosuch"), "26000"), (wire.parse("SELECT * FROM nosuch"), "42P01"), (wire.parse("SELEC"), "42601")],
    ids=["describe", "parse", "syntax"])
@pytest.mark.parametrize("definition, tag", [
    ("CREATE TABLE made (a)", "CREATE TABLE"), ("DROP TABLE u", "DROP TABLE"), ("ALTER TABLE t ADD COLUMN made INT", "ALTER TABLE"),
    ("CREATE INDEX made ON t (who)", "CREATE INDEX"), ("CREATE VIEW made AS SELECT 1", "CREATE VIEW"),
    ("CREATE TRIGGER made AFTER INSERT ON t BEGIN SELECT 1; END", "CREATE TRIGGER"), ("DROP TRIGGER guard", "DROP TRIGGER"),
    ("PRAGMA user_version = 7", "PRAGMA"), ("PRAGMA application_id = 7", "PRAGMA"), ("INSERT INTO t VALUES (7, 'made')", "INSERT 0 1"),
    ("UPDATE t SET who = 'made' WHERE id = 0 RETURNING id", "UPDATE 1"), ("DELETE FROM t", "DELETE 2"),
])
def test_what_a_failed_pipeline_did_is_undone(db, definition, tag, failing, state):
    """A definition counts no changes, and it was not the statement that failed."""
    look = ("SELECT (SELECT group_concat(coalesce(sql, name)) FROM sqlite_schema) || (SELECT group_concat(who) FROM t)"
            " || (SELECT user_version FROM pragma_user_version) || (SELECT application_id FROM pragma_application_id)")
    before = db.value(look)
    group = Group(db)
    group.add(insert(1))
    group.add(wire.parse(definition, name=""), wire.bind([]), wire.execute(), failing, wire.sync())
    group.add("DELETE FROM t WHERE id = 1")
    assert group.outcomes() == ["INSERT 0 1", f"{tag}; ERROR {state}", "DELETE 1"]
    assert db.value(look) == before
