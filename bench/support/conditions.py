"""What is said of two records of bench/run before their figures: under which other conditions they were made, what is missing, and
what fails."""

from support import figures
from support.figures import OURS, YARDSTICKS, turns
from support.goals import threshold

# Of the machine: different in every run.
PASSING = ("time", "load", "sync_us", "commit")
# Of a system's settings: where things lay in that run, and what it wrote. Walpool's options have no path in them.
PLACES = ("program", "start", "options")
# Settings that are a table of their own, or words that say why they were not told.
TABLE = "configuration"


def differences(old, new):
    """What was not the same about the two runs, and is not what was measured."""
    lines = [f"commit: {old['machine'].get('commit')} -> {new['machine'].get('commit')}"]
    lines += _of_programs(old, new)
    lines += _differing("machine", old["machine"], new["machine"], PASSING)
    for system in old["systems"].keys() & new["systems"].keys():
        lines += _differing_settings(system, *(record["systems"][system]["settings"] for record in (old, new)))
    syncs = [record["machine"].get("sync_us") for record in (old, new)]
    if all(syncs) and max(syncs) > 1.5 * min(syncs):
        lines.append(f"machine: a sync of the disk took {syncs[0]:.0f} µs -> {syncs[1]:.0f} µs")
    before, after = ({cell["id"]: cell for cell in record["cells"]} for record in (old, new))
    for name in before.keys() & after.keys():
        settings = ({key: each[name][key] for key in ("seconds", "scale", "classes")} for each in (before, after))
        lines += _differing(name, *settings, ())
    lines += _of_goals(old, new)
    for word, only in (("old", before.keys() - after.keys()), ("new", after.keys() - before.keys())):
        if only:
            lines.append(f"only in the {word} one: {', '.join(sorted(only))}")
    return lines


def _of_programs(old, new):
    """The commit is the checkout's, and a program may be of another. Older records do not know theirs. The empty wire server, which is
    a yardstick and seldom changes, is named only where it has."""
    lines = []
    for name in ("walpoold", "canned"):
        sums = [record.get("programs", {}).get(name, {}).get("sha256") for record in (old, new)]
        if None not in sums and sums[0] != sums[1]:
            lines.append(f"{name}: SHA-256 {sums[0][:12]} -> {sums[1][:12]}")
        elif None not in sums and name == "walpoold":
            lines.append(f"walpoold: the same program, SHA-256 {sums[0][:12]}")
    return lines


def _of_goals(old, new):
    """The same goal with another threshold: what was met and is missed may have been measured alike."""
    before = {(goal["cell"], goal.get("other")): goal for goal in old.get("goals", [])}
    pairs = [(before[key], goal) for goal in new.get("goals", []) if (key := (goal["cell"], goal.get("other"))) in before]
    return [f"goal {goal['cell']}{' to ' + goal['other'] if goal.get('other') else ''}: {threshold(was):g} -> {threshold(goal):g}"
            for was, goal in pairs if threshold(was) != threshold(goal)]


def _differing_settings(system, old, new):
    places = [name for name in PLACES if name != "options" or not system.startswith(OURS)]
    lines = _differing(system, old, new, (*places, TABLE))
    tables = [settings.get(TABLE) for settings in (old, new)]
    return lines + _differing(system, *(table if isinstance(table, dict) else {} for table in tables), ())


def _differing(of, old, new, left_out):
    """What only one of them has noted may have been alike."""
    return [f"{of}: {name}: {old[name]} -> {new[name]}" for name in old
            if name in new and name not in left_out and old[name] != new[name]]


def missing(old, new):
    """What is compared with less than there was: figures that are not there any more, and yardsticks."""
    lines = [f"the {word} one is incomplete: {'; '.join(record['errors']) or 'it was interrupted'}"
             for word, record in (("old", old), ("new", new)) if not record.get("complete", True)]
    before, after = ({(cell, system) for (cell, _), turn in turns(record).items() for system in turn} for record in (old, new))
    gone = sorted(f"{cell} ({system})" for cell, system in before - after if system.startswith(OURS) or system in YARDSTICKS)
    return lines + ([f"no figure in the new one: {', '.join(gone)}"] if gone else [])


def unpaired(record):
    """Of two programs in one record: what says nothing of whether one is worse."""
    names = figures.unpaired(record)
    return [f"not compared, because the old program has no figure of it: {', '.join(names)}"] if names else []


def failed(old, new):
    """Of ours: what gave figures and now gives errors, or does nothing at all, also in some repetitions only."""
    before, after = _failed_parts(old), _failed_parts(new)
    return [f"failed: {cell}, {system}: {fails} of {runs} runs, before {before[cell, system][0]} of {before[cell, system][1]}"
            for (cell, system), (fails, runs) in after.items()
            if system.startswith(OURS) and (cell, system) in before and fails / runs > before[cell, system][0] / before[cell, system][1]]


def failed_in_both(old, new):
    """Of ours: what is in no comparison, because it gave no figure in either."""
    before, after = (_without_figure(record) for record in (old, new))
    names = sorted(f"{cell} ({system})" for cell, system in before & after if system.startswith(OURS))
    return [f"failed in both: {', '.join(names)}"] if names else []


def _without_figure(record):
    """(cell, system) of which there were runs."""
    figures_of = [run for run in record["runs"] if not run["errors"] and run["throughput_per_s"]]
    return {(run["cell"], run["system"]) for run in record["runs"]} - {(run["cell"], run["system"]) for run in figures_of}


def _failed_parts(record):
    """(cell, system, with the class of clients if it is not the first) -> runs that gave no figure, runs. What did nothing has no
    ratio to what it did before, so that it is in no other figure."""
    parts = {}
    for run in record["runs"]:
        of_classes = {"": bool(run["errors"] or not run["throughput_per_s"])}
        if not run["errors"]:
            others = list(run.get("classes", {}).items())[1:]
            of_classes |= {f", {name}": not each["throughput_per_s"] for name, each in others}
        for name, is_failed in of_classes.items():
            key = (run["cell"], run["system"] + name)
            fails, runs = parts.get(key, (0, 0))
            parts[key] = (fails + is_failed, runs + 1)
    return parts
