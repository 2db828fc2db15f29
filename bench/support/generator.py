"""One run of the load generator, and what it told, in the words of the record."""

import json
import os
import subprocess
import time
import tomllib
from pathlib import Path

from support.tools import BENCH, end, start

# Of its JSON: what is read here is all there, and means what is meant here.
FORMAT = 3

# What it may take beside the seconds it measures: to connect, to warm up, to wait for the last answer.
PATIENCE = 60


class Failed(Exception):
    """It broke, or hung."""


def path_of(cell):
    return path_of_workload(cell.workload)


def path_of_workload(name):
    return BENCH / "workloads" / f"{name}.toml"


def command(system, cell, programs, seed, result):
    """The same for every system but for how it is reached."""
    described = tomllib.loads(path_of(cell).read_text())
    options = {
        "--clients": cell.classes or cell.clients, "--seconds": cell.seconds, "--warm-up": cell.warm_up(),
        "--rate": cell.rate or None, "--seed": seed, "--json": result,
        "--set": f"scale={cell.scale}" if "scale" in described.get("variables", {}) else None,
    }
    given = [part for name, value in options.items() if value is not None for part in (name, value)]
    return [str(part) for part in (*system.command(programs, path_of(cell)), *given, "--quiet")]


def run(system, cell, programs, seed, directory, more=()):
    """What it told, as it told it. It and the processes it made are gone when this returns or raises."""
    result = directory / "load.json"
    result.unlink(missing_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    line = [*command(system, cell, programs, seed, result), *map(str, more)]
    name = Path(line[0]).name
    process = start(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                    env={**environment, **system.environment})
    try:
        said, _ = process.communicate(timeout=cell.seconds + cell.warm_up() + PATIENCE)
    except subprocess.TimeoutExpired:
        raise Failed(f"{name} hangs after {cell.seconds + PATIENCE} s") from None
    finally:
        end(process)
    last = " | ".join(said.strip().splitlines()[-3:])
    if process.returncode != 0:
        raise Failed(f"{name} ended with status {process.returncode}: {last}")
    try:
        told = json.loads(result.read_text())
    except (OSError, ValueError) as error:
        raise Failed(f"{name} left no result: {error}; {last}") from error
    if (found := told.get("format") if isinstance(told, dict) else None) != FORMAT:
        raise Failed(f"{name} tells its result in format {found}, not {FORMAT}: it is of another version than bench/ ({line[0]})")
    return told


def figures(told, keep_all):
    """The part of a RUN (record.py) that the generator's JSON gives. `keep_all` for what grows with the run."""
    classes = {each["name"]: of_class(each, keep_all) for each in told["classes"]}
    first = next(iter(classes.values()))
    statements = sum(each["statements"] for each in told["classes"])
    return {
        **{name: first[name] for name in ("throughput_per_s", "transactions", "latency_us", "worst_us", "fewest", "most",
                                          "fairness")},
        "statements": statements, "threads": told["threads"],
        # On the clock that the servers' processor time is sampled by.
        "ended": told["started_at"] + told["seconds"] - time.time() + time.monotonic(),
        "retries": sum(each.get("retries", 0) for each in told["classes"]),
        "client_cpu_us": told["client_cpu_seconds"] / statements * 1e6 if statements else None,
        "classes": classes,
    }


def of_class(told, keep_all):
    clients = told.get("per_client")
    most = told["most"]
    return {
        "clients": told["clients"], "loop": told["loop"], "throughput_per_s": told["throughput_per_s"],
        "transactions": told["transactions"], "rows": told["rows"], "errors": told["errors"],
        "error_states": told["error_states"], "due": told.get("due"), "not_started": told.get("not_started"), "latency_us": told["latency_us"],
        # A client that is starved to the end has ended no transaction: what it had waited by then counts.
        "worst_us": max(told["latency_us"]["max"], told["unfinished_us"]),
        "fewest": told["fewest"], "most": most, "fairness": round(told["fewest"] / most, 4) if most else None,
        "per_client": clients if keep_all and clients and len(clients) <= 64 else None,
        "series": told.get("series", []) if keep_all else [],
    }
