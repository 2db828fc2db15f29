"""The goals that were set beforehand, as data: a ratio that must be reached, or a wait that must not be passed."""

from dataclasses import asdict, dataclass

# The modes whose answers mean "on the disk". Where a goal names several systems the best of them counts.
DURABLE = ("walpool", "walpool-pipelined")


@dataclass(frozen=True)
class Ratio:
    """The throughput of the best of `systems`, as a multiple of the other's, at least."""

    cell: str
    systems: tuple
    other: str
    at_least: float


@dataclass(frozen=True)
class Wait:
    """The longest wait of any client of a class, in milliseconds, at most; `beside` is shown, and no goal."""

    cell: str
    system: str
    client_class: str
    at_most_ms: float
    beside: str


GOALS = (
    Ratio("select-1", ("walpool",), "postgres", 1.2),
    Ratio("select-8", ("walpool",), "postgres", 1.9),
    Ratio("select-64", ("walpool",), "postgres", 2.9),
    Ratio("select-8", ("walpool",), "canned", 0.70),
    Ratio("insert-1", ("walpool",), "postgres", 1.0),
    Ratio("insert-8", ("walpool",), "postgres", 1.5),
    Ratio("insert-64", ("walpool",), "postgres", 4.2),
    Ratio("insert-64", ("walpool",), "direct", 9.0),
    Ratio("tpcb-8", DURABLE, "postgres", 0.9),
    Ratio("tpcb-64", DURABLE, "postgres", 1.6),
    Ratio("tpcb-pipeline-8", DURABLE, "postgres", 1.5),
    Ratio("tpcb-pipeline-64", DURABLE, "postgres", 3.0),
    Ratio("mixed-95-5-64", ("walpool",), "postgres", 2.0),
    Ratio("insert-1-2ms", ("walpool",), "postgres", 1.0),
    Ratio("insert-8-2ms", ("walpool",), "postgres", 1.0),
    Ratio("insert-64-2ms", ("walpool",), "postgres", 1.0),
    Ratio("insert-64-2ms", ("walpool",), "direct", 25.0),
    Ratio("tpcb-64-2ms", DURABLE, "postgres", 1.5),
    Wait("worst-wait-82", "walpool", "writers", 100.0, beside="direct"),
)


def judge(summary):
    """Each goal with what was measured, and whether it was met: None where it was not measured at all. What failed is
    missed, not left out: what the runs that did not fail have measured is shown, and meets nothing."""
    cells = {cell["id"]: cell for cell in summary}
    return [_judged(goal, cells[goal.cell]) if goal.cell in cells else
            {**_named(goal), "workload": None, "measured": None, "met": None} for goal in GOALS]


def is_within_noise(judged):
    """Whether a ratio's goal lies between the least and the most of the repetitions: another run may well be judged otherwise. A
    wait that came once came, so the longest has no such range."""
    spread = judged["measured"]
    return bool(judged["kind"] == "ratio" and spread and not failed(judged) and spread["least"] < judged["at_least"] < spread["most"])


def reached(judged):
    """In how many of the repetitions a ratio's goal was reached, and of how many: (1, 4). None of a wait, and where nothing was measured."""
    if judged["kind"] != "ratio" or not judged["measured"]:
        return None
    values = judged["measured"]["values"]
    return sum(value >= judged["at_least"] for value in values), len(values)


def by_pgbench(judged, summary):
    """The same ratio where pgbench made the load, of the best of the goal's systems; None where it did not."""
    cell = next((cell for cell in summary if cell["id"] == f"{judged['cell']}-pgbench"), None)
    if cell is None or judged["kind"] != "ratio":
        return None
    ratios = [ratio for system in judged["systems"] if (ratio := cell["ratios"].get(f"{system}/{judged['other']}"))
              and not cell["systems"][system]["failed"]]
    return max(ratios, key=lambda ratio: ratio["median"], default=None)


def failed(judged):
    """How many runs of ours failed. Older records have no such number, and those that are published no such run."""
    return judged.get("failed", 0)


def threshold(judged):
    return judged.get("at_least", judged.get("at_most_ms"))


def verdict(judged):
    """In words, the median's side first, so that those that are met can be counted."""
    runs = failed(judged)
    return (("met" if judged["met"] else "missed") + (", within noise" if is_within_noise(judged) else "")
            + (f", {runs} run{'s' if runs > 1 else ''} failed" if runs else ""))


def _named(goal):
    return {"kind": type(goal).__name__.lower(), **asdict(goal)}


def _judged(goal, cell):
    judged = {**_named(goal), "workload": cell["workload"], "clients": cell["clients"], "sync_delay_us": cell["sync_delay_us"]}
    return {**judged, **(_ratio(goal, cell) if isinstance(goal, Ratio) else _wait(goal, cell))}


def _ratio(goal, cell):
    if goal.other not in cell["asked"] or not set(goal.systems) & set(cell["asked"]):
        return {"measured": None, "met": None}
    failures = {system: part["failed"] for system in goal.systems if (part := cell["systems"].get(system))}
    ratios = {system: cell["ratios"].get(f"{system}/{goal.other}") for system in goal.systems}
    ratios = {system: ratio for system, ratio in ratios.items() if ratio}
    if not ratios:
        return {"measured": None, "met": False, "failed": sum(failures.values())}
    # A mode of which nothing failed comes before one that did more in the runs that it survived.
    best = max(ratios, key=lambda system: (not failures[system], ratios[system]["median"]))
    return {"best": best, "measured": ratios[best], "failed": failures[best],
            "met": not failures[best] and ratios[best]["median"] >= goal.at_least}


def _wait(goal, cell):
    """The worst of all repetitions: a wait that came once came."""
    worst = {}
    for system in (goal.system, goal.beside):
        part = cell["systems"].get(system)
        if part and (of_class := part["classes"].get(goal.client_class)) and of_class["worst_us"] is not None:
            worst[system] = of_class["worst_us"] / 1000
    if goal.system not in cell["asked"]:
        return {"measured": None, "met": None}
    measured, failures = worst.get(goal.system), cell["systems"][goal.system]["failed"]
    return {"measured": measured, "beside_measured": worst.get(goal.beside), "failed": failures,
            "met": measured is not None and not failures and measured <= goal.at_most_ms}
