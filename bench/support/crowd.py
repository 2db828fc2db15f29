"""Sessions over sockets that are only looked at: what each has sent, what it has been answered, and when anything came last."""

import contextlib
import os
import select
import socket
import struct
import time
from pathlib import Path

from support.holdings import LONG, Block
from support.tools import BenchError

STARTUP_VERSION = 196608
# Seconds for which the daemon may be at something that it was not told to do: a sync, say, on a disk that others use.
LONGEST_WORK = 30


def message(kind, body=b""):
    return kind + struct.pack("!i", len(body) + 4) + body


def query(sql):
    return message(b"Q", sql.encode() + b"\0")


def extended(*statements):
    """Without parameters, all before one Sync."""
    return b"".join(message(b"P", b"\0" + sql.encode() + b"\0\0\0") + message(b"B", b"\0\0" + bytes(6))
                    + message(b"E", b"\0" + bytes(4)) for sql in statements) + message(b"S")


class Session:
    def __init__(self, server, number):
        self.number = number
        self.block = Block()
        self.requests = []          # (words, parts) for each ReadyForQuery that is to come
        self.is_unread = False
        self.is_gone = False
        self.rest = b""             # of a message that was sent in part
        self.buffer = bytearray()
        self.process_id, self.key = 0, b""      # for cancel requests
        self.last_error = ""
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(str(Path(server.directory) / f".s.PGSQL.{server.port}"))
        pairs = f"user\0{server.user}\0database\0{server.database}\0\0".encode()
        self.socket.sendall(struct.pack("!ii", len(pairs) + 8, STARTUP_VERSION) + pairs)
        self.requests.append(("startup", ()))

    @property
    def pending(self):
        """The parts of what it has sent and has not been answered."""
        return [part for _, parts in self.requests for part in parts]

    @property
    def is_free(self):
        return not self.requests and not self.is_gone

    def send(self, words, parts, data):
        self.requests.append((words, parts))
        self.send_part(data)

    def send_part(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            pass        # that it was disconnected is seen when its end comes

    def close(self):
        self.is_gone = True
        self.socket.close()

    def receive(self):
        """Whether anything came."""
        try:
            data = self.socket.recv(1 << 20, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self.close()
        self.buffer += data
        while len(self.buffer) >= 5:
            length = 1 + struct.unpack_from("!i", self.buffer, 1)[0]
            if len(self.buffer) < length:
                break
            self._take(bytes(self.buffer[:1]), bytes(self.buffer[5:length]))
            del self.buffer[:length]
        return True

    def _take(self, kind, body):
        if kind == b"Z":
            self._answered(body)
        elif kind == b"K":
            self.process_id, self.key = struct.unpack_from("!i", body)[0], body[4:]
        elif kind == b"E":
            self.last_error = body.decode().replace("\0", " ")

    def _answered(self, status):
        _, parts = self.requests.pop(0)
        if status == b"T":
            for part in parts:
                self.block = self.block.after(part)
        else:
            # A failed block has nothing.
            self.block = Block(is_open=status == b"E")


class Crowd:
    """Those that are connected to a daemon, and those that have hung up and that it has not noticed yet: one that waits it looks at once
    a second, and one at a step that nothing can interrupt has what it had until that is over."""

    def __init__(self, server, readers):
        self.process = server.process.pid
        self.readers = readers
        self.sessions = []
        self.leaving = []
        self.dropped = []           # by the daemon
        # Of who has come before, the daemon may not have noticed yet that they are gone.
        end = time.monotonic() + LONGEST_WORK
        with server.connect("walpool") as console:
            while len(console.query("SHOW CLIENTS")[-1].rows) > 1:
                if time.monotonic() > end:
                    raise BenchError("walpoold keeps sessions of clients that have gone")
                time.sleep(0.01)
            self.own_sockets = self._sockets() - 1

    def close(self):
        for session in self.sessions:
            session.close()

    def leaves(self, session):
        session.close()
        self.sessions.remove(session)
        self.leaving.append(session)

    def present(self):
        """Whoever may have something, by what was seen last."""
        return self.sessions + self.leaving

    def has_seen_leave(self):
        """Whether the last of those that have hung up is gone now: what it had others have. Of who is still starting up the daemon may have
        no socket yet."""
        if not self.leaving or not all(session.process_id for session in self.sessions):
            return False
        if self._sockets() - self.own_sockets > len(self.sessions):
            return False
        self.leaving = []
        return True

    def _sockets(self):
        return sum(name.startswith("socket:") for name in _readable(os.readlink, Path(f"/proc/{self.process}/fd")))

    def _is_at_work(self):
        """More than the long steps it was told to do: it waits for the disk, or for a processor."""
        states = self.states()
        # More of them than that wait for a connection.
        return "D" in states or states.count("R") > min(self.longs(), self.readers + 1)

    def longs(self):
        return sum(part in LONG for session in self.present() for part in session.pending)

    def at_work(self):
        """How many of its threads are on a processor, wait for one, or for the disk."""
        return sum(state in "RD" for state in self.states())

    def states(self):
        return [text.rpartition(") ")[2][:1] for text in _readable(lambda task: Path(task, "stat").read_text(),
                                                                Path(f"/proc/{self.process}/task"))]

    def settle(self, patience, until=lambda: False):
        """Receives until nothing has come for so many seconds, not counting those in which this process slept, or the daemon had something
        to do by itself; that for half a minute at most."""
        quiet, last = 0.0, time.monotonic()
        end = last + patience + LONGEST_WORK
        while quiet < patience and not until():
            reading = [session for session in self.sessions if not session.is_unread]
            ready = select.select([session.socket for session in reading], [], [], 0.01)[0]
            came = [session.receive() for session in reading if session.socket in ready]
            self.dropped += [session for session in self.sessions if session.is_gone]
            self.sessions = [session for session in self.sessions if not session.is_gone]
            now = time.monotonic()
            # As long as the machine keeps this process, it may keep the daemon.
            if any(came) or self.has_seen_leave():
                quiet = 0.0
            elif now > end or not self._is_at_work():
                quiet += min(now - last, 0.02)
            last = now


def _readable(read, directory):
    """Of each entry; some go meanwhile."""
    found = []
    with contextlib.suppress(OSError):
        for entry in directory.iterdir():
            with contextlib.suppress(OSError):
                found.append(read(entry))
    return found
