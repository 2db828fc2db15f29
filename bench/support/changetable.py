"""What bench/compare prints of a comparison: a table, and lines that sum up."""

import math
import statistics

from support import markdown as md


def printed(comparison, everything=False):
    """The table has the farthest from 1 first."""
    shown = [change for change in comparison.changes if everything or change.is_beyond_noise]
    shown.sort(key=lambda change: (not change.is_ours, -abs(math.log(change.ratio))))
    rows = [[change.cell, change.system, change.metric, _value(change.old, change.unit), _value(change.new, change.unit),
             f"{change.ratio:.3f}", _noise(change), _word(change)] for change in shown]
    heads = ["cell", "system", "metric", "old", "new", "new / old", "noise", ""]
    parts = [md.table(heads, rows, left=3, words=("",))] if rows else []
    return "\n\n".join([*parts, _summed_up(comparison.changes), *power(comparison.changes), *map(str, comparison.drifts),
                        *_of_the_others(comparison.changes)])


def _summed_up(changes):
    ours = [change for change in changes if change.counts]
    worse, better = (sum(change.is_beyond_noise and change.is_worse == word for change in ours) for word in (True, False))
    unknown = sum(not change.is_judged for change in ours)
    words = f"{len(ours)} figures of ours: {worse} worse, {better} better, {len(ours) - worse - better - unknown} within noise"
    return f"{words}, {unknown} of unknown noise, because nothing was repeated." if unknown else f"{words}."


def power(changes):
    """What could have been seen at all: "within noise" says little where the noise is wide."""
    throughputs = [change for change in changes if change.is_ours and change.metric == "throughput" and change.is_judged]
    texts = []
    for what, of_goal in (("figures that goals are about", True), ("others", False)):
        if group := [change for change in throughputs if change.is_of_a_goal == of_goal]:
            seen = [sum(change.would_be_worse(factor) for change in group) for factor in (1 / 2, 2 / 3, 3 / 4)]
            texts.append(f"of {len(group)} {what} half of it would be seen in {seen[0]}, a third less in {seen[1]}, a quarter less in "
                         f"{seen[2]}")
    return [f"What could be seen in one throughput: {'; '.join(texts)}."] if texts else []


def _of_the_others(changes):
    ratios = [change.ratio for change in changes if not change.is_ours and change.metric == "throughput"]
    return [f"The others' throughput, new / old: {statistics.median(ratios):.3f} in the median of {len(ratios)}."] if ratios else []


def _value(values, unit):
    text = md.digits(statistics.geometric_mean(values))
    return f"{text} {unit}" if unit != "/s" else f"{text}/s"


def _noise(change):
    return f"±{math.expm1(change.bound) * 100:,.0f}%" if change.is_judged else "not known"


def _word(change):
    if not change.is_beyond_noise:
        return ""
    if not change.is_ours:
        return "yardstick"
    if not change.counts:
        more, less = ("longer", "shorter") if change.metric == "longest wait" else ("more", "fewer")
        return more if change.is_worse else less
    return "**worse**" if change.is_worse else "better"
