"""What the test says to the host: lines in the Test Anything Protocol (https://testanything.org) on a serial port."""

import json
import os
import pathlib
import subprocess
import time
import traceback

# Emulation is slow. It bounds a hang and measures nothing.
DEADLINE_SECONDS = 90

_port = open("/dev/ttyS1", "w", buffering=1)
# Survives the reboot in the middle.
_state = pathlib.Path("/var/lib/boot-test.json")


def remembered():
    return json.loads(_state.read_text()) if _state.exists() else {"checks": 0, "phase": 0}


def remember(**values):
    _state.write_text(json.dumps(remembered() | values))
    os.sync()


def say(text):
    for line in str(text).splitlines() or [""]:
        print(f"# {line}", file=_port)


def ok(condition, name, *details):
    """One check. `details` are told when it fails."""
    number = remembered()["checks"] + 1
    remember(checks=number)
    print(f"{'ok' if condition else 'not ok'} {number} - {name}", file=_port)
    if not condition:
        for detail in details:
            say(detail)
    return bool(condition)


def equal(found, expected, name):
    return ok(found == expected, name, f"found:    {found!r}", f"expected: {expected!r}")


def plan():
    print(f"1..{remembered()['checks']}", file=_port)


def step(function):
    """Runs checks that belong together. What goes wrong in between fails as a check of its own."""
    say(f"{time.monotonic():.0f} s: {function.__doc__}")
    try:
        function()
    except BaseException:
        ok(False, f"{function.__name__} ran to its end", traceback.format_exc(), state_of("walpoold.service"))


def state_of(unit):
    return run("systemctl", "status", "--no-pager", "--lines=30", unit).text


class Result:
    def __init__(self, command, status, text):
        self.command, self.status, self.text = command, status, text.strip()

    def __str__(self):
        return f"{' '.join(self.command)} ended with {self.status}:\n{self.text}"


def run(*command, user=None, environment=None, check=False):
    """A command's status and all that it wrote. Text of the C locale."""
    command = ["runuser", "-u", user, "--", *command] if user else list(command)
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/",
        timeout=DEADLINE_SECONDS, env=os.environ | {"LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"} | (environment or {}))
    result = Result(command, done.returncode, done.stdout)
    if check and result.status != 0:
        raise AssertionError(str(result))
    return result


def until(condition, what):
    end = time.monotonic() + DEADLINE_SECONDS
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come")
        time.sleep(0.05)
    return value
