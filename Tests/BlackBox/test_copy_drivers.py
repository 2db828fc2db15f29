"""COPY as psql, psycopg and asyncpg use it."""

import asyncio
import csv
import io
import subprocess

import asyncpg
import pytest
from psycopg import errors

from copy_table_fixtures import connection, db, stored  # noqa: F401 (fixtures)

ROWS = [
    (1, "plain", 1.5, b"\0\xff", True, "2024-02-29", "1.25"),
    (2, "tab\tnewline\nreturn\rbackslash\\quote\"comma,", -1e300, b"", False, None, None),
    (3, "", None, None, None, "", "7"),
    (-4, "ünïcode 🐘 \\N \\. NULL", 0.1, b"\\x41", True, None, None),
]

EXPECTED = [(i, v, r, b, f if f is None else int(f), d, n if n is None else float(n)) for i, v, r, b, f, d, n in ROWS]


def psql(daemon, *commands, stdin="", check=True):
    arguments = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", daemon.directory, "-U", "tester", "-d", daemon.name]
    for command in commands:
        arguments += ["-c", command]
    done = subprocess.run(arguments, input=stdin, text=True, capture_output=True, timeout=30)
    assert not check or done.returncode == 0, done.stderr
    return done


# psycopg


@pytest.fixture
def filled(db, connection):
    """The database, whose table has the rows."""
    with connection.cursor().copy("COPY t (id, v, r, b, f, d, n) FROM STDIN") as copy:
        for row in ROWS:
            copy.write_row(row)
    connection.commit()
    return db


def test_psycopg_text_in(filled):
    assert stored(filled) == EXPECTED
    assert [type(row[0]) for row in stored(filled)] == [int] * 4


def test_psycopg_binary_in(db, connection):
    with connection.cursor().copy("COPY t (id, v, r, b, f, d) FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(["int8", "text", "float8", "bytea", "bool", "text"])
        for row in ROWS:
            copy.write_row(row[:6])
    connection.commit()
    assert [row[:6] for row in stored(db)] == [row[:6] for row in EXPECTED]


def test_psycopg_binary_without_types(db, connection):
    """It sends every integer of a column as narrow as the first one needs, cut off: to be refused, as in PostgreSQL."""
    with pytest.raises(errors.InvalidBinaryRepresentation) as caught:
        with connection.cursor().copy("COPY t (id, r, f) FROM STDIN (FORMAT binary)") as copy:
            for row in [(1, 0.5, True), (70_000, None, False)]:
                copy.write_row(row)
    assert caught.value.diag.context == "COPY t, line 1, column id"
    assert "set_types" in caught.value.diag.message_hint


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_out(filled, connection, binary):
    form = "(FORMAT binary)" if binary else ""
    columns = "id, v, r, b, f, d"
    with connection.cursor().copy(f"COPY (SELECT {columns} FROM t ORDER BY abs(id)) TO STDOUT {form}") as copy:
        copy.set_types(["int8", "text", "float8", "bytea", "bool", "text"])
        assert list(copy.rows()) == [row[:6] for row in ROWS]


def test_psycopg_blocks_and_a_round_trip(filled, connection):
    for form in ["", "(FORMAT csv)", "(FORMAT binary)", "(FORMAT csv, FORCE_QUOTE *, HEADER)",
                 "(FORMAT csv, DELIMITER ';', QUOTE '''', ESCAPE '^', NULL 'nil')", "(DELIMITER '|', NULL '')"]:
        with connection.cursor().copy(f"COPY t TO STDOUT {form}") as copy:
            data = b"".join(copy)
        connection.execute("CREATE TABLE again (id INTEGER PRIMARY KEY, v TEXT, r REAL, b BLOB, f BOOLEAN, d DATE, n NUMERIC)")
        into = form.replace("FORCE_QUOTE *, ", "")
        with connection.cursor().copy(f"COPY again FROM STDIN {into}") as copy:
            copy.write(data)
        query = "SELECT id, v, r, b, f, n FROM {} ORDER BY abs(id)"
        same = connection.execute(query.format("again")).fetchall()
        expected = connection.execute(query.format("t")).fetchall()
        # An unquoted empty string is what NULL looks like here.
        if form == "(DELIMITER '|', NULL '')":
            expected = [tuple(None if value == "" else value for value in row) for row in expected]
            expected[1] = (*expected[1][:3], b"", *expected[1][4:])
        assert same == expected, form
        connection.execute("DROP TABLE again")


def test_psycopg_errors(db, connection):
    with pytest.raises(errors.InvalidTextRepresentation) as caught:
        with connection.cursor().copy("COPY t (id, r) FROM STDIN") as copy:
            copy.write(b"1\t1.5\n2\tmuch\n")
    assert caught.value.diag.context == 'COPY t, line 2, column r: "much"'
    assert (caught.value.diag.table_name, caught.value.diag.column_name) == ("t", "r")
    connection.rollback()
    with pytest.raises(ZeroDivisionError):
        with connection.cursor().copy("COPY t (id) FROM STDIN") as copy:
            copy.write_row((1,))
            1 / 0
    connection.rollback()
    assert stored(db) == []


# asyncpg


def run_asyncpg(daemon, work):
    async def run():
        connection = await asyncpg.connect(host=str(daemon.directory), database=daemon.name, user="tester")
        try:
            return await work(connection)
        finally:
            await connection.close()

    return asyncio.run(run())


def test_asyncpg(db):
    async def work(connection):
        rows = [row[:6] for row in ROWS]
        columns = ["id", "v", "r", "b", "f", "d"]
        assert await connection.copy_records_to_table("t", records=rows, columns=columns) == "COPY 4"
        out = io.BytesIO()
        assert await connection.copy_from_query(
            "SELECT id, v FROM t WHERE id > 1 ORDER BY id", output=out, format="csv", header=True) == "COPY 2"
        assert out.getvalue().startswith(b'id,v\n2,"tab\tnewline\nreturn\rbackslash\\quote""comma,"\n3,')
        out = io.BytesIO()
        assert await connection.copy_from_table("t", output=out, columns=columns, format="binary") == "COPY 4"
        await connection.execute("DELETE FROM t")
        out.seek(0)
        assert await connection.copy_to_table("t", source=out, columns=columns, format="binary") == "COPY 4"
        with pytest.raises(asyncpg.UniqueViolationError):
            await connection.copy_records_to_table("t", records=rows, columns=columns)
        assert await connection.fetchval("SELECT count(*) FROM t") == 4

    run_asyncpg(db, work)
    assert [row[:6] for row in stored(db)] == [row[:6] for row in EXPECTED]


# psql


def test_psql_copies_files(db, tmp_path):
    path = tmp_path / "rows.csv"
    rows = [[str(i), f"line {i}\nof \"two\", and more", str(i / 4)] for i in range(5_000)]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "v", "r"])
        writer.writerows(rows)
    psql(db, f"\\copy t (id, v, r) FROM '{path}' WITH (FORMAT csv, HEADER match)")
    back = tmp_path / "back.csv"
    psql(db, f"\\copy (SELECT id, v, r FROM t ORDER BY id) TO '{back}' CSV HEADER")
    with open(back, newline="") as file:
        got = list(csv.reader(file))
    assert got[0] == ["id", "v", "r"]
    assert [[i, v, float(r)] for i, v, r in got[1:]] == [[i, v, float(r)] for i, v, r in rows]


def test_psql_script(db):
    """As dumps have it: the data among the statements, up to the end's mark."""
    script = "COPY t (id, v) FROM stdin;\n1\ta\\tb\n2\t\\\\N\n\\.\nSELECT v FROM t WHERE id = 2;\nCOPY t (id, v) TO stdout;\n"
    done = subprocess.run(
        ["psql", "-X", "-q", "-At", "-h", db.directory, "-U", "tester", "-d", db.name], input=script, text=True,
        capture_output=True, timeout=30)
    assert done.stdout == "\\N\n1\ta\\tb\n2\t\\\\N\n" and done.stderr == ""


def test_psql_shows_where_the_error_is(db):
    done = psql(db, "COPY t (id, v) FROM STDIN", stdin="1\ta\nx\tb\n\\.\n", check=False)
    assert done.returncode == 1
    assert 'ERROR:  invalid input syntax for type bigint: "x"' in done.stderr
    assert 'CONTEXT:  COPY t, line 2, column id: "x"' in done.stderr


def test_psql_copy_out_of_a_view_and_of_rows_just_written(db):
    psql(db, "CREATE VIEW short AS SELECT id, v FROM t")
    done = psql(db, "COPY (INSERT INTO t (id, v) VALUES (1, 'x'), (2, 'y') RETURNING id, v) TO STDOUT", "COPY short TO STDOUT CSV")
    assert done.stdout == "1\tx\n2\ty\n1,x\n2,y\n"
    psql(db, "DROP VIEW short")
