"""bench/crash in its short form, without pgbench."""

import os
import re
import subprocess

from daemon import REPOSITORY, binary


def test_crash():
    command = [REPOSITORY / "bench/crash", "--kills", "4", "--longest", "0.5", "--scale", "1",
               "--writers", "12", "--witnesses", "12", "--readers", "0", "--scans", "0"]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "WALPOOLD": str(binary())}, timeout=80)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^[1-9][\d,]* acknowledged transactions of witnesses$", done.stdout, re.M), done.stdout
