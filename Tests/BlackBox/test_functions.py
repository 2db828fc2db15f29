"""Functions that users of PostgreSQL reach for."""

import hashlib
import pathlib
import re
import threading
import time
import uuid

import pytest

import wire
from daemon import eventually

VALUES = {
    "SELECT concat('a', NULL, 1, 'b')": "a1b",
    "SELECT concat_ws('-', 'a', NULL, 'b')": "a-b",
    "SELECT repeat('ab', 3)": "ababab",
    "SELECT repeat('ab', -1)": "",
    "SELECT lpad('7', 3, '0')": "007",
    "SELECT rpad('7', 3)": "7  ",
    "SELECT lpad('äöü', 2)": "äö",
    "SELECT split_part('a,b,c', ',', 2)": "b",
    "SELECT split_part('a,b,c', ',', -1)": "c",
    "SELECT split_part('a,b,c', ',', 9)": "",
    "SELECT strpos('hällo', 'llo')": "3",
    "SELECT starts_with('hello', 'he')": "t",
    "SELECT reverse('abä')": "äba",
    "SELECT lpad('ä', 6, 'öß€')": "öß€öß" + "ä",
    "SELECT rpad('ä', 4, 'öß€')": "ä" + "öß€",
    "SELECT lpad('abc', 0) || '.' || rpad('abc', -1) || '.' || lpad('abc', 5, '')": "..abc",
    "SELECT \"left\"('aä€😀', 2) || '.' || \"left\"('aä€😀', -1) || '.' || \"left\"('aä€😀', 9) || '.' || \"left\"('aä€😀', -9)": "aä.aä€.aä€😀.",
    "SELECT \"right\"('aä€😀', 2) || '.' || \"right\"('aä€😀', -1) || '.' || \"right\"('aä€😀', 9) || '.' || \"right\"('aä€😀', -9)": "€😀.ä€😀.aä€😀.",
    "SELECT strpos('aä€😀', '😀') || strpos('aä€😀', '') || strpos('', 'a') || strpos('ab', 'abc') || strpos('aaab', 'aab')": "41002",
    "SELECT char_length('aä€😀') || char_length('')": "40",
    "SELECT initcap('hello wORLD')": "Hello World",
    "SELECT char_length('äö')": "2",
    "SELECT greatest(1, NULL, 3, 2)": "3",
    "SELECT least('b', NULL, 'a')": "a",
    "SELECT greatest(9007199254740993, 9007199254740992)": "9007199254740993",
    "SELECT md5('')": hashlib.md5(b"").hexdigest(),
    "SELECT md5('The quick brown fox jumps over the lazy dog')": hashlib.md5(b"The quick brown fox jumps over the lazy dog").hexdigest(),
    "SELECT date_trunc('month', '2024-02-29 13:14:15.678')": "2024-02-01 00:00:00",
    "SELECT date_trunc('week', '2024-03-01')": "2024-02-26 00:00:00",
    "SELECT date_trunc('quarter', '2024-12-31T23:59:59Z')": "2024-10-01 00:00:00",
    "SELECT date_trunc('hour', '2024-02-29 13:14:15')": "2024-02-29 13:00:00",
    "SELECT CAST(date_part('dow', '2024-03-03') AS INTEGER)": "0",
    "SELECT CAST(date_part('epoch', '2001-09-09 01:46:40') AS INTEGER)": "1000000000",
    "SELECT CAST(date_part('doy', '2024-12-31') AS INTEGER)": "366",
    "SELECT group_concat(CAST(date_part('week', value) AS INTEGER)) FROM json_each('[\"2024-01-01\",\"2023-01-01\",\"2020-12-31\",\"2021-01-03\",\"2021-01-04\",\"2024-12-30\"]')": "1,52,53,53,1,1",
    "SELECT date_part('milliseconds', '2024-01-02 00:00:01.5') || date_part('millisecond', '2024-01-02 00:00:01.5')": "1500.01500.0",
    "SELECT date_part('hours', '2024-01-02 03:04:05') + date_part('weeks', '2024-01-08')": "5.0",
    "SELECT date_part('century', '0000-06-01') || date_part('isoyear', '0000-01-01') || date_part('millennium', '1000-01-01')": "-1.0-1.01.0",
    # A whole second has no fraction, as a parameter has none.
    "SELECT date_trunc('millisecond', '2024-01-01 00:00:00.0004') || date_trunc('milliseconds', '2024-01-01 00:00:00.0014')": "2024-01-01 00:00:002024-01-01 00:00:00.001000",
    "SELECT date_part('minute', '23:59') || date_part('millisecond', '00:00:00.5')": "59.0500.0",
    "SELECT string_agg(value, '-') FROM generate_series(1, 4)": "1-2-3-4",
    "SELECT hex(string_agg(CAST(x'ff' AS TEXT), '')) FROM generate_series(1, 2)": "FFFF",
    # As PostgreSQL 15 answers them for float8.
    "SELECT stddev(value), stddev_samp(value), variance(value), var_samp(value) FROM json_each('[1, 2, 4.5]')": ("1.8027756377319946", "1.8027756377319946", "3.25", "3.25"),
    "SELECT stddev_pop(value), var_pop(value) FROM json_each('[1, null, 2, 4.5]')": ("1.4719601443879744", "2.1666666666666665"),
    "SELECT stddev_pop(1), var_pop(1), stddev(1), var_samp(1)": ("0.0", "0.0", None, None),
    "SELECT stddev_pop(NULL), variance(value) FROM json_each('[]')": (None, None),
    "SELECT variance(value) FROM json_each('[1000000000001, 1000000000002, 1000000000003]')": "1.0",
    "SELECT var_pop(DISTINCT value) FROM json_each('[1, 1, 1, 3]')": "1.0",
    "SELECT bool_and(value > 1), bool_or(value > 1), every(value > 0) FROM json_each('[1, 2, null]')": ("f", "t", "t"),
    "SELECT bool_and(NULL), bool_or(value), every(value) FROM json_each('[]')": (None, None, None),
    "SELECT CAST(date_part('dow', '0000-01-01') AS INTEGER) - strftime('%w', '0000-01-01')": "0",
    "SELECT CAST(date_part('epoch', '0000-02-29') AS INTEGER) - CAST(strftime('%s', '0000-02-29') AS INTEGER)": "0",
    "SELECT date_trunc('week', '0000-01-01') = datetime('0000-01-01', '-5 days')": "t",
    "SELECT sum(value) FROM generate_series(10, 1, -3)": "22",
    "SELECT count(*) FROM generate_series(1, 0)": "0",
    "SELECT count(*) FROM generate_series(1.0, floor(3.5))": "3",
    "SELECT start || stop || step || value FROM generate_series('3', 4, 2)": "3423",
    "SELECT count(*) FROM generate_series(1, NULL)": "0",
    "SELECT max(value) FROM generate_series(9223372036854775806, 9223372036854775807)": "9223372036854775807",
    "SELECT current_database()": "app",
    "SELECT upper(current_schema())": "MAIN",
}


@pytest.mark.parametrize("sql", VALUES)
def test_value(shared, sql):
    answer = VALUES[sql]
    assert shared.run(sql).check().texts == [answer if isinstance(answer, tuple) else (answer,)]


@pytest.mark.parametrize("size", [0, 1, 55, 56, 63, 64, 65, 1000])
def test_md5_of_lengths(shared, size):
    assert shared.value(f"SELECT md5('{'x' * size}')") == hashlib.md5(b"x" * size).hexdigest()


ERRORS = {
    "SELECT repeat('x', 9223372036854775807)": "22001", "SELECT lpad('x', 2000000000, 'y')": "22001",
    "SELECT lpad('x', 9223372036854775807, 'äö')": "22001", "SELECT rpad('x', 40000000, 'ä')": "22001", "SELECT split_part('a', ',', 0)": "22023",
    "SELECT date_trunc('month', 'yesterday')": "22P02", "SELECT date_trunc('fortnight', '2024-01-01')": "22023",
    "SELECT date_part('year', '2024-02-30')": "22P02",
    # A unit that a time by itself has not got.
    "SELECT date_part('year', '03:04:05')": "22023", "SELECT date_trunc('hour', '03:04:05')": "22023",
    "SELECT date_part('hour', '3:04')": "22P02", "SELECT date_part('hour', '03:04:05x')": "22P02", "SELECT date_part('hour', '24:00')": "22P02",
    "SELECT * FROM generate_series(1, 5, 0)": "22023", "SELECT * FROM generate_series('2024-01-01', '2024-01-03')": "22023",
    "SELECT * FROM generate_series(1, 2.5)": "22023", "SELECT * FROM generate_series(1)": "42883",
    "SELECT current_setting('no_such_setting')": "42704",
    "SELECT stddev('1')": "42804", "SELECT bool_and('t')": "42804", "SELECT var_pop(x'00')": "42804", "SELECT stddev()": "42883",
}


@pytest.mark.parametrize("sql", ERRORS)
def test_errors(shared, sql):
    with shared.client() as client:
        error = client.query(sql).error
        assert error["C"] == ERRORS[sql] and error["M"]
        assert client.value("SELECT 1") == "1"


def test_a_field_of_no_number(shared):
    with shared.client() as client:
        assert client.query("SELECT split_part('a,b', ',', 0)").state == "22023"


def test_sessions_ask_about_themselves(shared):
    """Though they share connections."""
    with shared.client(user="anna") as anna, shared.client(user="bert") as bert:
        for _ in range(3):
            for client, name in ((anna, "anna"), (bert, "bert")):
                assert client.value("SELECT upper(current_user())") == name.upper()
                assert client.value("SELECT session_user() || '!'") == name + "!"
        assert anna.value("SELECT pg_backend_pid() + 0") != bert.value("SELECT pg_backend_pid() + 0")
        anna.query("SET application_name = 'one'").check()
        assert anna.value("SELECT current_setting('application_name') || ''") == "one"
        assert anna.value("SELECT length(version()) > 5") == "t"


def test_inside_a_table(shared):
    shared.run(
        "CREATE TABLE made (id TEXT PRIMARY KEY DEFAULT (gen_random_uuid()), at TEXT DEFAULT (now()), who TEXT DEFAULT (current_user()))",
        "CREATE INDEX made_hash ON made (md5(who))", "INSERT INTO made DEFAULT VALUES", "INSERT INTO made DEFAULT VALUES")
    with shared.client() as client:
        rows = client.query("SELECT id, at FROM made").texts
    assert len({row[0] for row in rows}) == 2
    assert all(uuid.UUID(row[0]).version == 4 for row in rows)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{6})?", row[1]) for row in rows)
    # Volatile functions may not stand in an index.
    with shared.client() as client:
        assert "non-deterministic" in client.query("CREATE INDEX no ON made (now())").error["M"]


def test_now_is_now(shared):
    assert abs(float(shared.value("SELECT CAST(date_part('epoch', now()) AS INTEGER)")) - time.time()) < 60


# pg_sleep


def test_sleep_ends(shared):
    assert shared.value("SELECT pg_sleep(0.01)") == ""
    assert shared.value("SELECT pg_sleep(-5)") == ""


def test_sleep_sees_a_timeout_and_a_cancel(shared):
    with shared.client() as client:
        client.query("SET statement_timeout = 50").check()
        assert client.query("SELECT pg_sleep(1000)").error["C"] == "57014"
    import psycopg

    with psycopg.connect(host=str(shared.directory), dbname=shared.name, user="tester", autocommit=True) as connection:
        asleep = threading.Event()
        outcome = []

        def sleep():
            asleep.set()
            try:
                connection.execute("SELECT pg_sleep(1000)")
            except psycopg.errors.QueryCanceled as error:
                outcome.append(error)

        thread = threading.Thread(target=sleep)
        thread.start()
        asleep.wait()
        eventually(lambda: (connection.cancel_safe(), bool(outcome))[1], "the cancel")
        thread.join()
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_sleepers_keep_nobody_waiting(shared):
    """More of them than there are threads that poll."""
    clients = [shared.client() for _ in range(6)]
    for client in clients:
        client.send(b"Q" + (4 + len(b"SELECT pg_sleep(1000)\0")).to_bytes(4, "big") + b"SELECT pg_sleep(1000)\0")
    with shared.client() as other:
        assert other.value("SELECT 1") == "1"
        other.query("CREATE TABLE IF NOT EXISTS awake (n INTEGER)").check()
    for client in clients:
        client.close()


def test_nobody_sleeps_long_on_the_writer(start_daemon):
    daemon = start_daemon(config="writer_idle_limit = \"1s\"\n")
    with daemon.client() as client:
        client.query("BEGIN; CREATE TABLE t (n INTEGER)").check()
        assert "keep the writer" in client.query("SELECT pg_sleep(60)").error["M"]
        client.query("ROLLBACK").check()
        assert client.query("BEGIN; CREATE TABLE t (n INTEGER); SELECT pg_sleep(0.01); ROLLBACK").check()


# Definitions


REFUSED = [
    "CREATE TABLE s (id SERIAL PRIMARY KEY)", "CREATE TABLE s (a TEXT, id bigserial)", "CREATE TABLE IF NOT EXISTS s (\"id\" smallserial)",
    "CREATE TABLE s (id INTEGER GENERATED ALWAYS AS IDENTITY)", "CREATE TABLE s (id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY)",
]
ACCEPTED = [
    "CREATE TABLE ok1 (serial TEXT)", "CREATE TABLE ok2 (id INTEGER PRIMARY KEY, \"bigserial\" INTEGER, c CHECK (c <> 'serial'))",
    "CREATE TABLE serial (a INTEGER, b GENERATED ALWAYS AS (a + 1))", "CREATE TABLE ok3 (a TEXT DEFAULT 'serial', b NUMERIC(8, 2))",
    "CREATE TABLE ok4 AS SELECT 1 AS serial", "CREATE TABLE ok5 (a DEFAULT CURRENT_TIMESTAMP, b DEFAULT (now()), c DEFAULT abc, d DEFAULT -1, e DEFAULT NULL CHECK (e > 0))",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_serial_is_refused_with_the_spelling(shared, sql):
    with shared.client() as client:
        error = client.query(sql).error
    assert error["C"] == "0A000" and "INTEGER PRIMARY KEY" in error["H"]


@pytest.mark.parametrize("sql", ["CREATE TABLE s (a TEXT, at TEXT DEFAULT now())", "CREATE TABLE s (n TEXT DEFAULT gen_random_uuid () NOT NULL)",
                                 "ALTER TABLE altered ADD COLUMN at TEXT DEFAULT now()"])
def test_a_default_without_parentheses(shared, sql):
    with shared.client() as client:
        error = client.query(sql).error
    assert error["C"] == "42601" and "DEFAULT (" in error["H"] and "CURRENT_TIMESTAMP" in error["H"]
    assert sql[int(error["P"]) - 1:].split("(")[0].strip() in ("now", "gen_random_uuid")


@pytest.mark.parametrize("sql", ACCEPTED)
def test_what_only_looks_like_it_is_not(shared, sql):
    shared.run(sql)


def test_serial_is_refused_in_alter(shared):
    shared.run("CREATE TABLE altered (a INTEGER)")
    with shared.client() as client:
        assert client.query("ALTER TABLE altered ADD COLUMN b SERIAL").error["C"] == "0A000"
        assert client.query("ALTER TABLE altered ADD c BIGSERIAL").error["C"] == "0A000"
        client.query("ALTER TABLE altered ADD COLUMN serial TEXT").check()


# One call each, with the parameters as a driver sends a string: without a type. What the function gives is known before it runs.
CALLS = {
    "now": ("now()", [], wire.TEXT), "clock_timestamp": ("clock_timestamp()", [], wire.TEXT), "statement_timestamp": ("statement_timestamp()", [], wire.TEXT),
    "transaction_timestamp": ("transaction_timestamp()", [], wire.TEXT), "date_trunc": ("date_trunc($1, $2)", ["month", "2024-05-06"], wire.TEXT),
    "date_part": ("date_part($1, $2)", ["year", "2024-05-06"], wire.FLOAT8), "gen_random_uuid": ("gen_random_uuid()", [], wire.TEXT),
    "extract": ("extract(year FROM $1)", ["2024-05-06"], wire.INT8), "md5": ("md5($1)", ["x"], wire.TEXT), "concat": ("concat($1, 1)", ["x"], wire.TEXT), "concat_ws": ("concat_ws($1, 1, 2)", [","], wire.TEXT),
    "repeat": ("repeat($1, $2)", ["x", "2"], wire.TEXT), "lpad": ("lpad($1, $2, $3)", ["x", "2", "y"], wire.TEXT), "rpad": ("rpad($1, $2)", ["x", "2"], wire.TEXT),
    "split_part": ("split_part($1, $2, $3)", ["a,b", ",", "2"], wire.TEXT), "strpos": ("strpos($1, $2)", ["ab", "b"], wire.INT8),
    "starts_with": ("starts_with($1, $2)", ["ab", "a"], wire.BOOL), "reverse": ("reverse($1)", ["ab"], wire.TEXT), "initcap": ("initcap($1)", ["ab"], wire.TEXT),
    "char_length": ("char_length($1)", ["ab"], wire.INT8), "character_length": ("character_length($1)", ["ab"], wire.INT8), "greatest": ("greatest(1, 2)", [], wire.INT8), "least": ("least('a', 'b')", [], wire.TEXT),
    "string_agg": ("string_agg('x', $1)", [","], wire.TEXT), "current_user": ("current_user() || ''", [], wire.TEXT), "session_user": ("upper(session_user())", [], wire.TEXT),
    "current_role": ("upper(current_role())", [], wire.TEXT), "current_catalog": ("upper(current_catalog())", [], wire.TEXT),
    "current_database": ("upper(current_database())", [], wire.TEXT), "current_schema": ("upper(current_schema())", [], wire.TEXT), "pg_backend_pid": ("pg_backend_pid() + 0", [], wire.INT8),
    "version": ("upper(version())", [], wire.TEXT), "current_setting": ("upper(current_setting($1))", ["timezone"], wire.TEXT), "pg_sleep": ("pg_sleep($1)", ["0"], wire.TEXT),
    **{name: (f"{name}($1)", ["5"], wire.FLOAT8) for name in ["stddev_pop", "var_pop"]},
    **{name: (f"{name}(value) FROM generate_series(1, $1)", ["3"], wire.FLOAT8) for name in ["stddev", "stddev_samp", "variance", "var_samp"]},
    **{name: (f"{name}(value > 0) FROM generate_series(1, $1)", ["3"], wire.BOOL) for name in ["bool_and", "bool_or", "every"]},
    "generate_series": ("(SELECT sum(value) FROM generate_series($1, $2))", ["1", "2"], None), "unnest": ("(SELECT max(unnest) FROM unnest($1))", ["{1,2}"], None), "hex": ("hex($1)", ["ab"], wire.TEXT), "sign": ("sign($1)", ["-5"], wire.INT8),
    "mod": ("mod($1, 3)", ["5"], wire.FLOAT8), "group_concat": ("group_concat('x', $1)", [","], wire.TEXT),
}


@pytest.mark.parametrize("name", CALLS)
def test_parameters_and_types_of_functions(shared, name):
    call, values, type = CALLS[name]
    with shared.client() as client:
        reply = client.ask(wire.parse(f"SELECT {call}"), wire.describe_statement(), wire.bind(values), wire.describe_portal(), wire.execute()).check()
        described, run = [answer.columns[0].type for answer in reply.of("T")]
        assert described == run or type is None
        assert type in (None, described)
        assert reply.rows[0][0] is not None
        client.send(wire.terminate())


def test_calls_are_of_every_function_that_is_documented():
    page = (pathlib.Path(__file__).parents[2] / "docs" / "sql.md").read_text()
    table = page.split("Functions beside SQLite's own")[1].split("A definition that uses one of them")[0]
    named = {word for line in table.splitlines() if line.startswith("| `") for word in re.findall(r"`([a-z_0-9]+)(?:\(|`)", line)}
    assert named - {"left", "right", "substr", "value", "max", "writer_idle_limit", "set_config"} <= set(CALLS) and len(named) > 30


@pytest.mark.parametrize("sql, type, value, stored", [
    ("INSERT INTO files (data, digest) VALUES ($1, md5($1))", 17, b"\0\xff", "md5"), ("INSERT INTO files (data, digest) VALUES ($1, hex($1))", 17, b"\0\xff", "hex"),
    ("INSERT INTO files (n, digest) VALUES ($1, md5($1))", 20, "5", "md5"), ("INSERT INTO files (n, digest) VALUES ($1, lpad($1, 3, '0'))", 20, "5", "lpad")])
def test_a_column_says_what_a_functions_argument_is(shared, sql, type, value, stored):
    """The usual way to store a file with its checksum."""
    shared.run("DROP TABLE IF EXISTS files", "CREATE TABLE files (data BLOB, n INTEGER, digest TEXT)")
    with shared.client() as client:
        binary = isinstance(value, bytes)
        reply = client.ask(wire.parse(sql), wire.describe_statement(), wire.bind([value], formats=[1] if binary else []), wire.execute()).check()
        assert reply.of("t")[0].body[-4:] == type.to_bytes(4, "big")
        want = {"md5": hashlib.md5(value if binary else value.encode()).hexdigest(), "hex": value.hex().upper() if binary else None, "lpad": "005"}[stored]
        assert client.query("SELECT digest FROM files").check().texts == [(want,)]
        client.send(wire.terminate())
