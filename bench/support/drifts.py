"""What is a little worse, or better, nearly everywhere: in all cells, or in all of a workload.

In each cell it may be within noise. So the cells are the sample: Student's t of their log ratios, one for each cell however many of
our modes took turns in it, because those share the yardstick and the minute. How much the cells differ among each other has
everything in it that is of one cell alone. What they have in common is LEAST_DRIFT: within one run our throughput, as a multiple of
PostgreSQL's, sinks by up to 7 % from the first repetitions to the last. A workload's cells also share the minutes in which one
repetition of them was made, which moves their CPU time together: by workload only throughput is looked at."""

import math
import statistics
from dataclasses import dataclass

from support import noise
from support.figures import METRICS

LEAST_DRIFT = 0.08
# Fewer are not a sample.
LEAST_CELLS = 4
OF_ALL = ("throughput", "p99", "server CPU")
OF_A_WORKLOAD = ("throughput",)


@dataclass
class Drift:
    metric: str
    workload: str       # or none: of all cells
    # Of each cell's ratio, and how much a cell says: the inverse of its variance.
    logarithms: list
    weights: list
    # How far the mean may be from 0.
    bound: float = 0.0

    @property
    def mean(self):
        return statistics.fmean(self.logarithms, self.weights)

    @property
    def error(self):
        """By the scatter of the cells, whatever their variances were thought to be (Hartung and Knapp)."""
        squares = (weight * (each - self.mean) ** 2 for each, weight in zip(self.logarithms, self.weights))
        return math.sqrt(sum(squares) / sum(self.weights) / (len(self.logarithms) - 1))

    @property
    def is_beyond_noise(self):
        return abs(self.mean) > self.bound

    @property
    def is_worse(self):
        return self.is_beyond_noise and (self.mean < 0) == METRICS[self.metric]

    def __str__(self):
        where = f" in {self.workload}" if self.workload else ""
        word = "**worse**" if self.is_worse else "better"
        return (f"{self.metric} of ours{where}: {math.exp(self.mean):.3f} of what it was in the mean of {len(self.logarithms)} cells "
                f"(noise ±{math.expm1(self.bound) * 100:.0f}%): {word}")


def of(changes, workloads, chance):
    """Those beyond noise; `chance`: that one is said to be worse, if nothing has changed. `workloads`: by cell."""
    groups = {}
    for change in changes:
        cell = change.cell.partition(",")[0]
        for workload in _groups(change, workloads.get(cell)):
            groups.setdefault((change.metric, workload), {}).setdefault(cell, []).append(change)
    drifts = [Drift(*key, *zip(*map(_of_cell, cells.values()))) for key, cells in groups.items() if len(cells) >= LEAST_CELLS]
    for drift in drifts:
        t = noise.quantile(chance / len(drifts), len(drift.logarithms) - 1)
        drift.bound = max(math.log1p(LEAST_DRIFT), t * drift.error)
    return [drift for drift in drifts if drift.is_beyond_noise]


def _of_cell(changes):
    errors = [change.error for change in changes if change.error]
    weight = 1 / statistics.fmean(errors) ** 2 if errors else 1.0
    return statistics.fmean(math.log(change.ratio) for change in changes), weight


def _groups(change, workload):
    if not change.is_ours:
        return []
    return [""] * (change.metric in OF_ALL) + [workload] * (workload is not None and change.metric in OF_A_WORKLOAD)
