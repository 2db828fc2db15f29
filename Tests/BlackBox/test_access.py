"""Who enters, as what, under which name, and with which limits."""

import os
import subprocess

import pytest

import wire
from daemon import binary, eventually
from identity import NOBODY, client_as, session_as

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="needs to become other users")

# Users without a name on any machine, and without a password entry to be looked up.
ALICE, BOB, CAROL, STAFF, GUESTS = 70_001, 70_002, 70_003, 70_101, 70_102


def refused(reply, state="28000"):
    assert reply.closed and reply.error["S"] == "FATAL" and reply.error["C"] == state, reply
    return reply.error


def started(daemon, user, group=NOBODY, groups=(), /, **parameters):
    parameters.setdefault("database", daemon.name)
    return client_as(daemon, user, group, groups).start(**parameters)


@pytest.fixture
def serve(start_daemon):
    """A daemon with these rules behind a socket that everybody may open."""

    def serve(rules, *options):
        daemon = start_daemon(config=rules, options=["--socket-mode", "0666", *options])
        return daemon

    return serve


# Without rules


def test_default_rules(start_daemon):
    daemon = start_daemon(options=["--socket-mode", "0660"])
    os.chown(daemon.socket_path, 0, STAFF)
    root = daemon.client()
    assert root.parameters["is_superuser"] == "on"
    for member in [session_as(daemon, ALICE, STAFF), session_as(daemon, BOB, GUESTS, [GUESTS, STAFF])]:
        assert member.parameters["is_superuser"] == "off"
        member.query("CREATE TABLE t (x); DROP TABLE t").check()
        assert member.query("SHOW in_hot_standby").value == "off"


def test_by_default_a_socket_for_all_lets_only_its_group_in(start_daemon):
    daemon = start_daemon(options=["--socket-mode", "0666"])
    os.chown(daemon.socket_path, 0, STAFF)
    session_as(daemon, ALICE, STAFF)
    for user, name in [(ALICE, "root"), (NOBODY, "nobody"), (NOBODY, "tester")]:
        error = refused(started(daemon, user, GUESTS, user=name))
        assert f"user ID {user}" in error["M"] and "socket's group" in error["H"] and str(STAFF) in error["H"]
        # The console is no other door.
        refused(started(daemon, user, GUESTS, user=name, database="walpool"))
    # Without a permission for the group there is nobody but root and the daemon's user.
    os.chmod(daemon.socket_path, 0o606)
    error = refused(started(daemon, ALICE, GUESTS))
    assert "let no group in" in error["H"]
    daemon.check_alive()


def test_refusal_comes_before_anything_is_told(serve):
    daemon = serve('[[access]]\nuser = "root"\nrole = "admin"\n')
    # Neither which databases there are, nor which settings.
    for parameters in [{"database": "nonsense"}, {"database": "app"}, {"options": "-cstatement_timeout=x"}]:
        reply = started(daemon, ALICE, **parameters)
        refused(reply)
        assert reply.kinds == "E"


def test_the_daemons_own_user(start_daemon):
    daemon = start_daemon(start=False)
    os.chown(daemon.directory, ALICE, STAFF)
    command = daemon.command
    daemon.command = lambda: ["setpriv", f"--reuid={ALICE}", f"--regid={STAFF}", "--clear-groups", *command()]
    daemon.start()
    for client in [daemon.client(), session_as(daemon, ALICE, GUESTS)]:
        assert client.value("SHOW is_superuser") == "on"
    assert session_as(daemon, BOB, STAFF).value("SHOW is_superuser") == "off"


# Rules


RULES = f"""
[[access]]
uid = {CAROL}
role = "reject"

[[access]]
uid = [0, {ALICE}]
role = "admin"

[[access]]
user = "nobody"
role = "reader"

[[access]]
group = "daemon"
role = "writer"
"""


def test_rules_in_their_order(serve):
    daemon = serve(RULES)
    group = 1  # Debian's group "daemon"
    reader, writer = session_as(daemon, NOBODY, group), session_as(daemon, BOB, GUESTS, [group])
    # What is shown of it is what PostgreSQL's clients know.
    for client, superuser, standby in [(daemon.client(), "on", "off"), (session_as(daemon, ALICE), "on", "off"),
                                       (reader, "off", "on"), (writer, "off", "off")]:
        assert client.parameters["is_superuser"] == client.value("SHOW is_superuser") == superuser
        assert client.parameters["in_hot_standby"] == client.value("SHOW in_hot_standby") == standby
        assert client.query("SELECT pg_is_in_recovery()").value == {"on": "t", "off": "f"}[standby]
        assert client.value("SHOW transaction_read_only") == standby
        assert client.parameters["session_authorization"] == client.value("SHOW session_authorization") == "tester"
        assert client.query("SET is_superuser = on").state == "55P02"
    for user, groups in [(CAROL, [group]), (BOB, [GUESTS]), (BOB, [])]:
        error = refused(started(daemon, user, GUESTS, groups))
        # The same words, whether a rule rejects or none admits.
        assert error["M"] == f"no access rule lets user ID {user} in" and "[[access]]" in error["H"]


def test_a_process_in_many_groups(serve):
    daemon = serve('[[access]]\ngroup = "daemon"\nrole = "writer"\n[[access]]\nuid = 0\nrole = "admin"\n')
    session_as(daemon, ALICE, GUESTS, [*range(80_000, 80_300), 1])
    refused(started(daemon, ALICE, GUESTS, range(80_000, 80_300)))


@pytest.mark.parametrize("claim, allowed, not_allowed", [
    ("", ["nobody", "root", "anything at all", "ü"], []),
    ('claim = "any"', ["nobody", "root"], []),
    ('claim = "same"', ["nobody"], ["root", "Nobody", "nobody ", "nobodyx", "65534"]),
    ('claim = ["app", "web"]', ["app", "web"], ["nobody", "root", "App", ""]),
])
def test_claimed_names(serve, claim, allowed, not_allowed):
    daemon = serve(f'[[access]]\nuser = "nobody"\nrole = "writer"\n{claim}\n[[access]]\nuser = "all"\nrole = "admin"\n')
    for name in allowed:
        client = session_as(daemon, NOBODY, user=name)
        assert client.value("SELECT current_user") == name
        # It decides nothing.
        assert client.value("SHOW is_superuser") == "off"
    for name in not_allowed:
        # The rule is about this user, so the next one is not asked.
        error = refused(started(daemon, NOBODY, user=name))
        if name:
            assert f'"{name}"' in error["M"] and "claim" in error["H"]


def test_a_user_without_a_name_has_no_name_to_claim(serve):
    daemon = serve('[[access]]\nuser = "all"\nrole = "admin"\nclaim = "same"\n')
    for name in ["root", "", str(ALICE), "nobody"]:
        refused(started(daemon, ALICE, user=name))
    session_as(daemon, 0, 0, user="root")
    assert session_as(daemon, NOBODY, user="nobody").is_open()
    with pytest.raises(AssertionError):
        daemon.client()  # "tester"
    daemon.check_errors()


@pytest.mark.parametrize("rules, says", [
    ('[[access]]\nuser = "nobody"\n', "role"),
    ('[[access]]\nrole = "writer"\n', '"user", "uid" and "group"'),
    ('[[access]]\nuser = "nobody"\nuid = 1\nrole = "writer"\n', "no more"),
    ('[[access]]\nuser = "nobody"\nrole = "owner"\n', "reject"),
    ('[[access]]\nuser = "no_such_user_here"\nrole = "writer"\n', 'no user "no_such_user_here"'),
    ('[[access]]\ngroup = "no_such_group_here"\nrole = "writer"\n', 'no group "no_such_group_here"'),
    ('[[access]]\nuser = "nobody"\nrole = "writer"\nclaim = "none"\n', "claim"),
    ('[[access]]\nuser = "nobody"\nrole = "writer"\nread_only = true\n', "read_only"),
    ('[[access]]\nuser = "nobody"\nrole = "writer"\nmax_sessions = -1\n', "max_sessions"),
    ('[[access]]\nuser = "nobody"\nrole = "writer"\nstatement_timeout = "soon"\n', "statement_timeout"),
    ('[[access]]\nuser = "all"\nrole = "writer"\n[[access]]\nuser = "root"\nrole = "admin"\n', "never asked"),
    ('[[access]]\nuid = -1\nrole = "writer"\n', "uid"),
    ('[[access]]\nuid = 4294967295\nrole = "writer"\n', "uid"),
])
def test_wrong_rules(tmp_path, rules, says):
    config = tmp_path / "walpoold.toml"
    config.write_text(rules)
    done = subprocess.run([binary(), tmp_path / "app.db", "--config", config, "--socket-directory", tmp_path],
                          capture_output=True, text=True, timeout=wire.DEADLINE)
    assert done.returncode != 0 and says in done.stderr, done


# What a reader can do


READER = f"""
[[access]]
uid = {ALICE}
role = "reader"
[[access]]
uid = {BOB}
role = "writer"
[[access]]
user = "root"
role = "admin"
"""

# Every kind of statement that changes something.
WRITES = [
    "INSERT INTO t VALUES (9, 'x')", "INSERT INTO t VALUES (9, 'x') RETURNING id", "INSERT INTO t SELECT 9, 'x'",
    "INSERT INTO t DEFAULT VALUES", "INSERT OR REPLACE INTO t VALUES (1, 'y')", "REPLACE INTO t VALUES (1, 'y')",
    "INSERT INTO t VALUES (1, 'y') ON CONFLICT DO UPDATE SET v = 'y'", "INSERT INTO t SELECT * FROM t WHERE 0",
    "WITH c AS (SELECT 9) INSERT INTO t SELECT *, 'x' FROM c", "WITH RECURSIVE c(n) AS (SELECT 1) DELETE FROM t",
    "UPDATE t SET v = 'y'", "UPDATE t SET v = 'y' RETURNING *", "UPDATE t SET v = 'y' WHERE 0", "DELETE FROM t",
    "DELETE FROM t RETURNING v", "DELETE FROM t WHERE 0", "INSERT INTO w VALUES (9, 'x')", "DELETE FROM w",
    "CREATE TABLE u (x)", "CREATE TABLE u AS SELECT 1", "CREATE TABLE IF NOT EXISTS t (x)", "CREATE INDEX i ON t (v)",
    "CREATE VIEW u AS SELECT 1", "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE u USING fts5(a)", "INSERT INTO f VALUES ('x')", "INSERT INTO f(f) VALUES ('optimize')",
    "INSERT INTO f(f) VALUES ('integrity-check')", "DELETE FROM f", "INSERT INTO r VALUES (2, 1, 1)",
    "DROP TABLE t", "DROP TABLE IF EXISTS nowhere", "DROP VIEW w", "ALTER TABLE t RENAME TO u", "ALTER TABLE t ADD COLUMN z",
    "ALTER TABLE t RENAME COLUMN v TO z", "ALTER TABLE t DROP COLUMN v", "REINDEX", "REINDEX t", "ANALYZE", "ANALYZE t",
    "PRAGMA user_version = 5", "PRAGMA application_id = 5", "PRAGMA main.user_version(5)",
]
# Refused for everybody, for reasons of their own.
NEVER = [
    "VACUUM", "VACUUM INTO '{directory}/stolen.db'", "ATTACH '{directory}/stolen.db' AS other", "CREATE TEMP TABLE u (x)",
    "PRAGMA journal_mode = DELETE", "PRAGMA writable_schema = 1", "PRAGMA query_only = 0", "PRAGMA wal_checkpoint",
    "UPDATE sqlite_schema SET sql = 'x'", "COPY t FROM STDIN", "COPY t TO '{directory}/stolen.db'",
    "SELECT load_extension('x')", "PREPARE TRANSACTION 'x'",
]
# What might lift the restriction, and does not.
LIFTS = [
    "SET default_transaction_read_only = off", "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
    "SELECT set_config('default_transaction_read_only', 'off', false)", "SET in_hot_standby = off", "RESET ALL",
    "SET transaction_read_only = off", "BEGIN READ WRITE; ROLLBACK", "SET ROLE root", "SET SESSION AUTHORIZATION root",
    "SET is_superuser = on", "DISCARD ALL", "SET session_replication_role = replica",
]


@pytest.fixture(scope="module")
def guarded():
    from daemon import Daemon

    daemon = Daemon(config=READER, options=["--socket-mode", "0666", "--readers", "2"])
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)", "INSERT INTO t VALUES (1, 'x')",
               "CREATE VIEW w AS SELECT * FROM t",
               "CREATE TRIGGER w1 INSTEAD OF INSERT ON w BEGIN INSERT INTO t VALUES (new.id, new.v); END",
               "CREATE TRIGGER w2 INSTEAD OF DELETE ON w BEGIN DELETE FROM t; END",
               "CREATE VIRTUAL TABLE f USING fts5(a)", "INSERT INTO f VALUES ('text')",
               "CREATE VIRTUAL TABLE r USING rtree(id, a, b)", "INSERT INTO r VALUES (1, 1, 2)")
    yield daemon
    daemon.close()


def contents(daemon):
    with daemon.client() as root:
        return [root.query(sql).check().texts for sql in (
            "SELECT type, name, sql FROM sqlite_schema ORDER BY name", "SELECT * FROM t", "SELECT * FROM f",
            "SELECT * FROM r", "PRAGMA user_version", "PRAGMA application_id", "PRAGMA schema_version",
            "PRAGMA data_version")]


@pytest.fixture
def reader(guarded):
    before = contents(guarded)
    session = session_as(guarded, ALICE)
    yield session
    session.close()
    assert contents(guarded) == before
    assert not (guarded.directory / "stolen.db").exists()


@pytest.mark.parametrize("sql", WRITES)
def test_a_reader_writes_by_no_route(guarded, reader, sql):
    def check(reply, *more):
        assert reply.state in ("25006", *more), (reply.errors, reply.kinds)
        assert not reply.closed

    check(reader.query(sql))
    assert "role is reader" in reader.query(sql).error["M"]
    check(reader.query(f"SELECT 1; {sql}; SELECT 2"))
    check(reader.extended(sql))
    # A statement may be prepared: that writes nothing. (What it would be is asked on a reader.)
    check(reader.ask(wire.parse(sql, name="s"), wire.describe_statement("s"), wire.bind(statement="s"), wire.execute()))
    check(reader.ask(wire.close_statement("s"), wire.bind(statement="s")), "26000")
    check(reader.query(f"PREPARE p AS {sql}"), "42601") if not sql.startswith(("INSERT", "UPDATE", "DELETE", "WITH", "REPLACE")) \
        else (reader.query(f"PREPARE p AS {sql}").check(), check(reader.query("EXECUTE p")), reader.query("DEALLOCATE p"))
    check(reader.query(f"DECLARE c CURSOR FOR {sql}"), "25P01", "42601")
    # A pipeline of several, of which one would write.
    check(reader.ask(wire.parse("SELECT 1"), wire.bind(), wire.execute(), wire.parse(sql), wire.bind(), wire.execute()))
    for begin in ["BEGIN", "BEGIN READ ONLY", "BEGIN DEFERRED", "BEGIN ISOLATION LEVEL SERIALIZABLE",
                  "BEGIN; SAVEPOINT a", "BEGIN; SELECT * FROM t", "BEGIN READ ONLY; SELECT * FROM t"]:
        reader.query(begin).check()
        check(reader.query(sql))
        if "SAVEPOINT" in begin:
            reader.query("ROLLBACK TO a").check()
            check(reader.query(sql))
        reader.query("COMMIT").check()
    # Nothing was asked of the writer: somebody else has it all the time.
    assert reader.query("SELECT v FROM t WHERE id = 1").value == "x"


def test_a_reader_never_waits_for_the_writer(guarded, reader):
    holder = session_as(guarded, BOB)
    holder.query("BEGIN IMMEDIATE").check()
    for sql in WRITES + ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"]:
        assert reader.query(sql).state == "25006", sql
    reader.query("BEGIN; SAVEPOINT a; SELECT * FROM t; RELEASE a; COMMIT").check()
    holder.query("ROLLBACK").check()


@pytest.mark.parametrize("sql", NEVER)
def test_a_reader_and_what_nobody_may(guarded, reader, sql):
    sql = sql.format(directory=guarded.directory)
    for reply in [reader.query(sql), reader.extended(sql), reader.query(f"SELECT 1; {sql}")]:
        assert reply.errors and not reply.closed


@pytest.mark.parametrize("lift", LIFTS)
def test_nothing_lifts_it(guarded, reader, lift):
    reader.query(lift)
    assert reader.query("INSERT INTO t VALUES (9, 'x')").state == "25006"
    for begin in ["BEGIN", "BEGIN READ WRITE", "BEGIN; SET TRANSACTION READ WRITE", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"]:
        assert reader.query(f"{begin}; INSERT INTO t VALUES (9, 'x')").state == "25006"
        reader.query("ROLLBACK").check()
    assert reader.value("SHOW transaction_read_only") == "on"


def test_startup_lifts_nothing(guarded, reader):
    other = session_as(guarded, ALICE, user="root", options="-cdefault_transaction_read_only=off")
    assert other.query("INSERT INTO t VALUES (9, 'x')").state == "25006"


def test_what_a_writer_prepared_is_not_a_readers_to_run(guarded, reader):
    # Texts and prepared statements are shared between sessions; roles are not.
    sql = "INSERT INTO t VALUES (77, 'writer')"
    writer = session_as(guarded, BOB)
    writer.query("BEGIN").check()
    writer.query(sql).check()
    writer.query("ROLLBACK").check()
    assert reader.query(sql).state == "25006"
    assert reader.extended(sql).state == "25006"


def test_a_reader_reads(guarded, reader):
    for sql in ["SELECT * FROM t", "WITH c AS (SELECT * FROM t) SELECT * FROM c", "EXPLAIN INSERT INTO t VALUES (9, 'x')",
                "EXPLAIN QUERY PLAN DELETE FROM t", "PRAGMA user_version", "PRAGMA table_info(t)", "SELECT * FROM f('text')",
                "SELECT * FROM r WHERE a > 0", "PRAGMA integrity_check", "VALUES (1), (2)", "SHOW ALL"]:
        reader.query(sql).check()
        reader.extended(sql).check()
    reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; DECLARE c CURSOR FOR SELECT * FROM t; FETCH ALL FROM c; "
                 "COMMIT").check()


# The console


def test_the_console_by_role(guarded):
    for user, role in [(ALICE, "reader"), (BOB, "writer")]:
        console = session_as(guarded, user, database="walpool")
        for topic in ["HELP", "CLIENTS", "WRITER", "VERSION"]:
            console.query(f"SHOW {topic}").check()
            console.extended(f"SHOW {topic}").check()
        for command in ["CHECKPOINT", "VACUUM", "BACKUP TO 'x.db'"]:
            for reply in [console.query(command), console.extended(command)]:
                assert reply.state == "42501" and role in reply.error["H"]
    with guarded.raw() as admin:
        admin.start(database="walpool").check()
        assert admin.query("CHECKPOINT").tag == "CHECKPOINT"


def test_the_consoles_extra_place_is_an_admins(serve):
    daemon = serve(READER, "--max-sessions", "1")
    first = session_as(daemon, BOB)
    refused(started(daemon, ALICE, database="walpool"), "53300")
    with daemon.raw() as admin:
        admin.start(database="walpool").check()
        assert len(admin.query("SHOW CLIENTS").texts) == 2
    first.query("SELECT 1").check()


def test_sockets_that_say_nothing_keep_no_admin_out(serve):
    daemon = serve(READER, "--max-sessions", "4")
    silent = [client_as(daemon, BOB) for _ in range(120)]
    daemon.settle()
    for name in ["walpool", "pgbouncer"]:
        with daemon.raw() as admin:
            admin.start(database=name).check()
            admin.query("SHOW CLIENTS").check()
    for client in silent:
        client.close()
    eventually(lambda: not started(daemon, BOB).errors, "room")


# Limits


def test_sessions_of_a_rule(serve):
    daemon = serve(f'[[access]]\nuid = [{ALICE}, {BOB}]\nrole = "writer"\nmax_sessions = 3\n[[access]]\nuser = "all"\nrole = "admin"\n')
    sessions = [session_as(daemon, user) for user in (ALICE, BOB, ALICE)]
    for database in ["app", "walpool"]:
        error = refused(started(daemon, BOB, database=database), "53300")
        assert "max_sessions is 3" in error["H"]
    # Others are not concerned, and those that are in are well.
    daemon.client().query("SELECT 1").check()
    for session in sessions:
        session.query("SELECT 1").check()
    # One that was refused for another reason counts no longer.
    sessions.pop().close()
    eventually(lambda: started(daemon, ALICE, database="other").state == "3D000", "a place")
    eventually(lambda: not started(daemon, BOB).errors, "a place")
    refused(started(daemon, BOB), "53300")


CEILINGS = f"""
statement_timeout = "9s"
[[access]]
uid = {ALICE}
role = "writer"
statement_timeout = "300ms"
transaction_timeout = "1h"
idle_in_transaction_session_timeout = "2h"
client_write_timeout = "10s"
[[access]]
user = "root"
role = "admin"
"""


def test_ceilings(serve):
    daemon = serve(CEILINGS)
    assert daemon.client().value("SHOW statement_timeout") == "9s"
    client = session_as(daemon, ALICE)
    ceilings = {"statement_timeout": "300ms", "transaction_timeout": "1h", "idle_in_transaction_session_timeout": "2h",
                "client_write_timeout": "10s"}
    for name, ceiling in ceilings.items():
        assert client.value(f"SHOW {name}") == ceiling
        for longer in ["0", "3h", "7201s", f"2147483647"]:
            for sql in [f"SET {name} = '{longer}'", f"SELECT set_config('{name}', '{longer}', false)",
                        f"BEGIN; SET LOCAL {name} = '{longer}'", f"SET SESSION {name} TO '{longer}'"]:
                error = client.query(sql).error
                assert error["C"] == "22023" and ceiling in error["M"]
                client.query("ROLLBACK").check()
        client.query(f"SET {name} = '7ms'").check()
        assert client.value(f"SHOW {name}") == "7ms"
        client.query(f"RESET {name}").check()
        assert client.value(f"SHOW {name}") == ceiling
        refused(started(daemon, ALICE, options=f"-c{name}=0"), "22023")
        refused(started(daemon, ALICE, **{name: "5h"}), "22023")
        assert session_as(daemon, ALICE, options=f"-c{name}=5ms").value(f"SHOW {name}") == "5ms"
    for everything in ["RESET ALL", "DISCARD ALL"]:
        client.query("SET statement_timeout = 5; SET client_write_timeout = 5").check()
        client.query(everything).check()
        for name, ceiling in ceilings.items():
            assert client.value(f"SHOW {name}") == ceiling
    # The failed SET of a block leaves the settings as they were, and so does its ROLLBACK.
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"
    assert client.query(endless).state == "57014"
    client.query("BEGIN; SET statement_timeout = '20ms'").check()
    client.query("ROLLBACK").check()
    assert client.query(endless).state == "57014"


WRITER_TIME = f"""
writer_idle_limit = 0
[[access]]
uid = {ALICE}
role = "writer"
writer_time_limit = "400ms"
[[access]]
user = "root"
role = "admin"
"""
ENDLESS_WRITE = ("INSERT INTO t SELECT n FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "
                 "SELECT n FROM c WHERE n < 0)")


@pytest.fixture
def timed(serve):
    daemon = serve(WRITER_TIME)
    daemon.run("CREATE TABLE t (n)")
    return daemon


def check_released(daemon):
    """Others write, and nothing of the session's is there."""
    assert daemon.client().query("INSERT INTO t VALUES (0)").tag == "INSERT 0 1"
    assert daemon.value("SELECT count(*) FROM t") == "1"


@pytest.mark.parametrize("begin", ["BEGIN; INSERT INTO t VALUES (1)", "BEGIN IMMEDIATE", "BEGIN; SAVEPOINT a; INSERT INTO t VALUES (1)"])
def test_writer_time_of_an_idle_one(timed, begin):
    client = session_as(timed, ALICE)
    client.query(begin).check()
    # Nobody waits, and still.
    reply = client.reply()
    assert reply.closed and reply.error["S"] == "FATAL" and reply.error["C"] == "25P04"
    assert "writer_time_limit" in reply.error["H"]
    check_released(timed)


def test_writer_time_of_a_pipeline_without_its_end(timed):
    client = session_as(timed, ALICE)
    client.send(wire.parse("INSERT INTO t VALUES (1)"), wire.bind(), wire.execute(), wire.flush())
    reply = client.reply()
    assert reply.closed and reply.error["S"] == "FATAL" and reply.error["C"] == "25P04"
    check_released(timed)


def test_writer_time_of_a_long_statement(timed):
    client = session_as(timed, ALICE)
    for sql in [ENDLESS_WRITE, f"SELECT 1; {ENDLESS_WRITE}"]:
        # Without a block the statement fails, and the session goes on.
        error = client.query(sql).error
        assert error["S"] == "ERROR" and error["C"] == "57014" and "writer" in error["M"]
        assert client.query("SELECT 1").value == "1"
    client.query("BEGIN; SAVEPOINT a").check()
    reply = client.query(ENDLESS_WRITE)
    assert reply.closed and reply.error["S"] == "FATAL" and reply.error["C"] == "25P04"
    check_released(timed)


def test_writer_time_of_many_short_statements(timed):
    client = session_as(timed, ALICE)
    client.query("BEGIN; INSERT INTO t VALUES (1)").check()

    def is_ended():
        try:
            client.send(*[wire.query("SELECT 1")] * 50)
            replies = [client.reply() for _ in range(50)]
        except OSError:
            return True
        return replies[-1].closed

    eventually(is_ended, "the end")
    check_released(timed)


def test_writer_time_is_not_the_time_of_waiting(timed):
    holder, client = timed.client(), session_as(timed, ALICE)
    holder.query("BEGIN IMMEDIATE").check()
    client.send(wire.query("INSERT INTO t VALUES (0)"))
    timed.settle(client)
    with timed.client() as other:
        other.query("SET statement_timeout = '600ms'").check()
        assert other.query("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c").state == "57014"
    holder.query("COMMIT").check()
    assert client.reply().tag == "INSERT 0 1"


def test_writer_time_hurts_nobody_in_the_same_group(timed):
    holder, slow, others = timed.client(), session_as(timed, ALICE), [timed.client() for _ in range(4)]
    holder.query("BEGIN IMMEDIATE").check()
    slow.send(wire.query(ENDLESS_WRITE))
    timed.settle(slow)
    for number, other in enumerate(others):
        other.send(wire.query(f"INSERT INTO t VALUES ({number})"))
    timed.settle(*others)
    holder.query("COMMIT").check()
    assert slow.reply().state == "57014"
    for other in others:
        assert other.reply().tag == "INSERT 0 1"
    assert timed.value("SELECT count(*) FROM t") == "4"
