"""README's part of a benchmark: the main figures, which goals were missed, the longest waits and two pictures. It is a marked
part (marked.py), so that it is never written by hand. What is longer stays in the results, to which it links: README is the
front page."""

import os
import statistics
from pathlib import Path

from support import losses, marked, report_open
from support import markdown as md
from support.plots import PICTURES as TITLES
from support.record import failed
from support.report_frame import goals_in_words
from support.recordview import (STARVATION_VICTIMS, VICTIM_NAMES, answered_shares, cores, crossed, named_workload,
                                slower_syncs, title)
from support.tools import REPOSITORY, BenchError

BEGIN, END = marked.begin("benchmark of {directory}", "--readme"), marked.end("benchmark")
SECTION = marked.section(r"benchmark of (\S+)", "benchmark")

# What README shows: cell, the best of which modes.
FULL, BEST = ("walpool",), ("walpool", "walpool-pipelined")
ROWS = (
    ("select-1", FULL), ("select-8", FULL), ("select-64", FULL), ("insert-1", FULL), ("insert-8", FULL), ("insert-64", FULL),
    ("mixed-95-5-64", FULL), ("tpcb-8", BEST), ("tpcb-64", BEST), ("tpcb-simple-8", BEST), ("tpcb-simple-64", BEST),
    ("tpcb-pipeline-8", BEST), ("tpcb-pipeline-64", BEST), ("insert-64-2ms", FULL), ("tpcb-64-2ms", BEST),
)
# What is said of a cell beside its name.
REMARKS = {"select-1": " (Walpool polls)"}
# What is not sent as a whole, which is where the modes differ most.
ROUND_TRIPS = ("tpcb-8", "tpcb-64", "tpcb-8-2ms", "tpcb-64-2ms")
# Whose longest waits it shows; one class is slow because it wants to be.
WAITING = ("walpool", "postgres", "direct")
NOT_WAITING = ("slow",)


def part_of_readme(record, results):
    """`results`: results.json or its directory, as a path from the repository's top if it is inside."""
    if why := unfit(record):
        raise BenchError(f"{results} is not for the front page, which shows what a whole run has measured: {'; '.join(why)}")
    directory = Path(results).resolve()
    directory = directory.parent if directory.is_file() else directory
    shown = os.path.relpath(directory, REPOSITORY)
    parts = [BEGIN.format(directory=shown), conditions(record, shown), main_figures(record), by_pgbench(record),
             shared_cores(record), picture("throughput", directory, shown),
             goals(record, shown), losses.summary(record, shown), round_trips(record), report_open.of_readme(record), answered(record), waits(record),
             picture("starvation", directory, shown), END]
    return "\n\n".join(part for part in parts if part)


def unfit(record):
    """Why nobody should take its figures for those of the whole: what failed is in none of them."""
    why = [] if record["complete"] else ["it was interrupted"]
    if record["quick"]:
        why.append("it is a quick one, of short runs")
    if options := record.get("walpool_options"):
        why.append(f"walpoold was given {' '.join(options)}")
    errors = failed(record)
    why += errors[:3] + ([f"and {len(errors) - 3} more"] if len(errors) > 3 else [])
    # No whole run has any of these; the one that has none of them may still be of a part of the plan.
    return why or ([] if is_whole(record) else ["it has measured a part of the plan, or other runs than are planned"])


# Of each whole run before 2026-11-29: how many cells it planned, how many runs, and the seconds of these.
PLANNED_THEN = (63, 538, 1880)


def is_whole(record):
    """Records before 2026-11-29 do not say it, but all of them had one plan, of which anything else is a part."""
    if "whole" in record:
        return record["whole"]
    runs = [len(cell["systems"]) * cell["repeats"] for cell in record["cells"]]
    seconds = sum(number * cell["seconds"] for number, cell in zip(runs, record["cells"]))
    return (len(runs), sum(runs), seconds) == PLANNED_THEN and bool(record["costs"] and record["idle"])


def picture(name, directory, shown):
    return f"![{TITLES[name]}]({shown}/{name}.svg)" if (directory / f"{name}.svg").exists() else None


def goals(record, directory):
    words = goals_in_words(record)
    return words and f"{words} The figure of each is in [Goals]({directory}/results.md#goals)."


def conditions(record, directory):
    machine = record["machine"]
    repeats = max((cell["repeats"] for cell in record["summary"]), default=1)
    syncs = [run["sync_us"] for run in record["runs"] if run["sync_us"]]
    commit = f", checkout {machine['commit']}" if machine.get("commit") else ""
    return (f"{record['started'][:10]}{commit}, {machine['cores']} cores, {machine['system']}, {machine['file_system']['type']}; a sync "
            f"took {statistics.median(syncs) if syncs else machine['sync_us']:.0f} µs (the median of the probes before each run). Transactions per second, "
            f"medians of up to {repeats} repetitions in which the systems take turns; a ratio is taken within a repetition. The data is in the "
            f"kernel's page cache. Spreads, latencies, costs and settings are in "
            f"[{directory}/results.md]({directory}/results.md).")


def main_figures(record):
    cells = {cell["id"]: cell for cell in record["summary"]}
    rows = []
    for name, modes in ROWS:
        cell = cells.get(name)
        measured = [mode for mode in modes if cell and cell["systems"].get(mode, {}).get("throughput_per_s")]
        if not measured:
            continue
        best = max(measured, key=lambda mode: cell["systems"][mode]["throughput_per_s"]["median"])
        what = named_workload(cell) + REMARKS.get(name, "") + (f", `{best.removeprefix('walpool-')}`" if best != "walpool" else "")
        figures = [md.whole(_median(cell, system)) for system in (best, "postgres", "direct")]
        with_pgbench = cells.get(f"{name}-pgbench", {"ratios": {}})
        rows.append([what, md.whole(cell["clients"]), *figures,
                     *(md.ratio(each["ratios"].get(f"{best}/{other}"))
                       for each, other in ((cell, "postgres"), (with_pgbench, "postgres"), (cell, "direct")))])
    if not rows:
        return None
    heads = ["workload", "clients", "Walpool", title(record, "postgres"), title(record, "direct"), "to PostgreSQL", "by pgbench",
             "to direct"]
    return md.table(heads, rows)


def by_pgbench(record):
    """What the column is, and why it differs; None where pgbench drove nothing."""
    if not crossed(record):
        return None
    return ("*By pgbench* is the ratio to PostgreSQL when pgbench makes the load; walpool-load made all the rest. pgbench has no warm-up: what new "
            f"connections do first is in its figures.{_time_of_messages(record)}")


def _time_of_messages(record):
    """What both take, where pgbench takes more."""
    for cells in crossed(record):
        parts = [cell["systems"].get("walpool-pipelined") for cell in cells]
        if cells[0]["id"] == "tpcb-64" and all(part and part["client_cpu_us"] for part in parts):
            ours, theirs = (part["client_cpu_us"]["median"] for part in parts)
            return (" The statements of a transaction hold the one writer, and a shared commit waits for those who were in the last: all wait for "
                    "the time that a client takes between an answer and its next message, and pgbench takes more of it (in TPC-B of 64 clients "
                    f"{md.digits(theirs)} µs of processor time for a statement, walpool-load {md.digits(ours)})." if theirs > ours else "")
    return ""


def shared_cores(record):
    """The generator takes part of what is measured."""
    cell = next((cell for cell in record["summary"] if cell["id"] == "select-64"), None)
    busy = [(title(record, system), *found) for system in ("walpool", "postgres")
            if cell and (found := cores(record, cell, system))]
    words = "; ".join(f"{name} kept {server:.2f} cores busy and the generator {load:.2f}" for name, server, load in busy)
    return words and (f"The load generator runs on the same {record['machine']['cores']} cores. With the point SELECTs of 64 clients, {words}.")


def round_trips(record):
    """Where it does less than PostgreSQL for a reason that an application can do something about."""
    cells = {cell["id"]: cell for cell in record["summary"] if cell["id"] in ROUND_TRIPS}
    modes = {"`full`, the default": "walpool", "`pipelined`": "walpool-pipelined"}
    shown = [[words, *(md.ratio(cells[name]["ratios"].get(f"{mode}/postgres")) if name in cells else md.ABSENT for name in ROUND_TRIPS)]
             for words, mode in modes.items()]
    if not any(figure for _, *figures in shown for figure in figures):
        return None
    heads = [md.clients(cell["clients"]) + slower_syncs(cell) if (cell := cells.get(name)) else name for name in ROUND_TRIPS]
    return ("Where Walpool does less than PostgreSQL, it is mostly in transactions of several round trips: each holds the one writer "
            "for its round trips and, under `full`, for its sync. This is TPC-B with a message for each statement, in multiples of "
            f"PostgreSQL's throughput:\n\n{md.table(['`synchronous`', *heads], shown)}")


# Less than this, and percentiles say little of what clients waited for.
WHOLE_SHARE = 0.9


def answered(record):
    """Percentiles know only of what was answered: where clients starve, most of their time is in none."""
    shares = [statistics.median(values) for name, _ in ROWS for values in [answered_shares(record, name, "direct")]
              if name.startswith("insert-") and values]
    low = [share for share in shares if share < WHOLE_SHARE]
    if not low:
        return None
    span = f"{min(low) * 100:.0f}" + (f" to {max(low) * 100:.0f}" if len(low) > 1 else "")
    return (f"Where several clients of {title(record, 'direct')} wrote in these INSERTs, only {span} % of their time ended in a commit. The rest of "
            "it they waited for a lock, until `busy_timeout` failed them or the run ended. No percentile of latency contains that time.")


def _median(cell, system):
    spread = cell["systems"].get(system, {}).get("throughput_per_s")
    return spread["median"] if spread else None


def waits(record):
    """The goal's, in words, and every scenario's."""
    return "\n\n".join(part for part in (longest_of_the_goal(record), longest_of_all(record)) if part) or None


def longest_of_all(record):
    rows = []
    for cell in record["summary"]:
        victims = STARVATION_VICTIMS.get(cell["workload"])
        if victims is None:
            continue
        for name in dict.fromkeys((victims, *(each for part in cell["systems"].values() for each in part["classes"]))):
            parts = [cell["systems"].get(system, {}).get("classes", {}).get(name) for system in WAITING]
            shown = _fate if name in NOT_WAITING else _wait
            if any(part and part["clients"] for part in parts):
                rows.append([VICTIM_NAMES.get(cell["workload"], cell["workload"]), name, *map(shown, parts)])
    if not rows:
        return None
    heads = ["scenario", "clients", *(title(record, system) for system in WAITING)]
    return ("The longest wait of any client over all repetitions, in milliseconds. All clients run in closed loops, except the paced writer:\n\n"
            + md.table(heads, md.without_repeats(rows, 1), left=2)
            + (WHY_ENDED if any(ENDED in row for row in rows) else ""))


def _wait(part):
    return md.milliseconds(part["worst_us"]) if part and part["worst_us"] is not None else ""


ENDED, SERVED = "ended, 57014", "still served"
WHY_ENDED = (
    "\n\nThe slow client keeps an old snapshot of the database, and so keeps the WAL from being emptied. Walpool ends its statement with "
    "57014 before the WAL outgrows `wal_limit_bytes`, as it promises. From then on the figures of the writers and readers are without it. "
    "The others go on serving it, and are not done when the run ends.")


def _fate(part):
    """Of who waits because it wants to."""
    return "" if not part else ENDED if part["error_states"].get("57014") else SERVED


def longest_of_the_goal(record):
    for goal in record["goals"]:
        if goal["kind"] == "wait" and goal["measured"] is not None:
            beside = (f" Where each process opens the file itself it was {md.digits(goal['beside_measured'] / 1000)} s"
                      + _mostly_timeouts(record, goal) + "." if goal["beside_measured"] else "")
            return ("With 64 writers beside 16 readers and 2 scanners, the longest wait of any writer was "
                    f"{md.digits(goal['measured'])} ms.{beside}")
    return None


def _mostly_timeouts(record, goal):
    """Who has waited for a busy_timeout has got an error, and not the lock."""
    cell = next((cell for cell in record["summary"] if cell["id"] == goal["cell"]), {"systems": {}})
    busy = cell["systems"].get(goal["beside"], {}).get("busy")
    return f" (mostly `busy_timeout`, 5 s, after which the transaction failed: {md.whole(busy)} SQLITE_BUSY)" if busy else ""


def put_into(readme, text):
    marked.put_into(readme, SECTION, text, f"a line \"{BEGIN.format(directory='-')}\" and a line \"{END}\"")
