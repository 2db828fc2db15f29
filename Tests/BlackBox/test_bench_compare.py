"""bench/compare: what has changed between two records, and what is only noise."""

import copy
import json
import os
import signal
import subprocess

from bench_report_fixtures import a_record, BENCH, made_up, NOISE, row, seen, slower  # noqa: F401 (a fixture)
from support import changes, changetable


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
        "2.00 × postgres", "1.60 × postgres", "0.800", "±17%", "**worse**"]
    assert " 1 worse, 0 better" in text


def test_faster_is_no_failure(a_record, tmp_path):
    status, text = compared(a_record, made_up(slower("insert-8", "walpool", 1.3)), tmp_path)
    assert (status, " 0 worse, 1 better" in text) == (0, True)


def test_a_slower_machine_is_slower_for_all(a_record, tmp_path):
    """Ratios within one repetition stay."""
    def change(run):
        run["throughput_per_s"] *= 0.7
        run["server_cpu_us"] /= 0.7
    status, text = compared(a_record, made_up(change), tmp_path)
    assert status == 0
    assert "The others' throughput, new / old: 0.700 in the median of " in text


def test_less_than_the_noise_is_not_found(a_record, tmp_path):
    status, text = compared(a_record, made_up(slower("insert-8", "walpool", 0.95)), tmp_path)
    assert (status, " 0 worse, 0 better" in text) == (0, True)


def test_what_fails_now_is_worse(a_record, tmp_path):
    def fails(run):
        if run["cell"] == "select-8" and run["system"] == "walpool":
            run["errors"].append("it broke")
    status, text = compared(a_record, made_up(fails), tmp_path)
    assert (status, "failed: select-8, walpool" in text) == (1, True)


def test_what_fails_in_both_is_said(tmp_path):
    """Or does nothing in one of them. It has got no worse, and nothing was compared."""
    def fails(run):
        if run["cell"] == "select-8" and run["system"] == "walpool":
            run["errors"].append("it broke")
    for new in (fails, slower("select-8", "walpool", 0)):
        status, text = compared(made_up(fails), made_up(new), tmp_path)
        assert "failed in both: select-8 (walpool)\n" in text and status == 0


def test_what_does_nothing_now_is_worse(a_record, tmp_path):
    """Transactions that all end in an error that is only counted are no error of the run."""
    status, text = compared(a_record, made_up(slower("select-8", "walpool", 0)), tmp_path)
    assert (status, "failed: select-8, walpool: 3 of 3 runs, before 0 of 3" in text) == (1, True)


def test_other_conditions_are_said_first(a_record, tmp_path):
    other = copy.deepcopy(a_record)
    other["machine"]["cpu"], other["systems"]["postgres"]["settings"]["version"] = "B", "2"
    _, text = compared(a_record, other, tmp_path)
    assert text.splitlines()[:3] == ["commit: abc -> abc", "machine: cpu: A -> B", "postgres: version: 1 -> 2"]


def test_another_machine_is_said_where_both_records_know_theirs(a_record, tmp_path):
    one, other = ({**a_record, "machine": {**a_record["machine"], "boot": boot}} for boot in ("0a", "0b"))
    assert "machine: boot: 0a -> 0b\n" in compared(one, other, tmp_path)[1]
    assert "boot" not in compared(a_record, other, tmp_path)[1]


def test_another_yardstick_is_said(a_record, tmp_path):
    """It is compiled, of what the daemon is made of, too."""
    one, other = ({**a_record, "programs": {"canned": {"path": "canned", "sha256": digit * 64}}} for digit in "ab")
    assert f"canned: SHA-256 {'a' * 12} -> {'b' * 12}\n" in compared(one, other, tmp_path)[1]
    assert "canned: SHA-256" not in compared(one, one, tmp_path)[1] + compared(a_record, one, tmp_path)[1]


def test_other_options_of_the_daemon_are_said(a_record, tmp_path):
    """Also a default that has changed; older records do not know the whole configuration."""
    def given(options, **configuration):
        made = copy.deepcopy(a_record)
        made["systems"]["walpool"]["settings"] |= {"options": options, "configuration": configuration} if configuration else {}
        return made

    old, new = given("--readers 8", readers="8", checkpoint_frames="4000"), given("--readers 1", readers="1", checkpoint_frames="4000")
    _, text = compared(old, new, tmp_path)
    assert text.splitlines()[1:3] == ["walpool: options: --readers 8 -> --readers 1", "walpool: readers: 8 -> 1"]
    assert "checkpoint_frames" not in text and "readers:" not in compared(a_record, new, tmp_path)[1]


def test_what_is_no_record_is_refused(a_record, tmp_path):
    for other, why in (({"format": 1}, "format 1"), ([], "format None")):
        status, text = compared(other, a_record, tmp_path)
        assert status == 2 and why in text and len(text.splitlines()) == 1
    done = subprocess.run([BENCH / "compare", "/nonexist", "/nonexist"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "compare: /nonexist: No such file or directory\n")


def test_a_closed_pipe_ends_it_quietly(a_record, tmp_path):
    """Whoever has seen enough: head."""
    path = tmp_path / "results.json"
    path.write_text(json.dumps(a_record))
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([BENCH / "compare", "--all", path, path], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


def test_one_repetition_is_not_trusted():
    """With a single value each, nothing is known of the noise; that is said."""
    runs = [{"cell": "a", "system": "walpool", "repetition": 1, "throughput_per_s": throughput, "latency_us": {},
             "server_cpu_us": None, "errors": []} for throughput in (100.0, 60.0, 40.0)]
    found = [changes.compare({"runs": [runs[0]]}, {"runs": [run]}) for run in runs]
    assert [(each.got_worse(), each.changes[0].is_judged) for each in found] == [(False, False)] * 3
    assert "1 figures of ours: 0 worse, 0 better, 0 within noise, 1 of unknown noise" in changetable.printed(found[2])


def ours(run, factor):
    if run["system"].startswith("walpool"):
        run["throughput_per_s"] *= factor


def test_a_little_slower_everywhere_is_found(a_record, tmp_path):
    """In no cell is it beyond its noise; that all of them are on one side is no chance."""
    status, text = compared(a_record, made_up(lambda run: ours(run, 0.9)), tmp_path)
    assert " 0 worse, 0 better" in text and "\nthroughput of ours: 0.900 of what it was" in text
    assert status == 1
    status, text = compared(a_record, made_up(lambda run: ours(run, 1.1)), tmp_path)
    assert "\nthroughput of ours: 1.100" in text and status == 0
    # From hour to hour all cells have as much in common.
    status, text = compared(a_record, made_up(lambda run: ours(run, 0.94)), tmp_path)
    assert "throughput of ours" not in text and status == 0


def test_a_little_slower_in_a_whole_workload_is_found(a_record, tmp_path):
    status, text = compared(a_record, made_up(lambda run: ours(run, 0.9 if run["cell"].startswith("insert") else 1.0)), tmp_path)
    assert " 0 worse, 0 better" in text and "throughput of ours in insert: 0.900 of what it was" in text
    assert "in select" not in text and "throughput of ours:" not in text and status == 1


def noisy(run, cell, factor=1.0):
    """One cell that moves by a third between its repetitions, which the others do not."""
    if run["cell"] == cell:
        ours(run, factor * (1.0, 0.8, 1.3)[run["repetition"] - 1])


def test_the_noise_of_one_cell_is_not_that_of_another(tmp_path):
    old = made_up(lambda run: noisy(run, "insert-64"))
    status, text = compared(old, made_up(lambda run: (noisy(run, "insert-64"), slower("insert-8", "walpool", 0.75)(run))), tmp_path)
    assert " 1 worse, 0 better" in text and status == 1
    _, text = compared(old, made_up(lambda run: noisy(run, "insert-64", 0.75)), tmp_path)
    assert " 0 worse, 0 better" in text


def test_every_class_is_compared_and_longest_waits_are_only_told(tmp_path):
    def with_readers(run, factor=1.0):
        run["worst_us"] *= NOISE[run["repetition"] - 1]
        if run["cell"] == "worst-wait-82":
            readers = copy.deepcopy(run["classes"]["writers"])
            readers["throughput_per_s"] *= factor if run["system"] == "walpool" else 1
            readers["worst_us"] /= factor if run["system"] == "walpool" else 1
            run["classes"]["readers"] = readers

    status, text = compared(made_up(with_readers), made_up(lambda run: with_readers(run, 0.1)), tmp_path)
    assert row(text, "worst-wait-82, readers", "walpool", "throughput")[2:3] == ["0.100"]
    assert row(text, "worst-wait-82, readers", "walpool", "longest wait")[:3] == ["50,000 µs", "500,000 µs", "10.000"]
    assert " 1 worse, 0 better" in text and status == 1


def test_a_class_that_gets_nothing_now_is_worse(tmp_path):
    """Its throughput has no ratio to what it was, and the first class is served as before."""
    def with_readers(run, factor=1.0):
        if run["cell"] == "worst-wait-82":
            starved = factor if run["system"] == "walpool" and run["repetition"] > 1 else 1.0
            readers = copy.deepcopy(run["classes"]["writers"])
            run["classes"]["readers"] = {**readers, "throughput_per_s": readers["throughput_per_s"] * starved}
            run["classes"]["idlers"] = {**readers, "throughput_per_s": 0.0}

    old, new = made_up(with_readers), made_up(lambda run: with_readers(run, 0.0))
    status, text = compared(old, new, tmp_path)
    assert "failed: worst-wait-82, walpool, readers: 2 of 3 runs, before 0 of 3\n" in text and "idlers" not in text and status == 1
    assert compared(old, old, tmp_path)[0] == 0


def shared(fewest, most):
    def change(run):
        if (run["cell"], run["system"]) == ("insert-8", "walpool"):
            for each in (run, *run["classes"].values()):
                each["fewest"], each["most"] = fewest, most + run["repetition"]
    return change


def test_a_client_that_starves_is_found(a_record, tmp_path):
    """Its seven neighbours have its share, so that throughput is what it was."""
    status, text = compared(a_record, made_up(shared(0, 900)), tmp_path)
    assert row(text, "insert-8", "walpool", "fairness")[-1] == "**worse**" and " 1 worse, 0 better" in text and status == 1
    assert compared(made_up(shared(900, 900)), made_up(shared(800, 900)), tmp_path)[0] == 0
    status, text = compared(made_up(shared(0, 900)), a_record, tmp_path)
    assert row(text, "insert-8", "walpool", "fairness")[-1] == "better" and status == 0


def test_longest_waits_count_where_they_are_no_single_waits():
    """Each of four repetitions has one, ten times as long as it was."""
    def waits(factor, repetitions):
        def change(run):
            if (run["cell"], run["system"]) == ("insert-8", "walpool"):
                run["worst_us"] *= factor * NOISE[run["repetition"] - 1]
        return made_up(change, repetitions)

    assert changes.compare(waits(1, 4), waits(10, 4)).got_worse()
    assert not changes.compare(waits(1, 4), waits(3, 4)).got_worse()
    assert not changes.compare(waits(1, 3), waits(10, 3)).got_worse()
    assert not changes.compare(waits(10, 4), waits(1, 4)).got_worse()


def test_what_was_measured_once(a_record, tmp_path):
    """Memory of idle sessions is the same in every run; system calls are told, and no reason for the exit status."""
    other = copy.deepcopy(a_record)
    other["costs"][0]["syscalls_per_statement"] *= 2
    status, text = compared(a_record, other, tmp_path)
    assert row(text, "select-8", "walpool", "system calls")[-1] == "more" and " 0 worse" in text and status == 0
    other["idle"][0]["bytes_per_session"] *= 1.5
    status, text = compared(a_record, other, tmp_path)
    assert row(text, "1000 idle sessions", "walpool", "idle session")[-1] == "**worse**" and status == 1


def test_what_counts_of_what_was_measured_once_does_not_differ_from_run_to_run():
    """Among the results in which that was seen: what does is only told."""
    found = {}
    for record in seen():
        for idle in record["idle"]:
            found.setdefault(("idle session", idle["system"]), []).append(idle["bytes_per_session"])
        for cost in record["costs"]:
            found.setdefault(("system calls", cost["system"], cost["workload"]), []).append(cost["syscalls_per_statement"])
    apart = {key: max(values) / min(values) - 1 for key, values in found.items() if key[1] == "walpool"}
    assert len(apart) == 3 and all(len(values) > 5 for values in found.values())
    for (metric, *_), most in apart.items():
        assert (most > changes.LEAST_OF_ONCE) == (metric in changes.TOLD_ONLY), apart


def test_a_yardstick_that_is_gone_hides_nothing(a_record, tmp_path):
    """Then the next that both have, or the plain figures; and it is said."""
    def change(run):
        slower("insert-8", "walpool", 0.5)(run)
        if run["cell"] == "insert-8" and run["system"] in ("postgres", "direct"):
            run["errors"].append("hangs")

    status, text = compared(a_record, made_up(change), tmp_path)
    assert row(text, "insert-8", "walpool", "throughput")[:3] == ["9,999/s", "4,999/s", "0.500"]
    assert "no figure in the new one: insert-8 (direct), insert-8 (postgres)" in text and status == 1

    alone = copy.deepcopy(a_record)
    alone["runs"] = [run for run in alone["runs"] if run["system"] == "walpool"]
    status, text = compared(a_record, alone, tmp_path)
    assert " 0 worse, 0 better" in text and status == 0


def test_a_goal_is_missed_only_by_more_than_noise(a_record, tmp_path):
    status, text = compared(a_record, made_up(slower("insert-1-2ms", "walpool", 0.4)), tmp_path)
    assert "goal insert-1-2ms to postgres: met -> missed\n" in text and status == 1
    # 2.00 was asked for, 2.00 reached.
    status, text = compared(a_record, made_up(slower("mixed-95-5-64", "walpool", 0.98)), tmp_path)
    assert "goal mixed-95-5-64 to postgres: met -> missed, but its figure has not changed by more than noise\n" in text
    assert status == 0
    back, text = compared(made_up(slower("insert-1-2ms", "walpool", 0.4)), a_record, tmp_path)
    assert "goal insert-1-2ms to postgres: missed -> met\n" in text and back == 0


def test_a_goal_that_was_set_anew_is_no_goal_that_is_met_now(a_record, tmp_path):
    other = copy.deepcopy(a_record)
    [goal] = [goal for goal in other["goals"] if (goal["cell"], goal.get("other")) == ("select-64", "postgres")]
    goal["at_least"], goal["met"] = 1.5, True
    for records, said in (((a_record, other), "2.9 -> 1.5"), ((other, a_record), "1.5 -> 2.9")):
        status, text = compared(*records, tmp_path)
        assert f"goal select-64 to postgres: {said}\n" in text and "missed" not in text and status == 0


def test_a_goal_of_a_wait_is_missed_by_the_same_rule(tmp_path):
    def waits(factor):
        def change(run):
            for name in run["classes"]:
                run["classes"][name]["worst_us"] = run["worst_us"] = run["worst_us"] * factor * NOISE[run["repetition"] - 1]
        return change

    status, text = compared(made_up(waits(1)), made_up(waits(10)), tmp_path)
    assert "goal worst-wait-82: met -> missed\n" in text and status == 1
    status, text = compared(made_up(waits(1.95)), made_up(waits(2.05)), tmp_path)
    assert "goal worst-wait-82: met -> missed, but its" in text and status == 0


def test_runs_that_fail_now_are_worse(a_record, tmp_path):
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
