"""What sessions that do nothing cost a server: memory for each, CPU time and wake-ups for all of them together."""

import contextlib
import time
from pathlib import Path

# Whatever is done after the last answer is done by then.
SETTLE_SECONDS = 1


def measure(system, sessions, seconds):
    """An IDLE of the record. Each session has asked something once, as every session of a pool has."""
    server = system.server
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(server.connect(timeout=60))]
        connections[0].query("SELECT abalance FROM pgbench_accounts WHERE aid = 1")
        time.sleep(SETTLE_SECONDS)
        before = proportional_bytes(server)
        for number in range(2, sessions + 1):
            connections.append(stack.enter_context(server.connect(timeout=60)))
            connections[-1].query(f"SELECT abalance FROM pgbench_accounts WHERE aid = {number}")
        time.sleep(SETTLE_SECONDS)
        resident = proportional_bytes(server)
        used = usage(server)
        time.sleep(seconds)
        cost = {name: value - used[name] for name, value in usage(server).items()}
    return {"system": system.name, "sessions": sessions, "bytes_per_session": round((resident - before) / (sessions - 1)),
            "resident_bytes": resident, "seconds": seconds, "cpu_ms": round(cost["ns"] / 1e6, 3), "wakeups": cost["wakeups"]}


def proportional_bytes(server):
    """Memory of all its processes. What several of them share is divided among them, so that nothing counts twice:
    "Pss" in https://www.kernel.org/doc/html/latest/filesystems/proc.html"""
    total = 0
    for process in server.processes():
        # One that has just ended has none. One that may not be read is an error: it would be one without memory.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
    return total


def usage(server):
    """CPU time and how often a thread was given the processor, of all threads."""
    total = {"ns": 0, "wakeups": 0}
    for process in server.processes():
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{process}/task").iterdir():
                on_cpu, _, runs = (thread / "schedstat").read_text().split()
                total["ns"] += int(on_cpu)
                total["wakeups"] += int(runs)
    return total
