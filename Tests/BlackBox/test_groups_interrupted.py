"""Members of a group that are cancelled, run out of time or vanish, and holders that do."""

from daemon import cancel_until_answered, eventually
from groups_fixtures import db, Group, ids, insert  # noqa: F401 (fixtures)
from interleaving import outcome

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT"


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
    cancel_until_answered(endless)
    assert endless.reply().state == "57014"
    group.clients.remove(endless)
    assert [outcome(client.reply()) for client in group.clients] == ["INSERT 0 1"] * 2
    assert ids(db) == [1, 3]


def test_timeout_of_a_member_that_runs(db):
    group = Group(db)
    group.add(insert(1))
    # The timeout runs from the arrival of the statement: long enough that the group begins before it is over.
    group.add(f"INSERT INTO t {ENDLESS} x, 'x' FROM c WHERE x < 0", setup="SET statement_timeout = '2s'")
    group.add(insert(3))
    assert group.outcomes() == ["INSERT 0 1", "ERROR 57014", "INSERT 0 1"]
    assert ids(db) == [1, 3]


def test_members_that_vanish(db):
    group = Group(db)
    for id in range(1, 9):
        group.add(insert(id))
    before = db.sockets
    for place in (0, 3, 7):
        group.clients[place].close()
    eventually(lambda: db.sockets == before - 3, "their ends")
    group.release()
    for place in (1, 2, 4, 5, 6):
        assert outcome(group.clients[place].reply()) == "INSERT 0 1"
    # Who hangs up while it waits has not asked for anything.
    assert ids(db) == [2, 3, 5, 6, 7]


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
