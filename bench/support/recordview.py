"""What report and pictures look up in a record of bench/run (its shape: record.py)."""

import statistics

from support.record import answered_share

PERCENTILES = {"p50": "50", "p90": "90", "p99": "99", "p999": "99.9", "p9999": "99.99", "max": "max"}

# Who is to be starved in which workload, and how a picture says it.
STARVATION_VICTIMS = {
    "starve-readers": "writers", "starve-one": "one", "starve-scanners": "writers", "starve-outsider": "writers",
    "starve-slow-client": "writers", "starve-vacuum": "writers", "worst-wait": "writers",
}
# In the order of the picture.
VICTIM_NAMES = {
    "worst-wait": "64 writers, 16 readers, 2 scanners",
    "starve-readers": "writers beside saturating readers", "starve-one": "a paced writer among 63",
    "starve-scanners": "writers beside pinned snapshots", "starve-outsider": "writers, an outsider locks the file",
    "starve-slow-client": "writers beside a slow client", "starve-vacuum": "writers, VACUUM in the middle",
}
# Those of the pages: the workloads that goals are about, and README's table.
WORKLOAD_NAMES = {
    "select": "point SELECT", "insert": "durable INSERT", "mixed-95-5": "95 % reads, 5 % writes",
    "tpcb": "TPC-B, a message a statement", "tpcb-simple": "TPC-B without tellers and branches",
    "tpcb-pipeline": "TPC-B, one pipeline", "tpcb-message": "TPC-B, one query string", "read-modify-write": "a row read and changed in a block",
    "snapshot-beside-writers": "writers beside a snapshot", **VICTIM_NAMES,
}
# Cells whose clients all ask for the same and should get as much: cell, class (None: the first), name.
EQUAL_SHARES = (
    ("worst-wait-82", "writers", "64 writers, 16 readers, 2 scanners"),
    ("starve-one-64", "others", "63 writers beside a paced one"),
)


def cells_of(record, workload, section="throughput"):
    """By clients: on the machine's own disk, answered when durable, driven by our generator."""
    return sorted((cell for cell in record["summary"] if cell["workload"] == workload and cell["section"] == section
                   and cell["driver"] == "walpool-load" and not cell["sync_delay_us"]), key=lambda cell: cell["clients"])


# Systems that answer before a commit is on the disk, and those that are no server and no way to share a file.
RELAXED = ("walpool-normal", "postgres-async", "direct-normal")
NO_ALTERNATIVES = ("in-process", "canned", "grdb", "pgbouncer")


def throughput_by_mode(record, workload, clients, delay):
    """System -> throughput, of durable and relaxed modes, in the systems' order."""
    parts = {}
    for cell in record["summary"]:
        if (cell["workload"], cell["clients"], cell["sync_delay_us"], cell["driver"]) == (workload, clients, delay, "walpool-load") \
                and not cell.get("rate"):
            parts |= {system: part["throughput_per_s"] for system, part in cell["systems"].items() if part["throughput_per_s"]}
    return {system: parts[system] for system in record["systems"] if system in parts and system not in NO_ALTERNATIVES}


def by_workload(cells):
    """Those of a workload by clients, in the plan's order otherwise."""
    workloads = list(dict.fromkeys(cell["workload"] for cell in cells))
    return sorted(cells, key=lambda cell: (workloads.index(cell["workload"]), cell["clients"]))


def title(record, system):
    return record["systems"].get(system, {}).get("title", system)


def named_workload(cell):
    """Of a cell or a goal."""
    return WORKLOAD_NAMES.get(cell["workload"], cell["workload"]) + slower_syncs(cell)


def due(of_class):
    """What an open loop did not start of what was due, in words."""
    missing = of_class.get("not_started")
    return [f"{missing:,} of {of_class['due']:,} due not started"] if missing else []


def slower_syncs(cell):
    return f", syncs {cell['sync_delay_us'] / 1000:g} ms slower" if cell["sync_delay_us"] else ""


def class_of(part, name):
    """A class by its name; without one, or where a run has no such class, the first."""
    classes = part["classes"]
    return classes.get(name) or next(iter(classes.values()), None)


def answered_shares(record, cell, system, of_class=None):
    """Of a closed loop, in each repetition: which part of its clients' time ended in a transaction that succeeded."""
    runs = [run for run in record["runs"] if (run["cell"], run["system"]) == (cell, system) and not run["errors"]]
    shares = [answered_share(found) for run in runs if (found := class_of(run, of_class))]
    return [share for share in shares if share is not None]


def cores(record, cell, system):
    """How many cores a system's servers kept busy, and how many the load generator, which shares them: the medians of the
    repetitions; None where one of them is not known."""
    runs = [run for run in record["runs"] if (run["cell"], run["system"]) == (cell["id"], system) and not run["errors"]
            and run["server_cpu_us"] and run["client_cpu_us"]]
    if not runs:
        return None
    return tuple(statistics.median(run[name] * run["statements"] for run in runs) / 1e6 / cell["seconds"]
                 for name in ("server_cpu_us", "client_cpu_us"))


def crossed(record):
    """Cells that were measured with both generators: (walpool-load's, pgbench's)."""
    ours = {(cell["workload"], cell["clients"]): cell for cell in record["summary"] if cell["section"] == "throughput"}
    return [(ours[key], cell) for cell in record["summary"] if cell["section"] == "cross-check"
            if (key := (cell["workload"], cell["clients"])) in ours]


def worst_of(cell, victim):
    """System -> the longest wait of any of the victims, in microseconds."""
    found = {system: class_of(part, victim) for system, part in cell["systems"].items()}
    return {system: of_class["worst_us"] for system, of_class in found.items() if of_class and of_class["worst_us"]}


def share_of_equal(record, cell, of_class):
    """System -> for each repetition what every client got, sorted, as a multiple of what all would have got equally."""
    shares = {}
    for run in record["runs"]:
        if run["cell"] != cell or run["errors"]:
            continue
        found = class_of(run, of_class)
        counts = sorted((found or {}).get("per_client") or [])
        if len(counts) > 1 and sum(counts):
            shares.setdefault(run["system"], []).append([count * len(counts) / sum(counts) for count in counts])
    return {system: shares[system] for system in record["systems"] if system in shares}
