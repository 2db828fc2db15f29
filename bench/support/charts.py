"""The pictures, one function each: a record in, a matplotlib figure out, or None where the record has no figures for it."""

import matplotlib.pyplot as plt
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from support import chartstyle as style
from support.recordview import (EQUAL_SHARES, PERCENTILES, RELAXED, STARVATION_VICTIMS, VICTIM_NAMES, cells_of, share_of_equal,
                                throughput_by_mode, title, worst_of)


def throughput(record):
    workloads = (("select", "Point SELECT"), ("insert", "Durable INSERT"), ("tpcb", "TPC-B, a message a statement"))
    panels = [(name, workload, cells) for workload, name in workloads if len(cells := cells_of(record, workload)) > 1]
    if not panels:
        return None
    figure, all_axes = _panels(len(panels), 3.6, top=0.8)
    for axes, (name, _, cells) in zip(all_axes, panels):
        shown = []
        for system in record["systems"]:
            points = [(cell["clients"], spread) for cell in cells
                      if (spread := cell["systems"].get(system, {}).get("throughput_per_s"))]
            if points:
                style.line(axes, system, title(record, system), *zip(*points))
            shown += [value for _, spread in points for value in (spread["least"], spread["most"]) if value > 0]
        clients = [cell["clients"] for cell in cells]
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(FixedLocator(clients))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        # Few clients do little: on a linear axis who is ahead there would not be seen.
        axes.set_yscale("log")
        axes.set_ylim(min(shown) / 1.3, max(shown) * 1.3)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(style.thousands))
        axes.set(title=name, xlabel="clients")
    all_axes[0].set_ylabel("transactions per second (logarithmic)")
    style.legend(figure, all_axes, [title(record, system) for system in record["systems"]])
    return figure


def latency(record):
    wanted = (("select", 64, "Point SELECT"), ("insert", 64, "Durable INSERT"), ("mixed-95-5", 64, "Mixed 95/5"))
    panels = [(name, cell) for workload, clients, name in wanted for cell in cells_of(record, workload)
              if cell["clients"] == clients]
    panels = panels or [(cell["workload"], cell) for cell in record["summary"] if cell["section"] == "throughput"][:3]
    if not panels:
        return None
    figure, all_axes = _panels(len(panels), 3.5, top=0.82, sharey=True)
    shown = []
    for axes, (name, cell) in zip(all_axes, panels):
        for system, part in cell["systems"].items():
            points = [(index, spread) for index, percentile in enumerate(PERCENTILES)
                      if (spread := part["latency_us"].get(percentile)) and spread["least"] > 0]
            if points:
                style.line(axes, system, title(record, system), *zip(*points))
            shown += [value for _, spread in points for value in (spread["least"], spread["most"])]
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(numticks=12))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(style.duration))
        axes.set_xticks(range(len(PERCENTILES)), PERCENTILES.values())
        axes.tick_params(axis="x", labelsize=7.5)
        axes.set(title=f"{name}, {cell['clients']} clients", xlabel="percentile of transactions")
    if shown:
        all_axes[0].set_ylim(*style.decades(shown))
    all_axes[0].set_ylabel("latency, closed loop (logarithmic)")
    style.legend(figure, all_axes)
    return figure


def fairness(record):
    panels = [(name, shares) for cell, of_class, name in EQUAL_SHARES
              if (shares := share_of_equal(record, cell, of_class))][:2]
    if not panels:
        return None
    figure, all_axes = _panels(len(panels), 3.3, top=0.82)
    most = max(counts[-1] for _, shares in panels for repetitions in shares.values() for counts in repetitions)
    for axes, (name, shares) in zip(all_axes, panels):
        for system, repetitions in shares.items():
            for number, counts in enumerate(repetitions):
                axes.plot(range(1, len(counts) + 1), counts, color=style.COLOURS.get(system, style.OTHER), drawstyle="steps-mid",
                          # Where two are alike both are to be seen: the thin line upon the thick one.
                          linewidth=3.2 if system == "walpool" else 1.3, alpha=1.0 if number == 0 else 0.5,
                          label=title(record, system) if number == 0 else None, zorder=3 if system == "walpool" else 4)
        axes.axhline(1, color=style.QUIET, linewidth=0.7, linestyle=(0, (2, 2)), zorder=1)
        clients = max(len(counts) for repetitions in shares.values() for counts in repetitions)
        axes.set_xlim(0.5, clients + 0.5)
        axes.set_xticks([1, *range(clients // 4, clients + 1, max(1, clients // 4))])
        _scale_of_shares(axes, most)
        axes.set(title=name, xlabel="clients, those with the fewest transactions first", ylabel="transactions, of an equal share")
    style.legend(figure, all_axes)
    return figure


def _scale_of_shares(axes, most):
    """Where one client took nearly all, what the others got is to be seen beside it: then logarithmic, but with a 0."""
    if most > 4:
        axes.set_yscale("symlog", linthresh=0.01, linscale=0.6)
        axes.set_ylim(-0.001, 100)
        axes.yaxis.set_major_locator(FixedLocator([0, 0.01, 0.1, 1, 10, 100]))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}×" if value else "nothing"))


def starvation(record):
    starving = sorted((cell for cell in record["summary"] if cell["section"] == "starvation"),
                      key=lambda cell: list(VICTIM_NAMES).index(cell["workload"]) if cell["workload"] in VICTIM_NAMES else 99)
    rows = [(cell, victim, worst) for cell in starving
            for victim in [STARVATION_VICTIMS.get(cell["workload"])] if (worst := worst_of(cell, victim))]
    if not rows:
        return None
    figure, (axes,) = _panels(1, 1.2 + 0.42 * len(rows), top=1 - 0.42 / (1.2 + 0.42 * len(rows)), left=0.335)
    for y, (cell, victim, worst) in enumerate(reversed(rows)):
        axes.plot([min(worst.values()), max(worst.values())], [y, y], color=style.GRID, linewidth=3, zorder=1)
        for system, microseconds in worst.items():
            axes.plot(microseconds, y, linestyle="none", marker=style.MARKERS.get(system, "."), markersize=8,
                      color=style.COLOURS.get(system, style.OTHER), label=title(record, system), zorder=4 if system == "walpool" else 3)
        _label(axes, y, worst)
    axes.set_yticks(range(len(rows)), [VICTIM_NAMES.get(cell["workload"], f"{cell['workload']}: {victim}")
                                       for cell, victim, _ in reversed(rows)])
    axes.set_xscale("log")
    axes.set_xlim(*style.decades([value for *_, worst in rows for value in worst.values()], room=4))
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.xaxis.set_major_locator(LogLocator(numticks=12))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(style.duration))
    axes.grid(axis="x")
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("longest wait of any writer in all repetitions (logarithmic)")
    style.legend(figure, [axes])
    return figure


def _label(axes, y, worst):
    """The figures of the best and the worst, outside of them, where nothing is in the way, and Walpool's above its mark where it is
    neither. Each has its system's colour."""
    by_figure = sorted(worst, key=worst.get)
    ends = {by_figure[0]: ((-8, 0), "right", "center")} if len(worst) > 1 else {}
    ends[by_figure[-1]] = ((8, 0), "left", "center")
    for system, microseconds in worst.items():
        if system in ends or system == "walpool":
            offset, across, along = ends.get(system, ((0, 6), "center", "bottom"))
            axes.annotate(style.duration(microseconds), (microseconds, y), xytext=offset, textcoords="offset points",
                          va=along, ha=across, fontsize=8, color=style.COLOURS.get(system, style.OTHER))


def durability(record):
    panels = []
    for delay, disk in ((0, "this machine's disk"), (2000, "syncs 2 ms slower")):
        for workload, name in (("insert", "Single INSERT"), ("tpcb", "TPC-B")):
            parts = throughput_by_mode(record, workload, 64, delay)
            if parts:
                panels.append((f"{name}, {disk}", parts))
    if not panels:
        return None
    has_relaxed = any(system in RELAXED for _, parts in panels for system in parts)
    figure, all_axes = _bar_panels(panels, 2, record, bottom=0.22 if has_relaxed else 0)
    for axes in all_axes:
        axes.set_xlabel("transactions per second, 64 clients")
    if has_relaxed:
        figure.text(0.008, 0.012, "Hatched: answered before the commit is on the disk.", color=style.QUIET, fontsize=8)
    return figure


def cpu(record):
    panels = []
    for clients in (8, 64):
        for workload, name in (("select", "Point SELECT"), ("insert", "Durable INSERT"), ("tpcb", "TPC-B")):
            for cell in cells_of(record, workload):
                parts = {system: part["server_cpu_us"] for system, part in cell["systems"].items() if part["server_cpu_us"]}
                if cell["clients"] == clients and parts:
                    panels.append((f"{name}, {clients} clients", parts))
    if not panels:
        return None
    figure, all_axes = _bar_panels(panels, 3, record)
    for axes in all_axes:
        axes.set_xlabel("server CPU per statement, µs")
    return figure


def _bar_panels(panels, columns, record, bottom=0.0):
    """`bottom`: inches left free below."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    bars = max(len(parts) for _, parts in panels)
    height = rows * (0.8 + 0.21 * bars) + bottom
    figure, grid = plt.subplots(rows, columns, figsize=(style.WIDTH, height), squeeze=False, layout="constrained")
    figure.get_layout_engine().set(rect=(0, bottom / height, 1, 1 - bottom / height), hspace=0.06, wspace=0.03)
    for axes, (name, parts) in zip(grid.flat, panels):
        _bars(axes, record, parts, bars)
        axes.set_title(name)
    for axes in list(grid.flat)[len(panels):]:
        axes.set_visible(False)
    return figure, list(grid.flat)[:len(panels)]


def _bars(axes, record, parts, room):
    """Horizontal, so that names need not be turned; each with its figure, and least and most as a line. `room`: of how many
    bars there is room, so that they are as thick in every panel."""
    for y, (system, spread) in enumerate(parts.items()):
        relaxed = {"hatch": "////", "edgecolor": "white", "linewidth": 0} if system in RELAXED else {}
        axes.barh(y, spread["median"], height=0.68, color=style.COLOURS.get(system, style.OTHER), zorder=2, **relaxed)
        axes.plot([spread["least"], spread["most"]], [y, y], color=style.TEXT, linewidth=1, zorder=3, solid_capstyle="butt")
        axes.annotate(style.three_digits(spread["median"]), (spread["most"], y), xytext=(4, 0), textcoords="offset points",
                      va="center", fontsize=8)
    axes.set_yticks(range(len(parts)), [title(record, system) for system in parts])
    axes.set_ylim(room - 0.5, -0.5)
    axes.set_xlim(0, max(spread["most"] for spread in parts.values()) * 1.22)
    axes.xaxis.set_major_formatter(FuncFormatter(style.thousands))
    axes.locator_params(axis="x", nbins=4)
    axes.grid(axis="x")
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)


def _panels(count, height, top, left=None, **options):
    figure, axes = plt.subplots(1, count, figsize=(style.WIDTH, height), squeeze=False, **options)
    figure.subplots_adjust(left=left or 0.085, right=0.97 if left else 0.985, top=top, bottom=0.48 / height,
                           wspace=0.1 if "sharey" in options else 0.22)
    return figure, list(axes.flat)
