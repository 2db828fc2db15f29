"""Every table and view of Chinook and Northwind, value by value and type by type as Python's sqlite3 reads them."""

import asyncio
import sqlite3
import subprocess

import asyncpg
import psycopg
import pytest

SAMPLES = ["chinook", "northwind"]


@pytest.fixture(scope="module")
def opened(samples):
    """Each sample opened by Python's sqlite3, with text as text."""
    databases = {name: sqlite3.connect(path) for name, path in samples.items()}
    yield databases
    for database in databases.values():
        database.close()


def objects(database):
    names = database.execute(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name")
    return [name for (name,) in names]


def select(name):
    quoted = name.replace('"', '""')
    return f'SELECT * FROM "{quoted}"'


def expected(database, name):
    """The rows with values of the class SQLite stores; what is announced as text comes as text."""
    cursor = database.execute(select(name))
    return [column[0] for column in cursor.description], cursor.fetchall()


def same(got, want):
    """A number in a column announced as text is its text, as SQLite spells it."""
    if got is None or want is None or isinstance(want, bytes):
        return got is want or (got == want and want is not None)
    if isinstance(got, bool):
        return got == bool(want)
    if isinstance(got, str) and not isinstance(want, str):
        return type(want)(got) == want
    return type(got) is type(want) and got == want


def compare(name, columns, rows, got_columns, got_rows, may_be_real=()):
    assert got_columns == columns, name
    assert len(got_rows) == len(rows), name
    for number, (got, want) in enumerate(zip(got_rows, rows)):
        for column, a, b in zip(columns, got, want):
            if column in may_be_real and isinstance(a, float):
                b = float(b)
            assert same(a, b), (name, number, column, a, b)


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
@pytest.mark.parametrize("sample", SAMPLES)
def test_psycopg(sample_daemons, opened, sample, binary):
    daemon, database = sample_daemons[sample], opened[sample]
    with psycopg.connect(host=str(daemon.directory), dbname=daemon.name, user="tester", autocommit=True) as connection:
        for name in objects(database):
            cursor = connection.cursor(binary=binary).execute(select(name))
            compare(name, *expected(database, name), [c.name for c in cursor.description], cursor.fetchall())


@pytest.mark.parametrize("sample", SAMPLES)
def test_asyncpg(sample_daemons, opened, sample):
    daemon, database = sample_daemons[sample], opened[sample]

    async def work():
        connection = await asyncpg.connect(host=str(daemon.directory), database=daemon.name, user="tester")
        for name in objects(database):
            statement = await connection.prepare(select(name))
            rows = [tuple(row) for row in await statement.fetch()]
            # FirstName + ' ' + LastName is 0 in SQLite; before there is a row, a sum of texts may be a real.
            compare(name, *expected(database, name), [a.name for a in statement.get_attributes()], rows, ["Salesperson"])
        await connection.close()

    asyncio.run(work())


@pytest.mark.parametrize("sample", SAMPLES)
def test_psql(sample_daemons, opened, sample):
    daemon, database = sample_daemons[sample], opened[sample]
    for name in objects(database):
        columns, rows = expected(database, name)
        answer = subprocess.run(
            ["psql", "-X", "-A", "-R", "\x1e", "-F", "\x1f", "-P", "footer=off", "-P", "null=\x01", "-h", daemon.directory,
             "-U", "tester", "-d", daemon.name, "-c", select(name)], stdout=subprocess.PIPE, check=True).stdout
        lines = [line.split("\x1f") for line in answer.decode().removesuffix("\n").split("\x1e")]
        assert lines[0] == columns, name
        assert len(lines) - 1 == len(rows), name
        for got, want in zip(lines[1:], rows):
            for column, a, b in zip(columns, got, want):
                assert text_is(a, b), (name, column, a, b)


def text_is(text, value):
    if value is None:
        return text == "\x01"
    if isinstance(value, bytes):
        return text == "\\x" + value.hex()
    if isinstance(value, (int, float)):
        return type(value)(text) == value
    return text == value


@pytest.mark.parametrize("sample", SAMPLES)
def test_parameters_of_every_column(sample_daemons, opened, sample):
    """A row is found again by the text of each of its columns' values, sent without a type."""
    daemon, database = sample_daemons[sample], opened[sample]
    with daemon.client() as client:
        for name in objects(database):
            columns, rows = expected(database, name)
            is_view = database.execute("SELECT type FROM sqlite_schema WHERE name = ?", [name]).fetchone()[0] == "view"
            if not rows or is_view:
                continue
            for column, value in zip(columns, rows[0]):
                if value is None or isinstance(value, bytes):
                    continue
                sql = f'SELECT count(*) FROM "{name}" WHERE "{column}" = $1'
                want = database.execute(sql.replace("$1", "?"), [value]).fetchone()[0]
                assert client.extended(sql, [str(value)]).value == str(want), (name, column, value)
