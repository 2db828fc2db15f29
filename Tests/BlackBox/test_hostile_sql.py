"""Statements that want all of the time or all of the memory, always with a bystander beside them who must not notice."""

import pytest

import hostile
import wire
from daemon import eventually
from hostile import RESIDENT_LIMIT, bystander, served  # the latter two are fixtures

ROWS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT {0})"
DOUBLING = ", ".join(f"c{n} AS (SELECT 1 FROM c{n - 1} a, c{n - 1} b)" for n in range(1, 32))
UNIONS = ", ".join(f"c{n} AS (SELECT x FROM c{n - 1} UNION ALL SELECT x FROM c{n - 1})" for n in range(1, 32))

# What ends by the deadline and by nothing else.
ENDLESS = {
    "recursive CTE": hostile.ENDLESS,
    "recursive CTE in a write": "INSERT INTO t (v) SELECT n FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1"
                                " FROM c) SELECT n FROM c WHERE n < 0)",
    "recursive CTE with two steps": "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c UNION ALL SELECT n + 2"
                                    " FROM c) SELECT sum(n) FROM c",
    "recursive CTE in order": "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c ORDER BY 1 DESC)"
                              " SELECT count(*) FROM c",
    "cartesian join": f"{ROWS.format(1000)} SELECT count(*) FROM c a, c b, c d, c e, c f WHERE a.n + b.n + d.n + e.n + f.n = 0",
    "cartesian join of json": "SELECT count(*) FROM " + ", ".join(
        f"json_each('[1,2,3,4,5,6,7,8,9]') j{n}" for n in range(30)) + " WHERE " + " + ".join(f"j{n}.value" for n in range(30))
        + " < 0",
    "correlated subqueries": f"{ROWS.format(3000)} SELECT count(*) FROM c a WHERE (SELECT count(*) FROM c b WHERE (SELECT"
                             " count(*) FROM c d WHERE a.n + b.n + d.n < 0)) < 0",
    "window over all": f"{ROWS.format(200000)} SELECT sum(n) OVER (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED"
                       " FOLLOWING EXCLUDE CURRENT ROW) FROM c",
    "full text of everything": "SELECT count(*) FROM " + ", ".join(f"f f{n}" for n in range(12)) + " WHERE "
                               + " AND ".join(f"f{n}.a MATCH 'words'" for n in range(12)),
}


# What the daemon reads by itself, without a look at the clock: in a time that goes with its length, or these end by the deadline.
LONG = {
    "casts": ("SELECT 1" + "::int" * 200_000, "1"),
    # Of each argument a type is looked for.
    "calls in calls": ("SELECT coalesce(" + ", ".join(["nullif(" * 22 + "v" + ", false)" * 22] * 30) + ") FROM (SELECT 7 AS v)", "7"),
    "split_part": ("SELECT length(split_part(printf('%.*c', 4000000, 'a'), printf('%.*c', 2000000, 'a') || 'b', 1))", "4000000"),
}


@pytest.mark.parametrize("name", LONG)
def test_long_texts_take_no_time_of_their_square(served, name):
    sql, value = LONG[name]
    with served.client() as client:
        assert client.value(sql) == value


# The same for what is refused in the end, or what a catalog is asked.
LONG_REFUSED = {
    "brackets before a quote, and arrays": "SELECT 1 " + "= ANY([" * 140_000 + "'",
    "brackets before a quote, and types": "SELECT " + "1::int8[[" * 100_000 + "'",
    "casts of casts": "SELECT " + "CAST(" * 40_000 + "1" + " AS boolean)" * 40_000,
    "signs": "SELECT * FROM pg_class WHERE " + "+" * 500_000 + " x",
    "signs and others": "SELECT * FROM pg_class WHERE " + "+~" * 250_000 + " x",
    "arrays beside nothing": "SELECT * FROM pg_class JOIN " + "<> ALL( ) " * 100_000,
}


@pytest.mark.parametrize("name", LONG_REFUSED)
def test_long_texts_are_refused_in_no_time_of_their_square(served, name):
    with served.client() as client:
        assert client.query(LONG_REFUSED[name]).errors
        assert client.value("SELECT 1") == "1"


# Where types are looked for, in the text and in SQLite's program: each of them was some ten seconds and more.
ANY_OF = "CASE " + "".join(f"WHEN random() = {n} THEN ${n + 1} " for n in range(8000)) + "END"
# One of any 11,500 parameters.
ONE_OF_MANY = "(SELECT coalesce(" + ", ".join(
    "coalesce(random(), " + ", ".join(f"${n}" for n in range(part * 100 + 1, part * 100 + 101)) + ")" for part in range(115)) + ") AS x LIMIT 1)"
TYPED = {
    "lists in lists, of literals": "SELECT " + "1 + " * 12_000 + "1 IN (" + ", ".join(["'2024-01-01'::date, 1 IN ('2024-01-01'::date)"] * 3000) + ")",
    "lists in lists, of parameters": "SELECT (CASE " + "WHEN 1 THEN 1 " * 12_000 + "END) IN (" + ", ".join(["$1, 1 IN ($1)"] * 4000) + ")",
    "wide rows of a compound": " UNION ".join(
        ["SELECT " + ", ".join(["x"] * 1900) + " FROM (SELECT CASE WHEN random() THEN $1 END AS x LIMIT 1)"] * 4
        + ["SELECT CASE " + "WHEN random() THEN 1 " * 4000 + "END" + ", x" * 1899 + " FROM (SELECT CASE WHEN random() THEN $1 END AS x LIMIT 1)"]),
    "any of many parameters, many times": "SELECT " + ", ".join(f"x + {n}" for n in range(1900)) + f" FROM (SELECT {ANY_OF} AS x LIMIT 1)",
    "many parameters as arguments": "SELECT " + ", ".join(["CAST(greatest(1" + ", x" * 14 + ") AS TEXT)"] * 1380) + " FROM " + ONE_OF_MANY,
    "many parameters cast": "SELECT " + ", ".join(["replace(CAST(x AS TEXT), CAST(x AS TEXT), CAST(x AS INTEGER))"] * 1900) + " FROM " + ONE_OF_MANY,
}


@pytest.mark.parametrize("name", TYPED)
def test_types_of_parameters_take_no_time_of_their_square(served, name):
    """What they are may stay unknown. Nothing else is asked than that the client has an answer before it gives up."""
    with served.client() as client:
        reply = client.ask(wire.parse(TYPED[name]), wire.describe_statement())
        assert reply.state in (None, "0A000", "42P18"), reply.errors
        assert client.value("SELECT 1") == "1"


@pytest.mark.optimised
@pytest.mark.parametrize("rows, fields", [(500, 10), (1000, 5), (1200, 4)])
def test_an_update_of_more_rows_by_case_has_its_types(served, rows, fields):
    check_types_of_bulk_update(served, rows, fields)


def test_looking_for_types_ends_by_the_deadline(served):
    """It is no step of SQLite's, and what is sent takes a second and more."""
    with served.client() as client:
        client.query(BULK + "; SET statement_timeout = '50ms'").check()
        reply = client.ask(wire.parse(bulk_update(1200, 4)), wire.describe_statement())
        assert reply.state == "57014" and "timeout" in reply.error["M"], reply.errors


def test_names_of_columns_that_many_tables_have(served):
    """A parameter whose place SQLite leaves out is what the one column of that name is, among those of all the tables that are named."""
    with served.client() as client:
        client.query("BEGIN").check()
        for table in range(30):
            columns = ", ".join(f"a{table}_{n} INTEGER" for n in range(300))
            client.query(f"CREATE TABLE IF NOT EXISTS wide_{table} ({columns}, same_{table % 2} DATE)").check()
        client.query("COMMIT").check()
        others = "".join(f", 1 wide_{n}" for n in range(30))
        for column, type in [("a7_1", wire.INT8), ("wide_7.a7_1", wire.INT8), ("same_1", wire.TEXT)]:
            sql = f"SELECT {column} = $1, 0 AND {column} IN ({', '.join(['$1'] * 20_000)}){others} FROM wide_7, wide_0 LIMIT 0"
            reply = client.ask(wire.parse(sql), wire.describe_statement()).check()
            assert next(message.types for message in reply.messages if message.kind == "t") == [type], column


FLOAT8 = 701
BULK = "CREATE TABLE IF NOT EXISTS bulk (id INTEGER PRIMARY KEY, " + ", ".join(
    f"c{n} {['TEXT', 'INTEGER', 'DATE', 'BOOLEAN', 'REAL'][n % 5]}" for n in range(10)) + ")"


def bulk_update(rows, fields):
    numbers = iter(range(1, 1 << 16))
    assignments = [
        f"c{field} = CASE " + "".join(f"WHEN id = ${next(numbers)} THEN ${next(numbers)} " for _ in range(rows)) + "END" for field in range(fields)]
    return f"UPDATE bulk SET {', '.join(assignments)} WHERE id IN ({', '.join(f'${next(numbers)}' for _ in range(rows))})"


def check_types_of_bulk_update(served, rows, fields):
    with served.client() as client:
        client.query(BULK).check()
        reply = client.ask(wire.parse(bulk_update(rows, fields)), wire.describe_statement()).check()
        types = next(message.types for message in reply.messages if message.kind == "t")
        kinds = [wire.TEXT, wire.INT8, wire.TEXT, wire.BOOL, FLOAT8]
        assert types == [each for field in range(fields) for each in [wire.INT8, kinds[field % 5]] * rows] + [wire.INT8] * rows


def test_an_update_of_many_rows_by_case_has_its_types(served):
    """As an ORM sends it for 500 objects and three fields."""
    check_types_of_bulk_update(served, 500, 3)


@pytest.mark.parametrize("sql", [
    "SELECT '{}'", "SELECT 1 /*{}*/", "SET application_name = '{}'", "SELECT relname FROM pg_class WHERE relname = '{}'", "COPY t FROM '{}'"])
def test_texts_that_are_too_long(served, sql):
    with served.client() as client:
        for reply in (client.query(sql.format("x" * (1 << 20))), client.extended(sql.format("x" * (1 << 20)))):
            assert reply.state == "54000" and reply.error["M"] == "statement too long" and "sql_length_limit_bytes" in reply.error["D"]


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_statements_end_by_the_deadline(served, bystander, name):
    client = served.client()
    client.query("SET statement_timeout = '300ms'").check()
    for ask in ["query", "extended"]:
        sql = ENDLESS[name]
        client.send(wire.query(sql)) if ask == "query" else client.send(
            wire.parse(sql), wire.bind(), wire.execute(), wire.sync())
        if not sql.startswith("INSERT"):  # writers take turns
            bystander()
        reply = client.reply()
        assert reply.state == "57014" and "timeout" in reply.error["M"], reply.errors
    assert client.query("SELECT v FROM t WHERE id = 1").value == "x"


@pytest.mark.parametrize("call", ["length(reverse(v || {}))", "length(string_agg(reverse(v || {}), ''))"])
def test_long_calls_one_after_the_other_end_by_the_deadline(served, bystander, call):
    """In one row, all within the thousand instructions between two of SQLite's own looks; before they have taken the memory there is."""
    client = served.client()
    client.query("SET statement_timeout = '100ms'").check()
    client.send(wire.query("SELECT " + ", ".join(call.format(n) for n in range(80)) + " FROM (SELECT printf('%.*c', 10000000, 'a') v)"))
    bystander()
    assert client.reply().state == "57014"


@pytest.mark.parametrize("name", [name for name in ENDLESS if "write" not in name])
def test_endless_statements_can_be_cancelled(served, bystander, name):
    client = served.client()
    client.query("SET statement_timeout = '20s'").check()
    client.send(wire.query(ENDLESS[name]))
    bystander()

    def is_cancelled():
        client.cancel()
        return client.has_reply()

    eventually(is_cancelled, "the cancel")
    assert "user request" in client.reply().error["M"]


# What ends by a limit; the states say which. None: it may succeed, and then has not hurt anybody.
GREEDY = {
    "zeroblob": ("SELECT zeroblob(1000000000)", {"22001", "54000"}),
    "zeroblob to the limit, often": ("SELECT " + ", ".join(["zeroblob(60000000)"] * 1000), {"53200"}),
    "randomblob": ("SELECT randomblob(2000000000)", {"22001", "54000"}),
    "randomblob to the limit, often": ("SELECT " + ", ".join(["randomblob(60000000)"] * 1000), {"53200"}),
    # What does not fit is NULL, says SQLite.
    "printf width": ("SELECT printf('%1000000000d', 1) IS NULL", {None}),
    "printf precision": ("SELECT printf('%.*c', 100000000, 'x') IS NULL", {None}),
    "printf of a real": ("SELECT length(printf('%.100000000f', 1e308))", {"22001", "54000", None}),
    "printf widths, many": ("SELECT " + ", ".join(["printf('%60000000s', 'x')"] * 500), {"53200", "22001"}),
    "format": ("SELECT format('%-2000000000s|', 'x') IS NULL", {None}),
    "hex growth": ("SELECT hex(hex(hex(zeroblob(20000000))))", {"22001", "54000", "53200"}),
    "replace growth": ("SELECT replace(hex(zeroblob(5000000)), '0', hex(zeroblob(1000)))", {"22001", "54000", "53200"}),
    "doubled string": ("WITH RECURSIVE c(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM c) SELECT max(length(s)) FROM c",
                       {"22001", "54000", "53200"}),
    "group_concat": (f"{ROWS.format(100000)} SELECT group_concat(hex(zeroblob(1000))) FROM c", {"22001", "54000", "53200"}),
    "string_agg, many of them": (
        f"{ROWS.format(60)} SELECT " + ", ".join(f"length(string_agg(v || {n}, ','))" for n in range(40))
        + " FROM (SELECT printf('%.*c', 500000, 'a') v FROM c)", {"53200"}),
    **{f"{name} of the catalogs, many of them": (
        "SELECT " + ", ".join(f"length({name}(repeat('a', 600000) || {n}{rest}))" for n in range(40)) + " FROM pg_catalog.pg_type", {"53200"})
       for name, rest in (("array_agg", ""), ("json_agg", ""), ("string_agg", ", ','"))},
    "json_group_array": (f"{ROWS.format(3000)} SELECT json_group_array(hex(zeroblob(20000))) FROM c", {"22001", "54000", "53200"}),
    "json of many values": ("SELECT json_array_length('[' || replace(hex(zeroblob(15000000)), '0', '1,') || '1]')", {"53200"}),
    "json nested deeply": ("SELECT json_valid(replace(hex(zeroblob(500000)), '0', '['))", {"22P02", None}),
    "json nested and closed": ("SELECT json(replace(hex(zeroblob(3000)), '0', '[') || replace(hex(zeroblob(3000)), '0', ']'))",
                               {"22P02", None}),
    "json path": ("SELECT json_extract('{}', '$' || replace(hex(zeroblob(100000)), '0', '.a'))", {None, "22P02", "42000"}),
    "LIKE pattern": ("SELECT 'aaaa' LIKE '" + "%a" * 300 + "'", {"54000"}),
    "LIKE pattern, computed": ("SELECT hex(zeroblob(100)) LIKE replace(hex(zeroblob(50000)), '0', '%0')", {"54000"}),
    "GLOB pattern": ("SELECT 'aaaa' GLOB '" + "*a" * 300 + "'", {"54000"}),
    "LIKE backtracking": ("SELECT replace(hex(zeroblob(50000)), '0', 'a') LIKE '" + "%a" * 200 + "b'", {None}),
    "GLOB sets": ("SELECT replace(hex(zeroblob(50000)), '0', 'a') GLOB '" + "*[a-z]" * 60 + "B'", {None}),
    "REGEXP": ("SELECT 'aaaa' REGEXP '(a+)+$'", {"42883"}),
    "MATCH without an index": ("SELECT 'a' MATCH 'b'", {"42883", "42000"}),
    "deep parentheses": ("SELECT " + "(" * 5000 + "1" + ")" * 5000, {"54001", "42601"}),
    "deep operators": ("SELECT " + "+".join(["1"] * 5000), {"54001"}),
    "deep NOT": ("SELECT " + "NOT " * 5000 + "1", {"54001", "42601"}),
    "deep subqueries": ("SELECT " + "(SELECT " * 300 + "1" + ")" * 300, {"54001", "42601", None}),
    "deep CASE": ("SELECT " + "CASE WHEN 1 THEN " * 2000 + "1" + " END" * 2000, {"54001", "42601"}),
    "deep functions": ("SELECT " + "abs(" * 3000 + "1" + ")" * 3000, {"54001", "42601"}),
    "doubling joins": (f"WITH c0 AS (SELECT 1 x), {DOUBLING} SELECT * FROM c31", {"53200"}),
    "doubling unions": (f"WITH c0 AS (SELECT 1 x), {UNIONS} SELECT * FROM c31", {"53200", "54000"}),
    "IN with many terms": ("SELECT 1 IN (" + ",".join(["1"] * 300_000) + ")", {None, "53200"}),
    "many unions": ("SELECT 1" + " UNION ALL SELECT 1" * 2000, {"54000"}),
    "many columns": ("SELECT " + ",".join(["1"] * 5000), {"54000"}),
    "many columns, allowed": ("SELECT " + ",".join(["1"] * 2000), {None}),
    "many tables": ("SELECT 1 FROM " + ",".join(f"t t{n}" for n in range(100)), {"54000"}),
    "many arguments": ("SELECT max(" + ",".join(["1"] * 1000) + ")", {"54000"}),
    "many bound values": ("SELECT ?70000", {"54000", "42P02", "42000", "42601"}),
    "a long statement": ("SELECT '" + "x" * (2 << 20) + "'", {"54000", "22001"}),
    "values in order": (f"{ROWS.format(400)} SELECT hex(zeroblob(500000)) || n AS x FROM c ORDER BY x LIMIT 1", {None, "53200"}),
    "distinct values": (f"{ROWS.format(300)} SELECT count(DISTINCT hex(zeroblob(200000)) || n) FROM c", {None, "53200"}),
    "FTS5 deep query": ("SELECT * FROM f('" + "(" * 3000 + "a" + ")" * 3000 + "')", {"42000", "42601", "54001", "53200", "XX000"}),
    "FTS5 many terms": ("SELECT count(*) FROM f('" + " OR ".join(f"a{n}*" for n in range(20_000)) + "')",
                        {None, "42000", "42601", "53200", "57014"}),
    "FTS5 NOT chain": ("SELECT count(*) FROM f('" + " NOT ".join(["words"] * 5000) + "')", {None, "42000", "42601", "53200"}),
    "FTS5 phrase": ("SELECT count(*) FROM f('\"" + "words " * 50_000 + "\"')", {None, "42000", "53200", "57014"}),
    "FTS5 NEAR": ("SELECT count(*) FROM f('NEAR(" + "words " * 5000 + ", 1000000)')", {None, "42000", "53200", "57014"}),
    "FTS4 deep query": ("SELECT count(*) FROM f4 WHERE f4 MATCH '" + "(" * 2000 + "a" + ")" * 2000 + "'", {None, "42000", "42601"}),
    "FTS4 many terms": ("SELECT count(*) FROM f4 WHERE f4 MATCH '" + " OR ".join(["some"] * 5000) + "'", {None, "42000", "42601"}),
    "a row larger than a value may be": ("INSERT INTO t (v) SELECT hex(zeroblob(40000000))", {"22001", "54000", "53200"}),
    "large numbers": ("SELECT sum(9223372036854775807) FROM (SELECT 1 UNION ALL SELECT 2)", {"22003", "42000"}),
    "substr beyond everything": ("SELECT substr('x', -9223372036854775808, 9223372036854775807)", {None}),
    "strftime": ("SELECT strftime(replace(hex(zeroblob(100000)), '0', '%f'), 9e999)", {None, "22001"}),
    "char of everything": ("SELECT char(" + ",".join(["1114111"] * 127) + ")", {None}),
    "quote of a large value": ("SELECT length(quote(zeroblob(60000000)))", {"22001", "54000", "53200"}),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.optimised if name.endswith("many of them") else ()) for name in GREEDY])
def test_greedy_statements_end_by_a_limit(served, bystander, name):
    sql, states = GREEDY[name]
    client = served.client()
    client.query("SET statement_timeout = '10s'").check()
    for begin in ["", "BEGIN"]:
        if begin:
            client.query(begin).check()
        client.send(wire.query(sql))
        bystander()
        reply = client.reply()
        assert not reply.closed and reply.state in states, (reply.state, reply.errors)
        if reply.state == "53200":
            assert "memory_limit" in reply.error["H"]
        client.query("ROLLBACK")
        assert client.query("SELECT v FROM t WHERE id = 1").value == "x"
    assert served.memory("VmHWM") < RESIDENT_LIMIT


@pytest.mark.optimised
def test_results_that_are_kept_open_share_one_limit(served, bystander):
    """Each within its own limit, and together beyond all."""
    hoarders = [served.client() for _ in range(3)]
    for client in hoarders:
        client.query("BEGIN READ ONLY").check()
    kept, refused = 0, 0
    for round in range(20):
        for client in hoarders:
            if client is None:
                continue
            reply = client.ask(wire.parse("SELECT randomblob(6000000) AS x FROM (SELECT 1 UNION ALL SELECT 2)"),
                               wire.bind(portal=f"p{round}"), wire.execute(f"p{round}", 1))
            if reply.errors:
                assert reply.state == "53200", reply.errors
                refused += 1
                client.query("ROLLBACK").check()
                client.query("BEGIN READ ONLY").check()
            else:
                kept += 1
        bystander()
    assert kept >= 3 and refused
    for client in hoarders:
        client.query("ROLLBACK").check()
    assert served.memory("VmHWM") < RESIDENT_LIMIT


@pytest.mark.optimised
def test_statements_that_are_kept_prepared_do_not_use_up_the_limit(served, bystander):
    """A text of most of a mebibyte takes thirty when it is prepared, and every text of that length is a new one."""
    client = served.client()
    numbers = ",".join(map(str, range(140_000)))
    for n in range(12):
        client.query(f"SELECT {n} WHERE 5 IN ({numbers})").check()
    bystander()
    # More than what every statement may have beyond the limit.
    assert client.query("SELECT length(randomblob(20000000))").value == "20000000"


def test_many_small_results_that_are_kept_open_share_one_limit(served, bystander):
    """Each takes less than what every statement may have beyond the limit."""
    hoarder = served.client()
    hoarder.query("BEGIN READ ONLY").check()
    hoarder.ask(wire.parse("SELECT randomblob(900000) AS x FROM (SELECT 1 UNION ALL SELECT 2)", "s")).check()
    kept = 0
    while True:
        reply = hoarder.ask(wire.bind(portal=f"p{kept}", statement="s"), wire.execute(f"p{kept}", 1))
        if reply.errors:
            break
        kept += 1
    assert reply.state == "53200" and 50 < kept < 300, (reply.state, kept)
    bystander()
    hoarder.query("ROLLBACK").check()
    assert hoarder.query("SELECT length(randomblob(20000000))").value == "20000000"


def test_memory_is_given_back(served, bystander):
    client = served.client()
    for _ in range(30):
        assert client.query("SELECT length(randomblob(20000000))").value == "20000000"
    bystander()


def test_one_long_call_keeps_nobody_waiting(served, bystander):
    """Nothing interrupts a function of SQLite: its client waits, the others do not."""
    clients = [served.client() for _ in range(2)]
    for client in clients:
        client.send(wire.query("SELECT length(ltrim(replace(hex(zeroblob(20000)), '00', 'a'), replace(hex(zeroblob(20000)), '00', "
                               "'b') || 'a'))"))
    bystander()
    for client in clients:
        assert client.reply().value == "0"


def test_foreign_schemas_of_a_client_hurt_nobody_else(served, bystander):
    """Triggers, views and generated columns that explode when they are used."""
    client = served.client()
    client.query("SET statement_timeout = '1s'").check()
    for create, use, states in [
        ("CREATE TABLE bomb (x); CREATE TRIGGER bomb1 AFTER INSERT ON bomb BEGIN INSERT INTO bomb SELECT x FROM bomb; END",
         "INSERT INTO bomb VALUES (1)", {None}),
        ("CREATE TABLE bomb (x, y AS (hex(zeroblob(x))))", "INSERT INTO bomb VALUES (40000000); SELECT y FROM bomb", {"22001", "54000", "53200"}),
        ("CREATE VIEW bomb AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c",
         "SELECT count(*) FROM bomb", {"57014"}),
        ("CREATE TABLE bomb (x CHECK (length(hex(zeroblob(x))) > 0))", "INSERT INTO bomb VALUES (60000000)", {"22001", "54000", "53200"}),
        ("CREATE TABLE bomb (x DEFAULT (hex(zeroblob(60000000))))", "INSERT INTO bomb DEFAULT VALUES", {"22001", "54000", "53200"}),
        ("CREATE TABLE bomb (x); CREATE INDEX bomb1 ON bomb (printf('%60000000d', x))", "INSERT INTO bomb VALUES (1)",
         {"22001", "54000", "53200", None}),
    ]:
        for statement in create.split("; CREATE"):
            client.query(statement if statement.startswith("CREATE") else "CREATE" + statement).check()
        assert client.query(use).state in states, use
        bystander()
        client.query("DROP TABLE IF EXISTS bomb" if "TABLE" in create else "DROP VIEW bomb").check()
