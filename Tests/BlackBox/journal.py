"""The journal's socket, as journald has it, and what comes out of it.

The format: https://systemd.io/JOURNAL_NATIVE_PROTOCOL/
"""

import array
import os
import socket
import struct
import subprocess
import threading
from pathlib import Path


def parse(datagram):
    """The fields of one entry; a name may occur once here."""
    fields, rest = {}, datagram
    while rest:
        line, _, after = rest.partition(b"\n")
        name, separator, value = line.partition(b"=")
        if separator:
            rest = after
        else:
            # "the field name … a newline … a 64bit little endian size … the value … a newline"
            (size,) = struct.unpack_from("<Q", after)
            value, rest = after[8 : 8 + size], after[8 + size :]
            assert rest[:1] == b"\n", rest[:80]
            rest = rest[1:]
        assert name not in fields, (name, datagram)
        fields[name.decode("ascii")] = value.decode(errors="surrogateescape")
    return fields


class Journal:
    """A socket that takes entries; `entries` are those that have come so far, in order."""

    def __init__(self, path):
        self.path = Path(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.entries = []
        self._is_over = False
        self._goes_on = threading.Event()
        self._goes_on.set()
        self._thread = threading.Thread(target=self._receive, daemon=True)
        self._thread.start()

    def _receive(self):
        while self._goes_on.wait():
            try:
                data, ancillary, _, _ = self.socket.recvmsg(1 << 20, socket.CMSG_SPACE(4))
            except OSError:
                return
            for level, kind, descriptors in ancillary:
                # What is too large for a datagram comes as a file.
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    (descriptor,) = array.array("i", descriptors)
                    with open(descriptor, "rb") as file:
                        file.seek(0)
                        data = file.read()
            if self._is_over:
                return
            if data:
                self.entries.append(parse(data))

    def with_message(self, text):
        return [entry for entry in list(self.entries) if text in entry["MESSAGE"]]

    def pause(self):
        """Takes at most one more."""
        self._goes_on.clear()

    def go_on(self):
        self._goes_on.set()

    def stop(self):
        """Nobody listens any more. A socket that a thread still reads from would take one more entry after its close."""
        self._goes_on.set()
        self._is_over = True
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
            other.sendto(b"", str(self.path))
        self._thread.join()
        self.socket.close()

    def close(self):
        self.socket.close()


def namespace_command(journal, command):
    """The command, for a shell: in a mount namespace where /run is empty but for this journal's socket."""
    script = (
        "mount --make-rprivate / && mount -t tmpfs none /run && mkdir -p /run/systemd/journal"
        ' && touch /run/systemd/journal/socket && mount --bind "$0" /run/systemd/journal/socket && exec "$@"'
    )
    return ["unshare", "--mount", "sh", "-c", script, str(journal), *command]


def can_have_namespaces():
    if os.geteuid() != 0:
        return False
    try:
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", "mount --make-rprivate / && mount -t tmpfs none /run"], capture_output=True
        ).returncode == 0
    except FileNotFoundError:
        return False
