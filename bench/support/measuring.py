"""Runs one cell, the systems taking turns, and writes down what each run gave."""

import contextlib
import itertools
import sqlite3
import threading
import time

from pgwire import ConnectionLost, ServerError
from support import answered, generator, machine, pgbench_driver, scenarios, systems
from support.record import new_run
from support.tools import BenchError

# Each sample reads /proc of each backend, some 15 µs: of 64 that is 0.4 % of a core.
SAMPLE_SECONDS = 0.25
# How long a server may be ending whose clients have lost it.
DYING_SECONDS = 1
# Reading /proc of so many backends would itself be load.
MOST_CLIENTS_SAMPLED = 128
# "Begin anew" is an answer, and SQLITE_BUSY what direct access is here to show: counted, and no failures.
COUNTED = ("40001", "SQLITE_BUSY")
# A client that reads for so long that the WAL would outgrow its limit is ended, which is what wal_limit_bytes promises.
ENDED_BY_PROMISE = {"slow": "57014"}


def in_turn(cell, repetition):
    """Which system when: A B C, C B A, A B C. Neighbours in the plan are so in every turn, and one is first in this, the other in the next."""
    return cell.systems if repetition % 2 else cell.systems[::-1]


def rounds(cells):
    """Repetition by repetition, each through all cells: a drift of the machine is none between two cells, and the repetitions of
    one tell how much it was."""
    for repetition in range(1, max(cell.repeats for cell in cells) + 1):
        for cell in cells:
            if repetition <= cell.repeats:
                yield repetition, cell


def measure(world, cell, repetition, programs, directory, record, tell, keep_logs=False):
    logs = directory / "logs" if keep_logs else None
    for place, name in enumerate(in_turn(cell, repetition), 1):
        run = new_run(cell, name, repetition, place)
        try:
            system = world.system(name)
            record["systems"].setdefault(name, systems.described(system))
            run["sync_us"] = machine.sync_microseconds(directory, probes=20)
            with slow_disk_used(world, run):
                measure_one(system, cell, programs, directory, run, logs)
        # A disk that is full, or a file that is gone, is of this run: the next may have what it needs.
        except (BenchError, generator.Failed, ConnectionLost, ServerError, OSError, sqlite3.Error) as error:
            run["errors"].append(str(error) or type(error).__name__)
        # Its clients may have heard of its end first.
        if wrong := world.broken(name, DYING_SECONDS if run["errors"] else 0):
            run["errors"].append(wrong)
        settle(world, name, run)
        record["runs"].append(run)
        tell(run)


def settle(world, name, run):
    """The turn is over when nothing of it is left to be done in the next one's."""
    try:
        run["settled"] = world.settle(name)
    except (ConnectionLost, ServerError) as error:
        run["errors"].append(f"afterwards: {error}")


@contextlib.contextmanager
def slow_disk_used(world, run):
    """A delay that silently was not there would make a figure that is not true."""
    before = world.syncs()
    yield
    if before is not None:
        run["notes"]["syncs"] = world.syncs() - before
        if not run["notes"]["syncs"]:
            run["errors"].append("not one sync went through the slow disk")


def measure_one(system, cell, programs, directory, run, logs):
    """Fills in the run; raises what kept it from having figures."""
    prepare(system, cell)
    rows = answered.Rows(system, cell.workload)
    with scenarios.beside(cell, system, run["notes"]), Processor(system, cell) as processor:
        if cell.driver == "pgbench":
            figures = pgbench_driver.run(system, cell, directory)
            succeeded = {None: figures["transactions"]}
        else:
            log = ["--hdr-log", logs / f"{cell.id}-{run['repetition']}-{system.name}.hlog"] if logs else []
            told = generator.run(system, cell, programs, run["repetition"], directory, more=log)
            figures = generator.figures(told, keep_all=cell.section == "starvation")
            run["errors"] += failures(told)
            succeeded = answered.of_the_generator(told)
    if missing := scenarios.omitted(cell, system, run["notes"]):
        run["errors"].append(missing)
    run.update(figures)
    until = run.pop("ended", None) or processor.ended
    if run["statements"] and (used := processor.seconds_between(until - cell.seconds, until)) is not None:
        run["server_cpu_us"] = used / run["statements"] * 1e6
    run["busy"] = sum(count for each in run["classes"].values() for state, count in each["error_states"].items()
                      if state.startswith("SQLITE_BUSY"))
    if missing := rows.missing(succeeded):
        run["errors"].append(missing)


def prepare(system, cell):
    """PostgreSQL gets the VACUUM that pgbench does before each of its runs."""
    if system.name.startswith("postgres") and cell.workload.startswith("tpcb"):
        with system.server.connect(timeout=120) as connection:
            connection.query("VACUUM pgbench_branches, pgbench_tellers")


def failures(told):
    """In words: what happened that should not have."""
    states = {}
    for each in told["classes"]:
        # What failed before or after the measured time failed all the same.
        for state, count in itertools.chain.from_iterable(
                each[when].items() for when in ("warm_up_error_states", "error_states", "late_error_states")):
            if not state.startswith(COUNTED) and ENDED_BY_PROMISE.get(each["name"]) != state:
                states[state] = states.get(state, 0) + count
    found = [f"{count} times {state}" for state, count in states.items()]
    if found:
        found += told["complaints"][:3]
    first = told["classes"][0]
    if not first["transactions"] and not first["errors"] and not first["unfinished_us"]:
        found.append(f"{first['name']}: not one transaction")
    return found


class Processor:
    """How much CPU time a system's servers had, read every now and then while the load runs. What they took to accept
    the clients and to warm up is not the statements'."""

    def __init__(self, system, cell):
        self._read = system.cpu_seconds if cell.clients <= MOST_CLIENTS_SAMPLED else lambda: None
        self._samples = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self.ended = None

    def _sample(self):
        for _ in itertools.takewhile(lambda _: not self._over.wait(SAMPLE_SECONDS), itertools.count()):
            self._take()

    def _take(self):
        try:
            self._samples.append((time.monotonic(), self._read()))
        except (OSError, AttributeError):
            pass        # it is gone, which is told elsewhere

    def seconds_between(self, began, until):
        """CPU seconds in that time, or None. Only samples inside count, their rate for all of it: afterwards clients leave, and a
        backend of PostgreSQL takes what it has used along."""
        inside = [sample for sample in self._samples if began <= sample[0] <= until]
        if len(inside) < 2 or any(used is None for _, used in inside):
            return None
        (first, low), (last, high) = inside[0], inside[-1]
        return (high - low) / (last - first) * (until - began)

    def __enter__(self):
        self._take()
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.ended = time.monotonic()
        self._over.set()
        self._thread.join()
        self._take()
