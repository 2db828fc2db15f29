"""The cross-check: the same cell with pgbench as the load generator, so that nobody need trust ours."""

from support.generator import Failed
from support.load import Pgbench, children_cpu_seconds, together
from support.record import PERCENTILES

# A pipeline needs the extended protocol, a message of several statements the simple one.
MODES = {"tpcb-message": "simple"}
# In a transaction of each; every other workload is one statement.
STATEMENTS = {"tpcb": 7, "tpcb-simple": 5, "tpcb-pipeline": 7, "tpcb-message": 7}


def run(system, cell, directory):
    """The figures of a RUN (record.py). pgbench tells neither percentiles nor what each client got."""
    before = children_cpu_seconds()
    pgbench = Pgbench(system.server, cell.workload, cell.clients, cell.seconds, directory, cell.scale,
                      MODES.get(cell.workload, "prepared"))
    with together(pgbench):
        outcome = pgbench.wait()
    if outcome.errors:
        raise Failed("; ".join(outcome.errors))
    cpu = children_cpu_seconds() - before
    latency = {**dict.fromkeys(PERCENTILES), "mean": outcome.latency_ms * 1000, "max": outcome.worst_ms * 1000}
    counted = {"throughput_per_s": outcome.tps, "transactions": outcome.transactions, "latency_us": latency,
               "worst_us": latency["max"], "fewest": None, "most": None, "fairness": None}
    clients = {**counted, "clients": cell.clients, "loop": "closed", "rows": 0, "errors": 0, "error_states": {},
               "per_client": None, "series": []}
    statements = outcome.transactions * STATEMENTS.get(cell.workload, 1)
    return {**counted, "statements": statements, "threads": pgbench.threads, "retries": 0,
            "client_cpu_us": cpu / statements * 1e6 if statements else None,
            "classes": {"clients": clients}}
