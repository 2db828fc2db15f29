"""walpoold on a disk whose power can fail: what was not synced is gone."""

import os
import shutil

from support.servers import Walpool
from support.tools import BENCH

# The database and its log, and what their copies are called (powerloss.c).
COPIES = {"": "db", "-wal": "wal"}


LIBRARY = BENCH / "support/powerloss.c"


class PowerlessWalpool(Walpool):
    """Each start takes what is in the files as durable; `fail_power` leaves of everything since what was synced."""

    def __init__(self, directory, database_path, options, library, lies=False):
        super().__init__(directory, database_path, options)
        self.lies = lies
        self.early = 0      # of a hundred writes, how many the disk writes before it is told to
        self.shadow = self.directory / "shadow"
        self.shadow.mkdir()
        self._environment = {**os.environ, "LD_PRELOAD": str(library), "POWERLOSS_DATABASE": str(database_path),
                             "POWERLOSS_SHADOW": str(self.shadow)}
        if lies:
            self._environment["POWERLOSS_LIES"] = "1"

    def launch_only(self):
        for suffix, copy in COPIES.items():
            if self._file(suffix).exists():
                shutil.copyfile(self._file(suffix), self.shadow / copy)
            else:
                (self.shadow / copy).unlink(missing_ok=True)
        super().launch_only()

    def launch(self, command, **options):
        super().launch(command, env={**self._environment, "POWERLOSS_EARLY": str(self.early)}, **options)

    def fail_power(self):
        """The process ends at once, and its files become what the disk had been told to keep. The -shm is only
        memory."""
        self.kill()
        for suffix, copy in COPIES.items():
            shutil.copyfile(self.shadow / copy, self._file(suffix))
        self._file("-shm").unlink(missing_ok=True)

    def _file(self, suffix):
        return self.database_path.with_name(self.database_path.name + suffix)
