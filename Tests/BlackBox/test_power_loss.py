"""bench/power-loss in its short form: what was synced survives, what was not does not."""

import os
import re
import subprocess

import pytest

from daemon import REPOSITORY, binary


@pytest.mark.parametrize("mode, loses", [("full", False), ("pipelined", False), ("normal", True), ("lying", True)])
def test_power_loss(mode, loses):
    command = [REPOSITORY / "bench/power-loss", "--modes", mode, "--cycles", "2", "--longest", "0.6"]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "WALPOOLD": str(binary())}, timeout=80)
    assert done.returncode == 0, done.stdout + done.stderr
    there, lost = re.search(rf"{mode}: \d+ power failures, ([\d,]+) .* ([\d,]+) are lost", done.stdout).groups()
    assert (lost != "0") == loses
    # With normal a checkpoint is what syncs, and there may have been none yet.
    assert there != "0" or loses
