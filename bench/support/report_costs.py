"""Sections of the report about what a statement and a session cost."""

from support import markdown as md
from support.recordview import cores, title


def cost(record):
    calls = {(each["workload"], each["clients"], each["system"]): each for each in record["costs"]}
    keys = list(calls)
    for cell in record["summary"]:
        by_clients = cell["workload"] in ("select", "insert", "tpcb")
        if cell["section"] == "throughput" and (cell["clients"] in (8, 64) or not by_clients):
            keys += [(cell["workload"], cell["clients"], system) for system, part in cell["systems"].items()
                     if part["server_cpu_us"] and (cell["workload"], cell["clients"], system) not in calls]
    cells = {(cell["workload"], cell["clients"]): cell for cell in record["summary"] if cell["section"] == "throughput"}
    rows = []
    for key in sorted(keys, key=lambda key: _position(record, key)):
        cell, traced = cells.get(key[:2]), calls.get(key)
        part = cell and cell["systems"].get(key[2])
        most = sorted((traced or {}).get("calls", {}).items(), key=lambda call: -call[1])
        rows.append([key[0], md.whole(key[1]), title(record, key[2]),
                     md.digits(part["server_cpu_us"]["median"]) if part and part["server_cpu_us"] else "",
                     md.digits(part["client_cpu_us"]["median"]) if part and part["client_cpu_us"] else "",
                     _cores(record, cell, key[2]),
                     md.digits(traced["syscalls_per_statement"]) if traced else "",
                     ", ".join(f"{name} {md.digits(count, 2)}" for name, count in most[:5] if count >= 0.005)])
    if not rows:
        return None
    return ("## Cost of a statement\n\nMicroseconds of CPU, user and system, of all processes of the server, and of the load "
            "generator; how many cores each of the two kept busy, for they share the machine's; system calls of the "
            "server, counted by strace in a run of its own.\n\n"
            + md.table(["workload", "clients", "system", "server CPU", "client CPU", "cores: server / generator",
                        "system calls", "which"],
                       md.without_repeats(rows, 2), left=3, words=("which",)))


def _cores(record, cell, system):
    found = cell and cores(record, cell, system)
    return " / ".join(f"{each:.2f}" for each in found) if found else ""


def _position(record, key):
    order, systems = [(cell["workload"], cell["clients"]) for cell in record["summary"]], list(record["systems"])
    return (order.index(key[:2]) if key[:2] in order else len(order),
            systems.index(key[2]) if key[2] in systems else len(systems))


def idle(record):
    if not record["idle"]:
        return None
    rows = [[title(record, each["system"]), md.whole(each["sessions"]), md.digits(each["bytes_per_session"] / 1024),
             md.digits(each["resident_bytes"] / 1e6), f"{md.digits(each['cpu_ms'])} in {each['seconds']} s",
             md.whole(each["wakeups"])] for each in record["idle"]]
    return ("## Idle sessions\n\nResident memory (a page that processes share counts once) and what the server does while nobody "
            "asks for anything.\n\n"
            + md.table(["system", "sessions", "KiB for each", "MB in all", "CPU ms", "wake-ups"], rows))
