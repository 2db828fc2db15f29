"""Where bench/run leaves what it has measured, and what it leaves behind when it is killed."""

import argparse
import json
import os
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


def test_what_nobody_waited_for_is_cleared_by_the_next(base, monkeypatch, capfd):
    """Both were killed, the benchmark and the one that watches over it."""
    monkeypatch.setenv("WALPOOL_BENCH_DIR", str(base))
    left = base / "job-left"
    left.mkdir()
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", left / "x.db"])
    elsewhere = subprocess.Popen(["sleep", "60"], cwd=left)
    with tools.work_directory() as directory:
        assert (sleeper.wait(10), elsewhere.wait(10)) == (-signal.SIGKILL, -signal.SIGKILL) and not left.exists()
        assert f"{left} was left behind" in capfd.readouterr().err
        # One that lives is left alone.
        with tools.work_directory() as other:
            assert directory.exists() and other != directory
    assert not any(base.iterdir()) and not processes_naming(base)


def test_a_directory_is_deserted_once_its_process_has_ended(tmp_path):
    with leftovers.watched(tmp_path) as directory:
        assert not leftovers.is_deserted(directory) and leftovers.found(tmp_path) == []
        [watcher] = processes_naming(directory)
        assert Path(f"/proc/{watcher}/cmdline").read_bytes().endswith(os.fsencode(directory) + b"\0")
