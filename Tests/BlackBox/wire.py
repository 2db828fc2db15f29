"""The PostgreSQL protocol, version 3, as a client that may also break it. Everything that is needed for that is found here."""

import array
import fcntl
import socket
import struct
import termios

from wire_messages import (  # noqa: F401 (tests take them from here)
    BOOL, BYTEA, CANCEL_REQUEST, FLOAT4, FLOAT8, GSSENC_REQUEST, INT2, INT4, INT8, PROTOCOL_3_0, PROTOCOL_3_2,
    SSL_REQUEST, TEXT, UNKNOWN, VARCHAR, bind, cancel_request, close_portal, close_statement, cstring, describe_portal,
    describe_statement, execute, flush, message, packet, parse, query, startup, sync, terminate)
from wire_replies import Column, Message, Reply, messages  # noqa: F401 (tests take them from here)

# Long enough for any answer on a loaded machine: it bounds hangs and measures nothing.
DEADLINE = 30.0


class ConnectionClosed(Exception):
    """The server closed the connection."""


class Client:
    """One connection. Every read has a deadline, so that a silent server is a failure and no hang."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # Without a timeout, which would make a full backlog an error instead of a wait.
        self.socket.connect(str(path))
        self.socket.settimeout(DEADLINE)
        self.buffer = bytearray()
        self.parameters = {}
        self.process_id = None
        self.key = None
        self.negotiation = None
        self.path = path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # Bytes

    def send(self, *parts):
        self.socket.sendall(b"".join(parts))

    def receive_bytes(self, count):
        while len(self.buffer) < count:
            try:
                part = self.socket.recv(1 << 18)
            except ConnectionResetError:
                part = b""
            if not part:
                raise ConnectionClosed(bytes(self.buffer))
            self.buffer += part
        result = bytes(self.buffer[:count])
        del self.buffer[:count]
        return result

    def close(self):
        self.socket.close()

    def half_close(self):
        """Nothing more will be sent."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def rest(self):
        """Everything that arrives until the server closes the connection."""
        while True:
            try:
                part = self.socket.recv(1 << 18)
            except ConnectionResetError:
                part = b""
            if not part:
                result = bytes(self.buffer)
                self.buffer.clear()
                return result
            self.buffer += part

    def has_reply(self):
        """Whether anything has arrived that was not read."""
        if self.buffer:
            return True
        self.socket.setblocking(False)
        try:
            return self.socket.recv(1, socket.MSG_PEEK) is not None
        except BlockingIOError:
            return False
        finally:
            self.socket.settimeout(DEADLINE)

    def unread_by_server(self):
        """Bytes sent that the server has not read yet."""
        count = array.array("i", [0])
        fcntl.ioctl(self.socket, termios.TIOCOUTQ, count)
        return count[0]

    # Messages

    def receive(self):
        kind, length = struct.unpack("!ci", self.receive_bytes(5))
        assert 4 <= length, (kind, length)
        return Message(kind.decode("latin-1"), self.receive_bytes(length - 4))

    def receive_until(self, kind):
        """Up to the first message of a kind, which is the last of the list."""
        messages = []
        while True:
            messages.append(self.receive())
            if messages[-1].kind == kind:
                return messages

    def reply(self):
        """Everything up to ReadyForQuery, or up to the end of the connection."""
        reply = Reply()
        try:
            while True:
                m = self.receive()
                reply.messages.append(m)
                if m.kind == "S":
                    name, value, _ = m.body.split(b"\0")
                    self.parameters[name.decode()] = value.decode()
                if m.kind == "Z":
                    return reply
        except ConnectionClosed:
            reply.closed = True
            return reply

    def start(self, version=PROTOCOL_3_0, **parameters):
        """Sends the startup message and returns the reply to it."""
        parameters.setdefault("user", "tester")
        self.send(startup(parameters, version))
        return self.started()

    def started(self):
        reply = self.reply()
        for m in reply.messages:
            if m.kind == "K":
                (self.process_id,), self.key = struct.unpack_from("!i", m.body), m.body[4:]
            if m.kind == "v":
                version, count = struct.unpack_from("!ii", m.body)
                names = m.body[8:].split(b"\0")[:-1]
                assert len(names) == count, m
                assert self.negotiation is None, "NegotiateProtocolVersion came twice"
                self.negotiation = version, [name.decode() for name in names]
        return reply

    def query(self, sql):
        """A simple query and its whole reply."""
        self.send(query(sql))
        return self.reply()

    def ask(self, *messages):
        """Messages and a Sync, and the whole reply."""
        self.send(*messages, sync())
        return self.reply()

    def extended(self, sql, parameters=(), types=(), formats=(), result_formats=(), rows=0):
        """One statement by Parse, Bind, Describe, Execute, Sync."""
        return self.ask(
            parse(sql, types=types),
            bind(parameters, formats=formats, result_formats=result_formats),
            describe_portal(),
            execute(rows=rows),
        )

    def value(self, sql):
        return self.query(sql).value

    def cancel(self, key=None, process_id=None):
        """Sends a cancel request for this session and waits until the server has dealt with it."""
        with Client(self.path) as other:
            process_id = self.process_id if process_id is None else process_id
            other.send(cancel_request(process_id, self.key if key is None else key))
            assert other.rest() == b"", "a cancel request is never answered"

    def is_open(self):
        """Whether the session still answers."""
        try:
            self.send(query("SELECT 1"))
        except (BrokenPipeError, ConnectionResetError):
            return False
        reply = self.reply()
        return not reply.closed
