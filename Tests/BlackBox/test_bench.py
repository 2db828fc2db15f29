"""bench/run: what it plans, how it counts, and that it leaves nothing behind."""

import argparse
import contextlib
import math
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bench_fixtures import Bench, processes_naming
from daemon import REPOSITORY, eventually

sys.path.insert(0, str(REPOSITORY / "bench"))
from support import costs, generator, goals, machine, measuring, plan, record, scenarios, settling, tools, worlds  # noqa: E402
from support.cells import LONGEST_QUICK_RUN, LONGEST_RUN, ROWS  # noqa: E402
from support.systems import SYSTEMS  # noqa: E402

WORKLOADS = REPOSITORY / "bench" / "workloads"


def options(**given):
    names = ("only", "sections", "systems", "clients", "seconds", "repeat")
    return argparse.Namespace(**{**dict.fromkeys(names), "quick": False, **given})


def test_any_thread_may_start_processes():
    """As bench/micro does: only the main thread may set handlers of signals."""
    with ThreadPoolExecutor(1) as pool:
        process = pool.submit(tools.start, ["sleep", "60"]).result()
        assert process.poll() is None and os.getsid(process.pid) == process.pid
        pool.submit(tools.end, process).result()
    assert process.poll() is not None


@pytest.mark.parametrize("quick, longest", [(False, LONGEST_RUN), (True, LONGEST_QUICK_RUN)])
def test_the_plan_fits_into_its_time(quick, longest):
    cells = plan.cells(options(quick=quick))
    assert 0 < sum(plan.expected(cells, quick).values()) < longest
    assert len({cell.id for cell in cells}) == len(cells)


@pytest.mark.parametrize("quick, line", [(False, "bench/run  "), (True, "bench/run --quick")])
def test_the_manual_says_how_long_it_takes(quick, line):
    text = next(text for text in (REPOSITORY / "bench" / "README.md").read_text().splitlines() if text.strip().startswith(line))
    minutes = sum(plan.expected(plan.cells(options(quick=quick)), quick).values()) / 60
    assert int(re.search(r"(\d+) minutes from a clean clone", text)[1]) == math.ceil(minutes)


def test_what_is_not_warmed_up_is_not_said_to_be():
    warm_ups = {cell.driver: cell.described()["warm_up"] for cell in plan.cells(options(only=["insert"], clients=[8]))}
    assert warm_ups == {"walpool-load": 0.75, "pgbench": 0}


def test_the_plan_names_only_what_there_is():
    for row in ROWS:
        assert set(row.systems) <= set(SYSTEMS), row
        if row.driver == "pgbench":
            assert (WORKLOADS / f"{row.workload}.sql").exists(), row
            continue
        classes = [each["name"] for each in tomllib.loads(generator.path_of(row).read_text())["class"]]
        named = [part.partition("=")[0] for part in row.classes.split(",")] if row.classes else []
        assert set(named) <= set(classes), row
        assert named or len(classes) == 1 or row.clients, row


def test_every_goal_is_planned():
    cells = {cell.id: cell for cell in plan.cells(options())}
    for goal in goals.GOALS:
        cell = cells[goal.cell]
        needed = (*goal.systems, goal.other) if isinstance(goal, goals.Ratio) else (goal.system, goal.beside)
        assert set(needed) <= set(cell.systems), goal


def a_run(cell, system, repetition, throughput, worst=1000, errors=()):
    run = record.new_run(cell, system, repetition, 1)
    figures = {"throughput_per_s": throughput, "transactions": 9999, "worst_us": worst, "fewest": 1, "most": 2, "fairness": 0.5,
               "latency_us": dict.fromkeys(record.PERCENTILES, 100)}
    return {**run, **figures, "errors": list(errors),
            "classes": {"writers": {**figures, "clients": 8, "errors": 0, "error_states": {}}}}


def summarised(name, runs):
    [cell] = [cell for cell in plan.cells(options()) if cell.id == name]
    return record.summarise(cell.described(), [a_run(cell, *run) for run in runs])


def test_a_ratio_is_of_one_repetition():
    """The medians' quotient would be 2: the machine was slower in the third repetition, for both."""
    summary = summarised("tpcb-8", [("walpool", 1, 300), ("postgres", 1, 100), ("walpool", 2, 200), ("postgres", 2, 100),
                                    ("walpool", 3, 120), ("postgres", 3, 40)])
    assert summary["ratios"]["walpool/postgres"]["median"] == 3
    assert summary["ratios"]["walpool/postgres"]["values"] == [3, 2, 3]
    assert summary["systems"]["walpool"]["throughput_per_s"]["median"] == 200


def test_a_run_with_an_error_is_no_figure():
    summary = summarised("tpcb-8", [("walpool", 1, 300), ("postgres", 1, 100, 1, ["it broke"]),
                                    ("walpool", 2, 200), ("postgres", 2, 100)])
    assert summary["ratios"]["walpool/postgres"]["values"] == [2]
    assert summary["systems"]["postgres"]["failed"] == 1
    assert summary["systems"]["postgres"]["throughput_per_s"]["values"] == [100]


def test_who_did_nothing_is_in_the_ratio():
    """All of its transactions ended in an error that is only counted. Nothing is a multiple of nothing."""
    summary = summarised("tpcb-8", [("walpool", 1, 0), ("postgres", 1, 100), ("walpool", 2, 200), ("postgres", 2, 100),
                                    ("walpool", 3, 200), ("postgres", 3, 0)])
    assert summary["ratios"]["walpool/postgres"]["values"] == [0, 2]


def goal_of(name, runs):
    [cell] = [judged for judged in goals.judge([summarised(name, runs)]) if judged["cell"] == name]
    return cell


def test_a_goal_counts_the_best_mode_and_a_failure_misses_it():
    runs = [("walpool", 1, 80), ("walpool-pipelined", 1, 170), ("postgres", 1, 100)]
    judged = goal_of("tpcb-64", runs)
    assert judged["met"] and judged["best"] == "walpool-pipelined" and judged["measured"]["median"] == 1.7
    assert goal_of("tpcb-64", runs[:1] + runs[2:])["met"] is False
    assert goal_of("tpcb-64", [(*run, 1, ["it broke"]) for run in runs])["met"] is False
    assert goal_of("tpcb-64", runs[:2])["met"] is None      # the other was left out: nobody asked


def test_a_goal_is_missed_if_one_of_its_runs_failed():
    """The survivors' median would have met it. A mode that did not fail comes first, and the other's failure is not ours."""
    runs = [("walpool", 1, 500), ("postgres", 1, 100), ("walpool", 2, 500, 1, ["rows were lost"]), ("postgres", 2, 100)]
    judged = goal_of("insert-8", runs)
    assert judged["met"] is False and judged["measured"]["median"] == 5 and judged["failed"] == 1
    assert goals.verdict(judged) == "missed, 1 run failed" and not goals.is_within_noise(judged)
    modes = goal_of("tpcb-64", [*runs, ("walpool-pipelined", 1, 170), ("walpool-pipelined", 2, 170)])
    assert modes["met"] and modes["best"] == "walpool-pipelined" and modes["failed"] == 0
    other = [("walpool", 1, 500), ("walpool", 2, 500), ("postgres", 1, 100), ("postgres", 2, 100, 1, ["it broke"])]
    assert goal_of("insert-8", other)["met"]
    waits = [("walpool", 1, 9, 30_000), ("walpool", 2, 9, 30_000, ["it broke"])]
    assert goal_of("worst-wait-82", waits[:1])["met"] and goal_of("worst-wait-82", waits)["met"] is False


def test_a_wait_is_the_worst_of_all_repetitions():
    judged = goal_of("worst-wait-82", [("walpool", 1, 9, 30_000), ("walpool", 2, 9, 120_000), ("direct", 1, 9, 5_000_000)])
    assert judged["measured"] == 120 and judged["beside_measured"] == 5000 and judged["met"] is False


def test_a_starved_client_is_in_the_figures():
    """It never got its turn, so no transaction of its own says how long it waited."""
    told = {"name": "writers", "clients": 2, "loop": "closed", "throughput_per_s": 9.0, "transactions": 9, "rows": 9, "errors": 0,
            "error_states": {}, "latency_us": {**dict.fromkeys(record.PERCENTILES, 1), "max": 2000}, "unfinished_us": 9_000_000,
            "fewest": 0, "most": 9, "per_client": [9, 0]}
    of_class = generator.of_class(told, keep_all=True)
    assert of_class["worst_us"] == 9_000_000 and of_class["fairness"] == 0 and of_class["per_client"] == [9, 0]


@pytest.mark.parametrize("told, found", [('{"format": 2, "classes": []}', 2), ('{"classes": []}', None), ("[]", None)])
def test_a_generator_of_another_version_fails_its_run_in_words(tmp_path, told, found):
    """As $WALPOOL_LOAD may name one: its figures would be missing, or mean something else."""
    [cell] = plan.cells(options(only=["select"], clients=[8], sections=["memory"]))
    program = tmp_path / "walpool-load"
    program.write_text(f"#!/bin/sh\nwhile [ \"$1\" != --json ]; do shift; done; echo '{told}' > \"$2\"\n")
    program.chmod(0o755)
    system = argparse.Namespace(command=lambda *_: [program], environment={})
    with pytest.raises(generator.Failed, match=f"^walpool-load tells its result in format {found}, not {generator.FORMAT}: "):
        generator.run(system, cell, None, 1, tmp_path)
    with pytest.raises(generator.Failed, match="left no result"):
        program.write_text("#!/bin/sh\n")
        generator.run(system, cell, None, 1, tmp_path)


def test_what_is_no_failure_is_only_counted():
    told = {"classes": [{"name": "writers", "transactions": 9, "loop": "closed", "errors": 3, "unfinished_us": 0,
                         "error_states": {"SQLITE_BUSY": 2, "40001": 1}, "late_error_states": {"SQLITE_BUSY": 1}, "warm_up_error_states": {}}],
            "complaints": ["database is locked"]}
    assert measuring.failures(told) == []
    told["classes"][0]["error_states"]["57014"] = 1
    assert measuring.failures(told) == ["1 times 57014", "database is locked"]
    # Whether it happened before the end or after it.
    told["classes"][0]["late_error_states"]["57014"] = 2
    assert measuring.failures(told) == ["3 times 57014", "database is locked"]
    told["classes"][0]["warm_up_error_states"]["57014"] = 4
    assert measuring.failures(told) == ["7 times 57014", "database is locked"]
    # Who reads slowly on purpose is ended when the WAL must be emptied.
    told["classes"][0]["name"] = "slow"
    assert measuring.failures(told) == []


def test_only_so_many_clients():
    """Also of the workloads with several classes, whose clients count together."""
    assert {cell.clients for cell in plan.cells(options(clients=[8, 82]))} == {8, 82}
    assert {cell.workload for cell in plan.cells(options(clients=[82]))} == {"worst-wait"}


@pytest.mark.parametrize("workload, embedded, notes, missing", [
    ("starve-vacuum", False, {"vacuum": "done"}, None),
    ("starve-vacuum", False, {"vacuum": "failed: no VACUUM in the log"}, "VACUUM failed: no VACUUM in the log"),
    ("starve-vacuum", True, {}, "VACUUM did not end"),
    ("starve-outsider", False, {"outsider_locks": 1}, None),
    ("starve-outsider", False, {"outsider_locks": 0, "outsider_gave_up": 1}, "the outsider never had the lock"),
    ("starve-outsider", True, {"outsider_locks": 0, "outsider_gave_up": 1}, None),
    ("insert", False, {}, None),
])
def test_a_scenario_that_did_not_take_place(workload, embedded, notes, missing):
    system = argparse.Namespace(**({"path": "x"} if embedded else {}))
    assert scenarios.omitted(argparse.Namespace(workload=workload), system, notes) == missing


def test_lost_clients_that_only_waited_fail_a_run():
    told = {"classes": [{"name": name, "transactions": transactions, "loop": "closed", "errors": len(states), "unfinished_us": 0,
                         "error_states": states, "late_error_states": {}, "warm_up_error_states": {}} for name, transactions, states in (("readers", 9, {}), ("idlers", 0, {"08006": 4}))],
            "complaints": ["08006: the server has closed the connection"]}
    assert measuring.failures(told) == ["4 times 08006", "08006: the server has closed the connection"]


def test_a_percentile_is_of_ten_transactions_at_least():
    """Of 9,999 there are 99 above the 99th, and 9 above the 99.9th."""
    latency = summarised("tpcb-8", [("walpool", 1, 300), ("walpool", 2, 300)])["systems"]["walpool"]["latency_us"]
    assert latency["p50"]["values"] == latency["p99"]["values"] == [100, 100] and latency["max"]["median"] == 100
    assert latency["p999"] is None and latency["p9999"] is None


def test_fewest_and_most_are_of_one_repetition():
    """In each everybody got as much as the others; the second was only slower."""
    runs = [a_run(plan.cells(options(only=["tpcb"]))[0], "walpool", number, 9) for number in (1, 2, 3)]
    for run, (fewest, most) in zip(runs, ((90, 100), (40, 45), (95, 100))):
        run.update(fewest=fewest, most=most, fairness=fewest / most)
    found = record.part(runs)
    assert (found["fewest"], found["most"]) == (40, 45) and found["fairness"]["least"] == 40 / 45
    # Where nobody got anything nobody got less than another.
    runs[2].update(fewest=0, most=0, fairness=None)
    assert (record.part(runs)["fewest"], record.part(runs[2:])["most"]) == (40, 0)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), sqlite3.OperationalError("disk I/O error")])
def test_a_disk_that_is_full_is_an_error_of_its_run(tmp_path, monkeypatch, error):
    """And the next one is made."""
    def full(*_, **__):
        raise error

    monkeypatch.setattr(machine, "sync_microseconds", full)
    [cell] = plan.cells(options(only=["select"], clients=[8], sections=["memory"], systems=["walpool"], repeat=1))
    world = argparse.Namespace(system=lambda _: argparse.Namespace(name="walpool", more=[], settings={}), broken=lambda *_: None,
                               settle=lambda _: None, syncs=lambda: None)
    kept = {"systems": {}, "runs": []}
    for repetition in (1, 2):
        measuring.measure(world, cell, repetition, None, tmp_path, kept, lambda _: None)
    assert [run["errors"] for run in kept["runs"]] == [[str(error)]] * 2


def test_starts_that_never_were_are_in_the_summary():
    parts = [{"clients": 1, "throughput_per_s": 9.0, "latency_us": dict.fromkeys(record.PERCENTILES), "fairness": None, "fewest": 9,
              "most": 9, "transactions": 9, "worst_us": 1, "errors": 0, "error_states": {}, **unmet}
             for unmet in ({"due": 20, "not_started": 11}, {"due": 20, "not_started": 0}, {})]
    assert {name: record.of_class(parts)[name] for name in ("due", "not_started")} == {"due": 40, "not_started": 11}


def test_cpu_time_is_that_of_the_measured_seconds():
    """The server worked hard while its clients connected, and then at half of a processor."""
    processor = measuring.Processor.__new__(measuring.Processor)
    # After the end a backend has gone, and what it had used with it.
    processor._samples = [(0, 0.0), (1, 1.0), (2, 1.5), (3, 2.0), (3.5, 0.1)]
    assert processor.seconds_between(1.0, 3.0) == pytest.approx(1.0)
    assert processor.seconds_between(0.5, 3.2) == pytest.approx(0.5 * 2.7)
    assert processor.seconds_between(2.5, 3.2) is None


def test_turns_and_rounds():
    """Walpool and who it is compared with are neighbours in every turn, and each of them is the first as often."""
    [cell] = plan.cells(options(only=["insert"], sections=["throughput"], clients=[8], systems=["direct", "walpool", "postgres"]))
    assert [measuring.in_turn(cell, number) for number in (1, 2)] == [
        ("direct", "walpool", "postgres"), ("postgres", "walpool", "direct")]
    for goal in goals.GOALS:
        [cell] = [cell for cell in plan.cells(options()) if cell.id == goal.cell]
        if isinstance(goal, goals.Ratio):
            places = [abs(cell.systems.index(system) - cell.systems.index(goal.other)) for system in goal.systems]
            assert places == [1] * len(places), goal
    two, three = (argparse.Namespace(id=number, repeats=number) for number in (2, 3))
    assert [(number, each.id) for number, each in measuring.rounds([two, three])] == [(1, 2), (1, 3), (2, 2), (2, 3), (3, 3)]


@pytest.mark.parametrize("row, statement", [
    (("t", "t", "t"), "VACUUM ANALYZE t"), (("t", "t", "f"), "VACUUM t"), (("t", "f", "t"), "ANALYZE t"), (("t", "f", "f"), None)])
def test_what_autovacuum_would_do(row, statement):
    assert settling.due(*row) == statement


class Asked:
    """PostgreSQL in the place of itself: what is due, and what was asked for."""

    def __init__(self, tables, checkpoint):
        self.tables, self.checkpoint, self.said = tables, checkpoint, []

    def connect(self, **_):
        return contextlib.nullcontext(self)

    def query(self, sql):
        self.said.append(sql)
        return [argparse.Namespace(rows=self.tables)]

    def value(self, sql):
        return self.checkpoint


def test_what_is_due_after_a_turn_is_done():
    """Not a checkpoint each time: it would cost the next turn something."""
    busy, idle = Asked([("a", "t", "f"), ("b", "f", "f")], "t"), Asked([("b", "f", "f")], "f")
    assert settling.settle(busy)["statements"] == busy.said[1:] == ["VACUUM a", "CHECKPOINT"]
    assert settling.settle(idle)["statements"] == [] and settling.settle(idle, checkpoint=True)["statements"] == ["CHECKPOINT"]


def test_a_turn_is_settled_where_postgresql_has_a_part_in_it():
    world = worlds.World.__new__(worlds.World)
    world._postgres, other = Asked([], "f"), object()
    world._systems = {name: argparse.Namespace(servers=lambda servers=servers: servers) for name, servers in (
        ("pgbouncer", [world._postgres, other]), ("postgres", [world._postgres]), ("walpool", [other]), ("direct", []))}
    assert [bool(world.settle(name)) for name in ("pgbouncer", "postgres", "walpool", "direct", "grdb")] == [
        True, True, False, False, False]


def test_a_program_is_named_by_what_it_is(tmp_path):
    (tmp_path / "program").write_bytes(b"abc")
    assert machine.program(tmp_path / "program") == {
        "path": str(tmp_path / "program"), "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}
    assert machine.program(REPOSITORY / "Makefile")["path"] == "Makefile"


def test_the_table_of_strace():
    assert costs.counted("""
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 93.53    0.084612          63      1343       267 futex
  3.55    0.003213           0      8205           pwrite64
------ ----------- ----------- --------- --------- ----------------
100.00    0.090463          10      9548       267 total
""") == {"futex": 1343, "pwrite64": 8205}


def test_a_small_run(tmp_path):
    with Bench(tmp_path, "--only", "select", "--sections", "memory", "--systems", "walpool,in-process", "--seconds", "1",
               "--repeat", "1") as bench:
        status, said = bench.end()
        assert status == 0, said
        kept, left = bench.results(), [*bench.directory.iterdir(), *bench.processes()]
    assert not left
    [cell] = kept["summary"]
    assert kept["complete"] and not kept["errors"] and cell["asked"] == ["walpool", "in-process"]
    assert all(part["throughput_per_s"]["median"] > 0 and not part["failed"] for part in cell["systems"].values())
    assert cell["ratios"]["walpool/in-process"]["median"] > 0
    assert cell["systems"]["walpool"]["server_cpu_us"]["median"] > 0
    assert {name: len(each["sha256"]) for name, each in kept["programs"].items()} == {"walpoold": 64, "walpool-load": 64}
    settings = {name: system["settings"] for name, system in kept["systems"].items()}
    assert settings["walpool"]["configuration"]["synchronous"] == "full" and "database" not in settings["walpool"]["configuration"]
    assert int(settings["walpool"]["mmap_size"]) > 0 and settings["in-process"]["mmap_size"] == "0"
    assert (settings["walpool"]["wal_autocheckpoint"], settings["in-process"]["wal_autocheckpoint"]) == ("0", "1000")
    assert "![" not in said         # --no-plots


@pytest.mark.parametrize("more", ["--synchronous normal", "--readers 2 --synchronous=normal", "--port 1"])
def test_a_mode_cannot_be_measured_under_the_name_of_another(tmp_path, more):
    with Bench(tmp_path, "--plan", "--walpool-options", more) as bench:
        status, said = bench.end()
    assert status == 2 and "itself (--systems chooses the modes)" in said


@pytest.mark.optimised
def test_a_server_that_dies_fails_its_run_and_is_started_anew(tmp_path):
    with Bench(tmp_path, "--only", "select", "--sections", "memory", "--systems", "walpool", "--seconds", "2",
               "--repeat", "2") as bench:
        eventually(lambda: any("--host" in command for command in bench.processes().values()), "the load", 60)
        [daemon] = [process for process, command in bench.processes().items() if "--socket-directory" in command]
        os.kill(daemon, signal.SIGKILL)
        status, said = bench.end()
        assert status == 1, said
        first, second = bench.results()["runs"]
    assert any("was ended by SIGKILL" in error for error in first["errors"])
    assert second["throughput_per_s"] > 0 and not second["errors"]


@pytest.mark.optimised
def test_ctrl_c_leaves_nothing_but_what_was_measured(tmp_path):
    with Bench(tmp_path, "--only", "insert", "--sections", "throughput", "--clients", "8", "--systems", "walpool,direct",
               "--seconds", "2", "--repeat", "50") as bench:
        eventually(lambda: any("--host" in command for command in bench.processes().values()), "the second load", 60)
        bench.process.send_signal(signal.SIGINT)
        status, said = bench.end()
        assert status == 130, said
        kept, left = bench.results(), [*bench.directory.iterdir(), *bench.processes()]
    assert not left
    assert not kept["complete"] and kept["runs"][0]["system"] == "direct"


def test_an_interrupt_while_a_process_starts_leaves_no_process(tmp_path):
    """Popen returns when the program runs, and has told nobody of its process before."""
    sleeper = [sys.executable, "-c", "import time; time.sleep(60)", tmp_path]
    with pytest.raises(KeyboardInterrupt):
        tools.start(sleeper, preexec_fn=lambda: os.kill(os.getppid(), signal.SIGINT))
    assert not processes_naming(tmp_path)


def test_processes_that_end_while_they_are_looked_at(monkeypatch):
    """What /proc has listed may be gone when it is read, and that ended a benchmark of forty minutes."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    monkeypatch.setattr(tools.os, "listdir", lambda path: [str(gone.pid), "self", str(os.getpid())])
    assert not tools.has_members(gone.pid)
    assert tools.has_members(os.getpgrp())
