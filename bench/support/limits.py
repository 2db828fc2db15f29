"""The empty wire server, and the preloaded library that makes syncs take longer (bench/limits)."""

import os
import pwd
import shutil
import struct
from pathlib import Path

from support import compiled
from support.servers import Server
from support.tools import BENCH


LIMITS = BENCH / "limits"


def canned():
    """The program, as new as what it is made of."""
    return compiled.program(LIMITS / "canned.c", LIMITS / "canned_answers.c")


class Canned(Server):
    """A server that has an answer ready and no database: what socket and kernel cost."""

    name = "canned"

    def __init__(self, directory, threads=None):
        super().__init__(directory, pwd.getpwuid(os.geteuid()).pw_name)
        self.directory.mkdir(mode=0o700, exist_ok=True)
        self.threads = threads
        self.program = canned()

    def start(self):
        """Returns the seconds until it answered."""
        threads = ["--threads", self.threads] if self.threads else []
        self.launch([self.program, self.directory, self.port, *threads])
        return self.wait_until_ready()


class SyncDelay:
    """Makes every sync of the processes that get `environment` take so much longer, and longer still when told."""

    _NUMBERS = struct.Struct("=QQ")

    def __init__(self, directory, microseconds=0):
        self.microseconds = microseconds
        self.library = Path(shutil.copy(compiled.library(LIMITS / "syncdelay.c"), directory))
        # PostgreSQL has a user of its own, which must be able to load the one and to write the other.
        self.library.chmod(0o755)
        self._count = Path(directory) / "syncdelay.count"
        self._count.write_bytes(bytes(self._NUMBERS.size))
        self._count.chmod(0o666)

    @property
    def environment(self):
        return {"LD_PRELOAD": str(self.library), "WALPOOL_SYNC_DELAY_US": str(self.microseconds),
                "WALPOOL_SYNC_COUNT_FILE": str(self._count)}

    @property
    def syncs(self):
        """How many there were since this was made."""
        return self._NUMBERS.unpack(self._count.read_bytes())[0]

    def lengthen(self, microseconds):
        """From now on a sync takes so much longer, if that is more than it does anyway."""
        with open(self._count, "r+b") as file:
            file.seek(8)
            file.write(struct.pack("=Q", microseconds))
