"""Every ratio below 1 of a record, so that none of them can be left out by hand."""

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


def _losses(record):
    # As many as are meant to start, whoever serves them: no figure of speed.
    paced = {run["cell"] for run in record["runs"] if any(each["loop"] == "open" for each in list(run["classes"].values())[:1])}
    for cell in record["summary"]:
        if cell["id"] in paced:
            continue
        for pair, ratio in cell["ratios"].items():
            ours, other = pair.split("/")
            if other in (*OURS, *LIMITS) or (ours in RELAXED) != (other in RELAXED):
                continue
            # As it is shown.
            if round(ratio["median"], 2) < 1:
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
