"""What is stored of a parameter that comes as a text: as its column converts it, a text is taken as the literal would be."""

import decimal
import struct

import pytest

import wire
from copy_fixtures import copied
from parameters_fixtures import DATE, db, JSON, JSONB, NUMERIC, TIMESTAMP  # noqa: F401 (fixtures)
from types_fixtures import client, parameter_types, result_types  # noqa: F401 (fixtures)


@pytest.mark.parametrize(
    "column, value, stored",
    [("n", "12", "integer"), ("n", "1.5", "real"), ("n", "abc", "text"), ("r", "3", "real"), ("t", "12", "text"),
     ("d", "1.50", "real"), ("f", "t", "integer"), ("f", "false", "integer"), ("day", "2024-02-29", "text"),
     ("r", "Infinity", "real"), ("r", "-inf", "real"), ("r", " +INFINITY ", "real"), ("r", "in", "text"), ("t", "Infinity", "text"),
     ("d", "Infinity", "real"), ("d", " -INF", "real"), ("d", "infinite", "text"), ("odd", "Infinity", "text"),
     ("b", "\\x00ff", "blob"), ("odd", "7", "integer"), ("odd", "seven", "text")],
)
def test_stored_by_affinity(client, column, value, stored):
    client.extended(f"INSERT INTO p (id, {column}) VALUES (100, $1)", [value]).check()
    assert client.value(f"SELECT typeof({column}) FROM p WHERE id = 100") == stored
    assert client.extended(f"SELECT id FROM p WHERE {column} = $1", [value]).value == "100"


@pytest.mark.parametrize("column", ["r", "d"])
@pytest.mark.parametrize("value", ["NaN", "nan", "-NaN"])
def test_what_is_no_real(client, column, value):
    assert client.extended(f"INSERT INTO p ({column}) VALUES ($1)", [value]).state == "22003"


INFINITE = [("Infinity", "0000 0000 d000 0020"), ("-Infinity", "0000 0000 f000 0020")]


@pytest.mark.parametrize("text, binary", INFINITE)
def test_infinity_as_a_decimal(client, text, binary):
    """PostgreSQL's numeric has it since 14."""
    for value, format in [(text, 0), (bytes.fromhex(binary), 1)]:
        for sql in ["SELECT $1 + 1", "SELECT sum($1)", "SELECT coalesce(nullif($1, 0), 1.5)"]:
            assert client.extended(sql, [value], types=[NUMERIC], formats=[format]).value == text, sql
    client.query("SET result_typing = declared").check()
    client.extended("INSERT INTO p (id, d) VALUES (100, $1)", [text], types=[NUMERIC]).check()
    assert client.query("SELECT d FROM p WHERE id = 100").check().texts == [(text,)]
    assert client.extended("SELECT d FROM p WHERE id = 100", result_formats=[1]).check().rows == [[bytes.fromhex(binary)]]


@pytest.mark.parametrize("sql", ["SELECT $1 + 1", "SELECT $1 > 1.5", "SELECT sum($1)", "INSERT INTO p (d) VALUES ($1)"])
def test_nan_as_a_decimal(client, sql):
    for value, format in [("NaN", 0), (bytes.fromhex("0000 0000 c000 0000"), 1)]:
        assert client.extended(sql, [value], types=[NUMERIC], formats=[format]).state == "22003"


@pytest.mark.parametrize("sql", [
    "INSERT INTO p (id, r) VALUES (100, $1) RETURNING r * 2", "INSERT INTO p (id, r) VALUES (100, $1) RETURNING typeof(r) = 'real'",
    "SELECT coalesce(r, 0) = $1 FROM p WHERE id = 1"])
def test_infinity_where_the_column_is_used_again(client, sql):
    client.extended(sql, ["Infinity"]).check()
    assert client.query("SELECT count(*) FROM p WHERE typeof(r) = 'text'").value == "0"


DECIMALS = [
    # SQLite's affinity calculates the power of ten, and rounds, in doubles.
    ("9.99999999999999E+17", "integer", "999999999999999000"), ("-7.57047241303261E+16", "integer", "-75704724130326100"),
    ("1.23456789012345E+18", "integer", "1234567890123450000"), ("9086766548538728999.", "integer", "9086766548538728999"),
    ("9086766548538728999.00", "integer", "9086766548538728999"),
    ("1.50", "real", "1.5"), ("1E+20", "real", "1e+20"), ("1E-7", "real", "1e-07"), ("Infinity", "real", "Infinity")]


@pytest.mark.parametrize("text, kind, stored", DECIMALS)
def test_a_decimal_keeps_its_digits(client, text, kind, stored):
    client.extended("INSERT INTO p (id, d) VALUES (100, $1)", [text], types=[NUMERIC]).check()
    assert client.query("SELECT typeof(d), d FROM p WHERE id = 100").check().texts == [(kind, stored)]
    client.query("PREPARE decimal (numeric) AS UPDATE p SET d = $1 WHERE id = 100").check()
    client.query(f"EXECUTE decimal ('{text}'); DEALLOCATE decimal").check()
    assert client.query("SELECT typeof(d), d FROM p WHERE id = 100").check().texts == [(kind, stored)]


@pytest.mark.parametrize("text, binary, found", [
    ("9.99999999999999E+17", "0005 0004 0000 0000 0063 270f 270f 270f 2328", ("integer", "t")), ("7.", "0001 0000 0000 0000 0007", ("integer", "f")),
    ("0.12345678901234567", "0005 ffff 0000 0011 04d2 162e 2334 0d80 1b58", ("real", "f"))])
def test_a_decimal_that_is_calculated_with_is_the_same_in_both_formats(client, text, binary, found):
    client.query("INSERT INTO p (id, n) VALUES (100, 999999999999999000)").check()
    for value, format in [(text, 0), (bytes.fromhex(binary), 1)]:
        sql = "SELECT typeof(coalesce(NULL, $1)), n + 0 = $1 FROM p WHERE id = 100"
        assert client.extended(sql, [value], types=[NUMERIC], formats=[format]).check().texts == [found], format


def binary_numeric(text):
    """As numeric_send writes it: see NumericCodec.swift."""
    sign, digits, point = decimal.Decimal(text).as_tuple()
    digits, point = "".join(map(str, digits)) + "0" * max(0, point), min(0, point)
    whole, fraction = digits[:len(digits) + point], digits[len(digits) + point:].rjust(-point, "0") if point else ""
    whole, padded = whole.rjust(-(-len(whole) // 4) * 4, "0"), fraction.ljust(-(-len(fraction) // 4) * 4, "0")
    groups = [int((whole + padded)[start:start + 4]) for start in range(0, len(whole + padded), 4)]
    return struct.pack(f"!hhHh{len(groups)}h", len(groups), len(whole) // 4 - 1, 0x4000 if sign else 0, len(fraction), *groups)


# SQLite reads the text of these, however it is written, as the double beside the next one.
NEXT_ONES = ["2.463E-26", "-2.463E-26", "8.04E+99", "4.019E-35", "7.1046341E+30", "4.104956900E-23", "0.00000000000000000000000002463"]


@pytest.mark.parametrize("text", [*NEXT_ONES, "12345678901234567.5", "0.12345678901234567", "1e-300", "9e300"])
@pytest.mark.parametrize("column", ["r", "d", "n", "day"])
def test_a_decimal_is_the_same_double_as_a_real(client, column, text):
    """What one has stored the other finds: there is one double next to it."""
    ways = [(text, wire.FLOAT8, 0), (text, NUMERIC, 0), (binary_numeric(text), NUMERIC, 1)]
    for value, type, format in ways:
        client.extended(f"INSERT INTO p (id, {column}) VALUES (100, $1)", [value], types=[type], formats=[format]).check()
        for other, given, sent in ways if column != "day" else []:
            assert client.extended(f"SELECT id FROM p WHERE {column} = $1", [other], types=[given], formats=[sent]).value == "100", (type, given)
        if column == "d":
            assert client.extended("SELECT id FROM p WHERE d = $1", [ways[2][0]], formats=[1]).value == "100", "announced as numeric"
        stored = client.extended(f"SELECT CAST({column} AS REAL) FROM p WHERE id = 100", result_formats=[1]).check().rows
        assert stored == [[struct.pack("!d", float(text))]], (type, format)
        client.query("DELETE FROM p WHERE id = 100").check()


@pytest.mark.parametrize("text, stored", [
    ("1e20", "100000000000000000000"), ("2.463E-26", "0.00000000000000000000000002463"), ("1234567890123456.50", "1234567890123456.50"),
    ("1e-400", "0." + 399 * "0" + "1"), ("+001234567890123456.50", "1234567890123456.50"), ("-.123456789012345", "-0.123456789012345"),
    ("-00000000000000.50", "-0.5")])
def test_a_column_of_texts_keeps_all_digits_of_a_decimal(client, text, stored):
    for value, format in [(text, 0), (binary_numeric(text), 1)]:
        client.extended("INSERT INTO p (id, t) VALUES (100, $1)", [value], types=[NUMERIC], formats=[format]).check()
        assert client.value("SELECT t FROM p WHERE id = 100") == stored
        assert client.extended("DELETE FROM p WHERE t = $1", [value], types=[NUMERIC], formats=[format]).tag == "DELETE 1"


@pytest.mark.parametrize("sql", ["INSERT INTO p (id, d) VALUES (100, $1) RETURNING d = 0", "SELECT 1.5 > $1 AND -1.5 < $1"])
def test_a_decimal_that_is_too_small_for_a_double_is_next_to_zero(client, sql):
    for value, format in [("1e-400", 0), ("-1e-400", 0), (binary_numeric("1e-400"), 1)]:
        assert client.extended(sql, [value], types=[NUMERIC], formats=[format]).check().value == "t"
        client.query("DELETE FROM p WHERE id = 100").check()


@pytest.mark.parametrize("text, state", [("0x1A", "22P02"), ("1e400", "22003"), ("1e5000", "22003"), ("1,5", "22P02"), ("0." + 3990 * "0" + "1", None)])
def test_not_a_decimal(client, text, state):
    assert client.extended("INSERT INTO p (t) VALUES ($1)", [text], types=[NUMERIC]).state == state


@pytest.mark.parametrize("type, text, state", [
    (20, "1e3", "22P02"), (23, "0x10", "22P02"), (21, "1.0", "22P02"), (20, "-", "22P02"), (20, " +9223372036854775808 ", "22003"), (21, "40000", "22003"),
    (26, "-1", "22003"), (701, "1e400", "22003"), (701, "-1e400", "22003"), (701, "1e-400", "22003"), (700, "1e39", "22003"), (700, "1e-60", "22003"),
    (701, "1,5", "22P02"), (20, "1\0", "22021"), (701, "1\0", "22021"), (16, "t\0", "22021"), (NUMERIC, "1\0", "22021"), (NUMERIC, "1.5\0", "22021"),
    (1005, "{99999}", "22003"), (1021, "{1e39}", "22003"), (1231, "{1.2.3}", "22P02"), (1016, "{99999999999999999999}", "22003"), (1028, "{-1}", "22003"),
    (701, "4.9e-324", None), (700, "1e-44", None), (20, " -7 ", None)])
def test_not_a_number(client, type, text, state):
    assert client.extended("SELECT $1", [text.encode()], types=[type]).state == state


def test_not_a_boolean(client):
    assert client.extended("INSERT INTO p (f) VALUES ($1)", ["maybe"]).state == "22P02"


def test_text_with_nul(client):
    for oid, format in [(wire.TEXT, 0), (wire.TEXT, 1), (0, 0), (wire.VARCHAR, 1), (JSON, 1)]:
        assert client.extended("SELECT id FROM p WHERE t = $1", [b"a\0b"], types=[oid], formats=[format]).state == "22021"


def test_a_time_by_its_long_name_and_an_array_by_its_own(client):
    client.query("CREATE TABLE IF NOT EXISTS named (a TIME WITHOUT TIME ZONE, b INTEGER[], c TEXT[])").check()
    client.query("DELETE FROM named; INSERT INTO named VALUES ('03:04:05', '[1, 2]', '[\"x\"]')").check()
    client.query("SET result_typing = declared").check()
    reply = client.query("SELECT a, b, c FROM named").check()
    assert reply.texts == [("03:04:05", "[1, 2]", '["x"]')]
    assert result_types(client, "SELECT a FROM named") == [1083]
    client.query("SET result_typing = stored").check()
    assert client.query("SELECT a, b, c FROM named").check().texts == [("03:04:05", "[1, 2]", '["x"]')]


# Dates


@pytest.mark.parametrize(
    "column, sent, stored",
    [
        # pgjdbc leaves it to the column to drop the time zone; SQLite's functions take none of these.
        ("day", "2024-01-02 +01", "2024-01-02"),
        ("at", "2024-01-02 03:04:05.123456+01", "2024-01-02 03:04:05.123456"),
        # What others may have stored stays.
        ("day", "2024-01-02 03:04:05", "2024-01-02 03:04:05"),
        ("at", "2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"),
        ("at", "2024-01-02 03:04:05+01:00", "2024-01-02 03:04:05+01:00"),
        ("at", "yesterday", "yesterday"),
        ("t", "2024-01-02 +01", "2024-01-02 +01"),
    ],
)
def test_dates_without_a_type(client, column, sent, stored):
    client.extended(f"UPDATE p SET {column} = $1 WHERE id = 1", [sent]).check()
    assert client.value(f"SELECT {column} FROM p WHERE id = 1") == stored
    assert client.extended(f"SELECT id FROM p WHERE {column} = $1", [sent]).check().texts == [("1",)]


GO = "2026-11-23 02:35:22.54111316 +0100 CET m=+0.002472970"


@pytest.mark.parametrize("column, sent, state", [
    ("day", GO, "22007"), ("at", GO, "22007"), ("at", "2026-11-23 02:35:22 -0330 NST", "22007"),
    ("t", GO, None), ("at", "2026-11-23 02:35:22 about +0100", None), ("at", "2026-11-23 02:35:22 +0100", None)])
def test_debug_text_of_go(client, column, sent, state):
    """What pgx 4 sends for a time where a text is announced: no date function takes it."""
    reply = client.extended(f"UPDATE p SET {column} = $1 WHERE id = 1", [sent])
    assert reply.state == state and (state is None or "declared" in reply.error["H"])


def test_dates_without_a_type_for_declared_columns(client):
    client.query("SET result_typing = declared").check()
    for sent, stored in [("2024-01-02T03:04:05Z", "2024-01-02 03:04:05"), ("2024-01-02 03:04:05+01:00", "2024-01-02 03:04:05")]:
        client.extended("UPDATE p SET at = $1 WHERE id = 1", [sent]).check()
        assert client.value("SELECT CAST(at AS TEXT) FROM p WHERE id = 1") == stored


@pytest.mark.parametrize("type, value, state", [
    (DATE, "yesterday", "22007"), (TIMESTAMP, "2024-13-01 00:00:00", "22007"), (DATE, "0044-03-15 BC", "22008"), (DATE, "0000-07-01", "22008"),
    (TIMESTAMP, "0000-07-01 00:00:00", "22008"), (DATE, "0001-02-30 BC", "22007"), (DATE, "noon, 44 years BC", "22007"), (DATE, "  BC", "22007"),
    (DATE, "0044          BC", "22007"), (DATE, "0001          BC", "22007"), (DATE, "BC", "22007"), (TIMESTAMP, "10000-01-01 BC", "22007")])
def test_not_a_date(client, type, value, state):
    assert client.extended("UPDATE p SET day = $1", [value], types=[type]).state == state


@pytest.mark.parametrize("column, type, text, stored, binary", [
    ("DATE", DATE, "0001-02-29 BC", "0000-02-29", struct.pack("!i", -730426)),
    ("TIMESTAMP", TIMESTAMP, "0001-02-29 12:00:00 BC", "0000-02-29 12:00:00", struct.pack("!q", (-730426 * 86400 + 43200) * 10**6)),
    ("TIMESTAMPTZ", 1184, "0001-02-29 12:00:00+00 BC", "0000-02-29 12:00:00+00:00", struct.pack("!q", (-730426 * 86400 + 43200) * 10**6))])
def test_the_year_before_the_first(client, column, type, text, stored, binary):
    """Year 0 to SQLite, 1 BC to PostgreSQL."""
    client.query(f"DROP TABLE IF EXISTS one; CREATE TABLE one (at {column}); SET result_typing = declared").check()
    for value, format in [(text, 0), (binary, 1)]:
        client.extended("INSERT INTO one VALUES ($1)", [value], types=[type], formats=[format]).check()
    assert client.query("SELECT CAST(at AS TEXT) FROM one").check().texts == [(stored,)] * 2
    assert client.query("SELECT at FROM one").check().texts == [(text,)] * 2
    assert client.extended("SELECT at FROM one", result_formats=[1]).check().rows == [[binary]] * 2
    # As it was sent it comes back, also to where its type was announced, and by COPY.
    assert client.extended("UPDATE one SET at = $1 WHERE at = $1", [text]).tag == "UPDATE 2"
    client.query("DELETE FROM one").check()
    copied(client, "COPY one FROM STDIN", text + "\n").check()
    client.extended("INSERT INTO one VALUES ($1)", [text]).check()
    assert client.query("SELECT CAST(at AS TEXT) FROM one").check().texts == [(stored,)] * 2
    assert client.extended("INSERT INTO one VALUES ($1)", [text.replace("0001", "0044")]).state == "22008"


def test_the_year_before_the_first_is_a_text_where_nobody_is_told(client):
    client.query("DROP TABLE IF EXISTS one; CREATE TABLE one (at DATE)").check()
    client.extended("INSERT INTO one VALUES ($1)", ["0001-02-29 BC"]).check()
    assert client.value("SELECT at FROM one") == "0001-02-29 BC"


# JSON


@pytest.mark.parametrize("type, formats", [(JSON, [0]), (JSON, [1]), (JSONB, [0]), (JSONB, [1])])
@pytest.mark.parametrize("text, stored", [
    ('{"a": [1, 2.50]}', '{"a": [1, 2.50]}'), ('"a"', '"a"'), (" 7 ", "7"), ("-1.50", "-1.5"), ("0.30000000000000004", "0.30000000000000004"),
    ("9.99999999999999E+17", "999999999999999000"), ("1e20", "1e+20"), ("0.0", "0"), ("-9223372036854775808", "-9223372036854775808"),
    # The affinity of a column declared JSON would make other numbers of these.
    ("12345678901234567890", None), ("1e400", None), ("1e-400", None), ("0.1000000000000000055511151231257827", None)])
def test_json_is_what_was_sent(client, type, formats, text, stored):
    sent = ("\1" if type == JSONB and formats == [1] else "") + text
    reply = client.extended("INSERT INTO p (id, j) VALUES (100, $1)", [sent.encode()], types=[type], formats=formats)
    if stored is None:
        assert reply.state == "22003" and "TEXT" in reply.error["H"]
    else:
        reply.check()
        assert client.value("SELECT j FROM p WHERE id = 100") == stored
        assert client.extended("SELECT id FROM p WHERE j = $1", [sent.encode()], types=[type], formats=formats).value == "100"
    # A column of texts keeps any.
    client.extended("INSERT INTO p (id, t) VALUES (101, $1)", [sent.encode()], types=[type], formats=formats).check()
    assert client.value("SELECT t FROM p WHERE id = 101") == text
    client.query(f"INSERT INTO p (id, t) VALUES (102, '{text}'::{'json' if type == JSON else 'jsonb'})").check()
    assert client.value("SELECT t FROM p WHERE id = 102") == text


@pytest.mark.parametrize("column", ["j", "t"])
@pytest.mark.parametrize("text", ['{"a":1', "nope", "", "NaN", "{'a': 1}", "01"])
def test_not_json(client, column, text):
    for type, sent, format in [(JSON, text, 0), (JSON, text, 1), (JSONB, text, 0), (JSONB, "\1" + text, 1)]:
        assert client.extended(f"INSERT INTO p ({column}) VALUES ($1)", [sent.encode()], types=[type], formats=[format]).state == "22P02"
    assert client.extended(f"INSERT INTO p ({column}) VALUES ($1::jsonb)", [text]).state == "22P02"
    assert client.extended(f"INSERT INTO p ({column}) VALUES ($1)", [b"\2{}"], types=[JSONB], formats=[1]).state == "22P03"
    assert client.query(f"INSERT INTO p ({column}) VALUES ('{text.replace(chr(39), chr(39) * 2)}'::json)").state == "42601"
    # Without a type it is what others may have stored.
    client.extended(f"INSERT INTO p ({column}) VALUES ($1)", [text]).check()


# UUIDs


@pytest.mark.parametrize("text, stored", [
    # To SQLite's affinity these are numbers, and were stored as 1.23456789012346e+31, 3 and infinity.
    ("12345678901234567890123456789012", "12345678-9012-3456-7890-123456789012"),
    ("00000000000000000000000000000003", "00000000-0000-0000-0000-000000000003"),
    ("0000000000000000000000000001e500", "00000000-0000-0000-0000-00000001e500"),
    # So are they with blanks around them, which the affinity passes over.
    (" 12345678901234567890123456789012", "12345678-9012-3456-7890-123456789012"),
    ("0000000000000000000000000001e500\n ", "00000000-0000-0000-0000-00000001e500"),
    # What is none stays what it was.
    (" 6f1e3a5200004000800000000000000b", " 6f1e3a5200004000800000000000000b"),
    ("6f1e3a5200004000800000000000000b", "6f1e3a5200004000800000000000000b"), ("17", "17"),
    ("12345678-9012-3456-7890-123456789012", "12345678-9012-3456-7890-123456789012"),
])
@pytest.mark.parametrize("typing", ["stored", "declared"])
def test_a_uuid_of_digits_is_no_number(client, typing, text, stored):
    client.query(f"SET result_typing = {typing}; DELETE FROM p WHERE id = 9").check()
    client.extended("INSERT INTO p (id, u) VALUES (9, $1)", [text.encode()]).check()
    assert client.value("SELECT CAST(u AS TEXT) FROM p WHERE id = 9") == stored
    assert client.extended("SELECT id FROM p WHERE u = $1", [text.encode()]).value == "9"
    assert client.extended("UPDATE p SET u = $1 WHERE u = $1 AND id = 9", [text.encode()]).tag == "UPDATE 1"


@pytest.mark.parametrize("types", [[], [wire.TEXT]])
def test_a_uuid_that_may_be_empty(client, types):
    """It is compared with a text, and is a UUID in its column all the same."""
    client.query("DELETE FROM p WHERE id IN (8, 9)").check()
    for number, text in [(8, "12345678901234567890123456789012"), (9, "")]:
        client.extended(f"INSERT INTO p (id, u) VALUES ({number}, nullif($1, ''))", [text], types).check()
    stored = client.query("SELECT CAST(u AS TEXT) FROM p WHERE id IN (8, 9) ORDER BY id").texts
    assert stored == [("12345678-9012-3456-7890-123456789012",), (None,)]


UNTYPED = [("u UUID", "00000000000000000000000000000002", "00000000-0000-0000-0000-000000000002"), ("d DATE", "2024-01-02 +01", "2024-01-02")]


@pytest.mark.parametrize("column, text, stored", UNTYPED)
def test_a_text_is_taken_for_what_its_column_is(client, column, text, stored):
    """In both formats; and a text of digits is a UUID, whatever type the driver gives it."""
    client.query(f"DROP TABLE IF EXISTS one; CREATE TABLE one ({column})").check()
    for formats in [[], [1]]:
        for type in [0, wire.TEXT, 1043] if "UUID" in column else [0]:
            client.ask(wire.parse("INSERT INTO one VALUES ($1)", types=[type]), wire.bind([text], formats=formats), wire.execute()).check()
    assert set(client.query("SELECT *, typeof(one.rowid) FROM one").check().texts) == {(stored, "integer")}


# The program of an INSERT into an AUTOINCREMENT table opens sqlite_sequence by the cursor it opens the table with.


@pytest.fixture
def counted(client):
    columns = "n INTEGER, f BOOLEAN, u UUID, at DATETIME, d NUMERIC, b BLOB, x, t TEXT UNIQUE"
    for name, key in [("plain", "INTEGER PRIMARY KEY"), ("counted", "INTEGER PRIMARY KEY AUTOINCREMENT")]:
        client.query(f"DROP TABLE IF EXISTS {name}").check()
        client.query(f"CREATE TABLE {name} (id {key}, {columns})").check()
    return client


@pytest.mark.parametrize("typing", ["stored", "declared"])
@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO {} (n, f, u, at, d, b, t) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        "INSERT INTO {} (f, b) VALUES ($1, $2), ($3, $4)",
        "INSERT INTO {} (id, f) VALUES ($1, $2)",
        "INSERT OR REPLACE INTO {} (id, t, f) VALUES ($1, $2, $3) RETURNING id",
        "INSERT INTO {} (t, f, u) VALUES ($1, $2, $3) ON CONFLICT (t) DO UPDATE SET f = $4, n = n + $5 WHERE n > $6",
        "INSERT INTO {} (n, f) SELECT n, $1 FROM p WHERE day = $2",
        "INSERT INTO {} (f) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM counted WHERE f = $2)",
    ],
)
def test_autoincrement(counted, sql, typing):
    counted.query(f"SET result_typing = {typing}").check()
    assert parameter_types(counted, sql.format("counted")) == parameter_types(counted, sql.format("plain"))


@pytest.mark.parametrize(
    "column, sent, stored",
    [
        ("f", "true", "1"),
        ("u", "00000000000000000000000000000007", "'00000000-0000-0000-0000-000000000007'"),
        ("b", "\\x00ff", "X'00FF'"),
        ("d", "1.10", "1.1"),
        ("at", "2024-01-02 03:04:05+02", "'2024-01-02 03:04:05'"),
    ],
)
def test_values_of_autoincrement_tables(counted, column, sent, stored):
    counted.query("SET result_typing = declared").check()
    for table in ["plain", "counted"]:
        counted.extended(f"INSERT INTO {table} ({column}) VALUES ($1)", [sent]).check()
        assert counted.value(f"SELECT quote({column}) FROM {table} ORDER BY id DESC LIMIT 1") == stored, table
    assert counted.extended("INSERT INTO counted (x) VALUES ($1)", ["5"]).state == "42P18"
