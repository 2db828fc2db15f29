"""What is made of a benchmark's record: the report, and its pictures."""

import copy
import json
import os
import signal
import subprocess
import xml.dom.minidom

import pytest

from bench_report_fixtures import REPORT, a_record, made_up, row, section, slower  # noqa: F401 (a fixture)
from daemon import REPOSITORY
from support import markdown, plots, readme, record, recordview, report, tools


def has_matplotlib():
    return subprocess.run([plots.PYTHON, "-c", "import matplotlib"], capture_output=True).returncode == 0


# The report


def test_every_section_is_there_and_in_order(a_record):
    headings = [line for line in report.markdown(a_record).splitlines() if line.startswith("## ")]
    assert headings == ["## Goals", "## Throughput", "## Latency", "## Open loop", "## Fairness", "## Starvation", "## Durability",
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
    assert row(goals, "select, 8 clients", "throughput to Postgres") == ["≥ 1.9", "2.00 (1.92 to 2.08)", "met", "3 of 3", "2.00"]
    assert row(goals, "select, 64 clients", "throughput to Postgres") == ["≥ 2.9", "2.00 (1.92 to 2.08)", "**missed**", "0 of 3", "2.00"]
    assert row(goals, "tpcb, 64 clients", "throughput to Postgres") == [
        "≥ 1.6", "2.20 (2.11 to 2.29), Walpool-Pipelined", "met", "3 of 3", "2.20"]
    assert row(goals, "worst-wait, 82 clients", "longest wait of writers") == ["≤ 100 ms", "50.0 ms; Direct 4,000 ms", "met", "", ""]
    assert "**Missed:** select, 64 clients, 2.00 times Postgres (the goal is 2.9, which 0 of 3 repetitions reached); " in goals
    assert ("Of these goals pgbench was the load generator of 6 once more, and 4 are met by it; missed: select, 64 clients, 2.00 (the goal "
            "is 2.9); insert, 64 clients, 2.00 (the goal is 4.2).") in goals


def test_a_goal_within_the_range_of_the_repetitions_is_said_to_be():
    """2.9 and 2.0 were asked for, and lie between the least and the most; 1.9 does not. The median's side is still told."""
    def change(run):
        slower("select-64", "walpool", 2.88 / 2)(run)
        slower("select-8", "walpool", 1.5 / 2)(run)

    close = made_up(change)
    goals = section(report.markdown(close), "Goals")
    assert row(goals, "mixed-95-5, 64 clients", "throughput to Postgres")[2:4] == ["met, within noise", "2 of 3"]
    assert row(goals, "select, 64 clients", "throughput to Postgres")[2:4] == ["**missed**, within noise", "1 of 3"]
    assert row(goals, "select, 8 clients", "throughput to Postgres")[2:4] == ["**missed**", "0 of 3"]
    met, within = (sum(f"| {words} |" in " ".join(line.split()) for line in goals.splitlines()) for words in ("met", "met, within noise"))
    for text in (goals, readme.part_of_readme(close, ".")):
        assert f"{met + within} of 17 goals met, {within} of them within noise. **Missed:** select, 8 clients, 1.50 times" in text
        assert "**Missed, within noise:** select, 64 clients, 2.88 times Postgres (the goal is 2.9, which 1 of 3 repetitions reached)." in text
        assert "Within noise: the goal lies between the least and the most of the repetitions." in text


def test_what_was_missed_by_little_does_not_look_reached():
    """1.898 is not 1.90."""
    made = made_up(slower("select-8", "walpool", 1.898 / 2))
    goals = section(report.markdown(made), "Goals")
    assert row(goals, "select, 8 clients", "throughput to Postgres")[1].startswith("1.898 (") and "select, 8 clients, 1.898 times" in goals


def test_goals_are_not_judged_of_a_daemon_that_was_given_more_options(a_record):
    made = copy.deepcopy(a_record) | {"walpool_options": ["--readers", "1"]}
    record.complete(made)
    assert section(report.markdown(made), "Goals").split("\n\n")[1].strip() == (
        "Not judged: they were set for walpoold as it comes, and it was given `--readers 1`.")
    with pytest.raises(tools.BenchError, match="walpoold was given --readers 1"):
        readme.part_of_readme(made, ".")


def test_where_no_goal_is_within_noise_nothing_is_said_of_it(a_record):
    clear = copy.deepcopy(a_record)
    for goal in clear["goals"]:
        if goal["kind"] == "ratio" and goal["measured"]:
            goal["measured"] = {**goal["measured"], "least": goal["measured"]["median"], "most": goal["measured"]["median"]}
    assert "within noise" not in report.markdown(clear).lower()


def test_throughput_by_clients_with_ratios(a_record):
    text = section(report.markdown(a_record), "Throughput")
    select = text[text.index("### select"):text.index("### insert")]
    assert row(select, "8") == [
        "10,000 ±2%", "5,000 ±2%", "4,000 ±2%", "1,000 ±2%", "14,000 ±2%", "2.00", "2.50", "10.00", "0.71"]
    assert "![Throughput by the number of clients](throughput.svg)" in text
    assert "throughput.svg" not in report.markdown(a_record, pictures=())


def test_only_pictures_that_there_are(a_record, tmp_path, capsys):
    """As of bench/run --no-plots, and printed again of a directory that has one."""
    (tmp_path / "results.json").write_text(record.dumped(a_record))
    (tmp_path / "latency.svg").touch()
    assert report._main([str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "![Latency percentiles, closed loop](latency.svg)" in said and said.count("![") == 1
    assert "In a closed loop" in section(said, "Latency")


def test_who_polls_is_said_beside_a_lone_clients_row(a_record):
    text = section(report.markdown(a_record), "Throughput")
    select = text[text.index("### select"):text.index("### insert")]
    assert "With 1 client Walpool polls" in select and "The Canned sleeps at once" in select
    assert "polls" not in text[text.index("### insert"):]
    assert row(readme.part_of_readme(a_record, "."), "point SELECT (Walpool polls)", "1")[-1] == "10.00"


def test_latencies_of_an_open_loop_have_a_table_of_their_own(a_record):
    made = copy.deepcopy(a_record)
    [cell] = [cell for cell in made["summary"] if cell["id"] == "insert-16-open"]
    cell["systems"]["direct"]["classes"]["clients"].update(due=8000, not_started=1234)
    assert row(section(report.markdown(made), "Open loop"), "durable INSERT", "16", "2,000", "Walpool") == [
        "0.200", "0.300", "0.500", "0.600", "50.0", ""]
    for text in (section(report.markdown(made), "Open loop"), readme.part_of_readme(made, ".")):
        assert row(text, "", "", "", "Direct")[-2:] == ["4,000", "6 SQLITE_BUSY, 1,234 of 8,000 due not started"]
    # They do what is asked for, whoever serves them: no comparison of throughputs.
    assert "Where Walpool does less" not in report.markdown(made_up(slower("insert-16-open", "walpool", 0.1)))


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
    assert f"In {count} of " in shown and row(shown, "Postgres", "1")[1:] == ["0.80"]
    assert "[Where Walpool does less](results/results.md#where-walpool-does-less)" in shown


def test_what_is_next_to_one_is_below_it():
    """Two digits would say 1.00, and a table of losses would leave it out."""
    close = made_up(slower("insert-8", "walpool", 0.5 * 0.9996))
    found = section(report.markdown(close), "Where Walpool does less")
    assert row(found, "insert", "8", "Walpool", "Postgres")[-1] == "0.9996"
    assert row(readme.part_of_readme(close, "."), "Postgres", "1")[-1] == "0.9996"
    assert "Where Walpool does less" not in report.markdown(made_up(slower("insert-8", "walpool", 0.5)))


def test_every_class_of_clients_is_compared():
    """The second class, too, but not one that is paced."""
    def with_readers(run):
        if run["cell"] == "worst-wait-82":
            for name, loop in (("readers", "closed"), ("paced", "open")):
                speed = 1000 if run["system"] == "walpool" else 4000
                run["classes"][name] = {**run["classes"]["writers"], "loop": loop, "throughput_per_s": speed}

    found = section(report.markdown(made_up(with_readers)), "Where Walpool does less")
    assert row(found, "worst-wait, readers", "82", "Walpool", "Direct") == ["1,000", "4,000", "0.25"]
    assert "paced" not in found and "worst-wait, writers" not in found


def test_latencies_above_postgresqls_are_listed():
    """Where the repetitions do not overlap: p99 is, p99.9 is not."""
    def waits(run):
        if (run["cell"], run["system"]) == ("insert-8", "walpool"):
            for each in (run, *run["classes"].values()):
                each["latency_us"] |= {"p99": 9_000 + run["repetition"], "p999": 100 if run["repetition"] == 1 else 9_000}

    made = made_up(waits)
    found = section(report.markdown(made), "Where Walpool does less")
    assert "### Where its clients wait longer" in found
    assert row(found, "insert", "8", "Walpool", "p99") == ["9.00", "1.00", "9.0"] and "p99.9  " not in found
    assert "Where Walpool does less" not in report.markdown(made_up())


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
    assert "62 % of their time ended in a commit" in readme.part_of_readme(starved, ".")


def test_a_record_of_before(a_record):
    """What newer records have beside is not needed to read one."""
    older = copy.deepcopy(a_record)
    for cell in older["summary"]:
        for part in cell["systems"].values():
            for each in part["classes"].values():
                for name in ("due", "not_started", "answered_share"):
                    each.pop(name)
    older.pop("programs")
    assert report.markdown(older) == report.markdown(a_record)
    assert readme.part_of_readme(older, ".") == readme.part_of_readme(a_record, ".")


def test_costs_and_memory(a_record):
    text = report.markdown(a_record)
    assert row(section(text, "Cost"), "select", "8", "Walpool") == [
        "10.0", "4.00", "0.00 / 0.00", "3.25", "epoll_wait 1.2, recvfrom 1.0, sendto 1.0"]
    assert row(section(text, "Idle"), "Walpool") == ["1,000", "20.0", "48.0", "0.00 in 5 s", "0"]


def test_the_generator_shares_the_cores():
    """A million statements in 3 seconds, of 3 µs and 1.5 µs."""
    def busy(run):
        run["statements"], run["server_cpu_us"], run["client_cpu_us"] = 1_000_000, 3.0, 1.5

    made = made_up(busy)
    assert row(section(report.markdown(made), "Cost"), "select", "8", "Walpool")[2] == "1.00 / 0.50"
    assert ("The load generator runs on the same 2 cores. With the point SELECTs of 64 clients, Walpool kept 1.00 cores busy and the "
            "generator 0.50; Postgres kept") in readme.part_of_readme(made, ".")
    assert "The load generator runs" not in readme.part_of_readme(made_up(lambda run: run.update(server_cpu_us=None)), ".")


def test_the_cross_check_draws_its_conclusion(a_record):
    assert "The generators agree" in section(report.markdown(a_record), "Cross-check")
    differing = made_up(slower("tpcb-64-pgbench", "walpool-pipelined", 0.5))
    text = section(report.markdown(differing), "Cross-check")
    assert "The generators do not agree: in 1 of 8 cases" in text and "pgbench takes more time for a message" in text
    assert "- tpcb, 64 clients, Walpool-Pipelined: 1.10 (1.06 to 1.14), not 2.20 (2.11 to 2.29)" in text


def test_the_programs_that_were_measured_are_named(a_record):
    made = {**a_record, "programs": {"walpoold": {"path": "x/walpoold", "sha256": "0a"}}}
    assert "- commit of the checkout: abc\n- walpoold: `x/walpoold`, SHA-256 0a\n" in report.markdown(made)


def test_what_failed_is_said_and_no_figure():
    def fails(run):
        if run["cell"] == "insert-8" and run["system"] == "walpool":
            run["errors"].append("it broke")

    text = report.markdown(made_up(fails))
    assert "## What went wrong\n\n- insert-8, Walpool, repetition 1: it broke\n" in text
    inserts = section(text, "Throughput")
    assert row(inserts[inserts.index("### insert"):], "8")[0] == "**failed**"
    assert row(section(text, "Goals"), "insert, 8 clients", "throughput to Postgres") == [
        "≥ 1.5", "no figure", "**missed**, 3 runs failed", "", "2.00"]


def test_a_run_that_failed_is_said_beside_those_that_did_not():
    def fails(run):
        if (run["cell"], run["system"], run["repetition"]) == ("insert-8", "walpool", 1):
            run["errors"].append("it broke")

    text = report.markdown(made_up(fails))
    inserts = section(text, "Throughput")
    assert row(inserts[inserts.index("### insert"):], "8")[0] == "10,000 ±2%, **1 of 3 failed**"
    assert row(section(text, "Goals"), "insert, 8 clients", "throughput to Postgres")[2] == "**missed**, 1 run failed"
    assert "(the goal is 1.5, which 2 of 2 repetitions reached), 1 of its runs failed" in section(text, "Goals")


def test_a_record_without_figures_makes_a_report():
    empty = made_up()
    empty["runs"], empty["costs"], empty["idle"] = [], [], []
    record.complete(empty)
    assert "## Machine" in report.markdown(empty)


@pytest.mark.parametrize("value, text", [
    (12345.6, "12,346"), (123.4, "123"), (12.34, "12.3"), (1.0, "1.00"), (0.01234, "0.0123"), (0, "0.00"), (None, "")])
def test_digits(value, text):
    assert markdown.digits(value) == text


# As a program


@pytest.mark.parametrize("content, why", [(None, "No such file or directory"), ("{", "Expecting"), ("[]", "of format None, not 2")])
def test_what_is_no_record_is_a_line_and_no_traceback(tmp_path, content, why):
    path = tmp_path / "results.json"
    if content:
        path.write_text(content)
    done = subprocess.run([REPORT, path], capture_output=True, text=True)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert done.stderr.startswith(f"report.py: {path}: ") and why in done.stderr


def test_a_closed_pipe_ends_it_quietly(a_record, tmp_path):
    (tmp_path / "results.json").write_text(json.dumps(a_record))
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([REPORT, tmp_path], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


# Pictures


@pytest.mark.optimised
@pytest.mark.skipif(not has_matplotlib(), reason="needs python3-matplotlib: bench/support/install python3-matplotlib")
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


@pytest.mark.skipif(not has_matplotlib(), reason="needs python3-matplotlib: bench/support/install python3-matplotlib")
@pytest.mark.optimised
def test_pictures_are_those_of_the_record_that_was_written_down(tmp_path):
    """Rounded, a median of whole microseconds is beyond both of them."""
    def whole(run):
        run["latency_us"] |= {"p99": 1_234_566 + run["repetition"] // 3, "max": 1_234_567}
        run["throughput_per_s"] += 0.123456

    made = made_up(whole, repetitions=2)
    directories = [tmp_path / name for name in ("measured", "written")]
    for directory, each in zip(directories, (made, json.loads(record.dumped(made)))):
        directory.mkdir()
        assert "latency" in plots.draw(each, directory)
    measured, written = ({path.name: path.read_bytes() for path in directory.iterdir()} for directory in directories)
    assert measured == written


def test_a_picture_of_writers_says_so():
    """Readers and scanners may wait longer: they are in the table."""
    assert {victim for victim in recordview.STARVATION_VICTIMS.values()} == {"writers", "one"}
    assert "of any writer" in plots.PICTURES["starvation"]
