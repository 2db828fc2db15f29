"""SELECT … FOR UPDATE takes the writer: what it has read nobody else writes until its transaction ends."""

import pytest
import sqlalchemy as sa

import wire
from console import console, Pausing, until_waiting
from groups_fixtures import Group, db  # noqa: F401 (fixtures)
from interleaving import outcome
from wire_fixtures import client, column, table  # noqa: F401 (fixtures)

ONE = "SELECT v FROM t WHERE id = 1 FOR UPDATE"


@pytest.fixture
def counter(shared, table):
    """t(id, v) with one row, which counts."""
    shared.run("INSERT INTO t VALUES (1, 0)")
    return shared


@pytest.fixture
def holder(counter):
    """It has the writer."""
    with counter.client() as holder:
        holder.query("BEGIN IMMEDIATE").check()
        yield holder


def waits(daemon, client):
    daemon.settle(client)
    return not client.has_reply()


def takes_writer(daemon, client):
    """Whether the client's transaction has it: another writer waits until that ends."""
    with daemon.client() as other:
        other.send(wire.query("INSERT INTO t VALUES (99, 'other')"))
        waited = waits(daemon, other)
        client.query("ROLLBACK").check()
        other.reply().check()
        daemon.run("DELETE FROM t WHERE id = 99")
        return waited


def test_nobody_writes_what_was_read(counter):
    """
    a                       | b                       | c
    BEGIN                   |                         |
    SELECT 0 FOR UPDATE     |                         |
                            | BEGIN                   |
                            | SELECT FOR UPDATE: waits |
                            |                         | SELECT 0
    UPDATE 1                |                         |
    COMMIT                  | 1                       |
    """
    with counter.client() as a, counter.client() as b:
        assert column(a.query("BEGIN; " + ONE).check()) == ["0"]
        b.query("BEGIN").check()
        b.send(wire.query(ONE))
        assert waits(counter, b)
        assert counter.run("SELECT v FROM t").value == "0"
        a.query("UPDATE t SET v = 1").check()
        assert not b.has_reply()
        a.query("COMMIT").check()
        assert column(b.reply().check()) == ["1"]
        b.query("ROLLBACK").check()


@pytest.mark.parametrize("sql", [
    ONE, "SELECT v FROM t FOR NO KEY UPDATE", "select v from t for share", "SELECT v FROM t FOR KEY SHARE;", "SELECT v FROM t AS x FOR UPDATE OF x",
    'SELECT v FROM t FOR UPDATE OF main.t, "t" SKIP LOCKED', "SELECT v FROM t ORDER BY id DESC FOR UPDATE NOWAIT",
    "SELECT v FROM t LIMIT ALL FOR UPDATE", "SELECT v FROM t FOR UPDATE OF nowait", "SELECT v FROM t FOR UPDATE LIMIT 1", "SELECT v FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
    "SELECT v FROM t FOR SHARE OF t FOR UPDATE", "SELECT * FROM (SELECT v FROM t FOR UPDATE) AS x",
    "SELECT * FROM (SELECT v FROM t LIMIT 1 FOR UPDATE SKIP LOCKED)FOR/**/UPDATE -- all of it",
    "WITH x AS (SELECT v FROM t FOR UPDATE) SELECT * FROM x", "SELECT v FROM t WHERE v < '1'::int8 FOR UPDATE",
    "VALUES ('0') FOR UPDATE"])
@pytest.mark.parametrize("how", ["query", "extended", "prepared", "cursor", "copy"])
@pytest.mark.optimised("extended", "cursor")
def test_spellings(counter, client, sql, how):
    client.query("BEGIN").check()
    if how == "query":
        assert column(client.query(sql).check()) == ["0"]
    elif how == "extended":
        assert column(client.ask(wire.parse(sql), wire.describe_statement(), wire.bind(), wire.execute()).check()) == ["0"]
    elif how == "prepared":
        client.query(f"PREPARE q AS {sql}").check()
        assert column(client.query("EXECUTE q").check()) == ["0"]
        client.query("DEALLOCATE q").check()
    elif how == "cursor":
        client.query(f"DECLARE c CURSOR FOR {sql}").check()
        assert column(client.query("FETCH ALL FROM c").check()) == ["0"]
    else:
        query = sql.rstrip(";").replace("-- all of it", "")
        assert [m.body for m in client.query(f"COPY ({query}) TO STDOUT").check().of("d")] == [b"0\n"]
    assert takes_writer(counter, client)


@pytest.mark.parametrize("sql", [
    "SELECT v FROM t", "EXPLAIN SELECT v FROM t FOR UPDATE", "EXPLAIN QUERY PLAN SELECT v FROM t FOR UPDATE", "SELECT 'x FOR UPDATE' FROM t",
    "SELECT v FROM t -- FOR UPDATE", "SELECT 1 AS for FROM t"])
def test_what_locks_nothing(counter, client, sql):
    client.query("BEGIN").check()
    client.query(sql).check()
    assert not takes_writer(counter, client)


def test_names(counter, client):
    """SQLite takes FOR, KEY, NO, OF, SHARE, SKIP and LOCKED for names."""
    counter.run("DROP TABLE IF EXISTS for", "CREATE TABLE for (key INTEGER, share TEXT, for INTEGER)", "INSERT INTO for VALUES (1, 'x', 0)")
    for sql in ["SELECT share.key FROM for share", "SELECT share.key FROM t, for share", "SELECT share.key FROM t JOIN for share ON true",
                "SELECT key AS for FROM for", "SELECT '1' FROM for WHERE NOT for AND share = 'x'",
                "SELECT (SELECT NOT for share) FROM (SELECT 0 AS for)"]:
        client.query("BEGIN").check()
        assert column(client.query(sql).check()) == ["1"]
        assert not takes_writer(counter, client)
    client.query("BEGIN").check()
    assert column(client.query("SELECT share FROM for share FOR SHARE").check()) == ["x"]
    assert takes_writer(counter, client)
    counter.run("DROP TABLE for")


@pytest.mark.parametrize("sql", [
    "SELECT v FROM t FOR UPDATE x", "SELECT v FROM t FOR UPDATE OF", "SELECT v FROM t FOR NO UPDATE", "SELECT v FROM t FOR KEY UPDATE",
    "SELECT v FROM t FOR UPDATE SKIP", "SELECT v FROM t FOR UPDATE OF t,", "SELECT v FROM t FOR UPDATE WHERE id = 1",
    "SELECT v FOR UPDATE FROM t", "CREATE VIEW w AS SELECT v FROM t FOR UPDATE"])
def test_what_is_none(client, counter, sql):
    assert client.query(sql).state == "42601"


@pytest.mark.parametrize("sql, tag", [
    ("UPDATE t SET v = v + 1 WHERE id = (SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING v", "UPDATE 1"),
    ("WITH x AS (SELECT id FROM t FOR UPDATE) DELETE FROM t WHERE id IN (SELECT id FROM x)", "DELETE 1"),
    ("INSERT INTO t SELECT id + 1, v FROM t FOR UPDATE", "INSERT 0 1"),
    ("INSERT INTO t SELECT id + 1, v FROM t FOR UPDATE RETURNING id", "INSERT 0 1"),
    ("INSERT INTO t SELECT id, v FROM t WHERE true FOR SHARE ON CONFLICT (id) DO NOTHING", "INSERT 0 0")])
def test_inside_of_writes(counter, client, sql, tag):
    """As job queues take the next job."""
    assert client.query(sql).check().tag == tag


def test_without_a_block(counter, holder):
    """It waits for who writes, as in PostgreSQL, and sees what that has written; its lock ends with it."""
    with counter.client() as client:
        client.send(wire.query(ONE))
        assert waits(counter, client)
        holder.query("UPDATE t SET v = 7; COMMIT").check()
        assert column(client.reply().check()) == ["7"]
        counter.run("UPDATE t SET v = 8")
        # One message is a transaction.
        assert column(client.query(f"{ONE}; UPDATE t SET v = 9; SELECT v FROM t").check()) == ["8", "9"]


def test_nowait(counter, holder):
    with counter.client() as client:
        client.query("BEGIN").check()
        reply = client.query(ONE + " NOWAIT")
        assert reply.state == "55P03" and "could not obtain" in reply.error["M"]
        client.query("ROLLBACK").check()
        update = "UPDATE t SET v = 1 WHERE id IN (SELECT id FROM t FOR UPDATE NOWAIT)"
        assert client.query(update).state == "55P03"
        holder.query("COMMIT").check()
        for _ in range(3):
            assert column(client.query(ONE + " NOWAIT").check()) == ["0"]
        # What comes behind it waits as ever.
        holder.query("BEGIN IMMEDIATE").check()
        client.send(wire.query("UPDATE t SET v = 1"))
        assert waits(counter, client)
        holder.query("COMMIT").check()
        client.reply().check()


def test_nowait_behind_an_outsider(counter, outsider):
    other = outsider(counter.database)
    other("BEGIN IMMEDIATE")
    with counter.client() as client:
        for begin in "", "BEGIN; ":
            reply = client.query(f"{begin}{ONE} NOWAIT")
            assert reply.state == "55P03" and "could not obtain" in reply.error["M"], reply.error
        other("COMMIT")
        client.query("ROLLBACK").check()
        assert column(client.query(ONE + " NOWAIT").check()) == ["0"]


def test_nowait_behind_a_pause(counter, holder):
    """It is no more patient for what it has waited before."""
    with counter.client() as client, console(counter) as admin:
        client.query("SET lock_timeout = '1h'").check()
        pausing = Pausing(counter, admin)
        client.send(wire.query(ONE + " NOWAIT"))
        until_waiting(admin, client)
        admin.execute("RESUME")
        pausing.reply()
        assert client.reply().state == "55P03"


def test_who_may_not_write(counter, client):
    for begin in ["BEGIN READ ONLY", "BEGIN; SET TRANSACTION READ ONLY", "BEGIN; DELETE FROM t; SET TRANSACTION READ ONLY"]:
        client.query(begin).check()
        reply = client.query(ONE)
        assert reply.state == "25006" and "SELECT FOR UPDATE" in reply.error["M"]
        client.query("ROLLBACK").check()
    assert client.query(f"DECLARE c CURSOR WITH HOLD FOR {ONE}").state == "0A000"


def test_a_role_that_only_reads(start_daemon):
    daemon = start_daemon(config='[[access]]\nuser = "all"\nrole = "reader"\n')
    with daemon.client() as client:
        reply = client.query("SELECT 1 FOR UPDATE")
        assert reply.state == "25006" and "role is reader" in reply.error["M"]


def test_a_snapshot_that_others_have_left_behind(counter, client):
    client.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT v FROM t").check()
    counter.run("UPDATE t SET v = 5")
    assert client.query(ONE).state == "40001"
    client.query("ROLLBACK").check()
    client.query("BEGIN ISOLATION LEVEL SERIALIZABLE").check()
    assert column(client.query(ONE).check()) == ["5"]
    assert takes_writer(counter, client)


def test_beside_cursors(counter, client):
    """Two that nobody has asked for rows are begun by the first write; neither begins the other without end."""
    counter.run("INSERT INTO t VALUES (2, 0)")
    client.query("BEGIN").check()
    client.query("DECLARE plain CURSOR FOR SELECT id FROM t ORDER BY id").check()
    assert column(client.query("FETCH 1 FROM plain").check()) == ["1"]
    for name in ["a", "b"]:
        client.query(f"DECLARE {name} CURSOR FOR SELECT id FROM t ORDER BY id FOR UPDATE").check()
    client.query("DELETE FROM t").check()
    assert [column(client.query(f"FETCH ALL FROM {name}").check()) for name in ["plain", "a", "b"]] == [["2"], ["1", "2"], ["1", "2"]]
    assert takes_writer(counter, client)


def test_members_of_a_group(db):
    """What has arrived whole shares a commit; each member reads what the one before it has written."""
    db.run("UPDATE t SET who = 0")
    group = Group(db)
    count = "BEGIN; SELECT who FROM t WHERE id = 0 FOR UPDATE; UPDATE t SET who = who + 1 WHERE id = 0; COMMIT"
    clients = [group.add(count) for _ in range(8)]
    single = group.add("SELECT who FROM t WHERE id = 0 FOR UPDATE")
    group.add("INSERT OR ROLLBACK INTO t VALUES (0, 'again')")
    group.release()
    assert [column(client.reply().check()) for client in clients] == [[str(number)] for number in range(8)]
    assert column(single.reply().check()) == ["8"]
    assert outcome(group.clients[-1].reply()) == "ERROR 23505"
    assert db.run("SELECT who FROM t WHERE id = 0").value == "8"


def test_sqlalchemy(counter):
    engine = sa.create_engine(f"postgresql+psycopg://me@/{counter.name}?host={counter.directory}")
    t = sa.table("t", sa.column("id"), sa.column("v"))
    with engine.connect() as connection:
        for options in [{}, {"nowait": True}, {"skip_locked": True, "of": t}, {"read": True}, {"key_share": True}]:
            with connection.begin():
                assert connection.execute(sa.select(t.c.v).where(t.c.id == 1).with_for_update(**options)).scalar() == "0"
    engine.dispose()
