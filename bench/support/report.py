"""Medians, ratios and tables."""

import statistics

TITLES = {"walpool": "Walpool", "postgres": "PostgreSQL", "direct": "direct"}

# What Walpool is to reach, as a multiple of the other: (workload, clients, other) -> at least.
GOALS = {
    ("select", 8, "postgres"): 1.6, ("select", 64, "postgres"): 2.3,
    ("insert", 8, "postgres"): 1.2, ("insert", 64, "postgres"): 3.3, ("insert", 64, "direct"): 6.0,
    ("tpcb", 8, "postgres"): 0.6, ("tpcb", 64, "postgres"): 1.0,
}
FAIRNESS_GOAL, RESIDENT_GOAL_MB = 0.8, 30


def summarise(runs):
    """One entry for each workload and number of clients, with a part for each system and each ratio. A ratio
    is taken within one repetition, where both systems met the same machine; then the median of those."""
    cells = {}
    for run in runs:
        cells.setdefault((run["workload"], run["clients"]), []).append(run)
    return [summarise_cell(workload, clients, members) for (workload, clients), members in cells.items()]


def summarise_cell(workload, clients, runs):
    cell = {"workload": workload, "clients": clients, "systems": {}, "ratios": {}}
    for system in TITLES:
        mine = [run for run in runs if run["system"] == system]
        if not mine:
            continue
        # What a run with errors measured is no figure of anything.
        good = [run for run in mine if not run["errors"]]
        part = {name: spread([run[name] for run in good if run.get(name) is not None])
                for name in ("tps", "latency_ms", "worst_ms", "fairness", "server_cpu_us", "client_cpu_us",
                             "sync_us")}
        part["fewest"] = min((run["rows"]["fewest"] for run in good if run.get("rows")), default=None)
        part["most"] = max((run["rows"]["most"] for run in good if run.get("rows")), default=None)
        part["failed"] = sum(run["failed"] for run in mine)
        part["errors"] = sum(len(run["errors"]) for run in mine)
        cell["systems"][system] = part
    for other in ("postgres", "direct"):
        pairs = {}
        for run in runs:
            if run["tps"] and not run["errors"]:
                pairs.setdefault(run["repetition"], {})[run["system"]] = run["tps"]
        ratios = [pair["walpool"] / pair[other] for pair in pairs.values() if "walpool" in pair and other in pair]
        if ratios:
            cell["ratios"][other] = {**spread(ratios), "goal": GOALS.get((workload, clients, other))}
    return cell


def spread(values):
    if not values:
        return None
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def markdown(record):
    sections = [throughput_table(record["summary"]), detail_table(record["summary"])]
    if record.get("idle"):
        sections.append(idle_table(record["idle"]))
    sections.append(conditions(record))
    errors = [f"- {run['system']}, {run['workload']}, {run['clients']} clients, repetition {run['repetition']}: {error}"
              for run in record["runs"] for error in run["errors"]]
    errors += [f"- {error}" for error in record["errors"]]
    if errors:
        sections.append("## Errors\n\n" + "\n".join(errors))
    return "# Benchmark\n\n" + "\n\n".join(sections) + "\n"


def throughput_table(summary):
    systems = [system for system in TITLES if any(system in cell["systems"] for cell in summary)]
    others = [other for other in ("postgres", "direct") if any(other in cell["ratios"] for cell in summary)]
    heads = ["workload", "clients", *(TITLES[system] for system in systems)]
    for other in others:
        heads += [f"Walpool / {TITLES[other]}", "goal"]
    rows = []
    for cell in summary:
        row = [cell["workload"], str(cell["clients"])]
        for system in systems:
            part = cell["systems"].get(system)
            row.append("" if not part else ranged(part["tps"], "{:,.0f}") or "**failed**")
        for other in others:
            ratio = cell["ratios"].get(other)
            row += [ranged(ratio, "{:.2f}"), goal(ratio, GOALS.get((cell["workload"], cell["clients"], other)))]
        rows.append(row)
    return ("Transactions per second: the median of the repetitions (least to most). Ratios are taken within "
            "one repetition.\n\n" + table(heads, rows))


def detail_table(summary):
    rows = []
    for cell in summary:
        for system, part in cell["systems"].items():
            fairness = part["fairness"]
            rows.append([
                cell["workload"], str(cell["clients"]), TITLES[system],
                ranged(part["latency_ms"], "{:.3f}"), ranged(part["worst_ms"], "{:,.1f}"),
                f"{fairness['median']:.2f} ({part['fewest']:,} / {part['most']:,})" if fairness else "",
                median(part["server_cpu_us"], "{:.1f}"), median(part["client_cpu_us"], "{:.1f}"),
                ranged(part["sync_us"], "{:,.0f}"), str(part["failed"] + part["errors"]),
            ])
    heads = ["workload", "clients", "system", "mean latency", "longest", "fewest / most", "server CPU", "client CPU",
             "sync", "failed"]
    return ("Latency in ms; the fewest rows inserted by one client as a part of the most (the fewest and the most "
            "in any repetition); CPU per transaction in us; one sync of the disk just before, in us.\n\n"
            + table(heads, rows))


def idle_table(idle):
    rows = []
    for name in ("after_point_queries", "after_scans"):
        state = idle[name]
        goal = ""
        if name == "after_point_queries":
            goal = f"{RESIDENT_GOAL_MB} " + ("met" if state["resident_mb"] < RESIDENT_GOAL_MB else "**missed**")
        rows.append([name.replace("_", " "), str(state["resident_mb"]), goal, str(state["anonymous_mb"]),
                     str(state["threads"]), f"{state['cpu_ms']} in {state['seconds']} s", str(state["wakeups"])])
    return (f"Walpool idle, {idle['sessions']} sessions, {idle['connections_to_the_file']} connections to the file.\n\n"
            + table(["", "resident MB", "goal", "anonymous MB", "threads", "CPU ms", "wake-ups"], rows))


def conditions(record):
    parts = []
    for title, values in (("Run", record["options"]), ("Machine", record["machine"]), *record["settings"].items()):
        lines = [f"- {name}: {value}" for name, value in values.items()]
        parts.append(f"## {TITLES.get(title, title)}\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def goal(ratio, least):
    """A goal whose workload failed is missed; one whose other system was left out is not asked for."""
    if least is None:
        return ""
    return f"{least} " + ("met" if ratio and ratio["median"] >= least else "**missed**")


def ranged(value, form):
    if not value:
        return ""
    if value["least"] == value["most"]:
        return form.format(value["median"])
    return f"{form.format(value['median'])} ({form.format(value['least'])} to {form.format(value['most'])})"


def median(value, form):
    return form.format(value["median"]) if value else ""


def table(heads, rows):
    widths = [max(len(line[i]) for line in (heads, *rows)) for i in range(len(heads))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |"
             for line in (heads, *rows)]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
