"""Every ratio below 1 of a record, and every p99 and p99.9 above PostgreSQL's, so that none can be left out by hand."""

import collections

from support import markdown as md
from support.record import OURS, ratios
from support.recordview import PERCENTILES, RELAXED, title
from support.systems import OLD

# What shows how far one could get is no other way to serve a file.
LIMITS = ("in-process", "canned")
# Nor is what this was before.
NONE_OTHER = (*OURS, *LIMITS, OLD)


def below_one(record):
    """A table, the smallest first; None where there is nothing to put into it."""
    found = sorted(_losses(record), key=lambda loss: loss[0])
    if not found:
        return None
    rows = [[_what(cell, name), md.whole(cell["clients"]), title(record, ours), title(record, other),
             *(_per_second(cell["systems"][system]["classes"][name]) for system in (ours, other)), _below(ratio)]
            for ratio, cell, name, ours, other in found]
    return ("Every class of clients of every workload in which Walpool does less than another of the same promise, by the same "
            "rules:\n\n"
            + md.table(["workload", "clients", "Walpool's mode", "the other", "Walpool's", "the other's", "ratio"], rows, left=1,
                       words=("Walpool's mode", "the other")))


def slower(record):
    """A table of latencies, the farthest above PostgreSQL's first; None where there is nothing to put into it."""
    found = sorted((each for each in _latencies(record) if each[0]), key=lambda each: -_times(*each[5:]))
    if not found:
        return None
    rows = [[_what(cell, name), md.whole(cell["clients"]), title(record, ours), f"p{PERCENTILES[percentile]}",
             md.milliseconds(mine), md.milliseconds(other), f"{_times(mine, other):.1f}"]
            for _, cell, name, ours, percentile, mine, other in found]
    heads = ["workload", "clients", "Walpool's mode", "percentile", "Walpool's", "PostgreSQL's", "times"]
    return ("### Where its clients wait longer than PostgreSQL's\n\np99 and p99.9 of every class of clients, milliseconds, where "
            "the least of the repetitions is above the most of PostgreSQL's, which promises the same:\n\n"
            + md.table(heads, rows, left=1, words=("Walpool's mode", "percentile")))


def summary(record, directory):
    """How many they are and how far below, for a page that links the table; None where there is nothing to say."""
    every = list(_compared(record))
    below = collections.defaultdict(list)
    for ratio, *_, other in _losses(record):
        below[title(record, other)].append(ratio)
    if not below:
        return None
    most_first = sorted(below.items(), key=lambda item: (-len(item[1]), item[0]))
    compared = collections.Counter(title(record, other) for *_, other in every)
    rows = [[other, md.whole(len(ratios)), md.whole(compared[other]), _span(ratios)] for other, ratios in most_first]
    return (f"In {sum(map(len, below.values()))} of {len(every)} comparisons with a system that promises the same, Walpool's throughput is "
            f"lower (each class of clients and each of Walpool's modes counts by itself).{_waits_in_words(record)} Every one is in "
            f"[Where Walpool does less]({directory}/results.md#where-walpool-does-less).\n\n"
            + md.table(["compared with", "Walpool is lower in", "of", "Walpool's throughput divided by the other's, there"], rows, left=1))


def _waits_in_words(record):
    every = list(_latencies(record))
    above = sum(each[0] for each in every)
    return (f" Of its {len(every)} p99 and p99.9 there are {above} whose least repetition is above the most of PostgreSQL's." if above else "")


def _span(ratios):
    least, most = _below(min(ratios)), _below(max(ratios))
    return least if least == most else f"{least} to {most}"


def _below(ratio):
    """Two digits, or as many as show that it is below 1."""
    return next(text for digits in range(2, 9) if float(text := f"{ratio:.{digits}f}") < 1 or digits == 8)


def _losses(record):
    return [each for each in _compared(record) if each[0] < 1]


def _compared(record):
    """Every pair of the same promise: ratio of the throughputs, cell, class, ours, the other."""
    for cell in record["summary"]:
        runs = [run for run in record["runs"] if run["cell"] == cell["id"]]
        for name in _classes(cell):
            of_class = [{**run, **run["classes"][name]} for run in runs if not run["errors"] and name in run["classes"]]
            # As many as are meant to start, whoever serves them: no figure of speed.
            if any(each["loop"] == "open" for each in of_class):
                continue
            of_class = [{**each, "errors": []} for each in of_class]
            for pair, ratio in ratios(of_class, cell["asked"]).items():
                ours, other = pair.split("/")
                if other not in NONE_OTHER and (ours in RELAXED) == (other in RELAXED):
                    yield ratio["median"], cell, name, ours, other


def _latencies(record):
    """Every p99 and p99.9 that PostgreSQL has as well: whether ours is above beyond the spread, cell, class, ours, percentile,
    both figures."""
    for cell in record["summary"]:
        for name in _classes(cell):
            for ours in OURS:
                parts = [cell["systems"].get(system, {}).get("classes", {}).get(name)
                         for system in (ours, "postgres-async" if ours in RELAXED else "postgres")]
                for percentile in ("p99", "p999"):
                    mine, other = (part and part["latency_us"].get(percentile) for part in parts)
                    # 0 is the latency of nothing.
                    if mine and other and mine["least"] and other["least"]:
                        yield mine["least"] > other["most"], cell, name, ours, percentile, mine, other


def _times(mine, other):
    return mine["median"] / other["median"]


def _classes(cell):
    return list(dict.fromkeys(name for part in cell["systems"].values() for name in part["classes"]))


def _per_second(of_class):
    median = of_class["throughput_per_s"]["median"]
    return md.whole(median) if median >= 100 else md.digits(median)


def _what(cell, name):
    """Says everything in which it differs from the plain cell, and whose figures they are where there are several classes."""
    remarks = [cell["workload"]]
    if cell["sync_delay_us"]:
        remarks.append(f"syncs {cell['sync_delay_us'] / 1000:g} ms slower")
    if cell["section"] == "memory":
        remarks.append(f"scale {cell['scale']}")
    if cell.get("rate"):
        remarks.append(f"open loop, {cell['rate']:,} a second")
    if cell["driver"] != "walpool-load":
        remarks.append(f"driven by {cell['driver']}")
    if len(_classes(cell)) > 1 or cell["classes"]:
        remarks.append(name)
    return ", ".join(remarks)


def section(record):
    """The report's."""
    texts = [text for text in (below_one(record), slower(record)) if text]
    return "## Where Walpool does less\n\n" + "\n\n".join(texts) if texts else None
