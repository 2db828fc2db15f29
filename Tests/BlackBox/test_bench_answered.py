"""bench/run counts what was answered: every row that a client was told of must be in its table."""

import json
import sqlite3
import sys
from argparse import Namespace
from dataclasses import replace

import pytest

import load_fixtures
from bench_report_fixtures import published
from daemon import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "bench"))
from support import answered, data, measuring, plan, record  # noqa: E402
from support.cells import ROWS  # noqa: E402
from support.systems import Embedded  # noqa: E402


class Asked:
    """A system in whose place a table's rows are made up."""

    def __init__(self, rows, *servers):
        self._rows, self._servers = iter(rows), [Namespace(name=name) for name in servers]
        self.questions = []

    def servers(self):
        return self._servers

    def asked(self, question):
        self.questions.append(question)
        return next(self._rows)


def told(**classes):
    names = ("transactions", "warm_up_transactions", "late_transactions")
    return {"classes": [{"name": name, **dict(zip(names, counts))} for name, counts in classes.items()]}


def test_warm_up_and_late_answers_count():
    of_all = answered.of_the_generator(told(writers=(100, 20, 3)))
    assert answered.Rows(Asked([7, 123]), "insert").missing(of_all) is None
    assert answered.Rows(Asked([7, 122]), "insert").missing(of_all) == "123 rows of bench_insert were answered, 122 are there"


def test_every_class_and_every_row_counts():
    both = answered.of_the_generator(told(one=(10, 0, 0), others=(100, 0, 0)))
    assert answered.Rows(Asked([0, 110]), "starve-one").missing(both) is None
    assert answered.Rows(Asked([0, 109]), "starve-one").missing(both)
    assert answered.Rows(Asked([0, 999]), "batch-insert").missing({"writers": 10}) == (
        "1000 rows of bench_insert were answered, 999 are there")
    # Readers add nothing, and pgbench does not say whose its transactions are.
    assert answered.Rows(Asked([0, 10]), "worst-wait").missing({"writers": 10, "readers": 500}) is None
    assert answered.Rows(Asked([0, 9]), "tpcb").missing({None: 10}) == "10 rows of pgbench_history were answered, 9 are there"


def test_what_cannot_be_known_is_not_asked_for():
    """Which of two transactions a client has drawn."""
    mixed = Asked([])
    assert answered.Rows(mixed, "mixed-50-50").missing({"clients": 10}) is None and not mixed.questions


def test_postgresql_has_no_key_in_its_history():
    other = Asked([40, 49], "postgres", "pgbouncer")
    assert answered.Rows(other, "tpcb").missing({"clients": 10}) == "10 rows of pgbench_history were answered, 9 are there"
    assert other.questions == ["SELECT count(*) FROM pgbench_history"] * 2


def test_the_plans_writers_are_counted():
    counted = {row.workload for row in ROWS if answered.rows_of_a_transaction(row.workload)}
    assert {"insert", "batch-insert", "tpcb", "tpcb-simple", "tpcb-pipeline", "tpcb-message", "worst-wait"} <= counted
    assert {row.workload for row in ROWS if row.workload.startswith("starve")} <= counted


def of_rows(**rows):
    """A run of each system, with so many rows in a thousand transactions."""
    return [{"cell": "select-8", "system": system, "errors": [], "classes": {"readers": {"rows": count, "transactions": 1000}}}
            for system, count in rows.items()]


def test_who_gives_fewer_rows_has_not_answered():
    cell = Namespace(id="select-8")
    assert answered.unlike([cell], of_rows(walpool=1000, postgres=1000)) == []
    assert answered.unlike([cell], of_rows(walpool=0, postgres=1000)) == [
        "select-8, readers: rows for each transaction differ: walpool 0.00, postgres 1.00"]
    assert answered.unlike([cell], of_rows(walpool=0, postgres=0)) == []
    few = of_rows(walpool=0, postgres=1000)
    few[0]["classes"]["readers"]["transactions"] = 10
    assert answered.unlike([cell], few) == []


def test_all_systems_gave_the_same_in_what_was_published():
    for each in published():
        assert answered.unlike([Namespace(id=cell["id"]) for cell in each["cells"]], each["runs"]) == []


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "x.db"
    data.make_database(path, 1)
    return path


@pytest.mark.parametrize("workload, name, classes", [("insert", "bench_insert", "writers=1"), ("tpcb", "pgbench_history", "clients=1")])
def test_rows_that_vanish_fail_the_run(table, tmp_path, workload, name, classes):
    """A trigger drops the first five of them, which are the warm-up's, and nobody is told."""
    options = Namespace(only=[workload], sections=["throughput"], systems=["direct"], clients=[1], seconds=1, repeat=1, quick=False)
    cell = replace(plan.cells(options)[0], classes=classes, scale=1)
    system = Embedded("direct", table, ["--direct"], {"synchronous": "full"})

    def errors():
        run = record.new_run(cell, "direct", 1, 1)
        measuring.measure_one(system, cell, Namespace(load=load_fixtures.binary(), grdb=None), tmp_path, run, None)
        [of_class] = json.loads((tmp_path / "load.json").read_text())["classes"]
        assert of_class["warm_up_transactions"] > 5
        return run["errors"]

    assert errors() == []
    with sqlite3.connect(table) as connection:
        connection.execute("CREATE TABLE left_to_drop AS SELECT 5 AS rows")
        connection.execute(f"CREATE TRIGGER drops BEFORE INSERT ON {name} WHEN (SELECT rows FROM left_to_drop) > 0 BEGIN "
                           "UPDATE left_to_drop SET rows = rows - 1; SELECT RAISE(IGNORE); END")
    [error] = errors()
    assert f" rows of {name} were answered, " in error
