"""What is made of a benchmark's record: the report, its pictures, README's part, and comparisons."""

import copy
import json
import subprocess
import sys
import xml.dom.minidom
from argparse import Namespace

import pytest

from daemon import REPOSITORY

BENCH = REPOSITORY / "bench"
sys.path.insert(0, str(BENCH))
from support import callgrind, changes, markdown, microtable, plan, plots, readme, record, report  # noqa: E402

# What each system does of what Walpool does. Three repetitions differ by 2 %, Walpool's the other way round, so that ratios
# differ, too, and all medians are round.
SPEED = {"walpool": 1.0, "walpool-pipelined": 1.1, "postgres": 0.5, "pgbouncer": 0.4, "direct": 0.1, "canned": 1.4}
NOISE = (1.0, 0.98, 1.02)
WORKLOADS = ("select", "insert", "tpcb", "mixed-95-5", "worst-wait", "starve-one")


def made_up(change=lambda run: None):
    """A record of the plan's own cells, with figures that are easy to reckon with. `change` gets each run first."""
    options = Namespace(only=WORKLOADS, systems=None, sections=None, clients=None, seconds=None, repeat=3, quick=False)
    machine = {"time": "2026-11-21T10:00:00+00:00", "cpu": "A", "cores": 2, "system": "Debian", "sync_us": 50.0, "commit": "abc",
               "file_system": {"type": "ext4", "source": "/dev/vda"}}
    made = record.new("bench/run", False, plan.cells(options), machine)
    made["systems"] = {name: {"title": name.title(), "what": "made up", "settings": {"version": "1"}} for name in SPEED}
    made["ended"], made["seconds"], made["complete"] = machine["time"], 60, True
    for cell in made["cells"]:
        cell["systems"] = [system for system in cell["systems"] if system in SPEED]
        for system in cell["systems"]:
            for repetition in (1, 2, 3):
                made["runs"].append(a_run(cell, system, repetition))
                change(made["runs"][-1])
    made["costs"] = [{"workload": "select", "clients": 8, "system": "walpool", "statements": 1000, "syscalls_per_statement": 3.25,
                      "calls": {"recvfrom": 1.0, "sendto": 1.0, "epoll_wait": 1.25}}]
    made["idle"] = [{"system": "walpool", "sessions": 1000, "bytes_per_session": 20480, "resident_bytes": 48e6, "seconds": 5,
                     "cpu_ms": 0.0, "wakeups": 0}]
    record.complete(made)
    return made


def a_run(cell, system, repetition):
    noise = NOISE[repetition - 1]
    throughput = 10_000 * SPEED[system] * (2 - noise if system.startswith("walpool") else noise)
    wait = 4_000_000 if system == "direct" else 50_000
    latency = {name: 1e6 / throughput * factor for factor, name in enumerate(record.PERCENTILES, 1)} | {"max": wait}
    figures = {"throughput_per_s": throughput, "latency_us": latency, "worst_us": wait, "fewest": 90, "most": 100,
               "fairness": 0.9}
    of_class = {**figures, "clients": cell["clients"], "loop": "closed", "transactions": 1000, "rows": 0, "errors": 0,
                "error_states": {"SQLITE_BUSY": 2} if system == "direct" else {}, "series": [],
                "per_client": [90] * (cell["clients"] - 1) + [100]}
    name = {"worst-wait": "writers", "starve-one": "one"}.get(cell["workload"], "clients")
    return {"cell": cell["id"], "system": system, "repetition": repetition, "place": 1, "sync_us": 50.0, "transactions": 1000,
            "statements": 1000, **figures, "busy": 0, "retries": 0, "server_cpu_us": 1e5 / throughput, "client_cpu_us": 4.0,
            "classes": {name: of_class}, "errors": []}


@pytest.fixture(scope="module")
def a_record():
    return made_up()


def row(text, *begins):
    """The cells of the table's row that begins so."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[:len(begins)] == list(begins):
            return cells[len(begins):]
    raise AssertionError(f"no row {begins} in:\n{text}")


def section(text, heading):
    return next(part for part in text.split("\n## ") if part.startswith(heading))


# The report


def test_every_section_is_there_and_in_order(a_record):
    headings = [line for line in report.markdown(a_record).splitlines() if line.startswith("## ")]
    assert headings == ["## Goals", "## Throughput", "## Latency", "## Fairness", "## Starvation", "## Durability",
                        "## Cost of a statement", "## Idle sessions", "## Cross-check: pgbench as the driver",
                        "## Size of the data", "## Run", "## Machine"]


def test_the_report_is_the_same_of_what_was_written_down(a_record):
    exact = copy.deepcopy(a_record)
    for cell in exact["summary"]:
        for part in cell["systems"].values():
            part["throughput_per_s"]["median"] = 206774.6
    text = report.markdown(exact)
    assert "206,770" in text and "206,77" + "5" not in text
    assert report.markdown(json.loads(record.dumped(exact))) == text


def test_goals_come_first_and_say_what_was_missed(a_record):
    goals = section(report.markdown(a_record), "Goals")
    assert row(goals, "select, 8 clients", "throughput to Postgres") == ["≥ 1.9", "2.00 (1.92 to 2.08)", "met"]
    assert row(goals, "select, 64 clients", "throughput to Postgres") == ["≥ 2.9", "2.00 (1.92 to 2.08)", "**missed**"]
    assert row(goals, "tpcb, 64 clients", "throughput to Postgres") == [
        "≥ 1.6", "2.20 (2.11 to 2.29), Walpool-Pipelined", "met"]
    assert row(goals, "worst-wait, 82 clients", "longest wait of writers") == ["≤ 100 ms", "50.0 ms; Direct 4,000 ms", "met"]
    assert "**Missed: select, 64 clients, to Postgres; " in goals


def test_throughput_by_clients_with_ratios(a_record):
    text = section(report.markdown(a_record), "Throughput")
    select = text[text.index("### select"):text.index("### insert")]
    assert row(select, "8") == [
        "10,000 ±2%", "5,000 ±2%", "4,000 ±2%", "1,000 ±2%", "14,000 ±2%", "2.00", "2.50", "10.00", "0.71"]
    assert "![Throughput by the number of clients](throughput.svg)" in text
    assert "throughput.svg" not in report.markdown(a_record, pictures=False)


def test_starvation_shows_the_longest_wait_and_the_errors(a_record):
    text = section(report.markdown(a_record), "Starvation")
    assert row(text, "a paced writer among 63", "Walpool")[-3:] == ["90 / 100", "2 %", ""]
    found = row(text, "", "Direct", "one")
    assert found[-4:] == ["4,000", "90 / 100", "2 %", "6 SQLITE_BUSY"]


def test_every_ratio_below_one_is_listed():
    """Between modes of one promise; the limits, and our own modes among each other, are no alternatives."""
    def slow(run):
        slower("insert-8", "walpool", 0.4)(run)         # below PostgreSQL and PgBouncer's 0.4, above direct
        slower("insert-8-relaxed", "walpool-normal", 0.4)(run)

    slowed = made_up(slow)
    found = section(report.markdown(slowed), "Where Walpool does less")
    assert row(found, "insert", "8", "Walpool", "Postgres") == ["4,000", "5,000", "0.80"]
    assert [line for line in found.splitlines() if line.startswith("| ")][1:] == [
        line for line in found.splitlines() if line.startswith(("| insert", ))]
    assert "Direct" not in found and "Canned" not in found
    shown = readme.part_of_readme(slowed, REPOSITORY / "results")
    count = sum(line.startswith("| insert") for line in found.splitlines())
    assert f"In {count} of " in shown and " than Postgres in 1 (0.80 times)" in shown
    assert "[Where Walpool does less](results/results.md#where-walpool-does-less)" in shown


def test_how_much_of_the_clients_time_was_answered():
    """Who waits for a lock until he fails is in no percentile: 4,000 a second of 10 ms are 40 of 64 clients."""
    def starves(run):
        for each in run["classes"].values():
            each["throughput_per_s"], each["latency_us"]["mean"] = 4000, 10_000

    starved = made_up(starves)
    text = section(report.markdown(starved), "Fairness")
    assert row(text, "", "64", "Walpool")[-1] == "62 %" and "in none of them" in text
    cell = next(cell for cell in starved["summary"] if cell["id"] == "insert-64")
    assert cell["systems"]["direct"]["classes"]["clients"]["answered_share"]["median"] == 0.625
    assert "62 % ended in a commit" in readme.part_of_readme(starved, ".")


def test_a_record_of_before(a_record):
    """What newer records have beside is not needed to read one."""
    older = copy.deepcopy(a_record)
    for cell in older["summary"]:
        for part in cell["systems"].values():
            for each in part["classes"].values():
                for name in ("due", "not_started", "answered_share"):
                    each.pop(name)
    assert report.markdown(older) == report.markdown(a_record)
    assert readme.part_of_readme(older, ".") == readme.part_of_readme(a_record, ".")


def test_costs_and_memory(a_record):
    text = report.markdown(a_record)
    assert row(section(text, "Cost"), "select", "8", "Walpool") == [
        "10.0", "4.00", "3.25", "epoll_wait 1.2, recvfrom 1.0, sendto 1.0"]
    assert row(section(text, "Idle"), "Walpool") == ["1,000", "20.0", "48.0", "0.00 in 5 s", "0"]


def test_what_failed_is_said_and_no_figure():
    def fails(run):
        if run["cell"] == "insert-8" and run["system"] == "walpool":
            run["errors"].append("it broke")

    text = report.markdown(made_up(fails))
    assert "## What went wrong\n\n- insert-8, Walpool, repetition 1: it broke\n" in text
    inserts = section(text, "Throughput")
    assert row(inserts[inserts.index("### insert"):], "8")[0] == "**failed**"
    assert row(section(text, "Goals"), "insert, 8 clients", "throughput to Postgres") == ["≥ 1.5", "no figure", "**missed**"]


def test_a_record_without_figures_makes_a_report():
    empty = made_up()
    empty["runs"], empty["costs"], empty["idle"] = [], [], []
    record.complete(empty)
    assert "## Machine" in report.markdown(empty)


@pytest.mark.parametrize("value, text", [
    (12345.6, "12,346"), (123.4, "123"), (12.34, "12.3"), (1.0, "1.00"), (0.01234, "0.0123"), (0, "0.00"), (None, "")])
def test_digits(value, text):
    assert markdown.digits(value) == text


# Pictures


@pytest.mark.skipif(not plots.available(), reason="needs python3-matplotlib: bench/support/install python3-matplotlib")
def test_pictures_are_drawn(a_record, tmp_path):
    assert plots.draw(a_record, tmp_path) == list(plots.PICTURES)
    for name in plots.PICTURES:
        drawn = tmp_path / f"{name}.svg"
        assert xml.dom.minidom.parse(str(drawn)).documentElement.tagName == "svg"
        assert drawn.stat().st_size < 100_000
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    before = {name: (tmp_path / f"{name}.svg").read_bytes() for name in plots.PICTURES}
    plots.draw(a_record, tmp_path)
    # The same figures give the same files, so that a commit shows what has changed.
    assert {name: (tmp_path / f"{name}.svg").read_bytes() for name in plots.PICTURES} == before


# README


def test_readmes_part(a_record, tmp_path):
    (tmp_path / "throughput.svg").touch()
    text = readme.part_of_readme(a_record, tmp_path)
    assert row(text, "durable INSERT", "64") == ["10,000", "5,000", "1,000", "2.00", "10.00"]
    assert row(text, "TPC-B, a message a statement, `pipelined`", "8") == ["11,000", "5,000", "1,000", "2.20", "11.00"]
    assert "was 50.0 ms, and 4.00 s where each opens the file itself." in text
    assert "**Missed: select, 64 clients, to Postgres; " in text and "/results.md#goals)" in text
    assert "/throughput.svg)" in text and "starvation.svg" not in text


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


# Comparing


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


def slower(cell, system, factor):
    def change(run):
        if run["cell"] == cell and run["system"] == system:
            run["throughput_per_s"] *= factor
    return change


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


# Counted instructions


def micro_program():
    """`swift test` builds it, too."""
    found = [path for path in (REPOSITORY / ".build").glob("*/walpool-micro") if path.is_file()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


@pytest.mark.skipif(not micro_program(), reason="walpool-micro is not built: swift build --product walpool-micro")
def test_every_path_runs():
    def run(*arguments):
        done = subprocess.run([micro_program(), *arguments], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    names = [line.split("\t")[0] for line in run("list").splitlines()]
    assert {"decode-execution", "select", "group-insert", "snapshot-check"} <= set(names)
    for name in names:
        # What it returns grows with what was done.
        assert 0 < int(run(name, "64")) < int(run(name, "128")), name


def counts(**instructions):
    paths = {name: {"instructions": value} for name, value in instructions.items()}
    return {"with": {"commit": "a", "swift": "6"}, "paths": paths}


def test_instructions_compared():
    lines, worse = microtable.compared(counts(a=1000.0, b=1000.0, c=10.0, d=5.0), counts(a=1004.0, b=990.0, c=11.0, e=5.0))
    assert not worse
    words = {line.split()[0]: line.split()[-1] for line in lines[-1].splitlines()[1:]}
    assert words == {"a": "1.004", "b": "fewer", "c": "1.100", "d": "them", "e": "them"}
    assert microtable.compared(counts(a=1000.0), counts(a=1006.0))[1]


def test_a_profile_of_callgrind_is_read(tmp_path):
    """Its own example of the format, with a call: what is called is counted where it stands itself."""
    output = tmp_path / "out"
    output.write_text("events: Ir\n\nob=(1) /usr/bin/app\nfl=(1) file1.c\nfn=(1) main\n16 20\ncfn=(2) func1\ncalls=1 50\n16 400\n"
                      "cob=(2) /lib/libsqlite3.so.0\ncfi=(2) file2.c\ncfn=(3) swift_retain\ncalls=3 20\n+1 400\n\n"
                      "fn=(2)\n51 100\n-1 5\n\nob=(2)\nfl=(2)\nfn=(3)\n20 700\n")
    assert callgrind.by_function(output) == {
        ("/usr/bin/app", "main"): 20, ("/usr/bin/app", "func1"): 105, ("/lib/libsqlite3.so.0", "swift_retain"): 700}
    once, twice = {("a", "f"): 150, ("b", "g"): 10}, {("a", "f"): 250, ("b", "g"): 10}
    assert callgrind.per_operation(once, twice, 10) == {("a", "f"): 10.0, ("b", "g"): 0.0}
    owners = callgrind.by_owner({("/x/walpoold", "swift_retain"): 1, ("/x/walpoold", "f"): 2, ("/l/libsqlite3.so.0.8.6", "g"): 3,
                                 ("/l/libc.so.6", "memcpy"): 4})
    assert owners == {"Swift runtime": 1, "Walpool": 2, "SQLite": 3, "libc": 4}
