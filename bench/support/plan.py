"""From the table of rows to the cells of one run, and how long they take."""

from dataclasses import asdict, dataclass, fields, replace

from support.cells import ROWS, SECONDS_OF, Row
from support.systems import OLD


@dataclass(frozen=True)
class Cell(Row):
    """A row at one number of clients, which is then an integer."""

    id: str = ""

    def world(self):
        """What servers and data are made anew for: other data, another disk, and who waits for whom should not depend on
        how many rows each system had inserted before."""
        return (self.scale, self.sync_delay_us, self.section == "starvation")

    def warm_up(self):
        """pgbench knows none: its seconds are those from the first statement on."""
        return 0 if self.driver == "pgbench" else min(1.0, self.seconds / 4)

    def expected_seconds(self):
        each = self.seconds + self.warm_up() + SECONDS_OF["run"] + self.clients * SECONDS_OF["connection"]
        return len(self.systems) * self.repeats * each

    def described(self):
        return {**asdict(self), "warm_up": self.warm_up()}


def cells(options):
    """The cells that the options leave, those of one world together, in the order of the table otherwise."""
    chosen = [cell for row in ROWS for cell in of_row(row, options)]
    worlds = list(dict.fromkeys(cell.world() for cell in chosen))
    return sorted(chosen, key=lambda cell: worlds.index(cell.world()))


def of_row(row, options):
    """A number of clients that is asked for is measured also where --quick has another."""
    if options.only and row.workload not in options.only:
        return
    if options.sections and row.section not in options.sections:
        return
    systems = tuple(system for system in row.systems if not options.systems or system in options.systems)
    if getattr(options, "old", None):
        # Neighbours in every turn.
        systems = tuple(each for system in systems for each in ((OLD, system) if system == "walpool" else (system,)))
    numbers = row.quick if options.quick and not (options.only or options.sections) else row.clients
    if options.clients:
        numbers = tuple(number for number in row.clients if number in options.clients)
    for number in numbers if systems else ():
        seconds = options.seconds or (1 if options.quick else row.seconds)
        repeats = options.repeat or (1 if options.quick else row.repeats)
        yield Cell(**{**shallow(row), "clients": number, "systems": systems, "seconds": seconds, "repeats": repeats},
                   id=name(row, number))


def without(cells, system):
    """The same, where this system cannot take part."""
    left = [replace(cell, systems=tuple(name for name in cell.systems if name != system)) for cell in cells]
    return [cell for cell in left if cell.systems]


def shallow(row):
    return {field.name: getattr(row, field.name) for field in fields(Row)}


def name(row, clients):
    """Says everything in which it differs from the plain cell."""
    parts = [row.workload, str(clients)]
    if row.durability != "durable":
        parts.append(row.durability)
    if row.sync_delay_us:
        parts.append(f"{row.sync_delay_us // 1000}ms")
    if row.scale != Row.scale:
        parts.append(f"scale{row.scale}")
    if row.driver != Row.driver:
        parts.append(row.driver)
    if row.rate:
        parts.append("open")
    return "-".join(parts)


def expected(chosen, quick=False):
    """What a run of these cells takes from a clean clone, in parts: name -> seconds."""
    parts = {"packages": SECONDS_OF["install"], "build": SECONDS_OF["quick build" if quick else "build"]}
    parts["servers and data"] = 0
    for world in dict.fromkeys(cell.world() for cell in chosen):
        here = [cell for cell in chosen if cell.world() == world]
        systems = {system for cell in here for system in cell.systems}
        parts["servers and data"] += len(systems) * world[0] * SECONDS_OF["scale"] / 10
        if any(cell.workload.startswith("ycsb") for cell in here):
            parts["servers and data"] += SECONDS_OF["ycsb"]
    for cell in chosen:
        parts[cell.section] = parts.get(cell.section, 0) + cell.expected_seconds()
    parts["costs, idle sessions, report"] = SECONDS_OF["quick costs" if quick else "costs"] + SECONDS_OF["report"]
    return parts


def printed(chosen, quick=False):
    """The plan for people."""
    lines = [f"{'cell':<36}{'seconds':>8}{'runs':>6}{'total':>7}  systems"]
    for cell in chosen:
        runs = f"{cell.repeats}x{len(cell.systems)}"
        lines.append(f"{cell.id:<36}{cell.seconds:>8}{runs:>6}{cell.expected_seconds():>7.0f}  {' '.join(cell.systems)}")
    parts = expected(chosen, quick)
    lines.append("")
    lines += [f"{name:<36}{seconds / 60:>8.1f} min" for name, seconds in parts.items()]
    lines.append(f"{'from a clean clone':<36}{sum(parts.values()) / 60:>8.1f} min")
    return "\n".join(lines)
