"""The pictures of a record of bench/run, each as SVG and PNG.

matplotlib is Debian's (python3-matplotlib), so they are drawn by /usr/bin/python3, in a process of its own: whoever calls
`draw` may be another Python.

    /usr/bin/python3 bench/support/plots.py RESULTS.json DIRECTORY"""

import json
import subprocess
import sys
from pathlib import Path

PYTHON = "/usr/bin/python3"
# In the order of the report: the file's name, and what it shows.
PICTURES = {
    "throughput": "Throughput by the number of clients",
    "latency": "Latency percentiles, closed loop",
    "fairness": "What each client got of its equal share",
    "starvation": "The longest wait of any writer, in closed loops but for the paced one's",
    "durability": "Throughput by what a commit waits for",
    "cpu": "The server's CPU time for a statement",
}


def draw(record, directory):
    """Writes NAME.svg and NAME.png of every picture the record has figures for; returns their names."""
    from support.record import rounded
    from support.tools import BenchError

    command = [PYTHON, __file__, "-", str(directory)]
    # As the record is written down: made of what was measured, they would differ from the same pictures drawn again.
    done = subprocess.run(command, input=json.dumps(rounded(record)), capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(f"the plots could not be drawn: {done.stderr.strip()[-500:]}")
    return done.stdout.split()


def drawn(results):
    """The names of those that stand beside a record; `results`: results.json or its directory."""
    directory = Path(results) if Path(results).is_dir() else Path(results).parent
    return [name for name in PICTURES if (directory / f"{name}.svg").exists()]


def _main(source, directory):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from support import charts, chartstyle

    record = json.load(sys.stdin if source == "-" else open(source))
    chartstyle.apply()
    for name in PICTURES:
        figure = getattr(charts, name)(record)
        if figure is not None:
            chartstyle.save(figure, Path(directory) / name)
            print(name)


if __name__ == "__main__":
    _main(*sys.argv[1:])
