#!/usr/bin/env python3
"""The report of a benchmark: from bench/run's record to Markdown.

    bench/support/report.py RESULTS                       prints the report of results.json, or of the directory it is in
    bench/support/report.py --readme RESULTS [README.md]  prints README's part of it, or puts it between README's markers
    bench/support/report.py --runs [docs/benchmarks.md]   prints that page's part of all whole runs in bench/results, or puts it there"""

import json
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from support import losses, plots, report_costs, report_frame, report_open, report_throughput, report_waits, wholeruns  # noqa: E402
from support.readme import part_of_readme, put_into  # noqa: E402
from support.record import FORMAT, rounded  # noqa: E402
from support.tools import BENCH, BenchError  # noqa: E402

# A picture stands before the section it sums up.
ORDER = (
    (None, report_frame.goals), (None, report_frame.errors), ("throughput", report_throughput.throughput),
    (None, losses.section), ("latency", report_waits.latency), (None, report_open.section), ("fairness", report_waits.fairness), ("starvation", report_waits.starvation),
    ("durability", report_throughput.durability), ("cpu", report_costs.cost), (None, report_costs.idle),
    (None, report_throughput.cross_check), (None, report_throughput.memory), (None, report_frame.conditions),
)


def markdown(record, pictures=plots.PICTURES):
    """`pictures`: the names of those that there are."""
    # As the record is written down: made of what was measured, it would differ from the same report made again.
    record = rounded(record)
    parts = [f"# Benchmark of {record['started'][:10]}, {record['host_class']}"]
    for picture, section in ORDER:
        text = section(record)
        if text is None:
            continue
        if picture in pictures:
            heading, _, rest = text.partition("\n\n")
            text = f"{heading}\n\n![{plots.PICTURES[picture]}]({picture}.svg)\n\n{rest}"
        parts.append(text)
    return "\n\n".join(parts) + "\n"


def load(path):
    path = Path(path)
    try:
        record = json.loads((path / "results.json" if path.is_dir() else path).read_text())
    except (OSError, ValueError) as error:
        raise BenchError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    found = record.get("format") if isinstance(record, dict) else None
    if found != FORMAT:
        raise BenchError(f"{path}: of format {found}, not {FORMAT}: no record, or made by an older bench/run")
    return record


def all_kept(results=BENCH / "results"):
    """Directory -> record."""
    return {file.parent.name: load(file) for file in sorted(results.glob("*/results.json"))}


def _main(arguments):
    try:
        return _made(arguments)
    except (BenchError, OSError) as error:
        print(f"report.py: {error}", file=sys.stderr)
        return 1


def _made(arguments):
    if arguments[:1] == ["--readme"] and len(arguments) in (2, 3):
        text = part_of_readme(load(arguments[1]), arguments[1])
        if len(arguments) == 2:
            print(text)
        else:
            put_into(Path(arguments[2]), text)
    elif arguments[:1] == ["--runs"] and len(arguments) in (1, 2):
        text = wholeruns.part_of_page(all_kept())
        if len(arguments) == 1:
            print(text)
        else:
            wholeruns.put_into(Path(arguments[1]), text)
    elif len(arguments) == 1 and not arguments[0].startswith("-"):
        print(markdown(load(arguments[0]), plots.drawn(arguments[0])), end="")
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    # Whoever closes the pipe has seen enough: `report.py … | head` ends as any other filter does.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(_main(sys.argv[1:]))
