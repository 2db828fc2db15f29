"""Sections of the report about how long clients waited, and whether all alike."""

import statistics

from support import markdown as md
from support.recordview import PERCENTILES, VICTIM_NAMES, answered_shares, by_workload, due, title


def latency(record):
    rows = []
    for cell in by_workload(record["summary"]):
        if cell["section"] != "throughput" or cell["clients"] not in (1, 8, 64) and cell["workload"] in ("select", "insert"):
            continue
        for system, part in cell["systems"].items():
            found = part["latency_us"]
            rows.append([cell["workload"], md.whole(cell["clients"]), title(record, system),
                         *(md.milliseconds(found.get(name)) for name in PERCENTILES if name != "max"),
                         md.milliseconds(part["worst_us"])])
    if not rows:
        return None
    return ("## Latency\n\nIn a closed loop, at saturation: each client sends its next transaction as soon as it has the answer to the "
            "last. Milliseconds from the start of a transaction to its last answer, of the first class of clients; medians of the "
            "repetitions, and the longest of all.\n\n"
            + md.table(["workload", "clients", "system", *(f"p{text}" for text in list(PERCENTILES.values())[:-1]), "longest"],
                       md.without_repeats(rows, 2), left=3))


def fairness(record):
    rows = []
    for cell in by_workload(record["summary"]):
        if cell["section"] != "throughput" or cell["clients"] < 2:
            continue
        for system, part in cell["systems"].items():
            if part["fairness"] and (part["fairness"]["least"] < 0.8 or cell["workload"] in ("insert", "tpcb", "mixed-50-50")):
                rows.append([cell["workload"], md.whole(cell["clients"]), title(record, system),
                             f"{part['fairness']['median']:.2f}", md.whole(part["fewest"]), md.whole(part["most"]), md.whole(part["busy"]) if part["busy"] else "",
                             _answered(record, cell, system)])
    if not rows:
        return None
    return ("## Fairness\n\nThe fewest transactions of one client as a part of the most, the median of the repetitions; the "
            "fewest and the most in the repetition in which they were farthest apart. Writing workloads, and others where one got less than 0.8 of another.\n\n"
            + md.table(["workload", "clients", "system", "fewest / most", "fewest", "most", "SQLITE_BUSY", ANSWERED],
                       md.without_repeats(rows, 2), left=3) + FOOTNOTE)


ANSWERED = "clients' time that ended in a commit"
FOOTNOTE = ("\n\nThe rest of the clients' time was spent in transactions that failed or were not answered by the end. Percentiles of latency "
            "are of those that succeeded, so that time is in none of them. What is left where nothing failed is the load generator's.")


def _answered(record, cell, system, of_class=None):
    shares = answered_shares(record, cell["id"], system, of_class)
    return f"{statistics.median(shares) * 100:.0f} %" if shares else ""


def starvation(record):
    rows = []
    for cell in record["summary"]:
        if cell["section"] != "starvation":
            continue
        for system, part in cell["systems"].items():
            for name, of_class in part["classes"].items():
                found = of_class["latency_us"]
                shares = f"{of_class['fewest']:,} / {of_class['most']:,}" if of_class["most"] is not None else ""
                errors = ", ".join([f"{count:,} {state}" for state, count in of_class["error_states"].items()] + due(of_class))
                rows.append([VICTIM_NAMES.get(cell["workload"], cell["workload"]), title(record, system), name,
                             md.whole(of_class["clients"]), _per_second(of_class), md.milliseconds(found.get("p50")),
                             md.milliseconds(found.get("p99")), md.milliseconds(found.get("p999")),
                             md.milliseconds(of_class["worst_us"]), shares if of_class["clients"] > 1 else "", _answered(record, cell, system, name), errors])
    if not rows:
        return None
    return ("## Starvation\n\nEvery class of clients, in a closed loop but for those that are paced. Milliseconds; the longest "
            "includes what failed and what still waited at the end.\n\n" + md.table(["scenario", "system", "clients", "number", "per second", "p50", "p99", "p99.9", "longest",
                                   "fewest / most", ANSWERED, "errors"], md.without_repeats(rows, 2), left=3, words=("errors",)) + _notes(record))


def _notes(record):
    """What the scenarios did beside the clients: how long VACUUM took, how often the outsider had the lock."""
    of_starvation = {cell["id"]: cell for cell in record["summary"] if cell["section"] == "starvation"}
    lines = [f"- {of_starvation[run['cell']]['workload']}, {title(record, run['system'])}: "
             + ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in run["notes"].items())
             for run in record["runs"] if run["cell"] in of_starvation and run.get("notes")]
    return "\n\n" + "\n".join(lines) if lines else ""


def _per_second(of_class):
    spread = of_class["throughput_per_s"]
    return "" if not spread else md.whole(spread["median"]) if spread["median"] >= 100 else md.digits(spread["median"])
