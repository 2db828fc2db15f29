"""What a transaction has set goes back when it fails, however it is sent, and whoever it shares its commit with."""

import resource

import pytest

import wire
from groups_fixtures import Group, db, pipeline  # noqa: F401 (fixture)
from interleaving import outcome

SETTINGS = "SET lock_timeout = '7s'; SET application_name = 'app'"
BASE = "SET lock_timeout = '3s'; SET application_name = 'base'"
DUPLICATE, DANGLING = "INSERT INTO t VALUES (0, 'again')", "INSERT INTO child VALUES (1, 99)"
LARGE = "INSERT INTO t (who) VALUES (hex(randomblob(500000)))"


def settings(client):
    """As they are; what the client was told of last is the same."""
    name = client.value("SHOW application_name")
    assert client.parameters["application_name"] == name
    return client.value("SHOW lock_timeout"), name


def test_settings_of_a_transaction_that_fails(shared):
    """A message of several statements is one where there is no block, as a pipeline is, and so is a single statement."""
    shared.run("DROP TABLE IF EXISTS s", "CREATE TABLE s (id INTEGER PRIMARY KEY, v TEXT)", "INSERT INTO s VALUES (1, 'x')")
    for failing in [
        "SET lock_timeout = '7s'; SELECT nope", "INSERT INTO s VALUES (1, set_config('lock_timeout', '7s', false))",
        "SELECT set_config('lock_timeout', '7s', false); INSERT INTO s VALUES (1, 'y')", "RESET ALL; SELECT nope",
        "SET lock_timeout = '7s'; BEGIN; SELECT nope; COMMIT", "SET lock_timeout = '7s'; BEGIN; SELECT 1; ROLLBACK",
        "SET lock_timeout = '7s'; ROLLBACK", "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY; SELECT nope",
    ]:
        with shared.client() as client:
            client.query("SET lock_timeout = '3s'").check()
            client.query(failing)
            client.query("ROLLBACK")
            assert client.value("SHOW lock_timeout") == "3s", failing
            assert client.value("SHOW default_transaction_read_only") == "off", failing
    with shared.client() as client:
        client.query("SET lock_timeout = '3s'").check()
        client.query("SET lock_timeout = '4s'; COMMIT; SELECT nope")
        assert client.value("SHOW lock_timeout") == "4s"
        client.query("SET lock_timeout = '5s'; BEGIN; SELECT 1; COMMIT; SELECT nope")
        assert client.value("SHOW lock_timeout") == "5s"
        client.query("SET lock_timeout = '6s'; BEGIN; SET lock_timeout = '4s'; COMMIT; SELECT nope")
        assert client.value("SHOW lock_timeout") == "4s"
        reply = client.query("SET application_name = 'new'; SELECT nope")
        assert [each.body for each in reply.of("S")] == [b"application_name\0new\0", b"application_name\0\0"]
        reply = client.ask(wire.parse("SET lock_timeout = '7s'"), wire.bind(), wire.execute(), wire.parse("SELECT nope"))
        assert reply.state == "42703" and client.value("SHOW lock_timeout") == "4s"
        # One that ends well keeps it, and what fails behind it is another's.
        client.query("SET lock_timeout = '8s'").check()
        client.query("SELECT nope")
        assert client.value("SHOW lock_timeout") == "8s"


@pytest.mark.parametrize("neighbour", [None, "UPDATE t SET who = 'b' WHERE id = 0", "INSERT OR ROLLBACK INTO t VALUES (0, 'x')", DANGLING])
@pytest.mark.parametrize("message, state", [
    (f"{SETTINGS}; {DUPLICATE}", "23505"),
    (f"{SETTINGS}; UPDATE t SET who = 'c'; {DUPLICATE}", "23505"),
    (f"UPDATE t SET who = 'c'; {SETTINGS}; {DUPLICATE}", "23505"),
    (pipeline(*SETTINGS.split("; "), DUPLICATE), "23505"),
    (f"{SETTINGS}; {DANGLING}", "23503"),
    (f"UPDATE t SET who = 'c'; {SETTINGS}; {DANGLING}", "23503"),
    (pipeline(*SETTINGS.split("; "), DANGLING), "23503"),
    (f"{SETTINGS}; BEGIN; {DANGLING}; COMMIT", "23503"),
    (f"BEGIN; {SETTINGS}; {DANGLING}; COMMIT", "23503"),
    ("INSERT INTO t SELECT 0, set_config('application_name', 'app', false)", "23505"),
    ("INSERT INTO child SELECT 1, 99 + 0 * length(set_config('application_name', 'app', false))", "23503"),
    ("SELECT set_config('application_name', 'app', false); " + DANGLING, "23503"),
    (f"SET LOCAL application_name = 'app'; {DANGLING}", "23503"),
    (pipeline("SET LOCAL application_name = 'app'", DANGLING), "23503"),
    (f"BEGIN; SET LOCAL application_name = 'app'; {DANGLING}; COMMIT", "23503"),
    (f"{DANGLING}; SET application_name = 'app'; SELECT set_config('application_name', 'base', false)", "23503"),
])
def test_a_member_of_a_group_that_fails(db, neighbour, message, state):
    """Alone, too; and one that runs again goes back as far as one that has not."""
    group = Group(db)
    client = group.add(message, setup=BASE)
    if neighbour:
        group.add(neighbour)
    assert group.outcomes()[0].split("; ")[-1] == f"ERROR {state}"
    assert settings(client) == ("3s", "base")


def test_members_that_end_well(db):
    group = Group(db)
    clients = [group.add(message, setup=BASE) for message in [
        f"{SETTINGS}; UPDATE t SET who = 'q'", f"BEGIN; {SETTINGS}; UPDATE t SET who = 'q'; COMMIT", pipeline(*SETTINGS.split("; "), "DELETE FROM u"),
        "UPDATE t SET who = set_config('lock_timeout', '7s', false) || set_config('application_name', 'app', false)"]]
    group.add("INSERT OR ROLLBACK INTO t VALUES (0, 'x')")
    group.outcomes()
    assert [settings(client) for client in clients] == 4 * [("7s", "app")]


@pytest.mark.parametrize("synchronous", ["full", "pipelined"])
@pytest.mark.parametrize("has_partner", [False, True])
@pytest.mark.parametrize("message", [
    f"{SETTINGS}; {LARGE}", f"{LARGE}; {SETTINGS}", f"{SETTINGS}; BEGIN; {LARGE}; COMMIT", f"BEGIN; {SETTINGS}; {LARGE}; COMMIT",
    pipeline(*SETTINGS.split("; "), LARGE), pipeline("SET LOCAL application_name = 'app'", LARGE),
    f"SET LOCAL application_name = 'app'; {LARGE}", f"BEGIN; SET LOCAL application_name = 'app'; {LARGE}; COMMIT",
    f"{LARGE}; SET application_name = 'app'; SELECT set_config('application_name', 'base', false)",
    "INSERT INTO t (who) SELECT hex(randomblob(500000)) WHERE set_config('application_name', 'app', false) IS NOT NULL"])
@pytest.mark.optimised("pipelined")
def test_a_commit_that_fails(start_daemon, synchronous, has_partner, message):
    daemon = start_daemon(config=f'synchronous = "{synchronous}"\n')
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, who TEXT)")
    group = Group(daemon)
    client = group.add(message, setup=BASE)
    if has_partner:
        group.add("INSERT INTO t (who) VALUES ('partner')")
    # A file that may not grow is a full disk.
    resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
    try:
        group.holder.query("COMMIT")
        assert outcome(client.reply()).split("; ")[-1] == "ERROR 53100"
    finally:
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert settings(client) == ("3s", "base")


@pytest.mark.parametrize("synchronous", ["full", "pipelined"])
def test_a_commit_of_a_block_that_fails(start_daemon, synchronous):
    daemon = start_daemon(config=f'synchronous = "{synchronous}"\n')
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, who TEXT)")
    client = daemon.client()
    for sql in [*BASE.split("; "), "BEGIN", *SETTINGS.split("; "), LARGE]:
        client.query(sql).check()
    resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
    try:
        assert client.query("COMMIT").state == "53100"
    finally:
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert settings(client) == ("3s", "base")


def test_what_ends_before_a_commit_that_fails_is_told(db):
    """Also where the statements behind it are answered by the session itself. The last one's tag is the commit's."""
    with db.client() as client:
        for last in ["SELECT current_user", "SHOW lock_timeout", "SELECT set_config('app.x', 'y', false)"]:
            reply = client.query(f"{DANGLING}; SELECT current_user; SHOW lock_timeout; {last}")
            assert reply.tags == ["INSERT 0 1", "SELECT 1", "SHOW"] and reply.state == "23503", last


def test_a_block_goes_back_when_it_fails(shared):
    """Not only when it is told to: "the effects of the SET command disappear"."""
    with shared.client() as client:
        client.query(BASE).check()
        reply = client.query(f"BEGIN; {SETTINGS}; SELECT nope")
        assert [each.body for each in reply.of("S")] == [b"application_name\0app\0", b"application_name\0base\0"]
        assert client.parameters["application_name"] == "base"
        client.query("ROLLBACK").check()
        assert settings(client) == ("3s", "base")
        client.query(f"BEGIN; {SETTINGS}; SELECT nope")
        assert client.query("COMMIT").tag == "ROLLBACK"
        assert settings(client) == ("3s", "base")


def test_savepoints(shared):
    with shared.client() as client:
        def shown():
            return client.value("SHOW lock_timeout")

        client.query("BEGIN; SET lock_timeout = '1s'; SAVEPOINT a; SET lock_timeout = '2s'; SAVEPOINT b; SAVEPOINT c; "
                     "SET lock_timeout = '3s'").check()
        client.query("ROLLBACK TO b").check()
        assert shown() == "2s"
        client.query("SET lock_timeout = '4s'; RELEASE b").check()
        assert shown() == "4s"
        client.query("SELECT nope")
        client.query("ROLLBACK TO a").check()
        assert shown() == "1s"
        client.query("SET LOCAL lock_timeout = '5s'; SAVEPOINT d; SET lock_timeout = '6s'; ROLLBACK TO d").check()
        assert shown() == "5s"
        client.query("COMMIT").check()
        assert shown() == "1s"
        client.query("BEGIN; SAVEPOINT a; SET LOCAL lock_timeout = '2s'; ROLLBACK TO a; SET lock_timeout = '3s'; COMMIT").check()
        assert shown() == "3s"
        client.query("BEGIN; SAVEPOINT a; SET lock_timeout = '4s'; RELEASE a; ROLLBACK").check()
        assert shown() == "3s"


def test_savepoints_do_not_hold_settings_without_end(shared):
    with shared.client() as client:
        client.query("BEGIN").check()
        large = "SELECT count(set_config('my.k' || value, hex(randomblob(32000)), false)) FROM generate_series(1, 190)"
        states = [client.query(f"SAVEPOINT s{number}; {large}").state for number in range(6)]
        assert states == [None, None, None, "54000", "25P02", "25P02"]
        client.query("ROLLBACK TO s1").check()
        client.query("SET my.k1 = ''").check()
        client.query("ROLLBACK").check()


@pytest.mark.parametrize("name", ["search_path", "TimeZone", "IntervalStyle", "extra_float_digits"])
@pytest.mark.optimised
def test_savepoints_do_not_hold_texts_without_end(shared, name):
    """Of the settings that mean something here, too."""
    with shared.client() as client:
        client.query("BEGIN").check()
        done = 0
        while (state := client.query(f"SAVEPOINT s{done}; SET {name} = '{done:065000}'").state) is None:
            done += 1
        assert state == "54000" and 100 < done < 600
        client.query("ROLLBACK").check()


def test_a_name_of_marks_is_short(shared):
    """One letter with any number of combining marks is one character."""
    with shared.client() as client:
        client.query(f"SET application_name = 'a{chr(0x301) * 30000}'").check()
        assert len(client.value("SHOW application_name")) == 63


@pytest.mark.parametrize("name", ["application_name", "TimeZone", "IntervalStyle"])
def test_what_differs_in_composition_only_is_told(shared, name):
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    with shared.client() as client:
        client.query(f"SET {name} = '{composed}'").check()
        client.query(f"BEGIN; SET {name} = '{decomposed}'").check()
        reply = client.query("ROLLBACK").check()
        assert [each.body for each in reply.of("S")] == [f"{name}\0{composed}\0".encode()]
        assert client.value(f"SHOW {name}") == composed


def test_local_without_a_block(shared):
    """It is for what else is in its message, or its pipeline; alone it does nothing, and the client is told."""
    with shared.client() as client:
        def shown(sql):
            reply = client.query(sql).check()
            return [row[0] for row in reply.texts], [each.fields["C"] for each in reply.of("N")]

        assert shown("SET LOCAL lock_timeout = '9s'; SHOW lock_timeout") == (["9s"], [])
        assert shown("SHOW lock_timeout") == (["0"], [])
        assert shown("SELECT set_config('lock_timeout', '9s', true); SHOW lock_timeout") == (["9s", "9s"], [])
        assert shown("SHOW lock_timeout") == (["0"], [])
        assert shown("SET lock_timeout = '1s'; SET LOCAL lock_timeout = '2s'; SHOW lock_timeout") == (["2s"], [])
        assert shown("SHOW lock_timeout") == (["1s"], [])
        assert shown("SET LOCAL lock_timeout = '2s'; BEGIN; SHOW lock_timeout") == (["2s"], [])
        assert shown("SET lock_timeout = '3s'; COMMIT; SHOW lock_timeout") == (["3s"], [])
        assert shown("SET LOCAL lock_timeout = '2s'") == ([], ["25P01"])
        # PostgreSQL warns of SET LOCAL only.
        assert shown("SELECT set_config('lock_timeout', '2s', true)") == (["2s"], [])
        assert shown("SHOW lock_timeout") == (["3s"], [])
        reply = client.query("SET LOCAL application_name = 'mine'; SELECT 1")
        assert [each.body for each in reply.of("S")] == [b"application_name\0mine\0", b"application_name\0\0"]
        reply = client.ask(wire.parse("SELECT set_config('lock_timeout', '9s', true), 1"), wire.bind(), wire.execute(),
                           wire.parse("SHOW lock_timeout"), wire.bind(), wire.execute())
        assert reply.check().texts[-1] == ("9s",)
        assert shown("SHOW lock_timeout") == (["3s"], [])


def test_what_was_discarded_stays_so(shared):
    """It runs in a pipeline, as it does in PostgreSQL where nothing is before it."""
    with shared.client() as client:
        client.query(BASE).check()
        pipeline = [*SETTINGS.split(";"), "DISCARD ALL", "SELECT nope"]
        messages = [each for sql in pipeline for each in (wire.parse(sql), wire.bind(), wire.execute())]
        assert client.ask(*messages).state == "42703"
        assert settings(client) == ("0", "")
