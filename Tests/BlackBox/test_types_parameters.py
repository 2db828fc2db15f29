"""What a parameter is that comes without a type: the statement's program says it, or the value is refused."""

import asyncio

import asyncpg
import psycopg
import pytest
from psycopg import errors

import wire
from types_fixtures import client, parameter_types, result_types  # noqa: F401 (fixtures)

DATE, TIMESTAMP, UUID, JSON = 1082, 1114, 2950, 114

SCHEMA = """
    DROP VIEW IF EXISTS sums; DROP TABLE IF EXISTS p; DROP TABLE IF EXISTS w; DROP TABLE IF EXISTS g; DROP TABLE IF EXISTS checked;
    CREATE TABLE p (id INTEGER PRIMARY KEY, n INTEGER, r REAL, t TEXT, x, b BLOB, d NUMERIC(10, 2), f BOOLEAN, day DATE,
                    at DATETIME, u UUID, j JSON, odd STRANGE);
    CREATE INDEX p_t ON p (t, day); CREATE INDEX p_x ON p (x);
    CREATE TABLE checked (f BOOLEAN CHECK (f IN (0, 1)), b BLOB CHECK (length(b) < 9), n INTEGER CHECK (n > 0));
    CREATE TABLE w (a TEXT, k INTEGER, v TEXT, PRIMARY KEY (k, a)) WITHOUT ROWID;
    CREATE TABLE g (virtual INTEGER AS (n + 1), n INTEGER, f BOOLEAN);
    CREATE VIEW sums AS SELECT t, sum(n) AS total, t || '!' AS loud FROM p GROUP BY t;
    INSERT INTO p (id, n, r, t, x) VALUES (1, 10, 1.5, '10', 10), (2, 20, 2.5, 'b', '10'), (3, 3, 3.5, 'b', NULL);
"""


@pytest.fixture
def db(shared):
    shared.run(SCHEMA)
    return shared


# The table of silently wrong answers: each of these once gave no row, or a wrong one, for a number sent as text.

RIGHT = [
    ("SELECT id FROM p WHERE n = $1", "10", [1]),
    ("SELECT id FROM p WHERE n + 0 = $1", "10", [1]),
    ("SELECT sum(n) = $1 FROM p", "33", [True]),
    ("SELECT max(n) = $1 FROM p", "20", [True]),
    ("SELECT n * 1 = $1 FROM p WHERE id = 1", "10", [True]),
    ("SELECT t FROM p GROUP BY t HAVING count(*) > $1", "1", ["b"]),
    ("SELECT CASE WHEN $1 > 5 THEN 'more' ELSE 'less' END", "3", ["less"]),
    ("SELECT total FROM sums WHERE total > $1", "15", [23]),
    ("SELECT x FROM (SELECT count(*) AS x FROM p) WHERE x = $1", "3", [3]),
    ("SELECT id FROM p WHERE n + 0 IN ($1, 999, 998, 997)", "20", [2]),
    ("SELECT id FROM p WHERE coalesce(n, 0) = $1", "20", [2]),
    ("SELECT id FROM p WHERE length(t) = $1 AND id < 2", "2", [1]),
    ("SELECT id FROM p WHERE CASE WHEN id > 0 THEN n ELSE 0 END = $1", "20", [2]),
    ("SELECT id FROM p WHERE (SELECT max(n) FROM p) = $1 ORDER BY id LIMIT 1", "20", [1]),
    ("SELECT c FROM (SELECT id, row_number() OVER (ORDER BY n) AS c FROM p) WHERE c = $1", "2", [2]),
    ("SELECT id FROM p WHERE rowid = $1", "2", [2]),
    ("SELECT id FROM p WHERE abs(n) BETWEEN $1 AND 15", "5", [1]),
]

UNDECIDED = [
    ("SELECT json_extract('{\"a\":1}', '$.a') = $1", "1"),
    ("SELECT max($1, 5)", "3"),
    ("SELECT id FROM p WHERE x = $1", "10"),
    ("SELECT id FROM p WHERE x IN ($1, 1, 2, 3)", "10"),
    ("INSERT INTO p (x) VALUES ($1)", "10"),
    ("UPDATE p SET x = $1", "10"),
    ("SELECT id FROM p WHERE t = $1 AND length(t) > $1", "1"),
    ("SELECT $1 = $2", "1"),
]


@pytest.mark.parametrize("sql, value, want", RIGHT)
def test_numbers_as_text(client, sql, value, want):
    assert [row[0] for row in client.extended(sql, [value]).check().texts] == ["t" if w is True else str(w) for w in want]


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
@pytest.mark.parametrize("sql, value, want", RIGHT)
def test_psycopg(db, sql, value, want, binary):
    """Strings come without a type in text, and as text in binary; numbers come typed."""
    with psycopg.connect(host=str(db.directory), dbname=db.name, user="tester", autocommit=True) as connection:
        for parameter in [value, int(value)]:
            for place in ["%s", "%t", "%b"]:
                cursor = connection.cursor(binary=binary)
                got = cursor.execute(sql.replace("$1", place), [parameter]).fetchall()
                assert got == [(w,) for w in want], (place, parameter)


def test_asyncpg(db):
    async def work():
        connection = await asyncpg.connect(host=str(db.directory), database=db.name, user="tester")
        for sql, value, want in RIGHT:
            assert [row[0] for row in await connection.fetch(sql, int(value))] == want, sql
        for sql, _ in UNDECIDED:
            with pytest.raises(asyncpg.IndeterminateDatatypeError):
                await connection.prepare(sql)
        assert await connection.fetchval("SELECT max($1::int8, 5)", 3) == 5
        await connection.close()

    asyncio.run(work())


@pytest.mark.parametrize("sql, value", UNDECIDED)
@pytest.mark.parametrize("format", [0, 1])
def test_undecided(client, sql, value, format):
    count = 2 if "$2" in sql else 1
    reply = client.extended(sql, [value] * count, formats=[format])
    assert reply.state == "42P18" and "$1::int8" in reply.error["H"]
    assert client.ask(wire.parse(sql), wire.describe_statement()).state == "42P18"
    # NULL is NULL whatever its type would be.
    client.extended(sql, [None] * count).check()
    # The client's word, the text's and the setting decide.
    client.extended(sql, [value] * count, types=[wire.TEXT] * count).check()
    client.extended(sql.replace("$1", "$1::int8").replace("$2", "$2::int8"), [value] * count).check()
    for setting in ["text", "number"]:
        client.query(f"SET untyped_parameters = {setting}").check()
        assert client.value("SHOW untyped_parameters") == setting
        client.extended(sql, [value] * count, formats=[0]).check()


def test_untyped_parameters_setting(client):
    assert client.value("SHOW untyped_parameters") == "error"
    assert client.query("SET untyped_parameters = maybe").state == "22023"
    sql = "SELECT typeof(x) FROM p WHERE x = $1"
    client.query("SET untyped_parameters = text").check()
    assert client.extended(sql, ["10"]).value == "text"
    client.query("SET untyped_parameters = number").check()
    assert client.extended(sql, ["10"]).value == "integer"
    client.extended("INSERT INTO p (id, x) VALUES (7, $1)", ["no number"]).check()
    assert client.value("SELECT x FROM p WHERE id = 7") == "no number"


def test_a_column_and_a_function_of_any_number_of_arguments(client):
    """The column's affinity would convert the text; max() does not."""
    assert client.extended("SELECT max($1, 5) FROM p WHERE n = $1", ["3"]).check().texts == [("5",)]
    assert client.extended("SELECT max($1, 5) FROM p WHERE n = $1", ["abc"]).state == "22P02"
    assert client.extended("SELECT min($1, 'b') FROM p WHERE t = $1", ["10"]).check().texts == [("10",)]


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


@pytest.mark.parametrize("type, value", [(DATE, "yesterday"), (TIMESTAMP, "2024-13-01 00:00:00"), (DATE, "0044-03-15 BC")])
def test_not_a_date(client, type, value):
    assert client.extended("UPDATE p SET day = $1", [value], types=[type]).state == "22007"


def test_misfit_for_a_number(client):
    assert client.extended("SELECT count(*) > $1 FROM p", ["abc"]).state == "22P02"
    assert client.extended("SELECT count(*) > $1 FROM p", ["abc"], types=[wire.TEXT]).state == "22P02"
    assert client.extended("SELECT id FROM p WHERE n = $1", ["abc"]).check().rows == []


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


# What is announced


@pytest.mark.parametrize(
    "sql, types",
    [
        ("SELECT 1 FROM p WHERE id=$1 AND n=$2 AND r=$3 AND t=$4 AND b=$5 AND d=$6 AND f=$7 AND day=$8 AND odd=$9",
         [20, 20, 701, 25, 17, 1700, 16, 25, 25]),
        ("INSERT INTO p (id, n, r, t, b, d, f, day) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
         [20, 20, 701, 25, 17, 1700, 16, 25]),
        ("INSERT INTO p (t, n) VALUES ($1, $2), ($3, $4)", [25, 20, 25, 20]),
        ("INSERT INTO p (id, n) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET t = $2, f = $3", [20, 25, 16]),
        ("INSERT INTO p (n) SELECT $1 WHERE $2 > 5", [20, 20]),
        ("UPDATE p SET f = $1, day = $2, n = n + $3 WHERE t = $4", [16, 25, 20, 25]),
        ("DELETE FROM p WHERE t IN ($1, $2, $3) RETURNING id", [25, 25, 25]),
        ("INSERT INTO w VALUES ($1, $2, $3)", [25, 20, 25]),
        ("SELECT v FROM w WHERE k = $1 AND a > $2", [20, 25]),
        ("INSERT INTO g (n, f) VALUES ($1, $2)", [20, 16]),
        ("SELECT 1 FROM g WHERE virtual = $1 AND f = $2", [20, 16]),
        ("SELECT id FROM p LIMIT $1 OFFSET $2", [20, 20]),
        ("SELECT id FROM p WHERE t LIKE $1 AND t || $2 = $3 AND upper($4) = t", [25, 25, 25, 25]),
        ("SELECT n + $1, r * $2, n & $3, -$4 FROM p", [20, 701, 20, 20]),
        ("SELECT CAST($1 AS INTEGER), CAST($2 AS TEXT), CAST($3 AS REAL), CAST($4 AS BLOB)", [20, 25, 701, 17]),
        ("SELECT id FROM p WHERE $1 IS NULL OR n = $1", [20]),
        ("SELECT id FROM p WHERE n BETWEEN $1 AND $2 AND day BETWEEN $3 AND $4", [20, 20, 25, 25]),
        ("SELECT coalesce($1, n), coalesce($2, 'x'), ifnull($3, r) FROM p", [20, 25, 701]),
        ("WITH c AS (SELECT t AS name, avg(n) AS mean FROM p GROUP BY t) SELECT 1 FROM c WHERE name = $1 AND mean < $2",
         [25, 701]),
        ("SELECT value FROM json_each($1)", [25]),
        ("SELECT $1", [25]),
        ("SELECT name FROM sqlite_schema WHERE name = $1 AND rootpage > $2", [25, 20]),
        ("SELECT p.id FROM p JOIN w ON w.k = p.n WHERE w.a = $1 AND p.f = $2", [25, 16]),
        ("SELECT $1::int4, $2::uuid, $3::_int8", [23, UUID, 1016]),
        # What RETURNING, or a CHECK, does with a column's value says nothing of the parameter.
        ("INSERT INTO p (b) VALUES ($1) RETURNING length(b)", [17]),
        ("UPDATE p SET b = $1 RETURNING length(b), substr(b, 1, 2), b = x'00', b || 'x', hex(b), b", [17]),
        ("INSERT INTO p (id, b) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET b = $2 RETURNING upper(b)", [17, 17]),
        ("INSERT INTO checked (f, b, n) VALUES ($1, $2, $3) RETURNING NOT f, length(b), n + 1", [16, 17, 20]),
        ("UPDATE p SET f = $1 RETURNING NOT f", [16]), ("INSERT INTO p (f) VALUES ($1) RETURNING CASE WHEN f THEN 1 ELSE 0 END", [16]),
        ("UPDATE p SET f = $1, n = $2 WHERE id = $3 RETURNING f AND n > 1, length(n), n * 2, n || 'x'", [16, 20, 20]),
        ("INSERT INTO p (t, d) VALUES ($1, $2) RETURNING length(t), t + 1, d * 2", [25, 1700]),
        ("SELECT 1 FROM p WHERE n = ANY($1) OR t <> ALL($2) OR r = ANY ($3) OR f = ANY($4) OR d = ANY($5)", [1016, 1009, 1022, 1000, 1231]),
        ("SELECT 1 FROM p WHERE day = ANY($1) AND u = ANY($2) AND x = ANY($3) AND b = ANY($4)", [1009, 1009, 25, 25]),
        ("SELECT t FROM p GROUP BY t HAVING count(*) = ANY($1) AND max(n) <> ALL($2)", [1016, 1016]),
        ("UPDATE p SET n = $1 WHERE id = ANY($2)", [20, 1016]), ("DELETE FROM p WHERE n + 1 = ANY($1) AND n = $2", [1016, 20]),
        ("SELECT 1 FROM p WHERE n = ANY($1) OR t = ANY($1)", [1009]), ("SELECT 1 FROM p WHERE n = ANY($1::int4[])", [1007]),
        ("SELECT $1::int8 - $2, $3::float8 * $4", [20, 20, 701, 701]),
        ("SELECT n FROM p UNION SELECT $1", [20]),
        ("SELECT n FROM p ORDER BY t = $1, n % $2", [25, 20]),
    ],
)
def test_announced(client, sql, types):
    assert client.ask(wire.parse(sql), wire.describe_statement()).check().of("t")[0].types == types


def test_announced_as_declared(client):
    sql = "SELECT 1 FROM p WHERE day = $1 AND at = $2 AND u = $3 AND j = $4 AND d = $5"
    assert client.ask(wire.parse(sql), wire.describe_statement()).of("t")[0].types == [25, 25, 25, 25, 1700]
    client.query("SET result_typing = declared").check()
    assert client.ask(wire.parse(sql), wire.describe_statement()).of("t")[0].types == [DATE, TIMESTAMP, UUID, JSON, 1700]
    assert parameter_types(client, "SELECT 1 FROM p WHERE day = ANY($1) AND u <> ALL($2)") == [1182, 2951]


def test_the_clients_types_count(client):
    reply = client.ask(wire.parse("SELECT id FROM p WHERE n = $1 AND t = $2", types=[wire.INT2, 0]), wire.describe_statement())
    assert reply.of("t")[0].types == [wire.INT2, wire.TEXT]


@pytest.mark.parametrize("sql, sent, rows", [
    ("SELECT id FROM p WHERE n = ANY($1)", ["{10,3}", '{"10","3"}', "[10, 3]", '["10", "3"]'], ["1", "3"]),
    ("SELECT id FROM p WHERE n <> ALL($1)", ["{10,3}", "[10, 3]"], ["2"]),
    ("SELECT id FROM p WHERE n + 0 = ANY($1)", ["{10,3}", '{"10",NULL,"3"}', "[10, 3]"], ["1", "3"]),
    ("SELECT id FROM p WHERE t = ANY($1)", ["{10,x}", '["10"]'], ["1"]), ("SELECT id FROM p WHERE n = ANY($1)", ["{}", "[]", None], []),
])
def test_arrays_without_a_type(client, sql, sent, rows):
    for value in sent:
        assert [row[0] for row in client.extended(sql, [value]).check().texts] == rows, value
    if "n " in sql:
        assert client.extended(sql, ["{10,ten}"]).state == "22P02"


def test_asyncpg_arrays_without_a_type(db):
    async def work():
        connection = await asyncpg.connect(host=str(db.directory), database=db.name, user="tester")
        assert [row[0] for row in await connection.fetch("SELECT id FROM p WHERE n = ANY($1)", [10, 3])] == [1, 3]
        assert [row[0] for row in await connection.fetch("SELECT id FROM p WHERE t <> ALL($1)", ["b", "it's {\"x\"}"])] == [1]
        assert await connection.fetch("SELECT id FROM p WHERE n = ANY($1)", None) == []
        await connection.close()

    asyncio.run(work())


def test_bytes_and_truths_that_returning_calculates_with(client):
    reply = client.extended("INSERT INTO p (b, f) VALUES ($1, $2) RETURNING length(b), NOT f, typeof(b), typeof(f)", ["\\x00ff", "t"])
    assert reply.check().texts == [("2", "f", "blob", "integer")]
    reply = client.extended("UPDATE p SET n = $1 WHERE id = 1 RETURNING n + 1, length(n)", ["12"])
    assert reply.check().texts == [("13", "2")]
    assert client.extended("UPDATE p SET n = $1 WHERE id = 1 RETURNING n + 1", ["twelve"]).state == "22P02"
    # Two values of one parameter: bytes, and what the column makes of a text.
    assert client.extended("UPDATE p SET b = $1, t = $1", ["x"]).state == "42P18"


# Where a column converts, a text is taken as the literal would be


@pytest.mark.parametrize(
    "column, value, stored",
    [("n", "12", "integer"), ("n", "1.5", "real"), ("n", "abc", "text"), ("r", "3", "real"), ("t", "12", "text"),
     ("d", "1.50", "real"), ("f", "t", "integer"), ("f", "false", "integer"), ("day", "2024-02-29", "text"),
     ("b", "\\x00ff", "blob"), ("odd", "7", "integer"), ("odd", "seven", "text")],
)
def test_stored_by_affinity(client, column, value, stored):
    client.extended(f"INSERT INTO p (id, {column}) VALUES (100, $1)", [value]).check()
    assert client.value(f"SELECT typeof({column}) FROM p WHERE id = 100") == stored
    assert client.extended(f"SELECT id FROM p WHERE {column} = $1", [value]).value == "100"


def test_not_a_boolean(client):
    assert client.extended("INSERT INTO p (f) VALUES ($1)", ["maybe"]).state == "22P02"


def test_types_follow_the_schema(client, db):
    sql = "SELECT 1 FROM changing WHERE c = $1"
    for declared, oid in [("INTEGER", 20), ("TEXT", 25), ("BOOLEAN", 16)]:
        db.run("DROP TABLE IF EXISTS changing", f"CREATE TABLE changing (c {declared})")
        assert client.ask(wire.parse(sql), wire.describe_statement()).of("t")[0].types == [oid]


def test_many_rows_of_values(client):
    rows = ", ".join(f"(${2 * n + 1}, ${2 * n + 2})" for n in range(500))
    reply = client.ask(wire.parse(f"INSERT INTO p (t, f) VALUES {rows}"), wire.describe_statement()).check()
    assert reply.of("t")[0].types == [25, 16] * 500


def test_thousands_of_parameters(client):
    """Rows that look like the first are not analysed, and have its types; those that do not are."""
    def rows(count, row=lambda n: f"(${2 * n + 1}, ${2 * n + 2})"):
        return ", ".join(row(n) for n in range(count))

    assert parameter_types(client, f"INSERT INTO p (t, f) VALUES {rows(5000)}") == [25, 16] * 5000
    odd = rows(100, lambda n: f"(${2 * n + 1}, ${2 * n + 2})" if n != 50 else f"(${2 * n + 1} || 'x', ${2 * n + 2}::int8)")
    assert parameter_types(client, f"INSERT INTO p (t, f) VALUES {odd}") == [25, 16] * 50 + [25, 20] + [25, 16] * 49
    many = ", ".join(f"${n + 1}" for n in range(5000))
    assert parameter_types(client, f"SELECT id FROM p WHERE n IN ({many})") == [20] * 5000
    assert parameter_types(client, f"SELECT id FROM p WHERE n + 0 IN ({many})") == [20] * 5000
    typed = ", ".join(f"${n + 1}::int4" for n in range(500))
    assert parameter_types(client, f"SELECT id FROM p WHERE x IN ({typed})") == [23] * 500
    # A parameter that stands in another place, too, is looked at in both.
    again = parameter_types(client, f"SELECT id FROM p WHERE n IN ({many}) AND t = $4000 || ''")
    assert again == [20] * 3999 + [25] + [20] * 1000
    values = [str(n) for n in range(1000)]
    assert client.extended(f"SELECT id FROM p WHERE n + 0 IN ({', '.join(f'${n + 1}' for n in range(1000))}) ORDER BY id",
                           values).check().texts == [("1",), ("2",), ("3",)]
    client.extended(f"INSERT INTO p (id, n) VALUES {rows(300, lambda n: f'(${2 * n + 1}, ${2 * n + 2})')}",
                    [str(100 + n // 2) if n % 2 == 0 else str(n) for n in range(600)]).check()
    assert client.value("SELECT count(*) FROM p WHERE typeof(n) = 'integer' AND n = 2 * (id - 100) + 1 AND id >= 100") == "300"


@pytest.mark.parametrize(
    "bad, state", [("$0", "42P02"), ("$70000", "42P02"), (":a", "42P02"), ("$900", "42P18"), ("$1::nothing", "42704"), ("$1::int8, $1::text", "42P08")])
def test_mistakes_among_many_parameters(client, bad, state):
    many = ", ".join(f"${n + 1}" for n in range(300))
    assert client.ask(wire.parse(f"SELECT id FROM p WHERE n IN ({many}, {bad})"), wire.sync()).state == state


def test_text_with_nul(client):
    for oid, format in [(wire.TEXT, 0), (wire.TEXT, 1), (0, 0), (wire.VARCHAR, 1), (JSON, 1)]:
        assert client.extended("SELECT id FROM p WHERE t = $1", [b"a\0b"], types=[oid], formats=[format]).state == "22021"


def test_sql_prepare(client):
    client.query("PREPARE s AS SELECT typeof(x) FROM p WHERE x = $1").check()
    assert client.value("EXECUTE s(10)") == "integer"
    assert client.value("EXECUTE s('10')") == "text"


@pytest.mark.parametrize("text, stored", [
    # To SQLite's affinity these are numbers, and were stored as 1.23456789012346e+31, 3 and infinity.
    ("12345678901234567890123456789012", "12345678-9012-3456-7890-123456789012"),
    ("00000000000000000000000000000003", "00000000-0000-0000-0000-000000000003"),
    ("0000000000000000000000000001e500", "00000000-0000-0000-0000-00000001e500"),
    # What is none stays what it was.
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


@pytest.mark.parametrize("text, kind", [
    ("7", "integer"), ("-7.5e3", "real"), (".5", "real"), ("0x1A", "text"), ("inf", "text"), ("nan", "text"), ("Infinity", "text"), ("1e", "text")])
def test_what_looks_like_a_number(client, text, kind):
    client.query("SET untyped_parameters = number").check()
    assert client.extended("SELECT typeof($1)", [text.encode()]).check().value == kind
    client.query("SET untyped_parameters = error").check()


def test_a_time_by_its_long_name_and_an_array_by_its_own(client):
    client.query("CREATE TABLE IF NOT EXISTS named (a TIME WITHOUT TIME ZONE, b INTEGER[], c TEXT[])").check()
    client.query("DELETE FROM named; INSERT INTO named VALUES ('03:04:05', '[1, 2]', '[\"x\"]')").check()
    client.query("SET result_typing = declared").check()
    reply = client.query("SELECT a, b, c FROM named").check()
    assert reply.texts == [("03:04:05", "[1, 2]", '["x"]')]
    assert result_types(client, "SELECT a FROM named") == [1083]
    client.query("SET result_typing = stored").check()
    assert client.query("SELECT a, b, c FROM named").check().texts == [("03:04:05", "[1, 2]", '["x"]')]


def test_what_the_statement_calls_a_text_is_one(client):
    """Where a number is expected, too: the statement's own word counts, the driver's does not."""
    assert client.extended("SELECT typeof($1::text), n + 0 = $1::text FROM p WHERE id = 1", [b"10"]).check().texts == [("text", "f")]
    assert client.extended("SELECT n + 0 = $1 FROM p WHERE id = 1", [b"10"], types=[25]).check().value == "t"


UNTYPED = [("u UUID", "00000000000000000000000000000002", "00000000-0000-0000-0000-000000000002"), ("d DATE", "2024-01-02 +01", "2024-01-02")]


@pytest.mark.parametrize("column, text, stored", UNTYPED)
def test_a_text_is_taken_for_what_its_column_is(client, column, text, stored):
    """In both formats; and a text of digits is a UUID, whatever type the driver gives it."""
    client.query(f"DROP TABLE IF EXISTS one; CREATE TABLE one ({column})").check()
    for formats in [[], [1]]:
        for type in [0, wire.TEXT, 1043] if "UUID" in column else [0]:
            client.ask(wire.parse("INSERT INTO one VALUES ($1)", types=[type]), wire.bind([text], formats=formats), wire.execute()).check()
    assert set(client.query("SELECT *, typeof(one.rowid) FROM one").check().texts) == {(stored, "integer")}


def test_an_untyped_list_in_binary(client):
    for formats in [[], [1]]:
        reply = client.ask(wire.parse("SELECT count(*) FROM p WHERE n = ANY ($1)"), wire.bind(["{10,20}"], formats=formats), wire.execute())
        assert reply.check().texts == [("2",)]


@pytest.mark.parametrize("columns", ["b BLOB, x TEXT", "b BLOB, x DATE", "b BLOB, x INTEGER", "b, x INTEGER", "b, x REAL"])
def test_one_value_for_columns_of_different_kinds(client, columns):
    """Bytes in a text's column, or 7 for '007': as in PostgreSQL it must be said what it is. What the client says holds."""
    client.query(f"DROP TABLE IF EXISTS kinds; CREATE TABLE kinds ({columns})").check()
    sql = "INSERT INTO kinds (b, x) VALUES ($1, $1)"
    assert client.extended(sql, ["007"]).state == "42P18"
    assert client.value("SELECT count(*) FROM kinds") == "0"
    client.extended(sql, ["007"], types=[wire.TEXT]).check()
    assert client.query("SELECT typeof(b), CAST(b AS TEXT) FROM kinds").check().texts == [("text", "007")]
    client.extended(sql, [None]).check()


@pytest.mark.parametrize("sql", [
    "INSERT INTO kv VALUES (1, $1) RETURNING coalesce(v, 0)",
    "INSERT INTO kv VALUES (0, $1) ON CONFLICT (k) DO UPDATE SET v = excluded.v WHERE kv.v + 0 <> $1",
    "WITH c(a) AS (VALUES ($1)) INSERT INTO kv SELECT 3, a FROM c WHERE a <> 5",
    "INSERT INTO kv VALUES (0, $1) ON CONFLICT (k) DO UPDATE SET v = v + $1 RETURNING 'counted'"])
def test_what_is_stored_without_a_type_stays_a_text(client, sql):
    client.query("DROP TABLE IF EXISTS kv; CREATE TABLE kv (k PRIMARY KEY, v); INSERT INTO kv VALUES (0, 0)").check()
    for text in ["007", "1e3", "abc"]:
        client.query("DELETE FROM kv WHERE k <> 0; UPDATE kv SET v = 0").check()
        client.extended(sql, [text.encode()], types=[wire.TEXT]).check()
        if "counted" not in sql:
            assert client.value(f"SELECT count(*) FROM kv WHERE v = '{text}' OR (k = 0 AND v = 0)") in ("1", "2")
            assert client.value("SELECT count(*) FROM kv WHERE v > 0 AND typeof(v) <> 'text'") == "0"
    # Without a type nothing decides, except that it is counted with.
    client.query("DELETE FROM kv WHERE k <> 0; UPDATE kv SET v = 0").check()
    reply = client.extended(sql, [b"5"])
    if "counted" in sql:
        assert reply.check() and client.value("SELECT v FROM kv") == "5"
    else:
        assert reply.state == "42P18"


@pytest.mark.parametrize("type, sent, received, oid", [(17, b"\\x6100", "\\x6100", 17), (20, b"5", "5", 20), (701, b"1.5", "1.5", 701), (25, b"x", "x", 25)])
def test_a_parameter_given_back_is_what_it_was(client, type, sent, received, oid):
    client.query("DROP TABLE IF EXISTS kv; CREATE TABLE kv (k PRIMARY KEY, v)").check()
    for sql in ["SELECT $1", "INSERT INTO kv VALUES (1, $1) RETURNING v", "UPDATE kv SET v = $1 RETURNING v"]:
        reply = client.ask(wire.parse(sql, types=[type]), wire.describe_statement(), wire.bind([sent]), wire.execute()).check()
        assert (reply.of("T")[-1].columns[0].type, reply.texts) == (oid, [(received,)]), sql
        client.query("DELETE FROM kv WHERE k = 1 AND " + str(int("INSERT" in sql))).check()
        reply = client.extended(sql, [sent], [type]).check()
        assert reply.texts[0] == (received,)

def test_updates_of_many_rows_at_once(client):
    """A parameter and a jump for each of them."""
    client.query("DROP TABLE IF EXISTS many; CREATE TABLE many (id INTEGER PRIMARY KEY, name TEXT, n INTEGER)").check()
    rows = 1000
    client.query("INSERT INTO many SELECT value, 'old', 0 FROM generate_series(1, 1000)").check()
    whens = " ".join(f"WHEN id = ${2 * row + 1} THEN ${2 * row + 2}" for row in range(rows))
    sql = f"UPDATE many SET name = CASE {whens} ELSE name END"
    assert parameter_types(client, sql) == [20, 25] * rows
    values = [str(value).encode() for row in range(rows) for value in (row + 1, row % 7)]
    assert client.extended(sql, values).check().tag == "UPDATE 1000"
    assert client.value("SELECT count(*) FROM many WHERE name = CAST((id - 1) % 7 AS TEXT)") == "1000"
    pairs = " OR ".join(f"(id = ${2 * row + 1} AND name = ${2 * row + 2})" for row in range(900))
    assert parameter_types(client, f"SELECT id FROM many WHERE {pairs}") == [20, 25] * 900


@pytest.mark.parametrize("sql, oid", [
    ("UPDATE forms SET t = nullif($1, '')", 25), ("UPDATE forms SET t = coalesce(nullif($1, ''), t)", 25),
    ("UPDATE forms SET n = nullif($1, 0)", 20), ("SELECT nullif(t, $1) FROM forms", 25), ("SELECT nullif(n, $1) FROM forms", 20),
    ("SELECT 1 FROM forms WHERE n = nullif($1, 0)", 20), ("SELECT nullif($1, '')", 25)])
def test_an_empty_field_of_a_form(client, sql, oid):
    client.query("DROP TABLE IF EXISTS forms; CREATE TABLE forms (t TEXT, n INTEGER); INSERT INTO forms VALUES ('x', 1)").check()
    assert parameter_types(client, sql) == [oid]
    client.extended(sql, [b"0" if oid == 20 else b""]).check()
    if sql.startswith("UPDATE"):
        assert client.query("SELECT count(*) FROM forms WHERE t = '' OR n = 0").check().texts == [("0",)]


@pytest.mark.parametrize("sql", ["nullif($1, '')", "coalesce(nullif($1, ''), NULL)", "CASE WHEN $1 = '' THEN NULL ELSE $1 END"])
def test_a_text_is_no_truth_and_its_bytes_are_bytes(client, sql):
    """A text in a BOOLEAN column is an error to everybody who reads it."""
    client.query("DROP TABLE IF EXISTS forms; CREATE TABLE forms (f BOOLEAN, b BLOB)").check()
    assert client.extended(f"INSERT INTO forms (f) VALUES ({sql})", [b"t"]).state == "42P18"
    client.extended(f"INSERT INTO forms (b) VALUES ({sql})", [b"t"]).check()
    assert client.query("SELECT * FROM forms").check().texts == [(None, "\\x74")]
