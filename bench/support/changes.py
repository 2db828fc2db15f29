"""Two records of bench/run compared: what changed, and by more than noise.

A figure has changed when all three hold:
- The ranges of its repetitions, least to most, do not overlap.
- The ratio of the geometric means is further from 1 than Student's t allows, with the cell's own noise, drawn towards that of the
  others (noise.py). There are hundreds of figures, and three standard errors would be passed by some of them every time: t is
  for the chance FALSE_ALARMS divided by their number (Bonferroni), so that it bounds the chance of any false alarm at all. The
  throughputs that goals were set for are a family of their own and have half of it: they are few, and were named beforehand.
- It is further from 1 than LEAST_CHANGE, whatever the noise: the two runs are of different hours. Of fairness it must be further
  than LEAST_OF_FAIRNESS: clients that get 97 and not 99 % of each other's share starve nowhere. What is counted or weighed
  only once, system calls and idle sessions, must be further than LEAST_OF_ONCE. Of a run in which nothing was repeated nobody
  knows the noise (single p99s of the same program differ by up to 15 times): its figures are not judged, only its drifts.

And all cells together, and those of each workload: what is a little slower everywhere is within noise in each (drifts.py).

System calls are told, and move no exit status either. The longest wait is one wait of thousands; that it was longer is told, and
no reason for the exit status. But in each of FOUR repetitions and five times as long it is no single wait, and no machine's
either: of ours, those of the published results are up to 4.2 times as long on one machine as on another. A goal that was met and
is missed is one, if its figure has changed by the same rule: else it stood at the goal before, too."""

import math
from dataclasses import dataclass, replace

from support import drifts, figures, goals, noise

LEAST_CHANGE = 0.03
LEAST_OF_ONCE = 0.25
LEAST_OF_FAIRNESS = 0.25
# A longest wait that counts.
FOUR, TIMES_AS_LONG = 4, 5
# Of two runs that do not differ, in how many something may be said to be worse. Half of it is for the figures, half for the drifts.
FALSE_ALARMS = 0.05
# The figures that goals are about: cell and system.
OF_GOALS = {(goal.cell, system) for goal in goals.GOALS if isinstance(goal, goals.Ratio) for system in goal.systems}
# What does not move the exit status. How many system calls a statement takes is how many requests the daemon finds together: counted
# once, in a run of its own, it was 0.4 to 3.2 in programs that did not differ in it, up to twice as much within a day on one machine.
TOLD_ONLY = ("longest wait", "system calls")


@dataclass
class Change:
    # With the class of clients, if it is not the first.
    cell: str
    system: str
    metric: str
    unit: str
    old: list
    new: list
    # The standard error of the ratio's logarithm, and how far that may be from 0. Not known, where nothing was repeated.
    error: float = None
    bound: float = math.inf
    # Of one record, each new value over the old program's in the same repetition: then the old one is 1, and has no noise.
    is_paired: bool = False

    @property
    def measured(self):
        return [self.new] if self.is_paired else [self.old, self.new]

    @property
    def ratio(self):
        return math.exp(noise.logarithm(self.new) - noise.logarithm(self.old))

    @property
    def is_beyond_noise(self):
        apart = min(self.new) > max(self.old) or max(self.new) < min(self.old)
        return apart and abs(math.log(self.ratio)) > self.bound

    @property
    def is_worse(self):
        return self.is_beyond_noise and (self.ratio < 1) == figures.METRICS[self.metric]

    @property
    def is_ours(self):
        return self.system.startswith(figures.OURS)

    @property
    def counts(self):
        return self.is_ours and (self.metric not in TOLD_ONLY or self.is_no_single_wait)

    @property
    def is_no_single_wait(self):
        return self.metric == "longest wait" and min(map(len, self.measured)) >= FOUR and self.ratio > TIMES_AS_LONG

    @property
    def is_of_a_goal(self):
        return self.metric == "throughput" and (self.cell, self.system) in OF_GOALS

    @property
    def is_judged(self):
        return self.bound < math.inf

    def would_be_worse(self, factor):
        """Whether so much of what it was would be seen, with the noise that the two records have."""
        values = [value / self.ratio for value in self.new] if self.is_paired else self.old
        return replace(self, new=[value * factor for value in values]).is_worse


@dataclass
class Flip:
    """A goal that was met and is not any more, or the other way round."""

    goal: str
    was_met: bool
    # Of its figure; None where it has none any more.
    change: Change

    @property
    def is_real(self):
        return self.change is None or self.change.is_beyond_noise

    def __str__(self):
        words = f"goal {self.goal}: {'met -> missed' if self.was_met else 'missed -> met'}"
        return words if self.is_real else f"{words}, but its figure has not changed by more than noise"


@dataclass
class Comparison:
    changes: list
    flips: list
    drifts: list

    def got_worse(self):
        return (any(change.counts and change.is_worse for change in self.changes) or any(drift.is_worse for drift in self.drifts)
                or any(flip.was_met and flip.is_real for flip in self.flips))


def compare(old, new):
    """Every figure that both have."""
    changes = [Change(*key, *values) for key, values in figures.of_both(old, new).items()]
    flips = list(_flips(old, new))
    _set_bounds(changes + [flip.change for flip in flips if flip.change])
    workloads = {cell["id"]: cell["workload"] for cell in new.get("cells", [])}
    return Comparison(changes, flips, drifts.of(changes, workloads, FALSE_ALARMS / 2))


def compare_pairs(record):
    """Two programs that took turns in one run: each figure is the new one's multiple of the old one's in the same repetition, so that
    nothing of another hour or machine is in it."""
    changes = [Change(*key, [1.0], values, is_paired=True) for key, values in figures.of_pairs(record).items()]
    _set_bounds(changes)
    workloads = {cell["id"]: cell["workload"] for cell in record["cells"]}
    return Comparison(changes, [], drifts.of(changes, workloads, FALSE_ALARMS / 2))


def _chances(changes):
    """Is it of a goal? -> the chance of a false alarm that each of those may have. Half of FALSE_ALARMS is for the drifts."""
    counted = [change.is_of_a_goal for change in changes if change.counts and change.metric not in figures.ONCE]
    families = len(set(counted)) or 1
    return {family: FALSE_ALARMS / 2 / families / max(1, counted.count(family)) for family in (True, False)}


def _set_bounds(changes):
    chances = _chances(changes)
    for metric in figures.METRICS:
        for ours in (True, False):
            alike = [change for change in changes if (change.metric, change.is_ours) == (metric, ours)]
            for change, known in zip(alike, noise.deviations([change.measured for change in alike])):
                if metric in figures.ONCE:
                    change.bound = math.log1p(LEAST_OF_ONCE)
                elif known:
                    deviation, freedom = known
                    change.error = deviation * math.sqrt(sum(1 / len(values) for values in change.measured))
                    least = LEAST_OF_FAIRNESS if metric == "fairness" else LEAST_CHANGE
                    change.bound = max(math.log1p(least), noise.quantile(chances[change.is_of_a_goal], freedom) * change.error)


def _flips(old, new):
    before = {(goal["cell"], goal.get("other")): goal for goal in old.get("goals", [])}
    for goal in new.get("goals", []):
        was = before.get((goal["cell"], goal.get("other")), {})
        if goals.threshold(was) != goals.threshold(goal):
            continue        # another goal, which is no change of what was measured: conditions.py tells it
        if None not in (was.get("met"), goal["met"]) and was["met"] != goal["met"]:
            against = f" to {goal['other']}" if goal.get("other") else ""
            values = [_values_of_goal(record, each) for record, each in ((old, was), (new, goal))]
            metric = "longest wait" if goal["kind"] == "wait" else "throughput"
            change = Change(goal["cell"], figures.OURS, metric, "", *values) if all(values) else None
            yield Flip(goal["cell"] + against, was["met"], change)


def _values_of_goal(record, goal):
    """One for each repetition; none where it has no figure, or did nothing."""
    if not goal["measured"]:
        return []
    if goal["kind"] == "ratio":
        return [value for value in goal["measured"]["values"] if value]
    classes = (run["classes"].get(goal["client_class"]) for run in record["runs"]
               if (run["cell"], run["system"]) == (goal["cell"], goal["system"]) and not run["errors"])
    return [each["worst_us"] for each in classes if each and each["worst_us"]]
