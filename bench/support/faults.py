"""A walpoold whose system calls fail when the driver says so (faults.c)."""

import errno
import mmap
import os
import struct

from support.servers import Walpool
from support.tools import BENCH

# As faults.c numbers them.
KINDS = {"write": 1, "torn-write": 2, "sync": 3, "truncate": 4, "open": 5, "read": 6, "map": 7, "unlink": 8,
         "lost-write": 9, "losing-sync": 10}
# A write that is lost without an error cannot be survived: the negative control.
NEGATIVE_CONTROLS = {"lost-write"}
ERRORS = {"EIO": errno.EIO, "ENOSPC": errno.ENOSPC}
# Full, too: tests use them.
FULL = {"EDQUOT": errno.EDQUOT, "EFBIG": errno.EFBIG}
# A damaged file system, which SQLite does not take for a short file as it does EIO.
DAMAGED = {"EUCLEAN": errno.EUCLEAN}
ONCE, FOR_EVER = 1, 1 << 62

LIBRARY = BENCH / "support/faults.c"


class FaultControl:
    """The memory shared with faults.c: six 64-bit words."""

    _layout = struct.Struct("=6Q")

    def __init__(self, path):
        self.path = path
        path.write_bytes(bytes(self._layout.size))
        with open(path, "r+b") as file:
            self._words = mmap.mmap(file.fileno(), self._layout.size)

    def arm(self, kind, first, error, count):
        """The `first` call of a kind from now on fails, and `count` in all."""
        self.disarm()
        self._layout.pack_into(self._words, 0, 0, first, count, (ERRORS | FULL | DAMAGED)[error], 0, 0)
        # Last, and by itself: the daemon may be running.
        struct.pack_into("=Q", self._words, 0, KINDS[kind])

    def disarm(self):
        struct.pack_into("=Q", self._words, 0, 0)

    @property
    def calls(self):
        return self._layout.unpack_from(self._words)[4]

    @property
    def failures(self):
        return self._layout.unpack_from(self._words)[5]

    def close(self):
        self._words.close()


class FaultyWalpool(Walpool):
    """walpoold with faults.c preloaded. Its log is not where its files fail."""

    def __init__(self, directory, database_path, options, library, control):
        super().__init__(directory, database_path, options)
        self.database = database_path.stem
        self._environment = {
            **os.environ,
            "LD_PRELOAD": str(library),
            "FAULTS_BELOW": str(database_path.parent.resolve()),
            "FAULTS_CONTROL": str(control.path),
        }

    def launch(self, command, **options):
        super().launch(command, env=self._environment, **options)
