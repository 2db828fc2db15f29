"""A tiny blocking client for the PostgreSQL wire protocol over a Unix socket. Text format, no TLS, no
password; just enough to ask a server questions from a script that may use nothing but the standard library.

    with Connection("/run/walpool", 5432, "root", "app") as connection:
        [result] = connection.query("SELECT 1")
        assert result.rows == [("1",)]
"""

import os
import socket
import struct
from dataclasses import dataclass, field


class ConnectionLost(Exception):
    """The server closed the connection, or never answered."""


class ServerError(Exception):
    """The server answered ErrorResponse. `code` is the SQLSTATE."""

    def __init__(self, fields):
        self.severity = fields.get("S", "ERROR")
        self.code = fields.get("C", "")
        self.message = fields.get("M", "")
        self.detail = fields.get("D")
        self.hint = fields.get("H")
        super().__init__(f"{self.severity} {self.code}: {self.message}")


@dataclass
class Result:
    """The answer to one statement: rows as tuples of `str` or `None`, and the command tag."""

    columns: list = field(default_factory=list)
    rows: list = field(default_factory=list)
    tag: str = ""


class Connection:
    def __init__(self, directory, port, user, database, timeout=30.0, **parameters):
        self.parameters = {}
        self.status = "?"
        self.process_id, self.key = 0, b""      # for cancel requests
        self._buffer = bytearray()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(os.path.join(directory, f".s.PGSQL.{port}"))
            pairs = {"user": user, "database": database, "client_encoding": "UTF8", **parameters}
            body = b"".join(_text(part) for pair in pairs.items() for part in pair) + b"\0"
            self._send(struct.pack("!ii", len(body) + 8, 196608) + body)
            self._collect()
        except OSError as error:
            self._socket.close()
            raise ConnectionLost(str(error)) from error
        except BaseException:
            self._socket.close()
            raise

    def query(self, sql):
        """A simple query, of one statement or several. Returns one `Result` for each."""
        self.send_query(sql)
        return self.receive_results()

    def send_query(self, sql):
        """Sends a simple query and does not wait: `receive_results` does."""
        self._send(_message(b"Q", _text(sql)))

    def receive_results(self):
        return self._collect()

    def value(self, sql):
        """The first column of the first row."""
        return self.query(sql)[-1].rows[0][0]

    def pipeline(self, statements):
        """Pairs of SQL and parameters, with the extended protocol, all before one Sync: one implicit
        transaction. Returns one `Result` for each."""
        messages = []
        for sql, parameters in statements:
            messages.append(_message(b"P", _text("") + _text(sql) + struct.pack("!h", 0)))
            bind = _text("") + _text("") + struct.pack("!hh", 0, len(parameters))
            for parameter in parameters:
                if parameter is None:
                    bind += struct.pack("!i", -1)
                else:
                    encoded = str(parameter).encode()
                    bind += struct.pack("!i", len(encoded)) + encoded
            messages.append(_message(b"B", bind + struct.pack("!h", 0)))
            messages.append(_message(b"D", b"P" + _text("")))
            messages.append(_message(b"E", _text("") + struct.pack("!i", 0)))
        messages.append(_message(b"S", b""))
        self._send(b"".join(messages))
        return self._collect()

    def exchange(self, messages):
        """Sends messages, pairs of type and body, and returns everything up to ReadyForQuery."""
        self._send(b"".join(_message(kind, body) for kind, body in messages))
        return self._collect()

    def vanish(self, sql):
        """Sends a simple query and is gone before the answer."""
        self._send(_message(b"Q", _text(sql)))
        self._socket.close()

    def close(self):
        """Says goodbye, if anyone listens, and closes the socket."""
        try:
            self._socket.sendall(_message(b"X", b""))
        except OSError:
            pass
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _collect(self):
        """Everything up to ReadyForQuery. An ErrorResponse on the way is raised then, or at once if FATAL."""
        results, current, failure = [], Result(), None
        while True:
            kind, body = self._receive()
            if kind == b"D":
                current.rows.append(_row(body))
            elif kind == b"T":
                current.columns = _columns(body)
            elif kind == b"C":
                current.tag = body[:-1].decode()
                results.append(current)
                current = Result()
            elif kind in b"Is":
                results.append(current)
                current = Result()
            elif kind == b"E":
                failure = failure or ServerError(_fields(body))
                if failure.severity in ("FATAL", "PANIC"):
                    raise failure
            elif kind == b"Z":
                self.status = body.decode()
                if failure:
                    raise failure
                return results
            elif kind == b"S":
                name, value = body[:-1].split(b"\0")
                self.parameters[name.decode()] = value.decode()
            elif kind == b"K":
                self.process_id, self.key = struct.unpack_from("!i", body)[0], body[4:]
            elif kind == b"R":
                if struct.unpack("!i", body[:4]) != (0,):
                    raise ConnectionLost("the server asks for a password")
            elif kind not in b"123NnvtA":
                raise ConnectionLost(f"unexpected message {kind!r}")

    def _send(self, data):
        try:
            self._socket.sendall(data)
        except BrokenPipeError:
            pass        # why the server closed the connection is still to be read
        except OSError as error:
            raise ConnectionLost(str(error)) from error

    def _receive(self):
        self._fill(5)
        length = struct.unpack_from("!i", self._buffer, 1)[0]
        if length < 4:
            raise ConnectionLost(f"a message of length {length}")
        self._fill(length + 1)
        kind, body = bytes(self._buffer[:1]), bytes(self._buffer[5:length + 1])
        del self._buffer[:length + 1]
        return kind, body

    def _fill(self, count):
        while len(self._buffer) < count:
            try:
                data = self._socket.recv(262144)
            except OSError as error:
                raise ConnectionLost(str(error) or "timed out") from error
            if not data:
                raise ConnectionLost("the server closed the connection")
            self._buffer += data


def cancel(directory, port, process_id, key, timeout=30.0):
    """Asks the server to cancel what a session runs. Returns once it has dealt with the request: it closes the
    connection then, and never answers."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.settimeout(timeout)
        try:
            asking.connect(os.path.join(directory, f".s.PGSQL.{port}"))
            asking.sendall(struct.pack("!iii", 12 + len(key), 80877102, process_id) + key)
            answer = asking.recv(1)
        except OSError as error:
            raise ConnectionLost(str(error) or "timed out") from error
    if answer:
        raise ConnectionLost("a cancel request was answered")


def _text(text):
    return text.encode() + b"\0"


def _message(kind, body):
    return kind + struct.pack("!i", len(body) + 4) + body


def _row(body):
    count, offset, row = struct.unpack_from("!h", body)[0], 2, []
    for _ in range(count):
        length = struct.unpack_from("!i", body, offset)[0]
        offset += 4
        if length < 0:
            row.append(None)
        else:
            row.append(body[offset:offset + length].decode())
            offset += length
    return tuple(row)


def _columns(body):
    count, offset, columns = struct.unpack_from("!h", body)[0], 2, []
    for _ in range(count):
        end = body.index(b"\0", offset)
        columns.append(body[offset:end].decode())
        offset = end + 19
    return columns


def _fields(body):
    return {part[:1].decode(): part[1:].decode() for part in body.split(b"\0") if part}
