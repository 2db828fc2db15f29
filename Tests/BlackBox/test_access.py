"""Who enters, as what, and under which name."""

import os
import subprocess

import pytest

import wire
from access import ALICE, BOB, CAROL, GUESTS, STAFF, refused, started
from daemon import binary
from identity import NOBODY, session_as

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="needs to become other users")

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
        # One more table would not help whom an earlier one rejects.
        assert "The first that matches decides" in error["H"]


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


# Rules that change while the daemon runs


def test_rules_that_are_read_again(serve):
    root = '[[access]]\nuser = "root"\nrole = "admin"\n'

    def rule(role):
        return f'{root}[[access]]\nuid = {ALICE}\nrole = "{role}"\n'

    daemon = serve(rule("writer"))
    console = daemon.client(database="walpool")

    def reload(text):
        (daemon.directory / "walpoold.toml").write_text(text)
        return console.query("RELOAD")

    writer = session_as(daemon, ALICE)
    writer.query("CREATE TABLE t (x)").check()
    refused(started(daemon, BOB))
    (notice,) = reload(rule("reader")).check().notices
    assert f"uid {ALICE}: reader" in notice["M"] and "user root: admin" in notice["M"]
    (notice,) = reload(rule("reader")).check().notices
    assert "nothing has changed" in notice["M"]
    (notice,) = reload(rule("reader") + 'max_sessions = 7\nwriter_time_limit = "5s"\n').check().notices
    assert "max_sessions 7, writer_time_limit 5s" in notice["M"]
    reader = session_as(daemon, ALICE)
    assert reader.query("INSERT INTO t VALUES (1)").state == "25006"
    assert writer.query("INSERT INTO t VALUES (1)").tag == "INSERT 0 1"
    # A file with a mistake in it lets nobody in and throws nobody out.
    assert reload(rule("reader").replace("reader", "raeder") + f"[[access]]\nuid = {BOB}\nrole = 'admin'\n").errors
    refused(started(daemon, BOB))
    assert session_as(daemon, ALICE).query("SELECT x FROM t").value == "1"
    reload(rule("reject")).check()
    refused(started(daemon, ALICE))
    assert reader.query("SELECT x FROM t").value == "1"
    # Root, too, enters only where a rule says so.
    reload(f"[[access]]\nuid = {BOB}\nrole = 'writer'\n").check()
    refused(started(daemon, 0))
    session_as(daemon, BOB).query("INSERT INTO t VALUES (2)").check()
