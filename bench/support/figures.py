"""What two records of bench/run have that can be compared: the figures of each repetition.

Where PostgreSQL (or direct access) took turns with ours in both records, ours is a multiple of its figure in the same
repetition: on a machine or a disk that is slower today both are. The others are the yardstick. Without one the plain figures are
compared. The longest waits always are: one wait of another system is no measure of anything. Neither is how it serves its clients:
whether ours get as much as each other is a promise of its own. The old program of bench/run --old makes the same promises: by it
everything is measured that both have a figure of."""

from support.systems import OLD
from support.tools import BenchError

YARDSTICKS = ("postgres", "postgres-async", "direct", "direct-normal")
OURS = "walpool"

# Metric -> is more better?
METRICS = {"throughput": True, "p99": False, "longest wait": False, "fairness": True, "server CPU": False, "system calls": False,
           "idle session": False}
UNITS = {"throughput": "/s", "p99": "µs", "longest wait": "µs", "fairness": "fewest / most", "server CPU": "µs"}
WITHOUT_YARDSTICK = ("longest wait", "fairness")
# What the others promise nobody, and is no yardstick either.
OURS_ONLY = ("fairness",)
ONCE = ("system calls", "idle session")


def of_both(old, new):
    """(cell and class, system, metric, unit) -> the values of the old record and those of the new one."""
    yardsticks = _yardsticks(old, new)
    before, after = (_repeated(record, yardsticks) | _once(record) for record in (old, new))
    return {key: (values, after[key]) for key, values in before.items() if key in after}


def of_pairs(record):
    """(cell and class, system, metric, unit) -> Walpool's values as multiples of the old program's in the same repetition."""
    return {key: values for key, values in _repeated(record, _old_ones(record)).items() if key[1] == OURS and key[3] == f"× {OLD}"}


def unpaired(record):
    """What is compared with nothing, because the old program has no figure of it: metrics, modes, and cells."""
    once = {metric for _, system, metric, _ in _once(record) if system == OURS}
    modes = {system for turn in turns(record).values() for system in turn if system.startswith(OURS)} - {OURS}
    cells = {cell for (cell, _), turn in turns(record).items() if OURS in turn} - {cell for cell, *_ in of_pairs(record)}
    return [*(metric for metric in ONCE if metric in once), *sorted(modes), *sorted(cells)]


def _old_ones(record):
    return {cell: OLD for (cell, _), turn in turns(record).items() if OLD in turn}


def of_old_and_new(record):
    """As if the two programs had made a record each."""
    if OLD not in record["systems"]:
        raise BenchError("it has not the figures of two programs, which bench/run --old PROGRAM makes: name another to compare it with")
    others = [system for system in record["systems"] if system != OLD]
    parts = []
    for system in (OLD, OURS):
        runs = [{**run, "system": OURS} for run in record["runs"] if run["system"] == system]
        settings = {OURS: record["systems"][system]} if system in record["systems"] else {}
        program = record.get("programs", {}).get("old walpoold" if system == OLD else "walpoold")
        parts.append({**record, "runs": runs, "programs": {"walpoold": program} if program else {}, "systems": {name: record["systems"][name] for name in others} | settings})
    return parts


def _yardsticks(old, new):
    """Cell -> what ours is measured by there: the first that has a figure in both records."""
    before, after = ({(cell, system) for (cell, _), turn in turns(record).items() for system in turn} for record in (old, new))
    cells = {cell for cell, _ in before & after}
    return {cell: next((other for other in YARDSTICKS if (cell, other) in before & after), None) for cell in cells}


def _repeated(record, yardsticks):
    """(cell and class, system, metric, unit) -> the values of the repetitions."""
    found = {}
    for (cell, _), turn in turns(record).items():
        yardstick = yardsticks.get(cell)
        for system, run in turn.items():
            for name, figures in _classes(run):
                for metric, value in figures.items():
                    unit = UNITS[metric]
                    if metric in OURS_ONLY and not system.startswith(OURS):
                        continue
                    if yardstick and system.startswith(OURS) and (metric not in WITHOUT_YARDSTICK or yardstick == OLD):
                        beside = dict(_classes(turn[yardstick])).get(name, {}) if yardstick in turn else {}
                        value, unit = _ratio(value, beside.get(metric)), f"× {yardstick}"
                    if value:
                        found.setdefault((cell + name, system, metric, unit), []).append(value)
    return found


def _classes(run):
    """What is behind the cell's name -> its figures. Those of the first class are the run's own."""
    classes = list(run.get("classes", {}).items())
    clients = classes[0][1]["clients"] if classes else 1
    yield "", {**_measured(run), "fairness": _fairness(run, clients), "server CPU": run["server_cpu_us"]}
    for name, of_class in classes[1:]:
        yield f", {name}", {**_measured(of_class), "fairness": _fairness(of_class, of_class["clients"])}


def _measured(figures):
    return {"throughput": figures["throughput_per_s"], "p99": figures["latency_us"].get("p99"), "longest wait": figures.get("worst_us")}


def _fairness(figures, clients):
    """Of equal clients, what the one with the least got of what the one with the most did. One more for each: nothing has no ratio,
    and is just what must not be left out."""
    if clients < 2 or figures["most"] is None:
        return None
    return (figures["fewest"] + 1) / (figures["most"] + 1)


def _once(record):
    """What was counted or weighed beside the runs."""
    costs = {(f"{cost['workload']}-{cost['clients']}", cost["system"], "system calls", "a statement"):
             [cost["syscalls_per_statement"]] for cost in record.get("costs", []) if cost["syscalls_per_statement"]}
    return costs | {(f"{idle['sessions']} idle sessions", idle["system"], "idle session", "bytes"): [idle["bytes_per_session"]]
                    for idle in record.get("idle", []) if idle["bytes_per_session"] and idle["bytes_per_session"] > 0}


def turns(record):
    """(cell, repetition) -> system -> its run, where it is a figure."""
    found = {}
    for run in record["runs"]:
        if not run["errors"]:
            found.setdefault((run["cell"], run["repetition"]), {})[run["system"]] = run
    return found


def _ratio(value, other):
    return value / other if value and other else None
