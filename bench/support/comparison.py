"""From a plan to a full record: programs, worlds, cells, and what is measured beside them."""

from itertools import groupby

from pgwire import ConnectionLost, ServerError
from support import answered, costs, generator, idle, machine, measuring, plan
from support.programs import Programs
from support.tools import say
from support.worlds import World

# Where system calls and idle sessions are looked at, if the plan has these cells.
COSTS = ("select-8", "insert-8")
COUNTED_SYSTEMS = ("walpool", "postgres")
IDLE_SESSIONS = 1000


def run(cells, options, directory, record, keep):
    """Fills in the record as it goes, so that an interrupted run has what was measured. `keep` is told after each cell of a repetition."""
    programs = Programs({system for cell in cells for system in cell.systems}, options.old)
    programs.install(packages(cells, options))
    programs.build()
    record["programs"] = programs.described()
    record["machine"] = machine.describe(directory)     # once more: now the tools are there to tell their versions
    (directory / "logs").mkdir()
    done = 0
    for number, (world_key, members) in enumerate(groupby(cells, key=plan.Cell.world)):
        members = list(members)
        scale, delay, _ = world_key
        ycsb = any(cell.workload.startswith("ycsb") for cell in members)
        with World(directory / f"world{number}", programs, scale, delay, ycsb, options.walpool_options, options.old) as world:
            if options.costs and not delay:
                idle_sessions(world, members, record, quick=options.quick)
            for repetition, turns in groupby(measuring.rounds(members), key=lambda turn: turn[0]):
                for _, cell in turns:
                    done += 1
                    say(f"[{done}/{sum(cell.repeats for cell in cells)}] {cell.id}: {cell.why}")
                    measuring.measure(world, cell, repetition, programs, directory, record, tell, options.keep_logs)
                    keep()
            if options.costs and not delay:
                system_calls(world, members, programs, directory, record, quick=options.quick)
            record["errors"] += world.stop() + answered.unlike(members, record["runs"])


def packages(cells, options):
    """Beside those that the systems need."""
    needed = ["make", "sqlite3"]
    if any(cell.driver == "pgbench" for cell in cells):
        needed.append("postgresql-15")
    if any(cell.sync_delay_us for cell in cells):
        needed += ["gcc", "libc6-dev"]
    return needed + (["strace"] if options.costs else []) + (["python3-matplotlib"] if options.plots else [])


def system_calls(world, cells, programs, directory, record, quick):
    """For each statement."""
    for cell in cells:
        for name in COUNTED_SYSTEMS:
            if cell.id in COSTS and name in cell.systems:
                say(f"system calls of {name}, {cell.id}")
                attempt(record, f"system calls of {name}, {cell.id}", record["costs"],
                        lambda: costs.measure(world.system(name), cell, programs, directory, seconds=1 if quick else 3))


def idle_sessions(world, cells, record, quick):
    """Sessions that do nothing, of servers that have done nothing yet: memory that they have kept of others would be had for
    nothing."""
    for name in COUNTED_SYSTEMS:
        if any(cell.id == COSTS[0] and name in cell.systems for cell in cells):
            sessions = IDLE_SESSIONS // 10 if quick else IDLE_SESSIONS
            say(f"{sessions} idle sessions of {name}")
            attempt(record, f"idle sessions of {name}", record["idle"],
                    lambda: idle.measure(world.system(name), sessions, seconds=1 if quick else 5))


def attempt(record, what, results, measure):
    try:
        results.append(measure())
    except (generator.Failed, ConnectionLost, ServerError, OSError) as error:
        record["errors"].append(f"{what}: {error}")


def tell(run):
    """A line for each run while it goes on."""
    figures = f"{run['throughput_per_s']:>12,.0f}/s" if run["throughput_per_s"] is not None else " " * 14
    if run["worst_us"] is not None:
        p99 = run["latency_us"]["p99"]
        figures += f"  p99 {p99 / 1000:>9.3f} ms" if p99 is not None else " " * 18
        figures += f"  worst {run['worst_us'] / 1000:>9.1f} ms"
    cpu = f"  cpu {run['server_cpu_us']:.1f} us" if run["server_cpu_us"] is not None else ""
    share = f"  fewest/most {run['fairness']:.2f}" if run["fairness"] is not None else ""
    busy = f"  {run['busy']} busy" if run["busy"] else ""
    error = f"  FAILED: {run['errors'][0]}" if run["errors"] else ""
    say(f"  #{run['repetition']} {run['system']:<18}{figures}{cpu}  sync {run['sync_us'] or 0:.0f} us{share}{busy}{error}")
