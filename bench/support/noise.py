"""How much of a difference between repeated figures is chance. Everything is in logarithms: 0.1 is about 10 %."""

import functools
import math
import statistics

# What the noise of the other cells counts for beside a cell's own, in degrees of freedom: as much as that, but no more than this.
# Cells differ in their noise by factors of ten, so that of two quiet repetitions the others' prove little.
MOST_PRIOR_FREEDOM = 4
# Of a cell that was not repeated; its bound is then so wide that nothing passes it.
LEAST_PRIOR_FREEDOM = 2


def deviations(groups):
    """The standard deviation of one value in each group and its degrees of freedom, a group being lists of values, one list
    for each record. None for all where nothing was repeated.

    Two or three values say little of their own noise, and the noise of all cells together says little of one that is ten
    times as quiet. So each cell's variance is drawn towards that of the cell in the middle (as "empirical Bayes" has it), not
    replaced."""
    own = [(sum(map(_squares, lists)), sum(map(_freedom, lists))) for lists in groups]
    # The median of chi-square over its freedom is below 1 (Wilson and Hilferty's approximation).
    typical = [squares / freedom / (1 - 2 / (9 * freedom)) ** 3 for squares, freedom in own if freedom]
    if not typical:
        return [None] * len(groups)
    return [_drawn(*each, statistics.median(typical)) for each in own]


def _drawn(squares, freedom, typical):
    prior = min(max(freedom, LEAST_PRIOR_FREEDOM), MOST_PRIOR_FREEDOM)
    return math.sqrt((prior * typical + squares) / (prior + freedom)), prior + freedom


def logarithm(values):
    """Of the geometric mean."""
    return statistics.fmean(map(math.log, values))


def _squares(values):
    """The squared deviations from the list's own mean."""
    mean = logarithm(values)
    return sum((math.log(each) - mean) ** 2 for each in values)


def _freedom(values):
    """Values that agree in all their digits were rounded alike, or are one value twice: no evidence that there is no noise."""
    return len(set(values)) - 1


@functools.cache
def quantile(chance, freedom):
    """What Student's t exceeds with that chance."""
    least, most = 0.0, 1.0
    while beyond(most, freedom) > chance:
        most *= 2
    for _ in range(60):
        middle = (least + most) / 2
        least, most = (middle, most) if beyond(middle, freedom) > chance else (least, middle)
    return most


def beyond(t, freedom):
    """The chance that Student's t is more than `t`: Abramowitz and Stegun, 26.7.3 and 26.7.4, for whole degrees of freedom."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term, total = (cosine, cosine if freedom > 1 else 0.0) if odd else (1.0, 1.0)
    for each in range(2 + odd, freedom - 1, 2):
        term *= cosine ** 2 * (each - 1) / each
        total += term
    within = 2 / math.pi * (angle + sine * total) if odd else sine * total
    return (1 - within) / 2
