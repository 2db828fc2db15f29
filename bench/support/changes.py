"""Two records of bench/run compared: what changed, and by more than noise.

A figure has changed when all three hold:
- The ranges of its repetitions, least to most, do not overlap.
- The ratio of the medians is further from 1 than three standard errors, s * sqrt(1/n + 1/m); s is the cell's own noise, drawn
  towards that of the others (noise.py).
- It is further from 1 than LEAST_CHANGE, whatever the noise: the two runs are of different hours. What is counted or weighed
  only once, system calls and idle sessions, must be further than LEAST_OF_ONCE.

And all cells together: what is a little slower everywhere is within noise in each (`drifts`).

Where PostgreSQL (or direct access) took turns with ours in both records, ours is compared as a multiple of its figure in the same
repetition: on a machine or a disk that is slower today both are. The others are the yardstick; how much it moved is shown. Without
one the plain figures are compared. The longest waits always are: one wait of another system is no measure of anything."""

import math
import statistics
from dataclasses import dataclass

from support import markdown as md
from support import noise

LEAST_CHANGE = 0.03
LEAST_OF_ONCE = 0.25
# The figures of one hour have something in common.
LEAST_DRIFT = 0.05
STANDARD_ERRORS = 3
YARDSTICKS = ("postgres", "postgres-async", "direct", "direct-normal")
OURS = "walpool"
# Of the machine: different in every run.
PASSING = ("time", "load", "sync_us", "commit")
# Of a system's settings: where things lay in that run, and what it wrote.
PLACES = ("program", "start", "options")

# Metric -> is more better?
METRICS = {"throughput": True, "p99": False, "longest wait": False, "server CPU": False, "system calls": False, "idle session": False}
UNITS = {"throughput": "/s", "p99": "µs", "longest wait": "µs", "server CPU": "µs"}
WITHOUT_YARDSTICK = ("longest wait",)
ONCE = ("system calls", "idle session")


@dataclass
class Change:
    # With the class of clients, if it is not the first.
    cell: str
    system: str
    metric: str
    unit: str
    old: list
    new: list
    # How far the ratio may be from 1.
    bound: float = 0.0

    @property
    def ratio(self):
        return statistics.median(self.new) / statistics.median(self.old)

    @property
    def is_beyond_noise(self):
        apart = min(self.new) > max(self.old) or max(self.new) < min(self.old)
        return apart and abs(math.log(self.ratio)) > self.bound

    @property
    def is_worse(self):
        return self.is_beyond_noise and (self.ratio < 1) == METRICS[self.metric]

    @property
    def is_ours(self):
        return self.system.startswith(OURS)


@dataclass
class Drift:
    """All cells of ours moved together."""

    metric: str
    ratio: float
    cells: int

    @property
    def is_worse(self):
        return (self.ratio < 1) == METRICS[self.metric]

    def __str__(self):
        word = "**worse**" if self.is_worse else "better"
        return f"{self.metric} of ours: {self.ratio:.3f} of what it was in the median of {self.cells} figures, and most on that side: {word}"


def compare(old, new):
    """Every figure that both have."""
    yardsticks = _yardsticks(old, new)
    before, after = (_figures(record, yardsticks) | _once(record) for record in (old, new))
    changes = [Change(*key, values, after[key]) for key, values in before.items() if key in after]
    for metric in METRICS:
        for ours in (True, False):
            alike = [change for change in changes if (change.metric, change.is_ours) == (metric, ours)]
            for change, deviation in zip(alike, noise.deviations([(change.old, change.new) for change in alike])):
                error = deviation * math.sqrt(1 / len(change.old) + 1 / len(change.new))
                change.bound = max(math.log1p(LEAST_CHANGE), STANDARD_ERRORS * error)
                if metric in ONCE:
                    change.bound = math.log1p(LEAST_OF_ONCE)
    return changes


def drifts(changes):
    """What is a little worse, or better, nearly everywhere."""
    found = []
    for metric in METRICS:
        ratios = [change.ratio for change in changes if change.is_ours and change.metric == metric]
        if ratios and noise.is_one_sided(ratios) and abs(math.log(statistics.median(ratios))) > math.log1p(LEAST_DRIFT):
            found.append(Drift(metric, statistics.median(ratios), len(ratios)))
    return found


def _yardsticks(old, new):
    """Cell -> what ours is measured by there: the first that has a figure in both records."""
    before, after = ({(cell, system) for (cell, _), turn in _turns(record).items() for system in turn} for record in (old, new))
    cells = {cell for cell, _ in before & after}
    return {cell: next((other for other in YARDSTICKS if (cell, other) in before & after), None) for cell in cells}


def _figures(record, yardsticks):
    """(cell and class, system, metric, unit) -> the values of the repetitions."""
    found = {}
    for (cell, _), turn in _turns(record).items():
        yardstick = yardsticks.get(cell)
        for system, run in turn.items():
            for name, figures in _classes(run):
                for metric, value in figures.items():
                    unit = UNITS[metric]
                    if yardstick and system.startswith(OURS) and metric not in WITHOUT_YARDSTICK:
                        beside = dict(_classes(turn[yardstick])).get(name, {}) if yardstick in turn else {}
                        value, unit = _ratio(value, beside.get(metric)), f"× {yardstick}"
                    if value:
                        found.setdefault((cell + name, system, metric, unit), []).append(value)
    return found


def _classes(run):
    """What is behind the cell's name -> its figures. Those of the first class are the run's own."""
    yield "", {**_measured(run), "server CPU": run["server_cpu_us"]}
    for name, of_class in list(run.get("classes", {}).items())[1:]:
        yield f", {name}", _measured(of_class)


def _measured(figures):
    return {"throughput": figures["throughput_per_s"], "p99": figures["latency_us"].get("p99"), "longest wait": figures.get("worst_us")}


def _once(record):
    """What was counted or weighed beside the runs."""
    costs = {(f"{cost['workload']}-{cost['clients']}", cost["system"], "system calls", "a statement"):
             [cost["syscalls_per_statement"]] for cost in record.get("costs", []) if cost["syscalls_per_statement"]}
    return costs | {(f"{idle['sessions']} idle sessions", idle["system"], "idle session", "bytes"): [idle["bytes_per_session"]]
                    for idle in record.get("idle", []) if idle["bytes_per_session"] and idle["bytes_per_session"] > 0}


def _turns(record):
    """(cell, repetition) -> system -> its run, where it is a figure."""
    turns = {}
    for run in record["runs"]:
        if not run["errors"]:
            turns.setdefault((run["cell"], run["repetition"]), {})[run["system"]] = run
    return turns


def _ratio(value, other):
    return value / other if value and other else None


def failed(old, new):
    """Of ours: what gave figures and now gives errors, or does nothing at all, also in some repetitions only."""
    before, after = _failed_parts(old), _failed_parts(new)
    return [f"failed: {cell}, {system}: {fails} of {runs} runs, before {before[cell, system][0]} of {before[cell, system][1]}"
            for (cell, system), (fails, runs) in after.items()
            if system.startswith(OURS) and (cell, system) in before and fails / runs > before[cell, system][0] / before[cell, system][1]]


def _failed_parts(record):
    """(cell, system) -> runs that gave no figure, runs."""
    parts = {}
    for run in record["runs"]:
        fails, runs = parts.get((run["cell"], run["system"]), (0, 0))
        # What did nothing has no ratio to what it did before.
        parts[run["cell"], run["system"]] = (fails + bool(run["errors"] or not run["throughput_per_s"]), runs + 1)
    return parts


def missing(old, new):
    """What is compared with less than there was: figures that are not there any more, and yardsticks."""
    lines = [f"the {word} one is incomplete: {'; '.join(record['errors']) or 'it was interrupted'}"
             for word, record in (("old", old), ("new", new)) if not record.get("complete", True)]
    before, after = ({(cell, system) for (cell, _), turn in _turns(record).items() for system in turn} for record in (old, new))
    gone = sorted(f"{cell} ({system})" for cell, system in before - after if system.startswith(OURS) or system in YARDSTICKS)
    return lines + ([f"no figure in the new one: {', '.join(gone)}"] if gone else [])


def differences(old, new):
    """What was not the same about the two runs, and is not what was measured."""
    lines = [f"commit: {old['machine'].get('commit')} -> {new['machine'].get('commit')}"]
    lines += _differing("machine", old["machine"], new["machine"], PASSING)
    for system in old["systems"].keys() & new["systems"].keys():
        lines += _differing(system, old["systems"][system]["settings"], new["systems"][system]["settings"], PLACES)
    syncs = [record["machine"].get("sync_us") for record in (old, new)]
    if all(syncs) and max(syncs) > 1.5 * min(syncs):
        lines.append(f"machine: a sync of the disk took {syncs[0]:.0f} µs -> {syncs[1]:.0f} µs")
    before, after = ({cell["id"]: cell for cell in record["cells"]} for record in (old, new))
    for name in before.keys() & after.keys():
        settings = ({key: each[name][key] for key in ("seconds", "scale", "classes")} for each in (before, after))
        lines += _differing(name, *settings, ())
    for word, only in (("old", before.keys() - after.keys()), ("new", after.keys() - before.keys())):
        if only:
            lines.append(f"only in the {word} one: {', '.join(sorted(only))}")
    return lines


def _differing(of, old, new, left_out):
    return [f"{of}: {name}: {old.get(name)} -> {new.get(name)}" for name in {**old, **new}
            if name not in left_out and old.get(name) != new.get(name)]


MISSED_NOW = "met -> missed"


def verdicts(old, new):
    """Goals that were met and are not any more, or the other way round."""
    before = {(goal["cell"], goal.get("other")): goal for goal in old["goals"]}
    lines = []
    for goal in new["goals"]:
        was = before.get((goal["cell"], goal.get("other")), {}).get("met")
        if None not in (was, goal["met"]) and was != goal["met"]:
            against = f" to {goal['other']}" if goal.get("other") else ""
            lines.append(f"goal {goal['cell']}{against}: {MISSED_NOW if was else 'missed -> met'}")
    return lines


def got_worse(changes, verdicts, failures):
    """What makes the exit status 1."""
    return bool(failures or any(line.endswith(MISSED_NOW) for line in verdicts)
                or any(change.is_ours and change.is_worse for change in changes)
                or any(drift.is_worse for drift in drifts(changes)))


def printed(changes, everything=False):
    """A table, the farthest from 1 first, and a line that sums up."""
    ours = [change for change in changes if change.is_ours]
    shown = [change for change in changes if everything or change.is_beyond_noise]
    shown.sort(key=lambda change: (not change.is_ours, -abs(math.log(change.ratio))))
    rows = [[change.cell, change.system, change.metric, _value(change.old, change.unit), _value(change.new, change.unit),
             f"{change.ratio:.3f}", f"±{math.expm1(change.bound) * 100:.0f}%", _word(change)] for change in shown]
    heads = ["cell", "system", "metric", "old", "new", "new / old", "noise", ""]
    worse, better = (sum(change.is_beyond_noise and change.is_worse == word for change in ours) for word in (True, False))
    lines = [md.table(heads, rows, left=3, words=("",))] if rows else []
    lines.append(f"{len(ours)} figures of ours: {worse} worse, {better} better, {len(ours) - worse - better} within noise.")
    lines += map(str, drifts(changes))
    yardstick = [change.ratio for change in changes if not change.is_ours and change.metric == "throughput"]
    if yardstick:
        lines.append(f"The others' throughput, new / old: {statistics.median(yardstick):.3f} in the median of {len(yardstick)}.")
    return "\n\n".join(lines)


def _value(values, unit):
    text = md.digits(statistics.median(values))
    return f"{text} {unit}" if unit != "/s" else f"{text}/s"


def _word(change):
    if not change.is_beyond_noise:
        return ""
    return ("**worse**" if change.is_worse else "better") if change.is_ours else "yardstick"
