"""Latency where all are asked for the same: an open loop, at a rate that each system can serve."""

from support import markdown as md
from support.recordview import PERCENTILES, due, named_workload, title

SHOWN = ("p50", "p90", "p99", "p999")


def section(record):
    """The report's."""
    rows = _rows(record, SHOWN)
    return "## Open loop\n\n" + INTRODUCTION + _table(rows, SHOWN) if rows else None


def of_readme(record):
    """The front page's, with fewer figures."""
    shown = ("p50", "p99")
    rows = _rows(record, shown)
    return INTRODUCTION + _table(rows, shown) if rows else None


INTRODUCTION = ("At saturation, the mean latency is the number of clients divided by the throughput. This is latency when every system has the same "
                "to do: clients start transactions at a fixed rate that is far from what the systems can do at most, and each latency is measured from "
                "the moment at which its transaction was due to start. So a stall counts for everything that was due meanwhile. "
                "Milliseconds, medians of the repetitions, and the longest of all:\n\n")


def _table(rows, shown):
    heads = ["workload", "clients", "due per second", "system", *(f"p{PERCENTILES[name]}" for name in shown), "longest", "not served"]
    return md.table(heads, md.without_repeats(rows, 3), left=1, words=("system", "not served"))


def _rows(record, shown):
    rows = []
    for cell in record["summary"]:
        if cell["section"] != "open loop":
            continue
        for system, part in cell["systems"].items():
            for of_class in part["classes"].values():
                errors = [f"{count:,} {state}" for state, count in of_class["error_states"].items()] + due(of_class)
                rows.append([named_workload(cell), md.whole(cell["clients"]), md.whole(cell["rate"]), title(record, system),
                             *(md.milliseconds(of_class["latency_us"].get(name)) for name in shown),
                             md.milliseconds(of_class["worst_us"]), ", ".join(errors)])
    return rows
