"""Sections of the report about throughput."""

from support import markdown as md
from support.recordview import crossed, title


# What ratios are shown to, in this order; of the modes only the default, the rest is in section "durability".
OTHERS = ("old-walpool", "postgres", "pgbouncer", "direct", "grdb", "in-process", "canned")


def throughput(record):
    """A table for each workload that has several numbers of clients, one for all the rest."""
    cells = [cell for cell in record["summary"] if cell["section"] == "throughput"]
    workloads = {cell["workload"]: [] for cell in cells}
    for cell in cells:
        workloads[cell["workload"]].append(cell)
    tables, single = [], []
    for workload, of_workload in workloads.items():
        if len(of_workload) == 1:
            single += of_workload
        else:
            tables.append(f"### {workload}: {of_workload[0]['why']}\n\n" + _throughput_table(record, of_workload, named=False)
                          + _who_polls(record, of_workload))
    if single:
        tables.append("### Other workloads\n\n" + _throughput_table(record, single, named=True))
    if not tables:
        return None
    return ("## Throughput\n\nTransactions per second: the median of the repetitions, and how far the farthest is from it. "
            "Ratios are Walpool's throughput to the other's, each taken within one repetition; the median of those.\n\n"
            + "\n\n".join(tables) + _hot_rows(record, cells))


def _who_polls(record, cells):
    """Beside a lone client's row: who does more than a limit has not passed it."""
    if not any(cell["clients"] == 1 and cell["ratios"].get("walpool/canned") for cell in cells):
        return ""
    return ("\n\nWith 1 client Walpool polls: it asks for the next message for up to 50 µs before it sleeps. The "
            f"{title(record, 'canned')} sleeps at once, and so does PostgreSQL, and a core that sleeps takes its time to wake up. So "
            "the former is no limit there.")


def _hot_rows(record, cells):
    """What pgbench's documentation warns of: "you'll mostly be measuring update contention"."""
    scales = {cell["scale"] for cell in cells if cell["workload"].startswith("tpcb")}
    if not scales or all(cell["clients"] <= cell["scale"] for cell in cells if cell["workload"].startswith("tpcb")):
        return ""
    return (f"\n\nTPC-B has as many rows of branches as the scale says ({', '.join(map(str, sorted(scales)))}). Where clients are more, those of a "
            "server with several writers wait for one another's rows, which costs one with a single writer nothing; tpcb-simple, "
            "pgbench's simple-update, has no such rows.")


def _throughput_table(record, cells, named):
    systems = [system for system in record["systems"] if any(system in cell["systems"] for cell in cells)]
    others = [system for system in OTHERS if system in systems]
    heads = [*(["workload"] if named else []), "clients", *(title(record, system) for system in systems),
             *(f"to {title(record, other)}" for other in others)]
    rows = []
    for cell in sorted(cells, key=lambda cell: 0 if named else cell["clients"]):
        rows.append([*([cell["workload"]] if named else []), md.whole(cell["clients"]),
                     *(_throughput_of(cell, system) for system in systems),
                     *(md.ratio(cell["ratios"].get(f"walpool/{other}")) for other in others)])
    text = md.table(heads, rows, left=1 if named else 0)
    if named:
        text += "\n\n" + "\n".join(f"- {cell['workload']}: {cell['why']}" for cell in cells)
    return text


def _throughput_of(cell, system):
    part = cell["systems"].get(system)
    if not part or not part["throughput_per_s"]:
        return "**failed**" if part else ""
    runs = part["failed"]
    return md.throughput(part["throughput_per_s"]) + (f", **{runs} of {runs + part['runs']} failed**" if runs else "")


# What "durability" puts side by side.
MODE_SECTIONS, MODE_WORKLOADS = ("throughput", "durability", "slow disk"), ("insert", "tpcb", "tpcb-pipeline")


def durability(record):
    """The modes side by side. A cell of durable and one of relaxed modes are of the same run, not of the same turn."""
    groups = {}
    for cell in record["summary"]:
        if cell["section"] in MODE_SECTIONS and cell["workload"] in MODE_WORKLOADS:
            groups.setdefault((cell["sync_delay_us"], cell["workload"], cell["clients"]), []).append(cell)
    measured = {system for cells in groups.values() for cell in cells for system in cell["systems"]}
    systems = [system for system in record["systems"]
               if system in measured and system.startswith(("walpool", "postgres", "direct"))]
    rows = []
    for (delay, workload, clients), cells in groups.items():
        if not any(cell["section"] != "throughput" or "walpool-pipelined" in cell["systems"] for cell in cells):
            continue
        parts = {system: cell for cell in cells for system in cell["systems"]}
        ratios = {name: ratio for cell in cells for name, ratio in cell["ratios"].items()}
        rows.append(["own disk" if not delay else f"syncs {delay / 1000:g} ms slower", workload, md.whole(clients),
                     *(_throughput_of(parts[system], system) if system in parts else "" for system in systems),
                     *(md.ratio(ratios.get(name)) for name in ("walpool/postgres", "walpool-pipelined/postgres",
                                                               "walpool-normal/postgres-async", "walpool/direct",
                                                               "walpool-normal/direct-normal"))])
    if not rows:
        return None
    return ("## Durability\n\nTransactions per second. Walpool is `synchronous = full`; normal and async answer before the commit is "
            "on the disk. Each ratio is between modes of the same promise. Syncs are made slower by a preload library "
            "that sleeps in fsync and fdatasync of the server.\n\n"
            + md.table(["disk", "workload", "clients", *(title(record, system) for system in systems), "full / PostgreSQL",
                        "pipelined / PostgreSQL", "normal / async", "full / direct", "normal / direct, NORMAL"], rows, left=2))


def cross_check(record):
    """The same cell with pgbench: where two generators agree, it is not the generator that was measured."""
    ours = {(cell["workload"], cell["clients"]): cell for cell in record["summary"] if cell["section"] == "throughput"}
    rows = []
    for cell in record["summary"]:
        if cell["section"] != "cross-check":
            continue
        own = ours.get((cell["workload"], cell["clients"]), {"systems": {}, "ratios": {}})
        for system in cell["systems"]:
            rows.append([cell["workload"], md.whole(cell["clients"]), title(record, system), _throughput_of(cell, system),
                         _throughput_of(own, system),
                         *(md.ratio(each["ratios"].get(f"{system}/postgres")) for each in (cell, own))])
    if not rows:
        return None
    return ("## Cross-check: pgbench as the driver\n\npgbench has no warm-up: what a connection does for the first time is in its figures, and "
            "not in walpool-load's.\n\n"
            + md.table(["workload", "clients", "system", "pgbench", "walpool-load", "to PostgreSQL, pgbench",
                        "to PostgreSQL, walpool-load"], md.without_repeats(rows, 2), left=3) + _conclusion(record))


# Why a generator that takes longer changes the ratio, and not only both figures. pgbench asks for all of a thread's sockets
# each time it waits (ppoll), and goes through all of its clients then.
WHY_LOWER = (
    "Where clients write, the time that one takes between an answer and its next message is what all wait for: a transaction that "
    "is sent statement by statement holds the one writer meanwhile, and a shared commit waits for those who were in the last. "
    "PostgreSQL's processes go on meanwhile. pgbench takes more time for a message the more clients it has, because it asks "
    "for all its sockets each time.")


def _conclusion(record):
    pairs = [(ours, other, system, f"{system}/postgres") for ours, other in crossed(record) for system in other["systems"]]
    pairs = [(ours["ratios"][pair], other["ratios"][pair], other, system) for ours, other, system, pair in pairs
             if ours["ratios"].get(pair) and other["ratios"].get(pair)]
    if not pairs:
        return ""
    differing = [pair for pair in pairs if pair[0]["most"] < pair[1]["least"] or pair[1]["most"] < pair[0]["least"]]
    if not differing:
        return "\n\nThe generators agree: no ratio to PostgreSQL differs by more than its repetitions do."
    rows = [f"- {cell['workload']}, {md.clients(cell['clients'])}, {title(record, system)}: {md.ratio(theirs, with_range=True)}, "
            f"not {md.ratio(ours, with_range=True)}" for ours, theirs, cell, system in differing]
    lower = any(theirs["median"] < ours["median"] for ours, theirs, *_ in differing)
    return (f"\n\nThe generators do not agree: in {len(differing)} of {len(pairs)} cases the ratio to PostgreSQL with pgbench "
            "differs by more than the repetitions do:\n\n" + "\n".join(rows) + (f"\n\n{WHY_LOWER}" if lower else ""))


def memory(record):
    cells = [cell for cell in record["summary"] if cell["section"] == "memory"]
    if not cells:
        return None
    plain = {(cell["workload"], cell["clients"]): cell for cell in record["summary"] if cell["section"] == "throughput"}
    rows = []
    for cell in cells:
        other = plain.get((cell["workload"], cell["clients"]), {"systems": {}})
        for system in cell["systems"]:
            rows.append([cell["workload"], md.whole(cell["clients"]), title(record, system), _throughput_of(cell, system),
                         _throughput_of(other, system)])
    scales = sorted({cell["scale"] for cell in plain.values()})
    return (f"## Size of the data\n\n{cells[0]['why']} (pgbench's scale {cells[0]['scale']}), beside the data of all other "
            f"tables (scale {', '.join(map(str, scales)) or 'unknown'}).\n\n"
            + md.table(["workload", "clients", "system", "small", "large"], rows, left=3))
