"""The plan of bench/run, as data. A row is a workload with its numbers of clients and the systems that take turns at it;
each number of clients makes a cell. What is not here is not measured."""

from dataclasses import dataclass

# What the plan's sum takes for granted, measured on 2 cores and rounded up: seconds.
SECONDS_OF = {
    "install": 40,          # Debian's packages, on a machine that has none of them
    "build": 330,           # walpoold, walpool-load and the GRDB program from a clean clone
    "quick build": 220,     # without the GRDB program, which --quick leaves out where it is not built yet
    "run": 0.8,             # of each run beside warm-up and measuring: processes, connections, the sync probe
    "connection": 0.004,    # of each client's connection: PostgreSQL forks for it
    "scale": 3,             # for each 100,000 accounts of a data set, in every system that uses it
    "ycsb": 12,             # the YCSB table, in every system
    "costs": 60,            # system calls and the idle sessions
    "quick costs": 15,
    "report": 15,
}
# What a whole run, and one with --quick, may take, in seconds: a test compares the plan's sum with it.
LONGEST_RUN, LONGEST_QUICK_RUN = 60 * 60, 8 * 60

DELAY = 2000        # microseconds that a preload library adds to every sync


@dataclass(frozen=True)
class Row:
    workload: str
    clients: tuple              # of a run with several classes: all of them together
    systems: tuple
    why: str
    section: str = "throughput"
    seconds: int = 4
    repeats: int = 3
    durability: str = "durable"     # relaxed: a commit that was answered may be lost with the machine
    sync_delay_us: int = 0
    scale: int = 10                 # of the data, 100,000 accounts each
    driver: str = "walpool-load"
    classes: str = ""               # --clients CLASS=N,... of a workload with several
    rate: int = 0                   # transactions that are meant to start in each second; 0: a closed loop
    quick: tuple = ()               # the numbers of clients that --quick keeps


# In the order of their turns: who is put in relation with whom stands beside him.
ALL_READ = ("canned", "walpool", "postgres", "pgbouncer", "direct", "grdb", "in-process")
ALL_WRITE = ("direct", "walpool", "postgres", "pgbouncer", "grdb", "in-process")
TWO = ("walpool", "postgres")
THREE = ("direct", "walpool", "postgres")
MODES = ("walpool", "postgres", "walpool-pipelined")
WITH_DIRECT = ("direct", *MODES)
RELAXED = ("walpool-normal", "postgres-async", "direct-normal")

ROWS = (
    Row("select", (1, 8, 64), ALL_READ, "one row by its key: how near to the limits", seconds=3, repeats=4, quick=(8,)),
    Row("select", (2, 4, 16, 256, 1000), TWO, "the same, by the number of clients", seconds=3, repeats=2),
    Row("insert", (1, 8, 64), ALL_WRITE, "one durable row: shared commits against everyone for himself",
        seconds=3, repeats=4, quick=(8, 64)),
    Row("insert", (2, 4, 16, 256, 1000), TWO, "the same, by the number of clients", seconds=3, repeats=2),
    Row("tpcb", (1, 8, 64), WITH_DIRECT, "a round trip for each of 7 statements, the writer held meanwhile",
        seconds=3, repeats=4, quick=(8,)),
    Row("tpcb-simple", (8, 64), WITH_DIRECT, "the same without tellers and branches, as pgbench -N: no rows that all want",
        seconds=3, repeats=3),
    Row("tpcb-pipeline", (8, 64), WITH_DIRECT, "the seven statements, sent at once", seconds=3, quick=(8,)),
    Row("tpcb-message", (8, 64), MODES, "the same, as one query string", seconds=3, repeats=2),
    Row("mixed-95-5", (64,), (*THREE, "grdb"), "19 reads for each write", seconds=3, quick=(64,)),
    Row("mixed-50-50", (64,), (*THREE, "grdb"), "a read for each write", seconds=3),
    Row("ycsb-a", (16,), TWO, "YCSB: half reads, half updates, zipfian keys", seconds=3, repeats=2, quick=(16,)),
    Row("ycsb-b", (16,), TWO, "YCSB: 95% reads", seconds=3, repeats=2),
    Row("ycsb-c", (16,), TWO, "YCSB: reads only", seconds=3, repeats=2),
    Row("ycsb-d", (16,), TWO, "YCSB: the newest rows are read", seconds=3, repeats=2),
    Row("ycsb-e", (16,), TWO, "YCSB: short scans", seconds=3, repeats=2),
    Row("ycsb-f", (16,), TWO, "YCSB: read-modify-write", seconds=3, repeats=2),
    Row("batch-insert", (8,), THREE, "100 rows to a commit", seconds=3, repeats=2),
    Row("read-modify-write", (8,), THREE, "a read, then a write that rests on it", seconds=3, repeats=2),
    Row("large-result", (4,), TWO, "results of many rows", seconds=3, repeats=2),
    Row("idle", (1008,), TWO, "8 readers beside 1,000 sessions that do nothing",
        classes="readers=8,idlers=1000", seconds=3, repeats=2),
    Row("churn", (8,), (*TWO, "pgbouncer"), "a connection for each statement", seconds=3, repeats=2),
    Row("scans-beside-writers", (10,), THREE, "whole-table scans beside writers",
        classes="writers=8,scanners=2", seconds=5, repeats=2),
    Row("snapshot-beside-writers", (9,), THREE, "a long snapshot beside writers",
        classes="writers=8,snapshot=1", seconds=5, repeats=2),

    Row("insert", (8, 64), RELAXED, "answered before the sync",
        section="durability", durability="relaxed", seconds=3, repeats=2, quick=(8,)),
    Row("tpcb", (8, 64), RELAXED[:2], "answered before the sync",
        section="durability", durability="relaxed", seconds=3, repeats=2),

    # Half of what the slowest system did at saturation in the run of the slowest machine that is kept; of PgBouncer 0.6 to 0.7.
    Row("select", (16,), (*TWO, "pgbouncer"), "latency at a rate that all can serve", section="open loop", rate=8000,
        seconds=4, repeats=3, quick=(16,)),
    Row("insert", (16,), THREE, "latency at a rate that all can serve", section="open loop", rate=2000, seconds=4, repeats=3),
    Row("tpcb", (16,), WITH_DIRECT, "latency at a rate that all can serve", section="open loop", rate=600, seconds=4, repeats=3),

    Row("select", (8,), (*TWO, "in-process"), "13 MB, less than the readers' page caches together",
        section="memory", scale=1, seconds=3, repeats=2),

    Row("insert", (8, 64), TWO, "pgbench as the driver", section="cross-check", driver="pgbench", seconds=3, repeats=2),
    Row("select", (8, 64), TWO, "pgbench as the driver",
        section="cross-check", driver="pgbench", seconds=3, repeats=2, quick=(8,)),
    Row("tpcb", (8, 64), MODES, "pgbench as the driver", section="cross-check", driver="pgbench", seconds=3, repeats=2),

    Row("starve-vacuum", (16,), THREE, "VACUUM in the middle",
        classes="writers=8,readers=8", section="starvation", seconds=8, repeats=2),
    Row("starve-readers", (72,), THREE, "writers against readers that take all they can",
        classes="writers=8,readers=64", section="starvation", seconds=8, repeats=2),
    Row("starve-one", (64,), THREE, "one paced writer among 63 that never pause",
        classes="one=1,others=63", section="starvation", seconds=8, repeats=2),
    Row("starve-scanners", (12,), THREE, "scanners pin snapshots beside writers",
        classes="writers=8,scanners=4", section="starvation", seconds=8, repeats=2),
    Row("starve-outsider", (8,), ("walpool", "direct"), "another process locks the file for 200 ms of each second",
        section="starvation", seconds=8, repeats=2),
    Row("starve-slow-client", (17,), THREE, "a client that reads a large result slowly",
        classes="writers=8,readers=8,slow=1", section="starvation", seconds=8, repeats=2),
    Row("worst-wait", (82,), THREE, "64 writers beside 16 readers and 2 scanners: who waits longest?",
        classes="writers=64,readers=16,scanners=2", section="starvation", seconds=15, repeats=2, quick=(82,)),

    Row("insert", (1, 8, 64), ("direct", *MODES), "a sync takes 2 ms longer",
        section="slow disk", sync_delay_us=DELAY, seconds=3, repeats=3, quick=(8,)),
    Row("tpcb", (8, 64), MODES, "a sync takes 2 ms longer",
        section="slow disk", sync_delay_us=DELAY, seconds=3, repeats=3),
)
