"""Where bench/run leaves what it has measured, and what it leaves behind when it is killed."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from bench_fixtures import Bench, processes_naming
from bench_report_fixtures import made_up
from daemon import REPOSITORY, eventually

sys.path.insert(0, str(REPOSITORY / "bench"))
from support import leftovers, publishing, readme, report, tools  # noqa: E402

SMALL = ("--only", "select", "--sections", "memory", "--systems", "walpool", "--seconds", "1")


def options(**given):
    names = ("only", "sections", "systems", "clients", "seconds", "repeat", "out", "old")
    return argparse.Namespace(**{**dict.fromkeys(names), "quick": False, "costs": True, "plots": False, "keep_logs": False,
                                 "walpool_options": [], **given})


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(publishing, "RESULTS", tmp_path)
    return tmp_path


def published(results, kept, **given):
    found = publishing.Results(options(**given), kept)
    found.publish(results / "no logs")
    return sorted(path.name for path in results.iterdir())


# Names


def test_no_result_takes_anothers_place(results, capsys):
    name = "2026-11-21-2-core-ext4-abc"
    assert published(results, made_up()) == [name]
    first = (results / name / "results.json").read_bytes()
    assert published(results, made_up(lambda run: run.update(throughput_per_s=1.0))) == [name, f"{name}-2"]
    assert (results / name / "results.json").read_bytes() == first
    assert (results / f"{name}-2" / "results.md").read_text() in capsys.readouterr().out


@pytest.mark.parametrize("given, change", [
    ({"costs": False}, {}), ({"seconds": 1}, {}), ({"walpool_options": ["--readers", "1"]}, {}), ({}, {"complete": False}),
    ({}, {"errors": ["strace hangs"]})])
def test_what_is_no_whole_run_has_no_such_name(results, given, change):
    assert published(results, made_up() | change, **given) == ["2026-11-21-2-core-ext4-abc-partial"]


@pytest.mark.parametrize("given, whole", [({}, True), ({"only": ["insert"], "seconds": 1}, False), ({"old": "walpoold"}, False)])
def test_the_record_says_whether_it_is_whole(results, given, whole):
    """Its directory does, too, but may be named otherwise."""
    published(results, made_up() | {"whole": None}, out=results / "out", **given)
    assert report.load(results / "out")["whole"] is whole


@pytest.mark.parametrize("in_the_way, missing", [("logs", "not everything was kept"), ("results.md", "the report was not kept")])
def test_the_record_says_what_was_not_kept_beside_it(results, in_the_way, missing):
    """As its directory does, which is no whole run's then."""
    kept, logs = made_up(), results / "logs of the run"
    found = publishing.Results(options(keep_logs=True), kept)
    logs.mkdir()
    (logs / "select").touch()
    blocked = found.directory / in_the_way
    blocked.touch() if in_the_way == "logs" else blocked.mkdir()
    found.publish(logs)
    told = report.load(results / "2026-11-21-2-core-ext4-abc-partial")
    assert not told["whole"] and told["errors"] == kept["errors"] and told["errors"][-1].startswith(missing)


def test_what_was_published_before_records_said_it_is_whole_by_its_plan():
    before = json.loads((REPOSITORY / "bench/results/2026-11-27-2-core-ext4/results.json").read_text())
    assert "whole" not in before and readme.unfit(before) == []
    cells = before["cells"]
    for part in ({"cells": cells[1:]}, {"cells": [{**cell, "seconds": 1} for cell in cells]}, {"idle": []}, {"costs": []},
                 {"cells": [{**cell, "repeats": 1} for cell in cells]}, {"cells": [{**cell, "systems": ["walpool"]} for cell in cells]}):
        assert readme.unfit({**before, **part}) == ["it has measured a part of the plan, or other runs than are planned"]


def test_a_directory_that_has_results_is_refused_before_anything_is_measured(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.json").write_text("{}")
    with Bench(tmp_path, *SMALL) as bench:
        status, said = bench.end()
    assert status == 1 and "has results already, which would be lost" in said and "select-8" not in said
    assert (tmp_path / "out" / "results.json").read_text() == "{}"


@pytest.mark.parametrize("place", ["a file", "below a file"])
def test_a_place_that_cannot_be_written_is_refused_before_anything_is_measured(tmp_path, place):
    file = tmp_path / "file"
    file.touch()
    with Bench(tmp_path, *SMALL, "--out", str(file if place == "a file" else file / "out")) as bench:
        status, said = bench.end()
    assert status == 1 and said.startswith(f"run: the results cannot be kept in {file}") and len(said.splitlines()) == 1


def test_a_report_that_cannot_be_kept_is_printed(results, capsys):
    kept = made_up()
    found = publishing.Results(options(out=results / "out"), kept)
    (results / "out" / "results.json.new").mkdir()
    found.publish(results / "no logs")
    assert "## Goals" in capsys.readouterr().out and "not everything was kept" in kept["errors"][-1]


def test_a_run_without_figures_leaves_nothing(results):
    empty = made_up()
    empty["runs"], empty["costs"] = [], []
    assert published(results, empty) == []


# The end


@pytest.fixture
def base():
    """pytest's own directory is too long for the sockets in it."""
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        yield Path(directory)


def test_a_run_that_is_killed_has_kept_its_repetitions_and_leaves_no_process(tmp_path):
    with Bench(tmp_path, *SMALL, "--repeat", "50") as bench:
        eventually(lambda: (bench.out / "results.json").exists() and len(bench.results()["runs"]) > 1, "two repetitions", 60)
        eventually(lambda: any("--host" in command for command in bench.processes().values()), "the load", 60)
        bench.process.kill()
        bench.end()
        eventually(lambda: not bench.processes() and not any(bench.directory.iterdir()), "an empty directory", 60)
        kept = bench.results()
    assert not kept["complete"] and kept["summary"][0]["systems"]["walpool"]["throughput_per_s"]["values"]


def started(directory, *command, **options):
    """By a benchmark whose directory it is."""
    with leftovers.marked(directory):
        return subprocess.Popen(command, **options)


def test_what_nobody_waited_for_is_cleared_by_the_next(base, monkeypatch, capfd):
    """Both were killed, the benchmark and the one that watches over it."""
    monkeypatch.setenv("WALPOOL_BENCH_DIR", str(base))
    left = base / "job-left"
    left.mkdir()
    ours = [started(left, "sleep", "60", cwd=base), started(left, sys.executable, "-c", "import time; time.sleep(60)", left / "x.db")]
    with tools.work_directory() as directory:
        assert [process.wait(10) for process in ours] == [-signal.SIGKILL] * 2 and not left.exists()
        assert f"{left} was left behind" in capfd.readouterr().err
        # One that lives is left alone.
        with tools.work_directory() as other:
            assert directory.exists() and other != directory
    assert not any(base.iterdir()) and not processes_naming(base)


def test_whoever_only_looks_at_it_is_left_alone(base):
    """A shell in it, a tail of its log, and what another benchmark has started."""
    left, other = base / "job-left", base / "job-left2"
    left.mkdir()
    (left / "log").touch()
    looking = [subprocess.Popen(["sleep", "60"], cwd=left), subprocess.Popen(["tail", "-f", left / "log"])]
    bystanders = [*looking, started(other, "sleep", "60")]
    try:
        leftovers.clear(left)
        assert not left.exists() and [process.poll() for process in bystanders] == [None] * 3
    finally:
        for process in bystanders:
            process.kill()
            process.wait()


def test_a_child_that_has_lost_the_mark_goes_with_its_parent(base):
    """As PostgreSQL's do, which write their titles over it."""
    left = base / "job-left"
    left.mkdir()
    parent = started(left, "sh", "-c", f"env -u {leftovers.VARIABLE} sleep 60 & echo $!; wait", stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    # It is the shell's copy, with its environment, until env has become the sleep.
    eventually(lambda: Path(f"/proc/{child}/comm").read_text() == "sleep\n", "the child")
    leftovers.clear(left)
    assert parent.wait(10) == -signal.SIGKILL and leftovers._stat(child) is None
    parent.stdout.close()


NOBODY = 65534


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts servers as somebody else")
@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv, of util-linux")
def test_servers_of_another_user_go_where_root_may_not_see_their_environment(base):
    """As in most containers. They name what is theirs, or in a directory of theirs. Who looks at what is root's is left alone."""
    left = base / "job-left"
    (left / "pooler").mkdir(parents=True)
    base.chmod(0o711)
    data, settings, log = left / "data", left / "pooler" / "settings", left / "log"
    for path in (data, settings, log):
        path.touch()
    for path in (data, settings.parent):
        os.chown(path, NOBODY, NOBODY)
    nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    servers = [started(left, "tail", "-f", path, **nobody) for path in (data, settings)]
    looking = subprocess.Popen(["tail", "-f", log], **nobody)
    try:
        subprocess.run(["setpriv", "--bounding-set", "-sys_ptrace,-perfmon,-sys_admin", sys.executable, "-B", leftovers.__file__, left],
                       check=True, timeout=60)
        assert [server.wait(10) for server in servers] == [-signal.SIGKILL] * 2 and not left.exists() and looking.poll() is None
    finally:
        for process in (*servers, looking):
            process.kill()
            process.wait()


def test_what_a_run_starts_has_the_mark(base, monkeypatch):
    monkeypatch.setenv("WALPOOL_BENCH_DIR", str(base))
    with tools.work_directory() as directory:
        process = tools.start(["sleep", "60"])
        # Not the one that watches over it, which is to outlive the others.
        eventually(lambda: set(leftovers.processes(directory)) == {process.pid}, "the mark")
        tools.end(process)
    assert leftovers.VARIABLE not in os.environ


# Of a machine that has nothing yet, on which apt-get takes until it is told to go on.
FAKES = {"dpkg-query": "exit 1", "sudo": '[ "$1" = -n ] && shift; exec "$@"',
         "apt-get": 'touch "$PLACE/begun"; until [ -e "$PLACE/go" ]; do sleep 0.1; done; echo unpacked; touch "$PLACE/done"'}
INSTALLING = {
    "for itself": "tools.PACKAGES['sqlite3'] = Path('/nowhere'); tools.ensure_packages('sqlite3')",
    "for what it builds": "programs.RELEASE = Path('/nowhere'); programs.Programs({'walpool'}).build()"}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("why", INSTALLING)
def test_packages_that_are_being_installed_are_installed_to_the_end(tmp_path, base, why, number):
    """Whatever becomes of the run that needs them: half a package is the machine's trouble."""
    for name, text in FAKES.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    script = ("from pathlib import Path; from support import programs, tools\ndef main():\n"
              f"    with tools.work_directory():\n        {INSTALLING[why]}\ntools.run_main(main)")
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PLACE": tmp_path, "WALPOOL_BENCH_DIR": base}
    environment.pop("WALPOOLD", None)
    run = subprocess.Popen([sys.executable, "-B", "-c", script], cwd=REPOSITORY / "bench", env=environment)
    eventually((tmp_path / "begun").exists, "apt-get")
    run.send_signal(number)
    if number == signal.SIGKILL:
        run.wait(60)
        eventually(lambda: not any(base.iterdir()), "an empty directory", 60)
    else:
        # Time enough to end what it waits for, if it did.
        with pytest.raises(subprocess.TimeoutExpired):
            run.wait(0.6)
    (tmp_path / "go").touch()
    eventually((tmp_path / "done").exists, "its end")
    assert run.wait(60) != 0
    eventually(lambda: not any(base.iterdir()), "an empty directory", 60)


def test_a_directory_is_deserted_once_its_process_has_ended(tmp_path):
    with leftovers.watched(tmp_path) as directory:
        assert not leftovers.is_deserted(directory) and leftovers.found(tmp_path) == []
        [watcher] = eventually(lambda: processes_naming(directory), "the one that watches over it")
        assert Path(f"/proc/{watcher}/cmdline").read_bytes().endswith(os.fsencode(directory) + b"\0")
