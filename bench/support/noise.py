"""How much of a difference between repeated figures is chance. Everything is in logarithms: 0.1 is about 10 %."""

import math
import statistics

# Where nothing was repeated, in either record, there is no telling what is noise; only what doubles is then said to have changed.
UNKNOWN = math.log(2) / (3 * math.sqrt(2))
# Of how many degrees of freedom the other cells' noise is worth: a cell repeated three times in both records has four of its own.
PRIOR_FREEDOM = 4
# A sign test over all cells: so seldom would chance alone put as many on one side.
CHANCE = 0.001


def deviations(groups):
    """The standard deviation of one value in each group, a group being lists of values, one list for each record.

    Two or three values say little of their own noise, and the noise of all cells together says little of one that is ten times
    as quiet. So each cell's variance is drawn towards that of the cell in the middle (as "empirical Bayes" has it), not replaced."""
    own = [_squares(lists) for lists in groups]
    # The median of chi-square over its freedom is below 1 (Wilson and Hilferty's approximation).
    typical = [squares / freedom / (1 - 2 / (9 * freedom)) ** 3 for squares, freedom in own if freedom]
    if not typical:
        return [UNKNOWN] * len(groups)
    prior = statistics.median(typical)
    return [math.sqrt((PRIOR_FREEDOM * prior + squares) / (PRIOR_FREEDOM + freedom)) for squares, freedom in own]


def _squares(lists):
    """The squared deviations from the lists' own means, and their degrees of freedom."""
    squares = 0.0
    for values in lists:
        logarithms = [math.log(value) for value in values]
        mean = statistics.fmean(logarithms)
        squares += sum((each - mean) ** 2 for each in logarithms)
    return squares, sum(len(values) - 1 for values in lists)


def is_one_sided(ratios):
    """Whether so many of the ratios are on the same side of 1 that chance does not do it."""
    above = sum(ratio > 1 for ratio in ratios)
    below = sum(ratio < 1 for ratio in ratios)
    count, most = above + below, max(above, below)
    return 2 * sum(math.comb(count, each) for each in range(most, count + 1)) / 2 ** count < CHANCE if count else False
