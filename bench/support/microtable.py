"""Instructions per operation: as a table, and two measurements of them compared."""

from support.callgrind import OURS

FORMAT = 1
# A second run of the same program differs by less than a quarter of this. So does what changes with the addresses of
# things, which every build moves.
NOISE = 0.005
# A durable INSERT has the disk's answer and a thread that waits for it in it, which come when they come: how many events are handled
# for each differs. Runs of one binary were up to 2 % apart.
NOISE_OF = {"request-insert": 0.03}
# Of a path of some dozen instructions, half a percent is less than one.
LEAST_INSTRUCTIONS = 2

OWNERS = (OURS, "Swift runtime", "SQLite", "libc")


def table(paths):
    heads = ["path", "instructions", *OWNERS, "what"]
    rows = [[name, number(path["instructions"]), *(number(path["by_owner"].get(owner, 0)) for owner in OWNERS), path["what"]]
            for name, path in paths.items()]
    return aligned([heads, *rows], left=(0, len(heads) - 1))


def compared(old, new):
    """Lines to print, and whether anything costs more than it did."""
    lines, worse = differences(old, new), False
    rows = [["path", "old", "new", "new / old", ""]]
    for name in [*new["paths"], *(name for name in old["paths"] if name not in new["paths"])]:
        before, after = (record["paths"].get(name, {}).get("instructions") for record in (old, new))
        if before is None or after is None:
            rows.append([name, number(before), number(after), "", "only in one of them"])
            continue
        ratio, change = after / before if before else 1, after - before
        if abs(ratio - 1) <= NOISE_OF.get(name, NOISE) or abs(change) < LEAST_INSTRUCTIONS:
            word = ""
        else:
            word = "more" if change > 0 else "fewer"
            worse = worse or change > 0
        rows.append([name, number(before), number(after), f"{ratio:.3f}", word])
    return lines + [aligned(rows, left=(0, 4))], worse


def differences(old, new):
    """What the two were measured with, where it is not the same: then the figures are not about the sources alone."""
    names = [name for name in {**old["with"], **new["with"]} if name != "commit"]
    return [f"differs: {name}: {old['with'].get(name)} -> {new['with'].get(name)}" for name in names
            if old["with"].get(name) != new["with"].get(name)]


def number(value):
    if value is None:
        return ""
    value = round(value, 1) or 0.0      # not "-0"
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:,.1f}"


def aligned(rows, left):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if i in left else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
