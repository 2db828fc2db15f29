"""bench/compare: what has changed between two records, and what is only noise."""

import copy
import json
import subprocess

from bench_report_fixtures import a_record, BENCH, made_up, row, slower  # noqa: F401 (a fixture)
from support import changes


def compared(old, new, tmp_path):
    paths = []
    for name, each in (("old", old), ("new", new)):
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(each))
    done = subprocess.run([BENCH / "compare", *paths], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_the_same_twice_has_not_changed(a_record, tmp_path):
    status, text = compared(a_record, a_record, tmp_path)
    assert status == 0
    assert " 0 worse, 0 better" in text


def test_a_fifth_slower_is_found(a_record, tmp_path):
    status, text = compared(a_record, made_up(slower("insert-8", "walpool", 0.8)), tmp_path)
    assert status == 1
    assert row(text, "insert-8", "walpool", "throughput") == [
        "2.00 × postgres", "1.60 × postgres", "0.800", "±11%", "**worse**"]
    assert " 1 worse, 0 better" in text


def test_faster_is_no_failure(a_record, tmp_path):
    status, text = compared(a_record, made_up(slower("insert-8", "walpool", 1.3)), tmp_path)
    assert (status, " 0 worse, 1 better" in text) == (0, True)


def test_a_slower_machine_is_slower_for_all(a_record, tmp_path):
    """Ratios within one repetition stay."""
    def change(run):
        if run["cell"].startswith("insert"):
            run["throughput_per_s"] *= 0.7
            run["server_cpu_us"] /= 0.7
    status, text = compared(a_record, made_up(change), tmp_path)
    assert status == 0
    assert "others' throughput" in text


def test_less_than_the_noise_is_not_found(a_record, tmp_path):
    status, text = compared(a_record, made_up(slower("insert-8", "walpool", 0.95)), tmp_path)
    assert (status, " 0 worse, 0 better" in text) == (0, True)


def test_what_fails_now_is_worse(a_record, tmp_path):
    def fails(run):
        if run["cell"] == "select-8" and run["system"] == "walpool":
            run["errors"].append("it broke")
    status, text = compared(a_record, made_up(fails), tmp_path)
    assert (status, "failed: select-8, walpool" in text) == (1, True)


def test_what_does_nothing_now_is_worse(a_record, tmp_path):
    """Transactions that all end in an error that is only counted are no error of the run."""
    status, text = compared(a_record, made_up(slower("select-8", "walpool", 0)), tmp_path)
    assert (status, "failed: select-8, walpool: 3 of 3 runs, before 0 of 3" in text) == (1, True)


def test_other_conditions_are_said_first(a_record, tmp_path):
    other = copy.deepcopy(a_record)
    other["machine"]["cpu"], other["systems"]["postgres"]["settings"]["version"] = "B", "2"
    _, text = compared(a_record, other, tmp_path)
    assert text.splitlines()[:3] == ["commit: abc -> abc", "machine: cpu: A -> B", "postgres: version: 1 -> 2"]


def test_what_is_no_record_is_refused(a_record, tmp_path):
    status, text = compared({"format": 1}, a_record, tmp_path)
    assert (status, "format 1" in text) == (2, True)


def test_one_repetition_is_not_trusted():
    """With a single value each, nothing is known of the noise."""
    runs = [{"cell": "a", "system": "walpool", "repetition": 1, "throughput_per_s": throughput, "latency_us": {},
             "server_cpu_us": None, "errors": []} for throughput in (100.0, 60.0, 40.0)]
    found = [changes.compare({"runs": [runs[0]]}, {"runs": [run]})[0].is_worse for run in runs]
    assert found == [False, False, True]


def ours(run, factor):
    if run["system"].startswith("walpool"):
        run["throughput_per_s"] *= factor


def test_a_little_slower_everywhere_is_found(a_record, tmp_path):
    """In no cell is it beyond its noise; that all of them are on one side is no chance."""
    status, text = compared(a_record, made_up(lambda run: ours(run, 0.93)), tmp_path)
    assert " 0 worse, 0 better" in text and "throughput of ours: 0.930 of what it was" in text
    assert status == 1
    status, text = compared(a_record, made_up(lambda run: ours(run, 1.07)), tmp_path)
    assert "throughput of ours: 1.070" in text and status == 0


def noisy(run, cell, factor=1.0):
    """One cell that moves by a third between its repetitions, which the others do not."""
    if run["cell"] == cell:
        ours(run, factor * (1.0, 0.8, 1.3)[run["repetition"] - 1])


def test_the_noise_of_one_cell_is_not_that_of_another(tmp_path):
    old = made_up(lambda run: noisy(run, "insert-64"))
    status, text = compared(old, made_up(lambda run: (noisy(run, "insert-64"), slower("insert-8", "walpool", 0.85)(run))), tmp_path)
    assert " 1 worse, 0 better" in text and status == 1
    _, text = compared(old, made_up(lambda run: noisy(run, "insert-64", 0.85)), tmp_path)
    assert " 0 worse, 0 better" in text


def test_every_class_and_the_longest_waits_are_compared(tmp_path):
    def with_readers(run, factor=1.0):
        if run["cell"] == "worst-wait-82":
            readers = copy.deepcopy(run["classes"]["writers"])
            readers["throughput_per_s"] *= factor if run["system"] == "walpool" else 1
            readers["worst_us"] /= factor if run["system"] == "walpool" else 1
            run["classes"]["readers"] = readers

    status, text = compared(made_up(with_readers), made_up(lambda run: with_readers(run, 0.1)), tmp_path)
    assert row(text, "worst-wait-82, readers", "walpool", "throughput")[2:3] == ["0.100"]
    assert row(text, "worst-wait-82, readers", "walpool", "longest wait")[:3] == ["50,000 µs", "500,000 µs", "10.000"]
    assert " 2 worse, 0 better" in text and status == 1


def test_costs_and_idle_sessions_are_compared(a_record, tmp_path):
    other = copy.deepcopy(a_record)
    other["costs"][0]["syscalls_per_statement"] *= 2
    other["idle"][0]["bytes_per_session"] *= 1.5
    status, text = compared(a_record, other, tmp_path)
    assert row(text, "select-8", "walpool", "system calls")[-1] == "**worse**"
    assert row(text, "1000 idle sessions", "walpool", "idle session")[-1] == "**worse**" and status == 1


def test_a_yardstick_that_is_gone_hides_nothing(a_record, tmp_path):
    """Then the next that both have, or the plain figures; and it is said."""
    def change(run):
        slower("insert-8", "walpool", 0.5)(run)
        if run["cell"] == "insert-8" and run["system"] in ("postgres", "direct"):
            run["errors"].append("hangs")

    status, text = compared(a_record, made_up(change), tmp_path)
    assert row(text, "insert-8", "walpool", "throughput")[:3] == ["10,000/s", "5,000/s", "0.500"]
    assert "no figure in the new one: insert-8 (direct), insert-8 (postgres)" in text and status == 1

    alone = copy.deepcopy(a_record)
    alone["runs"] = [run for run in alone["runs"] if run["system"] == "walpool"]
    status, text = compared(a_record, alone, tmp_path)
    assert " 0 worse, 0 better" in text and status == 0


def test_a_goal_that_is_missed_now_and_runs_that_fail_now(a_record, tmp_path):
    other = copy.deepcopy(a_record)
    goal = next(goal for goal in other["goals"] if goal["met"])
    goal["met"] = False
    status, text = compared(a_record, other, tmp_path)
    assert "met -> missed" in text and status == 1

    def fails(run):
        if run["cell"] == "select-8" and run["system"] == "walpool" and run["repetition"] > 1:
            run["errors"].append("it broke")
    status, text = compared(a_record, made_up(fails), tmp_path)
    assert "failed: select-8, walpool: 2 of 3 runs, before 0 of 3" in text and status == 1


def test_an_interrupted_record_is_said_to_be_one(a_record, tmp_path):
    other = copy.deepcopy(a_record)
    other["complete"], other["errors"] = False, ["interrupted: the figures are incomplete"]
    _, text = compared(a_record, other, tmp_path)
    assert "the new one is incomplete: interrupted" in text
