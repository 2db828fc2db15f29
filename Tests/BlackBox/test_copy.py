"""What becomes of values in a COPY, with what SQLite has in place of PostgreSQL's types."""

import datetime
import uuid

import psycopg
import pytest
from psycopg import errors

from copy_table_fixtures import connection, db, stored  # noqa: F401 (fixtures)
from psycopg_fixtures import connect


def copy_in(connection, data, sql="COPY t FROM STDIN"):
    cursor = connection.cursor()
    with cursor.copy(sql) as copy:
        copy.write(data)
    connection.commit()
    return cursor.statusmessage


def test_types(db, connection):
    db.run("DROP TABLE t", """CREATE TABLE t (i INT, big BIGINT, r DOUBLE PRECISION, f BOOL, b BYTEA, v VARCHAR(3), d TIMESTAMP,
           n DECIMAL(8, 3), x, j JSON)""")
    copy_in(connection, " 12 \t-9223372036854775808\t1e3\tYes\t\\\\x4142\tlonger\t2024-01-01 00:00\t12.500\t7\t{\"a\":1}\n"
                        "+5\t9223372036854775807\tinf\toff\ta\\\\\\\\b\\\\001\t\t\\N\t1e2\t\t[]\n")
    found = stored(db, "SELECT * FROM t")
    assert found == [
        (12, -(1 << 63), 1000.0, 1, b"AB", "longer", "2024-01-01 00:00", 12.5, "7", '{"a":1}'),
        (5, (1 << 63) - 1, float("inf"), 0, b"a\\b\1", "", None, 100, "", "[]")]
    for column, value, state in [("i", "1.5", "22P02"), ("i", "", "22P02"), ("r", "nan", "22003"), ("r", "1e999", "22003"), ("r", "1e-999", "22003"), ("i", "1e3", "22P02"),
                                 ("f", "2", "22P02"), ("b", "\\\\x4", "22P02"), ("i", "9223372036854775808", "22003")]:
        with pytest.raises(psycopg.Error) as caught:
            copy_in(connection, f"{value}\n", f"COPY t ({column}) FROM STDIN")
        assert caught.value.sqlstate == state, (column, value)
        assert f"COPY t, line 1, column {column}" in caught.value.diag.context
        connection.rollback()


def test_values_that_are_not_what_their_column_says(db, connection):
    db.run("DROP TABLE t", "CREATE TABLE t (i INTEGER, b BLOB, f BOOLEAN, x)",
           "INSERT INTO t VALUES ('words', x'00', 5, x'ff'), (1.5, NULL, 1, 'text')")
    with connection.cursor().copy("COPY t TO STDOUT") as copy:
        assert b"".join(copy) == b"words\t\\\\x00\t5\t\\\\xff\n1.5\t\\N\tt\ttext\n"
    connection.rollback()
    db.run("INSERT INTO t VALUES (x'00', NULL, NULL, NULL)")
    with pytest.raises(errors.DatatypeMismatch, match='column "i" of table "t" holds a BLOB value'):
        with connection.cursor().copy("COPY t (i) TO STDOUT") as copy:
            list(copy)
    connection.rollback()
    db.run("DELETE FROM t", "INSERT INTO t VALUES (1, 'text', NULL, NULL)")
    with pytest.raises(errors.DatatypeMismatch, match='column "b" of table "t" holds a TEXT value'):
        with connection.cursor().copy("COPY t TO STDOUT") as copy:
            list(copy)


def test_defaults_triggers_and_generated_columns(db, connection):
    db.run("CREATE TABLE log (entry TEXT)", """CREATE TRIGGER logs AFTER INSERT ON t BEGIN
           INSERT INTO log VALUES (new.id || new.v); END""",
           "CREATE TRIGGER turns_away BEFORE INSERT ON t WHEN new.id = 3 BEGIN SELECT RAISE(IGNORE); END")
    assert copy_in(connection, "1\n2\n3\n\\N\n", "COPY t (id) FROM STDIN") == "COPY 3"
    # The one that was turned away is not counted; NULL became the next rowid, which is 3, and that is not yet known to
    # the trigger: new.id of an INTEGER PRIMARY KEY is -1 in BEFORE.
    assert stored(db, "SELECT id, v, twice FROM t") == [(1, "none", 2), (2, "none", 4), (3, "none", 6)]
    assert stored(db, "SELECT count(*) FROM log") == [(3,)]
    with pytest.raises(errors.InvalidColumnReference):
        copy_in(connection, "1\n", "COPY t (twice) FROM STDIN")
    connection.rollback()
    with connection.cursor().copy("COPY t TO STDOUT (HEADER)") as copy:
        assert list(copy)[0] == b"id\tv\tr\tb\tf\td\tn\n"


def test_a_trigger_that_rolls_back(db, connection):
    db.run("CREATE TRIGGER refuses BEFORE INSERT ON t WHEN new.id = 3 BEGIN SELECT RAISE(ROLLBACK, 'no threes'); END")
    with pytest.raises(psycopg.Error, match="no threes") as caught:
        copy_in(connection, "1\n2\n3\n", "COPY t (id) FROM STDIN")
    assert caught.value.diag.context == "COPY t, line 3"
    connection.rollback()
    assert stored(db) == []


def test_names_that_need_quotes(db, connection):
    db.run('CREATE TABLE "odd ""name"", with (all)" ("select" INTEGER, "a ""b""" TEXT)')
    name = '"odd ""name"", with (all)"'
    copy_in(connection, "1\tx\n", f"COPY {name} FROM STDIN")
    with connection.cursor().copy(f'COPY main.{name} ("a ""b""", "select") TO STDOUT (FORMAT csv, HEADER)') as copy:
        assert b"".join(copy) == b'"a ""b""",select\nx,1\n'
    connection.rollback()
    db.run(f"DROP TABLE {name}")


def test_names_beyond_ascii_differ_by_case(db, connection):
    """SQLite folds the letters of ASCII only, and takes the two ways to write an "é" for two names."""
    db.run("DROP TABLE IF EXISTS n", 'CREATE TABLE n ("é" INTEGER, "É" INTEGER, "e\u0301" INTEGER, "Ax" INTEGER)')
    copy_in(connection, "1\n", 'COPY n ("É") FROM STDIN')
    copy_in(connection, "2\t3\t4\n", 'COPY n ("é", "e\u0301", "aX") FROM STDIN')
    connection.commit()
    assert stored(db, "SELECT * FROM n") == [(None, 1, None, None), (2, None, 3, 4)]
    with connection.cursor().copy('COPY n ("aX", "É", "é") TO STDOUT (FORMAT csv, FORCE_QUOTE ("É", "AX"))') as copy:
        assert b"".join(copy) == b',"1",\n"4",,2\n'
    for columns in ('"é", "e\u0301", "é"', '"Ax", "aX"'):
        with pytest.raises(errors.DuplicateColumn), connection.transaction():
            copy_in(connection, "", f"COPY n ({columns}) FROM STDIN")
    with pytest.raises(errors.InvalidColumnReference, match="È"), connection.transaction():
        copy_in(connection, "", 'COPY n FROM STDIN (FORMAT csv, FORCE_NULL ("é", "È"))')
    connection.rollback()
    db.run("DROP TABLE n")


@pytest.mark.parametrize("options, data, expected", [
    ("CSV", '1,"a,""b"""\n2,a"b"c\n3,\n4,""\n', ['a,"b"', "abc", None, ""]),
    ("CSV NULL 'x'", '1,x\n2,"x"\n3,\n4,xx\n', [None, "x", "", "xx"]),
    ("(FORMAT csv, NULL 'x', FORCE_NULL (v))", '1,x\n2,"x"\n', [None, None]),
    ("(FORMAT csv, FORCE_NOT_NULL (v))", '1,\n2,""\n', ["", ""]),
    ("CSV QUOTE '''' ESCAPE '\\' DELIMITER ';'", "1;'a\\'b;\\\\'\n2;\"\n", ["a'b;\\", '"']),
    ("CSV HEADER", 'any,"thi\nng"\n1,a\n', ["a"]),
    ("CSV", '1,a\r\n2,"b\r\nc"\r\n', ["a", "b\r\nc"]),
    ("CSV", '1,a\r2,b\r', ["a", "b"]),
    ("CSV", '1,\\.\n2,b\n\\.\nignored', ["\\.", "b"]),
    ("", "1\t\\b\\f\\n\\r\\t\\v\\\\\n2\t\\101\\x42\\x4g\\7\n3\t\\q\\xg\n4\ta\\\nb\n", ["\b\f\n\r\t\v\\", "AB\x04g\x07", "qxg", "a\nb"]),
    ("", "1\t\\N\n2\t\\\\N\n3\tN\n4\t\\NN", [None, "\\N", "N", "NN"]),
    ("(DELIMITER '|', NULL 'nil')", "1|nil\n2|\\nil\n3|a\\|b\n\\.\n9|x\n", [None, "\nil", "a|b"]),
    ("(DELIMITER E'\\x01', NULL E'\\x41')", "1\1A\n2\1x41\n", [None, "x41"]),
    ("DELIMITER AS E'\\t' NULL AS ''", "1\t\n2\t\\N\n", [None, "N"]),
])
def test_spellings(db, connection, options, data, expected):
    db.run("DROP TABLE t", "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    copy_in(connection, data, f"COPY t FROM STDIN {options}")
    assert [row[0] for row in stored(db, "SELECT v FROM t ORDER BY id")] == expected


def test_header_match(db, connection):
    copy_in(connection, "id,v\n1,a\n", "COPY t (id, v) FROM STDIN (FORMAT csv, HEADER match)")
    for header, message in [("id,w", 'field 2: got "w", expected "v"'), ("id", "got 1, expected 2")]:
        with pytest.raises(errors.BadCopyFileFormat, match=message):
            copy_in(connection, f"{header}\n", "COPY t (id, v) FROM STDIN (FORMAT csv, HEADER match)")
        connection.rollback()
    # Two columns, to SQLite.
    db.run('DROP TABLE IF EXISTS k; CREATE TABLE k ("\u00e9", "e\u0301")')
    with pytest.raises(errors.BadCopyFileFormat, match="field 1"):
        copy_in(connection, "e\u0301,\u00e9\n1,2\n", "COPY k FROM STDIN (FORMAT csv, HEADER match)")


def test_pgbench_accounts(db, connection):
    """As pgbench -i writes them: an older option it sends is accepted and means nothing here."""
    db.run("DROP TABLE IF EXISTS pgbench_accounts",
           "CREATE TABLE pgbench_accounts (aid int not null, bid int, abalance int, filler char(84))")
    data = "".join(f"{i}\t{i // 100000 + 1}\t0\t\n" for i in range(1, 1001))
    assert copy_in(connection, data, "copy pgbench_accounts from stdin with (freeze on)") == "COPY 1000"
    assert stored(db, "SELECT count(*), sum(aid), count(filler) FROM pgbench_accounts") == [(1000, 500500, 1000)]
    db.run("DROP TABLE pgbench_accounts")


def test_one_value_is_one_text_however_it_comes(db, connection):
    """psycopg copies a UUID without hyphens, and a moment with the time zone it has."""
    digits = [uuid.UUID("12345678-1234-4678-8234-567812345678"), uuid.UUID("12345678-1234-4678-8234-5678e2345678"), uuid.UUID(int=0xC0FFEE)]
    zone = datetime.timezone(datetime.timedelta(hours=2))
    moments = [datetime.datetime(2024, 1, 1, 14, tzinfo=zone), datetime.datetime(2024, 1, 1, 14, 0, 0, 5000), datetime.datetime(2024, 1, 1)]
    connection.execute("DROP TABLE IF EXISTS same")
    connection.execute("CREATE TABLE same (how TEXT, id UUID, at DATETIME, zoned TIMESTAMPTZ, day DATE, clock TIME)")
    rows = [(u, at, moments[0], at.date(), at.time()) for u, at in zip(digits, moments)]
    for row in rows:
        connection.execute("INSERT INTO same VALUES ('insert', %s, %s, %s, %s, %s)", row)
    for options in ["", "(FORMAT csv)"]:
        with connection.cursor().copy(f"COPY same FROM STDIN {options}") as copy:
            for row in rows:
                if options:
                    copy.write(",".join(["copy", row[0].hex, *[str(value) for value in row[1:]]]) + "\n")
                else:
                    copy.write_row(("copy", *row))
    connection.commit()
    texts = [row[1:] for row in stored(db, "SELECT * FROM same ORDER BY rowid")]
    assert texts[3:6] == texts[:3] and texts[6:] == texts[:3]
    for row in rows:
        assert connection.execute("SELECT count(*) FROM same WHERE id = %s", [row[0]]).fetchone() == (3,)


@pytest.mark.parametrize("typing", ["stored", "declared"])
def test_infinity_among_decimals(db, connection, typing):
    """What COPY TO writes comes back; NaN is as little a decimal here as it is a real."""
    connection.execute(f"SET result_typing = {typing}; DROP TABLE IF EXISTS same; CREATE TABLE same (n NUMERIC(10, 2), m MONEY)")
    connection.execute("INSERT INTO same VALUES (9e999, 1), (-9e999, 2), (1.5, 3)")
    with connection.cursor().copy("COPY same (n) TO STDOUT") as copy:
        data = b"".join(copy)
    connection.execute("DELETE FROM same")
    copy_in(connection, data, "COPY same (n) FROM STDIN")
    assert data == b"Infinity\n-Infinity\n1.5\n"
    assert stored(db, "SELECT n, typeof(n) FROM same") == [(float("inf"), "real"), (float("-inf"), "real"), (1.5, "real")]
    with pytest.raises(errors.NumericValueOutOfRange):
        copy_in(connection, "NaN\n", "COPY same (n) FROM STDIN")
    connection.rollback()


@pytest.mark.parametrize("typing", ["stored", "declared"])
@pytest.mark.parametrize("options, data", [("", " {}"), ("", "{} "), ("CSV", '"\t{}"'), ("", "{}")])
def test_a_uuid_of_digits_is_no_number(db, connection, options, data, typing):
    """SQLite's affinity would make one of it, also where blanks stand around it."""
    connection.execute(f"SET result_typing = {typing}; DROP TABLE IF EXISTS same; CREATE TABLE same (id UUID)")
    copy_in(connection, data.format("12345678901234567890123456789012") + "\n", f"COPY same FROM STDIN {options}")
    assert stored(db, "SELECT id FROM same") == [("12345678-9012-3456-7890-123456789012",)]


ZONED = "2024-01-02 00:30:00"


@pytest.mark.parametrize("column, sent, found, declared", [
    # As PostgreSQL, which drops the time zone that its columns have no place for.
    ("DATE", ZONED + "+02", "2024-01-02", "2024-01-02"), ("TIME", ZONED + "+02", "00:30:00", "00:30:00"),
    ("TIMESTAMP", ZONED + "+02", ZONED, ZONED), ("DATETIME", ZONED + ".1234565 +02", ZONED + ".123456", ZONED + ".123456"),
    ("DATE", "2024-01-02 +02", "2024-01-02", "2024-01-02"), ("TIMESTAMPTZ", ZONED + "+02", *["2024-01-01 22:30:00+00:00"] * 2),
    # In SQLite's spelling it may be another user's.
    ("DATE", ZONED + "+02:00", ZONED + "+02:00", "2024-01-02"), ("TIME", "00:30:00+02:00", "00:30:00+02:00", "00:30:00"),
    ("DATE", ZONED, ZONED, ZONED), ("TIME", "00:30:00+02", "00:30:00", "00:30:00"),
    # psycopg's datetime with a time zone, which INSERT stores so, too; with declared types nobody could read it.
    ("TIMESTAMP", ZONED + "+02:00", "2024-01-01 22:30:00+00:00", ZONED), ("TIMESTAMPTZ", ZONED + "+02:00", *["2024-01-01 22:30:00+00:00"] * 2)])
def test_time_zones_where_the_column_has_none(db, connection, column, sent, found, declared):
    for typing, expected in [("stored", found), ("declared", declared)]:
        connection.execute(f"SET result_typing = {typing}; DROP TABLE IF EXISTS same; CREATE TABLE same (at {column})")
        copy_in(connection, sent + "\n", "COPY same FROM STDIN")
        assert stored(db, "SELECT at FROM same") == [(expected,)], typing


@pytest.mark.parametrize("sent, found", [
    ("2024-01-02 00:30+02", "2024-01-01 22:30:00+00:00"), (ZONED + ".1234567+02", "2024-01-01 22:30:00.123457+00:00"),
    ("2024-01-02 +01", "2024-01-01 23:00:00+00:00"), (ZONED + "+00", ZONED + "+00:00"), (ZONED + "+01:02:03", "2024-01-01 23:27:57+00:00"),
    ("9999-12-31 23:30:00-01", None), ("0000-01-01 00:30:00+01", None)])
@pytest.mark.parametrize("typing", ["stored", "declared"])
def test_time_zones_as_postgresql_writes_them(db, connection, sent, found, typing):
    """Are brought to UTC, by COPY and as a parameter without a type."""
    connection.execute(f"SET result_typing = {typing}; DROP TABLE IF EXISTS same; CREATE TABLE same (at TIMESTAMPTZ)")
    connection.commit()
    for store in [lambda: copy_in(connection, sent + "\n", "COPY same FROM STDIN"), lambda: connection.execute("INSERT INTO same VALUES (%s)", [sent])]:
        if found is None:
            with pytest.raises(psycopg.errors.DatetimeFieldOverflow):
                store()
            connection.rollback()
        else:
            store()
    connection.commit()
    assert stored(db, "SELECT at FROM same") == ([] if found is None else [(found,)] * 2)


def test_a_moment_out_of_range_is_named(db, connection):
    connection.execute("DROP TABLE IF EXISTS same; CREATE TABLE same (n INTEGER, at TIMESTAMPTZ)")
    with pytest.raises(psycopg.errors.DatetimeFieldOverflow) as raised:
        copy_in(connection, "1\tnow\n2\t9999-12-31 23:30:00-01:00\n", "COPY same FROM STDIN")
    assert raised.value.diag.context == 'COPY same, line 2, column at: "9999-12-31 23:30:00-01:00"' and "9999-12-31" in raised.value.diag.message_detail
    connection.rollback()


def test_what_is_no_uuid_and_no_moment_stays(db, connection):
    """And so does whatever COPY TO may have written: it must come back as it was."""
    lines = [
        "x\t1700000000\t2024-01-02 03:04:05.123456789+00:00\t2024-01-02 00:00:00", "5\tsoon\t12:00:00+02:00\t2024-01-02",
        "12345678-ABCD-4678-8234-567812345678\t2024-01-01 10:00:00.123\t2024-01-01T10:00:00Z\t2024-01-01T10:00:00",
        "y\t2024-01-01 10:00:00.500000\t2024-01-01 10:00:00.000000+00:00\t2024-01-01 10:00"]
    connection.execute("DROP TABLE IF EXISTS same")
    connection.execute("CREATE TABLE same (id UUID, at DATETIME, zoned TIMESTAMPTZ, day DATE)")
    with connection.cursor().copy("COPY same FROM STDIN") as copy:
        copy.write("\n".join(lines) + "\n")
    connection.commit()
    assert stored(db, "SELECT * FROM same") == [
        ("x", 1700000000, "2024-01-02 03:04:05.123456789+00:00", "2024-01-02 00:00:00"), (5, "soon", "12:00:00+02:00", "2024-01-02"),
        # But what ISO 8601 spells otherwise is spelt as a parameter would be, or nobody would find it.
        ("12345678-ABCD-4678-8234-567812345678", "2024-01-01 10:00:00.123", "2024-01-01 10:00:00+00:00", "2024-01-01T10:00:00"),
        tuple(lines[3].split("\t"))]


@pytest.mark.parametrize("typing", ["stored", "declared"])
def test_iso_8601_in_a_column_with_a_zone(db, connection, typing):
    connection.execute(f"DROP TABLE IF EXISTS same; CREATE TABLE same (at TIMESTAMPTZ); SET result_typing = {typing}")
    with connection.cursor().copy("COPY same FROM STDIN") as copy:
        copy.write("2024-05-06 07:08:09.123456Z\n2024-05-06T07:08:09Z\n2024-05-06T07:08:09+00:00\n2024-05-06T09:08:09.5+02:00\n2024-05-06 07:08:09.123456789Z\n2024-05-06T07:08Z\n")
    connection.commit()
    assert stored(db, "SELECT at FROM same") == [
        ("2024-05-06 07:08:09.123456+00:00",), ("2024-05-06 07:08:09+00:00",), ("2024-05-06 07:08:09+00:00",), ("2024-05-06 07:08:09.500000+00:00",), ("2024-05-06 07:08:09.123457+00:00",), ("2024-05-06 07:08:00+00:00",)]
    moment = datetime.datetime(2024, 5, 6, 7, 8, 9, tzinfo=datetime.timezone.utc)
    assert connection.execute("SELECT count(*) FROM same WHERE at = %s", (moment,)).fetchone() == (2,)


@pytest.mark.parametrize("column", ["x", "x INTEGER", "x REAL", "x NUMERIC", "x BOOLEAN"])
def test_truths_are_read_back_as_what_they_are(daemon, column):
    """In PostgreSQL a file of `t` and `f` is refused by a column of numbers. Here a column without a type would take the letters."""
    daemon.run("CREATE TABLE flags (a INTEGER, b BOOLEAN)", "INSERT INTO flags VALUES (1, 1), (2, 0)", f"CREATE TABLE target ({column})")
    with connect(daemon, autocommit=True) as connection, connection.cursor() as cursor:
        with cursor.copy("COPY (SELECT a > 1 FROM flags) TO STDOUT") as copy:
            data = b"".join(bytes(part) for part in copy)
        assert data == b"0\n1\n"
        with cursor.copy("COPY target FROM STDIN") as copy:
            copy.write(data)
        assert cursor.execute("SELECT count(*) FROM target WHERE x").fetchone() == (1,)
        with cursor.copy("COPY (SELECT a > 1, b FROM flags) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["int8", "bool"])
            assert list(copy.rows()) == [(0, True), (1, False)]
