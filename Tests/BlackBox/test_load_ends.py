"""How a run of walpool-load ends before its time, or does not begin."""

import json
import os
import select
import signal
import socket
import sqlite3
import subprocess
from pathlib import Path

import pytest

from console import console, show
from daemon import eventually
from load_fixtures import (  # noqa: F401 (fixtures)
    aimed_at, answered, database, direct, in_process, load, query, SCALE, server, until_it_works)


def test_ctrl_c(load, query):
    process = load.start("insert", "--seconds", 60, "--warm-up", 0, "--progress", 0.1)
    until_it_works(process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    result = json.loads(output)
    assert 0 < result["seconds"] < 60 and result["classes"][0]["transactions"] > 0
    assert query("SELECT count(*) FROM bench_insert") == [(answered(result),)]


@pytest.mark.parametrize("target", ["load", "direct", "in_process"])
def test_ctrl_c_in_the_middle_of_a_transaction(request, database, target):
    """The run ends with the signal, whenever the client sees it: its transaction is late, and had been running."""
    load = request.getfixturevalue(target)
    workload = load.write("""
        [[class]]
        name = "holder"
        clients = 1
        [[class.transaction]]
        statements = [
            { sql = "BEGIN" }, { sql = "INSERT INTO bench_insert (client) VALUES (1)" }, { hold_ms = 1500 }, { sql = "COMMIT" },
        ]
        """)
    process = load.start(workload, "--seconds", 600, "--warm-up", 0, "--progress", 0.1)
    # It has the lock for a moment before the run, too.
    process.stderr.readline()

    def has_begun():
        with sqlite3.connect(database, timeout=0) as other:
            try:
                other.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return True

    eventually(has_begun, "a transaction that holds the write lock")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    result = json.loads(output)
    one = result["classes"][0]
    assert process.returncode == 0 and one["transactions"] == 0 and one["late_transactions"] == 1
    assert 0 < one["unfinished_us"] < one["latency_us"]["max"] and len(one["series"]) <= result["seconds"] + 1


@pytest.mark.parametrize("target", ["load", "direct", "in_process"])
def test_ctrl_c_in_the_warm_up(request, query, target):
    """There are no figures, and who asked for some is told so; what was done is in the tables all the same."""
    load = request.getfixturevalue(target)
    process = load.start("insert", "--seconds", 1, "--warm-up", 600, "--progress", 0.1)
    until_it_works(process)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and "nothing was measured" in errors
    result = json.loads(output)
    assert result["seconds"] == 0 and result["classes"][0]["transactions"] == 0
    assert query("SELECT count(*) FROM bench_insert") == [(answered(result),)]


# Neither would end by itself in the time a test has.
HOLDER = """
    [[class]]
    name = "holder"
    [[class.transaction]]
    statements = [
        { sql = "BEGIN" }, { sql = "INSERT INTO bench_insert (client) VALUES (1)" }, { hold_ms = 600000 }, { sql = "COMMIT" },
    ]
    """


@pytest.mark.parametrize("ends", ["by its time", "by Ctrl-C"])
@pytest.mark.parametrize("target", ["load", "direct", "in_process"])
def test_a_hold_that_is_longer_than_anybody_waits(request, query, target, ends):
    """It is given up with the run, and what it has written is rolled back."""
    load = request.getfixturevalue(target)
    seconds = 0.5 if ends == "by its time" else 600
    process = load.start(load.write(HOLDER), "--seconds", seconds, "--warm-up", 0, "--progress", 0.1)
    process.stderr.readline()
    if ends == "by Ctrl-C":
        process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    one = json.loads(output)["classes"][0]
    assert (one["transactions"], one["late_transactions"], one["errors"]) == (0, 0, 0) and one["unfinished_us"] > 0
    assert query("SELECT count(*) FROM bench_insert") == [(0,)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("target", ["load", "direct", "in_process"])
def test_a_signal_behind_the_end(request, target, number):
    """The last answers are waited for, but only by who wants to."""
    load = request.getfixturevalue(target)
    process = load.start(
        load.write(HOLDER.replace("600000", "8000")), "--seconds", 0.5, "--warm-up", 0, "--progress", 0.1,
        # What a shell starts in the background is to take no notice of Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    # In the run the first thread asks for them for 50 ms at a time. Between that it waits for nothing, "0", or for a core, which may
    # take longer than five looks.
    looks = []

    def waits_for_others():
        looks.append(Path(f"/proc/{process.pid}/wchan").read_text().split(".")[0])
        return "do_sigtimedwait" in looks and not {"do_sigtimedwait", "0"} & set(looks[-5:])

    eventually(waits_for_others, "the end of the measured time")
    process.send_signal(number)
    assert process.wait(60) == -number


@pytest.mark.parametrize("status", ["not one", "some"])
def test_a_run_of_nothing_but_errors(load, query, status):
    """It took place for nobody. One class that gets through makes it a run whose errors are counted."""
    text = """
        [[class]]
        name = "colliding"
        [[class.transaction]]
        statements = [ { sql = "INSERT INTO pgbench_branches (bid) VALUES (1)" } ]
        """
    if status == "some":
        text += """
        [[class]]
        name = "readers"
        [[class.transaction]]
        statements = [ { sql = "SELECT 1" } ]
        """
    result = load.run(load.write(text), status=1 if status == "not one" else 0)
    assert result["classes"][0]["transactions"] == 0 and result["classes"][0]["errors"] > 0
    assert ("not one transaction succeeded: 23505: " in load.errors) == (status == "not one")


def start_direct(direct):
    """A run of three clients, and their processes."""
    process = direct.start("insert", "--clients", 3, "--seconds", 600, "--warm-up", 0, "--progress", 0.1)
    until_it_works(process)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert len(children) == 3
    return process, children


def test_a_killed_client_costs_its_own_figures(direct, query):
    """The others go on, and what they did is told; that something is missing, too."""
    process, children = start_direct(direct)
    os.kill(int(children[1]), signal.SIGKILL)
    until_it_works(process)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "what 1 of 3 clients did is in no figure: a client's process was killed by signal 9" in errors
    result = json.loads(output)
    one = result["classes"][0]
    assert one["error_states"] == {"died": 1} and one["transactions"] > 0 and sorted(one["per_client"])[0] == 0
    assert query("SELECT count(*) FROM bench_insert")[0][0] >= answered(result)


def test_when_all_clients_are_killed_the_run_ends(direct):
    process, children = start_direct(direct)
    for child in children:
        os.kill(int(child), signal.SIGKILL)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and "what 3 of 3 clients did is in no figure" in errors
    result = json.loads(output)
    assert result["seconds"] < 600 and result["classes"][0]["error_states"] == {"died": 3}


def test_a_killed_parent_leaves_nobody_behind(direct):
    """Clients are processes, and the one that made them had no time to end them."""
    process, children = start_direct(direct)

    def has_ended(child):
        try:
            # Whoever inherits it may take its time to hear of its end.
            return Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except (FileNotFoundError, ProcessLookupError):
            return True

    assert not any(map(has_ended, children))
    process.kill()
    eventually(lambda: all(map(has_ended, children)), "clients that have gone")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_while_it_connects(aimed_at, tmp_path, number):
    """Nothing has been measured yet, and the server may never take its clients: it ends at once."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / ".s.PGSQL.5432"))
        listener.listen(1)
        load = aimed_at("--host", tmp_path, "--database", "x")
        # A shell starts what runs in the background with SIGINT ignored, and so may have started the tests.
        process = load.start("insert", "--clients", 20, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        assert select.select([listener], [], [], 30)[0], "nobody connects"
        process.send_signal(number)
        process.communicate(timeout=30)
        assert process.returncode == -number


def test_what_cannot_be_written_is_told_before_the_run(load, tmp_path):
    command = load.command("insert", "--seconds", 600, "--hdr-log", "/nowhere/x.hdr")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "cannot write /nowhere/x.hdr: No such file or directory" in done.stderr


@pytest.mark.parametrize("json_target, table_target", [("-", "/dev/full"), ("/dev/full", None), ("result.json", "/dev/full")])
def test_a_full_disk_loses_nothing_else(load, tmp_path, json_target, table_target):
    """Each output is tried, whatever becomes of the others, and the status says that one of them is not there."""
    path = json_target if json_target.startswith(("-", "/")) else tmp_path / json_target
    log = tmp_path / "select.hdr"
    command = [*load.command("select", "--seconds", 0.2, "--warm-up", 0), "--json", path, "--hdr-log", log]
    command.remove("--quiet")
    output = open(table_target, "w") if table_target else subprocess.PIPE
    done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1 and "No space left on device" in done.stderr, done.stderr
    assert "Tag=readers" in log.read_text()
    if json_target == "result.json":
        assert json.loads(path.read_text())["classes"][0]["transactions"] > 0
    else:
        assert "p99.9 ms" in (done.stderr if json_target == "-" else done.stdout)


def test_a_server_that_goes(load, server):
    """The figures so far are told, and the status says that the run broke."""
    server.may_fail = True
    process = load.start("select", "--set", f"scale={SCALE}", "--seconds", 600, "--warm-up", 0, "--progress", 0.1)
    until_it_works(process)
    server.kill()
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and "no client has a connection any longer" in errors
    result = json.loads(output)
    one = result["classes"][0]
    assert one["transactions"] > 0 and one["errors"] == 8
    # With nobody left there is nothing to measure; the time without clients is in no figure.
    assert result["seconds"] < 600


def test_clients_lost_while_they_wait(load, server):
    """Who has nothing under way when its connection ends is lost like the others."""
    workload = load.write("""
        [[class]]
        name = "paced"
        clients = 2
        think_ms = 1000000
        [[class.transaction]]
        statements = [ { sql = "SELECT 1" } ]
        [[class]]
        name = "idlers"
        clients = 3
        idle = true
        """)
    process = load.start(workload, "--seconds", 600, "--warm-up", 300, "--progress", 0.1)
    assert "transactions/s" in process.stderr.readline()
    with console(server) as admin:
        sessions = [row["id"] for row in show(admin, "CLIENTS") if row["application_name"] == "walpool-load"]
        assert len(sessions) == 5
        for session in sessions:
            admin.execute(f"KILL {session}")
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and "no client has a connection any longer" in errors
    classes = json.loads(output)["classes"]
    assert [one["error_states"] for one in classes] == [{"57P01": 2}, {"57P01": 3}]


@pytest.mark.parametrize("options, status, message", [
    (["--host", "/nowhere", "--database", "x"], 1, "cannot connect to /nowhere/.s.PGSQL.5432: No such file or directory"),
    (["--host", "/nowhere"], 2, "--host needs --database"),
    ([], 2, "name one target: --host, --direct or --in-process"),
    (["--direct", "/nowhere/x.db"], 1, "cannot open /nowhere/x.db: unable to open database file"),
    (["--direct", "x", "--set", "skale=1"], 2, 'there is no variable "skale"'),
    (["--direct", "x", "--clients", "writers=1"], 2, "the classes are readers"),
    (["--direct", "x", "--clients", "readers=1,readers=2"], 2, "--clients readers=1,readers=2: class readers is named twice"),
    (["--direct", "x", "--rate", "1e-10"], 2, '--rate: "1e-10" is not 0, or a number from 0.001 to 1000000000'),
    (["--direct", "x", "--rate", "1e300"], 2, '--rate: "1e300" is not'),
    (["--direct", "x", "--rate", "nan"], 2, '--rate: "nan" is not'),
    (["--direct", "x", "--progress", "inf"], 2, "--progress is a number from 0 to 1000000"),
    (["--direct", "x", "--progress", "nan"], 2, "--progress is a number from"),
    (["--direct", "x", "--progress", "1e300"], 2, "--progress is a number from"),
    (["--direct", "x", "--messages", "bulk"], 2, "--messages bulk: one of separate, pipeline, query"),
    (["--direct", "x", "--hdr-log", "-"], 2, "--json and --hdr-log are the same, -"),
    # What would change nothing.
    (["--direct", "x", "--retries", 5], 2, "--retries means nothing with --direct"),
    (["--direct", "x", "--messages", "query"], 2, "--messages means nothing with --direct"),
    (["--in-process", "x", "--threads", 4], 2, "--threads means nothing with --in-process"),
    (["--host", "/nowhere", "--database", "x", "--synchronous", "normal"], 2, "--synchronous means nothing with --host"),
    (["--host", "/nowhere", "--database", "x", "--rate", "readers=-1"], 2, '--rate: "-1" is not 0, or a number from'),
    (["--host", "/nowhere", "--database", "x", "--retries=-1"], 2, "--retries is not below 0"),
])
def test_refusals(aimed_at, options, status, message):
    load = aimed_at(*options)
    load.run("select", status=status)
    assert message in load.errors and load.errors.startswith("walpool-load: ")
    assert load.errors.count("\n") == 1


@pytest.mark.parametrize("name", ["./figures", "link"])
def test_one_file_by_two_names(aimed_at, tmp_path, name):
    (tmp_path / "link").symlink_to("figures")
    load = aimed_at("--direct", "x")
    load.run("select", "--json", tmp_path / "figures", "--hdr-log", f"{tmp_path}/{name}", status=2)
    assert load.errors.startswith("walpool-load: --json and --hdr-log are the same file, ")
    # What is no file takes both.
    load.run("select", "--json", "/dev/null", "--hdr-log", "/dev/../dev/null", status=1)
    assert "cannot open x" in load.errors


def test_nobody_there_for_clients_that_connect_each_time(aimed_at):
    """They try again and again; a run in which none of them got through did not take place."""
    load = aimed_at("--host", "/nowhere", "--database", "x")
    load.run("churn", "--set", f"scale={SCALE}", status=1)
    assert "08001: cannot connect to /nowhere/.s.PGSQL.5432: No such file or directory" in load.errors


def test_what_is_wrong_in_a_file(aimed_at):
    load = aimed_at("--direct", "x")
    path = load.write('[[class]]\nname = "a"\nclients = 1\nrates = 2\n')
    load.run(path, status=2)
    assert load.errors.startswith(f'walpool-load: {path}: line 4: unknown key "rates" in [[class]]')


def test_a_workload_that_can_be_read_but_once(direct, in_process):
    """The processes of the clients read it, too."""
    text = '[[class]]\nname = "a"\n[[class.transaction]]\nstatements = [ { sql = "SELECT 1" } ]\n'
    for load, status in ((in_process, 0), (direct, 2)):
        command = load.command(Path("/dev/stdin"), "--seconds", 0.1, "--warm-up", 0)
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
        assert done.returncode == status, done.stderr
    assert done.stderr == "walpool-load: with --direct the workload is a file, which each client reads: /dev/stdin is none\n"


@pytest.mark.parametrize("target", ["direct", "in_process"])
def test_a_long_statement_that_cannot_be_prepared(request, target):
    """What is wrong is said, and the statement only so far as to know it again."""
    load = request.getfixturevalue(target)
    load.run(load.write(
        '[[class]]\nname = "a"\n[[class.transaction]]\n'
        'statements = [ { sql = "INSERT INTO missing VALUES ($1, $2)", parameters = ["client", "client"], rows = 1000 } ]\n'), status=1)
    assert load.errors.startswith("walpool-load: INSERT INTO missing VALUES (")
    assert "no such table: missing" in load.errors and len(load.errors) < 300


def test_a_statement_that_cannot_be_prepared(load):
    path = load.write('[[class]]\nname = "a"\n[[class.transaction]]\nstatements = [ { sql = "SELECT * FROM missing" } ]\n')
    load.run(path, status=1)
    assert "42P01" in load.errors and "missing" in load.errors
