"""The report's beginning and end: goals, what went wrong, and what it was measured on. Each function makes a section: a record
in, Markdown out, or None where it has nothing to say."""

from support import markdown as md
from support.goals import by_pgbench, failed, is_within_noise, reached, verdict
from support.recordview import slower_syncs, title


def goals(record):
    words = goals_in_words(record)
    if not words:
        return None
    rows = [_goal_row(record, goal) for goal in _asked(record)]
    if not rows:
        return "## Goals\n\n" + words
    heads = ["workload", "what", "goal", "measured", "verdict", "repetitions that reached it", "by pgbench"]
    return "## Goals\n\n" + words + "\n\n" + md.table(heads, rows, left=2, words=heads[3:5])


def goals_in_words(record):
    """How many were met, and which were not, and what of it is within noise; None where none was asked for."""
    asked = _asked(record)
    if options := record.get("walpool_options"):
        return f"Not judged: they were set for walpoold as it comes, and it was given `{' '.join(options)}`."
    if not asked:
        return None
    met, missed = ([goal for goal in asked if bool(goal["met"]) == side] for side in (True, False))
    close = sum(map(is_within_noise, met))
    words = f"{len(met)} of {len(asked)} goals met{f', {close} of them within noise' if close else ''}."
    for what, within in (("Missed", False), ("Missed, within noise", True)):
        if found := [_missed(record, goal) for goal in missed if is_within_noise(goal) == within]:
            words += f" **{what}:** {'; '.join(found)}."
    if any(map(is_within_noise, asked)):
        words += " Within noise: the goal lies between the least and the most of the repetitions."
    words += _with_pgbench(record, asked)
    if len(asked) < len(record["goals"]):
        words += f" Not measured in this run: {len(record['goals']) - len(asked)}."
    return words


def _with_pgbench(record, asked):
    """Whether another generator says the same."""
    crossed = [(goal, ratio) for goal in asked if (ratio := by_pgbench(goal, record["summary"]))]
    if not crossed:
        return ""
    missed = [f"{_name(goal)}, {md.ratio(ratio, goal=goal['at_least'])} (the goal is {goal['at_least']:g})" for goal, ratio in crossed
              if ratio["median"] < goal["at_least"]]
    return (f" Of these goals pgbench was the load generator of {len(crossed)} once more, and {len(crossed) - len(missed)} are met by it"
            + (f"; missed: {'; '.join(missed)}" if missed else "") + ".")


def _asked(record):
    return [goal for goal in record["goals"] if goal["met"] is not None]


def _missed(record, goal):
    runs = f", {md.whole(failed(goal))} of its runs failed" if failed(goal) else ""
    if goal["measured"] is None:
        return f"{_name(goal)}, no figure"
    if goal["kind"] == "wait":
        return f"{_name(goal)}, {md.digits(goal['measured'])} ms (the goal is {goal['at_most_ms']:g}){runs}"
    count, of = reached(goal)
    return (f"{_name(goal)}, {md.ratio(goal['measured'], goal=goal['at_least'])} times {title(record, goal['other'])} (the goal is {goal['at_least']:g}, which "
            f"{count} of {of} repetitions reached){runs}")


def _name(goal):
    return f"{goal['workload']}, {md.clients(goal['clients'])}{slower_syncs(goal)}"


def _goal_row(record, goal):
    judged = verdict(goal).replace("missed", "**missed**")
    if goal["kind"] == "wait":
        beside = f"; {title(record, goal['beside'])} {md.digits(goal['beside_measured'])} ms" if goal["beside_measured"] else ""
        return [_name(goal), f"longest wait of {goal['client_class']}", f"≤ {goal['at_most_ms']:g} ms",
                f"{md.digits(goal['measured'])} ms{beside}" if goal["measured"] is not None else "no figure", judged, "", ""]
    best = f", {title(record, goal['best'])}" if goal.get("best") not in (None, "walpool") else ""
    return [_name(goal), f"throughput to {title(record, goal['other'])}", f"≥ {goal['at_least']:g}",
            (md.ratio(goal["measured"], with_range=True, goal=goal["at_least"]) + best) if goal["measured"] else "no figure", judged,
            "{} of {}".format(*reached(goal)) if goal["measured"] else "", md.ratio(by_pgbench(goal, record["summary"]), goal=goal["at_least"])]


def conditions(record):
    parts = [f"## Run\n\n- command: `{record['command']}`\n- commit of the checkout: {record['machine'].get('commit') or 'not known'}"
             f"{_programs(record)}\n- from {record['started']} to {record['ended']}, "
             f"{record['seconds'] or 0:,.0f} s{'' if record['complete'] else ', **interrupted**'}"
             f"{'; quick, so one short run of each' if record['quick'] else ''}",
             "## Machine\n\n" + md.settings(record["machine"])]
    for system in record["systems"].values():
        parts.append(f"### {system['title']}\n\n{system['what']}\n\n" + md.settings(system["settings"]))
    return "\n\n".join(parts)


def _programs(record):
    """Older records do not know them."""
    return "".join(f"\n- {name}: `{program['path']}`, SHA-256 {program['sha256']}"
                   for name, program in record.get("programs", {}).items())


def errors(record):
    found = [f"- {run['cell']}, {title(record, run['system'])}, repetition {run['repetition']}: {error}"
             for run in record["runs"] for error in run["errors"]] + [f"- {error}" for error in record["errors"]]
    return "## What went wrong\n\n" + "\n".join(found) if found else None
