"""Every ratio below 1 of a record, so that none of them can be left out by hand."""

import collections

from support import markdown as md
from support.record import OURS
from support.recordview import RELAXED, title

# What shows how far one could get is no other way to serve a file.
LIMITS = ("in-process", "canned")


def below_one(record):
    """A table, the smallest first; None where there is nothing to put into it."""
    found = sorted(_losses(record), key=lambda loss: loss[0])
    if not found:
        return None
    rows = [[_what(cell), md.whole(cell["clients"]), title(record, ours), title(record, other),
             *(md.whole(cell["systems"][system]["throughput_per_s"]["median"]) for system in (ours, other)), f"{median:.2f}"]
            for median, cell, ours, other in found]
    return ("Every workload in which Walpool does less than another of the same promise, by the same rules:\n\n"
            + md.table(["workload", "clients", "Walpool's mode", "the other", "Walpool's", "the other's", "ratio"], rows, left=1,
                       words=("Walpool's mode", "the other")))


def summary(record, directory):
    """How many they are and how far below, for a page that links the table; None where there is nothing to say."""
    every = list(_compared(record))
    below = collections.defaultdict(list)
    for ratio, _, _, other in _losses(record):
        below[title(record, other)].append(ratio)
    if not below:
        return None
    most_first = sorted(below.items(), key=lambda item: (-len(item[1]), item[0]))
    compared = collections.Counter(title(record, other) for _, _, _, other in every)
    rows = [[other, md.whole(len(ratios)), md.whole(compared[other]), _span(ratios)] for other, ratios in most_first]
    return (f"In {sum(map(len, below.values()))} of {len(every)} comparisons with another system of the same promise Walpool does less "
            "(each of its modes counts by itself). Every one is in [Where Walpool does "
            f"less]({directory}/results.md#where-walpool-does-less).\n\n"
            + md.table(["the other", "Walpool does less in", "of", "Walpool's throughput to the other's there"], rows, left=1))


def _span(ratios):
    least, most = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return least if least == most else f"{least} to {most}"


def _losses(record):
    # As it is shown.
    return [each for each in _compared(record) if round(each[0], 2) < 1]


def _compared(record):
    # As many as are meant to start, whoever serves them: no figure of speed.
    paced = {run["cell"] for run in record["runs"] if any(each["loop"] == "open" for each in list(run["classes"].values())[:1])}
    for cell in record["summary"]:
        if cell["id"] in paced:
            continue
        for pair, ratio in cell["ratios"].items():
            ours, other = pair.split("/")
            if other in (*OURS, *LIMITS) or (ours in RELAXED) != (other in RELAXED):
                continue
            yield ratio["median"], cell, ours, other


def _what(cell):
    """Says everything in which it differs from the plain cell."""
    remarks = [cell["workload"]]
    if cell["sync_delay_us"]:
        remarks.append(f"syncs {cell['sync_delay_us'] / 1000:g} ms slower")
    if cell["section"] == "memory":
        remarks.append(f"scale {cell['scale']}")
    if cell["driver"] != "walpool-load":
        remarks.append(f"driven by {cell['driver']}")
    if cell["classes"]:
        remarks.append(cell["classes"].partition("=")[0])
    return ", ".join(remarks)


def section(record):
    """The report's."""
    text = below_one(record)
    return text and f"## Where Walpool does less\n\n{text}"
