"""COPY in binary of columns that are announced as what they are declared: `result_typing = declared`."""

import asyncio
import datetime
import decimal
import io
import uuid

import asyncpg
import pytest

MOMENT = datetime.datetime(2024, 1, 2, 3, 4, 5, 6)
ZONE = datetime.timezone(datetime.timedelta(hours=2))
# All of these bytes are letters: as a text they would be stored without a word.
LETTERS = uuid.UUID(bytes=b"ABCDEFGHIJKLMNOP")

COLUMNS = {
    "day": ("DATE", MOMENT.date(), "2024-01-02"),
    "at": ("DATETIME", MOMENT, "2024-01-02 03:04:05.000006"),
    "zoned": ("TIMESTAMPTZ", MOMENT.replace(tzinfo=ZONE), "2024-01-02 01:04:05.000006+00:00"),
    "time": ("TIME", MOMENT.time(), "03:04:05.000006"),
    "id": ("UUID", LETTERS, str(LETTERS)),
    "json": ("JSON", '{"a": 1}', '{"a": 1}'),
    "jsonb": ("JSONB", '{"a": 1}', '{"a": 1}'),
    "whole": ("NUMERIC", decimal.Decimal(12), "12"),
    "short": ("NUMERIC", decimal.Decimal("-1.25"), "-1.25"),
    "large": ("NUMERIC", decimal.Decimal("999999999999999000.00"), "999999999999999000"),
    "flag": ("BOOLEAN", True, "1"),
    "name": ("TEXT", "é", "é"),
}


def run(db, work):
    async def main():
        connection = await asyncpg.connect(
            host=str(db.directory), database=db.name, user="tester", server_settings={"result_typing": "declared"})
        try:
            await work(connection)
        finally:
            await connection.close()

    asyncio.run(main())


@pytest.fixture
def db(shared):
    shared.run("DROP TABLE IF EXISTS cd; CREATE TABLE cd (" + ", ".join(f"{n} {c[0]}" for n, c in COLUMNS.items()) + ")")
    return shared


def test_in_and_out(db):
    async def work(connection):
        row = tuple(value for _, value, _ in COLUMNS.values())
        nulls = tuple(None for _ in COLUMNS)
        await connection.copy_records_to_table("cd", records=[row, nulls] * 1000)
        casts = ", ".join(f"CAST({name} AS TEXT)" for name in COLUMNS)
        assert await connection.fetchval("SELECT count(*) FROM cd") == 2000
        stored = await connection.fetch(f"SELECT DISTINCT {casts} FROM cd WHERE flag")
        assert [tuple(r) for r in stored] == [tuple(text for _, _, text in COLUMNS.values())]
        assert tuple(await connection.fetchrow("SELECT * FROM cd WHERE flag LIMIT 1")) == row
        # What goes out comes in again.
        sink = io.BytesIO()
        await connection.copy_from_table("cd", output=sink, format="binary")
        await connection.execute("DELETE FROM cd")
        sink.seek(0)
        await connection.copy_to_table("cd", source=sink, format="binary")
        again = await connection.fetch(f"SELECT DISTINCT {casts} FROM cd WHERE flag")
        assert again == stored and await connection.fetchval("SELECT count(*) FROM cd") == 2000

    run(db, work)


@pytest.mark.parametrize("column, value", [("day", b"2024-01-02"), ("id", b"A" * 15), ("jsonb", b'{"a":1}'), ("short", b"1.5")])
def test_bytes_that_are_none(db, column, value):
    header = b"PGCOPY\n\xff\r\n\0" + bytes(8)
    data = header + b"\0\1" + len(value).to_bytes(4, "big") + value + b"\xff\xff"

    async def work(connection):
        with pytest.raises(asyncpg.InvalidBinaryRepresentationError) as raised:
            await connection.copy_to_table("cd", source=io.BytesIO(data), columns=[column], format="binary")
        assert f"column {column}" in raised.value.context
        assert await connection.fetchval("SELECT count(*) FROM cd") == 0

    run(db, work)


@pytest.mark.parametrize("column, value, state", [
    ("json", b'{"a":1', "22P02"), ("jsonb", b"\1nope", "22P02"), ("json", b"12345678901234567890", "22003"), ("jsonb", b"\x011e400", "22003"),
    ("json", b'"\xff"', "22021")])
def test_json_that_is_none(db, column, value, state):
    data = b"PGCOPY\n\xff\r\n\0" + bytes(8) + b"\0\1" + len(value).to_bytes(4, "big") + value + b"\xff\xff"

    async def work(connection):
        with pytest.raises(asyncpg.PostgresError) as raised:
            await connection.copy_to_table("cd", source=io.BytesIO(data), columns=[column], format="binary")
        assert raised.value.sqlstate == state and f"column {column}" in raised.value.context

    run(db, work)


def test_numbers_of_json(db):
    async def work(connection):
        await connection.copy_records_to_table("cd", records=[("1.50", "0.30000000000000004"), ("17", '"17"')], columns=["json", "jsonb"])
        assert [tuple(row) for row in await connection.fetch("SELECT json, jsonb FROM cd")] == [("1.5", "0.30000000000000004"), ("17", '"17"')]

    run(db, work)


@pytest.mark.parametrize("text", ["0.00000000000000000000000002463", "7.1046341E+30", "12345678901234567.5", "1E-400"])
def test_a_decimal_is_the_double_next_to_it(db, text):
    """SQLite would make another one of the text of some. A parameter finds it."""
    async def work(connection):
        value = decimal.Decimal(text)
        await connection.copy_records_to_table("cd", records=[(value,)], columns=["short"])
        assert await connection.fetchval("SELECT CAST(short AS REAL) FROM cd") == float(text)
        for column in ["short", "short + 0"]:
            assert await connection.fetchval(f"SELECT count(*) FROM cd WHERE {column} = $1", value) == 1, column

    run(db, work)
