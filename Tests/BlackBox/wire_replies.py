"""What a server sends: messages of the PostgreSQL protocol, version 3, taken apart."""

import struct
from dataclasses import dataclass, field


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


def messages(data):
    """All that came up to the end of a connection; none of it is cut off."""
    found, position = [], 0
    while position < len(data):
        kind, length = struct.unpack_from("!ci", data, position)
        end = position + 1 + length
        assert 4 <= length and end <= len(data), (position, data[position : position + 100])
        found.append(Message(kind.decode("latin-1"), data[position + 5 : end]))
        position = end
    return found
