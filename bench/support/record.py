"""What bench/run leaves behind, results.json, and the medians and ratios in it. Format 2:

{ "format": 2,
  "started", "ended": ISO times; "seconds": 2880; "complete": false when it was interrupted; "quick": false
  "whole": whether everything that is planned was measured, as it is planned, and nothing failed (missing in records before 2026-11-29)
  "walpool_options": [text], what walpoold was given beside, so that no goal is judged (missing in records before 2026-11-28)
  "command": "bench/run --quick", "host_class": "2-core-ext4"
  "machine": { name: value }                          # machine.describe; its "commit" is the checkout's
  "programs": { "walpoold": { "path", "sha256" }, .. }        # what was measured (missing in records before 2026-11-27;
                                                                      "canned" in those before 2026-11-29, and where it could not be compiled)
  "systems": { "walpool": { "title": "Walpool", "what": one line, "settings": { name: value } } }      # in their order
  "cells":   [ CELL ]                                 # the plan as it was run
  "runs":    [ RUN ]                                  # everything that was measured, one for each run
  "summary": [ CELL + { "asked": [system], "systems": { system: PART }, "ratios": { "walpool/postgres": SPREAD } } ]
  "goals":   [ GOAL ], "costs": [ COST ], "idle": [ IDLE ]
  "errors":  [ text ] }                               # what went wrong beside the runs

CELL   = { "id": "insert-8-2ms", "workload", "clients": 8, "systems": [..], "why", "section": "throughput|durability|
           slow disk|memory|cross-check|starvation|open loop", "seconds", "warm_up", "repeats", "durability": "durable|relaxed",
           "rate": transactions that are meant to start in each second, 0 of a closed loop (missing in records before 2026-12),
           "sync_delay_us": 0, "scale": 10, "driver": "walpool-load|pgbench", "classes": "writers=64,readers=16" or "" }
RUN    = { "cell": id, "system", "repetition": 1.., "place": 1.. in the turn, "sync_us": a sync of the disk just before,
           "threads" of the load generator, "throughput_per_s", "transactions", "statements", "latency_us": LATENCY, "worst_us",
           "fewest", "most",
           "fairness": fewest/most (null: not known), "busy": SQLITE_BUSY of direct access, "retries", "server_cpu_us", "client_cpu_us": for each
           statement, "classes": { name: { "clients", "loop", "throughput_per_s", "transactions", "rows", "errors",
           "error_states": {}, "due", "not_started": of an open loop, the starts that were meant to be and those that never were
           (null in a closed one; missing in records before the end of 2026-11), "latency_us": LATENCY, "worst_us", "fewest", "most", "fairness", "per_client": [..] or null,
           "series": [ {"second", "transactions", "p99_us", "max_us"} ] } },
           "notes": { what a scenario did beside: "vacuum_seconds", "outsider_locks", .. },
           "settled": of PostgreSQL { "seconds", "statements": [..] }, what was done after its turn so that it is in
           nobody else's, or null (missing in records before 2026-11-27),
           "errors": [ text ] }                       # with any of these it is no figure
         The figures outside "classes" are those of the first class, the one that the workload is about; statements,
         retries and CPU are of all.
LATENCY = { "mean", "p50", "p90", "p95", "p99", "p999", "p9999", "max" }, each may be null (pgbench knows mean and max). In the summary
         a percentile is null that fewer than ten transactions of any run were above.
         worst_us is the longest of all: "max", and what a transaction that was still running at the end had waited.
SPREAD = { "median", "least", "most", "values": [..] in the order of the repetitions }, or null where there is no figure
PART   = { "throughput_per_s": SPREAD, "latency_us": { "p50": SPREAD, .. }, "fairness": SPREAD, "fewest", "most": of the
           repetition in which they were farthest apart, "worst_us": the worst of all repetitions, "server_cpu_us", "client_cpu_us", "sync_us": SPREAD,
           "busy": sum, "retries": sum, "runs": of which there are figures, "failed": runs with errors,
           "classes": { name: { "clients", "throughput_per_s", "latency_us": {..}, "fairness", "fewest", "most", "worst_us",
           "errors": sum, "error_states": {}, "due": sum, "not_started": sum,
           "answered_share": SPREAD, of a closed loop: the part of its clients' time that ended in a transaction that succeeded; the
           rest is in no percentile (missing in records before the end of 2026-11) } } }
GOAL   = goals.py's fields, with "kind": "ratio|wait", "measured": SPREAD (wait: milliseconds), "met": true, false or null
           (not measured), "best": the system that reached it, "failed": its runs that failed, with any of which the goal is
           missed (missing in records before 2026-11-28), "beside_measured": the other's wait
COST   = { "workload", "clients", "system", "statements", "syscalls_per_statement", "calls": { "recvfrom": per statement } }
IDLE   = { "system", "sessions", "bytes_per_session", "resident_bytes", "seconds", "cpu_ms", "wakeups" (or null) }
"""

import json
import statistics

from support.goals import judge
from support.systems import SYSTEMS

FORMAT = 2
PERCENTILES = ("mean", "p50", "p90", "p95", "p99", "p999", "p9999", "max")
# Each of ours is put in relation to each of the others.
OURS = ("walpool", "walpool-pipelined", "walpool-normal")
# Which part of the transactions is above each. A percentile that fewer than LEAST_BEYOND stand above is the figure of some single ones.
BEYOND = {"p90": 0.1, "p95": 0.05, "p99": 0.01, "p999": 0.001, "p9999": 0.0001}
LEAST_BEYOND = 10


def new(command, quick, cells, machine, walpool_options=()):
    return {
        "format": FORMAT, "started": machine["time"], "ended": None, "seconds": None, "complete": False, "quick": quick, "whole": False,
        "walpool_options": list(walpool_options), "command": command, "host_class": host_class(machine), "machine": machine, "programs": {}, "systems": {},
        "cells": [cell.described() for cell in cells], "runs": [], "summary": [], "goals": [], "costs": [], "idle": [],
        "errors": [],
    }


def new_run(cell, system, repetition, place):
    """A run that has not been made: what is to be filled in is there."""
    return {
        "cell": cell.id, "system": system, "repetition": repetition, "place": place, "sync_us": None,
        "threads": None,
        "throughput_per_s": None, "transactions": 0, "statements": 0, "latency_us": dict.fromkeys(PERCENTILES),
        "worst_us": None, "fewest": None, "most": None, "fairness": None, "busy": 0, "retries": 0, "server_cpu_us": None,
        "client_cpu_us": None, "classes": {}, "notes": {}, "settled": None, "errors": [],
    }


def host_class(machine):
    """Two machines of one class may be compared: as many cores, and the same kind of file system."""
    return f"{machine['cores']}-core-{machine['file_system']['type']}"


def complete(record):
    """Fills in what follows from the runs."""
    record["summary"] = [summarise(cell, [run for run in record["runs"] if run["cell"] == cell["id"]])
                         for cell in record["cells"]]
    record["summary"] = [cell for cell in record["summary"] if cell["asked"]]
    record["goals"] = judge(record["summary"])
    if record.get("walpool_options"):
        # They were set for the daemon as it comes.
        record["goals"] = [{**goal, "met": None} for goal in record["goals"]]
    record["systems"] = {name: record["systems"][name] for name in SYSTEMS if name in record["systems"]}


def dumped(record):
    """JSON with a line for each run and each cell, so that two of them can be compared by eye."""
    lines = [f" {json.dumps(name)}: " + ("[\n  " + ",\n  ".join(json.dumps(rounded(each)) for each in value) + "\n ]"
                                        if isinstance(value, list) and value else json.dumps(rounded(value)))
             for name, value in record.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def rounded(value):
    """Five digits are more than any figure here is worth."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list) else value


def failed(record):
    """What makes the exit status 1. SQLITE_BUSY of direct access is no error: it is what is being shown."""
    return [*record["errors"], *(f"{run['cell']}, {run['system']}: {error}" for run in record["runs"] for error in run["errors"])]


def summarise(cell, runs):
    # In the order of reports, which is not that of their turns.
    asked = [system for system in SYSTEMS if any(run["system"] == system for run in runs)]
    return {**cell, "asked": asked, "ratios": ratios(runs, asked),
            "systems": {system: part([run for run in runs if run["system"] == system]) for system in asked}}


def ratios(runs, systems):
    """A ratio is taken within one repetition, where both met the same machine; then the median of those."""
    turns = {}
    for run in runs:
        if not run["errors"] and run["throughput_per_s"] is not None:
            turns.setdefault(run["repetition"], {})[run["system"]] = run["throughput_per_s"]
    found = {}
    for ours in systems:
        for other in systems:
            if ours not in OURS or ours == other:
                continue
            values = [turn[ours] / turn[other] for _, turn in sorted(turns.items()) if ours in turn and turn.get(other)]
            if values:
                found[f"{ours}/{other}"] = spread(values)
    return found


def part(runs):
    """One system in one cell. What a run with errors measured is no figure of anything."""
    good = [run for run in runs if not run["errors"]]
    names = list(dict.fromkeys(name for run in good for name in run["classes"]))
    return {
        **figures(good),
        "server_cpu_us": spread_of(good, "server_cpu_us"), "client_cpu_us": spread_of(good, "client_cpu_us"),
        "sync_us": spread_of(good, "sync_us"),
        "busy": sum(run["busy"] for run in runs), "retries": sum(run["retries"] for run in runs),
        "runs": len(good), "failed": len(runs) - len(good),
        "classes": {name: of_class([run["classes"][name] for run in good if name in run["classes"]]) for name in names},
    }


def of_class(parts):
    states = {}
    for each in parts:
        for state, count in each["error_states"].items():
            states[state] = states.get(state, 0) + count
    return {"clients": parts[0]["clients"], **figures(parts), "errors": sum(each["errors"] for each in parts),
            "error_states": states, **{name: sum(each.get(name) or 0 for each in parts) for name in ("due", "not_started")},
            "answered_share": spread([share for each in parts if (share := answered_share(each)) is not None])}


def answered_share(of_class):
    """Little's law: throughput times mean latency is how many clients had something under way that succeeded. None where that
    says nothing: an open loop, clients that only wait, or pgbench."""
    mean = of_class["latency_us"].get("mean")
    if of_class.get("loop") != "closed" or not of_class["clients"] or of_class["throughput_per_s"] is None or not mean:
        return None
    return of_class["throughput_per_s"] * mean / 1e6 / of_class["clients"]


def figures(parts):
    """What a run and a class of it have both."""
    told = [each for each in parts if each["most"] is not None]
    # Where nobody got anything nobody got less than another.
    uneven = min([each for each in told if each["most"]] or told, key=lambda each: each["fairness"] or 0, default=None)
    return {
        "throughput_per_s": spread_of(parts, "throughput_per_s"),
        "latency_us": {name: spread(latencies(parts, name)) for name in PERCENTILES},
        "fairness": spread_of(parts, "fairness"),
        "fewest": uneven and uneven["fewest"], "most": uneven and uneven["most"],
        "worst_us": max((each["worst_us"] for each in parts if each["worst_us"] is not None), default=None),
    }


def latencies(parts, percentile):
    """Of all repetitions, or of none where in one of them too few transactions were above it."""
    if any(part["transactions"] * BEYOND.get(percentile, 1) < LEAST_BEYOND for part in parts if percentile in BEYOND):
        return []
    return [part["latency_us"][percentile] for part in parts if part["latency_us"][percentile] is not None]


def spread_of(parts, name):
    return spread([each[name] for each in parts if each[name] is not None])


def spread(values):
    if not values:
        return None
    return {"median": statistics.median(values), "least": min(values), "most": max(values), "values": values}
