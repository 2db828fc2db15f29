"""Instructions counted by callgrind: they are next to the same on the next run, whatever else the machine does, so they show
changes that wall time cannot. They are no time: a cache miss and a system call cost one instruction each here."""

import contextlib
import os
import re
import subprocess

from support import leftovers
from support.tools import BenchError, start

# Swift seeds its hash tables anew in each process unless this is set, and then they collide in other places:
# https://github.com/swiftlang/swift/blob/main/docs/EnvironmentVariables.rst. The rest is left out because the size of the
# environment moves the stack, and with it the alignment of what is copied.
ENVIRONMENT = {"PATH": os.defpath, "SWIFT_DETERMINISTIC_HASHING": "1"}

# Whose an instruction is: the first that fits the function's name, or the file it was loaded from.
OWNERS = (
    ("Swift runtime", re.compile(r"^_?swift_"), None),
    ("SQLite", None, re.compile(r"libsqlite3")),
    ("libc", None, re.compile(r"/(libc|libm|ld-linux)[-.][^/]*$")),
)
OURS = "Walpool"


def without_debugging(program, directory):
    """A copy without debugging information: valgrind 3.19 ends when it meets DWARF 5's (DW_FORM_loclistx), which clang writes
    for what is C++ in walpoold. The names of functions stay."""
    copy = directory / program.name
    done = subprocess.run(["strip", "--strip-debug", "-o", copy, program], capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(f"strip {program}: {done.stderr.strip()}")
    return copy


def command(program, output, only_within=()):
    """`only_within`: functions, by their linker's names; * is allowed. Only inside of them is anything counted."""
    toggles = [f"--toggle-collect={function}" for function in only_within]
    return ["valgrind", "--tool=callgrind", "--quiet", *toggles, f"--callgrind-out-file={output}", *map(str, program)]


def count(program, output):
    """Runs a program to its end; instructions by function."""
    done = subprocess.run(command(program, output), env={**ENVIRONMENT, **leftovers.mark()}, capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(f"{program[0]} under valgrind ended with {done.returncode}: {done.stdout}{done.stderr[-500:]}")
    return by_function(output)


def by_function(output):
    """The self cost of every function: (file it was loaded from, its name) -> instructions.

    The format: https://valgrind.org/docs/manual/cl-format.html. "ob=" and "fn=" name what the cost lines after them belong
    to, a name in full only the first time its number comes up; the line after "calls=" has the cost of what was called,
    which stands there as its own."""
    names, sums, is_call = {"ob": {}, "fn": {}}, {}, False
    image, function = "", ""
    with open(output, errors="replace") as lines:
        for line in lines:
            first = line[:1]
            if first.isdigit() or first in "+-*":
                if not is_call:
                    sums[image, function] = sums.get((image, function), 0) + int(line.split()[1])
                is_call = False
            elif line.startswith("calls="):
                is_call = True
            elif line.startswith(("ob=", "fn=", "cob=", "cfn=")):
                kind, _, name = line.rstrip("\n").partition("=")
                name = _full(name, names[kind[-2:]])
                if kind == "ob":
                    image = name
                elif kind == "fn":
                    function = name
    return sums


def _full(name, known):
    match = re.match(r"\((\d+)\)(?: (.*))?$", name)
    if not match:
        return name
    if match[2] is not None:
        known[match[1]] = match[2]
    return known.get(match[1], "?")


def by_owner(functions):
    """What `by_function` or `per_operation` returns, added up by owner, and the sum of all."""
    sums = {owner: 0.0 for owner, _, _ in OWNERS} | {OURS: 0.0}
    for (image, function), instructions in functions.items():
        sums[_owner(image, function)] += instructions
    return sums


def _owner(image, function):
    for owner, of_function, of_image in OWNERS:
        if (of_function and of_function.search(function)) or (of_image and of_image.search(image)):
            return owner
    return OURS


def per_operation(once, twice, operations):
    """What one operation costs, by function: of N and of 2 N the difference, so that start and end do not count."""
    return {function: (twice.get(function, 0) - once.get(function, 0)) / operations for function in {**twice, **once}}


@contextlib.contextmanager
def running(program, output, only_within, **options):
    """A program that runs until it is told to stop; `by_function` is for afterwards."""
    process = start(command(program, output, only_within), env={**ENVIRONMENT, **leftovers.mark()}, **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise BenchError(f"{program[0]} under valgrind did not stop") from None
