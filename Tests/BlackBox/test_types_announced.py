"""The types that are announced for parameters, few or thousands."""

import pytest

import wire
from parameters_fixtures import DATE, db, JSON, TIMESTAMP, UUID  # noqa: F401 (fixtures)
from types_fixtures import client, parameter_types, result_types  # noqa: F401 (fixtures)


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
    compared = "SELECT nullif(day, $1), max(at) = $2, nullif(t, $3), nullif(u, $4), max(day) = $5 OR max(t) = $5 FROM p"
    assert parameter_types(client, compared) == [DATE, TIMESTAMP, 25, UUID, 25]
    client.query("SET result_typing = stored").check()
    assert parameter_types(client, compared) == [25] * 5


@pytest.mark.parametrize("declared", ["INTERVAL", "interval second", "MY INTERVAL", "POINT", "INT[]", "int8 []", "text[]"])
@pytest.mark.parametrize("typing", ["stored", "declared"])
def test_what_sqlite_takes_for_numbers_is_text(client, declared, typing):
    """By the letters INT in these SQLite knows a column of integers."""
    client.query(f"DROP TABLE IF EXISTS lettered; CREATE TABLE lettered (v {declared}); SET result_typing = {typing}").check()
    for sql in ("INSERT INTO lettered VALUES ($1) RETURNING v", "SELECT max(v) FROM lettered WHERE v = $1"):
        reply = client.ask(wire.parse(sql), wire.describe_statement(), wire.bind(["P1D"]), wire.execute()).check()
        assert reply.of("t")[0].types == [25] and reply.of("T")[0].columns[0].type == 25
        assert reply.value == "P1D"
    assert client.value("SELECT atttypid FROM pg_attribute WHERE attrelid = 'lettered'::regclass AND attname = 'v'") == "25"


def test_a_number_by_its_other_name(client):
    """To SQLite these are integers, which keeps others as they are."""
    client.query("DROP TABLE IF EXISTS lettered; CREATE TABLE lettered (v FLOATING POINT)").check()
    reply = client.ask(wire.parse("INSERT INTO lettered VALUES ($1) RETURNING v"), wire.describe_statement(), wire.bind(["1.5"]), wire.execute()).check()
    assert reply.of("t")[0].types == [1700] and reply.of("T")[0].columns[0].type == 701 and reply.value == "1.5"
    assert client.query("INSERT INTO lettered VALUES (2) RETURNING v").check().value == "2"
    assert client.value("SELECT atttypid FROM pg_attribute WHERE attrelid = 'lettered'::regclass AND attname = 'v'") == "701"


def test_the_clients_types_count(client):
    reply = client.ask(wire.parse("SELECT id FROM p WHERE n = $1 AND t = $2", types=[wire.INT2, 0]), wire.describe_statement())
    assert reply.of("t")[0].types == [wire.INT2, wire.TEXT]


def test_types_follow_the_schema(client, db):
    sql = "SELECT 1 FROM changing WHERE c = $1"
    for declared, oid in [("INTEGER", 20), ("TEXT", 25), ("BOOLEAN", 16)]:
        db.run("DROP TABLE IF EXISTS changing", f"CREATE TABLE changing (c {declared})")
        assert client.ask(wire.parse(sql), wire.describe_statement()).of("t")[0].types == [oid]


@pytest.mark.parametrize("type, sent, received, oid", [(17, b"\\x6100", "\\x6100", 17), (20, b"5", "5", 20), (701, b"1.5", "1.5", 701), (25, b"x", "x", 25)])
def test_a_parameter_given_back_is_what_it_was(client, type, sent, received, oid):
    client.query("DROP TABLE IF EXISTS kv; CREATE TABLE kv (k PRIMARY KEY, v)").check()
    for sql in ["SELECT $1", "INSERT INTO kv VALUES (1, $1) RETURNING v", "UPDATE kv SET v = $1 RETURNING v"]:
        reply = client.ask(wire.parse(sql, types=[type]), wire.describe_statement(), wire.bind([sent]), wire.execute()).check()
        assert (reply.of("T")[-1].columns[0].type, reply.texts) == (oid, [(received,)]), sql
        client.query("DELETE FROM kv WHERE k = 1 AND " + str(int("INSERT" in sql))).check()
        reply = client.extended(sql, [sent], [type]).check()
        assert reply.texts[0] == (received,)


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


# Many of them


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
    assert client.ask(wire.parse(f"SELECT id FROM p WHERE n IN ({many}, {bad})")).state == state


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


def test_statements_with_many_columns(client):
    """For each of them a jump, and a register that is written in two ways."""
    columns = 1500
    names = [f"c{n}" for n in range(columns)]
    client.query(f"DROP TABLE IF EXISTS wide; CREATE TABLE wide (id INTEGER PRIMARY KEY, {', '.join(f'{name} INTEGER' for name in names)})").check()
    listed = ", ".join(f"coalesce(${n + 1}, {name})" for n, name in enumerate(names))
    assert parameter_types(client, f"SELECT {listed} FROM wide") == [20] * columns
    values = ", ".join(f"${n + 1}" for n in range(columns + 1))
    updates = ", ".join(f"{name} = coalesce(excluded.{name}, {name})" for name in names)
    sql = f"INSERT INTO wide VALUES ({values}) ON CONFLICT (id) DO UPDATE SET {updates}"
    assert parameter_types(client, sql) == [20] * (columns + 1)
    assert client.extended(sql, [b"1"] * (columns + 1)).check().tag == "INSERT 0 1"
    assert client.extended(sql, [b"1", b"2"] + [None] * (columns - 1)).check().tag == "INSERT 0 1"
    assert client.query(f"SELECT c0, c1, c{columns - 1} FROM wide").check().texts == [("2", "1", "1")]


def test_values_of_columns_that_are_called_money(client):
    """SQLite's values there are none of PostgreSQL's type, by themselves and in what is made of them."""
    client.query("DROP TABLE IF EXISTS prices; CREATE TABLE prices (amount MONEY); INSERT INTO prices VALUES (1.5), ('$2')").check()
    for sql in ["SELECT max(amount) FROM prices", "SELECT coalesce(amount, 0) FROM prices ORDER BY amount DESC LIMIT 1"]:
        assert result_types(client, sql) == [wire.TEXT]
        assert client.ask(wire.parse(sql), wire.describe_statement(), wire.bind(), wire.execute()).check().texts == [("$2",)]
