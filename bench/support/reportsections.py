"""The sections of the report, one function each: a record in, Markdown out, or None where it has no figures for it."""

from support import markdown as md
from support.recordview import PERCENTILES, VICTIM_NAMES, title

# What ratios are shown to, in this order; of the modes only the default, the rest is in section "durability".
OTHERS = ("postgres", "pgbouncer", "direct", "grdb", "in-process", "canned")


def goals(record):
    asked = [goal for goal in record["goals"] if goal["met"] is not None]
    if not asked:
        return None
    missed = [goal for goal in asked if not goal["met"]]
    first = f"{len(asked) - len(missed)} of {len(asked)} goals met."
    if missed:
        first += " **Missed: " + "; ".join(_goal(record, goal) for goal in missed) + ".**"
    if len(asked) < len(record["goals"]):
        first += f" Not measured in this run: {len(record['goals']) - len(asked)}."
    rows = [_goal_row(record, goal) for goal in asked]
    return "## Goals\n\n" + first + "\n\n" + md.table(["workload", "what", "goal", "measured", "verdict"], rows, left=2, words=("measured", "verdict"))


def _goal(record, goal):
    against = f"to {title(record, goal['other'])}" if goal["kind"] == "ratio" else f"longest wait of {goal['client_class']}"
    return f"{_name(goal)}, {against}"


def _name(goal):
    delay = f", syncs {goal['sync_delay_us'] / 1000:g} ms slower" if goal["sync_delay_us"] else ""
    return f"{goal['workload']}, {md.clients(goal['clients'])}{delay}"


def _goal_row(record, goal):
    verdict = "met" if goal["met"] else "**missed**"
    if goal["kind"] == "wait":
        beside = f"; {title(record, goal['beside'])} {md.digits(goal['beside_measured'])} ms" if goal["beside_measured"] else ""
        return [_name(goal), f"longest wait of {goal['client_class']}", f"≤ {goal['at_most_ms']:g} ms",
                f"{md.digits(goal['measured'])} ms{beside}" if goal["measured"] is not None else "no figure", verdict]
    best = f", {title(record, goal['best'])}" if goal.get("best") not in (None, "walpool") else ""
    return [_name(goal), f"throughput to {title(record, goal['other'])}", f"≥ {goal['at_least']:g}",
            (md.ratio(goal["measured"], with_range=True) + best) if goal["measured"] else "no figure", verdict]


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
            tables.append(f"### {workload}: {of_workload[0]['why']}\n\n" + _throughput_table(record, of_workload, named=False))
    if single:
        tables.append("### Other workloads\n\n" + _throughput_table(record, single, named=True))
    if not tables:
        return None
    return ("## Throughput\n\nTransactions per second: the median of the repetitions, and how far the farthest is from it. Ratios "
            "are Walpool's throughput to the other's, each taken within one repetition; the median of those.\n\n" + "\n\n".join(tables))


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
    return "" if not part else md.throughput(part["throughput_per_s"]) or "**failed**"


def _together(cells):
    """Those of a workload by clients, in the plan's order otherwise."""
    workloads = list(dict.fromkeys(cell["workload"] for cell in cells))
    return sorted(cells, key=lambda cell: (workloads.index(cell["workload"]), cell["clients"]))


def latency(record):
    rows = []
    for cell in _together(record["summary"]):
        if cell["section"] != "throughput" or cell["clients"] not in (1, 8, 64) and cell["workload"] in ("select", "insert"):
            continue
        for system, part in cell["systems"].items():
            found = part["latency_us"]
            rows.append([cell["workload"], md.whole(cell["clients"]), title(record, system),
                         *(md.milliseconds(found.get(name)) for name in PERCENTILES if name != "max"),
                         md.milliseconds(part["worst_us"])])
    if not rows:
        return None
    return ("## Latency\n\nMilliseconds from the start of a transaction to its last answer, of the first class of clients; medians "
            "of the repetitions, and the longest of all.\n\n"
            + md.table(["workload", "clients", "system", *(f"p{text}" for name, text in PERCENTILES.items() if name != "max"), "longest"],
                       _without_repeats(rows, 2), left=3))


def fairness(record):
    rows = []
    for cell in _together(record["summary"]):
        if cell["section"] != "throughput" or cell["clients"] < 2:
            continue
        for system, part in cell["systems"].items():
            if part["fairness"] and (part["fairness"]["least"] < 0.8 or cell["workload"] in ("insert", "tpcb", "mixed-50-50")):
                rows.append([cell["workload"], md.whole(cell["clients"]), title(record, system), f"{part['fairness']['median']:.2f}",
                             md.whole(part["fewest"]), md.whole(part["most"]), md.whole(part["busy"]) if part["busy"] else ""])
    if not rows:
        return None
    return ("## Fairness\n\nThe fewest transactions of one client as a part of the most, the median of the repetitions; the fewest "
            "and the most of any client in any of them. Writing workloads, and others where one got less than 0.8 of another.\n\n"
            + md.table(["workload", "clients", "system", "fewest / most", "fewest", "most", "SQLITE_BUSY"],
                       _without_repeats(rows, 2), left=3))


def starvation(record):
    rows = []
    for cell in record["summary"]:
        if cell["section"] != "starvation":
            continue
        for system, part in cell["systems"].items():
            for name, of_class in part["classes"].items():
                found = of_class["latency_us"]
                errors = ", ".join(f"{count:,} {state}" for state, count in of_class["error_states"].items())
                rows.append([VICTIM_NAMES.get(cell["workload"], cell["workload"]), title(record, system), name,
                             md.whole(of_class["clients"]), _per_second(of_class), md.milliseconds(found.get("p50")),
                             md.milliseconds(found.get("p99")), md.milliseconds(found.get("p999")), md.milliseconds(of_class["worst_us"]),
                             f"{of_class['fewest']:,} / {of_class['most']:,}" if of_class["most"] is not None and of_class["clients"] > 1 else "",
                             errors])
    if not rows:
        return None
    return ("## Starvation\n\nEvery class of clients. Milliseconds; the longest includes what failed and what still waited at the "
            "end.\n\n" + md.table(["scenario", "system", "clients", "number", "per second", "p50", "p99", "p99.9", "longest",
                                   "fewest / most", "errors"], _without_repeats(rows, 2), left=3, words=("errors",)))


def _per_second(of_class):
    spread = of_class["throughput_per_s"]
    return "" if not spread else md.whole(spread["median"]) if spread["median"] >= 100 else md.digits(spread["median"])


def _without_repeats(rows, columns):
    """What stands in the row above is not said again."""
    shown, before = [], [None] * columns
    for row in rows:
        same = 0
        while same < columns and row[same] == before[same]:
            same += 1
        shown.append([""] * same + row[same:])
        before = row[:columns]
    return shown


def durability(record):
    """The modes side by side. A cell of durable and one of relaxed modes are of the same run, not of the same turn."""
    groups = {}
    for cell in record["summary"]:
        if cell["section"] in ("throughput", "durability", "slow disk") and cell["workload"] in ("insert", "tpcb", "tpcb-pipeline"):
            groups.setdefault((cell["sync_delay_us"], cell["workload"], cell["clients"]), []).append(cell)
    systems = [system for system in record["systems"]
               if system.startswith(("walpool", "postgres", "direct")) and any(system in cell["systems"] for cells in groups.values() for cell in cells)]
    rows = []
    for (delay, workload, clients), cells in groups.items():
        if not any(cell["section"] != "throughput" or "walpool-pipelined" in cell["systems"] for cell in cells):
            continue
        parts = {system: cell for cell in cells for system in cell["systems"]}
        ratios = {name: ratio for cell in cells for name, ratio in cell["ratios"].items()}
        rows.append(["own disk" if not delay else f"syncs {delay / 1000:g} ms slower", workload, md.whole(clients),
                     *(_throughput_of(parts[system], system) if system in parts else "" for system in systems),
                     *(md.ratio(ratios.get(name)) for name in ("walpool/postgres", "walpool-pipelined/postgres",
                                                               "walpool-normal/postgres-async", "walpool/direct"))])
    if not rows:
        return None
    return ("## Durability\n\nTransactions per second. Walpool is `synchronous = full`; normal, async and relaxed answer before the "
            "commit is on the disk. Each ratio is between modes of the same promise. Syncs are made slower by a preload library "
            "that sleeps in fsync and fdatasync of the server.\n\n"
            + md.table(["disk", "workload", "clients", *(title(record, system) for system in systems), "full / PostgreSQL",
                        "pipelined / PostgreSQL", "normal / async", "full / direct"], rows, left=2))


def cost(record):
    calls = {(each["workload"], each["clients"], each["system"]): each for each in record["costs"]}
    keys = list(calls)
    for cell in record["summary"]:
        if cell["section"] == "throughput" and (cell["clients"] in (8, 64) or cell["workload"] not in ("select", "insert", "tpcb")):
            keys += [(cell["workload"], cell["clients"], system) for system, part in cell["systems"].items()
                     if part["server_cpu_us"] and (cell["workload"], cell["clients"], system) not in calls]
    parts = {(cell["workload"], cell["clients"], system): part for cell in record["summary"] if cell["section"] == "throughput"
             for system, part in cell["systems"].items()}
    rows = []
    for key in sorted(keys, key=lambda key: _position(record, key)):
        part, traced = parts.get(key), calls.get(key)
        most = sorted((traced or {}).get("calls", {}).items(), key=lambda call: -call[1])
        rows.append([key[0], md.whole(key[1]), title(record, key[2]),
                     md.digits(part["server_cpu_us"]["median"]) if part and part["server_cpu_us"] else "",
                     md.digits(part["client_cpu_us"]["median"]) if part and part["client_cpu_us"] else "",
                     md.digits(traced["syscalls_per_statement"]) if traced else "",
                     ", ".join(f"{name} {md.digits(count, 2)}" for name, count in most[:5] if count >= 0.005)])
    if not rows:
        return None
    return ("## Cost of a statement\n\nMicroseconds of CPU, user and system, of all processes of the server, and of the load "
            "generator; system calls of the server, counted by strace in a run of its own.\n\n"
            + md.table(["workload", "clients", "system", "server CPU", "client CPU", "system calls", "which"],
                       _without_repeats(rows, 2), left=3, words=("which",)))


def _position(record, key):
    order = [(cell["workload"], cell["clients"]) for cell in record["summary"]]
    systems = list(record["systems"])
    return (order.index(key[:2]) if key[:2] in order else len(order), systems.index(key[2]) if key[2] in systems else len(systems))


def idle(record):
    if not record["idle"]:
        return None
    rows = [[title(record, each["system"]), md.whole(each["sessions"]), md.digits(each["bytes_per_session"] / 1024),
             md.digits(each["resident_bytes"] / 1e6), f"{md.digits(each['cpu_ms'])} in {each['seconds']} s",
             md.whole(each["wakeups"])] for each in record["idle"]]
    return ("## Idle sessions\n\nResident memory (a page that processes share counts once) and what the server does while nobody "
            "asks for anything.\n\n"
            + md.table(["system", "sessions", "KiB for each", "MB in all", "CPU ms", "wake-ups"], rows))


def cross_check(record):
    """The same cell with pgbench: if two generators agree, it is not the generator that was measured."""
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
    return ("## Cross-check: pgbench as the driver\n\n"
            + md.table(["workload", "clients", "system", "pgbench", "walpool-load", "to PostgreSQL, pgbench",
                        "to PostgreSQL, walpool-load"], _without_repeats(rows, 2), left=3))


def memory(record):
    cells = [cell for cell in record["summary"] if cell["section"] == "memory"]
    if not cells:
        return None
    plain = {(cell["workload"], cell["clients"]): cell for cell in record["summary"] if cell["section"] == "throughput"}
    rows = []
    for cell in cells:
        other = plain.get((cell["workload"], cell["clients"]), {"systems": {}, "scale": None})
        for system in cell["systems"]:
            rows.append([cell["workload"], md.whole(cell["clients"]), title(record, system), _throughput_of(cell, system),
                         _throughput_of(other, system)])
    return (f"## Size of the data\n\n{cells[0]['why']}; beside it the data of the other tables, scale {cells[0]['scale']} and "
            f"{plain[(cells[0]['workload'], cells[0]['clients'])]['scale'] if (cells[0]['workload'], cells[0]['clients']) in plain else '?'} of pgbench.\n\n"
            + md.table(["workload", "clients", "system", "small", "large"], rows, left=3))


def conditions(record):
    parts = [f"## Run\n\n- command: `{record['command']}`\n- from {record['started']} to {record['ended']}, "
             f"{record['seconds'] or 0:,.0f} s{'' if record['complete'] else ', **interrupted**'}"
             f"{'; quick, so one short run of each' if record['quick'] else ''}",
             "## Machine\n\n" + md.settings(record["machine"])]
    for system in record["systems"].values():
        parts.append(f"### {system['title']}\n\n{system['what']}\n\n" + md.settings(system["settings"]))
    return "\n\n".join(parts)


def errors(record):
    found = [f"- {run['cell']}, {title(record, run['system'])}, repetition {run['repetition']}: {error}"
             for run in record["runs"] for error in run["errors"]] + [f"- {error}" for error in record["errors"]]
    return "## What went wrong\n\n" + "\n".join(found) if found else None
