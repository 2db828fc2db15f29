"""A made-up record of a benchmark, with figures that are easy to reckon with, and the rows of what is made of it."""

import json
import sys
from argparse import Namespace

import pytest

from daemon import REPOSITORY

BENCH = REPOSITORY / "bench"
REPORT = BENCH / "support" / "report.py"
sys.path.insert(0, str(BENCH))
from support import plan, record  # noqa: E402

# What each system does of what Walpool does. Repetitions differ by 2 %, Walpool's the other way round, so that ratios
# differ, too, and all medians are round.
SPEED = {"walpool": 1.0, "walpool-pipelined": 1.1, "postgres": 0.5, "pgbouncer": 0.4, "direct": 0.1, "canned": 1.4}
NOISE = (1.0, 0.98, 1.02, 1.0)
WORKLOADS = ("select", "insert", "tpcb", "mixed-95-5", "worst-wait", "starve-one")


def made_up(change=lambda run: None, repetitions=3):
    """A record of the plan's own cells, with figures that are easy to reckon with. `change` gets each run first."""
    options = Namespace(only=WORKLOADS, systems=None, sections=None, clients=None, seconds=None, repeat=repetitions, quick=False)
    machine = {"time": "2026-11-21T10:00:00+00:00", "cpu": "A", "cores": 2, "system": "Debian", "sync_us": 50.0, "commit": "abc",
               "file_system": {"type": "ext4", "source": "/dev/vda"}}
    made = record.new("bench/run", False, plan.cells(options), machine)
    made["systems"] = {name: {"title": name.title(), "what": "made up", "settings": {"version": "1"}} for name in SPEED}
    made["ended"], made["seconds"], made["complete"], made["whole"] = machine["time"], 60, True, True
    for cell in made["cells"]:
        cell["systems"] = [system for system in cell["systems"] if system in SPEED]
        for system in cell["systems"]:
            for repetition in range(1, repetitions + 1):
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
    figures = {"throughput_per_s": throughput, "latency_us": latency, "worst_us": wait, "most": 100,
               "fewest": (90, 92, 91, 90)[repetition - 1],
               "fairness": 0.9}
    of_class = {**figures, "clients": cell["clients"], "loop": "open" if cell["rate"] else "closed", "transactions": 100_000, "rows": 0, "errors": 0,
                "error_states": {"SQLITE_BUSY": 2} if system == "direct" else {}, "series": [],
                "per_client": [90] * (cell["clients"] - 1) + [100]}
    name = {"worst-wait": "writers", "starve-one": "one"}.get(cell["workload"], "clients")
    return {"cell": cell["id"], "system": system, "repetition": repetition, "place": 1, "sync_us": 50.0, "transactions": 100_000,
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


def slower(cell, system, factor):
    def change(run):
        if run["cell"] == cell and run["system"] == system:
            for each in (run, *run["classes"].values()):
                each["throughput_per_s"] *= factor
    return change


# Of what was published


# What is asserted of noise was seen in these. The next machine may be a noisier one, which makes no test fail, and no program worse.
SEEN = ("2026-11-22-2-core-ext4", "2026-11-23-2-core-ext4", "2026-11-25-2-core-ext4", "2026-11-26-2-core-ext4-ad938a5",
        "2026-11-26-2-core-ext4", "2026-11-27-2-core-ext4", "2026-11-27-2-core-ext4-66e5bb4")


def seen():
    """Newest last."""
    return [json.loads((BENCH / "results" / name / "results.json").read_text()) for name in SEEN]


def published():
    """All, for what must be so of each of them."""
    return [json.loads(path.read_text()) for path in sorted((BENCH / "results").glob("*/results.json"))]


def with_runs(made, runs):
    """The same record, as if these had been its runs."""
    other = {**made, "runs": list(runs)}
    record.complete(other)
    return other


def of_repetitions(made, *repetitions):
    return with_runs(made, (run for run in made["runs"] if run["repetition"] in repetitions))


def resampled(made, random):
    """As many repetitions of each cell as it has, drawn from them (a bootstrap); the systems of a turn stay together."""
    turns = {}
    for run in made["runs"]:
        turns.setdefault(run["cell"], {}).setdefault(run["repetition"], []).append(run)
    return with_runs(made, ({**run, "repetition": repetition} for of_cell in turns.values() for repetition in of_cell
                            for run in random.choice(list(of_cell.values()))))


def slowed(made, is_meant, factor):
    """Throughput of the runs that are meant; goals and summary follow."""
    return with_runs(made, ({**run, "throughput_per_s": run["throughput_per_s"] * (factor if is_meant(run) else 1)}
                            for run in made["runs"]))
