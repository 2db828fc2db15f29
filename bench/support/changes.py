"""Two records of bench/run compared: what changed, and by more than noise.

A figure has changed when all three hold:
- The ranges of its repetitions, least to most, do not overlap.
- The ratio of the medians is further from 1 than three standard errors. The spread of a single repetition is too little to
  say anything of its own noise (two or three values), so that of all figures of the kind is taken together: s, the root of the
  mean square deviation of the logarithms from their cell's mean; the error of a ratio is s * sqrt(1/n + 1/m).
- It is further from 1 than LEAST_CHANGE, whatever the noise: the two runs are of different hours.

Where PostgreSQL (or direct access) took turns with ours, ours is compared as a multiple of its figure in the same repetition: on
a machine or a disk that is slower today both are. The others are the yardstick; how much it moved is shown."""

import math
import statistics
from dataclasses import dataclass

from support import markdown as md

LEAST_CHANGE = 0.03
STANDARD_ERRORS = 3
# Where nothing was repeated, in either record, there is no telling what is noise; only what doubles is then said to have changed.
NOISE_UNKNOWN = math.log(2) / (STANDARD_ERRORS * math.sqrt(2))
YARDSTICKS = ("postgres", "postgres-async", "direct", "direct-normal")
OURS = "walpool"
# Of the machine: different in every run.
PASSING = ("time", "load", "sync_us", "commit")
# Of a system's settings: where things lay in that run, and what it wrote.
PLACES = ("program", "start", "options")

# Metric -> is more better?
METRICS = {"throughput": True, "p99": False, "server CPU": False}
UNITS = {"throughput": "/s", "p99": "µs", "server CPU": "µs"}


@dataclass
class Change:
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


def compare(old, new):
    """Every figure that both have."""
    before, after = _figures(old), _figures(new)
    changes = [Change(*key, values, after[key]) for key, values in before.items() if key in after]
    noise = {(metric, ours): _noise([values for change in changes if (change.metric, change.is_ours) == (metric, ours)
                                     for values in (change.old, change.new)])
             for metric in METRICS for ours in (True, False)}
    for change in changes:
        error = noise[change.metric, change.is_ours] * math.sqrt(1 / len(change.old) + 1 / len(change.new))
        change.bound = max(math.log1p(LEAST_CHANGE), STANDARD_ERRORS * error)
    return changes


def _figures(record):
    """(cell, system, metric, unit) -> the values of the repetitions."""
    found = {}
    for (cell, _), turn in _turns(record).items():
        for system, run in turn.items():
            yardstick = next((other for other in YARDSTICKS if other in turn), None) if system.startswith(OURS) else None
            for metric, value in _measured(run).items():
                unit = UNITS[metric]
                if yardstick:
                    value, unit = _ratio(value, _measured(turn[yardstick])[metric]), f"× {yardstick}"
                if value:
                    found.setdefault((cell, system, metric, unit), []).append(value)
    return found


def _turns(record):
    """(cell, repetition) -> system -> its run, where it is a figure."""
    turns = {}
    for run in record["runs"]:
        if not run["errors"]:
            turns.setdefault((run["cell"], run["repetition"]), {})[run["system"]] = run
    return turns


def _measured(run):
    return {"throughput": run["throughput_per_s"], "p99": run["latency_us"].get("p99"), "server CPU": run["server_cpu_us"]}


def _ratio(value, other):
    return value / other if value and other else None


def _noise(groups):
    """The standard deviation of one value's logarithm, of all groups together."""
    squares, freedom = 0.0, 0
    for values in groups:
        logarithms = [math.log(value) for value in values]
        mean = statistics.fmean(logarithms)
        squares += sum((each - mean) ** 2 for each in logarithms)
        freedom += len(values) - 1
    return math.sqrt(squares / freedom) if freedom else NOISE_UNKNOWN


def failed(old, new):
    """What gave figures and now gives errors."""
    before = {cell["id"]: cell["systems"] for cell in old["summary"]}
    return [f"failed: {cell['id']}, {system}" for cell in new["summary"] for system, part in cell["systems"].items()
            if system.startswith(OURS) and not part["throughput_per_s"]
            and before.get(cell["id"], {}).get(system, {}).get("throughput_per_s")]


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


def verdicts(old, new):
    """Goals that were met and are not any more, or the other way round."""
    before = {(goal["cell"], goal.get("other")): goal for goal in old["goals"]}
    lines = []
    for goal in new["goals"]:
        was = before.get((goal["cell"], goal.get("other")), {}).get("met")
        if None not in (was, goal["met"]) and was != goal["met"]:
            against = f" to {goal['other']}" if goal.get("other") else ""
            lines.append(f"goal {goal['cell']}{against}: {'met -> missed' if was else 'missed -> met'}")
    return lines


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
