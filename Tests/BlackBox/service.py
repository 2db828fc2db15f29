"""A service manager for the tests: what systemd does with a daemon of Type=notify, as sd_notify(3) and sd_listen_fds(3) say."""

import array
import mmap
import os
import select
import socket
import struct
import subprocess
import sys
import time

import wire
from daemon import Daemon, REPOSITORY

sys.path.insert(0, str(REPOSITORY / "bench"))

from support import compiled

# As stalls.c numbers them.
KINDS = {"sync": 1, "receive": 2, "write": 3, "read": 4, "rename -wal": 5, "unlink -wal": 6}


class Notification(dict):
    """One message: its fields, and the descriptors that came with it."""

    def __init__(self, text, descriptors):
        super().__init__(line.split("=", 1) for line in text.splitlines())
        self.descriptors = descriptors


class NotifySocket:
    """NOTIFY_SOCKET: the datagram socket on which a daemon tells how it is."""

    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.received = []

    def receive(self, deadline=wire.DEADLINE):
        """The next message; None when there is none until the deadline."""
        if not select.select([self.socket], [], [], deadline)[0]:
            return None
        room = socket.CMSG_SPACE(16 * array.array("i").itemsize)
        text, ancillary, _, _ = self.socket.recvmsg(1 << 16, room)
        descriptors = array.array("i")
        for level, kind, data in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                descriptors.frombytes(data)
        self.received.append(Notification(text.decode(), list(descriptors)))
        return self.received[-1]

    def wait_for(self, condition, what):
        """The first message from now on that meets the condition, and those before it."""
        end = time.monotonic() + wire.DEADLINE
        passed = []
        while message := self.receive(max(0.0, end - time.monotonic())):
            if condition(message):
                return message, passed
            passed.append(message)
        raise AssertionError(f"{what} did not come; what came: {passed}")

    def wait_for_field(self, name, value=None):
        return self.wait_for(
            lambda message: name in message and value in (None, message[name]), f"{name}={value or '...'}")[0]

    def wait_for_status(self, text):
        return self.wait_for(lambda message: text in message.get("STATUS", ""), f"a status with {text!r}")[0]

    def drain(self):
        messages = []
        while message := self.receive(0):
            messages.append(message)
        return messages

    def close(self):
        for message in self.received:
            for descriptor in message.descriptors:
                try:
                    os.close(descriptor)
                except OSError:
                    pass
        self.socket.close()


class Stalls:
    """Drives stalls.c: system calls that are slow, or hang."""

    _layout = struct.Struct("=3Q")

    def __init__(self, directory):
        self.library = compiled.library(REPOSITORY / "Tests/BlackBox/stalls.c")
        self._control = directory / "stalls.control"
        self._control.write_bytes(bytes(self._layout.size))
        with open(self._control, "r+b") as file:
            self._words = mmap.mmap(file.fileno(), self._layout.size)
        self._fifo = directory / "stalls.fifo"
        os.mkfifo(self._fifo)

    @property
    def environment(self):
        return {"LD_PRELOAD": str(self.library), "STALLS_CONTROL": str(self._control), "STALLS_FIFO": str(self._fifo)}

    def arm(self, kind, milliseconds=0):
        """Calls of this kind take so long from now on, or, without a time, hang."""
        self._layout.pack_into(self._words, 0, 0, int(milliseconds * 1000), 0)
        struct.pack_into("=Q", self._words, 0, KINDS[kind])

    @property
    def calls(self):
        return self._layout.unpack_from(self._words)[2]

    def release(self):
        """Calls are as they were, and those that hang return."""
        struct.pack_into("=Q", self._words, 0, 0)
        # Opening does not wait for a reader, and fails when nobody hangs.
        try:
            os.close(os.open(self._fifo, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            pass


class Service(Daemon):
    """A daemon started as systemd starts one."""

    def __init__(self, *arguments, watchdog_seconds=None, sockets=(), stalls=None, prefix=(), environment=(), **keywords):
        self.watchdog_seconds = watchdog_seconds
        # Pairs of a listening socket's descriptor and its name.
        self.given = list(sockets)
        self.stalls = stalls
        self.prefix = list(prefix)
        self.notify = None
        self.environment = dict(environment)
        super().__init__(*arguments, **keywords)

    def start(self, wait=True):
        """Starts it and waits for READY=1."""
        self._check_end_before()
        if self.notify is None:
            self.notify = NotifySocket(self.directory / "notify")
        environment = {**os.environ, **self.environment, "NOTIFY_SOCKET": str(self.notify.path)}
        if self.stalls:
            environment |= self.stalls.environment
        if self.watchdog_seconds:
            environment["WATCHDOG_USEC"] = str(int(self.watchdog_seconds * 1_000_000))
        # LISTEN_PID has to be the daemon's own number, which only the process itself knows before it is one.
        script = 'exec "$@"'
        if self.given:
            environment["LISTEN_FDS"] = str(len(self.given))
            environment["LISTEN_FDNAMES"] = ":".join(name for _, name in self.given)
            script = 'export LISTEN_PID=$$; exec "$@"'
        with open(self._errors_path, "ab") as errors:
            self.process = subprocess.Popen(
                ["sh", "-c", script, "sh", *self.prefix, *self.command()], stdin=subprocess.DEVNULL, stdout=errors,
                stderr=errors, cwd=self.directory, env=environment, close_fds=False, preexec_fn=self._place_sockets)
        if wait:
            self.wait_until_ready()
        return self

    def _place_sockets(self):
        # From 3 on; first out of each other's way.
        copies = [os.dup(descriptor) for descriptor, _ in self.given]
        high = [os.dup2(copy, 200 + index) for index, copy in enumerate(copies)]
        for index, descriptor in enumerate(high):
            os.dup2(descriptor, 3 + index, inheritable=True)
        os.closerange(3 + len(high), 256)

    def wait_until_ready(self):
        return self.notify.wait_for_field("READY", "1")

    def close(self):
        if self.stalls:
            self.stalls.release()
        super().close()
        if self.notify:
            self.notify.close()


def listening_socket(path, kind=socket.SOCK_STREAM):
    """As a socket unit makes it."""
    listener = socket.socket(socket.AF_UNIX, kind)
    listener.bind(str(path))
    if kind != socket.SOCK_DGRAM:
        listener.listen(1024)
    return listener


def ask(path, sql, database="app"):
    with wire.Client(path) as client:
        client.start(database=database).check()
        return client.value(sql)


def kept_socket(service):
    stored = [m for m in service.notify.received if m.get("FDSTORE") == "1"][-1]
    (descriptor,) = stored.descriptors
    return descriptor, stored["FDNAME"]
