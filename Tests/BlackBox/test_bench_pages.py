"""What the pages show of a benchmark's records: README's part, and the table of all whole runs."""

import copy
import json
import subprocess

import pytest

from bench_report_fixtures import REPORT, a_record, made_up, row, slower  # noqa: F401 (a fixture)
from daemon import REPOSITORY
from support import readme, report, tools, wholeruns


# README


def test_readmes_part(a_record, tmp_path):
    (tmp_path / "throughput.svg").touch()
    text = readme.part_of_readme(a_record, tmp_path)
    assert row(text, "durable INSERT", "64") == ["10,000", "5,000", "1,000", "2.00", "2.00", "10.00"]
    assert row(text, "durable INSERT", "1") == ["10,000", "5,000", "1,000", "2.00", "", "10.00"]
    assert row(text, "TPC-B, a message a statement, `pipelined`", "8") == ["11,000", "5,000", "1,000", "2.20", "2.20", "11.00"]
    assert "when pgbench makes the load" in text and "takes more of it" not in text
    slower_generator = made_up(lambda run: run.update(client_cpu_us=9.0 if run["cell"] == "tpcb-64-pgbench" else 4.0))
    assert ("pgbench takes more of it (in TPC-B of 64 clients 9.00 µs of processor time for a statement, walpool-load 4.00)"
            in readme.part_of_readme(slower_generator, tmp_path))
    assert "was 50.0 ms. Where each process opens the file itself it was 4.00 s." in text
    assert "**Missed:** select, 64 clients, 2.00 times Postgres (the goal is 2.9, which 0 of 3 repetitions reached); " in text and "/results.md#goals)" in text
    assert "/throughput.svg)" in text and "starvation.svg" not in text


def test_modes_stand_side_by_side_where_a_transaction_has_round_trips(a_record):
    text = readme.part_of_readme(a_record, ".")
    assert row(text, "`synchronous`")[:2] == ["8 clients", "64 clients"]
    assert row(text, "`full`, the default")[:2] == ["2.00", "2.00"] and row(text, "`pipelined`")[:2] == ["2.20", "2.20"]
    others = [cell["id"] for cell in a_record["summary"] if cell["id"] not in readme.ROUND_TRIPS]
    assert "`full`, the default" not in readme.part_of_readme({**a_record, "summary": [
        cell for cell in a_record["summary"] if cell["id"] in others]}, ".")


def test_who_was_ended_by_promise_is_in_its_row(a_record):
    made = copy.deepcopy(a_record)
    [cell] = [cell for cell in made["summary"] if cell["workload"] == "starve-one"]
    cell["workload"] = "starve-slow-client"
    for system, part in cell["systems"].items():
        states = {"57014": 2} if system == "walpool" else {}
        part["classes"] = {"writers": part["classes"]["one"], "slow": {**part["classes"]["one"], "error_states": states}}
    text = readme.part_of_readme(made, ".")
    assert row(text, "", "slow") == ["ended, 57014", "still served", "still served"]
    assert "`wal_limit_bytes`" in text and "`wal_limit_bytes`" not in readme.part_of_readme(a_record, ".")


@pytest.mark.parametrize("change, why", [
    ({"complete": False}, "it was interrupted"), ({"quick": True}, "it is a quick one"), ({"errors": ["strace hangs"]}, "strace hangs"),
    ({"whole": False}, "it has measured a part of the plan")])
def test_the_front_page_takes_only_a_whole_run(a_record, tmp_path, change, why):
    (tmp_path / "results.json").write_text(json.dumps({**a_record, **change}))
    (tmp_path / "README.md").write_text(before := f"{readme.BEGIN.format(directory='x')}\nold\n{readme.END}\n")
    done = subprocess.run([REPORT, "--readme", tmp_path, tmp_path / "README.md"], capture_output=True, text=True)
    assert done.returncode == 1 and why in done.stderr and len(done.stderr.splitlines()) == 1
    assert (tmp_path / "README.md").read_text() == before


def test_the_front_page_takes_no_run_that_failed():
    def fails(run):
        if run["system"] == "walpool" and run["repetition"] == 2:
            run["errors"].append("it broke")

    with pytest.raises(tools.BenchError, match="select-1, walpool: it broke; .*and [0-9]+ more"):
        readme.part_of_readme(made_up(fails), ".")


def test_it_takes_its_place_and_no_other(a_record, tmp_path):
    text = readme.part_of_readme(a_record, tmp_path)
    file = tmp_path / "README.md"
    file.write_text(f"before\n{readme.BEGIN.format(directory='x')}\nold\n{readme.END}\nafter\n")
    readme.put_into(file, text)
    assert file.read_text() == f"before\n{text}\nafter\n"
    file.write_text("no place")
    with pytest.raises(Exception, match="has no place"):
        readme.put_into(file, text)


def test_readme_shows_the_results_it_names():
    """It is never written by hand: made again from the results it names, it is the same."""
    found = readme.SECTION.search((REPOSITORY / "README.md").read_text())
    if not found:
        pytest.skip("README has no markers yet")
    results = REPOSITORY / found[1]
    assert found[0] == readme.part_of_readme(report.load(results), results)


# All whole runs


def of_commit(made, commit, started, **change):
    return {**made, "machine": {**made["machine"], "commit": commit, "kernel": "6.1"}, "started": started, **change}


def test_whole_runs_stand_side_by_side_the_newest_first(a_record):
    slow = made_up(slower("select-8", "walpool", 0.5))
    text = wholeruns.part_of_page({
        "old": of_commit(slow, "0123456789", "2026-11-20T09:30:00+00:00"), "new": of_commit(a_record, "abcdef", "2026-11-21T10:00:00+00:00"),
        "quick": of_commit(a_record, "999", "2026-11-22T10:00:00+00:00", quick=True)})
    assert row(text, "goal") == ["set", "abcdef", "0123456"]
    assert row(text, "point SELECT, 8 clients, to Postgres") == ["≥ 1.9", "2.00", "**1.00**"]
    assert row(text, "64 writers, 16 readers, 2 scanners: longest wait of writers") == ["≤ 100 ms", "50.0 ms", "50.0 ms"]
    assert row(text, "no goal") == ["abcdef", "0123456"]
    assert row(text, "TPC-B, a message a statement, 64 clients, `pipelined`, driven by pgbench, to Postgres") == ["2.20", "2.20"]
    met = sum(bool(goal["met"]) for goal in a_record["goals"])
    assert row(text, "[0123456](../bench/results/old/results.md)") == [
        "2026-11-20, 09:30", "6.1", "71 µs", "50 µs", f"{sum(bool(goal['met']) for goal in slow['goals'])} of 19"]
    assert row(text, "[abcdef](../bench/results/new/results.md)")[-1] == f"{met} of 19" and "999" not in text


def test_a_goal_that_one_run_did_not_have_is_empty_there(a_record):
    fewer = of_commit(a_record, "new", "2026-11-22T10:00:00+00:00", goals=a_record["goals"][1:])
    text = wholeruns.part_of_page({"a": fewer, "b": of_commit(a_record, "old", "2026-11-21T10:00:00+00:00")})
    assert row(text, "point SELECT, 1 client, to Postgres") == ["≥ 1.2", "", "2.00"]


def test_a_goal_is_that_of_the_newest_run(a_record):
    other = [{**goal, "at_least": 1.4} if goal["cell"] == "select-8" and goal["other"] == "postgres" else goal for goal in a_record["goals"]]
    text = wholeruns.part_of_page({"a": of_commit(a_record, "new", "2026-11-22T10:00:00+00:00", goals=other),
                                   "b": of_commit(a_record, "old", "2026-11-21T10:00:00+00:00")})
    assert row(text, "point SELECT, 8 clients, to Postgres") == ["≥ 1.4", "2.00", "2.00"]


def test_what_was_missed_by_little_does_not_look_met(a_record):
    nearly = made_up(slower("select-8", "walpool", 1.898 / 2))
    text = wholeruns.part_of_page({"a": of_commit(nearly, "new", "2026-11-22T10:00:00+00:00")})
    assert row(text, "point SELECT, 8 clients, to Postgres") == ["≥ 1.9", "**1.898**"]


def test_there_must_be_a_whole_run(a_record):
    with pytest.raises(tools.BenchError, match="no whole run"):
        wholeruns.part_of_page({"quick": {**a_record, "quick": True}})


def test_the_page_of_benchmarks_shows_all_runs_that_are_kept():
    """It is never written by hand: made again from the results, it is the same."""
    found = wholeruns.SECTION.search((REPOSITORY / "docs" / "benchmarks.md").read_text())
    assert found and found[0] == wholeruns.part_of_page(report.all_kept())
