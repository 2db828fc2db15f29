"""docs/benchmarks.md's part of all benchmarks: every whole run that is kept, the newest first, on what machine it was, and what
became of each goal. One run says little of another machine, or of another hour. It is a marked part (marked.py)."""

import statistics

from support import marked
from support import markdown as md
from support.readme import unfit
from support.recordview import named_workload, title
from support.tools import BenchError

BEGIN, END = marked.begin("whole runs", "--runs"), marked.end("whole runs")
SECTION = marked.section("whole runs", "whole runs")
# What docs/benchmarks.md speaks of, and no goal was set for: cell, which of Walpool's modes, to whom.
BESIDE_GOALS = (
    ("select-1", "walpool", "canned"), ("select-1", "walpool", "direct"), ("select-2", "walpool", "postgres"),
    ("select-8-pgbench", "walpool", "postgres"), ("select-64-pgbench", "walpool", "postgres"),
    ("insert-1", "walpool", "direct"), ("insert-64-pgbench", "walpool", "postgres"), ("insert-8-relaxed", "walpool-normal", "postgres-async"),
    ("tpcb-8", "walpool", "postgres"), ("tpcb-64", "walpool", "postgres"), ("tpcb-8", "walpool", "direct"),
    ("tpcb-8-pgbench", "walpool-pipelined", "postgres"), ("tpcb-64-pgbench", "walpool-pipelined", "postgres"),
    ("tpcb-8-2ms", "walpool", "postgres"), ("tpcb-8-2ms", "walpool-pipelined", "postgres"), ("tpcb-64-2ms", "walpool", "postgres"),
    ("tpcb-8-relaxed", "walpool-normal", "postgres-async"), ("tpcb-64-relaxed", "walpool-normal", "postgres-async"),
    ("tpcb-simple-8", "walpool-pipelined", "postgres"), ("tpcb-simple-64", "walpool-pipelined", "postgres"),
    ("tpcb-message-8", "walpool", "postgres"), ("read-modify-write-8", "walpool", "postgres"),
    ("snapshot-beside-writers-9", "walpool", "postgres"),
)
# What a round trip costs where nothing is done for it: the empty wire server, and its one client.
ROUND_TRIP = ("select-1", "canned")


def part_of_page(kept):
    """`kept`: directory -> record; those that are no whole run are left out."""
    whole = {directory: record for directory, record in kept.items() if not unfit(record)}
    if not whole:
        raise BenchError("no whole run is kept")
    newest = dict(sorted(whole.items(), key=lambda item: item[1]["started"], reverse=True))
    records = list(newest.values())
    return "\n\n".join([BEGIN, machines(newest), goals(records), beside_goals(records), END])


def put_into(page, text):
    marked.put_into(page, SECTION, text, f"a line \"{BEGIN}\" and a line \"{END}\"")


def machines(runs):
    rows = [[f"[{commit(record)}](../bench/results/{directory}/results.md)", record["started"][:16].replace("T", ", "),
             str(record["machine"].get("kernel", "")), _microseconds(round_trip(record)), _microseconds(sync(record)), _met(record)]
            for directory, record in runs.items()]
    heads = ["run of", "begun (UTC)", "kernel", "round trip to the empty wire server", "sync of the disk", "goals met"]
    return md.table(heads, rows, words=heads[1:3])


def goals(records):
    """What was missed is bold. Goals that a run did not have are left empty."""
    every = {}
    for record in records:
        for goal in record["goals"]:
            # As the newest run has it that was asked for it.
            if goal["workload"]:
                every.setdefault(_key(goal), (record, goal))
    measured = [{_key(goal): goal for goal in record["goals"]} for record in records]
    rows = [[_name(record, goal), _asked(goal), *(_figure(of_run.get(key)) for of_run in measured)]
            for key, (record, goal) in every.items()]
    return md.table(["goal", "set", *map(commit, records)], rows)


def beside_goals(records):
    """Ratios as those of goals, in which nothing is met or missed."""
    cells = [{cell["id"]: cell for cell in record["summary"]} for record in records]
    rows = []
    for name, ours, other in BESIDE_GOALS:
        shown = next(((record, found[name]) for record, found in zip(records, cells) if name in found), None)
        if shown:
            ratios = (found[name]["ratios"].get(f"{ours}/{other}") if name in found else None for found in cells)
            rows.append([_named(*shown, ours, other), *map(md.ratio, ratios)])
    return md.table(["no goal", *map(commit, records)], rows)


def _named(record, cell, ours, other):
    mode = "" if ours == "walpool" else f", `{ours.removeprefix('walpool-')}`"
    driver = ", driven by pgbench" if cell["driver"] == "pgbench" else ""
    return f"{named_workload(cell)}, {md.clients(cell['clients'])}{mode}{driver}, to {title(record, other)}"


def commit(record):
    return (record["machine"].get("commit") or "not known")[:7]


def round_trip(record):
    """Microseconds: a closed loop of one client is one round trip after the other."""
    cell, system = ROUND_TRIP
    found = next((part["throughput_per_s"] for each in record["summary"] if each["id"] == cell
                  if (part := each["systems"].get(system))), None)
    return 1e6 / found["median"] if found and found["median"] else None


def sync(record):
    """Microseconds: the median of the probes before each run."""
    probes = [run["sync_us"] for run in record["runs"] if run["sync_us"]]
    return statistics.median(probes) if probes else record["machine"]["sync_us"]


def _microseconds(value):
    return f"{value:.0f} µs" if value is not None else md.ABSENT


def _met(record):
    return f"{sum(bool(goal['met']) for goal in record['goals'])} of {len(record['goals'])}"


def _key(goal):
    return goal["cell"], goal.get("other")


def _name(record, goal):
    if goal["kind"] == "wait":
        return f"{named_workload(goal)}: longest wait of {goal['client_class']}"
    return f"{named_workload(goal)}, {md.clients(goal['clients'])}, to {title(record, goal['other'])}"


def _asked(goal):
    return f"≤ {goal['at_most_ms']:g} ms" if goal["kind"] == "wait" else f"≥ {goal['at_least']:g}"


def _figure(goal):
    if goal is None or goal["measured"] is None:
        return md.ABSENT
    if goal["kind"] == "wait":
        figure = f"{md.digits(goal['measured'])} ms"
    else:
        figure = md.ratio(goal["measured"], goal=goal["at_least"])
    return figure if goal["met"] else f"**{figure}**"
