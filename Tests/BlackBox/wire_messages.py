"""What a client sends: messages of the PostgreSQL protocol, version 3, as bytes.

Only what the tests need. Message formats: https://www.postgresql.org/docs/current/protocol-message-formats.html
"""

import struct

PROTOCOL_3_0 = 3 << 16
PROTOCOL_3_2 = 3 << 16 | 2
CANCEL_REQUEST = 80877102
SSL_REQUEST = 80877103
GSSENC_REQUEST = 80877104

BOOL, BYTEA, INT8, INT2, INT4, TEXT = 16, 17, 20, 21, 23, 25
FLOAT4, FLOAT8, UNKNOWN, VARCHAR = 700, 701, 705, 1043


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
