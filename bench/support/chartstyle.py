"""How every picture looks: the same colour for a system everywhere, and no more ink than the figures need."""

import io
import math
import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.container import ErrorbarContainer  # noqa: E402

# Of Okabe and Ito's palette, which people with any common colour blindness can tell apart (https://jfly.uni-koeln.de/color/).
# Variants of a system have shades of its colour; what SQLite, or socket and kernel, do alone is black and grey.
COLOURS = {
    "walpool": "#0072B2", "walpool-pipelined": "#56B4E9", "walpool-normal": "#A9D5F2",
    "postgres": "#D55E00", "postgres-async": "#F2A873", "pgbouncer": "#E69F00",
    "direct": "#CC79A7", "direct-normal": "#E3B7CF", "grdb": "#009E73",
    "in-process": "#000000", "canned": "#8C8C8C",
}
MARKERS = {
    "walpool": "o", "walpool-pipelined": "o", "walpool-normal": "o", "postgres": "s", "postgres-async": "s", "pgbouncer": "D",
    "direct": "^", "direct-normal": "^", "grdb": "v", "in-process": "x", "canned": "+",
}
LIMITS = ("in-process", "canned")
OTHER = "#8C8C8C"
GRID, TEXT, QUIET = "#E3E3E3", "#222222", "#666666"
# As wide as GitHub shows a README's pictures: then a point of a font is a point.
WIDTH = 8.6


def apply():
    plt.rcParams.update({
        "font.family": "DejaVu Sans", "font.size": 8.5, "text.color": TEXT, "axes.labelcolor": TEXT,
        "axes.titlesize": 9.5, "axes.titlelocation": "left", "axes.titleweight": "bold", "axes.titlepad": 8,
        "axes.edgecolor": QUIET, "axes.linewidth": 0.7, "axes.spines.top": False, "axes.spines.right": False,
        "axes.axisbelow": True, "axes.grid": True, "axes.grid.axis": "y", "grid.color": GRID, "grid.linewidth": 0.7,
        "xtick.color": QUIET, "ytick.color": QUIET, "xtick.labelcolor": TEXT, "ytick.labelcolor": TEXT,
        "xtick.major.size": 3, "ytick.major.size": 0, "xtick.minor.size": 0, "ytick.minor.size": 0,
        "lines.linewidth": 1.6, "lines.markersize": 4.5, "legend.frameon": False, "legend.fontsize": 8.5,
        # Text as outlines: a browser without this font would set it in another one, of another width.
        "svg.fonttype": "path", "svg.hashsalt": "walpool", "hatch.linewidth": 1.2, "figure.facecolor": "white",
    })


def line(axes, system, title, x, spreads, scale=1.0, **changes):
    """Medians joined by a line, least and most as a bar at each."""
    medians = [spread["median"] * scale for spread in spreads]
    # A median that was rounded when it was written down may lie beyond a whole number that was not.
    below = [max(0, spread["median"] - spread["least"]) * scale for spread in spreads]
    above = [max(0, spread["most"] - spread["median"]) * scale for spread in spreads]
    style = {"linestyle": (0, (4, 2)), "linewidth": 1.1, "zorder": 2} if system in LIMITS else {"zorder": 3}
    if system == "walpool":
        style |= {"linewidth": 2.2, "zorder": 4}
    return axes.errorbar(x, medians, yerr=[below, above], color=COLOURS.get(system, OTHER), marker=MARKERS.get(system, "."),
                         label=title, elinewidth=1.2, **{**style, **changes})


# As many names as fit beside each other.
WIDEST_LEGEND = 7


def legend(figure, axes, order=()):
    """One for all panels, above them, in two rows where one is too long. `order`: of the names, where the first panel has not all of them."""
    entries = {}
    for each in axes:
        for handle, label in zip(*each.get_legend_handles_labels()):
            # Of an error bar the line alone.
            entries.setdefault(label, handle[0] if isinstance(handle, ErrorbarContainer) else handle)
    names = sorted(entries, key=lambda name: order.index(name) if name in order else len(order))
    columns = len(names) if len(names) <= WIDEST_LEGEND else -(-len(names) // 2)
    figure.legend([entries[name] for name in names], names, loc="upper left", ncol=columns, bbox_to_anchor=(0.0, 1.0),
                  handlelength=1.8, columnspacing=1.3, borderaxespad=0.2)


def save(figure, path):
    """Without a date, so that the same figures give the same file."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    path.with_suffix(".svg").write_text(smaller(text.getvalue()))
    figure.savefig(path.with_suffix(".png"), dpi=160, metadata={"Software": None})
    plt.close(figure)


def smaller(svg):
    """The same picture in half the bytes: a hundredth of a point is more than anybody sees."""
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"-?\d+\.\d{3,}(?!\d)", _rounded, svg)
    return re.sub(r"\s*\n\s*", "\n", svg)


def _rounded(number):
    value = float(number[0])
    # What is smaller than 1 may be a scale.
    return f"{value:.{2 if abs(value) >= 1 else 5}f}".rstrip("0").rstrip(".")


def decades(values, room=1.0):
    """Limits of a logarithmic axis at powers of ten; `room`: a factor that must stay free at both ends."""
    return 10 ** math.floor(math.log10(min(values) / room)), 10 ** math.ceil(math.log10(max(values) * room))


def thousands(value, _=None):
    """Of an axis: 25k."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def three_digits(value):
    """Of a figure beside its mark: 25.0k."""
    for unit, size in (("M", 1e6), ("k", 1e3), ("", 1)):
        if value >= size:
            return f"{value / size:#.3g}".rstrip(".") + unit
    return f"{value:.2g}"


def duration(microseconds, _=None):
    """With three digits and the unit that suits."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3g} {unit}"
    return f"{microseconds:.3g} µs"
