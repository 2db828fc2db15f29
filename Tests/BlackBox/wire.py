"""The PostgreSQL protocol, version 3, as a client that may also break it.

Only what the tests need. Message formats: https://www.postgresql.org/docs/current/protocol-message-formats.html
"""

import array
import fcntl
import socket
import struct
import termios
from dataclasses import dataclass, field

# Long enough for any answer on a loaded machine: it bounds hangs and measures nothing.
DEADLINE = 30.0

PROTOCOL_3_0 = 3 << 16
PROTOCOL_3_2 = 3 << 16 | 2
CANCEL_REQUEST = 80877102
SSL_REQUEST = 80877103
GSSENC_REQUEST = 80877104

BOOL, BYTEA, INT8, INT2, INT4, TEXT = 16, 17, 20, 21, 23, 25
FLOAT4, FLOAT8, UNKNOWN, VARCHAR = 700, 701, 705, 1043


class ConnectionClosed(Exception):
    """The server closed the connection."""


def cstring(text):
    return (text if isinstance(text, bytes) else text.encode()) + b"\0"


def message(kind, body=b""):
    """A message with its right length."""
    return kind.encode("latin-1") + struct.pack("!i", len(body) + 4) + body


def packet(code, body=b""):
    """A startup packet or request, which have no type byte."""
    return struct.pack("!ii", len(body) + 8, code) + body


def startup(parameters, version=PROTOCOL_3_0):
    return packet(version, b"".join(cstring(k) + cstring(v) for k, v in parameters.items()) + b"\0")


def cancel_request(process_id, key):
    return packet(CANCEL_REQUEST, struct.pack("!i", process_id) + key)


def query(sql):
    return message("Q", cstring(sql))


def parse(sql, name="", types=()):
    return message("P", cstring(name) + cstring(sql) + struct.pack(f"!H{len(types)}I", len(types), *types))


def bind(parameters=(), portal="", statement="", formats=(), result_formats=()):
    """Parameters are bytes, text or None."""
    # In parts: 65,535 values put behind one another one by one are gigabytes of copies.
    parts = [cstring(portal), cstring(statement), struct.pack(f"!H{len(formats)}h", len(formats), *formats)]
    parts.append(struct.pack("!H", len(parameters)))
    for value in parameters:
        if value is None:
            parts.append(struct.pack("!i", -1))
        else:
            value = value if isinstance(value, bytes) else str(value).encode()
            parts += [struct.pack("!i", len(value)), value]
    parts.append(struct.pack(f"!H{len(result_formats)}h", len(result_formats), *result_formats))
    return message("B", b"".join(parts))


def describe_statement(name=""):
    return message("D", b"S" + cstring(name))


def describe_portal(name=""):
    return message("D", b"P" + cstring(name))


def execute(portal="", rows=0):
    return message("E", cstring(portal) + struct.pack("!i", rows))


def close_statement(name=""):
    return message("C", b"S" + cstring(name))


def close_portal(name=""):
    return message("C", b"P" + cstring(name))


def sync():
    return message("S")


def flush():
    return message("H")


def terminate():
    return message("X")


@dataclass
class Column:
    name: str
    table: int
    attribute: int
    type: int
    size: int
    modifier: int
    format: int


@dataclass
class Message:
    kind: str
    body: bytes

    @property
    def fields(self):
        """Of an ErrorResponse or NoticeResponse, by their letters."""
        assert self.kind in "EN", self
        assert self.body.endswith(b"\0\0"), self
        return {part[:1].decode(): part[1:].decode(errors="replace") for part in self.body[:-2].split(b"\0")}

    @property
    def state(self):
        return self.fields["C"]

    @property
    def tag(self):
        assert self.kind == "C", self
        return self.body[:-1].decode()

    @property
    def values(self):
        """Of a DataRow, as bytes and None."""
        (count,) = struct.unpack_from("!H", self.body)
        values, position = [], 2
        for _ in range(count):
            (size,) = struct.unpack_from("!i", self.body, position)
            position += 4
            if size < 0:
                assert size == -1, self
                values.append(None)
            else:
                values.append(self.body[position : position + size])
                position += size
        assert position == len(self.body), self
        return values

    @property
    def columns(self):
        """Of a RowDescription."""
        (count,) = struct.unpack_from("!H", self.body)
        columns, position = [], 2
        for _ in range(count):
            end = self.body.index(b"\0", position)
            columns.append(Column(self.body[position:end].decode(), *struct.unpack_from("!IhIhih", self.body, end + 1)))
            position = end + 19
        assert position == len(self.body), self
        return columns

    @property
    def types(self):
        """Of a ParameterDescription."""
        (count,) = struct.unpack_from("!H", self.body)
        return list(struct.unpack_from(f"!{count}I", self.body, 2))

    @property
    def status(self):
        assert self.kind == "Z", self
        return self.body.decode()


@dataclass
class Reply:
    """All messages up to, and with, one ReadyForQuery; or up to the end of the connection."""

    messages: list = field(default_factory=list)
    closed: bool = False

    @property
    def kinds(self):
        """The types of the messages as one string, without notices: `TDDCZ`."""
        return "".join(m.kind for m in self.messages if m.kind != "N")

    def of(self, kind):
        return [m for m in self.messages if m.kind == kind]

    @property
    def rows(self):
        return [m.values for m in self.of("D")]

    @property
    def texts(self):
        """Rows of text values."""
        return [tuple(None if v is None else v.decode() for v in row) for row in self.rows]

    @property
    def value(self):
        """The one value there is, as text."""
        self.check()
        assert len(self.texts) == 1 and len(self.texts[0]) == 1, self
        return self.texts[0][0]

    @property
    def tags(self):
        return [m.tag for m in self.of("C")]

    @property
    def tag(self):
        self.check()
        assert len(self.tags) == 1, self
        return self.tags[0]

    @property
    def errors(self):
        return [m.fields for m in self.of("E")]

    @property
    def notices(self):
        return [m.fields for m in self.of("N")]

    @property
    def error(self):
        """The one error there is."""
        assert len(self.errors) == 1, self
        fields = self.errors[0]
        # "S", "V", "C" and "M" are always present.
        assert {"S", "V", "C", "M"} <= fields.keys(), fields
        return fields

    @property
    def state(self):
        """The error's SQLSTATE, None without an error."""
        return self.error["C"] if self.errors else None

    @property
    def status(self):
        assert self.messages and self.messages[-1].kind == "Z", self
        return self.messages[-1].status

    def check(self):
        assert not self.errors, self.errors
        return self


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
