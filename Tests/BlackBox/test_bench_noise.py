"""bench/compare's test of noise: it says nothing of runs that do not differ, and finds what does."""

import math
import random
import statistics

import pytest

from bench_report_fixtures import BENCH, made_up, of_repetitions, resampled, seen, slowed
from support import changes, changetable, figures, noise, report

# Every way to make two halves of four repetitions.
HALVES = (((1, 3), (2, 4)), ((2, 4), (1, 3)), ((1, 2), (3, 4)), ((1, 4), (2, 3)))
# Those of the results whose machine was the quietest.
QUIET = "2026-11-22"


@pytest.fixture(scope="module")
def results():
    return seen()


@pytest.fixture(scope="module")
def quiet(results):
    return next(record for record in results if record["started"].startswith(QUIET))


# Student's t


@pytest.mark.parametrize("chance, freedom, expected", [
    (0.05, 1, 6.314), (0.025, 2, 4.303), (0.025, 4, 2.776), (0.0005, 7, 5.408), (0.0005, 10, 4.587), (0.01, 60, 2.390)])
def test_quantiles_are_those_of_the_tables(chance, freedom, expected):
    assert noise.quantile(chance, freedom) == pytest.approx(expected, abs=0.0006)


def test_a_cells_noise_is_drawn_towards_the_others():
    """Of the quiet one little is made of its being quiet; and the noisy one stays noisy."""
    quiet, usual, noisy = ([[100, 100 * (1 + spread), 100 * (1 - spread)]] * 2 for spread in (0.001, 0.02, 0.3))
    (least, freedom), (middle, _), (most, _) = noise.deviations([quiet, usual, noisy])
    assert 0.005 < least < middle < 0.025 and most > 0.2
    assert freedom == 4 + noise.MOST_PRIOR_FREEDOM


def test_the_same_value_twice_is_no_evidence_of_quiet():
    usual = [[100, 102, 98], [101, 99, 100]]
    (deviation, freedom), *_ = noise.deviations([[[100, 100], [103, 103]], usual, usual])
    assert freedom == noise.LEAST_PRIOR_FREEDOM and 0.01 < deviation < 0.03


# What has not changed


@pytest.mark.optimised
def test_a_run_compared_with_itself_has_not_got_worse(results):
    """Halves of one run: false alarms may be one in twenty, as FALSE_ALARMS has it."""
    assert changes.FALSE_ALARMS <= 1 / 20
    alarms = [(record["started"], halves) for record in results for halves in HALVES
              if changes.compare(*(of_repetitions(record, *half) for half in halves)).got_worse()]
    assert len(results) * len(HALVES) >= 20 and len(alarms) <= len(results) * len(HALVES) // 20, alarms


@pytest.mark.optimised
def test_nor_has_one_whose_repetitions_are_drawn_anew(results):
    """As many as were measured."""
    draw = random.Random(1)
    alarms = [record["started"] for record in results for _ in range(4)
              if changes.compare(resampled(record, draw), resampled(record, draw)).got_worse()]
    assert len(alarms) <= 1, alarms


def test_nor_has_the_next_run_on_a_machine_of_the_same_kind(results):
    """Whole runs of two mornings, in which nothing was made slower: not even their own noise is shared."""
    runs = [next(record for record in results if record["machine"]["commit"] == commit) for commit in ("b50f8bc", "6112ac9")]
    assert not changes.compare(*runs).got_worse() and not changes.compare(*reversed(runs)).got_worse()


# What has


def test_the_manual_says_what_could_be_seen():
    """Its figures are those of the two runs that it names."""
    manual = " ".join((BENCH / "README.md").read_text().split())
    old, new = (report.load(BENCH / "results" / name) for name in ("2026-11-26-2-core-ext4", "2026-11-27-2-core-ext4"))
    [said] = changetable.power(changes.compare(old, new).changes)
    assert said.removeprefix("What could be seen in one throughput: ") in manual


@pytest.mark.optimised
def test_half_of_a_throughput_that_a_goal_is_about_is_found(results):
    """Whichever it is, in two quiet runs of the same kind of machine."""
    older, newer = (next(record for record in results if record["machine"]["commit"] == commit) for commit in ("b50f8bc", "6112ac9"))
    for cell, system in sorted(changes.OF_GOALS):
        slow = slowed(newer, lambda run: (run["cell"], run["system"]) == (cell, system), 0.5)
        found = changes.compare(older, slow)
        assert any(change.is_worse and (change.cell, change.system, change.metric) == (cell, system, "throughput")
                   for change in found.changes), (cell, system)


def test_the_goals_have_half_of_the_chance_to_themselves(results):
    found = changes.compare(results[-1], results[-2]).changes
    chances = changes._chances(found)
    counted = [change for change in found if change.counts and change.metric not in figures.ONCE]
    assert sum(chances[change.is_of_a_goal] for change in counted) == pytest.approx(changes.FALSE_ALARMS / 2)
    assert chances[True] > 5 * chances[False]


def cells_of_ordinary_spread(record, most=0.04):
    """Those of four repetitions whose throughput, as a multiple of PostgreSQL's, has a standard deviation of 4 % at most."""
    return [change.cell for change in changes.compare(record, record).changes
            if (change.system, change.metric) == ("walpool", "throughput") and len(change.old) == 4
            and statistics.stdev(map(math.log, change.old)) <= most]


def is_found(comparison, cell):
    return any(change.is_worse and (change.cell, change.system, change.metric) == (cell, "walpool", "throughput")
               for change in comparison.changes)


def slow_there(record, cell, factor):
    return slowed(record, lambda run: (run["cell"], run["system"]) == (cell, "walpool"), factor)


def test_a_sixth_less_in_one_cell_is_found(quiet):
    cells = cells_of_ordinary_spread(quiet)
    assert len(cells) >= 5
    for cell in cells:
        found = changes.compare(quiet, slow_there(quiet, cell, 1 - 1 / 6))
        assert is_found(found, cell), cell
        assert sum(change.is_beyond_noise for change in found.changes) == 1 and found.got_worse()


@pytest.mark.optimised
def test_a_fifth_less_in_one_cell_is_found_through_noise():
    """Four repetitions; the ratios' standard deviation is 4 to 5 %."""
    draw = random.Random(2)

    def noisy(run):
        run["throughput_per_s"] *= math.exp(draw.gauss(0, 0.02))

    found, alarms = 0, 0
    for _ in range(20):
        old, new = made_up(noisy, repetitions=4), made_up(noisy, repetitions=4)
        alarms += changes.compare(old, new).got_worse()
        found += is_found(changes.compare(old, slow_there(new, "insert-8", 0.8)), "insert-8")
    assert found >= 18 and alarms <= 1


@pytest.mark.parametrize("workload", ["select", "insert", "tpcb"])
def test_a_tenth_less_in_all_cells_of_a_workload_is_found(quiet, workload):
    cells = {cell["id"] for cell in quiet["cells"] if cell["workload"] == workload}
    draw, found = random.Random(3), []
    for _ in range(5):
        slow = slowed(resampled(quiet, draw), lambda run: run["cell"] in cells and run["system"].startswith("walpool"), 0.9)
        comparison = changes.compare(resampled(quiet, draw), slow)
        found.append(any(drift.is_worse and (drift.metric, drift.workload) == ("throughput", workload)
                         for drift in comparison.drifts))
    assert sum(found) >= 4
