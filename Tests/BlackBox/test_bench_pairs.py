"""Two programs in one run: bench/run --old, and what bench/compare makes of it."""

import argparse
import copy
import json
import math
import random
import subprocess

import pytest

from bench_fixtures import Bench
from bench_report_fixtures import BENCH, NOISE, made_up, row
from daemon import binary
from support import changes, figures, plan, record, report
from support.systems import OLD


def with_old(factor=1.0, cell="insert-8", noise=0.0, repetitions=4):
    """Walpool does `factor` of what the old program does in that cell. The machine is up to twice as fast in one repetition as in
    the other, for both."""
    draw = random.Random(1)
    made = made_up(repetitions=repetitions)
    made["systems"][OLD] = copy.deepcopy(made["systems"]["walpool"])
    ours = [run for run in made["runs"] if run["system"] == "walpool"]
    for run in ours:
        speed = draw.uniform(1, 2)
        old = {**copy.deepcopy(run), "system": OLD}
        for each in (run, old):
            faster = speed * math.exp(draw.gauss(0, noise)) * (factor if each is run and run["cell"] == cell else 1.0)
            for figures_of in (each, *each["classes"].values()):
                figures_of["throughput_per_s"] *= faster
                figures_of["latency_us"] = {name: value / faster for name, value in figures_of["latency_us"].items()}
            each["server_cpu_us"] /= faster
        made["runs"].append(old)
    record.complete(made)
    return made


def compared(made, tmp_path):
    (tmp_path / "results.json").write_text(record.dumped(made))
    done = subprocess.run([BENCH / "compare", tmp_path], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_the_old_program_is_a_neighbour_in_every_turn():
    options = argparse.Namespace(only=["insert", "tpcb"], sections=None, systems=["walpool", "walpool-pipelined", "postgres"], clients=[8],
                                 seconds=None, repeat=None, quick=False, old="walpoold")
    for cell in plan.cells(options):
        systems = cell.systems
        assert ("walpool" in systems) == (OLD in systems)
        assert OLD not in systems or abs(systems.index(OLD) - systems.index("walpool")) == 1
    options.old = None
    assert not any(OLD in cell.systems for cell in plan.cells(options))


def test_a_tenth_less_is_found_whatever_the_machine_did(tmp_path):
    """Between two records the same would be within noise."""
    status, text = compared(with_old(0.9, noise=0.01), tmp_path)
    assert row(text, "insert-8", "walpool", "throughput")[:3] == [f"1.00 × {OLD}", "0.905 × old-walpool", "0.905"]
    assert status == 1 and "goal" not in text.partition("What could be seen")[0]


def test_programs_that_do_not_differ_are_seldom_said_to(tmp_path):
    status, text = compared(with_old(noise=0.03), tmp_path)
    assert " 0 worse, 0 better" in text and status == 0


def test_every_figure_is_of_one_repetition():
    found = figures.of_pairs(with_old(0.5))
    assert found["insert-8", "walpool", "throughput", f"× {OLD}"] == pytest.approx([0.5] * 4)
    assert found["insert-8", "walpool", "fairness", f"× {OLD}"] == found["insert-8", "walpool", "longest wait", f"× {OLD}"] == [1.0] * 4
    assert {key[1] for key in found} == {"walpool"} and {key[3] for key in found} == {f"× {OLD}"}
    assert {key[2] for key in found} == {"throughput", "p99", "longest wait", "fairness", "server CPU"}


def of_the_new(made, cell, **changed):
    for run in made["runs"]:
        if (run["cell"], run["system"]) == (cell, "walpool"):
            for figures_of in (run, *run["classes"].values()):
                figures_of.update(changed)
    return made


def test_a_client_that_starves_is_found(tmp_path):
    """Its neighbours have its share, so that throughput is what it was."""
    status, text = compared(of_the_new(with_old(noise=0.01), "insert-8", fewest=0, most=114), tmp_path)
    old, *_, word = row(text, "insert-8", "walpool", "fairness")
    assert (old, word) == (f"1.00 × {OLD}", "**worse**")
    assert " 1 worse, 0 better" in text and status == 1


def test_longest_waits_count_where_they_are_no_single_waits(tmp_path):
    for wait, repetitions, expected in ((500_000, 4, (1, "**worse**")), (500_000, 3, (0, "longer")), (200_000, 4, (0, "longer"))):
        made = with_old(noise=0.01, repetitions=repetitions)
        for run in of_the_new(made, "insert-8", worst_us=wait)["runs"]:
            run["worst_us"] *= NOISE[run["repetition"] - 1]
            run["worst_us"] *= NOISE[-run["repetition"]] if run["system"] == OLD else 1
        status, text = compared(made, tmp_path)
        assert (status, row(text, "insert-8", "walpool", "longest wait")[-1]) == expected


def test_what_has_no_pair_is_said(tmp_path):
    """It was measured of the new program only, or the old one failed."""
    made = with_old()
    for run in made["runs"]:
        if (run["cell"], run["system"]) == ("select-8", OLD):
            run["errors"].append("it broke")
    status, text = compared(made, tmp_path)
    assert "\nnot compared, because the old program has no figure of it: system calls, idle session, walpool-pipelined, select-8\n" in text
    made["costs"], made["idle"] = [], []
    made["runs"] = [run for run in made["runs"] if run["system"] != "walpool-pipelined" and run["cell"] != "select-8"]
    status, text = compared(made, tmp_path)
    assert "not compared" not in text and status == 0


def test_half_of_the_chance_of_two_records_is_enough_for_a_pair():
    """The old one's noise is in the ratio, and only there."""
    [change] = [each for each in changes.compare_pairs(with_old(0.9, noise=0.01)).changes
                if (each.cell, each.metric) == ("insert-8", "throughput")]
    assert change.measured == [change.new] and change.would_be_worse(0.8) and not change.would_be_worse(0.99)


def test_what_fails_of_the_new_program_is_worse(tmp_path):
    made = with_old()
    for run in made["runs"]:
        if (run["cell"], run["system"], run["repetition"]) == ("select-8", "walpool", 1):
            run["errors"].append("it broke")
    made["systems"][OLD]["settings"]["version"] = "0"
    made["programs"] = {"old walpoold": {"path": "a", "sha256": "0a" * 32}, "walpoold": {"path": "b", "sha256": "0b" * 32}}
    status, text = compared(made, tmp_path)
    assert f"walpoold: SHA-256 {'0a' * 6} -> {'0b' * 6}\nwalpool: version: 0 -> 1\n" in text
    assert "failed: select-8, walpool: 1 of 4 runs, before 0 of 4" in text and status == 1


def test_what_fails_of_both_programs_is_said(tmp_path):
    """Nobody has got worse by it, but nobody has been compared either."""
    made = with_old()
    ours = [run for run in made["runs"] if run["cell"] == "select-8" and run["system"] in ("walpool", OLD)]
    for run in ours:
        run["errors"].append("it broke")
    status, text = compared(made, tmp_path)
    assert "\nfailed in both: select-8 (walpool)\n" in text and "select-8" not in text.partition("failed in both")[0] and status == 0
    ours[-1]["errors"].clear()
    assert "failed in both" not in compared(made, tmp_path)[1]


def test_a_record_of_one_program_is_refused(tmp_path):
    status, text = compared(made_up(), tmp_path)
    assert status == 2 and "bench/run --old PROGRAM" in text and len(text.splitlines()) == 1


def test_it_is_no_other_system_in_the_report():
    text = report.markdown(json.loads(record.dumped(with_old(0.9))))
    assert "Where Walpool does less" not in text


@pytest.mark.optimised
def test_two_programs_in_one_run(tmp_path):
    with Bench(tmp_path, "--only", "select", "--sections", "memory", "--systems", "walpool", "--seconds", "1", "--repeat", "2",
               "--old", str(binary())) as bench:
        status, said = bench.end()
        assert status == 0, said
        kept = bench.results()
    assert [run["system"] for run in kept["runs"]] == [OLD, "walpool", "walpool", OLD]
    assert kept["programs"]["old walpoold"] == kept["programs"]["walpoold"]
    done = subprocess.run([BENCH / "compare", "--all", bench.out], capture_output=True, text=True)
    assert "walpoold: the same program" in done.stdout
    assert row(done.stdout, "select-8-scale1", "walpool", "throughput")[0] == f"1.00 × {OLD}", done.stderr
